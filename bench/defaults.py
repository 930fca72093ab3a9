"""Defaults against defaults: accuracy on test data and seconds, all options left alone: bda, liblinear-train, and
scikit-learn's LinearSVC, which has an intercept. Seconds of the first two are those of the whole command, reading
included; of LinearSVC those of fit alone. A peer that takes longer than MOST seconds is given up; bda then writes the best
model that it has.
"""
import os
import subprocess
import tempfile

import tools

SETS = ["a9a", "w8a", "rcv1-small", "newsgroups-bin", "debian-dev", "magic04", "spambase", "imdb", "newsgroups20", "letter",
        "dna", "mnist"]
MOST = float(os.environ.get("BDA_BENCH_MOST", "120"))
PYTHON = "/usr/bin/python3"  # which has Debian's scikit-learn, where another python3 comes first
SKLEARN = """
import sys, time, warnings
from sklearn.datasets import load_svmlight_files
from sklearn.svm import LinearSVC
warnings.simplefilter("ignore")
x, y, u, v = load_svmlight_files(sys.argv[1:3])
begin = time.perf_counter()
machine = LinearSVC().fit(x, y)
print(time.perf_counter() - begin, 100 * machine.score(u, v))
"""


def test_sets(names):
    """{name: path}; the test part of NAME is NAME.test in BDA_DATA, or lies packed beside the project."""
    found = tools.real_sets([name + ".test" for name in names])
    for name in names:
        source = "imdb-rating" if name == "imdb" else name
        packed = os.path.join(tools.ROOT, "..", "shared", "data", source, "test")
        path = os.path.join(tools.CACHE, source + ".test")
        if name + ".test" in found:
            continue
        if os.path.exists(path) or tools.unpacked(packed, path):
            found[name + ".test"] = path if source == name else tools.split_at_5(
                path, os.path.join(tools.CACHE, name + ".test"))
    return found


def accuracy(predicted, path):
    """Percent; lines begin with labels."""
    with open(predicted) as f, open(path) as g:
        pairs = [(float(a.split()[0]), float(b.split()[0])) for a, b in zip(f, g)]
    return 100 * sum(a == b for a, b in pairs) / len(pairs)


def ours(train, test, folder):
    model, out = os.path.join(folder, "model"), os.path.join(folder, "out")
    command = ["train", "-q", "--force", f"--max-time={MOST}", train, model]
    r = tools.fastest([tools.bda(*command, status=(0, 3)) for _ in range(tools.REPEATS)])
    tools.bda("predict", "-q", "--force", model, test, out)
    return r.seconds, accuracy(out, test)


def bounded(command):
    """Seconds and output; None where it took longer than MOST."""
    try:
        return subprocess.run(command, timeout=MOST, capture_output=True, text=True, check=True).stdout
    except subprocess.TimeoutExpired:
        return None


def liblinear(train, test, folder):
    model, out = os.path.join(folder, "theirs"), os.path.join(folder, "out")
    command = ["liblinear-train", "-q", train, model]
    if bounded(command) is None:
        return None
    r = tools.fastest([tools.run(command)] if tools.REPEATS == 1 else [tools.run(command) for _ in range(2)])
    bounded(["liblinear-predict", test, model, out])
    return r.seconds, accuracy(out, test)


def sklearn(train, test):
    said = bounded([PYTHON, "-c", SKLEARN, train, test])
    return said and tuple(float(x) for x in said.split())


def run(_options):
    tools.need("liblinear-train", "liblinear-predict")
    if subprocess.run([PYTHON, "-c", "import sklearn"], stderr=subprocess.DEVNULL).returncode:
        raise tools.Missing("scikit-learn is not installed")
    trains, tests, rows = tools.real_sets(SETS), test_sets(SETS), []
    for name in SETS:
        if name not in trains or name + ".test" not in tests:
            continue
        train, test = trains[name], tests[name + ".test"]
        with tempfile.TemporaryDirectory() as folder:
            found = [ours(train, test, folder), liblinear(train, test, folder), sklearn(train, test)]
        peers = [f[1] for f in found[1:] if f]
        ahead = f"{found[0][1] - max(peers):+.2f}" if peers else "-"
        rows.append([name, *(f"{f[1]:.2f}" if f else "-" for f in found), ahead,
                     *(f"{f[0]:.2f}" if f else f"> {MOST:.0f}" for f in found)])
    if not rows:
        raise tools.Missing("no data sets with test parts")
    tools.table("Defaults: accuracy in percent, and seconds",
                ["data", "bda", "liblinear", "LinearSVC", "bda over the better", "bda", "liblinear", "LinearSVC"], rows)

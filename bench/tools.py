"""What the parts of the benchmark share: running a command with a clock and a meter of memory, peers, data, tables.

Everything is a minimum over repeats, and what is compared is measured side by side in one run: seconds of a machine
that does other work as well vary more than their ratios.
"""
import functools
import json
import mmap
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("BDA", os.path.join(ROOT, "build", "bda"))
CACHE = os.environ.get("BDA_BENCH_CACHE", os.path.join(ROOT, "build", "bench"))
WARM_LEAST, WARM_MOST, WARM_TIMES = 64 << 20, 1 << 30, 16
REPEATS = int(os.environ.get("BDA_BENCH_REPEATS", "3"))

# 200 MB of text and more each
SCALES = {"rcv1": 0.3, "url": 0.09, "kddb": 0.03, "webspam": 0.013}
LIBLINEAR = {"hinge": "3", "squared-hinge": "1", "logistic": "7"}

# loaded: seconds until the data file was closed; solved: until the model's was opened
Run = namedtuple("Run", "seconds rss status output loaded solved cpu")
Trained = namedtuple("Trained", "seconds start rounds end")


class Missing(Exception):
    """Something this part needs is not installed, or no data was found."""


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            raise Missing(f"{command} is not installed")


def environment():
    env = dict(os.environ, LC_ALL="C", OMP_WAIT_POLICY="passive")
    env.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    env.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    return env


def has_open(pid, path):
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}") == path for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def wait_until(pid, good, begin):
    """Seconds from begin until good(); NaN where the process ends before."""
    while os.path.exists(f"/proc/{pid}/fd"):
        if good():
            return time.perf_counter() - begin
        time.sleep(0.001)
        if open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "Z":
            break
    return float("nan")


def warm_memory(command):
    """A virtual machine gives free memory back to its host, and the first touch of it afterwards takes longer than
    many a training. So the memory that a run may want, by the sizes of its files, is touched just before it, ours and
    theirs alike."""
    huge = 2 << 20
    files = sum(os.path.getsize(word) for word in command[1:] if os.path.isfile(word))
    size = min(WARM_LEAST + WARM_TIMES * files, WARM_MOST)
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
        m.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, size, huge):
            m[at] = 1


def run(command, watched=None, written=None):
    """Runs to the end. `watched`: a file whose closing is timed; `written`: one whose opening is, afterwards."""
    warm_memory(command)
    with tempfile.TemporaryFile("w+") as out:
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment())
        loaded = solved = float("nan")
        if watched:
            path = os.path.realpath(watched)
            wait_until(child.pid, lambda: has_open(child.pid, path), begin)
            loaded = wait_until(child.pid, lambda: not has_open(child.pid, path), begin)
        if written:
            solved = wait_until(child.pid, lambda: has_open(child.pid, os.path.realpath(written)), begin)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Run(seconds, usage.ru_maxrss * 1024, child.returncode, out.read(), loaded, solved,
                   usage.ru_utime + usage.ru_stime)


def fastest(runs):
    return min(runs, key=lambda r: r.seconds)


def launcher(ranks):
    return [os.environ.get("MPIEXEC", "mpirun"), "-n", str(ranks)] if ranks > 1 else []


def bda(*args, ranks=1, status=(0,)):
    r = run(launcher(ranks) + [PROGRAM] + [str(a) for a in args])
    if r.status not in status:
        raise RuntimeError(f"bda {' '.join(map(str, args))} ended with {r.status}: {r.output.strip()}")
    return r


def train(path, *options, ranks=1, model=None):
    """Stopping before the gap was reached is no failure here; --gap is of the start. Without an intercept, as peers and papers
    have it."""
    if not any(o.startswith(("--bias", "--intercept", "--task=tag", "--task=parse")) for o in options):
        options = ("--intercept=none", *options)
    with tempfile.TemporaryDirectory() as d:
        log = os.path.join(d, "log")
        r = bda("train", "--quiet", "--gap-of=start", f"--log={log}", *options, path, model or os.path.join(d, "model"), ranks=ranks,
                status=(0, 3))
        with open(log) as f:
            events = [json.loads(line) for line in f]
    return Trained(r.seconds, events[0], events[1:-1], events[-1])


def optimum(path, *options):
    """(a tight lower bound of the least objective, the gap of the start), found once for a data set and options"""
    kept = os.path.join(CACHE, "optima.json")
    key = " ".join([os.path.basename(path), str(os.path.getsize(path)), *options])
    known = {}
    if os.path.exists(kept):
        with open(kept) as f:
            known = json.load(f)
    if key not in known:
        got = train(path, *options, "--blocks=1", "--gap=1e-9", "--max-rounds=100000", "--max-time=60")
        known[key] = (-got.end["dual"], got.rounds[0]["primal"] + got.rounds[0]["dual"])
        os.makedirs(CACHE, exist_ok=True)
        with open(kept + ".part", "w") as f:
            json.dump(known, f, indent=1)
        os.rename(kept + ".part", kept)
    return tuple(known[key])


def liblinear(path, loss, eps, model="/dev/null", quiet=True, solver=None):
    need("liblinear-train")
    quiet = ["-q"] if quiet else []
    command = ["liblinear-train", *quiet, "-s", solver or LIBLINEAR[loss], "-e", str(eps), path, model]
    r = run(command, watched=path, written=model)
    if r.status != 0:
        raise RuntimeError(f"liblinear-train ended with {r.status}: {r.output.strip()}")
    return r


@functools.lru_cache(maxsize=None)
def liblinear_one_pass(path, loss):
    """Runs with a tolerance so wide that one pass is enough; several parts look at them."""
    return [liblinear(path, loss, 1e9) for _ in range(REPEATS)]


def iterations(r):
    """As liblinear-train prints them."""
    return int(re.search(r"#iter = (\d+)", r.output).group(1))


def generated(name, scale=None):
    """Synthetic text with the shape of a known data set, made once."""
    scale = scale or SCALES[name]
    os.makedirs(CACHE, exist_ok=True)
    path = os.path.join(CACHE, f"{name}-{scale:g}.txt")
    if not os.path.exists(path):
        print(f"(making {path})", flush=True)
        bda("generate", "--quiet", f"--like={name}", f"--scale={scale}", path)
    return path


def packed(path):
    """The same as .gz, made once."""
    target = os.path.join(CACHE, os.path.basename(path) + ".gz")
    if not os.path.exists(target):
        need("gzip")
        with open(target + ".part", "wb") as f:
            subprocess.run(["gzip", "-1c", path], stdout=f, check=True)
        os.rename(target + ".part", target)
    return target


def converted(path):
    """The same in the binary format, made once."""
    target = os.path.join(CACHE, os.path.basename(path) + ".bda")
    if not os.path.exists(target):
        bda("convert", "--quiet", path, target)
    return target


def real_sets(names):
    """{name: path} of data sets at hand: in BDA_DATA, a directory of plain files, or packed beside the project."""
    found, beside = {}, os.path.join(ROOT, "..", "shared", "data")
    for name in names:
        plain = os.path.join(os.environ.get("BDA_DATA", CACHE), name)
        if not os.path.exists(plain) and os.path.isdir(os.path.join(beside, name)):
            plain = unpacked(os.path.join(beside, name, "train"), os.path.join(CACHE, name))
        if plain and os.path.exists(plain):
            found[name] = plain
        elif name == "imdb" and real_sets(["imdb-rating"]):
            found[name] = split_at_5(real_sets(["imdb-rating"])["imdb-rating"], os.path.join(CACHE, name))
        elif name == "mnist-scale" and real_sets(["mnist"]):
            found[name] = scaled(real_sets(["mnist"])["mnist"], 1 / 255, os.path.join(CACHE, name))
    return found


def corpus(name, file):
    """A corpus of sentences: in BDA_DATA, a directory of directories, or beside the project, plain or packed."""
    plain = os.path.join(CACHE, f"{name}-{file}")
    for place in (os.environ.get("BDA_DATA", CACHE), os.path.join(ROOT, "..", "shared", "data")):
        if not os.path.exists(plain) and os.path.isdir(os.path.join(place, name)):
            unpacked(os.path.join(place, name, file), plain)
    if not os.path.exists(plain):
        raise Missing(f"{name}/{file} is not at hand; BDA_DATA names a directory that has it")
    return plain


def split_at_5(source, target):
    """Ratings to two labels: above 5 or not."""
    os.makedirs(CACHE, exist_ok=True)
    with open(source) as f, open(target + ".part", "w") as g:
        for line in f:
            rating, _, cells = line.partition(" ")
            g.write(f"{'+1' if float(rating) > 5 else '-1'} {cells}")
    os.rename(target + ".part", target)
    return target


def scaled(source, factor, target):
    """All values times a factor."""
    os.makedirs(CACHE, exist_ok=True)
    with open(source) as f, open(target + ".part", "w") as g:
        for line in f:
            label, *cells = line.split()
            pairs = (cell.split(":") for cell in cells)
            g.write(" ".join([label] + [f"{column}:{float(value) * factor:.6g}" for column, value in pairs]) + "\n")
    os.rename(target + ".part", target)
    return target


def unpacked(source, target):
    os.makedirs(CACHE, exist_ok=True)
    for ending, command in ((".xz", ["xz", "-dc"]), (".zst", ["zstd", "-dqc"]), ("", ["cat"])):
        if os.path.exists(source + ending) and shutil.which(command[0]):
            with open(target + ".part", "wb") as f:
                subprocess.run([*command, source + ending], stdout=f, check=True)
            os.rename(target + ".part", target)
            return target
    return None


def mega(count):
    return f"{count / 1e6:.0f} MB"


def table(title, columns, rows):
    cells = [[str(c) for c in columns]] + [[c if isinstance(c, str) else f"{c:.3g}" for c in row] for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        line = [row[0].ljust(widths[0])] + [c.rjust(width) for c, width in zip(row[1:], widths[1:])]
        print("  " + "  ".join(line), flush=True)

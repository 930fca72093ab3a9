"""What the tests of the program share: starting it alone and under mpirun, and small data sets.

A test script gets the path of the program as its first argument; the rest are unittest's. It exits with SKIPPED where
no test ran and some were skipped.
"""
import gzip
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

BDA = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
TIMEOUT = 600  # seconds: ends what hangs, however busy the machine
WAS_READ = re.compile(r": \d+ instances, .* read from \d+ files? in ")  # the line about data that was read
# Options of a training on endless_data() that does not end by itself, however fast the machine: the average of blocks
# creeps, the more so the larger the cost.
ENDLESS = ["--gap=0", "--max-rounds=1000000000", "--loss=hinge", "--cost=1e8", "--method=dsvm-ave"]
SKIPPED = 77  # exit status, known to tests/CMakeLists.txt


def plain(options):
    """The options, and no intercept unless they ask for one: for objectives and scores that are reckoned without."""
    asked = any(str(o).startswith(("--intercept", "--bias")) for o in options)
    return [*options] if asked else ["--intercept=none", *options]


def environment(ranks):
    env = dict(os.environ, LC_ALL="C", OMP_WAIT_POLICY="passive")
    env.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    env.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    if ranks:  # leaks within the MPI library are not ours
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    return env


def command(args, ranks=0):
    """ranks=0: without a launcher."""
    launcher = [os.environ.get("MPIEXEC", "mpirun"), "-n", str(ranks)] if ranks else []
    return launcher + [BDA] + [str(a) for a in args]


def has_launcher():
    return shutil.which(os.environ.get("MPIEXEC", "mpirun")) is not None


class Case(unittest.TestCase):
    """Every test has a directory of its own, which is also the program's."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="bda-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def learned(self, name):
        """A model file without the options that were given and the name of the data."""
        sections = read_sections(self.read(name))
        del sections["settings"]
        return sections

    def weights(self, name):
        return self.learned(name)["weights"]

    def exists(self, name):
        return os.path.exists(self.path(name))

    def start(self, *args, ranks=0):
        return subprocess.Popen(command(args, ranks), cwd=self.directory, env=environment(ranks),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def bda(self, *args, ranks=0, timeout=TIMEOUT):
        r = subprocess.run(command(args, ranks), cwd=self.directory, env=environment(ranks), capture_output=True,
                           timeout=timeout)
        r.stdout, r.stderr = r.stdout.decode(), r.stderr.decode()  # text=True would lose carriage returns
        return r

    def works(self, *args, ranks=0, status=(0,)):
        r = self.bda(*args, ranks=ranks)
        self.assertIn(r.returncode, status, f"{args}: {r.stderr}")
        return r

    def fails(self, status, *args, ranks=0, says=()):
        """The exit status is that, and one line of stderr, beside that of what was read, is a sentence with all the
        words in it."""
        r = self.bda(*args, ranks=ranks)
        self.assertEqual(r.returncode, status, f"{args}: {r.stderr}")
        own = [line for line in r.stderr.split("\n") if line.startswith("bda") and not WAS_READ.search(line)]
        self.assertEqual(len(own), 1, f"{args}: {r.stderr}")
        for word in says:
            self.assertIn(word, own[0])
        return own[0]

    def log(self, name):
        return [json.loads(line) for line in self.read(name).decode().splitlines()]

    def leftovers(self):
        """Temporary files that somebody forgot."""
        return [f for f in os.listdir(self.directory) if ".tmp" in f]


def ranks_of(launcher):
    """Process numbers of the program below mpirun, however deep."""
    children = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
        except (OSError, ValueError, IndexError):
            continue
    found, queue = [], [launcher.pid]
    while queue:
        for child in children.get(queue.pop(), []):
            queue.append(child)
            try:
                if os.path.samefile(f"/proc/{child}/exe", BDA):
                    found.append(child)
            except OSError:
                continue
    return sorted(found)


def problem(rows=200, features=30, nonzeros=6, seed=1, labels=(1, -1), noise=0.1, values="real"):
    """[(label, {column from 1: value})] from a planted model."""
    r = random.Random(seed)
    w = [r.gauss(0, 1) for _ in range(features)]
    out = []
    for _ in range(rows):
        x = {}
        for j in sorted(r.sample(range(features), min(nonzeros, features))):
            x[j + 1] = 1 if values == "ones" else round(r.gauss(0, 1), 3) or 0.5
        z = sum(w[j - 1] * v for j, v in x.items())
        if labels is None:
            y = round(z + r.gauss(0, noise), 4)
        else:
            y = labels[0] if (z > 0) != (r.random() < noise) else labels[1]
        out.append((y, x))
    return out


def endless_data():
    return libsvm(problem(rows=3000, features=100, nonzeros=20, noise=0.3))


def libsvm(data, base=1):
    return "".join(f"{y:g} " + " ".join(f"{j - 1 + base}:{v!r}" for j, v in x.items()) + "\n" for y, x in data)


def packed(text):
    return gzip.compress(text.encode())


def read_liblinear(text):
    """(header, weights) of a LIBLINEAR text model."""
    lines = text.splitlines()
    at = lines.index("w")
    header = {line.split()[0]: line.split()[1:] for line in lines[:at]}
    return header, [float(line) for line in lines[at + 1:]]


def read_sections(data):
    """{kind: bytes} of a model file: see docs/model-format.md."""
    magic, version, zero = struct.unpack_from("<8sII", data)
    assert (magic, version, zero) == (b"BDAMODEL", 2, 0), (magic, version, zero)
    found, at = {}, 16
    while "end" not in found:
        kind, needed, count = struct.unpack_from("<24sQQ", data, at)
        found[kind.rstrip(b"\0").decode()] = data[at + 40:at + 40 + count]
        at += 40 + (count + 7) // 8 * 8 + 8
    assert at == len(data), (at, len(data))
    return found


class Result(unittest.TextTestResult):
    """Counts what ran, for testsRun counts skipped tests or not, depending on the version."""
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    if BDA is None:
        sys.exit("usage: test_NAME.py PROGRAM [unittest options]")
    # What nohup and shells ignore for what they start in the background, the program would ignore, too.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runner = unittest.TextTestRunner(resultclass=Result)
    result = unittest.main(argv=[sys.argv[0]] + sys.argv[2:], testRunner=runner, exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped and result.passed == 0:
        sys.exit(SKIPPED)

"""Reference optima of well-known data sets, where a table of them and the data are at hand; otherwise skipped.

The table has lines of: data, task (binary, regression), loss, cost, optimum, source, separated by tabs; the training
text of NAME is data/NAME/train, plain or packed by xz or zstd, beside the table. BDA_OPTIMA names another table.
"""
import lzma
import os
import shutil
import subprocess

import support
from test_certificate import parse, primal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.environ.get("BDA_OPTIMA", os.path.join(ROOT, "..", "shared", "optima.tsv"))
SMALL = {"housing_scale", "cadata-scale", "a9a", "w8a", "rcv1-small", "spambase"}
WITHIN = {"hinge": 1e-3, "epsilon-insensitive": 1e-3}  # no differentiable loss: the last digits take long
LOSSES = {"binary": "classify", "regression": "regress"}


def table():
    if not os.path.exists(TABLE):
        return []
    with open(TABLE) as f:
        lines = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    return [line for line in lines if line[0] in SMALL and line[1] in LOSSES]


def unpack(name, to):
    """Plain text of a data set into a file; False where there is none."""
    packed = os.path.join(os.path.dirname(TABLE), "data", name, "train")
    if os.path.exists(packed + ".xz"):
        with lzma.open(packed + ".xz") as source, open(to, "wb") as target:
            shutil.copyfileobj(source, target)
    elif os.path.exists(packed + ".zst") and shutil.which("zstd"):
        subprocess.run(["zstd", "-dqf", packed + ".zst", "-o", to], check=True)
    elif os.path.exists(packed):
        shutil.copyfile(packed, to)
    else:
        return False
    return True


class Optima(support.Case):
    def check(self, rows, task, loss, cost, optimum, upper_bound):
        within = WITHIN.get(loss, 1e-5)
        self.works("train", f"--task={LOSSES[task]}", f"--loss={loss}", f"--cost={cost}", "--epsilon=0.1", "--intercept=none",
                   f"--gap={within / 1.01:.3g}", "--max-rounds=100000", "--log=log", "--quiet", "d", "m")
        self.works("export", "--format=liblinear", "m", "text")
        _, w = support.read_liblinear(self.read("text").decode())
        value, end = primal(rows, w, loss, cost), self.log("log")[-1]
        self.assertLess(abs(end["primal"] - value), 1e-9 * value)
        self.assertLessEqual(value, optimum * (1 + within))
        self.assertLessEqual(-end["dual"], optimum * (1 + 1e-8))
        if not upper_bound:
            self.assertGreaterEqual(value, optimum * (1 - 1e-8))

    def test_optima(self):
        cases = table()
        found = 0
        for name in sorted({c[0] for c in cases}):
            if not unpack(name, self.path("d")):
                continue
            found += 1
            rows = parse(self.read("d").decode())
            for _, task, loss, cost, optimum, source in (c for c in cases if c[0] == name):
                with self.subTest(data=name, loss=loss):
                    self.check(rows, task, loss, float(cost), float(optimum), source.startswith("upper"))
        if found == 0:
            self.skipTest("no reference optima with their data")


if __name__ == "__main__":
    support.main()

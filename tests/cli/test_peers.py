"""Does the program reach what scikit-learn reaches? Elastic nets against ElasticNet and LogisticRegression, and penalty
factors against plain training on rescaled columns. Skipped where scikit-learn is missing.

Our objective is g(w) + C sum of losses, g(w) = (1-R)/2 w'w + R |w|_1. ElasticNet minimises
|y - Xw|^2 / 2l + a R |w|_1 + a (1-R)/2 w'w, which is ours divided by 2 l C where a = 1/(2 l C); LogisticRegression
has our objective as it is.
"""
import math
import os
import subprocess
import sys

SYSTEM = "/usr/bin/python3"  # which has Debian's scikit-learn, where another python3 comes first

try:
    import numpy
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import ElasticNet, LogisticRegression
    from sklearn.model_selection import PredefinedSplit
    from sklearn.svm import LinearSVC
except ImportError:
    numpy = None
    probe = [SYSTEM, "-c", "import sklearn"]
    if not os.environ.get("BDA_TEST_PEERS") and os.path.exists(SYSTEM) and \
            subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        os.environ["BDA_TEST_PEERS"] = "1"
        os.execv(SYSTEM, [SYSTEM] + sys.argv)

import support
from test_certificate import loss_of, parse

CLEAR = 1e-3  # weights above this are not 0


def value(rows, w, loss, cost, ratio, factor=None):
    """g(w) + C sum of losses."""
    terms = [(factor or {}).get(j, 1) * ((1 - ratio) / 2 * x * x + ratio * abs(x)) for j, x in enumerate(w)]
    high = max(y for y, _ in rows)
    for label, cells in rows:
        y = label if loss == "squared-error" else 1 if label == high else -1
        terms.append(cost * loss_of(loss, math.fsum(w[j] * v for j, v in cells), y, 0.1))
    return math.fsum(terms)


def dense(rows, features):
    x = numpy.zeros((len(rows), features))
    for i, (_, cells) in enumerate(rows):
        for j, v in cells:
            x[i, j] = v
    return x, numpy.array([y for y, _ in rows])


class Peers(support.Case):
    FEATURES = 40

    def data(self, loss, seed=3):
        labels = None if loss == "squared-error" else (1, -1)
        text = support.libsvm(support.problem(rows=300, features=self.FEATURES, seed=seed, labels=labels))
        self.write("d", text)
        return parse(text)

    def train(self, loss, cost, *options, name="d"):
        task = "regress" if loss == "squared-error" else "classify"
        self.works("train", f"--task={task}", f"--loss={loss}", f"--cost={cost!r}", "--gap=1e-9", "--quiet",
                   "--max-rounds=20000", "--log=log", *support.plain(options), name, "m", status=(0, 3))
        self.works("export", "--format=liblinear", "m", "text")
        w = support.read_liblinear(self.read("text").decode())[1]
        return w + [0.0] * (self.FEATURES - len(w)), self.log("log")[-1]

    def compare(self, rows, w, end, peer, loss, cost, ratio):
        ours, theirs = value(rows, w, loss, cost, ratio), value(rows, peer, loss, cost, ratio)
        self.assertLess(abs(end["primal"] - ours), 1e-9 * ours)
        self.assertLess(abs(ours - theirs), 1e-5 * theirs)
        self.assertLess(ours, theirs * (1 + 1e-7))
        zeros = 0
        for a, b in zip(w, peer):
            self.assertLess(abs(a - b), CLEAR)
            self.assertFalse(a == 0 and abs(b) > CLEAR or b == 0 and abs(a) > CLEAR)
            zeros += a == 0
        return zeros

    @support.unittest.skipIf(numpy is None, "no scikit-learn")
    def test_squared_error(self):
        zeros = 0
        for ratio in (0.1, 0.5, 0.9):
            for cost in (0.002, 0.02, 1.0):
                with self.subTest(ratio=ratio, cost=cost):
                    rows = self.data("squared-error")
                    x, y = dense(rows, self.FEATURES)
                    peer = ElasticNet(alpha=1 / (2 * len(rows) * cost), l1_ratio=ratio, fit_intercept=False, tol=1e-12,
                                      max_iter=1000000).fit(x, y).coef_
                    w, end = self.train("squared-error", cost, f"--l1-ratio={ratio}")
                    zeros += self.compare(rows, w, end, [float(p) for p in peer], "squared-error", cost, ratio)
        self.assertGreater(zeros, 20)  # or the test would show little

    @support.unittest.skipIf(numpy is None, "no scikit-learn")
    def test_logistic(self):
        zeros = 0
        for ratio in (0.1, 0.5, 0.9):
            for cost in (0.03, 0.3, 3.0):
                with self.subTest(ratio=ratio, cost=cost):
                    rows = self.data("logistic")
                    x, y = dense(rows, self.FEATURES)
                    peer = LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=ratio, C=cost, tol=1e-10,
                                              fit_intercept=False, max_iter=100000, random_state=1).fit(x, y).coef_[0]
                    w, end = self.train("logistic", cost, f"--l1-ratio={ratio}")
                    zeros += self.compare(rows, w, end, [float(p) for p in peer], "logistic", cost, ratio)
        self.assertGreater(zeros, 20)

    @support.unittest.skipIf(numpy is None, "no scikit-learn")
    def test_calibration(self):
        """The same folds, the same machines, the same probabilities."""
        rows = self.data("squared-hinge")
        x, y = dense(rows, self.FEATURES)
        fold = numpy.zeros(len(rows), dtype=int)
        for label in (-1, 1):  # in turn, the second label where the first ended
            mine = numpy.flatnonzero(y == label)
            fold[mine] = (numpy.arange(len(mine)) + (label > 0) * (y < 0).sum()) % 5
        for kind, method in (("platt", "sigmoid"), ("isotonic", "isotonic")):
            with self.subTest(kind=kind):
                machine = LinearSVC(C=0.1, fit_intercept=False, tol=1e-10, max_iter=100000)
                theirs = CalibratedClassifierCV(machine, method=method, cv=PredefinedSplit(fold), ensemble=False)
                theirs = theirs.fit(x, y).predict_proba(x)
                self.works("select", "--intercept=none", "--costs=0.1", "--gap=1e-10", f"--calibrate={kind}", "-q", "d", "m", "--force")
                lines = self.works("predict", "--probability", "-q", "m", "d").stdout.splitlines()
                self.assertEqual(lines[0], "labels 1 -1")
                ours = numpy.array([[float(p) for p in line.split()[1:]] for line in lines[1:]])
                self.assertLess(abs(ours[:, ::-1] - theirs).max(), 1e-3)

    def test_no_l1_is_the_plain_path(self):
        for loss in ("hinge", "logistic", "squared-error"):
            with self.subTest(loss=loss):
                self.data(loss)
                self.train(loss, 0.1, "--gap=1e-4", "--blocks=3")
                plain = self.read("m")
                self.train(loss, 0.1, "--gap=1e-4", "--blocks=3", "--l1-ratio=0")
                self.assertEqual(self.read("m"), plain)

    def test_factors_are_scales(self):
        """f w^2/2 at x is u^2/2 at x/sqrt(f), u = sqrt(f) w. Powers of 4 keep every digit."""
        factor = {j: 4.0 ** (j % 5 - 2) for j in range(0, self.FEATURES, 2)}
        self.write("f", "".join(f"{j + 1} {f!r}\n" for j, f in factor.items()))
        for loss in ("hinge", "squared-hinge", "logistic", "squared-error"):
            with self.subTest(loss=loss):
                rows = self.data(loss)
                self.write("scaled", "".join(
                    f"{y!r} " + " ".join(f"{j + 1}:{v / math.sqrt(factor.get(j, 1))!r}" for j, v in cells) + "\n"
                    for y, cells in rows))
                w, end = self.train(loss, 0.1, "--gap=1e-7", "--feature-penalty=f")
                u, plain = self.train(loss, 0.1, "--gap=1e-7", name="scaled")
                ours = value(rows, w, loss, 0.1, 0, factor)
                self.assertLess(abs(end["primal"] - ours), 1e-9 * ours)
                self.assertLess(abs(end["primal"] - plain["primal"]), 1e-5 * ours)
                for j in range(self.FEATURES):
                    self.assertLess(abs(math.sqrt(factor.get(j, 1)) * w[j] - u[j]), 2e-2 if loss == "hinge" else 1e-3)


if __name__ == "__main__":
    support.main()

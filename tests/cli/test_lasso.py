"""--l1-ratio=1: the conditions of optimality, computed here, and what is refused."""
import math
import random

import support

LOSSES = (("--loss=logistic", (1, -1)), ("--loss=squared-hinge", (1, -1)), ("--loss=squared-error --task=regress", None),
          ("--loss=squared-epsilon-insensitive --task=regress", None))


def slope_of(loss, z, y):
    """(value, derivative), C = 1."""
    if loss == "logistic":
        return math.log1p(math.exp(-y * z)), -y / (1 + math.exp(y * z))
    if loss == "squared-hinge":
        return max(0, 1 - y * z) ** 2, -2 * y * max(0, 1 - y * z)
    far = max(0, abs(z - y) - (0.1 if "epsilon" in loss else 0))
    return far ** 2, 2 * math.copysign(far, z - y)


class Lasso(support.Case):
    def test_optimum(self):
        r = random.Random(3)
        factor = {1: 2.0, 4: 0.5}
        self.write("f", "".join(f"{j} {f}\n" for j, f in factor.items()))
        for options, labels in LOSSES:
            loss = options.split("=")[1].split()[0]
            data = support.problem(rows=120, features=8, nonzeros=5, seed=8, labels=labels)
            data = [(y + (labels is None), x) for y, x in data]
            self.write("d", support.libsvm(data))
            for kind, method in (("none", "lbfgs"), ("free", "lbfgs"), ("none", "newton"), ("free", "newton")):
                with self.subTest(options=options, intercept=kind, method=method):
                    cost = {"logistic": 0.2, "squared-hinge": 0.04}.get(loss, 0.02)
                    self.works("train", "--quiet", "--force", "--l1-ratio=1", "--log=log", "--gap=1e-6", "--max-rounds=20000",
                               "--feature-penalty=f", f"--cost={cost}", "--blocks=2", "--intercept=" + kind, "--method=" + method,
                               *options.split(),
                               "d", "m")
                    *rounds, end = self.log("log")[1:]
                    self.assertLessEqual(end["relative_gap"], 1e-6)
                    for told in rounds:
                        self.assertLessEqual(-told["dual"], end["primal"] * (1 + 1e-12))
                    self.works("export", "--force", "--format=liblinear", "m", "text")
                    w = support.read_liblinear(self.read("text").decode())[1]
                    w += [0] * (8 + (kind == "free") - len(w))
                    value = sum(factor.get(j + 1, 1) * abs(v) for j, v in enumerate(w[:8]))
                    turn = [0.0] * 9
                    for y, x in data:
                        one, by = slope_of(loss, sum(w[j - 1] * v for j, v in x.items()) + sum(w[8:]), y)
                        value += cost * one
                        turn[8] += cost * by
                        for j, v in x.items():
                            turn[j - 1] += cost * by * v
                    self.assertAlmostEqual(value / end["primal"], 1, 9)
                    self.assertIn(0.0, w[:8])
                    self.assertGreater(max(map(abs, w[:8])), 0.01)
                    for j in range(8):  # 0 is a subgradient, nearly
                        f = factor.get(j + 1, 1)
                        away = abs(turn[j]) - f if w[j] == 0 else abs(turn[j] + math.copysign(f, w[j]))
                        self.assertLess(away, 0.02)
                    if kind == "free":
                        self.assertLess(abs(turn[8]), 0.02)

    def test_several_labels(self):
        data = [(i % 3 + 1, x) for i, (_, x) in enumerate(support.problem(rows=60, features=6))]
        self.write("d", support.libsvm(data))
        self.works("train", "--quiet", "--l1-ratio=1", "--loss=logistic", "--gap=1e-4", "--max-rounds=5000", "--log=log",
                   "--intercept=free", "d", "m")
        self.assertLessEqual(self.log("log")[-1]["relative_gap"], 1e-4)

    def test_many_blocks(self):
        """The dual takes a message of its own: what ranks agreed on before it is not read from what it leaves."""
        rows = support.problem(rows=60, features=6, labels=None)
        self.write("d", support.libsvm([(3 * y + 3 if i < 30 else y / 100, x) for i, (y, x) in enumerate(rows)]))
        for blocks in (1, 8, 10, 13):
            with self.subTest(blocks=blocks):
                self.works("train", "--quiet", "--force", "--task=regress", "--l1-ratio=1", "--method=lbfgs",
                           f"--blocks={blocks}", "d", "m")

    def test_refused(self):
        self.write("d", support.libsvm(support.problem()))
        for method in ("bda", "hull", "admm", "tron"):
            self.fails(2, "train", "--l1-ratio=1", "--method=" + method, "d", "m",
                       says=("--method=" + method, "--l1-ratio=1", "lbfgs"))
        self.fails(2, "train", "--l1-ratio=1", "--loss=hinge", "d", "m", says=("--l1-ratio=1", "--loss=hinge"))
        self.fails(2, "train", "--l1-ratio=1.01", "d", "m", says=("--l1-ratio",))


if __name__ == "__main__":
    support.main()

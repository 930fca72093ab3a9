"""--intercept: what each kind minimises, by an objective and conditions of optimality computed here from the rows and
the exported weights; all methods, losses, blocks and ranks."""
import math
import random

import support

SMOOTH = ("bda", "hull", "disdca", "newton", "tron", "l-commdir", "lbfgs", "auto")
# (options, labels, methods)
PROBLEMS = (
    ("--loss=hinge", (1, -1), ("bda", "hull", "newton", "auto")),
    ("--loss=squared-hinge", (1, -1), SMOOTH + ("cocoa+", "prox-grad")),
    ("--loss=logistic", (1, -1), SMOOTH),
    ("--loss=logistic --l1-ratio=0.3", (1, -1), ("bda", "hull", "lbfgs")),
    ("--loss=hinge", (1, 2, 3), ("bda", "hull")),
    ("--loss=squared-hinge", (1, 2, 3), ("bda", "hull", "disdca")),
    ("--loss=logistic", (1, 2, 3), ("bda", "hull", "tron", "newton", "l-commdir", "lbfgs")),
    ("--task=regress --loss=squared-error", None, ("bda", "hull", "newton", "lbfgs")),
    ("--task=regress --loss=epsilon-insensitive", None, ("bda", "hull", "newton")),
    ("--task=regress --loss=squared-epsilon-insensitive", None, ("bda", "hull", "tron")),
)
EPSILON = 0.1


def slope_of(loss, z, y):
    """(value, derivative) of a loss of one score, C = 1."""
    if loss == "hinge":
        return max(0, 1 - y * z), -y * (y * z < 1)
    if loss == "squared-hinge":
        return max(0, 1 - y * z) ** 2, -2 * y * max(0, 1 - y * z)
    if loss == "logistic":
        return math.log1p(math.exp(-y * z)), -y / (1 + math.exp(y * z))
    r = z - y
    if loss == "squared-error":
        return r * r, 2 * r
    far = max(0, abs(r) - EPSILON)
    if loss == "epsilon-insensitive":
        return far, math.copysign(far > 0, r)
    return far ** 2, 2 * math.copysign(far, r)


def several(loss, z, y):
    """(value, derivatives) of a loss of several scores."""
    if loss == "logistic":
        total = sum(math.exp(s) for s in z)
        return math.log(total) - z[y], [math.exp(s) / total - (k == y) for k, s in enumerate(z)]
    j = max((k for k in range(len(z)) if k != y), key=lambda k: z[k])
    m = max(0, 1 + z[j] - z[y])
    rate = (m > 0) if loss == "hinge" else 2 * m
    return m if loss == "hinge" else m * m, [rate * ((k == j) - (k == y)) for k in range(len(z))]


class Intercept(support.Case):
    def problem(self, labels, seed=5, rows=90, features=6):
        r = random.Random(seed)
        data = support.problem(rows=rows, features=features, nonzeros=4, seed=seed, labels=labels and labels[:2])
        if labels is None:  # far from 0, so that without an intercept nothing fits
            data = [(y + 25, x) for y, x in data]
        elif len(labels) > 2:
            data = [(labels[2] if r.random() < 0.15 else y, x) for y, x in data]
        else:  # unbalanced
            data = [(labels[0] if r.random() < 0.6 else y, x) for y, x in data]
        self.write("d", support.libsvm(data))
        return data

    def weights_of(self, model):
        """[output][feature], the intercept last; of a binary model with its sign for the larger label."""
        self.works("export", "--force", "--format=liblinear", model, "text")
        lines = self.read("text").decode().splitlines()
        rows = [[float(x) for x in line.split()] for line in lines[lines.index("w") + 1:]]
        self.assertIn("bias 1", lines)
        return [list(column) for column in zip(*rows)]

    def scores(self, w, x):
        return [sum(c[j - 1] * v for j, v in x.items()) + c[-1] for c in w]

    def look(self, data, w, loss, cost, l1=0.0):
        """P at the model, and the derivatives by the intercepts, from the rows."""
        labels = sorted({y for y, _ in data})
        value = sum((1 - l1) / 2 * v * v + l1 * abs(v) for c in w for v in c[:-1])
        turn = [0.0] * len(w)
        for y, x in data:
            z = self.scores(w, x)
            one, by = several(loss, z, labels.index(y)) if len(w) > 1 else slope_of(loss, z[0], y)
            value += cost * one
            for k, d in enumerate(by if len(w) > 1 else [by]):
                turn[k] += cost * d
        return value, turn

    def test_free(self):
        cost = 0.4
        for options, labels, methods in PROBLEMS:
            data = self.problem(labels)
            loss = options.split("--loss=")[1].split()[0]
            l1 = float(options.split("--l1-ratio=")[1]) if "l1" in options else 0
            args = [*options.split(), f"--cost={cost}", "--quiet", "--force", "--log=log", "--max-rounds=20000"]
            # a penalised one of a large value is nearly free, and knows nothing of how free ones are made
            self.works("train", *args, "--bias=100", "--gap=1e-7", "d", "n")
            nearly = self.log("log")[-1]["primal"]
            for method in methods:
                with self.subTest(options=options, method=method):
                    self.works("train", *args, "--intercept=free", "--method=" + method, "--gap=1e-7", "--blocks=2",
                               "d", "m")
                    *rounds, end = self.log("log")[1:]
                    self.assertLessEqual(end["relative_gap"], 1e-7)
                    for told in rounds:  # what a round proves holds
                        self.assertLessEqual(-told["dual"], end["primal"] * (1 + 1e-12))
                    w = self.weights_of("m")
                    value, turn = self.look(data, w, loss, cost, l1)
                    self.assertAlmostEqual(value / end["primal"], 1, 9)
                    size = sum((1 - l1) / 2 * (c[-1] / 100) ** 2 + l1 * abs(c[-1]) / 100 for c in w)
                    self.assertLessEqual(value, nearly * (1 + 2e-7))
                    self.assertGreaterEqual(value, nearly * (1 - 1e-7) - 1.1 * size)  # what nearly free pays for it
                    if "logistic" in options or "error" in options:
                        for t in turn:  # the gap is second order in the derivatives
                            self.assertLess(abs(t), 3e-3 * value ** 0.5)

    def test_same_bits_for_any_number_of_ranks(self):
        if not support.has_launcher():
            self.skipTest("no launcher")
        for labels, method in (((1, -1), "hull"), ((1, 2, 3), "bda"), (None, "lbfgs")):
            self.problem(labels)
            task = ["--task=regress"] if labels is None else []
            weights = set()
            for ranks in (1, 2, 3):
                self.works("train", "--quiet", "--force", "--blocks=6", "--intercept=free", "--method=" + method,
                           "--max-rounds=40", *task, "d", "m", ranks=ranks, status=(0, 3))
                weights.add(self.weights("m"))
            self.assertEqual(len(weights), 1, method)

    def test_kinds(self):
        self.problem((1, -1))
        bits = {}
        for name, args in (("default", []), ("none", ["--intercept=none"]), ("negative", ["--bias=-1"]),
                           ("penalised", ["--intercept=penalised"]), ("one", ["--bias=1"]),
                           ("two", ["--intercept=penalised", "--bias=2"]), ("free", ["--intercept=free"])):
            self.works("train", "--quiet", "--force", "--log=log", *args, "d", "m")
            bits[name] = self.learned("m")["weights"]
            kind = self.log("log")[0]["intercept"]
            self.assertEqual(kind, {"default": "none", "negative": "none", "one": "penalised",
                                    "two": "penalised"}.get(name, name))
        self.assertEqual(bits["none"], bits["negative"])
        self.assertEqual(bits["default"], bits["none"])
        self.assertEqual(bits["penalised"], bits["one"])
        self.assertEqual(len(set(bits.values())), 4)

    def test_prediction_and_import(self):
        data = self.problem((1, -1))
        self.works("train", "--quiet", "--intercept=free", "d", "m")
        w = self.weights_of("m")
        self.works("predict", "--quiet", "--scores", "m", "d", "p")
        self.works("import", "--format=liblinear", "text", "again")
        self.works("predict", "--quiet", "--scores", "again", "d", "q")
        ours, theirs = self.read("p").decode().splitlines(), self.read("q").decode().splitlines()
        self.assertEqual(ours, theirs)
        for (_, x), line in zip(data, ours[-len(data):]):
            self.assertAlmostEqual(float(line.split()[-1]), self.scores(w, x)[0], 12)

    def test_refused(self):
        self.problem((1, -1))
        for method in ("admm", "average", "perceptron"):
            self.fails(2, "train", "--intercept=free", "--method=" + method, "d", "m",
                       says=("--method=" + method, "--intercept=free", "hull"))
        for args, words in ((["--intercept=free", "--bias=2"], ("--bias=2", "--intercept=free")),
                            (["--intercept=none", "--bias=2"], ("--bias=2", "--intercept=none")),
                            (["--intercept=penalised", "--bias=-1"], ("--bias=-1", "--intercept=penalised")),
                            (["--intercept=free", "--accelerate", "--method=bda"], ("--accelerate",)),
                            (["--intercept=free", "--task=tag"], ("--intercept", "--task=tag"))):
            self.fails(2, "train", *args, "d", "m", says=words)


if __name__ == "__main__":
    support.main()

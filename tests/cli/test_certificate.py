"""Does the program tell the truth? Exported weights and the text of the data are enough to value a model in plain
Python; the log must agree with that, and its bounds must hold. And the methods rank as their authors say."""
import math
import random

import support

CLASSIFY = ["hinge", "squared-hinge", "logistic"]
REGRESS = ["epsilon-insensitive", "squared-epsilon-insensitive", "squared-error"]
METHODS = ["bda", "disdca", "disdca-basic", "cocoa+", "dsvm-ave", "prox-grad"]


def loss_of(name, z, y, epsilon):
    if name in CLASSIFY:
        m = y * z
        if name == "logistic":
            return math.log1p(math.exp(-m)) if m > 0 else -m + math.log1p(math.exp(m))
        short = max(0.0, 1 - m)
    else:
        short = abs(z - y)
        if name != "squared-error":
            short = max(0.0, short - epsilon)
    return short if name in ("hinge", "epsilon-insensitive") else short * short


def parse(text):
    """[(label, [(column from 0, value)])] of LIBSVM text."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        cells = [word.split(":") for word in words[1:]]
        rows.append((float(words[0]), [(int(j) - 1, float(v)) for j, v in cells]))
    return rows


def primal(rows, w, loss, cost, epsilon=0.1, bias=-1.0, weight=None):
    """w'w / 2 + sum of C_i loss_i, the constant feature last in w."""
    high = max(y for y, _ in rows)
    terms = [0.5 * x * x for x in w]
    for label, cells in rows:
        z = math.fsum(w[j] * v for j, v in cells) + (bias * w[-1] if bias >= 0 else 0)
        y = label if loss in REGRESS else 1 if label == high else -1
        terms.append(cost * (weight or {}).get(label, 1) * loss_of(loss, z, y, epsilon))
    return math.fsum(terms)


def words(rows=1500, features=4000, seed=5):
    """Text-like rows: feature frequencies fall as a power law, rows have length 1, labels from a planted model."""
    r = random.Random(seed)
    planted = [r.gauss(0, 1) for _ in range(features)]
    out = []
    for _ in range(rows):
        columns = sorted({min(features - 1, int(features * r.random() ** 3)) for _ in range(25)})
        value = 1 / math.sqrt(len(columns))
        z = sum(planted[j] for j in columns) * value
        y = (1 if z > 0 else -1) * (-1 if r.random() < 0.05 else 1)
        out.append(f"{y} " + " ".join(f"{j + 1}:{value:.9g}" for j in columns))
    return "\n".join(out) + "\n"


class Certificate(support.Case):
    def check_log(self, log, value, gap):
        start, rounds, end = log[0], log[1:-1], log[-1]
        self.assertEqual((start["event"], end["event"]), ("start", "end"))
        self.assertEqual(end["reason"], "gap")
        self.assertLess(abs(end["primal"] - value), 1e-9 * value)
        first = rounds[0]["primal"] + rounds[0]["dual"]
        best = math.inf
        for r in rounds:
            best = min(best, r["primal"])
            self.assertEqual(r["best_primal"], best)
            self.assertGreaterEqual(r["relative_gap"], 0)
            for whole, gap_of in ((best, r["relative_gap"]), (first, r["gap_of_start"])):
                self.assertLess(abs(gap_of * whole - (best + r["dual"])), 1e-9 * first)  # of the model kept
            self.assertLess(-r["dual"], value * (1 + 1e-9))  # a lower bound of any primal value
        self.assertEqual(end["rounds"], rounds[-1]["round"])
        self.assertLessEqual(end["relative_gap"], gap)
        self.assertEqual(end["primal"], best)
        self.assertLess(value + end["dual"], (gap + 1e-9) * value)
        duals = [r["dual"] for r in rounds]
        for before, after in zip(duals, duals[1:]):
            self.assertLessEqual(after, before + 1e-12 * value)

    def one(self, loss, *options, cost=1.0, gap=1e-4, ranks=0, **extra):
        task = "regress" if loss in REGRESS else "classify"
        labels = None if loss in REGRESS else (3, -1)
        text = support.libsvm(support.problem(rows=150, features=25, seed=7, labels=labels))
        self.write("d", text)
        self.works("train", f"--task={task}", f"--loss={loss}", f"--cost={cost}", f"--gap={gap}", "--log=log",
                   "--max-rounds=20000", "--quiet", *support.plain(options), "d", "m", ranks=ranks)
        self.works("export", "--format=liblinear", "m", "text")
        header, w = support.read_liblinear(self.read("text").decode())
        if task == "classify":
            self.assertEqual(header["label"], ["3", "-1"])
        self.check_log(self.log("log"), primal(parse(text), w, loss, cost, **extra), gap)

    def test_losses_and_costs(self):
        for loss in CLASSIFY + REGRESS:
            for cost in (0.01, 1, 30):
                with self.subTest(loss=loss, cost=cost):
                    self.one(loss, cost=cost)

    def test_methods(self):
        for loss in CLASSIFY + REGRESS:
            for method in METHODS:
                with self.subTest(loss=loss, method=method):
                    self.one(loss, f"--method={method}", "--blocks=3", gap=1e-2, cost=0.1)

    def test_bias_epsilon_and_class_weights(self):
        for loss in CLASSIFY:
            with self.subTest(loss=loss):
                self.one(loss, "--bias=2", "--class-weight=3:0.25", "--class-weight=-1:4", bias=2.0,
                         weight={3.0: 0.25, -1.0: 4.0})
        for loss in REGRESS:
            with self.subTest(loss=loss):
                self.one(loss, "--bias=0.5", "--epsilon=0.7", bias=0.5, epsilon=0.7)

    def test_blocks_and_threads(self):
        for loss in ("squared-hinge", "logistic", "epsilon-insensitive"):
            with self.subTest(loss=loss):
                self.one(loss, "--blocks=7", "--threads=2", cost=0.1, gap=1e-3)

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks(self):
        for loss in ("hinge", "logistic", "squared-error"):
            with self.subTest(loss=loss):
                self.one(loss, cost=0.1, gap=1e-3, ranks=3)


class Rounds(support.Case):
    """The paper's claim: on text, the line search needs fewer rounds than safe steps (disdca) and averages."""

    def duals(self, loss, *options):
        self.works("train", f"--loss={loss}", "--log=log", "--quiet", *support.plain(options), "d", "m")
        return [r["dual"] for r in self.log("log")[1:-1]]

    def rounds(self, loss, method, best, accuracy):
        duals = self.duals(loss, f"--method={method}", "--blocks=16", "--gap=1e-4", "--max-rounds=3000")
        reached = [t for t, f in enumerate(duals) if f - best <= accuracy * abs(best)]
        self.assertTrue(reached, f"{method} {loss}: {accuracy} not reached")
        return reached[0]

    def test_bda_needs_the_fewest(self):
        self.write("d", words())
        for loss in CLASSIFY:
            best = self.duals(loss, "--gap=1e-7", "--max-rounds=100000")[-1]
            for accuracy in (1e-2, 1e-3):
                needed = {m: self.rounds(loss, m, best, accuracy) for m in ("bda", "disdca", "dsvm-ave")}
                with self.subTest(loss=loss, accuracy=accuracy, needed=needed):
                    self.assertLessEqual(needed["bda"], needed["disdca"])
                    self.assertLessEqual(needed["bda"], needed["dsvm-ave"])


if __name__ == "__main__":
    support.main()

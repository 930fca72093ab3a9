"""More than two labels, from training to prediction, against values computed here and against liblinear-predict."""
import json
import math
import random
import shutil
import subprocess

import support

LABELS = (-1000000007, -3, 0, 12, 2000000011)
LOSSES = ("hinge", "squared-hinge", "logistic")


def problem(rows=150, features=20, nonzeros=6, labels=LABELS, seed=1, noise=0.1, ordered=False):
    """[(label, {column from 1: value})]: the label is that of the planted vector with the largest score."""
    r = random.Random(seed)
    planted = {y: [r.gauss(0, 1) for _ in range(features)] for y in labels}
    r = random.Random(seed + 1000003)
    out = []
    for _ in range(rows):
        x = {j + 1: round(r.gauss(0, 1), 3) or 0.5 for j in sorted(r.sample(range(features), nonzeros))}
        y = max(labels, key=lambda k: sum(planted[k][j - 1] * v for j, v in x.items()))
        out.append((r.choice(labels) if r.random() < noise else y, x))
    return sorted(out, key=lambda row: row[0]) if ordered else out


def text(data):
    return "".join(f"{y} " + " ".join(f"{j}:{v!r}" for j, v in x.items()) + "\n" for y, x in data)


def read_columns(exported):
    """(header, labels, one list of weights a feature) of a LIBLINEAR text model."""
    lines = exported.splitlines()
    at = lines.index("w")
    header = {line.split()[0]: line.split()[1:] for line in lines[:at]}
    return header, [int(y) for y in header["label"]], [[float(v) for v in line.split()] for line in lines[at + 1:]]


def scores_of(w, x, bias=-1):
    z = [0.0] * len(w[0])
    for j, v in x.items():
        z = [s + v * c for s, c in zip(z, w[j - 1])]
    return [s + bias * c for s, c in zip(z, w[-1])] if bias >= 0 else z


def loss_of(loss, z, y):
    if loss == "logistic":
        most = max(z)
        return most + math.log(sum(math.exp(s - most) for s in z)) - z[y]
    worst = max(0.0, max(1 + s - z[y] for k, s in enumerate(z) if k != y))
    return worst * worst if loss == "squared-hinge" else worst


class Multiclass(support.Case):
    def train(self, *args, data=None, **how):
        self.write("d", text(data or problem()))
        self.works("train", "--quiet", "--log=log", *support.plain(args), "d", "m", **how)
        self.works("export", "m", "text")
        return read_columns(self.read("text").decode())

    def predict(self, *args, data="d", **how):
        r = self.works("predict", "--metrics=metrics", *args, "m", data, "out", **how)
        lines = [line.split(" ") for line in self.read("out").decode().splitlines()]
        self.head = None
        if {"--scores", "--probability"} & set(args):
            self.head = lines.pop(0)
            self.assertEqual(self.head[0], "labels")
        return lines, json.loads(self.read("metrics")), r.stderr

    def test_long_steps_keep_alpha_feasible(self):
        """What the sum of an instance's alpha is off by would grow with every step beyond 1, until nothing falls."""
        for loss in ("hinge", "squared-hinge"):
            self.train("--loss=" + loss, "--method=bda", "--a1=K", "--line-search=exact", "--blocks=60", "--gap=1e-3",
                       "--max-rounds=20000", data=problem(rows=60, features=8, labels=(1, 2, 3), noise=1))
            *_, last, end = self.log("log")
            self.assertEqual(end["reason"], "gap")

    def test_the_log_speaks_of_the_objective_that_was_asked_for(self):
        data = problem()
        for loss in LOSSES:
            for bias in (-1, 1):
                header, labels, w = self.train("--loss=" + loss, "--cost=0.5", f"--bias={bias}", "--gap=1e-4",
                                               data=data)
                self.assertEqual(labels, sorted(LABELS))
                self.assertEqual(header["solver_type"], ["L2R_LR" if loss == "logistic" else "MCSVM_CS"])
                self.assertEqual(header["nr_class"], ["5"])
                self.assertEqual((len(w), len(w[0])), (20 + (bias > 0), 5))
                P = sum(v * v for row in w for v in row) / 2
                P += 0.5 * sum(loss_of(loss, scores_of(w, x, bias), labels.index(y)) for y, x in data)
                log = self.log("log")
                self.assertEqual(log[0]["classes"], 5)
                self.assertAlmostEqual(log[-1]["primal"] / P, 1, 9)
                self.assertLessEqual(log[-1]["relative_gap"], 1e-4)

    def test_class_weights(self):
        data = problem()
        counts = {y: sum(row[0] == y for row in data) for y in LABELS}
        named = {y: 1.0 for y in LABELS}
        named.update({12: 3.0, -1000000007: 0.25})
        balanced = {y: len(data) / (len(LABELS) * counts[y]) for y in LABELS}
        for factor, args in ((named, ("--class-weight=12:3", "--class-weight=-1000000007:0.25")),
                             (balanced, ("--class-weight=balanced",))):
            for loss in LOSSES:
                _, labels, w = self.train("--loss=" + loss, *args, data=data)
                P = sum(v * v for row in w for v in row) / 2
                P += sum(factor[y] * loss_of(loss, scores_of(w, x), labels.index(y)) for y, x in data)
                self.assertAlmostEqual(self.log("log")[-1]["primal"] / P, 1, 9)
        self.fails(1, "train", "--class-weight=13:2", "d", "n", says=["--class-weight", "13", "d"])

    def test_lines_and_metrics(self):
        for loss in LOSSES:
            _, labels, w = self.train("--loss=" + loss, "--bias=0.5")
            test = problem(rows=120, seed=1, noise=0.3)[20:]
            self.write("t", text(test))
            lines, metrics, said = self.predict("--scores", data="t")
            scores = [scores_of(w, x, 0.5) for _, x in test]
            self.assertEqual([[float(v) for v in line[1:]] for line in lines], scores)
            guesses = [labels[z.index(max(z))] for z in scores]
            self.assertEqual([int(line[0]) for line in lines], guesses)
            self.assertEqual(lines, self.predict("--scores", "--threads=3", data="t")[0])
            self.assertEqual([line[:1] for line in lines], self.predict(data="t")[0])
            self.check_metrics(metrics, labels, [y for y, _ in test], guesses)
            self.assertIn("macro f1", said)
            self.assertEqual("log_loss" in metrics, loss == "logistic")
            if loss == "logistic":
                mean = sum(loss_of(loss, z, labels.index(y)) for z, (y, _) in zip(scores, test)) / len(test)
                self.assertAlmostEqual(metrics["log_loss"], mean, 12)

    def check_metrics(self, metrics, labels, truth, guesses):
        confusion = [[sum(y == a and g == b for y, g in zip(truth, guesses)) for b in labels] for a in labels]
        right = sum(confusion[k][k] for k in range(len(labels)))
        f1 = [2 * confusion[k][k] / (sum(confusion[k]) + sum(row[k] for row in confusion))
              for k in range(len(labels)) if sum(confusion[k]) + sum(row[k] for row in confusion)]
        self.assertEqual((metrics["labels"], metrics["confusion"]), (labels, confusion))
        for name, whole in (("precision", [sum(row[k] for row in confusion) for k in range(len(labels))]),
                            ("recall", list(map(sum, confusion)))):
            self.assertEqual(metrics[name], [confusion[k][k] / n if n else None for k, n in enumerate(whole)])
        self.assertEqual((metrics["instances"], metrics["unknown_labels"]), (len(truth), 0))
        self.assertAlmostEqual(metrics["accuracy"], right / len(truth), 15)
        self.assertAlmostEqual(metrics["macro_f1"], sum(f1) / len(f1), 14)
        self.assertGreater(right, len(truth) / 2)
        self.assertFalse({"auc", "f1"} & set(metrics))

    def test_probability(self):
        _, labels, w = self.train("--loss=logistic")
        lines, _, _ = self.predict("--probability")
        for (label, *p), (_, x) in zip(lines, problem()):
            z = scores_of(w, x)
            total = sum(math.exp(s) for s in z)
            for a, s in zip(p, z):
                self.assertAlmostEqual(float(a), math.exp(s) / total, 13)
            self.assertEqual(int(label), labels[z.index(max(z))])
        both, _, _ = self.predict("--probability", "--scores")
        self.assertEqual([len(line) for line in both], [11] * 150)
        self.works("train", "--quiet", "--loss=hinge", "d", "m")
        self.fails(2, "predict", "--probability", "m", "d", "out2", says=["--probability", "logistic", "hinge"])

    def test_ties_and_labels_that_the_model_does_not_know(self):
        self.train()
        self.write("t", "12\n5\n-1000000007\n0 4000000000:1\n")
        lines, metrics, said = self.predict("--scores", data="t")
        self.assertEqual(lines, [["-1000000007"] + ["0"] * 5] * 4)
        self.assertEqual((metrics["accuracy"], metrics["unknown_labels"]), (0.25, 1))
        self.assertEqual(sum(map(sum, metrics["confusion"])), 3)
        self.assertIn("1 have labels that the model does not know", said)

    def test_labels_need_not_be_whole_but_for_liblinear(self):
        self.write("d", "0.5 1:1\n-2.25 2:1\n1e3 3:1\n")
        self.works("train", "--quiet", "d", "m")
        self.works("predict", "--quiet", "m", "d", "out")
        self.assertEqual(self.read("out"), b"0.5\n-2.25\n1000\n")
        self.fails(1, "export", "m", "text", says=["whole", "-2.25"])
        self.assertFalse(self.exists("text"))

    def test_liblinear_reads_it(self):
        if not shutil.which("liblinear-predict"):
            self.skipTest("no liblinear-predict")
        test = problem(rows=300, seed=5)
        for loss in LOSSES:
            for bias in (-1, 2):
                self.train("--loss=" + loss, f"--bias={bias}", "--l1-ratio=0.3")
                self.write("t", text(test))
                self.predict(data="t")
                subprocess.run(["liblinear-predict", self.path("t"), self.path("text"), self.path("theirs")],
                               check=True, stdout=subprocess.DEVNULL)
                self.assertEqual(self.read("out").split(), self.read("theirs").split())
                self.assertGreater(len(set(self.read("out").split())), 3)

    def test_info(self):
        self.train("--loss=logistic", "--bias=1")
        said = self.works("info", "m").stdout
        for word in ("labels       5: -1000000007, -3, 0, 12, 2000000011\n", "105 are not 0, of 105", "(label "):
            self.assertIn(word, said)
        many = problem(rows=200, labels=tuple(range(30)), noise=1)
        self.train("--max-rounds=1", data=many, status=(0, 3))
        self.assertIn("labels       30: 0, 1, 2, 3, 4, 5, 6, 7, 8, ..., 29\n", self.works("info", "m").stdout)
        said = self.works("info", "d").stdout
        for word in ("(30 different labels)", "to classify  memory", "to regress   memory"):
            self.assertIn(word, said)

    def test_too_many_labels_are_numbers(self):
        self.write("d", "".join(f"{i}.5 1:1\n" for i in range(66000)))
        self.fails(1, "train", "d", "m", says=["d", "65536", "--task=regress"])
        self.works("train", "--quiet", "--task=regress", "d", "m")
        said = self.works("info", "d").stdout
        self.assertIn("more than 65536 different numbers", said)
        self.assertNotIn("to classify", said)

    def test_more_than_a_thousand_classes(self):
        T = 1200
        r = random.Random(3)
        data = [(7 * y - 4000, {y % 40 + 1: 1, y // 40 + 41: 1}) for y in list(range(T)) * 2]
        r.shuffle(data)
        self.write("d", text(data))
        for loss in ("hinge", "logistic"):
            self.works("train", "--quiet", "--loss=" + loss, "--cost=10", "--gap=0.05", "d", "m")
            _, metrics, _ = self.predict("--quiet")
            self.assertGreater(metrics["accuracy"], 0.9)
            self.assertGreater(metrics["macro_f1"], 0.9)
            self.assertNotIn("confusion", metrics)  # more than a million numbers
            self.write("t", text(data[:150]))  # more than one piece of lines
            lines, _, _ = self.predict("--quiet", "--scores", data="t")
            labels = sorted({y for y, _ in data})
            for label, *scores in lines:
                best = max(map(float, scores))
                self.assertEqual(int(label), labels[[float(s) for s in scores].index(best)])

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_and_threads_change_nothing(self):
        for loss, more in (("hinge", ()), ("hinge", ("--l1-ratio=0.4",)), ("squared-hinge", ("--l1-ratio=0.2",)),
                           ("logistic", ("--class-weight=balanced",))):
            args = ["--quiet", "--loss=" + loss, "--blocks=6", "--max-rounds=7", *more]
            self.train(*args, data=problem(ordered=True), status=(0, 3))  # no rank sees all labels
            self.predict("--scores")
            alone = self.read("m"), self.read("out"), self.read("metrics")
            for ranks, threads in ((0, 2), (2, 1), (3, 2)):
                self.works("train", f"--threads={threads}", *support.plain(args), "d", "m", ranks=ranks, status=(0, 3))
                self.predict("--scores", f"--threads={threads}", ranks=ranks)
                self.assertEqual((self.read("m"), self.read("out"), self.read("metrics")), alone)


class Files(support.Case):
    def test_cuts_and_flipped_bits_are_refused(self):
        """Some through the program; tests/unit/test_model.c goes through all of them."""
        for args in ((), ("--l1-ratio=0.9", "--cost=0.05")):  # dense, sparse
            self.write("d", text(problem(features=4, nonzeros=2, labels=(1, 2, 3), rows=30)))
            self.works("train", "--quiet", "--max-rounds=20", *args, "d", "m", status=(0, 3))
            whole = self.read("m")
            self.assertLess(len(whole), 4000)
            for size in range(0, len(whole), 19):
                self.write("cut", whole[:size])
                self.fails(1, "info", "cut", says=["cut"])
            for at in range(0, len(whole), 7):
                self.write("flip", whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:])
                self.fails(1, "predict", "flip", "d", "out", says=["flip"])


if __name__ == "__main__":
    support.main()

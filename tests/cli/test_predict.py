"""bda predict: lines and metrics against values computed here."""
import csv
import json
import math

import support


def decision(weights, x, bias=-1):
    features = len(weights) - (bias >= 0)
    z = 0.0
    for j, v in x.items():
        if j <= features:
            z += v * weights[j - 1]
    return z + bias * weights[-1] if bias >= 0 else z


def auc(scores, positive):
    """By all pairs."""
    above = [s for s, p in zip(scores, positive) if p]
    below = [s for s, p in zip(scores, positive) if not p]
    return sum((a > b) + (a == b) / 2 for a in above for b in below) / (len(above) * len(below))


class Predict(support.Case):
    def train(self, *args, data):
        self.write("d", support.libsvm(data))
        self.works("train", "--quiet", "--max-rounds=20", *support.plain(args), "d", "m", status=(0, 3))
        self.works("export", "m", "text")
        return support.read_liblinear(self.read("text").decode())

    def predict(self, *args, data="t", **how):
        self.works("predict", "--metrics=metrics", *args, "m", data, "out", **how)
        lines = [line.split(" ") for line in self.read("out").decode().splitlines()]
        self.head = None
        if {"--scores", "--probability"} & set(args):
            self.head = lines.pop(0)
            self.assertEqual(self.head[0], "labels")
        return lines, json.loads(self.read("metrics"))

    def test_classes(self):
        for loss in ("hinge", "squared-hinge", "logistic"):
            _, w = self.train("--loss=" + loss, data=support.problem(labels=(7, -2), values="ones"))
            test = support.problem(rows=150, labels=(7, -2), values="ones", seed=3)
            self.write("t", support.libsvm(test))
            lines, metrics = self.predict("--scores")
            self.assertEqual(self.head, ["labels", "7", "-2"])
            scores = [decision(w, x) for _, x in test]
            self.assertEqual([float(line[1]) for line in lines], scores)
            guesses = [7 if z > 0 else -2 for z in scores]
            self.assertEqual([line[0] for line in lines], [f"{g:g}" for g in guesses])
            truth = [y for y, _ in test]
            right = sum(g == y for g, y in zip(guesses, truth))
            hit = sum(g == y == 7 for g, y in zip(guesses, truth))
            self.assertEqual((metrics["instances"], metrics["unknown_labels"]), (150, 0))
            self.assertAlmostEqual(metrics["accuracy"], right / 150, 15)
            self.assertAlmostEqual(metrics["auc"], auc(scores, [y == 7 for y in truth]), 14)
            self.assertAlmostEqual(metrics["f1"], 2 * hit / (guesses.count(7) + truth.count(7)), 14)
            self.assertEqual("log_loss" in metrics, loss == "logistic")
            if loss == "logistic":
                mean = sum(math.log1p(math.exp(-z if y == 7 else z)) for z, y in zip(scores, truth)) / 150
                self.assertAlmostEqual(metrics["log_loss"], mean, 13)

    def test_labels_are_printed_as_they_were_read(self):
        self.write("d", "0.1 1:1\n-2.50 2:1\n0.1 1:2\n")
        self.works("train", "--quiet", "d", "m")
        self.works("predict", "--quiet", "m", "d", "out")
        self.assertEqual(self.read("out"), b"0.1\n-2.5\n0.1\n")

    def test_probability(self):
        _, w = self.train("--loss=logistic", data=support.problem())
        test = support.problem(rows=40, seed=9)
        self.write("t", support.libsvm(test))
        lines, _ = self.predict("--scores", "--probability")
        for (label, score, p, q), (_, x) in zip(lines, test):
            self.assertAlmostEqual(float(p), 1 / (1 + math.exp(-decision(w, x))), 14)
            self.assertAlmostEqual(float(p) + float(q), 1, 14)
            self.assertEqual(label, "1" if float(score) > 0 else "-1")
        self.assertEqual([line[2:] for line in lines], [line[1:] for line in self.predict("--probability")[0]])
        self.works("train", "--quiet", "--loss=hinge", "d", "m", status=(0, 3))
        self.fails(2, "predict", "--probability", "m", "t", "out2", says=["--probability", "logistic", "hinge"])
        self.assertFalse(self.exists("out2"))

    def test_formats(self):
        self.train("--loss=logistic", data=support.problem(labels=(2, 1)))
        self.write("t", support.libsvm(support.problem(rows=20, labels=(2, 1), seed=4)))
        plain, _ = self.predict("--scores", "--probability")
        for threads in (1, 2):
            self.works("predict", "--quiet", "--format=csv", "--scores", "--probability", f"--threads={threads}", "m",
                       "t", "csv")
            rows = list(csv.reader(self.read("csv").decode().splitlines()))
            self.assertEqual(rows, [["label", "score", "probability_2", "probability_1"]] + plain)
        self.works("predict", "--quiet", "--format=json", "--scores", "--probability", "m", "t", "json")
        objects = [json.loads(line) for line in self.read("json").decode().splitlines()]
        self.assertEqual(objects, [{"label": int(a), "score": float(s), "probabilities": {"2": float(p), "1": float(q)}}
                                   for a, s, p, q in plain])
        self.works("predict", "--quiet", "--format=csv", "m", "t", "csv")
        self.assertEqual(self.read("csv").decode().split("\n"), ["label"] + [line[0] for line in plain] + [""])
        self.train("--task=regress", data=support.problem(labels=None))
        numbers = self.works("predict", "--quiet", "m", "d").stdout.split()
        self.assertEqual(self.works("predict", "--quiet", "--format=csv", "m", "d").stdout.split(),
                         ["prediction"] + numbers)
        self.assertEqual([json.loads(line)["prediction"] for line in
                          self.works("predict", "--quiet", "--format=json", "m", "d").stdout.splitlines()],
                         [float(x) for x in numbers])

    def test_numbers(self):
        _, w = self.train("--task=regress", "--bias=1", data=support.problem(labels=None))
        test = support.problem(rows=70, labels=None, seed=8)
        self.write("t", support.libsvm(test))
        lines, metrics = self.predict()
        guesses, truth = [decision(w, x, 1) for _, x in test], [y for y, _ in test]
        self.assertEqual([float(line[0]) for line in lines], guesses)
        errors = [g - y for g, y in zip(guesses, truth)]
        mean = sum(truth) / 70
        self.assertAlmostEqual(metrics["mse"], sum(e * e for e in errors) / 70, 12)
        self.assertAlmostEqual(metrics["mae"], sum(map(abs, errors)) / 70, 12)
        self.assertAlmostEqual(metrics["r2"], 1 - sum(e * e for e in errors) / sum((y - mean)**2 for y in truth), 12)
        self.assertNotIn("accuracy", metrics)

    def test_ties(self):
        self.train(data=support.problem())
        self.write("t", "1\n-1\n1\n-1\n-1\n")
        lines, metrics = self.predict("--scores")
        self.assertEqual(lines, [["-1", "0"]] * 5)  # nothing speaks for the positive label
        self.assertEqual((metrics["auc"], metrics["f1"], metrics["accuracy"]), (0.5, 0, 0.6))

    def test_features_and_labels_that_the_model_does_not_know(self):
        _, w = self.train(data=support.problem())
        self.write("t", "1 1:1 4000000000:5\n3 2:1\n-1 31:1\n")
        lines, metrics = self.predict("--scores")
        self.assertEqual([float(line[1]) for line in lines], [w[0], w[1], 0])
        self.assertEqual(metrics["unknown_labels"], 1)
        right = (w[0] > 0) + 1
        self.assertAlmostEqual(metrics["accuracy"], right / 3, 15)
        self.write("u", "5 1:1\n6 2:1\n")
        self.assertIn("nothing to score", self.works("predict", "m", "u", "out").stderr)

    def test_the_first_unknown_feature_beside_a_constant_one(self):
        for labels in ((1, -1), (1, 2, 3)):  # whose weights stand where that feature's would
            data = [(labels[i % len(labels)], x) for i, (_, x) in enumerate(support.problem())]
            self.write("d", support.libsvm(data))
            self.works("train", "--quiet", "--force", "--bias=1", "--max-rounds=20", "d", "m", status=(0, 3))
            for line in ("1 1:1", "1"):
                self.write("known", line + "\n")
                self.write("t", f"{line} 31:5\n{line} 31:5 32:7\n{line} 4000000000:9\n")
                known = self.works("predict", "--quiet", "--scores", "m", "known").stdout.splitlines()[1]
                self.assertTrue(any(float(score) != 0 for score in known.split()[1:]))
                r = self.works("predict", "--quiet", "--scores", "m", "t")
                self.assertEqual(r.stdout.splitlines()[1:], [known] * 3)

    def test_one_label_only(self):
        self.train(data=support.problem())
        self.write("t", "1 1:1\n1 2:1\n")
        lines, metrics = self.predict()
        self.assertEqual(metrics["accuracy"], sum(line[0] == "1" for line in lines) / 2)
        self.assertIsNone(metrics["auc"])

    def test_summary_and_standard_output(self):
        self.train(data=support.problem())
        r = self.works("predict", "m", "d")
        self.assertEqual(len(r.stdout.splitlines()), 200)
        self.assertRegex(r.stderr, r"^bda predict: d: 200 instances, 30 features, .*\n"
                         r"bda predict: 200 instances: accuracy \d+\.\d\d %, auc 0\.\d+, f1 0\.\d+\n$")
        q = self.works("predict", "--quiet", "m", "d", "-")
        self.assertEqual((q.stdout, q.stderr), (r.stdout, ""))

    def test_full_disk(self):
        self.train(data=support.problem())
        self.fails(1, "predict", "m", "d", "/dev/full", says=["/dev/full"])
        self.fails(1, "predict", "--metrics=/dev/full", "m", "d", "out", says=["/dev/full"])
        self.fails(1, "predict", "m", "d", "nodir/out", says=["nodir/out"])
        self.assertEqual(self.leftovers(), [])

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_and_threads_change_nothing(self):
        self.train("--loss=logistic", data=support.problem())
        self.write("t", support.libsvm(support.problem(rows=77, seed=2)))
        self.predict("--scores")
        alone = self.read("out"), self.read("metrics")
        for ranks, threads in ((0, 2), (2, 1), (3, 2), (5, 1)):
            self.predict("--scores", f"--threads={threads}", ranks=ranks)
            self.assertEqual((self.read("out"), self.read("metrics")), alone)


if __name__ == "__main__":
    support.main()

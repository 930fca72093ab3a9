"""--multiclass=one-vs-rest: the sum of as many problems of two labels as there are labels, solved at once."""
import json
import math

import support

LOSSES = ("hinge", "squared-hinge", "logistic")


def four_labels(rows=120, seed=5):
    data = support.problem(rows=rows, features=12, nonzeros=5, seed=seed, noise=0.4)
    return [((3, 8, -2, 5)[(i + (y > 0) * 2) % 4], x) for i, (y, x) in enumerate(data)]


class OneVsRest(support.Case):
    def setUp(self):
        super().setUp()
        self.data = four_labels()
        self.labels = sorted({y for y, _ in self.data})
        self.write("d", support.libsvm(self.data))
        for k in self.labels:
            self.write(f"d{k}", support.libsvm([(1 if y == k else -1, x) for y, x in self.data]))

    def train(self, data, model, *options, ranks=0):
        self.works("train", "--quiet", "--force", "--log=log", "--gap=1e-6", "--max-rounds=20000", *options, data, model, ranks=ranks)
        return self.log("log")

    def columns(self, model):
        self.works("export", "--force", "--format=liblinear", model, "text")
        return [float(x) for x in self.read("text").decode().split("\nw\n")[1].split()]

    def test_agrees_with_separate_trainings(self):
        ranks = (0, 2, 3) if support.has_launcher() else (0,)
        for loss in LOSSES:
            for intercept in ("none", "penalised", "free"):
                asked = ("--loss=" + loss, "--intercept=" + intercept, "--cost=0.3")
                ends = [self.train(f"d{k}", f"m{k}", *asked)[-1] for k in self.labels]
                whole, least = sum(e["primal"] for e in ends), -sum(e["dual"] for e in ends)
                for method in ("auto", "hull", "bda") + (("lbfgs", "tron") if loss != "hinge" else ()):
                    for n in ranks if method == "auto" else (0,):
                        with self.subTest(loss=loss, intercept=intercept, method=method, ranks=n):
                            *rounds, end = self.train("d", "m", "--multiclass=one-vs-rest", "--method=" + method, *asked,
                                                      ranks=n)[1:]
                            self.assertLessEqual(end["relative_gap"], 1e-6)
                            self.assertGreaterEqual(end["primal"], least * (1 - 1e-12))
                            self.assertLessEqual(end["primal"], whole * (1 + 2e-6))
                            for told in rounds:  # the certificate is that of the sum
                                self.assertLessEqual(-told["dual"], whole * (1 + 1e-12))

    def test_weights_are_those_of_separate_trainings(self):
        for loss in LOSSES[1:]:
            self.train("d", "m", "--multiclass=one-vs-rest", "--loss=" + loss, "--gap=1e-9", "--bias=1", "--blocks=3")
            together = self.columns("m")
            for k, label in enumerate(self.labels):
                self.train(f"d{label}", "mk", "--loss=" + loss, "--gap=1e-9", "--bias=1")
                w = self.columns("mk")
                self.assertEqual(len(together), len(w) * len(self.labels))
                for j, x in enumerate(w):
                    self.assertAlmostEqual(together[j * len(self.labels) + k], x, 3)

    def test_same_bits_on_ranks(self):
        if not support.has_launcher():
            self.skipTest("no mpirun")
        for loss in LOSSES:
            for method in ("bda", "hull"):
                asked = ("--multiclass=one-vs-rest", "--loss=" + loss, "--method=" + method, "--blocks=4", "--gap=1e-4",
                         "--l1-ratio=0.3", "--class-weight=3:2")
                self.train("d", "a", *asked)
                self.train("d", "b", *asked, ranks=2)
                self.assertEqual(self.weights("a"), self.weights("b"))

    def test_probabilities(self):
        """The odds of each label against the rest, over their sum, as LIBLINEAR has them; the largest score decides."""
        self.train("d", "m", "--multiclass=one-vs-rest", "--loss=logistic")
        self.assertIn("solver_type L2R_LR", self.works("export", "--format=liblinear", "m", "-").stdout)
        self.works("predict", "--quiet", "--scores", "--probability", "--format=json", "--metrics=metrics", "m", "d", "out")
        loss = 0
        for line, (y, _) in zip(self.read("out").decode().splitlines(), self.data):
            told = json.loads(line)
            odds = {k: 1 / (1 + math.exp(-z)) for k, z in told["scores"].items()}
            for k, p in told["probabilities"].items():
                self.assertAlmostEqual(p, odds[k] / sum(odds.values()), 12)
            loss -= math.log(told["probabilities"][str(y)])
            self.assertEqual(str(told["label"]), max(odds, key=odds.get))
        self.assertAlmostEqual(json.loads(self.read("metrics"))["log_loss"], loss / len(self.data), 9)

    def test_log_loss_where_no_label_is_probable(self):
        """Each label is rarer than the others together, so far out all scores are far below 0."""
        self.write("alike", "".join(f"{y} 1:1\n" for y in (1, 2, 3)))
        self.write("far", "".join(f"{y} 1:1e9\n" for y in (1, 2, 3)))
        self.train("alike", "m", "--multiclass=one-vs-rest", "--loss=logistic", "--intercept=none", "--gap=1e-9")
        self.works("predict", "--quiet", "--metrics=metrics", "m", "far", "out")
        self.assertLess(max(w * 1e9 for w in self.columns("m")), -745)
        loss = json.loads(self.read("metrics"))["log_loss"]
        self.assertTrue(math.isfinite(loss) and loss >= 0, loss)

    def test_model_says_so(self):
        self.train("d", "m", "--multiclass=one-vs-rest", "--loss=hinge")
        self.assertIn("each against the rest", self.works("info", "m").stdout)
        self.assertIn("solver_type L2R_L1LOSS_SVC_DUAL", self.works("export", "--format=liblinear", "m", "-").stdout)
        self.train("d", "t", "--loss=hinge")
        self.assertNotIn("against the rest", self.works("info", "t").stdout)

    def test_two_labels_are_the_same_either_way(self):
        self.train("d3", "a", "--multiclass=one-vs-rest", "--blocks=2")
        self.train("d3", "b", "--blocks=2")
        self.assertEqual(self.weights("a"), self.weights("b"))

    def test_begins_at_a_model(self):
        asked = ("--multiclass=one-vs-rest", "--loss=squared-hinge", "--method=tron")
        first = self.train("d", "m", *asked)
        again = self.train("d", "m2", *asked, "--start=m")
        self.assertEqual(len(again), 3)
        self.assertAlmostEqual(again[1]["primal"] / first[-1]["primal"], 1, 12)

    def test_goes_on_from_a_checkpoint(self):
        for method in ("bda", "hull", "tron"):
            asked = ("--multiclass=one-vs-rest", "--loss=logistic", "--method=" + method, "--blocks=2")
            self.assertGreater(len(self.train("d", "whole", *asked)), 5)
            kept = ("--checkpoint=c." + method, "--checkpoint-every=1")
            self.bda("train", "--quiet", "--gap=1e-6", *asked, *kept, "--max-rounds=2", "d", "part." + method)
            self.train("d", "resumed", *asked, *kept, "--resume")
            self.assertEqual(self.weights("whole"), self.weights("resumed"))

    def test_refused(self):
        for method in ("newton", "perceptron"):
            self.fails(2, "train", "--multiclass=one-vs-rest", "--method=" + method, "d", "m",
                       says=("--method=" + method, "--multiclass=one-vs-rest", "auto"))
        self.fails(2, "train", "--multiclass=one-vs-rest", "--task=regress", "d", "m", says=("--multiclass", "regress"))
        self.fails(2, "train", "--multiclass=one-vs-one", "d", "m", says=("--multiclass", "together", "one-vs-rest"))


if __name__ == "__main__":
    support.main()

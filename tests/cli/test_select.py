"""bda select: it agrees with a loop over train and predict on the same folds, on any number of ranks."""
import json
import math

import support


def fold_of(labels, folds):
    """The i-th instance of a label goes to the fold (i + instances of smaller labels) mod folds."""
    turn, before = {}, 0
    for label in sorted(set(labels)):
        turn[label] = before
        before += labels.count(label)
    out = []
    for label in labels:
        out.append(turn[label] % folds)
        turn[label] += 1
    return out


class Select(support.Case):
    def select(self, *args, ranks=0):
        return json.loads(self.works("select", "--json", "-q", *args, "d", "m", ranks=ranks).stdout)

    def by_hand(self, rows, fold, folds, cost, metric, *options):
        """The scores of the folds, by train and predict."""
        scores = []
        for k in range(folds):
            self.write("rest", support.libsvm([r for r, f in zip(rows, fold) if f != k]))
            self.write("held", support.libsvm([r for r, f in zip(rows, fold) if f == k]))
            self.works("train", "-q", f"--cost={cost}", *options, "rest", "model")
            self.works("predict", "-q", "--metrics=metrics", "model", "held", "out")
            scores.append(json.loads(self.read("metrics"))[metric])
        return scores

    def agree(self, rows, fold, folds, metric, *options, more=()):
        self.write("d", support.libsvm(rows))
        found = self.select(f"--folds={folds}", "--costs=0.01,1", *options, *more)
        self.assertEqual((found["score"], found["folds"]), (metric, folds))
        self.assertEqual([t["cost"] for t in found["trials"]], [0.01, 1])
        for trial in found["trials"]:
            scores = self.by_hand(rows, fold, folds, trial["cost"], metric, *options)
            self.assertEqual(trial["scores"], scores)
            mean = math.fsum(scores) / folds
            error = math.sqrt(math.fsum((x - mean) ** 2 for x in scores) / (folds - 1) / folds)
            self.assertAlmostEqual(trial["mean"], mean, 12)
            self.assertAlmostEqual(trial["standard_error"], error, 12)
        return found

    def test_two_labels(self):
        rows = support.problem(rows=120, noise=0.2)
        labels = [y for y, _ in rows]
        found = self.agree(rows, fold_of(labels, 3), 3, "accuracy", "--loss=hinge")
        best = max(found["trials"], key=lambda t: t["mean"])
        self.assertEqual(found["chosen"]["cost"], best["cost"])
        self.works("train", "-q", "--loss=hinge", f"--cost={best['cost']}", "d", "other")
        self.works("export", "m", "m.txt")
        self.works("export", "other", "other.txt")
        self.assertEqual(self.read("m.txt"), self.read("other.txt"))

    def test_log_loss_and_more_labels(self):
        rows = [((i * 7) % 3, x) for i, (_, x) in enumerate(support.problem(rows=90))]
        fold = fold_of([y for y, _ in rows], 4)
        found = self.agree(rows, fold, 4, "log_loss", "--loss=logistic", more=["--score=log-loss"])
        least = min(found["trials"], key=lambda t: t["mean"])
        self.assertEqual(found["best"]["cost"], least["cost"])

    def test_numbers(self):
        rows = support.problem(rows=80, labels=None)
        self.agree(rows, [i % 5 for i in range(80)], 5, "mse", "--task=regress")

    def test_groups(self):
        """Sizes 40, 30, 20, 20, 10: to folds 0, 1, 2, 2 and 1."""
        rows = support.problem(rows=120, noise=0.2)
        sizes = [("a", 40), ("b", 30), ("c", 20), ("d", 20), ("e", 10)]
        words = [name for name, size in sizes for _ in range(size)]
        order = [i * 7 % 120 for i in range(120)]
        words = [words[i] for i in order]
        fold = [{"a": 0, "b": 1, "c": 2, "d": 2, "e": 1}[w] for w in words]
        self.write("groups", "\n".join(words) + "\n")
        self.agree(rows, fold, 3, "accuracy", more=["--groups=groups"])
        self.write("groups", "\n".join(words[1:]) + "\n")
        self.fails(1, "select", "--groups=groups", "d", "x", says=["119 lines", "120 instances"])
        self.write("groups", "\n".join("ab"[i % 2] for i in range(120)) + "\n")
        self.fails(1, "select", "--groups=groups", "d", "x", says=["fewer groups", "--folds=5"])

    def test_one_standard_error(self):
        self.write("d", support.libsvm(support.problem(rows=150, noise=0.3)))
        found = self.select("--costs=0.001,0.01,0.1,1,10", "--l1-ratios=0,0.3", "--one-standard-error")
        best = max(found["trials"], key=lambda t: t["mean"])
        close = [t for t in found["trials"] if best["mean"] - t["mean"] <= best["standard_error"]]
        expected = min(close, key=lambda t: (t["cost"], -t["l1_ratio"]))
        self.assertEqual(found["chosen"], {"cost": expected["cost"], "l1_ratio": expected["l1_ratio"]})
        self.assertIn("chosen", self.works("select", "--costs=0.01,1", "d", "m").stdout)

    def test_refused(self):
        self.write("d", support.libsvm(support.problem(rows=20)))
        for words, says in [(["--costs=1,0.1"], "--costs"), (["--costs=1,x"], "'1,x'"), (["--costs="], "--costs"),
                            (["--costs=-1,1"], "--cost"), (["--folds=1"], "--folds"), (["--score=log-loss"], "log-loss"),
                            (["--loss=epsilon-insensitive"], "--loss")]:
            self.fails(2, "select", *words, "-q", "d", "m", says=[says])
        self.fails(1, "select", "--folds=21", "d", "m", says=["20 instances", "--folds=21"])
        self.assertFalse(self.exists("m"))

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks(self):
        """Folds do not depend on the ranks; trainings to a small gap agree nearly."""
        self.write("d", support.libsvm(support.problem(rows=100, noise=0.2)))
        options = ["--costs=0.1,1", "--folds=3", "--gap=1e-9", "--loss=logistic", "--score=log-loss", "--blocks=6"]
        alone = self.select(*options)
        for ranks in (2, 3):
            for a, b in zip(alone["trials"], self.select(*options, ranks=ranks)["trials"]):
                for x, y in zip(a["scores"], b["scores"]):
                    self.assertAlmostEqual(x, y, 5)


if __name__ == "__main__":
    support.main()

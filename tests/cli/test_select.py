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

    def agree(self, rows, fold, folds, metric, *options, more=(), digits=None):
        self.write("d", support.libsvm(rows))
        found = self.select(f"--folds={folds}", "--costs=0.01,1", *options, *more)
        self.assertEqual((found["score"], found["folds"]), (metric, folds))
        self.assertEqual([t["cost"] for t in found["trials"]], [0.01, 1])
        for trial in found["trials"]:
            scores = self.by_hand(rows, fold, folds, trial["cost"], metric, *options)
            if digits is None:
                self.assertEqual(trial["scores"], scores)
            for here, there in zip(trial["scores"], scores):
                self.assertAlmostEqual(here, there, digits or 12)
            scores = trial["scores"]
            mean = math.fsum(scores) / folds
            error = math.sqrt(math.fsum((x - mean) ** 2 for x in scores) / (folds - 1) / folds)
            self.assertAlmostEqual(trial["mean"], mean, 12)
            self.assertAlmostEqual(trial["standard_error"], error, 12)
        return found

    def test_two_labels(self):
        rows = support.problem(rows=120, noise=0.2)
        labels = [y for y, _ in rows]
        found = self.agree(rows, fold_of(labels, 3), 3, "accuracy", "--loss=hinge", "--gap=1e-8")
        best = max(found["trials"], key=lambda t: t["mean"])
        self.assertEqual(found["chosen"]["cost"], best["cost"])
        self.works("train", "-q", "--loss=hinge", "--gap=1e-8", f"--cost={best['cost']}", "d", "other")
        self.works("export", "m", "m.txt")
        self.works("export", "other", "other.txt")
        self.assertEqual(self.read("m.txt"), self.read("other.txt"))

    def test_log_loss_and_more_labels(self):
        rows = [((i * 7) % 3, x) for i, (_, x) in enumerate(support.problem(rows=90))]
        fold = fold_of([y for y, _ in rows], 4)
        found = self.agree(rows, fold, 4, "log_loss", "--loss=logistic", more=["--score=log-loss"])
        least = min(found["trials"], key=lambda t: t["mean"])
        self.assertEqual(found["best"]["cost"], least["cost"])

    def test_trainings_from_those_before(self):
        """Methods on the dual begin where the last training ended, and come to the same models as train does."""
        rows = support.problem(rows=150, noise=0.2)
        fold = fold_of([y for y, _ in rows], 3)
        for loss in ("logistic", "squared-hinge", "hinge"):
            score = ["--score=log-loss"] if loss == "logistic" else ["--score=auc"]
            for method in ("bda", "hull"):
                self.agree(rows, fold, 3, score[0][8:].replace("-", "_"), f"--loss={loss}", f"--method={method}",
                           "--gap=1e-8", "--max-rounds=100000", more=score, digits=4)

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
        self.agree(rows, fold, 3, "accuracy", "--gap=1e-8", more=["--groups=groups"])
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

    def held_out(self, rows, fold, folds, *options):
        """(scores, label) of each instance by a model that did not see it."""
        found = [None] * len(rows)
        for k in range(folds):
            held = [i for i, f in enumerate(fold) if f == k]
            self.write("rest", support.libsvm([r for r, f in zip(rows, fold) if f != k]))
            self.write("held", support.libsvm([rows[i] for i in held]))
            self.works("train", "-q", *options, "rest", "model")
            lines = self.works("predict", "-q", "--scores", "model", "held").stdout.splitlines()[1:]
            for i, line in zip(held, lines):
                found[i] = [float(x) for x in line.split()[1:]], rows[i][0]
        return found

    def probabilities(self):
        lines = self.works("predict", "-q", "--probability", "--scores", "--metrics=metrics", "m", "d").stdout
        lines = [[float(x) for x in line.split()[1:]] for line in lines.splitlines()[1:]]
        return lines, json.loads(self.read("metrics"))

    def calibration(self, kind, folds, rows):
        self.write("d", support.libsvm(rows))
        self.select(f"--folds={folds}", "--costs=0.3", "--loss=hinge", f"--calibrate={kind}", "--gap=1e-6")
        self.works("export", "--format=json", "m", "m.json", "--force")
        found = json.loads(self.read("m.json"))["calibration"]
        self.assertEqual((found["method"], found["instances"]), (kind, len(rows)))
        fold = fold_of([y for y, _ in rows], folds)
        return found["maps"], self.held_out(rows, fold, folds, "--cost=0.3", "--loss=hinge", "--gap=1e-6")

    def test_platt(self):
        """The derivatives of the likelihood, to targets that are drawn together, are 0 at what was found."""
        rows = support.problem(rows=120, noise=0.2)
        maps, held = self.calibration("platt", 3, rows)
        with_label = sum(y > 0 for _, y in held)
        high, low = (with_label + 1) / (with_label + 2), 1 / (len(held) - with_label + 2)
        self.assertEqual(len(maps), 1)
        slope, offset = maps[0]["slope"], maps[0]["offset"]
        probability = lambda s: 1 / (1 + math.exp(slope * s + offset))
        errors = [((high if y > 0 else low) - probability(s[0]), s[0]) for s, y in held]
        self.assertLess(slope, 0)
        self.assertLess(abs(math.fsum(e for e, _ in errors)), 1e-6)
        self.assertLess(abs(math.fsum(e * s for e, s in errors)), 1e-6)
        lines, metrics = self.probabilities()
        losses = []
        for (score, p, q), (y, _) in zip(lines, rows):
            self.assertAlmostEqual(p, probability(score), 14)
            self.assertEqual(q, 1 - p)
            losses.append(-math.log(p if y > 0 else q))
        self.assertAlmostEqual(metrics["log_loss"], math.fsum(losses) / len(rows), 12)
        self.assertIn("platt, on 120 instances", self.works("info", "m").stdout)

    def test_isotonic(self):
        """At the i-th score it is the largest, over beginnings up to i, of the least mean, over ends from i on."""
        rows = [((i * 7) % 3, x) for i, (_, x) in enumerate(support.problem(rows=90))]
        maps, held = self.calibration("isotonic", 3, rows)
        self.assertEqual(len(maps), 3)
        for k, one in enumerate(maps):
            points = sorted((s[k], y == k) for s, y in held)
            means = [[sum(y for _, y in points[a:b + 1]) / (b + 1 - a) if b >= a else 1 for b in range(len(points))]
                     for a in range(len(points))]
            ends = [[min(means[a][i:]) for i in range(len(points))] for a in range(len(points))]
            value = {s: max(ends[a][i] for a in range(i + 1)) for i, (s, _) in enumerate(points)}
            self.assertEqual((one["scores"][0], one["scores"][-1]), (points[0][0], points[-1][0]))
            for s, p in zip(one["scores"], one["probabilities"]):
                self.assertAlmostEqual(p, value[s], 12)
            for s, _ in points:
                self.assertAlmostEqual(self.between(one, s), value[s], 12)
        for line in self.probabilities()[0]:
            parts = [self.between(one, s) for one, s in zip(maps, line[:3])]
            for p, part in zip(line[3:], parts):
                self.assertAlmostEqual(p, part / sum(parts), 12)

    @staticmethod
    def between(one, s):
        knots = list(zip(one["scores"], one["probabilities"]))
        if s <= knots[0][0]:
            return knots[0][1]
        for (a, p), (b, q) in zip(knots, knots[1:]):
            if s <= b:
                return p + (s - a) / (b - a) * (q - p)
        return knots[-1][1]

    def test_calibration_refused(self):
        self.write("d", support.libsvm(support.problem(rows=20, labels=None)))
        self.fails(2, "select", "--task=regress", "--calibrate=platt", "d", "m", says=["--calibrate", "classify"])
        rows = support.problem(rows=21)
        rows[7] = (5, rows[7][1])
        self.write("d", support.libsvm(rows))
        self.fails(1, "select", "-q", "--calibrate=platt", "--folds=2", "d", "m", says=["some label", "fold"])
        self.works("train", "-q", "d", "m")
        self.fails(2, "predict", "--probability", "m", "d", says=["--calibrate", "squared-hinge"])

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
        for ranks in (2, 3, 4):  # with 4 ranks and 3 folds, all are at the same fold
            for a, b in zip(alone["trials"], self.select(*options, ranks=ranks)["trials"]):
                for x, y in zip(a["scores"], b["scores"]):
                    self.assertAlmostEqual(x, y, 5)

    def test_threads(self):
        """Folds side by side on threads are the same trainings: to the last bit."""
        self.write("d", support.libsvm(support.problem(rows=150, noise=0.3)))
        alone = self.select("--costs=0.01,1,10")
        for threads in (2, 3, 8):
            self.assertEqual(self.select("--costs=0.01,1,10", f"--threads={threads}"), alone)

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_folds_on_ranks(self):
        """A rank for each fold at most: the same trainings, and weights and names of labels come along."""
        rows = support.problem(rows=150, noise=0.3)
        self.write("weights", "".join(f"{1 + i % 3}\n" for i in range(150)))
        names = "".join(f"{'yes' if y > 0 else 'no'},{x.get(1, 0)},{x.get(2, 0)},{i % 7}\n"
                        for i, (y, x) in enumerate(rows))
        for text, options in ((support.libsvm(rows), []), ("y,a,b,c\n" + names, ["--format=csv", "--label=y"])):
            self.write("d", text)
            options += ["--costs=0.01,1", "--weights=weights"]
            alone = self.select(*options)
            for ranks in (2, 3, 5):
                self.assertEqual(self.select(*options, ranks=ranks), alone)

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_calibrate_alike(self):
        self.write("d", support.libsvm(support.problem(rows=100, noise=0.2)))
        maps = []
        for ranks in (0, 2, 3):
            self.select("--costs=1", "--folds=3", "--gap=1e-10", "--calibrate=platt", ranks=ranks)
            self.works("export", "--format=json", "m", "m.json", "--force")
            maps.append(json.loads(self.read("m.json"))["calibration"]["maps"][0])
        for other in maps[1:]:
            for name in ("slope", "offset"):
                self.assertAlmostEqual(maps[0][name], other[name], 4)


if __name__ == "__main__":
    support.main()

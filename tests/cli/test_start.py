"""--start: a training that begins at the weights of a model, by every loss and method, alone and on ranks."""
import unittest

import support

BINARY = ("hinge", "squared-hinge", "logistic")
NUMBERS = ("squared-error", "epsilon-insensitive", "squared-epsilon-insensitive")
DUAL = ("auto", "bda", "hull", "disdca", "cocoa+", "dsvm-ave", "prox-grad", "admm")
PRIMAL = ("newton", "tron", "l-commdir", "lbfgs")
SMOOTH = ("squared-hinge", "logistic", "squared-error", "squared-epsilon-insensitive")


def several(rows, seed):
    """Three labels, with the values and columns of support.problem."""
    return [(1 + (i * 7 + len(x)) % 3, {**x, 31 + (i * 7 + len(x)) % 3: 1.0}) for i, (_, x) in
            enumerate(support.problem(rows=rows, seed=seed))]


class Start(support.Case):
    def train(self, *options, ranks=0, model="m"):
        self.works("train", "--quiet", "--force", "--log=log", "--blocks=2", "--max-rounds=3000", *options, "d", model,
                   ranks=ranks)
        *rounds, end = self.log("log")[1:]
        return rounds, end

    def again(self, losses, *options):
        """The same training from its model: the objective never rises, the certificate holds, ranks do not matter."""
        for loss in losses:
            for method in DUAL + PRIMAL:
                if method in ("tron", "l-commdir", "lbfgs") and loss not in SMOOTH:
                    continue
                if method in PRIMAL and "several" in options and loss != "logistic":
                    continue
                with self.subTest(loss=loss, method=method, options=options):
                    asked = [o for o in options if o != "several"] + ["--loss=" + loss, "--method=" + method, "--cost=0.3",
                                                                       "--gap=1e-2"]
                    cold, done = self.train(*asked)
                    warm, end = self.train("--start=m", *asked, model="m1")
                    self.assertLessEqual(end["primal"], done["primal"] * (1 + 1e-12))
                    self.assertLessEqual(end["relative_gap"], 1e-2)
                    self.assertLessEqual(warm[0]["best_primal"], done["primal"] * (1 + 1e-9))
                    least = end["primal"] * (1 - end["relative_gap"])
                    for told in cold + warm:  # what is proved of either holds for both
                        self.assertGreaterEqual(done["primal"] * (1 + 1e-9), -told["dual"])
                        self.assertGreaterEqual(told["best_primal"], least * (1 - 1e-9))
                        self.assertGreaterEqual(told["relative_gap"], 0)
                    if method in PRIMAL and loss in SMOOTH:  # whose certificate follows from the weights alone
                        self.assertEqual(len(warm), 1)
                    if support.has_launcher():
                        self.train("--start=m", *asked, ranks=2, model="m2")
                        self.assertEqual(self.weights("m1"), self.weights("m2"))

    def test_two_labels(self):
        self.write("d", support.libsvm(support.problem(rows=80)))
        self.again(BINARY, "--intercept=none")

    def test_several_labels(self):
        self.write("d", support.libsvm(several(60, 2)))
        self.again(BINARY, "several", "--intercept=none")

    def test_numbers(self):
        self.write("d", support.libsvm(support.problem(rows=80, labels=None)))
        self.again(NUMBERS, "--task=regress", "--intercept=none")

    def test_constants_and_scales(self):
        """Weights of the constant feature, of columns that are scaled, and of an elastic net find their places: the
        objective of round 0 is that of the model."""
        self.write("d", support.libsvm(support.problem(rows=120)))
        for options in (["--intercept=free"], ["--bias=3"], ["--scale=max-abs"], ["--scale=standard", "--intercept=free"],
                        ["--l1-ratio=0.5"], ["--class-weight=balanced"], ["--l1-ratio=1", "--intercept=free"]):
            for loss in ("squared-hinge", "logistic"):
                for method in ("auto", "bda", "lbfgs"):
                    if method == "bda" and "--l1-ratio=1" in options:
                        continue
                    with self.subTest(options=options, loss=loss, method=method):
                        asked = options + ["--loss=" + loss, "--method=" + method]
                        _, done = self.train(*asked)
                        warm, end = self.train("--start=m", *asked, model="m1")
                        if method == "lbfgs":
                            self.assertAlmostEqual(warm[0]["primal"] / done["primal"], 1, 12)
                        self.assertLessEqual(warm[0]["best_primal"], done["primal"] * (1 + 1e-12))
                        self.assertLessEqual(end["primal"], done["primal"] * (1 + 1e-12))

    def test_columns_of_single_rows(self):
        """Weights that only one row wants are one number in the training (data/fold.h)."""
        data = [(y, {**x, **{100 + 300 * i + 7 * j: 1.0 + j for j in range(40)}})
                for i, (y, x) in enumerate(support.problem(rows=400))]
        data = [(y, {**x, **{40 + k: 0.1 for k in range(i % 3)}}) for i, (y, x) in enumerate(data)]
        self.write("d", support.libsvm([(y, dict(sorted(x.items()))) for y, x in data]))
        for ranks in (0, 2, 3) if support.has_launcher() else (0,):
            for loss, method in (("hinge", "hull"), ("squared-hinge", "bda"), ("squared-hinge", "lbfgs"), ("logistic", "tron")):
                with self.subTest(ranks=ranks, loss=loss, method=method):
                    asked = ("--loss=" + loss, "--method=" + method)
                    _, done = self.train(*asked, ranks=ranks)
                    warm, end = self.train("--start=m", *asked, ranks=ranks, model="m1")
                    if method in PRIMAL:
                        self.assertAlmostEqual(warm[0]["primal"] / done["primal"], 1, 12)
                    self.assertLessEqual(warm[0]["best_primal"], done["primal"] * (1 + 1e-12))
                    self.assertLessEqual(end["primal"], done["primal"] * (1 + 1e-12))

    def test_path(self):
        """A path of costs takes fewer rounds where each training begins at the model before it."""
        self.write("d", support.libsvm(support.problem(rows=300, noise=0.3)))
        for loss in BINARY:
            for method in ("hull", "lbfgs", "tron"):
                if method != "hull" and loss == "hinge":
                    continue
                rounds = {"cold": 0, "warm": 0}
                for k, cost in enumerate(("0.1", "0.2", "0.4", "0.8", "1.6")):
                    asked = ("--loss=" + loss, "--method=" + method, "--cost=" + cost)
                    rounds["cold"] += len(self.train(*asked, model="cold")[0])
                    warm = ("--start=warm",) if k else ()
                    rounds["warm"] += len(self.train(*warm, *asked, model="warm")[0])
                with self.subTest(loss=loss, method=method):
                    self.assertLess(rounds["warm"], rounds["cold"])

    def test_features_that_one_lacks(self):
        """Such weights begin at 0, or are left out; that is where a model of another loss may be used, too."""
        data = support.problem(rows=100, features=20)
        self.write("d", support.libsvm([(y, {j: v for j, v in x.items() if j <= 12}) for y, x in data]))
        self.train("--loss=logistic", model="few")
        self.write("d", support.libsvm(data))
        _, full = self.train(model="many")
        _, end = self.train("--start=few", model="m1")
        self.assertAlmostEqual(end["primal"] / full["primal"], 1, 2)
        self.write("d", support.libsvm([(y, {j: v for j, v in x.items() if j <= 12}) for y, x in data]))
        _, end = self.train("--start=many", "--loss=logistic", model="m2")
        self.assertLessEqual(end["relative_gap"], 1e-3)

    def test_labels_in_another_order(self):
        """Names of labels are what counts; more than two are found by name."""
        self.write("d", support.libsvm(several(90, 4)))
        _, done = self.train("--loss=logistic", "--method=lbfgs")
        text = self.read("d").decode().splitlines(keepends=True)
        self.write("d", "".join(reversed(text)))
        warm, _ = self.train("--loss=logistic", "--method=lbfgs", "--start=m", model="m1")
        self.assertAlmostEqual(warm[0]["primal"] / done["primal"], 1, 9)

    def test_resumed(self):
        """A training that was interrupted goes on to the same model, wherever it began."""
        self.write("d", support.libsvm(support.problem(rows=200, noise=0.3)))
        self.train("--gap=0.5", "--cost=0.5", "--method=bda")
        for method in ("bda", "hull", "lbfgs"):
            with self.subTest(method=method):
                asked = ("--start=m", "--gap=1e-6", "--loss=logistic", "--method=" + method)
                whole, _ = self.train(*asked, model="whole")
                self.assertGreater(len(whole), 4)
                kept = ("--checkpoint=c." + method, "--checkpoint-every=1")
                self.bda("train", "--quiet", "--blocks=2", *asked, *kept, "--max-rounds=3", "d", "part." + method)
                self.train(*asked, *kept, "--resume", model="resumed")
                self.assertEqual(self.weights("whole"), self.weights("resumed"))

    def test_refused(self):
        self.write("d", support.libsvm(support.problem()))
        self.train()
        self.write("e", support.libsvm(several(60, 1)))
        self.write("f", support.libsvm([(y + 3, x) for y, x in support.problem()]))
        self.fails(1, "train", "--start=m", "e", "m1", says=("label", "--start"))
        self.fails(1, "train", "--start=m", "f", "m1", says=("label 2", "--start"))
        self.fails(2, "train", "--start=m", "--task=regress", "d", "m1", says=("--start", "classify", "regress"))
        self.fails(2, "train", "--start=m", "--method=average", "d", "m1", says=("--start", "--method=average", "bda"))
        self.fails(1, "train", "--start=none", "d", "m1", says=("none",))
        self.fails(1, "train", "--start=d", "d", "m1", says=("d",))
        self.write("t", "a,b,y\n1,2,p\n2,1,q\n3,1,q\n")
        self.write("u", "a,c,y\n1,2,p\n2,1,q\n3,1,q\n")
        table = ("--format=csv", "--label=y")
        self.works("train", "-q", *table, "t", "named")
        self.works("train", "-q", *table, "--start=named", "t", "named2")
        self.fails(1, "train", *table, "--start=named", "u", "m1", says=("feature 2", "'c'", "'b'"))
        self.write("s.conllu", "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tY\t_\t_\t1\tdet\t_\t_\n\n")
        self.fails(2, "train", "--task=tag", "--start=m", "s.conllu", "m1", says=("--start", "--task=tag"))
        self.assertFalse(self.exists("m1"))


if __name__ == "__main__":
    support.main()

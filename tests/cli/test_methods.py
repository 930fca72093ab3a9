"""Every method of the program: what is listed, what is refused and how, how those without a gap end, and that all who
minimise the same objective find the same optimum."""
import math
import re

import support

OUTER_LOOP = "bda disdca disdca-basic cocoa+ dsvm-ave prox-grad".split()
PRIMAL = "newton tron l-commdir lbfgs".split()
METHODS = OUTER_LOOP + PRIMAL + "hull admm average perceptron".split()
OF_SENTENCES = ["momentum"]

# Which methods know an option; a value to give it.
OWNERS = {
    "a1=1": ["auto"] + OUTER_LOOP, "a2=1": ["auto"] + OUTER_LOOP, "line-search=exact": ["auto"] + OUTER_LOOP,
    "tau=0.1": ["auto", "l-commdir", "lbfgs"] + OUTER_LOOP, "beta=0.1": ["auto", "l-commdir", "lbfgs"] + OUTER_LOOP,
    "local-epochs=2": ["auto", "hull", "admm", "average"] + OUTER_LOOP + OF_SENTENCES,
    "threads-mode=blocks": ["auto", "hull"] + OUTER_LOOP, "hull=fused": ["auto", "hull"], "accelerate": OUTER_LOOP,
    "history=3": ["l-commdir", "lbfgs"], "penalty=2": ["admm"], "balance": ["admm"], "relaxation=1.5": ["admm"],
}


def names(sentence, before, after):
    """The methods that a refusal lists between two pieces of text."""
    found = re.search(re.escape(before) + "(.*?)" + re.escape(after), sentence)
    return found.group(1).replace(" or ", ", ").split(", ")


class Listed(support.Case):
    def test_list(self):
        text = self.works("train", "--method=list").stdout
        listed = re.findall(r"^(\S+)  ", text, re.M)
        self.assertEqual(sorted(listed), sorted(METHODS + OF_SENTENCES + ["auto"]))
        self.assertGreaterEqual(text.count("needs: "), len(METHODS))

    def test_unknown_method_names_them_all(self):
        sentence = self.fails(2, "train", "--method=x", "d", "m")
        self.assertEqual(sorted(set(names(sentence, "one of ", ", not"))), sorted(METHODS + OF_SENTENCES + ["auto"]))


class Refused(support.Case):
    """Refusals before data are read: there is no such file."""

    def refused(self, *args, says=()):
        return self.fails(2, "train", *args, "no-such-file", "m", says=says)

    def test_the_loss(self):
        for loss, task in (("hinge", "classify"), ("epsilon-insensitive", "regress")):
            for method in ("tron", "l-commdir", "lbfgs"):
                sentence = self.refused(f"--task={task}", f"--loss={loss}", f"--method={method}",
                                        says=[f"--method={method}", f"--loss={loss}", "differentiable"])
                others = names(sentence, "; --method=", " would do")
                self.assertIn("newton", others)
                self.assertIn("bda", others)
                self.assertNotIn("tron", others)
                for other in others:  # with them it is the data that is missing
                    self.fails(1, "train", f"--task={task}", f"--loss={loss}", f"--method={other}", "no-such-file",
                               "m", says=["no-such-file"])

    def test_the_regulariser(self):
        for method in ("tron", "l-commdir"):
            sentence = self.refused("--l1-ratio=0.25", f"--method={method}", says=["--l1-ratio=0.25"])
            others = names(sentence, "; --method=", " would do")
            self.assertIn("lbfgs", others)
            self.assertIn("newton", others)

    def test_the_task(self):
        sentence = self.refused("--task=regress", "--method=perceptron", says=["--task=regress"])
        self.assertIn("newton", names(sentence, "; --method=", " would do"))

    def test_a_gap_without_a_dual(self):
        self.refused("--gap=1e-3", "--method=perceptron", says=["--gap=1e-3", "perceptron"])

    def test_options_of_other_methods(self):
        for option, owners in OWNERS.items():
            for method in METHODS + ["auto"]:
                args = ["train", "--" + option, f"--method={method}", "no-such-file", "m"]
                if method in owners:
                    self.fails(1, *args, says=["no-such-file"])
                else:
                    sentence = self.fails(2, *args, says=["--" + option.split("=")[0]])
                    self.assertEqual(sorted(names(sentence, "--method=", ", not")), sorted(owners))


class RefusedByTheData(support.Case):
    def test_classes(self):
        self.write("d", "1 1:1\n2 2:1\n3 1:1 2:1\n")
        for method in ("tron", "newton", "lbfgs"):
            sentence = self.fails(2, "train", f"--method={method}", "d", "m", says=["squared-hinge", "3 labels"])
            self.assertNotIn(method, names(sentence, "; --method=", " would do"))
            self.works("train", f"--method={method}", "--loss=logistic", "d", "m")

    def test_weights(self):
        self.write("d", "1 1:1\n-1 5000:1\n")
        sentence = self.fails(2, "train", "--method=newton", "--intercept=none", "d", "m", says=["4096", "5000"])
        self.assertIn("tron", names(sentence, "; --method=", " would do"))

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_once_for_all_ranks(self):
        self.write("d", "1 1:1\n2 2:1\n3 1:1 2:1\n")
        self.fails(2, "train", "--method=tron", "d", "m", ranks=3, says=["3 labels"])


class OwnEnd(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(rows=300, noise=0.2)))

    def test_average(self):
        r = self.works("train", "--method=average", "--blocks=4", "--log=log", "d", "m")
        self.assertIn("done in 1 round ", r.stderr)
        log = self.log("log")
        self.assertEqual((log[-1]["reason"], log[-1]["rounds"]), ("finished", 1))
        self.assertGreater(log[-1]["relative_gap"], 1e-3)
        self.fails(3, "train", "--method=average", "--blocks=4", "--gap=1e-9", "d", "m",
                   says=["average", "another --method", "1e-09"])
        self.works("train", "--method=average", "--blocks=4", "--gap=0.9", "--log=log", "d", "m")
        self.assertEqual(self.log("log")[-1]["reason"], "gap")

    def test_perceptron(self):
        r = self.works("train", "--method=perceptron", "--log=log", "d", "m")
        self.assertIn("no gap", r.stderr)
        start, *rounds, end = self.log("log")
        self.assertEqual((start["max_rounds"], end["reason"], end["rounds"], len(rounds)), (10, "max-rounds", 10, 11))
        for line in rounds + [end]:
            self.assertNotIn("dual", line)
            self.assertNotIn("relative_gap", line)
        self.assertEqual(end["primal"], rounds[-1]["primal"])
        info = self.works("info", "m").stdout
        self.assertIn("perceptron", info)
        self.assertNotIn("gap", info)
        self.assertNotIn("nan", info)
        self.works("train", "--method=perceptron", "--max-rounds=3", "--log=log", "d", "m")
        self.assertEqual(self.log("log")[-1]["rounds"], 3)
        self.assertNotIn("nan", self.works("train", "--method=perceptron", "--progress=always", "d", "m").stderr)

    def test_perceptron_ends_without_mistakes(self):
        self.write("easy", "1 1:1\n-1 2:1\n1 1:2\n-1 2:0.5\n")
        self.works("train", "--method=perceptron", "--log=log", "easy", "m")
        end = self.log("log")[-1]
        self.assertEqual(end["reason"], "finished")
        self.assertLess(end["rounds"], 10)
        self.works("predict", "m", "easy", "out")
        self.assertEqual(self.read("out").split(), [b"1", b"-1", b"1", b"-1"])


class SameOptimum(support.Case):
    """All methods that minimise P find the same least value of it."""

    def least(self, *args, ranks=0):
        self.works("train", "--quiet", "--log=log", "--max-rounds=3000", *args, "d", "m", ranks=ranks)
        end = self.log("log")[-1]
        self.assertEqual(end["reason"], "gap")
        return end["primal"]

    def compare(self, gap, *args, methods, ranks=0):
        best = self.least("--method=bda", "--gap=1e-9", *args)
        for method in methods:
            with self.subTest(method=method, args=args):
                found = self.least(f"--method={method}", f"--gap={gap}", *args, ranks=ranks)
                self.assertLessEqual(abs(found - best), gap * found)

    def test_two_labels(self):
        self.write("d", support.libsvm(support.problem(noise=0.2)))
        for loss in ("hinge", "squared-hinge", "logistic"):
            methods = PRIMAL + ["hull"] if loss != "hinge" else ["newton", "hull"]
            self.compare(1e-6, f"--loss={loss}", "--cost=0.1", methods=methods)
            self.compare(1e-3, f"--loss={loss}", "--cost=0.1", methods=["admm"])

    def test_numbers(self):
        self.write("d", support.libsvm(support.problem(labels=None)))
        for loss in ("epsilon-insensitive", "squared-epsilon-insensitive", "squared-error"):
            methods = PRIMAL + ["hull"] if loss[0] == "s" else ["newton", "hull"]
            self.compare(1e-6, "--task=regress", f"--loss={loss}", "--cost=0.1", methods=methods)

    def test_three_labels(self):
        data = [(i % 3, x) for i, (_, x) in enumerate(support.problem(rows=90))]
        self.write("d", support.libsvm(data))
        self.compare(1e-5, "--loss=logistic", "--cost=0.1", methods=PRIMAL + ["hull", "admm"])
        self.compare(1e-3, "--cost=0.1", methods=["hull", "admm"])

    def test_elastic_net(self):
        self.write("d", support.libsvm(support.problem(noise=0.2)))
        self.compare(1e-4, "--loss=logistic", "--cost=0.2", "--l1-ratio=0.3", methods=["lbfgs", "hull", "admm"])

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks(self):
        self.write("d", support.libsvm(support.problem(noise=0.2)))
        self.compare(1e-5, "--loss=logistic", "--cost=0.1", methods=PRIMAL + ["hull"], ranks=2)
        self.assertTrue(math.isfinite(self.least("--method=newton", "--loss=hinge", ranks=3)))


if __name__ == "__main__":
    support.main()

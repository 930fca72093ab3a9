"""--weights: weight 3 is three copies, weight 0 is none; for all tasks of rows and methods, ranks and kinds of files."""
import random

import support

# (options, labels, methods)
PROBLEMS = (
    ("--loss=hinge", (1, -1), ("bda", "hull", "admm", "newton")),
    ("--loss=squared-hinge", (1, -1), ("bda", "disdca", "cocoa+", "hull", "newton", "tron", "l-commdir", "lbfgs")),
    ("--loss=logistic", (1, -1), ("bda", "hull", "newton", "tron", "admm")),
    ("--loss=hinge", (1, 2, 3), ("bda", "hull")),
    ("--loss=squared-hinge", (1, 2, 3), ("bda", "hull")),
    ("--loss=logistic", (1, 2, 3), ("bda", "hull", "tron", "newton", "l-commdir")),
    ("--task=regress --loss=squared-error", None, ("bda", "hull", "newton", "lbfgs")),
    ("--task=regress --loss=epsilon-insensitive", None, ("bda", "hull", "newton")),
    ("--task=regress --loss=squared-epsilon-insensitive", None, ("bda", "hull", "tron")),
)

REFUSED = (
    ("1\n2\nx\n", "w, line 3: expected a weight, a number from 0 on, not 'x'"),
    ("1\n-2\n3\n", "w, line 2: expected a weight, a number from 0 on, not '-2'"),
    ("nan\n2\n3\n", "w, line 1: expected a weight, a number from 0 on, not 'nan'"),
    ("1\ninf\n3\n", "w, line 2: expected a weight, a number from 0 on, not 'inf'"),
    ("1\n\n3\n", "w, line 2: expected a weight, a number from 0 on, not the end of the line"),
    ("1\n# two\n3\n", "w, line 2: expected a weight, a number from 0 on, not the end of the line"),
    ("1\n2 3\n3\n", "w, line 2: expected nothing behind the weight"),
    ("1\n2\n", "w has 2 weights, and there are 60 instances"),
    ("1\n" * 61, "w has 61 weights, and there are 60 instances"),
    ("", "w has 0 weights, and there are 60 instances"),
    ("0\n" * 60, "all instances have the weight 0"),
)


class Weights(support.Case):
    def data(self, labels=(1, -1), rows=60, seed=3):
        data = support.problem(rows=rows, features=8, nonzeros=5, seed=seed, labels=labels and labels[:2])
        if labels and len(labels) > 2:
            data = [(labels[i % 3] if i % 4 else y, x) for i, (y, x) in enumerate(data)]
        r = random.Random(seed)
        weight = [r.choice((0, 0, 1, 2, 3)) for _ in data]
        self.write("d", support.libsvm(data))
        self.write("w", "".join(f"{w}\n" for w in weight))
        self.write("copies", support.libsvm([row for row, w in zip(data, weight) for _ in range(w)]))
        return data, weight

    def primal(self, *args, status=(0,), ranks=0):
        self.works("train", "--quiet", "--force", "--log=log", *args, "m", status=status, ranks=ranks)
        return self.log("log")[-1]

    def test_as_copies(self):
        for options, labels, methods in PROBLEMS:
            self.data(labels)
            for method in methods:
                args = [*options.split(), "--method=" + method, "--gap=1e-7", "--max-rounds=20000", "--cost=0.3"]
                weighed = self.primal(*args, "--blocks=2", "--weights=w", "d")
                copied = self.primal(*args, "copies")
                self.assertLessEqual(weighed["relative_gap"], 1e-7, args)
                self.assertAlmostEqual(weighed["primal"] / copied["primal"], 1, 6, args)

    def test_single_pass_methods(self):
        """average with one block is training to the end; perceptron runs."""
        self.data()
        weighed = self.primal("--method=average", "--local-epochs=3000", "--weights=w", "--loss=hinge", "d")
        copied = self.primal("--method=bda", "--gap=1e-6", "--loss=hinge", "copies")
        self.assertAlmostEqual(weighed["primal"] / copied["primal"], 1, 2)
        self.primal("--method=perceptron", "--weights=w", "d")

    def test_balance(self):
        self.data()
        args = ["--class-weight=balanced", "--gap=1e-8"]
        self.assertAlmostEqual(self.primal(*args, "--weights=w", "d")["primal"] / self.primal(*args, "copies")["primal"],
                               1, 7)

    def test_a_label_of_weight_0_is_not_known(self):
        data = support.problem(rows=40, features=5, nonzeros=3, labels=(1, 2))
        self.write("d", support.libsvm(data + [(7, {1: 1.0})]))
        self.write("w", "1\n" * 40 + "0\n")
        self.works("train", "--quiet", "--weights=w", "d", "m")
        self.write("e", support.libsvm(data))
        self.works("train", "--quiet", "e", "n")
        self.assertEqual(self.weights("m"), self.weights("n"))
        self.assertEqual(self.learned("m")["labels"], self.learned("n")["labels"])
        self.write("w", "1\n" * 39 + "1.0\n0\n")
        self.works("train", "--quiet", "--force", "--weights=w", "d", "m")
        self.assertEqual(self.weights("m"), self.weights("n"))
        self.write("d", support.libsvm([(1, {1: 1.0})] * 3 + [(2, {1: 1.0})]))
        self.write("w", "1\n1\n1\n0\n")
        self.fails(1, "train", "--weights=w", "d", "n2", says=["same label"])

    def test_kinds_of_files(self):
        self.data()
        args = ["--blocks=3", "--weights=w"]
        self.works("train", "--quiet", *args, "d", "m")
        self.works("convert", "--quiet", "d", "d.bda")
        self.works("train", "--quiet", *args, "d.bda", "n")
        self.assertEqual(self.learned("m")["weights"], self.learned("n")["weights"])
        self.write("w.gz", support.packed(self.read("w").decode()))
        self.works("train", "--quiet", "--force", "--blocks=3", "--weights=w.gz", "d", "n")
        self.assertEqual(self.weights("m"), self.weights("n"))
        lines = self.read("d").decode().splitlines(keepends=True)
        self.write("p1", "".join(lines[:25]))
        self.write("p2", "".join(lines[25:]))
        self.works("train", "--quiet", "--force", *args, "-o", "n", "p1", "p2")
        self.assertEqual(self.weights("m"), self.weights("n"))
        ones = self.write("ones", "1 # not 0\n" * 60 + "\n")
        self.works("train", "--quiet", "--force", "d", "m")
        self.works("train", "--quiet", "--force", "--weights=" + ones, "d", "n")
        self.assertEqual(self.weights("m"), self.weights("n"))

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_change_nothing(self):
        for labels in ((1, -1), (1, 2, 3), None):
            self.data(labels)
            args = ["--blocks=5", "--weights=w", "--max-rounds=6", *(() if labels else ("--task=regress",))]
            for method in ("bda", "average") if labels == (1, -1) else ("hull",):
                more = [*args, "--method=" + method, *(("--hull=momentum",) if method == "hull" else ())]
                self.works("train", "--quiet", "--force", *more, "d", "m", status=(0, 3))
                for ranks, threads in ((0, 2), (3, 1)):
                    self.works("train", "--quiet", "--force", f"--threads={threads}", *more, "d", "n", ranks=ranks,
                               status=(0, 3))
                    self.assertEqual(self.read("m"), self.read("n"), (more, ranks))

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_each_rank_has_its_own(self):
        self.data()
        for name in ("d", "w"):
            lines = self.read(name).decode().splitlines(keepends=True)
            self.write(name + "0", "".join(lines[:20]))
            self.write(name + "1", "".join(lines[20:]))
        copies = self.primal("--gap=1e-8", "copies")["primal"]
        for weights in ("w{rank}", "w"):
            primal = self.primal("--gap=1e-8", "--weights=" + weights, "d{rank}", ranks=2)["primal"]
            self.assertAlmostEqual(primal / copies, 1, 7)
        self.write("w1", "1\n")
        self.fails(1, "train", "--weights=w{rank}", "d{rank}", "n", ranks=2, says=["w1 has 1 weight,", "40 instances"])

    def test_select(self):
        """Folds are made of the instances that are left, with their weights."""
        data, weight = self.data()
        args = ["select", "--quiet", "--folds=3", "--costs=0.1,1", "--json"]
        weighed = self.works(*args, "--weights=w", "d", "m").stdout
        self.write("e", support.libsvm([row for row, w in zip(data, weight) if w]))
        self.write("v", "".join(f"{w}\n" for w in weight if w))
        self.assertEqual(weighed, self.works(*args, "--weights=v", "e", "n").stdout)
        self.assertNotEqual(weighed, self.works(*args, "e", "o").stdout)

    def test_what_is_refused(self):
        self.data()
        for text, sentence in REFUSED:
            self.write("w", text + ("1\n" * 57 if text.count("\n") == 3 else ""))
            self.fails(1, "train", "--weights=w", "d", "n", says=[sentence])
        self.fails(1, "train", "--weights=nothere", "d", "n", says=["nothere"])
        self.write("w", "1\n" * 60)
        self.fails(2, "train", "--weights=w", "d", "w", says=["'w'", "written over"])
        self.fails(2, "train", "--task=tag", "--weights=w", "d", "n", says=["--weights", "--task=tag"])
        self.assertFalse(self.exists("n"))


if __name__ == "__main__":
    support.main()

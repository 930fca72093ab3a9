"""Tables with a header, several files, and rows without labels, from the command line."""
import json
import random

import support
from support import Case, has_launcher


def table(rows, seed, columns=("a", "b", "colour", "y"), end="\n"):
    """CSV text; a and b are numbers, colour is a text, y is yes or no."""
    draw = random.Random(seed)
    lines = [",".join(columns)]
    for _ in range(rows):
        a, b, colour = draw.gauss(0, 1), draw.gauss(5, 2), draw.choice(["red", '"dark, blue"', '"""x"""'])
        cells = {"a": repr(a), "b": repr(b), "colour": colour, "y": "yes" if a + b > 5 else "no", "other": "z"}
        lines.append(",".join(cells[name] for name in columns))
    return end.join(lines) + end


class Tables(Case):
    def test_train_and_predict(self):
        self.write("d.csv", table(300, 1, end="\r\n"))
        self.works("train", "-q", "--format=csv", "--label=y", "d.csv", "m")
        said = self.works("predict", "m", "d.csv", "p")
        self.assertRegex(said.stderr, "300 instances: accuracy 9")
        self.assertEqual(set(self.read("p").split()), {b"yes", b"no"})
        # Columns in another order, one too many, without labels: the same predictions.
        self.write("e.csv", table(300, 1, columns=("other", "colour", "b", "a")))
        said = self.works("predict", "m", "e.csv", "q")
        self.assertIn("no labels", said.stderr)
        self.assertEqual(self.read("p"), self.read("q"))

    def test_read_as_something_else(self):
        self.write("d.csv", table(20, 1))
        self.write("d.tsv", table(20, 1).replace(",", "\t"))
        self.fails(1, "train", "d.csv", "m", says=["d.csv, line 1", "--format=csv --label=NAME"])
        self.fails(1, "info", "d.tsv", says=["d.tsv, line 1", "--format=tsv --label=NAME"])

    def test_numbers_are_no_classes_by_default(self):
        """Many labels that are not whole; a few may be, and whole ones, and what is called classes."""
        draw = random.Random(5)
        rows = [f"{i % 12 + 0.5 * (i % 2)} 1:{draw.gauss(0, 1):.3f}" for i in range(60)]
        self.write("d", "\n".join(rows))
        for command in "train", "select":
            self.fails(2, command, "-q", "d", "m", says=["12 different labels", "1.5", "--task=regress", "--task=classify"])
            self.works(command, "-q", "--task=classify", "d", "m")
        self.assertEqual(json.loads(self.works("info", "--json", "m").stdout)["task"], "classify")
        self.works("train", "-q", "--task=regress", "d", "m")
        self.write("few", "\n".join(f"{0.5 * (i % 10)} 1:{i}" for i in range(40)))
        self.works("train", "-q", "few", "m")

    def test_select(self):
        """Several tables; what was chosen is the model of train."""
        text = table(150, 3)
        lines = text.splitlines(keepends=True)
        self.write("a.csv", "".join(lines[:61]))
        self.write("b.csv", lines[0] + "".join(lines[61:]))
        options = ["-q", "--format=csv", "--label=y"]
        self.works("select", *options, "--folds=3", "--costs=0.1,1", "--calibrate=platt", "a.csv", "b.csv", "-o", "m")
        cost = json.loads(self.works("info", "--json", "m").stdout)["training"]["cost"]
        self.works("train", *options, f"--cost={cost!r}", "a.csv", "b.csv", "-o", "n")
        self.write("e.csv", table(150, 3, columns=("other", "colour", "b", "a")))
        for name in "mn":
            self.works("predict", "-q", name, "e.csv", "p" + name)
        self.assertEqual(self.read("pm"), self.read("pn"))
        self.assertIn(b"labels yes no", self.works("predict", "-q", "--probability", "m", "e.csv").stdout.encode())
        self.fails(2, "select", *options, "a.csv", "b.csv", "m", says=["one word too many", "--output"])
        self.fails(2, "select", "m", "a.csv", says=["'m' is a model"])

    def test_several_tables_are_one(self):
        text = table(300, 2)
        lines = text.splitlines(keepends=True)
        self.write("d.csv", text)
        self.write("a.csv", "".join(lines[:101]))
        self.write("b.csv", lines[0] + "".join(lines[101:]))
        options = ["-q", "--blocks=2", "--format=csv", "--label=y"]
        self.works("train", *options, "d.csv", "m")
        self.works("train", *options, "a.csv", "b.csv", "-o", "n", ranks=2 if has_launcher() else 0)
        self.assertEqual(self.weights("m"), self.weights("n"))

    def test_numbers_to_learn(self):
        self.write("d.tsv", "a\ty\n1\t2\n2\t4\n3\t6\n")
        self.works("train", "-q", "--task=regress", "--cost=1000", "--format=tsv", "--label=y", "d.tsv", "m")
        self.write("e.tsv", "a\n10\n")
        self.assertAlmostEqual(float(self.works("predict", "-q", "m", "e.tsv").stdout), 20, places=1)

    def test_what_is_refused(self):
        self.write("d.csv", "a,y\n1,1\n,2\n")
        self.fails(1, "train", "--format=csv", "--label=y", "d.csv", "m", says=["line 3", "'a'", "--missing"])
        self.works("train", "-q", "--missing=mean", "--format=csv", "--label=y", "d.csv", "m")
        self.fails(1, "train", "--format=csv", "--label=z", "d.csv", "m", says=["'z'", "--label"])
        self.fails(2, "train", "--format=csv", "d.csv", "m", says=["--label"])
        self.fails(2, "train", "--label=y", "d.csv", "m", says=["--label", "--format"])
        self.write("e.csv", "b,y\n1,1\n")
        self.fails(1, "predict", "m", "e.csv", says=["e.csv, line 1", "'a'"])


class Files(Case):
    text = ["+1 1:1 2:0.5\n-1 1:-1\n", "+1 1:2\n-1 2:-1\n", "-1 1:-3 3:1\n+1 3:-1\n"]

    def setUp(self):
        super().setUp()
        for name, text in zip("abc", self.text):
            self.write(name, text)
        self.write("all", "".join(self.text))
        self.works("train", "-q", "--blocks=2", "all", "m")

    def test_several_files(self):
        self.works("train", "-q", "--blocks=2", "a", "b", "c", "-o", "n")
        self.assertEqual(self.weights("m"), self.weights("n"))
        self.works("train", "-q", "--blocks=2", "[abc]", "n")
        self.assertEqual(self.weights("m"), self.weights("n"))

    def test_three_words_need_output(self):
        said = self.bda("train", "-q", "a", "b", "c")
        self.assertEqual(said.returncode, 2)
        self.assertIn("--output", said.stderr)
        self.assertEqual(self.read("c").decode(), self.text[2])

    def test_rows_without_labels(self):
        self.write("bare", "1:1 2:0.5\n1:-1\n")
        said = self.works("predict", "m", "bare")
        self.assertEqual(said.stdout, self.works("predict", "-q", "m", "a").stdout)
        self.assertIn("no labels", said.stderr)
        self.write("mixed", "1:1 2:0.5\n1 1:-1\n")
        self.fails(1, "predict", "m", "mixed", says=["1 of the 2 instances have no label"])


if __name__ == "__main__":
    support.main()

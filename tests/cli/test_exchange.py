"""Models from and to other programs, and what info says of them as JSON."""
import json
import shutil
import subprocess

import support


class Exchange(support.Case):
    def train(self, *args, labels=(1, -1), **how):
        self.write("d", support.libsvm(support.problem(labels=labels, **how)))
        self.works("train", "--quiet", "--max-rounds=20", *args, "d", "m", status=(0, 3))

    def problem_of_three(self):
        data = support.problem(rows=300, labels=None)
        return [(3 if y > 1 else 1 if y < -1 else 2, x) for y, x in data]

    def predictions(self, model):
        out = self.works("predict", "--quiet", "--scores", model, "t").stdout.splitlines()
        return [[float(x) for x in line.split()] for line in out if not line.startswith("labels")]

    @support.unittest.skipUnless(shutil.which("cc"), "no cc")
    def test_c(self):
        for args, labels in (((), (4, 2)), (("--bias=0.5", "--l1-ratio=0.9", "--cost=0.02"), (4, 2)),
                             (("--task=regress", "--bias=1"), None), (("--bias=2", "--loss=hinge"), (1, 2, 3))):
            with self.subTest(args=args):
                test = support.problem(rows=50, features=34, seed=7)
                self.write("t", support.libsvm(test))
                if labels and len(labels) == 3:
                    self.write("d", support.libsvm(self.problem_of_three()))
                    self.works("train", "--quiet", *args, "d", "m", status=(0, 3))
                else:
                    self.train(*args, labels=labels)
                self.works("export", "--format=c", "m", "model.c")
                rows = "".join("    {%d, {%s}, {%s}},\n" % (len(x), ", ".join(str(j - 1) for j in x),
                                                            ", ".join(repr(v) for v in x.values())) for _, x in test)
                say = 'printf("%s", model_label[model_class(s)]);' if labels else 'printf("%.17g", s[0]);'
                self.write("main.c", '#include "model.c"\n#include <stdio.h>\n'
                           "static const struct { size_t n; unsigned j[9]; double x[9]; } row[] = {\n" + rows + "};\n"
                           "int main(void)\n{\n    for (int i = 0; i < 50; i++) {\n        double s[MODEL_OUTPUTS];\n"
                           "        model_scores(row[i].n, row[i].j, row[i].x, s);\n        " + say +
                           '\n        for (int k = 0; k < MODEL_OUTPUTS; k++)\n            printf(" %.17g", s[k]);\n'
                           "        puts(\"\");\n    }\n}\n")
                subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", self.path("a.out"),
                                self.path("main.c")], check=True)
                out = subprocess.run([self.path("a.out")], check=True, capture_output=True, text=True).stdout
                found = [[float(x) for x in line.split()] for line in out.splitlines()]
                self.assertEqual(found, self.predictions("m"))

    def test_json(self):
        self.train("--bias=0.5", "--l1-ratio=0.5", "--cost=0.1", labels=(7, 3))
        self.works("export", "--format=json", "m", "json")
        model = json.loads(self.read("json"))
        self.works("export", "m", "text")
        w = support.read_liblinear(self.read("text").decode())[1]
        self.assertEqual((model["task"], model["labels"], model["features"]), ("classify", [7, 3], 30))
        self.assertEqual(model["constant_weights"], w[30:])
        self.assertEqual({f["feature"]: f["weights"] for f in model["weights"]},
                         {j + 1: [v] for j, v in enumerate(w[:30]) if v})
        self.assertEqual((model["settings"]["l1-ratio"], model["settings"]["data"]), ("0.5", "d"))
        self.assertEqual(model["training"]["instances"], 200)

    def test_info_as_json_and_top(self):
        self.train("--bias=1")
        self.works("export", "m", "text")
        w = support.read_liblinear(self.read("text").decode())[1]
        top = sorted(range(31), key=lambda j: -abs(w[j]))[:12]
        found = json.loads(self.works("info", "--json", "--top=12", "m").stdout)
        self.assertEqual([f.get("feature", 31) - 1 for f in found["largest_weights"]], top)
        self.assertEqual([f["weight"] for f in found["largest_weights"]], [w[j] for j in top])
        said = self.works("info", "--top=12", "m").stdout
        self.assertEqual(len(said.split("largest")[1].split()), 12)
        found = json.loads(self.works("info", "--json", "d").stdout)
        self.assertEqual((found["file"], found["instances"], found["features"]), ("data", 200, 30))
        self.assertEqual(sum(x["count"] for x in found["labels"]), 200)

    def import_and_compare(self):
        self.works("import", "--quiet", "liblinear.model", "ours")
        subprocess.run(["liblinear-predict", self.path("t"), self.path("liblinear.model"), self.path("theirs")],
                       check=True, stdout=subprocess.DEVNULL)
        self.works("predict", "--quiet", "ours", "t", "out")
        ours, theirs = self.read("out").split(), self.read("theirs").split()
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(map(float, ours), map(float, theirs)):
            self.assertLessEqual(abs(a - b), 1e-5 * max(1, abs(b)))

    @support.unittest.skipUnless(shutil.which("liblinear-train"), "no liblinear-train")
    def test_import(self):
        two, three = support.problem(labels=(1, 5)), self.problem_of_three()
        numbers = support.problem(labels=None)
        cases = [(two, s) for s in (0, 1, 2, 3, 4, 5, 6, 7)] + [(three, s) for s in (0, 2, 4)]
        cases += [(numbers, s) for s in (11, 12, 13)]
        for data, solver in cases:
            for bias in ("-1", "2"):
                with self.subTest(solver=solver, bias=bias):
                    self.write("t", support.libsvm(data))
                    subprocess.run(["liblinear-train", "-q", "-s", str(solver), "-B", bias, self.path("t"),
                                    self.path("liblinear.model")], check=True)
                    self.import_and_compare()

    def test_there_and_back(self):
        for args, labels in (((), (1, -1)), (("--bias=1", "--loss=logistic"), (2, 9)), (("--task=regress",), None)):
            self.train(*args, labels=labels)
            self.write("t", self.read("d"))
            self.works("export", "m", "text")
            self.works("import", "--force", "text", "n")
            self.assertEqual(self.predictions("n"), self.predictions("m"))
            self.works("export", "n", "again")
            if args != ("--task=regress",):  # squared-error has no solver of its own there
                self.assertEqual(self.read("again"), self.read("text"))

    def test_what_is_replaced(self):
        """An output of the same kind is, without --force; nothing else."""
        self.train("--loss=logistic")
        writers = {"lines": ("predict", "--quiet", "m", "d"),
                   "scores": ("predict", "--quiet", "--scores", "--probability", "m", "d"),
                   "csv": ("predict", "--quiet", "--format=csv", "--probability", "m", "d"),
                   "jsonl": ("predict", "--quiet", "--format=json", "m", "d"), "text": ("export", "m"),
                   "json": ("export", "--format=json", "m"), "c": ("export", "--format=c", "m"),
                   "n": ("import", "text")}
        for name, args in writers.items():
            for _ in range(2):
                self.works(*args, name)
        predictions = ("lines", "scores", "csv", "jsonl")
        for name, args in writers.items():
            for other in writers:
                if name == other or {name, other} <= set(predictions):
                    continue
                self.fails(2, *args, other, says=[f"'{other}'"])
        self.write("table", "label,score,x\n1,2,3\n")
        self.fails(2, *writers["csv"], "table", says=["'table'"])

    def test_bad_models_are_refused(self):
        good = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.5 \n-1 \n"
        self.write("good", good)
        self.works("import", "good", "n")
        bad = {"L2R_LR": "ONECLASS_SVM", "nr_class 2": "nr_class 9", "label 1 -1": "label 1 1",
               "nr_feature 2": "nr_feature 2000000000", "bias -1": "bias nan", "w\n": "q\n", "0.5": "x",
               "-1 \n": "-1 \n7\n", "label 1 -1\n": "", "label": "label 1 -1\nnr_class 5\nlabel"}
        for old, new in bad.items():
            self.write("bad", good.replace(old, new))
            self.fails(1, "import", "bad", "n2", says=["bad"])
        for size in range(0, len(good) - 3, 3):
            self.write("cut", good[:size])
            self.fails(1, "import", "cut", "n2", says=["cut"])
        self.assertFalse(self.exists("n2"))


if __name__ == "__main__":
    support.main()

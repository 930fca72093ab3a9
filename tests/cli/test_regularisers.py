"""--l1-ratio and --feature-penalty: the objective, the zeros, the file of factors, the files of models."""
import random

import support


def objective(data, w, loss, cost, ratio=0.0, factor=None):
    """g(w) + C sum of losses of two labels or of numbers, by plain code."""
    g = sum((factor or {}).get(j + 1, 1) * ((1 - ratio) / 2 * v * v + ratio * abs(v)) for j, v in enumerate(w))
    for y, x in data:
        z = sum(w[j - 1] * v for j, v in x.items())
        g += cost * ((z - y)**2 if loss == "squared-error" else max(0, 1 - y * z)**2)
    return g


class Regulariser(support.Case):
    def train(self, *args, model="m", **how):
        self.works("train", "--quiet", "--log=log", *support.plain(args), "d", model, **how)
        self.works("export", model, "text")
        return support.read_liblinear(self.read("text").decode())[1]

    def data(self, labels=(1, -1), **how):
        data = support.problem(labels=labels, **how)
        self.write("d", support.libsvm(data))
        return data


class ElasticNet(Regulariser):
    def test_objective_and_log(self):
        for task, loss, labels in (("classify", "squared-hinge", (1, -1)), ("regress", "squared-error", None)):
            data = self.data(labels)
            for ratio in (0.25, 0.9):
                w = self.train("--task=" + task, "--cost=0.3", f"--l1-ratio={ratio}", "--gap=1e-6")
                log = self.log("log")
                self.assertEqual(log[0]["l1_ratio"], ratio)
                self.assertAlmostEqual(log[-1]["primal"] / objective(data, w, loss, 0.3, ratio), 1, 9)
                self.assertLessEqual(log[-1]["relative_gap"], 1e-6)

    def test_zeros_satisfy_the_conditions_of_the_optimum(self):
        """Squared error: w_j = 0 where |slope of the losses| <= R, otherwise slope + (1-R) w + R sign = 0."""
        data = self.data(None, rows=120, noise=1.0)
        cost, ratio = 0.02, 0.7
        w = self.train("--task=regress", f"--cost={cost}", f"--l1-ratio={ratio}", "--gap=1e-11", "--max-rounds=20000")
        slope = [0.0] * len(w)
        for y, x in data:
            z = sum(w[j - 1] * v for j, v in x.items())
            for j, v in x.items():
                slope[j - 1] += 2 * cost * (z - y) * v
        for s, v in zip(slope, w):
            if v == 0:
                self.assertLessEqual(abs(s), ratio + 1e-3)
            else:
                self.assertLess(abs(s + (1 - ratio) * v + ratio * (1 if v > 0 else -1)), 1e-3)
        self.assertTrue(3 < sum(v == 0 for v in w) < 27)

    def test_zero_is_the_plain_regulariser(self):
        self.data()
        self.train()
        plain = self.read("m")
        self.write("plain", plain)
        self.train("--l1-ratio=0")
        self.assertEqual(self.read("m"), plain)
        self.train("--l1-ratio=0.1")
        self.assertNotEqual(self.weights("m"), self.weights("plain"))

    def test_larger_ratios_have_more_zeros_and_smaller_files(self):
        self.data(rows=300, features=400, nonzeros=20)
        zeros, sizes = [], []
        for ratio in (0, 0.5, 0.9):
            w = self.train("--cost=0.3", f"--l1-ratio={ratio}")
            zeros.append(sum(v == 0 for v in w))
            sizes.append(len(self.read("m")))
            said = self.works("info", "m").stdout
            self.assertIn(f"{400 - zeros[-1]} are not 0, of 400", said)
            self.assertEqual(f"l1 ratio {ratio:g}" in said, ratio > 0)
            self.works("predict", "--quiet", "--scores", "m", "d", "out")
            first = support.problem(rows=300, features=400, nonzeros=20)[0][1]
            self.assertEqual(float(self.read("out").decode().splitlines()[-300].split()[1]), sum(w[j - 1] * v for j, v in first.items()))
        self.assertTrue(zeros[0] < zeros[1] < zeros[2] and sizes[0] > sizes[1] > sizes[2], (zeros, sizes))

    def test_range(self):
        self.data()
        for bad in ("1.0001", "-0.1", "2", "nan", "x", ""):
            self.fails(2, "train", "--l1-ratio=" + bad, "d", "m", says=["--l1-ratio", "from 0 to 1"])


# text, the line, what is said of it
REFUSED = (
    ("1 2\n0 1\n", 2, ["expected", "from 1", "'0'"]),
    ("x 1\n", 1, ["'x'"]),
    ("-1 1\n", 1, ["'-1'"]),
    ("1.0 2\n", 1, ["'1.0'"]),
    ("1:2\n", 1, ["'1:2'"]),
    ("4294967295 1\n", 1, ["'4294967295'"]),
    ("99999999999999999999999 1\n", 1, ["'9999"]),
    ("9" * 5000 + " 1\n", 1, ["'999"]),
    ("\n#\n1 0\n", 3, ["expected", "above 0", "'0'"]),
    ("1 -2\n", 1, ["'-2'"]),
    ("1 2x\n", 1, ["'2x'"]),
    ("1 nan\n", 1, ["'nan'"]),
    ("1 inf\n", 1, ["'inf'"]),
    ("1 1e999\n", 1, ["'1e999'"]),
    ("1 1e-320\n", 1, ["'1e-320'"]),
    ("1 \0\n", 1, ["NUL"]),
    ("\x01\x7f 1\n", 1, ["'??'"]),
    ("1\n", 1, ["the end of the line"]),
    ("1 2 3\n", 1, ["nothing", "'3'"]),
    ("1 1\n2 2\n1 1\n", 3, ["feature 1", "already"]),
)


class FeaturePenalty(Regulariser):
    def test_objective_and_log(self):
        factor = {1: 5.0, 7: 0.125, 30: 0.5, 12: 100.0}
        self.write("p", "# factors\n" + "".join(f"{j} {f!r}\n" for j, f in factor.items()))
        for task, loss, labels in (("classify", "squared-hinge", (1, -1)), ("regress", "squared-error", None)):
            data = self.data(labels)
            for ratio in (0, 0.5):
                w = self.train("--task=" + task, "--feature-penalty=p", f"--l1-ratio={ratio}", "--gap=1e-6")
                log = self.log("log")
                self.assertEqual((log[0]["feature_penalty"], log[0]["l1_ratio"]), ("p", ratio))
                self.assertAlmostEqual(log[-1]["primal"] / objective(data, w, loss, 1, ratio, factor), 1, 9)
                self.assertLessEqual(log[-1]["relative_gap"], 1e-6)

    def test_as_if_the_feature_were_scaled(self):
        """g = f w^2/2 with x is w'^2/2 with x / sqrt(f); f = 4 and 16 lose no digit."""
        factor = {2: 4.0, 3: 16.0}
        data = self.data()
        self.write("p", "2 4\n3 16\n")
        w = self.train("--feature-penalty=p", "--gap=1e-9")
        scaled = [(y, {j: v / factor.get(j, 1)**0.5 for j, v in x.items()}) for y, x in data]
        self.write("d", support.libsvm(scaled))
        other = self.train("--gap=1e-9")
        for j, (a, b) in enumerate(zip(w, other)):
            self.assertAlmostEqual(a * factor.get(j + 1, 1)**0.5, b, 3)

    def test_what_a_file_may_look_like(self):
        self.data()
        self.write("p", "3 2\n5 0.5\n")
        self.train("--feature-penalty=p")
        plain = self.learned("m")
        same = {"comments": "# a\n\n 5\t.5e0 # half\r\n3  +2.0#x\n   \n", "no end": "5 0.5\n3 2",
                "beyond the data": "3 2\n5 0.5\n31 7\n4294967294 3\n", "ones": "3 2\n1 1\n5 0.5\n"}
        for name, text in same.items():
            self.write("q", text)
            self.train("--feature-penalty=q")
            self.assertEqual(self.learned("m"), plain, name)
        self.write("q.gz", support.packed("3 2\n5 0.5\n"))
        self.train("--feature-penalty=q.gz")
        self.assertEqual(self.learned("m"), plain)
        self.write("z", "2 2\n4 0.5\n")
        self.write("d", support.libsvm(support.problem(), base=0))
        self.train("--zero-based", "--feature-penalty=z")
        self.assertEqual(self.learned("m"), plain)

    def test_what_is_refused(self):
        self.data()
        for text, line, words in REFUSED:
            self.write("p", text)
            self.fails(1, "train", "--feature-penalty=p", "d", "n", says=[f"p, line {line}:", *words])
        self.write("z", "0 1\n-0 1\n")
        self.fails(1, "train", "--zero-based", "--feature-penalty=z", "d", "n", says=["z, line 2:", "from 0"])
        self.fails(1, "train", "--feature-penalty=nothere", "d", "n", says=["nothere"])
        self.fails(1, "train", "--feature-penalty=.", "d", "n", says=["."])
        self.assertFalse(self.exists("n"))

    def test_the_file_is_never_written_over(self):
        self.data()
        self.write("p", "1 2\n")
        self.fails(2, "train", "--feature-penalty=p", "d", "p", says=["'p'", "written over"])
        self.fails(2, "train", "--feature-penalty=p", "--log=p", "d", "n", says=["'p'", "written over"])
        self.assertEqual(self.read("p"), b"1 2\n")

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_change_nothing(self):
        self.data()
        r = random.Random(7)
        self.write("p", "".join(f"{j} {r.uniform(0.1, 9)!r}\n" for j in range(1, 30, 2)))
        for more in ((), ("--l1-ratio=0.3",)):
            args = ["--feature-penalty=p", "--blocks=6", "--max-rounds=9", *more]
            self.train(*args, status=(0, 3))
            alone = self.read("m")
            for ranks, threads in ((0, 2), (2, 1), (3, 1)):
                self.works("train", "--quiet", f"--threads={threads}", *support.plain(args), "d", "m", ranks=ranks, status=(0, 3))
                self.assertEqual(self.read("m"), alone)
        self.write("p", "1 x\n")
        self.fails(1, "train", "--feature-penalty=p", "d", "n", ranks=2, says=["p, line 1:", "'x'"])


if __name__ == "__main__":
    support.main()

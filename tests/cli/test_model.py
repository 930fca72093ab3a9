"""Model files: what is in them, what is refused, what other tools make of them."""
import os
import shutil
import subprocess

import support


class Model(support.Case):
    def train(self, *args, data=None, text=None):
        self.write("d", text or support.libsvm(data or support.problem()))
        self.works("train", "--quiet", "--max-rounds=20", *support.plain(args), "d", "m", status=(0, 3))

    def test_a_damaged_model_is_refused(self):
        """A few kinds of damage through the program; tests/unit/test_model.c goes through all of them."""
        self.train(data=support.problem(features=5, nonzeros=3))
        whole = self.read("m")
        size = len(whole)
        for cut in (0, 1, 8, size // 2, size - 8, size - 1):
            self.write("cut", whole[:cut])
            self.fails(1, "predict", "cut", "d", "out", says=["cut"])
        self.write("long", whole + b"\0")
        self.fails(1, "predict", "long", "d", "out", says=["long"])
        for at in (0, 9, size // 2, size - 1):
            self.write("flip", whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:])
            self.fails(1, "predict", "flip", "d", "out", says=["flip"])
        self.assertFalse(self.exists("out"))

    def test_what_is_no_model(self):
        self.train()
        self.fails(1, "predict", "d", "d", "out", says=["'d'", "not a model"])
        self.fails(1, "predict", "nothere", "d", "out", says=["nothere"])
        self.fails(1, "predict", ".", "d", "out", says=["'.'"])
        self.fails(1, "export", "d", "out", says=["not a model"])
        self.fails(1, "predict", "/dev/zero", "d", "out", says=["not a model"])

    def test_sparse_models_are_small(self):
        self.train(text="1 1:1 1000000:1\n-1 2:1\n")
        self.assertLess(len(self.read("m")), 4000)
        self.works("predict", "--quiet", "m", "d", "out")
        self.assertEqual(self.read("out"), b"1\n-1\n")

    def test_full_disk_and_missing_directory(self):
        self.write("d", support.libsvm(support.problem()))
        self.fails(1, "train", "d", "/dev/full", says=["/dev/full"])
        self.fails(1, "train", "d", "nodir/m", says=["nodir/m"])
        self.fails(1, "train", "d", ".", says=["'.'"])
        self.fails(1, "train", "--log=/dev/full", "d", "m", says=["/dev/full"])
        self.fails(1, "train", "--log=nodir/log", "d", "m", says=["nodir/log"])
        self.assertFalse(self.exists("m"))
        self.assertEqual(self.leftovers(), [])

    def test_a_missing_directory_is_noticed_before_the_data_is_read(self):
        self.fails(1, "train", "nodata", "nodir/m", says=["nodir/m"])

    def test_input_is_never_written_over(self):
        self.train()
        os.link(self.path("d"), self.path("also"))
        before = self.read("d"), self.read("m")
        for args in (["train", "d", "d"], ["train", "d", "also"], ["train", "--log=d", "d", "n"],
                     ["train", "--log=m", "d", "m"], ["convert", "d", "./d"], ["predict", "m", "d", "d"],
                     ["predict", "m", "d", "m"], ["predict", "--metrics=m", "m", "d", "x"], ["export", "m", "m"]):
            self.fails(2, *args, says=["written over"])
        self.assertEqual((self.read("d"), self.read("m")), before)

    def test_memory_is_forecast(self):
        self.write("wide", "1 1:1\n-1 4294967294:1\n")
        self.fails(1, "train", "--progress=never", "--blocks=100000", "wide", "n", says=["GB", "100000 blocks", "--blocks"])

    def test_a_failed_training_leaves_the_old_model(self):
        self.train()
        before = self.read("m")
        self.write("bad", "1 1:1\n-1 2:x\n")
        self.fails(1, "train", "bad", "m", says=["bad"])
        self.assertEqual(self.read("m"), before)

    def test_info(self):
        self.train("--loss=logistic", "--cost=0.5", "--bias=1", "--log=log", "--method=tron",
                   data=support.problem(labels=(4, 2)))
        text = self.works("info", "m").stdout
        for word in ("classify", "4 (positive), 2", "logistic", "cost 0.5", "method       tron", "200 instances",
                     "features     30", "constant feature of value 1", "31 are not 0",
                     "%.15g" % self.log("log")[-1]["primal"]):
            self.assertIn(word, text)
        self.train("--task=regress", "--loss=epsilon-insensitive", data=support.problem(labels=None))
        text = self.works("info", "m").stdout
        for word in ("regress", "epsilon-insensitive", "epsilon 0.1", "no constant feature"):
            self.assertIn(word, text)

    def test_info_of_data(self):
        self.write("d", "3 1:1 5:1\n3 2:1\n-1 1:1 2:1\n")
        text = self.works("info", "d").stdout
        for word in ("LIBSVM text", "instances    3\n", "features     5\n", "nonzeros     5,", "ones",
                     "-1 (1), 3 (2)", "MB with 1,", "MB with 16"):
            self.assertIn(word, text)
        self.write("bad", "3 1:1 5:1\nx 2:1\n")
        self.fails(1, "info", "bad", says=["bad", "2"])


class Export(support.Case):
    TYPES = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared-hinge": "L2R_L2LOSS_SVC", "logistic": "L2R_LR",
             "epsilon-insensitive": "L2R_L1LOSS_SVR_DUAL", "squared-epsilon-insensitive": "L2R_L2LOSS_SVR",
             "squared-error": "L2R_L2LOSS_SVR"}

    def export(self, loss, bias):
        regress = self.TYPES[loss].find("SVR") > 0
        self.write("d", support.libsvm(support.problem(labels=None if regress else (-1, -3))))
        self.works("train", "--quiet", "--loss=" + loss, f"--bias={bias}", "--max-rounds=20",
                   "--task=" + ("regress" if regress else "classify"), "d", "m", status=(0, 3))
        self.works("export", "--format=liblinear", "m", "text")

    def test_liblinear(self):
        for loss, kind in self.TYPES.items():
            regress = kind.find("SVR") > 0
            for bias in (-1, 0.5):
                self.export(loss, bias)
                header, w = support.read_liblinear(self.read("text").decode())
                self.assertEqual(header["solver_type"], [kind])
                self.assertEqual(header["nr_class"], ["2"])
                self.assertEqual(header["nr_feature"], ["30"])
                self.assertEqual(header["bias"], [f"{bias:g}"])
                self.assertEqual(header.get("label"), None if regress else ["-1", "-3"])
                self.assertEqual(len(w), 30 + (bias >= 0))

    @support.unittest.skipUnless(shutil.which("liblinear-predict"), "no liblinear-predict")
    def test_liblinear_predicts_the_same(self):
        for loss, kind in self.TYPES.items():
            for bias in (-1, 0.5):
                with self.subTest(loss=loss, bias=bias):
                    self.export(loss, bias)
                    self.same_as_liblinear(kind.find("SVR") > 0)

    def same_as_liblinear(self, regress):
        self.write("t", support.libsvm(support.problem(rows=300, seed=11, labels=None if regress else (-1, -3))))
        self.works("predict", "--quiet", "m", "t", "ours")
        subprocess.run(["liblinear-predict", self.path("t"), self.path("text"), self.path("theirs")], check=True,
                       stdout=subprocess.DEVNULL)
        ours, theirs = self.read("ours").split(), self.read("theirs").split()
        if regress:  # some versions print six digits
            self.assertEqual(len(ours), len(theirs))
            for x, y in zip(map(float, ours), map(float, theirs)):
                self.assertLessEqual(abs(x - y), 1e-5 * max(1, abs(y)))
        else:
            self.assertEqual(ours, theirs)
            self.assertEqual(len(set(ours)), 2)

    def test_labels_must_be_whole(self):
        self.write("d", support.libsvm(support.problem(labels=(1.5, -1))))
        self.works("train", "--quiet", "d", "m", status=(0, 3))
        self.fails(1, "export", "m", "text", says=["1.5", "whole"])
        self.assertFalse(self.exists("text"))

    def test_full_disk(self):
        self.write("d", support.libsvm(support.problem()))
        self.works("train", "--quiet", "d", "m", status=(0, 3))
        self.fails(1, "export", "m", "/dev/full", says=["/dev/full"])
        self.fails(1, "export", "m", "nodir/text", says=["nodir/text"])
        self.assertEqual(self.works("export", "m", "-").stdout.splitlines()[0], "solver_type L2R_L2LOSS_SVC")


class Data(support.Case):
    def test_there_and_back(self):
        data = support.problem(labels=(0.1, -2))
        self.write("d", support.libsvm(data))
        self.works("convert", "d", "binary")
        self.works("convert", "binary", "back")
        self.works("convert", "back", "again.bda")
        self.works("convert", "again.bda", "packed.gz")
        self.assertEqual(self.read("binary"), self.read("again.bda"))
        self.assertEqual(support.gzip.decompress(self.read("packed.gz")), self.read("back"))
        for name in ("d", "binary", "back", "packed.gz"):
            self.works("train", "--quiet", name, "m-" + name)
            self.assertEqual(self.learned("m-" + name), self.learned("m-d"))
        self.assertIn("bda binary", self.works("info", "binary").stdout)

    def test_format_option(self):
        self.write("d", support.libsvm(support.problem()))
        self.works("convert", "--quiet", "--format=text", "d", "x.bda")
        self.works("convert", "--quiet", "--format=binary", "d", "x.txt")
        self.assertIn("LIBSVM text", self.works("info", "x.bda").stdout)
        self.assertIn("bda binary", self.works("info", "x.txt").stdout)

    def test_zero_based(self):
        self.write("z", "1 0:1 2:0.5\n-1 1:1\n")
        self.works("convert", "--zero-based", "z", "b.bda")
        self.works("convert", "b.bda", "one.txt")
        self.works("convert", "--zero-based", "b.bda", "zero.txt")
        self.assertEqual(self.read("one.txt"), b"1 1:1 3:0.5\n-1 2:1\n")
        self.assertEqual(self.read("zero.txt"), b"1 0:1 2:0.5\n-1 1:1\n")

    def test_full_disk(self):
        self.write("d", support.libsvm(support.problem()))
        self.fails(1, "convert", "d", "/dev/full", says=["/dev/full"])
        self.fails(1, "convert", "--format=binary", "d", "/dev/full", says=["/dev/full"])
        self.fails(1, "convert", "d", "nodir/x", says=["nodir/x"])
        self.fails(1, "convert", "nothere", "x", says=["nothere"])
        self.assertEqual(os.listdir(self.directory), ["d"])

    def test_generate(self):
        for name in ("rcv1", "url", "webspam", "kddb"):
            self.works("generate", "--like=" + name, "--scale=0.0005", "--seed=3", "a")
            self.works("generate", "--quiet", "--like=" + name, "--scale=0.0005", "--seed=3", "b")
            self.works("generate", "--like=" + name, "--scale=0.0005", "--seed=4", "c")
            self.assertEqual(self.read("a"), self.read("b"))
            self.assertNotEqual(self.read("a"), self.read("c"))
            self.works("train", "--quiet", "--max-rounds=3", "a", "m", status=(0, 3))
        self.works("generate", "--like=rcv1", "--scale=0.0005", "--seed=3", "g.bda")
        self.assertIn("bda binary", self.works("info", "g.bda").stdout)
        self.fails(1, "generate", "--like=rcv1", "--scale=0.0005", "/dev/full", says=["/dev/full"])
        self.fails(1, "generate", "--like=rcv1", "--scale=0.0005", "nodir/x", says=["nodir/x"])


if __name__ == "__main__":
    support.main()

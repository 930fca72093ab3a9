"""Threads: all that has them is run with two and three. What is promised to have the same bytes has them, and blocks
that share their model end within the gap. `./dev tsan` runs this under the thread sanitizer."""
import os
import random

import support

METHODS = ("auto bda disdca disdca-basic cocoa+ dsvm-ave prox-grad hull newton tron l-commdir lbfgs admm average "
           "perceptron").split()


class Threads(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(rows=400, features=50, nonzeros=8, noise=0.2)))
        self.write("numbers", support.libsvm(support.problem(rows=200, features=40, nonzeros=8, labels=None)))
        draw = random.Random(3)
        self.write("three", "".join("%d %s\n" % (draw.randrange(3), " ".join(
            "%d:%.3f" % (j, draw.gauss(0, 1)) for j in sorted(draw.sample(range(1, 31), 6)))) for _ in range(150)))
        text = ""
        for _ in range(30):
            for i in range(draw.randrange(1, 8)):
                tag = draw.choice("NVA")
                text += f"{i + 1}\t{tag.lower()}{draw.choice('xyz')}\t_\t{tag}\t_\t_\t{0 if i == 0 else draw.choice([1, i])}\tx\t_\t_\n"
            text += "\n"
        self.write("text.conllu", text)

    def train(self, *args):
        self.works("train", "--quiet", "--force", "--max-rounds=8", *args, status=(0, 3))

    def same(self, *args):
        self.train("--threads=1", "--blocks=6", *args, "one")
        for threads in (2, 3):
            self.train(f"--threads={threads}", "--blocks=6", *args, "many")
            self.assertEqual(self.learned("one"), self.learned("many"), args)

    def test_blocks(self):
        for method in METHODS:
            loss = "logistic" if method in ("newton", "tron", "l-commdir", "lbfgs") else "hinge"
            self.same("--method=" + method, "--loss=" + loss, "d")
        for loss in ("hinge", "logistic"):
            self.same("--loss=" + loss, "--method=hull", "--hull=momentum", "three")
        self.same("--task=regress", "--loss=squared-error", "--l1-ratio=0.5", "--method=bda", "numbers")
        self.same("--intercept=free", "--scale=unit-rows", "--method=hull", "--hull=fused", "d")

    def test_sentences(self):
        for loss in ("hinge", "squared-hinge", "logistic"):
            self.same("--task=tag", "--loss=" + loss, "--method=bda", "text.conllu")
            self.same("--task=parse", "--labels=no", "--loss=" + loss, "--method=bda", "text.conllu")
        self.same("--task=tag", "--method=momentum", "text.conllu")
        for threads in (1, 3):
            self.works("predict", "--quiet", f"--threads={threads}", "many", "text.conllu", f"out-{threads}")
        self.assertEqual(self.read("out-1"), self.read("out-3"))

    def test_a_shared_model(self):
        for threads in (2, 3):
            for args in (["--method=bda", "--loss=squared-hinge", "d"], ["--method=hull", "--loss=hinge", "d"],
                         ["--method=hull", "--hull=momentum", "--loss=logistic", "d"],
                         ["--method=hull", "--loss=hinge", "three"], ["--method=bda", "--loss=logistic", "three"],
                         ["--method=auto", "--task=regress", "--loss=epsilon-insensitive", "numbers"]):
                for blocks in (threads, 5):
                    self.works("train", "--quiet", "--force", "--threads-mode=lock-free", f"--threads={threads}",
                               f"--blocks={blocks}", "--gap=1e-2", "--log=log", *args, "m")
                    self.assertLessEqual(self.log("log")[-1]["relative_gap"], 1e-2, args)

    def test_reading_and_writing(self):
        for packing in ("", ".gz", ".zst"):
            self.works("convert", "--quiet", "--format=text", "--threads=3", "d", "c" + packing)
            self.works("convert", "--quiet", "--format=text", "--threads=2", "c" + packing, "back" + packing)
            self.assertEqual(self.read("back" + packing), self.read("c" + packing))
            os.remove(self.path("back" + packing))
            self.works("convert", "--quiet", "--format=text", "--threads=1", "c" + packing, "plain" + (packing and "-of" + packing[1:]))
        self.assertEqual(self.read("plain"), self.read("plain-ofgz"))
        self.assertEqual(self.read("plain"), self.read("plain-ofzst"))
        self.works("generate", "--quiet", "--like=rcv1", "--scale=1e-3", "g")
        self.train("--threads=3", "--checkpoint=state", "--checkpoint-every=1", "--method=bda", "--gap=0", "g", "m")
        for threads in (1, 3):
            self.works("predict", "--quiet", "--scores", f"--threads={threads}", "m", "g", f"out-{threads}")
        self.assertEqual(self.read("out-1"), self.read("out-3"))


if __name__ == "__main__":
    support.main()

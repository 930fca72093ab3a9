"""bda train: the run log, how training ends, what options do to the model, and that ranks and threads do nothing."""
import math
import os
import re
import shutil
import subprocess
import unittest.mock

import support

START = """event version task loss method cost ranks threads blocks instances features nonzeros load_seconds
load_bytes""".split()
ROUND = """event round seconds primal best_primal dual relative_gap gap_of_start step line_search_steps epochs vectors_sent
bytes_sent local_seconds comm_seconds line_search_seconds eval_seconds
other_seconds""".split()
END = "event reason rounds seconds primal dual relative_gap gap_of_start peak_rss_bytes".split()
WHOLE = """ranks threads blocks instances features nonzeros load_bytes round line_search_steps vectors_sent bytes_sent
rounds peak_rss_bytes""".split()


class Log(support.Case):
    def train(self, *args, **how):
        self.write("d", support.libsvm(support.problem()))
        r = self.works("train", "--log=log", *args, "d", "m", **how)
        return r, self.log("log")

    def test_every_field(self):
        _, log = self.train("--gap=1e-4", "--epsilon=0.1", "--local-epochs=2", "--method=bda")
        self.assertEqual(list(log[0])[:len(START)], START)
        for line in log[1:-1]:
            self.assertEqual(list(line), ROUND)
        self.assertEqual(list(log[-1]), END)
        start = log[0]
        self.assertEqual((start["event"], start["task"], start["loss"], start["method"]),
                         ("start", "classify", "squared-hinge", "bda"))
        self.assertEqual((start["ranks"], start["threads"], start["blocks"]), (1, 1, 1))
        self.assertEqual((start["instances"], start["features"], start["nonzeros"]), (200, 30, 1200))
        self.assertEqual(start["load_bytes"], len(self.read("d")))
        self.assertEqual((start["cost"], start["gap"], start["local_epochs"], start["seed"]), (1, 1e-4, 2, 1))

    def test_what_auto_chose(self):
        """Few features: newton. Many, and some blocks: hull, and its rounds say what it does."""
        start, *_ = self.train()[1]
        self.assertEqual((start["method"], start["choice"]), ("auto", "newton"))
        self.assertIn("newton", self.works("info", "m").stdout)
        self.write("wide", support.libsvm(support.problem(rows=100, features=9000)))
        self.works("train", "--log=log", "--blocks=4", "wide", "m")
        start, *rounds, _ = self.log("log")
        self.assertEqual((start["method"], start["choice"]), ("auto", "hull"))
        self.assertEqual(rounds[1]["choice"], "bda")
        self.works("train", "--log=log", "--blocks=4", "--hull=one-vector", "wide", "m")
        self.assertEqual(self.log("log")[2]["choice"], "one-vector")
        start, *_ = self.train("--method=tron")[1]
        self.assertEqual(start["method"], "tron")
        self.assertNotIn("choice", start)

    def test_numbers_have_17_digits(self):
        self.train("--epsilon=0.1", "--cost=0.3")
        text = self.read("log").decode()
        self.assertIn('"epsilon":0.10000000000000001', text)
        for name, number in re.findall(r'"(\w+)":(-?[0-9][^,}]*)', text):
            if name in WHOLE:
                self.assertRegex(number, r"^\d+$", name)
            else:
                self.assertEqual("%.17g" % float(number), number, name)

    def test_rounds_are_consistent(self):
        _, log = self.train("--gap=1e-5", "--blocks=4", "--loss=logistic")
        rounds, end, target = log[1:-1], log[-1], log[0]["gap"]
        self.assertEqual([r["round"] for r in rounds], list(range(len(rounds))))
        first = rounds[0]["primal"] + rounds[0]["dual"]
        self.assertAlmostEqual(rounds[0]["primal"], 200 * math.log(2), 9)
        self.assertEqual(rounds[0]["relative_gap"], 1)
        for before, r in zip(rounds, rounds[1:]):
            self.assertGreaterEqual(r["vectors_sent"], before["vectors_sent"] + 1)
            self.assertGreaterEqual(r["bytes_sent"], before["bytes_sent"])
            self.assertGreaterEqual(r["seconds"], before["seconds"])
            self.assertLessEqual(r["best_primal"], min(before["best_primal"], r["primal"]))
            self.assertGreater(r["epochs"], 0)
        for r in rounds:
            self.assertGreaterEqual(r["relative_gap"], 0)
            self.assertAlmostEqual(r["relative_gap"], (r["best_primal"] + r["dual"]) / r["best_primal"], 12)
            self.assertAlmostEqual(r["gap_of_start"], (r["best_primal"] + r["dual"]) / first, 12)
        self.assertTrue(all(r["relative_gap"] > target for r in rounds[:-1]))
        self.assertLessEqual(end["relative_gap"], target)
        self.assertEqual(end["reason"], "gap")
        self.assertEqual((end["rounds"], end["primal"], end["dual"]),
                         (len(rounds) - 1, rounds[-1]["best_primal"], rounds[-1]["dual"]))
        self.assertGreater(end["peak_rss_bytes"], 1 << 20)

    def test_log_can_go_to_standard_output(self):
        self.write("d", support.libsvm(support.problem()))
        r = self.works("train", "--quiet", "--log=-", "d", "m")
        self.assertTrue(r.stdout.startswith('{"event":"start"'))
        self.assertEqual(r.stderr, "")

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_one_log_for_all_ranks(self):
        _, log = self.train("--threads=2", ranks=2)
        self.assertEqual((log[0]["ranks"], log[0]["threads"], log[0]["blocks"]), (2, 2, 4))
        self.assertEqual([x["event"] for x in log].count("start"), 1)
        self.assertEqual(log[-1]["event"], "end")


class Ends(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(noise=0.3)))

    def test_reached(self):
        r = self.works("train", "d", "m")
        self.assertIn("done in", r.stderr)
        self.assertEqual(self.works("train", "--quiet", "d", "m").stderr, "")

    def test_the_gap_is_of_the_objective_or_of_the_start(self):
        """With a large cost the objective falls far below its start, and the two rules part."""
        for rule, judged, other in (("objective", "relative_gap", "gap_of_start"),
                                    ("start", "gap_of_start", "relative_gap")):
            self.works("train", "--quiet", "--cost=1000", "--method=bda", "--max-rounds=100000", "--gap=0.01",
                       f"--gap-of={rule}", "--log=log", "d", "m")
            start, *rounds, end = self.log("log")
            self.assertEqual((start["gap_of"], end["reason"]), (rule, "gap"))
            self.assertLessEqual(end[judged], 0.01)
            self.assertTrue(all(r[judged] > 0.01 for r in rounds[:-1]))
            above = 100 * end["relative_gap"] / (1 - end["relative_gap"])
            self.assertIn("at most %.2g %% above the optimum" % above, self.works("info", "m").stdout)
            if rule == "start":
                self.assertGreater(end[other], 0.01)

    def test_max_rounds(self):
        s = self.fails(3, "train", "--quiet", "--gap=1e-12", "--max-rounds=3", "--log=log", "--method=bda", "d", "m",
                       says=["stopped after 3 rounds", "--max-rounds", "--local-epochs", " m"])
        end = self.log("log")[-1]
        self.assertEqual((end["reason"], end["rounds"]), ("max-rounds", 3))
        self.assertIn("%.2g" % end["relative_gap"], s)
        self.works("predict", "--quiet", "m", "d", "out")

    def test_max_time(self):
        self.fails(3, "train", "--gap=0", "--max-rounds=100000000", "--max-time=0", "--log=log", "d", "m",
                   says=["--max-time"])
        self.assertEqual(self.log("log")[-1]["reason"], "max-time")

    def test_stalled(self):
        self.write("one", "1 1:1\n-1 1:-1\n")
        self.fails(3, "train", "--gap=0", "--max-rounds=100000", "--log=log", "--loss=logistic", "--method=bda", "one", "m",
                   says=["double precision", "--gap"])
        self.assertEqual(self.log("log")[-1]["reason"], "stalled")

    def test_nothing_to_gain(self):
        self.write("zero", "0 1:1\n0 2:1\n")
        self.works("train", "--task=regress", "--log=log", "zero", "m")
        end = self.log("log")[-1]
        self.assertEqual((end["reason"], end["rounds"], end["relative_gap"], end["primal"]), ("gap", 0, 0, 0))

    def test_numbers_that_overflow(self):
        self.fails(1, "train", "--cost=1e308", "d", "m", says=["not a number in round 0"])
        self.assertFalse(self.exists("m"))

    def test_default_name_of_the_model(self):
        support.os.mkdir(self.path("sub"))
        self.write("sub/data.txt", support.libsvm(support.problem()))
        self.works("train", "sub/data.txt")
        self.assertTrue(self.exists("data.txt.model"))

    def test_progress(self):
        r = self.works("train", "--progress=always", "d", "m")
        self.assertRegex(r.stderr, r"\rtime left: \S+ +round 0 ")
        for args in (["--progress=never"], [], ["--progress=always", "--quiet"]):
            self.assertNotIn("\r", self.works("train", *args, "d", "m").stderr)

    def test_unsorted_rows_are_reported_once(self):
        self.write("u", "1 3:1 1:2\n-1 2:1\n1 2:1 1:1\n")
        r = self.works("train", "u", "m")
        self.assertEqual(r.stderr.count("sorted"), 1)
        self.assertEqual(self.works("train", "--quiet", "u", "m").stderr, "")


class Options(support.Case):
    def train(self, name, *args, data="d", **how):
        """The log, and the bytes of the weights."""
        self.works("train", "--quiet", "--log=" + name + ".log", *args, data, name, status=(0, 3), **how)
        return self.log(name + ".log"), self.weights(name)

    def test_seed_and_epochs(self):
        self.write("d", support.libsvm(support.problem()))
        one = self.train("a", "--seed=7", "--method=bda")
        self.assertEqual(one[1], self.train("b", "--seed=7", "--method=bda")[1])
        self.assertNotEqual(one[1], self.train("c", "--seed=8", "--method=bda")[1])
        log, _ = self.train("e", "--local-epochs=5", "--method=bda")
        self.assertGreater(log[2]["epochs"], 2)
        self.assertEqual(self.train("f", "--local-epochs=1", "--method=bda")[0][2]["epochs"], 1)

    def test_step(self):
        self.write("d", support.libsvm(support.problem()))
        log, _ = self.train("m", "--line-search=none", "--step=0.5", "--blocks=3")
        self.assertEqual({x["step"] for x in log[2:-1]}, {0.5})
        log, _ = self.train("m", "--line-search=backtracking", "--beta=0.25", "--blocks=9", "--max-rounds=20")
        self.assertTrue(all(math.log(x["step"], 0.25) % 1 == 0 for x in log[2:-1]))

    def test_armijo_constants_ask_for_backtracking(self):
        self.write("d", support.libsvm(support.problem()))
        for args in (["--tau=0.2"], ["--beta=0.25"]):
            _, implied = self.train("a", "--blocks=9", *args)
            self.assertEqual(implied, self.train("b", "--blocks=9", "--line-search=backtracking", *args)[1])
            self.assertNotEqual(implied, self.train("c", "--blocks=9")[1])

    def test_a1_of_blocks(self):
        self.write("d", support.libsvm(support.problem()))
        _, k = self.train("k", "--method=disdca", "--a1=K", "--blocks=5")
        self.assertEqual(k, self.train("five", "--method=disdca", "--a1=5", "--blocks=5")[1])
        self.assertEqual(k, self.train("own", "--method=disdca", "--blocks=5")[1])
        self.assertNotEqual(k, self.train("four", "--method=disdca", "--a1=4", "--blocks=5")[1])

    def test_class_weight_is_as_if_instances_were_repeated(self):
        data = support.problem(labels=(3, -2.5), seed=4)
        self.write("d", support.libsvm(data))
        self.write("twice", support.libsvm(data + [r for r in data if r[0] == 3]))
        weighted = self.train("a", "--gap=1e-10", "--class-weight=3:2")[0][-1]["primal"]
        repeated = self.train("b", "--gap=1e-10", data="twice")[0][-1]["primal"]
        self.assertAlmostEqual(weighted / repeated, 1, 8)
        self.fails(1, "train", "--class-weight=7:2", "d", "m", says=["label 7", "d"])

    def test_balanced(self):
        data = support.problem(seed=5)[:150] + [(-1, {1: 1, 2: k + 1}) for k in range(40)]
        self.write("d", support.libsvm(data))
        positive = sum(y == 1 for y, _ in data)
        weights = [f"--class-weight={label}:{len(data) / (2 * count)!r}"
                   for label, count in ((1, positive), (-1, len(data) - positive))]
        self.train("a", "--class-weight=balanced")
        self.train("b", *weights)
        self.train("c")
        self.assertEqual(self.learned("a"), self.learned("b"))
        self.assertNotEqual(self.weights("c"), self.weights("a"))

    def test_bias_is_one_more_feature(self):
        data = support.problem(seed=6)
        self.write("d", support.libsvm(data))
        self.write("more", support.libsvm([(y, {**x, 31: 2}) for y, x in data]))
        a = self.train("a", "--bias=2", "--gap=1e-10")[0][-1]["primal"]
        b = self.train("b", "--gap=1e-10", data="more")[0][-1]["primal"]
        self.assertAlmostEqual(a / b, 1, 8)
        self.works("predict", "--quiet", "--scores", "a", "d", "pa")
        self.works("predict", "--quiet", "--scores", "b", "more", "pb")
        for p, q in zip(self.read("pa").decode().split()[3:], self.read("pb").decode().split()[3:]):
            self.assertAlmostEqual(float(p), float(q), 3)

    def test_zero_based(self):
        data = support.problem()
        self.write("d", support.libsvm(data))
        self.write("z", support.libsvm(data, base=0))
        self.train("a")
        self.train("b", "--zero-based", data="z")
        self.assertEqual(self.learned("a"), self.learned("b"))

    def test_regression_losses(self):
        self.write("d", support.libsvm(support.problem(labels=None)))
        for loss in ("epsilon-insensitive", "squared-epsilon-insensitive", "squared-error"):
            log, _ = self.train("m", "--task=regress", "--loss=" + loss)
            self.assertEqual((log[0]["task"], log[0]["loss"], log[-1]["reason"]), ("regress", loss, "gap"))
        self.assertEqual(self.train("m", "--task=regress")[0][0]["loss"], "squared-error")


class Input(support.Case):
    def test_packed_text(self):
        text = support.libsvm(support.problem())
        self.write("d", text)
        self.write("d.gz", support.packed(text))
        self.works("train", "d", "m")
        self.works("train", "d.gz", "mg")
        self.assertEqual(self.learned("m"), self.learned("mg"))

    @support.unittest.skipUnless(shutil.which("zstd"), "no zstd")
    def test_text_packed_by_zstd(self):
        self.write("d", support.libsvm(support.problem()))
        subprocess.run(["zstd", "-q", self.path("d"), "-o", self.path("d.zst")], check=True)
        self.works("train", "d", "m")
        self.works("train", "d.zst", "mz")
        self.assertEqual(self.learned("m"), self.learned("mz"))

    def test_labels(self):
        self.write("one", "1 1:1\n1 2:1\n")
        self.fails(1, "train", "one", "m", says=["one", "label"])
        self.write("empty", "")
        self.fails(1, "train", "empty", "m", says=["empty"])
        self.fails(1, "train", "nothere", "m", says=["nothere"])
        self.assertFalse(self.exists("m"))


@support.unittest.skipUnless(support.has_launcher(), "no mpirun")
class Ranks(support.Case):
    def test_same_bytes_for_any_ranks_and_threads(self):
        self.write("d", support.libsvm(support.problem(rows=101)))
        for loss in ("hinge", "logistic"):
            seen = set()
            for ranks in (0, 1, 2, 3, 5):
                for threads in (1, 2):
                    self.works("train", "--loss=" + loss, "--blocks=6", f"--threads={threads}", "--max-rounds=30",
                               "d", "m", ranks=ranks, status=(0, 3))
                    seen.add(self.read("m"))
            self.assertEqual(len(seen), 1, loss)

    def test_blocks_matter(self):
        self.write("d", support.libsvm(support.problem()))
        self.works("train", "d", "m1")
        self.works("train", "d", "m2", ranks=2)
        self.works("train", "--blocks=2", "d", "m12")
        self.assertNotEqual(self.weights("m1"), self.weights("m2"))
        self.assertEqual(self.learned("m12"), self.learned("m2"))

    def test_one_machine_shares_a_block(self):
        """Many cells: ranks and threads of one machine work as one block, unless somebody asks for blocks."""
        self.write("d", support.libsvm(support.problem(rows=2600, features=40000, nonzeros=40)))
        self.works("train", "--gap=1e-6", "--log=log", "d", "m")
        optimum = self.log("log")[-1]["primal"]
        for ranks, threads in ((2, 1), (3, 2), (0, 2)):
            self.works("train", "--gap=1e-6", "--log=log", f"--threads={threads}", "d", "m", ranks=ranks)
            _, *rounds, end = self.log("log")
            self.assertTrue(all(r["choice"].endswith("-lock-free") for r in rounds), rounds[-1])
            self.assertLess(abs(end["primal"] - optimum), 2e-6 * rounds[0]["primal"])
        self.works("train", "--log=log", "--threads-mode=blocks", "d", "m2", ranks=2)
        self.assertFalse(any(r["choice"].endswith("-lock-free") for r in self.log("log")[1:-1]))
        self.works("train", "--log=log", "--blocks=2", "d", "m12", ranks=2)
        self.assertFalse(any(r["choice"].endswith("-lock-free") for r in self.log("log")[1:-1]))
        self.assertEqual(self.learned("m12"), self.learned("m2"))

    def test_ranks_that_share_no_memory(self):
        """As on several machines, whatever the blocks are."""
        self.write("d", support.libsvm(support.problem(rows=2600, features=40000, nonzeros=40)))
        self.works("train", "--hull=fused", "--blocks=2", "--log=log", "d", "m1")
        with unittest.mock.patch.dict(os.environ, BDA_SHARED_MEMORY="off"):
            self.works("train", "--hull=fused", "--log=log", "d", "m2", ranks=2)
            self.assertFalse(any("lock-free" in r["choice"] for r in self.log("log")[1:-1]))
            self.fails(2, "train", "--threads-mode=lock-free", "--method=hull", "--hull=momentum", "d", "m", ranks=2,
                       says=["one machine"])
        self.assertEqual(self.learned("m1")["weights"], self.learned("m2")["weights"])
        with unittest.mock.patch.dict(os.environ, BDA_SHARED_MEMORY="no"):
            r = self.bda("train", "d", "m", ranks=2)
            self.assertEqual(r.returncode, 1, r.stderr)
            self.assertIn("BDA_SHARED_MEMORY=no, which must be on or off", r.stderr)

    def test_more_ranks_than_rows(self):
        self.write("d", "1 1:1\n-1 2:1\n")
        self.works("train", "--blocks=5", "d", "m")
        self.works("train", "d", "m5", ranks=5)
        self.assertEqual(self.learned("m"), self.learned("m5"))
        self.works("predict", "--quiet", "m5", "d", "out", ranks=5)
        self.assertEqual(self.read("out"), b"1\n-1\n")

    def test_a_file_for_each_rank(self):
        text = support.libsvm(support.problem(rows=120)).splitlines(keepends=True)
        self.write("d", "".join(text))
        for rank in range(3):
            self.write(f"part{rank}", "".join(text[40 * rank:40 * rank + 40]))
        self.works("train", "d", "whole", ranks=3)
        self.works("train", "part{rank}", "parts", ranks=3)
        self.assertEqual(self.learned("whole"), self.learned("parts"))
        self.works("predict", "--quiet", "whole", "d", "a")
        self.works("predict", "--quiet", "whole", "part{rank}", "b", ranks=3)
        self.assertEqual(self.read("a"), self.read("b"))


if __name__ == "__main__":
    support.main()

"""bda bench: combinations, resuming, failures, the table; and what the log says of a training."""
import json
import os
import re
import unittest.mock

import support


class Bench(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d.svm", support.libsvm(support.problem(rows=60, features=12)))

    def bench(self, *args):
        return self.works("bench", "-o", "b", *args, "d.svm")

    def logs(self):
        return sorted(f for f in os.listdir(self.path("b")) if f.endswith(".log"))

    def test_combinations(self):
        r = self.bench("--methods=bda,tron", "--losses=hinge,logistic", "--cost=1,0.5", "--blocks=2", "--gap=1e-3",
                       "--with=local-epochs=2", "--with=seed=7", "--max-rounds=30", "-q")
        # local epochs are not tron's: a line of the table, not the end
        self.assertEqual([name for name in self.logs() if "reference" not in name], sorted(f"{loss}-c{c}-bda-k2-r1-t1.log"
                         for loss in ("hinge", "logistic") for c in ("0.5", "1")))
        self.assertEqual(r.stdout.count("failed:"), 4)
        start = self.log("b/hinge-c0.5-bda-k2-r1-t1.log")[0]
        self.assertEqual([start[k] for k in ("loss", "cost", "blocks", "local_epochs", "seed")], ["hinge", 0.5, 2, 2, 7])

    def test_table_and_resuming(self):
        r = self.bench("--methods=bda,hull,tron", "--losses=hinge,squared-hinge", "--blocks=2", "--max-rounds=60")
        self.assertEqual(len(re.findall(r"^failed: hinge-c1-tron-k2-r1-t1: .*differentiable", r.stdout, re.M)), 1)
        self.assertEqual(r.stdout, self.read("b/table.txt").decode())
        self.assertTrue(self.exists("b/report.html"))
        for problem in ("d, hinge", "d, squared-hinge"):
            optimum = re.search(rf"^{problem}: optimum ([^,\s]+)(?:, certified to a relative (\S+))?$", r.stdout, re.M)
            self.assertLessEqual(float(optimum[2] or 0), 1e-7)
        # rounds to 1e-2: the first round of the log that is so near
        log = self.log("b/squared-hinge-c1-hull-k2-r1-t1.log")
        best = float(optimum[1])
        first = next(line["round"] for line in log if line["event"] == "round" and line["best_primal"] - best <= 0.01 * best)
        table = r.stdout.split("d, squared-hinge:")[1].split("rounds to primal")[1]
        self.assertEqual(int(re.search(r"^ +hull +\S+ +(\d+)", table, re.M)[1]), first)
        self.assertEqual(self.leftovers(), [])
        self.assertEqual([f for f in os.listdir(self.path("b")) if f.endswith(".model")], [])

        before = {name: os.stat(self.path("b/" + name)).st_mtime_ns for name in self.logs()}
        os.unlink(self.path("b/squared-hinge-c1-bda-k2-r1-t1.log"))
        again = self.bench("--methods=bda,hull,tron", "--losses=hinge,squared-hinge", "--blocks=2", "--max-rounds=60")
        self.assertEqual(again.stderr.count(": done\n") + again.stderr.count(": done;"), 1, again.stderr)
        after = {name: os.stat(self.path("b/" + name)).st_mtime_ns for name in self.logs()}
        self.assertEqual([n for n in before if before[n] != after[n]], ["squared-hinge-c1-bda-k2-r1-t1.log"])
        # another limit is another command
        changed = self.bench("--methods=hull", "--losses=squared-hinge", "--blocks=2", "--max-rounds=59")
        self.assertIn("hull-k2-r1-t1: done;", changed.stderr)

    def test_ranks(self):
        if not support.has_launcher():
            self.skipTest("no mpirun")
        # The leaks that the address sanitizer sees under mpirun are those of the MPI library.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="detect_leaks=0"):
            self.bench("--methods=bda", "--blocks=4", "--ranks=1,2", "--gap=1e-2", "-q", "--optimum=50")
        logs = [self.log("b/" + name) for name in self.logs()]
        self.assertEqual([log[0]["ranks"] for log in logs], [1, 2])
        self.assertEqual(logs[0][-1]["primal"], logs[1][-1]["primal"])

    def test_reference(self):
        """One more run where the optimum is uncertain, unless nobody wants it."""
        few = ("--methods=bda", "--blocks=2", "--max-rounds=2")
        self.bench(*few, "--no-reference")
        self.assertEqual(self.logs(), ["loss-c1-bda-k2-r1-t1.log"])
        self.bench(*few)
        self.assertEqual(self.logs(), ["loss-c1-bda-k2-r1-t1.log", "loss-c1-reference.log"])

    def test_wrong_words(self):
        self.fails(2, "bench", says=["DATA"])
        self.fails(2, "bench", "--methods=bda,,hull", "d.svm", says=["--methods"])
        self.fails(2, "bench", "--ranks=two", "d.svm", says=["--ranks"])
        r = self.bda("bench", "-q", "--methods=best", "--optimum=1", "d.svm")
        self.assertEqual(r.returncode, 1)
        self.assertIn("--method must be one of", r.stderr)

    UNITS = ["cell", "class_cell", "pair", "dense", "loss", "step", "exponential", "wide_cell", "wide_class", "wide_row", "message",
             "byte"]

    def test_calibrate(self):
        """The table of a machine: what is printed is what --machine takes, and the log repeats it."""
        text = self.works("bench", "--calibrate").stdout
        table = {name: float(ns) for name, ns in (line.split("\t") for line in text.splitlines() if line[0] != "#")}
        self.assertEqual(list(table), ["ns_per_" + unit for unit in self.UNITS])
        for name, ns in table.items():
            (self.assertEqual if name in ("ns_per_message", "ns_per_byte") else self.assertGreater)(ns, 0)
        self.write("machine", text)
        self.works("train", "-q", "--machine=machine", "--log=log", "d.svm", "m")
        self.assertEqual(self.log("log")[0]["speeds"], table)

    def test_machine(self):
        """Where matrices cost nothing newton is chosen, where they are dear it is not; a method of one's own needs no table."""
        chosen = {}
        for ns in ("0.001", "1000000"):
            self.write("machine", f"ns_per_pair {ns}\n# a comment\n\nns_per_dense\t{ns}\n")
            self.works("train", "-q", "--machine=machine", "--log=log", "--gap=1e-6", "d.svm", "m", "--force")
            start = self.log("log")[0]
            chosen[ns] = start["choice"]
            self.assertEqual([start["speeds"]["ns_per_" + unit] for unit in ("pair", "cell")], [float(ns), 2.5])
        self.assertEqual(chosen["0.001"], "newton")
        self.assertNotEqual(chosen["1000000"], "newton")
        self.works("train", "-q", "--log=log", "--method=bda", "d.svm", "m", "--force", status=(0, 3))
        self.assertNotIn("speeds", self.log("log")[0])
        self.fails(2, "train", "--machine=machine", "--method=bda", "d.svm", says=["--machine", "auto"])
        for wrong, words in {"ns_per_cow 1\n": ["line 1", "ns_per_cow", "calibrate"], "\nns_per_cell fast\n": ["line 2", "ns_per_cell"],
                             "ns_per_cell 0\n": ["line 1"], "ns_per_cell 1 2\n": ["line 1"], "ns_per_cell\n": ["line 1"]}.items():
            self.write("machine", wrong)
            self.fails(1, "train", "--machine=machine", "d.svm", says=["--machine", "'machine'"] + words)
        self.fails(1, "train", "--machine=nowhere", "d.svm", says=["--machine", "nowhere"])
        if support.has_launcher():
            self.fails(1, "train", "--machine=nowhere", "d.svm", ranks=2, says=["nowhere"])


class TrainingLog(support.Case):
    PARTS = ["local_seconds", "comm_seconds", "line_search_seconds", "eval_seconds", "other_seconds"]

    def train(self, *args, ranks=0):
        self.works("train", "-q", "--log=log", *args, "d", "m", status=(0, 3), ranks=ranks)
        log = self.log("log")
        return log[0], [line for line in log if line["event"] == "round"], log

    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(rows=90, features=20)))

    def test_what_the_method_made_of_its_options(self):
        start, _, _ = self.train("--method=bda", "--blocks=3", "--loss=hinge")
        self.assertEqual([start[k] for k in ("a1", "a2", "line_search", "local_epochs")], [1, 1e-3, "exact", 1])
        start, _, _ = self.train("--method=bda", "--blocks=3", "--loss=logistic", "--a1=K", "--local-epochs=4")
        self.assertEqual([start[k] for k in ("a1", "a2", "line_search", "step_rule", "local_epochs")],
                         [3, 0, "backtracking", "Armijo", 4])
        start, _, _ = self.train("--method=dsvm-ave", "--blocks=3")
        self.assertEqual([start[k] for k in ("a1", "line_search", "step_rule")], [1, "none", "fixed"])
        self.assertAlmostEqual(start["step"], 1 / 3)
        start, _, _ = self.train("--method=hull", "--hull=one-vector", "--blocks=3")
        self.assertEqual([start["form"], start["a1"]], ["one-vector", 1])
        start, _, _ = self.train("--method=tron")
        self.assertEqual(start["step_rule"], "trust region")
        self.assertNotIn("a1", start)
        self.assertNotIn("step", start)

    def test_the_parts_of_the_time(self):
        for method in ("bda", "hull", "tron", "admm"):
            _, rounds, _ = self.train("--method=" + method, "--blocks=3", "--gap=1e-6", "--max-rounds=30")
            told = 0
            for line in rounds:
                told += sum(line[part] for part in self.PARTS)
                self.assertGreaterEqual(line["other_seconds"], 0)
                self.assertGreaterEqual(told, line["seconds"] * (1 - 1e-9))
            # what comes after the moment of a round is taken from the next ones: an evaluation at most is left
            self.assertLess(told, rounds[-1]["seconds"] + 0.05)

    def test_plain_primal(self):
        args = ("--method=bda", "--loss=hinge", "--blocks=3", "--max-rounds=20", "--gap=1e-9")
        _, scaled, _ = self.train(*args)
        _, plain, _ = self.train(*args, "--no-scaling")
        self.assertNotIn("plain_primal", plain[0])
        self.assertEqual([line["plain_primal"] for line in scaled], [line["primal"] for line in plain])
        self.assertTrue(all(line["primal"] <= line["plain_primal"] for line in scaled))
        self.assertTrue(any(line["primal"] < line["plain_primal"] for line in scaled))
        self.fails(2, "train", "--method=tron", "--no-scaling", "d", says=["--no-scaling", "tron"])

    def test_scores_on_other_data(self):
        """Those of predict for the model of the round; every Nth and the last; the rounds are those without it."""
        self.write("other", support.libsvm(support.problem(rows=50, features=25, seed=2)))
        args = ("--method=bda", "--blocks=2", "--max-rounds=7", "--gap=1e-9")
        for ranks in (0, 2) if support.has_launcher() else (0,):
            _, rounds, log = self.train(*args, "--validate=other,every=3", ranks=ranks)
            scores = [line for line in log if line["event"] == "validate"]
            self.assertEqual([s["round"] for s in scores], [0, 3, 6, 7])
            self.assertEqual([s["seconds"] for s in scores], [rounds[t]["seconds"] for t in (0, 3, 6, 7)])
            _, without, _ = self.train(*args)
            self.assertEqual([(r["primal"], r["vectors_sent"], r["bytes_sent"]) for r in rounds],
                             [(r["primal"], r["vectors_sent"], r["bytes_sent"]) for r in without])
            self.works("train", "-q", *args[:2], "--max-rounds=7", "--gap=1e-9", "d", "m", status=(0, 3))
            if rounds[-1]["primal"] == rounds[-1]["best_primal"]:
                self.works("predict", "--metrics=x", "m", "other", "out")
                self.assertEqual(scores[-1]["accuracy"], json.loads(self.read("x"))["accuracy"])

    def test_folded_rows_are_scored_too(self):
        """Most columns occur in one row: what is trained on is shorter than the model."""
        rows = [(1 if i % 2 else -1, {1 + i % 3: 1, **{10 + 6 * i + j: 1 for j in range(6)}}) for i in range(8300)]
        self.write("d", support.libsvm(rows))
        start, rounds, log = self.train("--method=bda", "--blocks=4", "--gap=1e-6", "--validate=d,every=1000")
        self.assertLess(start["weights"], start["features"])
        score = [line for line in log if line["event"] == "validate"][-1]
        self.works("predict", "--metrics=x", "m", "d", "out")
        self.assertEqual(score["accuracy"], json.loads(self.read("x"))["accuracy"])

    def test_scores_of_tags(self):
        words = [("the", "D"), ("a", "D"), ("dog", "N"), ("cat", "N"), ("runs", "V"), ("sleeps", "V")]
        sentences = [[words[i % 2], words[2 + i % 3 % 2], words[4 + i % 5 % 2]] for i in range(40)]
        text = "\n".join("".join(f"{w} {t}\n" for w, t in s) for s in sentences) + "\n"
        self.write("tags", text)
        self.works("train", "-q", "--task=tag", "--max-rounds=6", "--blocks=2", "--log=log", "--validate=tags,every=2", "tags", "m",
                   status=(0, 3))
        scores = [line for line in self.log("log") if line["event"] == "validate"]
        self.works("predict", "--metrics=x", "m", "tags", "out")
        self.assertEqual(scores[-1]["token_accuracy"], json.loads(self.read("x"))["token_accuracy"])
        self.assertGreater(scores[-1]["token_accuracy"], scores[0]["token_accuracy"])
        self.works("report", "-q", "log")
        self.assertIn(b'"token_accuracy":', self.read("report.html"))

    def test_patience(self):
        """The model of the round that scored best is written, with its own objective and gap."""
        self.write("other", support.libsvm(support.problem(rows=60, features=25, seed=1, noise=0.3)))
        args = ["train", "--method=bda", "--blocks=4", "--gap=1e-12", "--cost=100", "--log=log", "--validate=other"]
        self.works(*args, "--max-rounds=200", "d", "m", status=(0, 3))
        lines = self.log("log")
        scores = [line["accuracy"] for line in lines if line["event"] == "validate"]
        primal = [line["primal"] for line in lines if line["event"] == "round"]
        best = next(t for t in range(len(scores)) if scores[t] >= max(scores[:t + 4]) and t > 0)
        for ranks in (0, 2) if support.has_launcher() else (0,):
            said = self.works(*args, "--patience=3", "d", "m", ranks=ranks).stderr
            lines = self.log("log")
            self.assertEqual((lines[-1]["reason"], lines[-1]["rounds"]), ("validated", best + 3))
            self.assertEqual(lines[-1]["primal"], primal[best])
            gap = (primal[best] + lines[-1]["dual"]) / primal[best]
            self.assertAlmostEqual(lines[-1]["relative_gap"], gap, 12)
            self.assertIn(f"the model is that of round {best}, with the best accuracy on other", said)
            self.works("predict", "--metrics=x", "m", "other", "out", "--force")
            self.assertEqual(json.loads(self.read("x"))["accuracy"], scores[best])

    def test_wrong_words(self):
        self.fails(2, "train", "--patience=2", "d", says=["--patience=2", "--validate"])
        self.fails(2, "train", "--validate=d", "d", says=["--validate", "--log"])
        self.fails(2, "train", "--log=l", "--validate=d,every=0", "d", says=["every=N", "d,every=0"])
        self.fails(1, "train", "--log=l", "--validate=nowhere", "d", says=["nowhere"])


if __name__ == "__main__":
    support.main()

"""Checkpoints: a training that was killed or ended goes on from its last one, on any number of ranks, and has the same
bytes as one that was left in peace."""
import json
import os
import random
import signal
import subprocess
import time

import support

PATIENCE = 600  # seconds: ends what hangs, however busy the machine
ALWAYS = ["--checkpoint=state", "--checkpoint-every=1"]


def turned(data, at):
    """With one bit turned over."""
    data = bytearray(data)
    data[at] ^= 4
    return bytes(data)


class Checkpoints(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(rows=300, features=40, nonzeros=8, noise=0.2)))
        self.write("numbers", support.libsvm(support.problem(rows=300, features=40, nonzeros=8, labels=None)))
        draw = random.Random(3)
        self.write("five", "".join("%d %s\n" % (draw.randrange(5), " ".join(
            "%d:%.3f" % (j, draw.gauss(0, 1)) for j in sorted(draw.sample(range(1, 31), 6)))) for _ in range(150)))
        text = ""
        for _ in range(40):
            tags = [draw.choice("NVAP") for _ in range(draw.randrange(1, 8))]
            for i, t in enumerate(tags):
                word = t.lower() + draw.choice("xyz") if draw.random() < 0.8 else "w"
                text += f"{i + 1}\t{word}\t_\t{t}\t_\t_\t{0 if i == 0 else draw.choice([1, i])}\tx\t_\t_\n"
            text += "\n"
        self.write("text.conllu", text)

    def train(self, *args, ranks=0, status=(0, 3)):
        return self.works("train", "--quiet", *args, ranks=ranks, status=status)

    def refuses(self, *args, says, ranks=0, status=1):
        r = self.bda("train", "--quiet", *args, ranks=ranks)
        self.assertEqual(r.returncode, status, r.stderr)
        last = [line for line in r.stderr.splitlines() if line.startswith("bda train:")][-1]
        for word in says:
            self.assertIn(word, last)

    def round_of(self, name):
        return json.loads(self.works("info", "--json", name).stdout)["round"]

    def forget(self):
        for name in os.listdir(self.directory):
            if name.startswith("state"):
                os.remove(self.path(name))

    def goes_on(self, *args, after, ranks=0):
        """Ended after so many rounds and resumed: the model has the same bytes."""
        self.forget()
        common = ["--blocks=4", "--max-rounds=12", *args]
        self.train(*common, "one")
        self.train("--blocks=4", *args, "other", f"--max-rounds={after}", *ALWAYS)
        self.train(*common, "other", "--checkpoint=state", "--resume", ranks=ranks)
        self.assertEqual(self.read("one"), self.read("other"), args)

    def test_all_methods_go_on(self):
        for k, method in enumerate("auto bda hull disdca-basic dsvm-ave prox-grad newton tron l-commdir lbfgs admm "
                                   "average perceptron".split()):
            loss = "--loss=hinge" if method in ("auto", "bda", "hull", "admm") else "--loss=logistic"
            gap = [] if method == "perceptron" else ["--gap=1e-8"]
            self.goes_on("--method=" + method, loss, *gap, "d", after=k % 6)

    def test_all_kinds_of_blocks_go_on(self):
        for loss in ("hinge", "squared-hinge", "logistic"):
            self.goes_on("--method=bda", "--gap=1e-8", "--loss=" + loss, "five", after=3)
            self.goes_on("--method=hull", "--gap=1e-8", "--loss=" + loss, "five", after=4)
            self.goes_on("--method=bda", "--gap=0", "--task=tag", "--loss=" + loss, "text.conllu", after=2)
            self.goes_on("--method=bda", "--gap=0", "--task=parse", "--labels=no", "--loss=" + loss, "text.conllu", after=2)
        self.goes_on("--method=momentum", "--gap=0", "--task=tag", "text.conllu", after=5)
        for method in ("tron", "l-commdir"):
            self.goes_on("--method=" + method, "--gap=0", "--task=tag", "--loss=logistic", "text.conllu", after=3)
        self.goes_on("--task=regress", "--loss=epsilon-insensitive", "--gap=1e-8", "numbers", after=2)

    def test_options_of_methods_go_on(self):
        for form in ("fused", "one-vector", "momentum"):
            self.goes_on("--method=hull", "--hull=" + form, "--gap=1e-8", "d", after=5)
        self.goes_on("--method=hull", "--l1-ratio=0.3", "--gap=1e-8", "d", after=5)
        self.goes_on("--method=lbfgs", "--loss=logistic", "--l1-ratio=0.3", "--gap=1e-8", "d", after=5)
        self.goes_on("--method=bda", "--accelerate", "--gap=1e-8", "d", after=6)
        self.goes_on("--method=admm", "--relaxation=1", "--balance", "--gap=1e-8", "d", after=3)

    def test_where_nothing_is_yet_it_begins_and_says_so(self):
        args = ["--blocks=4", "--max-rounds=5", "--gap=0", "--method=bda", "d"]
        self.train(*args, "one")
        r = self.works("train", *args, "other", "--checkpoint=state", "--resume", "--log=log", status=(3,))
        self.assertIn("there is no checkpoint 'state' yet", r.stderr)
        self.assertEqual(self.read("one"), self.read("other"))
        self.assertNotIn("resumed_round", self.log("log")[0])
        before = self.read("other")
        r = self.works("train", *args, "other", "--checkpoint=state", "--resume", "--log=log", status=(3,))
        self.assertIn("going on after round 5 from 'state'", r.stderr)  # it had ended, and ends again
        self.assertEqual(self.log("log")[0]["resumed_round"], 5)
        self.assertEqual(before, self.read("other"))
        self.assertEqual(self.leftovers(), [])

    def test_max_time_ends_and_each_part_has_its_own(self):
        args = ["--blocks=3", "--gap=0", "--method=bda", "--loss=hinge", "--max-rounds=10", "--max-time=0.0000001", "d"]
        for round in range(3):  # the time is up after the first round of each
            self.train(*args, "m", "--checkpoint=state", "--resume", "--log=log", status=(3,))
            self.assertEqual(self.log("log")[-1]["reason"], "max-time")
            self.assertEqual(self.log("log")[-1]["rounds"], round)

    def test_what_belongs_to_another_training_is_refused(self):
        args = ["--blocks=4", "--method=bda", "--max-rounds=3", "--gap=0"]
        self.train(*args, "d", "m", *ALWAYS)
        resume = ["m", "--checkpoint=state", "--resume"]
        self.refuses(*args, "--cost=2", "d", *resume, says=["with --cost=1", "has --cost=2"])
        self.refuses(*args, "--class-weight=1:2", "d", *resume, says=["without --class-weight", "has --class-weight=1:2"])
        self.refuses("--blocks=5", *args[1:], "d", *resume, says=["--blocks=4", "--blocks=5"])
        self.write("e", self.read("d").decode().replace(":0", ":1", 1))
        self.refuses(*args, "e", *resume, says=["digest of the data"])
        self.write("f", self.read("d") + b"1 1:1\n")
        self.refuses(*args, "f", *resume, says=["number of instances", "300", "301"])
        self.refuses(*args, "d", "m", "--resume", says=["--checkpoint"], status=2)
        self.refuses(*args, "d", "m", "--checkpoint=x", "--validate=d", "--patience=2", says=["--patience=2"], status=2)
        self.refuses(*args, "d", "m", "--checkpoint=d", says=["read"], status=2)
        self.refuses(*args, "d", "m", "--checkpoint=d.old", "--checkpoint-every=0", says=["checkpoint-every"], status=2)
        self.write("other.old", "precious\n")
        self.refuses(*args, "d", "m", "--checkpoint=other", says=["other.old", "--force"], status=2)
        self.assertEqual(self.read("other.old"), b"precious\n")

    def test_the_older_one_is_taken_where_the_newer_is_damaged(self):
        args = ["--blocks=4", "--method=hull", "--max-rounds=8", "--gap=0", "d"]
        self.train(*args, "one")
        damages = [lambda x: x[:-1], lambda x: x[:4000], lambda x: x[:30], lambda x: b"", lambda x: turned(x, 50),
                   lambda x: turned(x, -60)]
        for damage in damages:
            self.train(*[a for a in args if "max-rounds" not in a], "--max-rounds=6", "m", *ALWAYS)
            good = self.read("state")
            before = self.round_of("state.old")  # rounds may have passed while it was written
            self.write("state", damage(good))
            r = self.bda("train", "--quiet", *args, "m", "--checkpoint=state", "--checkpoint-every=100", "--resume")
            self.assertEqual(r.returncode, 3, r.stderr)
            self.assertIn("'state' is damaged", r.stderr)
            self.assertIn(f"after round {before} from 'state.old'", r.stderr)
            self.assertEqual(self.read("one"), self.read("m"))
        os.remove(self.path("state"))  # as if the machine had stopped between two names
        r = self.works("train", *args, "m", "--checkpoint=state", "--resume", status=(3,))
        self.assertIn("from 'state.old'", r.stderr)
        self.assertEqual(self.read("one"), self.read("m"))
        for name in ("state", "state.old"):
            self.write(name, good[:5000])
        self.refuses(*args, "m", "--checkpoint=state", "--resume", says=["is damaged", "ends too early"])

    def test_info(self):
        self.train("--blocks=4", "--method=bda", "--max-rounds=3", "--gap=0", "d", "m", *ALWAYS)
        text = self.works("info", "state").stdout
        for word in ("checkpoint state", "round 3", "squared-hinge", "300 instances in 4 blocks"):
            self.assertIn(word, text)
        about = json.loads(self.works("info", "--json", "state").stdout)
        self.assertEqual((about["file"], about["round"], about["blocks"], about["parts"], about["parts_here"]),
                         ("checkpoint", 3, 4, 5, 5))
        self.assertEqual(about["options"]["cost"], "1")
        whole = self.read("state")
        self.write("state", turned(whole, -20))
        self.fails(1, "info", "state", says=["part 5 is not as it was written"])

    def test_a_full_disk_ends_nothing(self):
        r = self.bda("train", "--blocks=2", "--method=bda", "--max-rounds=3", "--gap=0", "d", "m", "--checkpoint=/dev/full")
        self.assertIn(r.returncode, (1, 2))  # it is no place for files
        limited = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"] + support.command(
            ["train", "--quiet", "--blocks=2", "--method=bda", "--max-rounds=3", "--gap=0", "five", "m", *ALWAYS])
        r = subprocess.run(limited, cwd=self.directory, env=support.environment(0), capture_output=True, text=True,
                           timeout=PATIENCE)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("no checkpoint after round", r.stderr)
        self.works("predict", "--quiet", "m", "five", "out")
        self.assertFalse(self.exists("state.new"))


class Killed(support.Case):
    ENDLESS = ["--blocks=6", *(o for o in support.ENDLESS if not o.startswith("--max-rounds"))]

    def setUp(self):
        super().setUp()
        self.write("d", support.endless_data())

    def start_and_wait(self, *args, ranks=0, rounds=4):
        process = self.start("train", "--quiet", "--log=log", *args, ranks=ranks)
        self.addCleanup(process.kill)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if self.exists("log") and self.read("log").count(b'"event":"round"') > rounds:
                return process
            time.sleep(0.005)
        self.fail("training did not begin: " + process.communicate()[1])

    def test_by_sigkill(self):
        args = [*self.ENDLESS, "d", "m"]
        process = self.start_and_wait(*args, "--max-rounds=1000000000", *ALWAYS, "--resume")
        end = time.monotonic() + PATIENCE
        while not self.exists("state") and time.monotonic() < end:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        reached = json.loads(self.works("info", "--json", "state").stdout)["round"]
        rounds = f"--max-rounds={reached + 5}"
        self.works("train", "--quiet", *args, rounds, "--checkpoint=state", "--resume", status=(3,))
        model = self.read("m")
        self.works("train", "--quiet", *args, rounds, status=(3,))
        self.assertEqual(model, self.read("m"))

    def test_signals_write_one(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGUSR1, 3), (signal.SIGHUP, 129)):
            args = [*self.ENDLESS, "d", "m"]
            process = self.start_and_wait(*args, "--max-rounds=1000000000", "--checkpoint=state", "--checkpoint-every=1h")
            process.send_signal(number)
            error = process.communicate(timeout=PATIENCE)[1]
            self.assertEqual(process.returncode, status, error)
            about = json.loads(self.works("info", "--json", "state").stdout)
            self.assertEqual((about["ended"], about["round"]), (1, self.log("log")[-1]["rounds"]))
            rounds = f"--max-rounds={about['round'] + 3}"
            self.works("train", "--quiet", *args, rounds, "--checkpoint=state", "--resume", status=(3,))
            model = self.read("m")
            self.works("train", "--quiet", *args, rounds, status=(3,))
            self.assertEqual(model, self.read("m"))
            for name in ("state", "m", "log"):
                os.remove(self.path(name))


@support.unittest.skipUnless(support.has_launcher(), "there is no mpirun")
class Ranks(support.Case):
    def setUp(self):
        super().setUp()
        self.data = support.problem(rows=300, features=40, nonzeros=8, noise=0.2)
        self.write("d", support.libsvm(self.data))

    def test_go_on_as_fewer_and_more(self):
        args = ["--quiet", "--method=hull", "--gap=0", "--max-rounds=9", "--threads-mode=blocks", "d"]
        first = ["--max-rounds=4" if "max-rounds" in a else a for a in args]
        self.works("train", *args, "--blocks=5", "one", status=(3,))
        self.works("train", *first, "m", *ALWAYS, ranks=5, status=(3,))  # 5 blocks, as nobody says how many
        os.rename(self.path("state"), self.path("kept"))
        for ranks in (0, 2, 3):
            with open(self.path("state"), "wb") as f:
                f.write(self.read("kept"))
            self.works("train", *args, "m", "--checkpoint=state", "--resume", ranks=ranks, status=(3,))
            self.assertEqual(self.weights("m"), self.weights("one"), ranks)

    def test_files_of_their_own(self):
        third = len(self.data) // 3
        for rank in range(3):
            self.write(f"part-{rank}", support.libsvm(self.data[rank * third:(rank + 1) * third]))
        args = ["--quiet", "--blocks=6", "--method=bda", "--gap=0", "--max-rounds=7", "part-{rank}"]
        first = ["--max-rounds=4" if "max-rounds" in a else a for a in args]
        self.works("train", *args, "one", ranks=3, status=(3,))
        keep = ["m", "--checkpoint=state-{rank}", "--checkpoint-every=1", "--resume"]
        self.works("train", *first, *keep, ranks=3, status=(3,))
        self.assertTrue(self.exists("state-2") and self.exists("state-2.old"))
        before = json.loads(self.works("info", "--json", "state-1.old").stdout)["round"]
        os.rename(self.path("state-1.old"), self.path("state-1"))  # one machine stopped before its file had its name
        r = self.works("train", *[a for a in args if a != "--quiet"], *keep, ranks=3, status=(3,))
        self.assertIn(f"going on after round {before} ", r.stderr)
        self.assertEqual(self.read("one"), self.read("m"))
        os.remove(self.path("state-1"))
        os.remove(self.path("state-1.old"))
        r = self.bda("train", *args, *keep, ranks=3)
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("rank 1 sees no checkpoint 'state-1'", r.stderr)


if __name__ == "__main__":
    support.main()

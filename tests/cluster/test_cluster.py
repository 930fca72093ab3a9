"""Ranks on hosts of their own, by tools/cluster: no memory and no files in common but those that are meant to be, and
TCP between them. They learn what one host learns, and their bounds hold."""
import math
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402
from hosts import support  # noqa: E402
import test_certificate as certificate  # noqa: E402
import test_sentences as sentences  # noqa: E402


class Hosts(hosts.Case):
    def test_hosts_have_nothing_in_common(self):
        script = "hostname; ls /dev/shm | grep -c left; ls /tmp/private; echo > /dev/shm/left; echo > /tmp/private/$(hostname)"
        out = self.on_hosts(2, "sh", "-c", script, options=["--private=own"])
        self.assertEqual(sorted(out.split()), ["0", "0", "host1", "host2"])
        self.assertEqual(os.listdir(self.path("own/1")), ["host1"])
        self.assertEqual(os.listdir(self.path("own/2")), ["host2"])

    def test_the_same_bits_as_on_one_host(self):
        self.write("two", support.libsvm(support.problem(rows=300, features=60, noise=0.2)))
        self.write("many", support.libsvm([(k % 3, x) for k, (_, x) in enumerate(support.problem(rows=150))]))
        self.write("real", support.libsvm(support.problem(rows=200, labels=None)))
        cases = [(4, "two", "--method=bda", "--loss=squared-hinge"),
                 (3, "many", "--method=hull", "--hull=momentum", "--loss=hinge"),
                 (2, "real", "--method=auto", "--hull=fused", "--loss=squared-error", "--task=regress"),
                 (5, "two", "--method=auto", "--hull=one-vector", "--loss=logistic")]
        for count, data, *words in cases:
            words = ["train", "--quiet", "--force", "--blocks=5", "--gap=1e-3", *words, data]
            self.works(*words, "alone")
            self.on_hosts(count, support.BDA, *words, "apart")
            self.assertEqual(self.learned("alone"), self.learned("apart"), words)

    def test_the_bounds_hold(self):
        """Many features, and everything left to auto: ranks of one host would share their weights."""
        text = certificate.words(rows=3000, features=40000)
        self.write("d", text)
        for count, loss in ((2, "squared-hinge"), (3, "hinge"), (2, "logistic")):
            self.on_hosts(count, support.BDA, "train", "--quiet", "--force", f"--loss={loss}", "--intercept=none", "--log=log", "d",
                          "m")
            self.works("export", "--force", "m", "text")
            _, w = support.read_liblinear(self.read("text").decode())
            sign = 1 if support.read_liblinear(self.read("text").decode())[0]["label"][0] == "1" else -1
            value = certificate.primal(certificate.parse(text), [sign * x for x in w], loss, 1.0)
            _, *rounds, end = self.log("log")
            self.assertEqual(end["reason"], "gap")
            self.assertLess(abs(end["primal"] - value), 1e-9 * value)
            self.assertLess(value + end["dual"], 1e-3 * value)
            lowest, highest = math.inf, -math.inf
            for r in rounds:
                self.assertLess(-r["dual"], value * (1 + 1e-9), r)
                lowest = min(lowest, r["primal"])
                self.assertEqual(r["best_primal"], lowest)
                self.assertGreaterEqual(-r["dual"], highest - 1e-9 * value, r)  # alpha only gets better
                highest = max(highest, -r["dual"])

    def test_data_in_private_directories(self):
        lines = support.libsvm(support.problem(rows=120)).splitlines(keepends=True)
        for rank in range(3):
            os.makedirs(self.path(f"own/{rank + 1}"))
            self.write(f"own/{rank + 1}/part{rank}", "".join(lines[40 * rank:40 * rank + 40]))
        self.write("d", "".join(lines))
        self.on_hosts(3, support.BDA, "train", "--quiet", "/tmp/private/part{rank}", "m", options=["--private=own"])
        self.works("train", "--quiet", "--blocks=3", "d", "whole")
        self.assertEqual(self.weights("m"), self.weights("whole"))


class Sentences(hosts.Case):
    """Models and output have the bytes of one rank."""

    def trained(self, task, count):
        for name, number in (("train", 40), ("test", 20)):
            self.write(name + ".conllu", sentences.conllu(sentences.corpus(len(name), number)))
        train = ["train", "--quiet", f"--task={task}", "--blocks=4", "--max-rounds=3", "--gap=0.9", "--gap-of=start",
                 "--method=bda", "train.conllu"]
        predict = ["predict", "--quiet"]
        self.works(*train, "alone", status=(0, 3))
        self.works(*predict, "alone", "test.conllu", "alone.conllu")
        self.on_hosts(count, support.BDA, *train, "apart")
        self.on_hosts(count, support.BDA, *predict, "apart", "test.conllu", "apart.conllu")
        self.assertEqual(self.learned("alone"), self.learned("apart"))
        self.assertEqual(self.read("alone.conllu"), self.read("apart.conllu"))

    def test_tags(self):
        self.trained("tag", 2)
        self.trained_again("tag", 4)

    def test_trees(self):
        self.trained("parse", 2)
        self.trained_again("parse", 4)

    def trained_again(self, task, count):
        for name in ("alone", "apart", "alone.conllu", "apart.conllu"):
            os.remove(self.path(name))
        self.trained(task, count)

    def test_in_private_directories(self):
        parts = [sentences.conllu(sentences.corpus(seed, 20)) for seed in range(2)]
        for rank, part in enumerate(parts):
            os.makedirs(self.path(f"own/{rank + 1}"))
            self.write(f"own/{rank + 1}/part{rank}.conllu", part)
        self.write("whole.conllu", "".join(parts))
        words = ["train", "--quiet", "--task=tag", "--method=bda", "--loss=logistic"]
        self.on_hosts(2, support.BDA, *words, "/tmp/private/part{rank}.conllu", "apart", options=["--private=own"])
        self.works(*words, "--blocks=2", "whole.conllu", "alone")
        self.assertEqual(self.weights("apart"), self.weights("alone"))


class Slow(hosts.Case):
    """Nobody is given up who is only slow, and the bits stay."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("control"))
        self.write("d", certificate.words(rows=1500, features=40000))
        self.words = ["train", "--quiet", "--blocks=3", "--method=bda", "--gap=0", "--max-rounds=20", "d"]
        self.works(*self.words, "alone", status=(3,))

    def goes_on(self, slow_down):
        process = self.begin(3, [support.BDA, *self.words, "--log=log", "m"], "--control=control")
        self.wait_until(lambda: self.exists("log"), process)
        slow_down(process)
        _, err = process.communicate(timeout=support.TIMEOUT)
        self.assertEqual(process.returncode, 3, err)
        self.assertEqual(self.learned("alone"), self.learned("m"))

    def test_a_link(self):
        self.goes_on(lambda process: self.control("slow 3 20mbit"))

    def test_a_host_that_halts_for_a_while(self):
        def halt(process):
            rank = support.ranks_of(process)[-1]
            os.kill(rank, signal.SIGSTOP)
            time.sleep(3)  # of the nine that the others wait
            os.kill(rank, signal.SIGCONT)

        self.goes_on(halt)


if __name__ == "__main__":
    support.main()

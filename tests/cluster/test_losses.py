"""A host is lost, or its link, whatever the others do at that moment: all end soon, and the model that was there is still
the same; or the training goes on from its checkpoint on the hosts that are left."""
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402
from hosts import support  # noqa: E402
import test_sentences as sentences  # noqa: E402

ENDLESS = ["--log=log", *support.ENDLESS, "d", "m"]
MOMENTS = int(os.environ.get("BDA_MOMENTS", "2"))  # how many random ones are tried


class Case(hosts.Case):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("control"))
        self.write("d", support.libsvm(support.problem(rows=1000, features=100, nonzeros=20, noise=0.3)))
        self.works("train", "--quiet", "d", "m")
        self.before = self.read("m")

    def run_and_lose(self, fault, ready, *words, options=()):
        process = self.begin(3, [support.BDA, "train", "--quiet", "--force", *words], "--control=control", *options)
        self.wait_until(ready, process)
        self.control(fault)
        return self.all_end(process)

    def all_end(self, process):
        try:
            _, err = process.communicate(timeout=hosts.SECONDS)
        finally:
            process.kill()
        self.assertNotEqual(process.returncode, 0)
        self.assertTrue(err.strip())
        self.assertEqual(self.read("m"), self.before)
        self.assertEqual(self.leftovers(), [])
        return err


class Phases(Case):
    """Each of them is the place of a killed host or of a cut link."""

    def while_it_reads(self, fault):
        """The data of rank 2 never end."""
        for rank in range(2):
            os.makedirs(self.path(f"own/{rank + 1}"))
            self.write(f"own/{rank + 1}/part{rank}", self.read("d"))
        os.makedirs(self.path("own/3"))
        os.mkfifo(self.path("own/3/part2"))
        writers = []

        def is_read():
            try:
                writers.append(os.open(self.path("own/3/part2"), os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody reads
                return False
            os.write(writers[-1], b"1 1:1\n")
            return True

        self.run_and_lose(fault, is_read, "/tmp/private/part{rank}", "m", options=["--private=own"])
        for writer in writers:
            os.close(writer)

    def in_the_dictionary(self, fault):
        """All ranks wait for the words of rank 2, who has just read the last of them."""
        text = sentences.conllu(sentences.corpus(1, 2000)).encode()
        for rank in range(2):
            os.makedirs(self.path(f"own/{rank + 1}"))
            self.write(f"own/{rank + 1}/part{rank}.conllu", text)
        os.makedirs(self.path("own/3"))
        os.mkfifo(self.path("own/3/part2.conllu"))

        def is_read():
            try:
                writer = os.open(self.path("own/3/part2.conllu"), os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                return False
            os.set_blocking(writer, True)
            with open(writer, "wb") as f:
                f.write(text)
            return True

        self.run_and_lose(fault, is_read, "--task=tag", "--gap=0", "/tmp/private/part{rank}.conllu", "m",
                          options=["--private=own"])

    def in_the_rounds(self, fault):
        self.run_and_lose(fault, self.is_in_rounds, *ENDLESS)

    def when_the_model_is_written(self, fault):
        """Nobody takes what rank 0 writes."""
        os.mkfifo(self.path("pipe"))
        readers = []

        def is_written():
            if not readers:
                readers.append(os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK))
            try:
                return os.read(readers[0], 1) != b""
            except BlockingIOError:
                return False

        self.write("wide", "1 1:1 100000:1\n-1 2:1\n1 3:1\n")
        self.run_and_lose(fault, is_written, "wide", "pipe")
        os.close(readers[0])


class Killed(Phases):
    def test_while_it_reads(self):
        self.while_it_reads("kill 3")

    def test_in_the_dictionary(self):
        self.in_the_dictionary("kill 3")

    def test_in_the_rounds(self):
        self.in_the_rounds("kill 2")

    def test_when_the_model_is_written(self):
        self.when_the_model_is_written("kill 3")

    def test_others_go_on_from_its_checkpoint(self):
        words = ["train", "--quiet", "--blocks=8", "--method=bda", "--loss=hinge", "--gap=0", "d"]
        state = ["--checkpoint=state", "--resume"]
        process = self.begin(4, [support.BDA, *words, "--force", "--max-rounds=1000000", "--checkpoint-every=2", *state, "m"],
                             "--control=control")
        self.wait_until(lambda: self.exists("state.old"), process)
        self.control("kill 4")
        self.all_end(process)
        reached = json.loads(self.works("info", "--json", "state").stdout)["round"]
        words.insert(1, f"--max-rounds={reached + 5}")
        process = self.begin(2, [support.BDA, *words, *state, "less"])
        _, err = process.communicate(timeout=hosts.SECONDS)
        self.assertEqual(process.returncode, 3, err)
        self.works(*words, "alone", status=(3,))
        self.assertEqual(self.learned("less"), self.learned("alone"))


class Cut(Phases):
    def test_while_it_reads(self):
        self.while_it_reads("cut 3")

    def test_in_the_dictionary(self):
        self.in_the_dictionary("cut 3")

    def test_in_the_rounds(self):
        self.in_the_rounds("cut 3")

    def test_when_the_model_is_written(self):
        self.when_the_model_is_written("cut 3")


class Moments(Case):
    def test_whatever_happens_then(self):
        """From the start of the launcher on. BDA_MOMENTS=40 tries more, and says how long the slowest took."""
        slowest = 0.0
        for number in range(MOMENTS):
            draw = random.Random(f"{os.getpid()} {number}")
            fault, moment = draw.choice(["cut 1", "cut 2", "cut 3", "kill 2"]), draw.uniform(0, 2)
            with self.subTest(fault=fault, moment=moment):
                os.remove(self.path("control"))
                os.mkfifo(self.path("control"))
                process = self.begin(3, [support.BDA, "train", "--quiet", "--force", *ENDLESS], "--control=control")
                time.sleep(moment)
                self.control(fault)
                start = time.monotonic()
                self.all_end(process)
                slowest = max(slowest, time.monotonic() - start)
        print(f"{MOMENTS} moments, all ended within {slowest:.1f} s")


class DeafLauncher(Case):
    # A launcher that has just sent something notices after some six seconds all the same.
    variables = {"OMPI_MCA_oob_tcp_keepalive_time": "0", "BDA_PATIENCE": "4", "OMPI_MCA_mca_base_env_list": "BDA_PATIENCE"}

    def test_ranks_miss_each_other(self):
        err = self.run_and_lose("cut 3", self.is_in_rounds, *ENDLESS)
        self.assertEqual(err.count("rank 2 has not been heard of for 4 s"), 1, err)


if __name__ == "__main__":
    support.main()

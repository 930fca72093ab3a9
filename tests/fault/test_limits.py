"""Disks that are full, files that may not grow, descriptors and memory that run out, signals at any moment, data that
change while they are used: a clean status, one sentence, nothing lost, nothing left behind."""
import ctypes
import os
import random
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

SECONDS = 600  # ends what hangs, however busy the machine
LOADER = 127   # status of a program whose libraries could not be loaded


class Damage(support.Case):
    """What all of these share: runs under some limit, and what must hold of them."""

    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem(rows=400, features=300, nonzeros=20)))
        self.works("train", "--quiet", "d", "in.model")
        self.commands = [("train", "--quiet", "d"), ("convert", "--quiet", "d"), ("predict", "--quiet", "in.model", "d"),
                         ("export", "in.model"), ("generate", "--like=rcv1", "--scale=0.001", "--format=text")]

    def run_with(self, limits, args):
        def set_limits():
            for name, value in limits.items():
                resource.setrlimit(name, (value, value))
        return subprocess.run(support.command(args), cwd=self.directory, env=support.environment(0), timeout=SECONDS,
                              capture_output=True, text=True, preexec_fn=set_limits)

    def sentences(self, r):
        return [line for line in r.stderr.split("\n") if line.startswith("bda")]

    def is_clean(self, r, args):
        """It was done, or it failed with one sentence."""
        self.assertIn(r.returncode, (0, 1), f"{args}: {r.stderr}")
        if r.returncode == 1:
            self.assertEqual(len(self.sentences(r)), 1, f"{args}: {r.stderr}")
        self.assertEqual(self.leftovers(), [], args)


class Sizes(Damage):
    def test_a_file_may_not_grow(self):
        for args in self.commands:
            self.works(*args, "out")
            whole = self.read("out")
            for size in (0, 100, len(whole) // 2, len(whole) - 1):
                r = self.run_with({resource.RLIMIT_FSIZE: size}, args + ("out",))
                self.assertEqual(r.returncode, 1, f"{args}: {r.stderr}")
                self.is_clean(r, args)
                self.assertEqual(self.read("out"), whole, args)
            os.remove(self.path("out"))
            self.assertEqual(self.run_with({resource.RLIMIT_FSIZE: 100}, args + ("out",)).returncode, 1)
            self.assertFalse(self.exists("out"))


@support.unittest.skipIf("asan" in (support.BDA or ""), "a sanitizer wants descriptors and memory of its own")
class Scarce(Damage):
    def test_descriptors(self):
        seen = set()
        for args in self.commands:
            for most in range(3, 12):
                r = self.run_with({resource.RLIMIT_NOFILE: most}, args + (args[0] + ".out",))
                if r.returncode != LOADER:
                    self.is_clean(r, args)
                    seen.add(r.returncode)
        self.assertIn(0, seen)

    def test_memory(self):
        self.write("wide", "1 1:1 30000000:1\n-1 2:1\n")  # half a gigabyte of weights
        for kind in ("train", "--method=tron"), ("train", "--method=bda"), ("train", "--loss=logistic"):
            r = self.run_with({resource.RLIMIT_AS: 600 << 20}, kind + ("--quiet", "wide", "out"))
            self.is_clean(r, kind)
            self.assertEqual(r.returncode, 1)
            self.assertFalse(self.exists("out"))


def mount(where, size):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"none", where.encode(), b"tmpfs", 0, f"size={size}".encode()) == 0


class Disk(Damage):
    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        if not mount(self.disk, "64k"):
            self.skipTest("no right to mount a file system")
        self.addCleanup(ctypes.CDLL(None).umount2, self.disk.encode(), 2)

    def fill(self):
        with open(os.path.join(self.disk, "rest"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"0" * 4096)
            except OSError:
                pass

    def test_full(self):
        for args in self.commands:
            out = os.path.join(self.disk, "out")
            with open(out, "w"):
                pass
            self.fill()
            r = self.bda(*args, out)
            self.assertEqual(r.returncode, 1, f"{args}: {r.stderr}")
            self.is_clean(r, args)
            self.assertIn("No space left", self.sentences(r)[0])
            self.assertEqual(sorted(os.listdir(self.disk)), ["out", "rest"])
            os.remove(os.path.join(self.disk, "rest"))
            os.remove(out)

    def test_the_log_fills_the_disk_and_the_model_does_not(self):
        self.fill()
        os.truncate(os.path.join(self.disk, "rest"), os.path.getsize(os.path.join(self.disk, "rest")) - 4096)
        r = self.bda("train", "--quiet", "--log=" + os.path.join(self.disk, "log"), "--method=bda", "--blocks=8",
                     "--gap=1e-7", "d", "out")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("the run log is incomplete", r.stderr)
        self.works("predict", "--quiet", "out", "d", "labels")


class Moments(Damage):
    """A signal at any moment leaves a whole file or none, and no temporary one."""

    def strike(self, number, args, delay):
        process = self.start(*args)
        time.sleep(delay)
        process.send_signal(number)
        process.communicate(timeout=SECONDS)
        self.assertIn(process.returncode, (0, 3, 128 + number, -number), args)
        self.assertEqual(self.leftovers(), [], args)

    def test_signals(self):
        r = random.Random(1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            for args in self.commands:
                self.works(*args, "out")
                whole = self.read("out")
                for k in range(2):
                    self.strike(number, args + ("out",), r.uniform(0, 0.15))
                    if args[0] != "train":  # which saves what it has
                        self.assertEqual(self.read("out"), whole, args)
                    self.assertTrue(self.read("out"))
                os.remove(self.path("out"))

    def test_hangup_saves_the_model(self):
        self.write("d", support.endless_data())
        process = self.start("train", "--quiet", *support.ENDLESS, "--blocks=8", "--log=log", "d", "out")
        self.addCleanup(process.kill)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not (self.exists("log") and self.read("log").count(b"\n") > 2):
            time.sleep(0.02)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 129)
        self.works("predict", "--quiet", "out", "d", "labels")


class Time(Damage):
    def test_a_first_round_without_end(self):
        for args in (("--method=bda", "--blocks=2"), ("--method=hull", "--blocks=2"), ("--method=admm", "--blocks=2")):
            r = self.bda("train", "--quiet", "--gap=0", "--max-time=0.2", "--local-epochs=1000000", "--log=log", *args,
                         "d", "out")
            self.assertEqual(r.returncode, 3, r.stderr)
            self.assertLess(self.log("log")[-2]["epochs"], 400000)
            self.works("predict", "--quiet", "out", "d", "labels")


class Changed(Damage):
    def train_while(self, change, ranks=0):
        """Trains without end until the data were changed, and then is asked to stop."""
        self.write("d", support.endless_data())
        self.works("convert", "--quiet", "d", "d.bda")
        process = self.start("train", "--quiet", *support.ENDLESS, "--blocks=8", "--l1-ratio=0.1", "--log=log", "d.bda", "out",
                             ranks=ranks)
        self.addCleanup(process.kill)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not (self.exists("log") and self.read("log").count(b"\n") > 3):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        change()
        return process

    def ends(self, process, says):
        _, err = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 1, err)
        own = [line for line in err.split("\n") if line.startswith("bda")]
        self.assertEqual(len(own), 1, err)
        self.assertIn(says, own[0])

    def test_data_are_cut_off(self):
        process = self.train_while(lambda: os.truncate(self.path("d.bda"), os.path.getsize(self.path("d.bda")) // 2))
        self.ends(process, "d.bda: became shorter while it was used")
        self.works("predict", "--quiet", "out", "d", "labels")

    def test_nothing_is_left_of_the_data(self):
        self.works("train", "--quiet", "d", "out")
        before = self.read("out")
        process = self.train_while(lambda: os.truncate(self.path("d.bda"), 0))
        self.ends(process, "became shorter while it was used")
        self.assertTrue(self.read("out") == before or self.works("predict", "--quiet", "out", "d", "labels"))
        self.assertEqual(self.leftovers(), [])

    def test_data_are_written_to(self):
        def touch():
            with open(self.path("d.bda"), "r+b") as f:
                f.write(b"B")
            os.utime(self.path("d.bda"), (1, 1))
        process = self.train_while(touch)
        process.send_signal(signal.SIGUSR1)
        self.ends(process, "d.bda: was changed while it was used")
        self.works("predict", "--quiet", "out", "d", "labels")

    @support.unittest.skipIf("asan" in (support.BDA or ""), "a sanitizer has a sentence of its own for wild columns")
    def test_data_are_written_over(self):
        """What stands for columns now leads anywhere: no model of it, and no crash."""
        def write():
            with open(self.path("d.bda"), "r+b") as f:
                size = os.path.getsize(self.path("d.bda"))
                f.seek(size // 8)
                f.write(b"\x7f" * (size - size // 8))
        process = self.train_while(write)
        self.ends(process, "a file of data was changed while it was used")
        self.assertEqual(self.leftovers(), [])

    def test_data_change_while_a_cost_is_chosen(self):
        """What was scored may not be what is there now: nothing is chosen."""
        self.works("convert", "--quiet", "d", "d.bda")
        process = self.start("select", "--costs=1,2,4,8", "--gap=0", "--max-time=0.2", "d.bda", "out")
        self.addCleanup(process.kill)
        while "fold" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        os.utime(self.path("d.bda"), (1, 1))
        _, err = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(err.splitlines()[-1], "bda select: d.bda: was changed while it was used")
        self.assertFalse(self.exists("out"))

    def test_data_that_are_replaced_stay_as_they_were(self):
        def replace():
            self.write("other", "1 1:1\n")
            os.rename(self.path("other"), self.path("d.bda"))
        process = self.train_while(replace)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 3)


if __name__ == "__main__":
    support.main()

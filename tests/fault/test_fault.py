"""One rank fails, and all end: with one message, and without a file that looks like a result."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

SECONDS = 600  # ends what hangs, however busy the machine


@support.unittest.skipUnless(support.has_launcher(), "no mpirun")
class OneRank(support.Case):
    def setUp(self):
        super().setUp()
        for rank in range(3):
            self.write(f"part{rank}", support.libsvm(support.problem(rows=50, seed=rank)))

    def all_end(self, *args, says, command="train"):
        message = self.fails(1, command, *args, ranks=3, says=says)
        self.assertFalse(self.exists("m"))
        self.assertEqual(self.leftovers(), [])
        return message

    def test_the_parts_are_good(self):
        self.works("train", "part{rank}", "m", ranks=3)

    def test_a_file_is_missing(self):
        for rank in range(3):
            os.rename(self.path(f"part{rank}"), self.path("away"))
            self.all_end("part{rank}", "m", says=[f"part{rank}"])
            os.rename(self.path("away"), self.path(f"part{rank}"))

    def test_a_file_is_broken(self):
        for rank in range(3):
            good = self.read(f"part{rank}")
            self.write(f"part{rank}", good + b"1 1:nan\n")
            self.all_end("part{rank}", "m", says=[f"part{rank}", "51"])
            self.write(f"part{rank}", good)

    def test_two_files_are_broken(self):
        self.write("part1", "1 1:x\n")
        self.write("part2", "1 1:y\n")
        self.all_end("part{rank}", "m", says=["part1"])

    def test_a_line_of_the_last_rank_is_broken(self):
        lines = support.libsvm(support.problem(rows=90)).splitlines()
        lines[85] = "1 5:1 5:2"
        self.write("d", "\n".join(lines) + "\n")
        self.all_end("d", "m", says=["d", "86"])

    def test_a_packed_file_is_cut_off(self):
        whole = support.packed(support.libsvm(support.problem(rows=500)))
        self.write("d.gz", whole[:len(whole) // 2])
        self.all_end("d.gz", "m", says=["d.gz"])

    def test_predict(self):
        self.works("train", "part{rank}", "model", ranks=3)
        self.write("part2", "1 1:nan\n")
        self.all_end("model", "part{rank}", "m", says=["part2"], command="predict")

    def test_labels_that_only_some_ranks_have(self):
        self.write("part0", "1 1:1\n1 2:1\n")
        self.write("part1", "1 1:1\n")
        self.write("part2", "1 1:2\n-1 2:1\n")
        self.works("train", "part{rank}", "m", ranks=3)
        os.remove(self.path("m"))
        self.write("part2", "1 1:2\n1 2:1\n")
        self.all_end("part{rank}", "m", says=["label"])


@support.unittest.skipUnless(support.has_launcher(), "no mpirun")
class Lost(support.Case):
    def start_endless(self):
        """A training on three ranks that is in its rounds, of which there is no end."""
        self.write("d", support.endless_data())
        process = self.start("train", "--quiet", "--log=log", *support.ENDLESS, "d", "m", ranks=3)
        self.addCleanup(process.kill)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not (self.exists("log") and self.read("log").count(b"\n") > 3):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        return process

    def test_a_killed_rank_ends_the_job(self):
        process = self.start_endless()
        os.kill(support.ranks_of(process)[1], signal.SIGKILL)
        process.communicate(timeout=SECONDS)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse(self.exists("m"))

    def test_a_stopped_rank_is_missed(self):
        os.environ["BDA_PATIENCE"] = "2"
        self.addCleanup(os.environ.pop, "BDA_PATIENCE")
        process = self.start_endless()
        os.kill(support.ranks_of(process)[1], signal.SIGSTOP)
        _, err = process.communicate(timeout=SECONDS)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("has not been heard of", err)
        self.assertEqual(err.count("has not been heard of"), 1, err)
        self.assertFalse(self.exists("m"))
        self.assertEqual(self.leftovers(), [])

    def test_a_rank_that_is_lost_as_mpi_starts(self):
        """It starts MPI, and nothing more is heard of it."""
        python = "/usr/bin/python3"
        if subprocess.run([python, "-c", "import mpi4py"], capture_output=True).returncode:
            self.skipTest("no mpi4py")
        self.write("d", "1 1:1\n-1 2:1\n")
        first = support.command(["train", "d", "m"], ranks=2)
        mute = "from mpi4py import MPI; import signal; MPI.COMM_WORLD; signal.pause()"
        process = subprocess.Popen(first + [":", "-n", "1", python, "-c", mute], cwd=self.directory, text=True,
                                   env=dict(support.environment(3), BDA_PATIENCE="2"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        _, err = process.communicate(timeout=SECONDS)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(err.count("MPI has started, but 2 s later"), 1, err)
        self.assertFalse(self.exists("m"))

    def test_a_patience_that_is_none(self):
        os.environ["BDA_PATIENCE"] = "soon"
        self.addCleanup(os.environ.pop, "BDA_PATIENCE")
        self.write("d", "1 1:1\n-1 2:1\n")
        self.fails(2, "train", "d", "m", ranks=2, says=["BDA_PATIENCE", "soon"])


@support.unittest.skipUnless(support.has_launcher(), "no mpirun")
class Files(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.libsvm(support.problem()))

    def test_model_that_cannot_be_written(self):
        for path in ("nodir/m", "d/m", "/dev/full", "."):
            self.fails(1, "train", "d", path, ranks=2, says=[path])

    def test_log_that_cannot_be_written(self):
        for path in ("nodir/log", "/dev/full"):
            self.fails(1, "train", "--log=" + path, "d", "m", ranks=2, says=[path])
            self.assertFalse(self.exists("m"))

    def test_a_log_that_fills_up_costs_no_model(self):
        # The model and the first lines of the log fit into the limit, the rest of the log does not.
        self.works("train", "--quiet", "--method=bda", "--blocks=4", "--gap=1e-8", "--log=log", "d", "m")
        limit = support.os.path.getsize(self.path("m")) + 256
        self.assertGreater(support.os.path.getsize(self.path("log")), 2 * limit)
        code = ("import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); os.execv(sys.argv[1], sys.argv[1:])")
        words = [sys.executable, "-c", code, support.BDA, "train", "--method=bda", "--blocks=4", "--gap=1e-8", "--log=log", "d", "m"]
        r = support.subprocess.run(words, cwd=self.directory, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("the run log is incomplete", r.stderr)
        self.works("predict", "--quiet", "m", "d", "out")

    def test_output_that_cannot_be_written(self):
        self.works("train", "--quiet", "d", "m")
        self.fails(1, "predict", "m", "d", "/dev/full", ranks=2, says=["/dev/full"])
        self.fails(1, "convert", "d", "/dev/full", ranks=2, says=["/dev/full"])
        self.fails(1, "convert", "d", "nodir/x", ranks=2, says=["nodir/x"])
        self.fails(1, "predict", "nomodel", "d", "x", ranks=2, says=["nomodel"])


if __name__ == "__main__":
    support.main()

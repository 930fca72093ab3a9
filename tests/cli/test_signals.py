"""Signals: the round under way is finished, the model is saved, and the exit status says so."""
import errno
import os
import signal
import subprocess
import time

import support

ENDLESS = [*support.ENDLESS, "--blocks=7"]
PATIENCE = 600  # seconds: ends what hangs, however busy the machine
# Open MPI's mpirun kills ranks so many seconds after it passed a signal on; its usual 1 is short on a busy machine.
GRACE = {"OMPI_MCA_odls_base_sigkill_timeout": "4", "PRTE_MCA_odls_base_sigkill_timeout": "4"}


class Signals(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", support.endless_data())

    def wait_for_round(self, process, round=3):
        """Until the log says that training is under way."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if self.exists("log") and self.read("log").count(b'"event":"round"') > round:
                return
            time.sleep(0.02)
        process.kill()
        self.fail("training did not begin: " + process.communicate()[1])

    def open_for_writing(self, process, name):
        """A pipe, as soon as the program reads it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            try:
                return os.open(self.path(name), os.O_WRONLY | os.O_NONBLOCK)
            except OSError as e:
                self.assertEqual(e.errno, errno.ENXIO)  # nobody reads it yet
                time.sleep(0.02)
        process.kill()
        self.fail("the pipe was not read: " + process.communicate()[1])

    def start_training(self, *args, ranks=0):
        process = self.start("train", "--quiet", "--log=log", *ENDLESS, *args, "d", "m", ranks=ranks)
        self.addCleanup(process.kill)
        self.wait_for_round(process)
        return process

    def finish(self, process):
        try:
            return process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("no end after a signal: " + process.communicate()[1])

    def saved(self):
        self.assertEqual(self.log("log")[-1]["reason"], "interrupted")
        self.works("predict", "--quiet", "m", "d", "out")
        self.assertEqual(self.leftovers(), [])

    def test_alone(self):
        for number, status, name in ((signal.SIGINT, 130, "SIGINT"), (signal.SIGTERM, 143, "SIGTERM"),
                                     (signal.SIGUSR1, 3, "SIGUSR1")):
            process = self.start_training()
            process.send_signal(number)
            message = self.finish(process)
            self.assertEqual(process.returncode, status, message)
            self.assertIn(name, message)
            self.assertIn(" m", message)
            self.saved()
            os.remove(self.path("m"))
            os.remove(self.path("log"))

    def test_the_log_agrees_with_the_model(self):
        process = self.start_training()
        process.send_signal(signal.SIGINT)
        self.finish(process)
        end = self.log("log")[-1]
        self.assertIn("%.15g" % end["primal"], self.works("info", "m").stdout)
        self.assertEqual(end["primal"], min(x["primal"] for x in self.log("log")[1:-1]))

    def test_before_training_there_is_nothing_to_save(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("train", "pipe", "m")
        self.addCleanup(process.kill)
        pipe = self.open_for_writing(process, "pipe")
        self.addCleanup(os.close, pipe)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertFalse(self.exists("m"))

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_one_rank_gets_it_and_all_stop(self):
        process = self.start_training(ranks=3)
        os.kill(support.ranks_of(process)[-1], signal.SIGTERM)
        message = self.finish(process)
        self.assertEqual(process.returncode, 143, message)
        self.assertEqual(message.count("SIGTERM"), 1, message)
        self.saved()

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_mpirun_passes_it_on(self):
        os.environ.update(GRACE)
        # mpirun has an exit status of its own when it is told to end; what counts is that the model is there.
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start_training(ranks=2)
            process.send_signal(number)
            message = self.finish(process)
            self.assertNotEqual(process.returncode, 0, message)
            self.saved()
            os.remove(self.path("m"))
            os.remove(self.path("log"))


if __name__ == "__main__":
    support.main()

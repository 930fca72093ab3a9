"""What the tests on hosts share: starting the program by tools/cluster, and losing a host or its link meanwhile."""
import functools
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import support  # noqa: E402

CLUSTER = os.path.join(HERE, "..", "..", "tools", "cluster")
CANNOT = 77  # status of tools/cluster where the machine has no namespaces for us
SECONDS = 300  # ends what hangs after a fault; an idle machine takes less than 10


@functools.cache
def why_not():
    r = subprocess.run([CLUSTER, "--hosts=1", "true"], capture_output=True, text=True, timeout=support.TIMEOUT)
    return (r.stderr.strip().splitlines() or [f"status {r.returncode}"])[-1] if r.returncode == CANNOT else None


class Case(support.Case):
    variables = {}  # of the environment

    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        super().setUp()

    def begin(self, hosts, words, *options):
        process = subprocess.Popen([CLUSTER, f"--hosts={hosts}", *options, "--", *words], cwd=self.directory,
                                   env=dict(support.environment(1), **self.variables), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def on_hosts(self, hosts, *words, options=()):
        process = self.begin(hosts, words, *options)
        out, err = process.communicate(timeout=support.TIMEOUT)
        self.assertEqual(process.returncode, 0, f"{words}: {err}")
        return out

    def control(self, line):
        with open(self.path("control"), "w") as f:
            f.write(line + "\n")

    def wait_until(self, ready, process):
        end = time.monotonic() + support.TIMEOUT
        while not ready():
            self.assertIsNone(process.poll(), process.returncode is not None and process.stderr.read())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def is_in_rounds(self):
        return self.exists("log") and self.read("log").count(b'"event":"round"') > 3

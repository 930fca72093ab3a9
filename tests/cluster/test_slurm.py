"""The scripts of the documentation under a Slurm of our own, whose nodes are hosts of tools/cluster."""
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts  # noqa: E402
from hosts import support  # noqa: E402

ROOT = os.path.join(hosts.HERE, "..", "..")
DAEMONS = ("munged", "slurmctld", "slurmd", "srun")
SMALL = "--nodes=2 --ntasks-per-node=1 --cpus-per-task=1"


def script_of(page):
    """The first script for Slurm on that page, without its indentation."""
    with open(os.path.join(ROOT, page)) as f:
        return re.search(r"(?m)^(?:    .*\n)*    #SBATCH.*\n(?:    .*\n)*", f.read()).group().replace("\n    ", "\n")[4:]


class Case(hosts.Case):
    def setUp(self):
        if not all(map(shutil.which, DAEMONS)):
            self.skipTest("no Slurm; `./dev slurm` installs it")
        if os.geteuid() != 0:
            self.skipTest("a Slurm of our own needs root")
        super().setUp()
        os.mkfifo(self.path("control"))
        os.mkdir(self.path("slurm"))
        self.write("data.bda", support.libsvm(support.problem(rows=1000, features=100, nonzeros=20, noise=0.3)))
        self.cluster = subprocess.Popen(
            [hosts.CLUSTER, "--hosts=4", "--control=control", "--beside", os.path.join(hosts.HERE, "slurm"),
             self.path("slurm"), "4"], cwd=self.directory, env=support.environment(1), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.cluster.wait)
        self.addCleanup(self.cluster.kill)
        self.addCleanup(self.cluster.stdout.close)
        self.addCleanup(self.cluster.stdin.close)
        self.assertEqual(self.cluster.stdout.readline(), "ready\n")

    def run_beside(self, command, status=0):
        self.cluster.stdin.write(f"cd '{self.directory}' && {command}\n")
        self.cluster.stdin.flush()
        lines = []
        for line in self.cluster.stdout:
            if line.startswith("status "):
                break
            lines.append(line)
        self.assertEqual(line, f"status {status}\n", lines)
        return "".join(lines)

    def put(self, page, more=""):
        text = re.sub(r"(build/)?bda train", f"{support.BDA} train {more}", script_of(page))
        self.write("job", text.replace("/shared", self.directory))

    def submit(self, options):
        return int(self.run_beside(f"sbatch --parsable {options} job"))

    def until(self, ready):
        end = time.monotonic() + support.TIMEOUT
        while not ready():
            if time.monotonic() > end:
                self.fail(self.run_beside("squeue; sinfo; cat slurm-*.out"))
            time.sleep(0.1)

    def rounds(self, log):
        return self.read(log).count(b'"event":"round"') if self.exists(log) else 0

    def state(self, job):
        return re.search(r"JobState=(\S+).* ExitCode=(\d+)", self.run_beside(f"scontrol show job {job}"), re.S).groups()


class Slurm(Case):
    def test_the_script_of_the_readme(self):
        self.put("README.md", "--quiet")
        self.run_beside("sbatch --wait job")
        self.works("info", "model")
        self.assertEqual(self.log("train.log")[0]["ranks"], 8)
        self.assertEqual(self.log("train.log")[-1]["reason"], "gap")

    def test_a_job_that_is_queued_again(self):
        self.put("docs/checkpoints.md", "--quiet " + " ".join(support.ENDLESS))
        job = self.submit(SMALL)
        self.until(lambda: self.rounds(f"train-{job}-0.log") > 3)
        self.run_beside(f"scancel --signal=USR1 {job}")  # the script queues it again
        self.until(lambda: self.rounds(f"train-{job}-1.log") > 3)
        logs = [self.log(f"train-{job}-{part}.log") for part in range(2)]
        self.assertEqual(logs[1][0]["resumed_round"], logs[0][-1]["rounds"])
        self.run_beside(f"scancel {job}")
        self.until(lambda: self.state(job)[0] == "CANCELLED")

    def test_a_node_that_fails(self):
        self.put("README.md", "--quiet --checkpoint-every=1 " + " ".join(support.ENDLESS))
        job = self.submit(SMALL)
        self.until(lambda: self.exists("state.old"))
        nodes = re.search(r" NodeList=host\[(\d)-(\d)\]", self.run_beside(f"scontrol show job {job}")).groups()
        self.control(f"kill {nodes[1]}")  # the other runs the script
        self.until(lambda: self.rounds("train.log") > 3 and b"resumed_round" in self.read("train.log"))
        self.run_beside(f"scancel {job}")


class SlurmTime(Case):
    def test_its_signal_before_the_time_is_up(self):
        """Slurm counts in minutes and looks every half."""
        self.put("README.md", "--quiet " + " ".join(support.ENDLESS))
        self.run_beside(f"sbatch --wait {SMALL} --time=1 --signal=USR1@55 job", status=3)
        self.works("info", "model")
        self.assertEqual(self.log("train.log")[-1]["reason"], "interrupted")


if __name__ == "__main__":
    support.main()

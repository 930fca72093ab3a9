"""Files: no output destroys another file, no part of the data is left out, and what can go wrong with pipes, limits and
names is one sentence."""
import os
import signal
import subprocess
import threading
import time

import support

DATA = support.libsvm(support.problem(rows=60))
MANY = "".join(f"{i % 7} {i % 5 + 1}:1 {i % 3 + 6}:2\n" for i in range(4000))


class Outputs(support.Case):
    """An existing file of another kind is replaced with --force alone; an input or another output never."""

    def setUp(self):
        super().setUp()
        self.write("a.svm", DATA)
        self.write("b.svm", DATA)
        self.works("train", "-q", "--log=log", "a.svm", "model")
        self.works("predict", "-q", "--metrics=metrics", "model", "a.svm", "out")

    def keeps(self, name, *args, says=(), status=2):
        before = self.read(name)
        self.fails(status, *args, says=[f"'{name}'", *says])
        self.assertEqual(self.read(name), before, args)
        self.assertEqual(self.leftovers(), [])

    def test_other_kinds_are_kept(self):
        self.write("notes", "remember the milk\n")
        self.write("table", "1.50\n2\n")  # numbers, but not as predict writes them
        self.works("convert", "-q", "a.svm", "binary.bda")
        self.works("export", "model", "liblinear")
        for name, kind in [("b.svm", "LIBSVM text"), ("binary.bda", "binary data"), ("log", "a run log"),
                           ("metrics", "metrics"), ("out", "predictions"), ("liblinear", "a model of LIBLINEAR"),
                           ("notes", "nothing that bda writes"), ("table", "nothing that bda writes")]:
            self.keeps(name, "train", "a.svm", name, says=[kind, "--force", "a model"])
        for name in ("model", "b.svm", "binary.bda", "out", "notes", "table", "log"):
            if name != "model":  # which is read
                self.keeps(name, "predict", "--metrics=" + name, "model", "a.svm", "new", says=["--force"])
            if name not in ("out", "model"):
                self.keeps(name, "predict", "model", "a.svm", name, says=["--force"])
            if name != "log":
                self.keeps(name, "train", "--log=" + name, "a.svm", "new", says=["--force"])
        self.keeps("model", "convert", "a.svm", "model", says=["--force"])
        self.keeps("b.svm", "convert", "--format=binary", "a.svm", "b.svm", says=["LIBSVM text", "binary data"])
        self.keeps("notes", "generate", "--like=rcv1", "--scale=1e-4", "notes", says=["--force"])
        self.keeps("a.svm", "export", "model", "a.svm", says=["--force"])
        self.assertFalse(self.exists("new"))

    def test_force(self):
        self.works("train", "-q", "--force", "a.svm", "b.svm")
        self.assertIn("model b.svm", self.works("info", "b.svm").stdout)

    def test_the_same_command_again(self):
        for _ in range(2):
            self.works("train", "-q", "--log=log", "a.svm", "model")
            self.works("predict", "-q", "--scores", "--metrics=metrics", "model", "a.svm", "out")
            self.works("export", "model", "liblinear")
            self.works("convert", "-q", "a.svm", "c.svm")
            self.works("convert", "-q", "a.svm", "c.svm.gz")
            self.works("convert", "-q", "a.svm", "c.bda")
            self.works("convert", "-q", "c.bda", "c.text")
            self.works("generate", "-q", "--like=rcv1", "--scale=1e-4", "g.svm")
        self.write("empty", "")
        self.works("train", "-q", "a.svm", "empty")
        self.works("train", "-q", "a.svm", "/dev/null")

    def test_inputs_are_never_replaced(self):
        os.symlink("a.svm", self.path("link"))
        os.link(self.path("a.svm"), self.path("hard"))
        os.mkdir(self.path("dir"))
        for name in ("a.svm", "./a.svm", "dir/../a.svm", "link", "hard", self.path("a.svm")):
            for force in ([], ["--force"]):
                self.keeps(name, "train", *force, "a.svm", name, says=["a.svm", "read"])
                self.keeps(name, "predict", *force, "model", "a.svm", name, says=["read"])
                self.keeps(name, "convert", *force, "a.svm", name, says=["read"])
                self.keeps(name, "train", *force, "--log=" + name, "a.svm", "new", says=["read"])
        self.keeps("model", "predict", "--force", "--metrics=model", "model", "a.svm", "new", says=["read"])
        self.keeps("model", "predict", "--force", "model", "a.svm", "model", says=["read"])
        self.keeps("model", "export", "--force", "model", "model", says=["read"])
        self.write("penalty", "1 2\n")
        self.keeps("penalty", "train", "--force", "--feature-penalty=penalty", "a.svm", "penalty", says=["read"])
        with open(self.path("a.svm"), "r+b") as file:  # standard output, by the shell
            r = subprocess.run([support.BDA, "train", "--force", "a.svm", "-"], cwd=self.directory, stdout=file,
                               stderr=subprocess.PIPE)
        self.assertEqual(r.returncode, 2, r.stderr)
        self.assertEqual(self.read("a.svm").decode(), DATA)

    def test_outputs_are_two_files(self):
        os.symlink("new", self.path("leads-to-new"))
        for other in ("new", "./new", "leads-to-new"):
            self.fails(2, "train", "--log=" + other, "a.svm", "new", says=["'new'", "written"])
            self.fails(2, "predict", "--metrics=" + other, "model", "a.svm", "new", says=["'new'", "written"])
        self.assertFalse(self.exists("new"))

    def test_parts_of_other_ranks(self):
        for rank in range(2):
            self.write(f"part-{rank}.svm", DATA)
        for number in range(2):
            name = f"part-{number}.svm"
            before = self.read(name)
            self.fails(2, "train", "--force", "part-{rank}.svm", name, ranks=2, says=[name, "read"])
            self.assertEqual(self.read(name), before)

    def test_nothing_is_left_of_trying(self):
        self.fails(1, "train", "a.svm", "no/where", says=["'no/where'"])
        self.fails(1, "train", "a.svm", "a.svm/m", says=["'a.svm/m'"])
        self.fails(1, "train", "missing", "new", says=["missing"])
        self.assertFalse(self.exists("new"))
        self.assertEqual(self.leftovers(), [])


class Parts(support.Case):
    def parts(self, count, name="part-{:05}.svm"):
        for rank in range(count):
            self.write(name.format(rank), DATA)

    def test_alone(self):
        self.parts(2, "part-{}.svm")
        self.fails(2, "train", "part-{rank}.svm", "m", says=["part-1.svm", "left out", "mpirun -np 2"])
        self.assertFalse(self.exists("m"))
        os.unlink(self.path("part-1.svm"))
        self.assertIn("60 instances", self.works("train", "part-{rank}.svm", "m").stderr)

    def test_numbers_from_1(self):
        self.write("part-1.svm", DATA)
        self.fails(2, "train", "part-{rank}.svm", "m", says=["part-1.svm", "counts from 0"])

    def test_marks(self):
        for mark in ("{rank:5}", "{rank:0}", "{rank:099}", "{rank:05", "{rank:0x}"):
            self.fails(2, "train", f"part-{mark}.svm", "m", says=["{rank:05}", mark[:5]])
        self.write("{ranking}", DATA)  # a name like any other
        self.works("train", "-q", "{ranking}", "m")

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks(self):
        self.parts(4)
        self.fails(2, "train", "part-{rank:05}.svm", "m", ranks=2, says=["part-00002.svm", "mpirun -np 4"])
        os.unlink(self.path("part-00003.svm"))
        r = self.works("train", "part-{rank:05}.svm", "m", ranks=3)
        self.assertRegex(r.stderr, r"180 instances, .* read from 3 files")
        self.write("part-00001.svm", "")
        r = self.works("train", "part-{rank:05}.svm", "m", ranks=3)
        self.assertRegex(r.stderr, r"120 instances, .* read from 3 files")
        self.assertIn("1 of these files has no instances, that of rank 1\n", r.stderr)


@support.unittest.skipUnless(support.has_launcher(), "no mpirun")
class CommandLines(support.Case):
    """Ranks that disagree on what to do end with one sentence instead of waiting for each other."""

    def both(self, one, other):
        self.write("d", DATA)
        program = [support.BDA, "train", "-q"]
        launcher = support.command([], ranks=1)[:-1]
        r = subprocess.run(launcher + program + one + [":", "-n", "1"] + program + other, cwd=self.directory,
                           env=support.environment(2), capture_output=True, text=True, timeout=support.TIMEOUT)
        own = [line for line in r.stderr.splitlines() if line.startswith("bda")]
        self.assertEqual(len(own), 1, r.stderr)
        self.assertEqual(r.returncode, 2, r.stderr)
        self.assertIn("same command line", own[0])
        self.assertFalse(self.exists("m"))
        return own[0]

    def test_they_must_be_the_same(self):
        sentence = self.both(["--blocks=2", "d", "m"], ["--blocks=3", "d", "m"])
        self.assertIn("'--blocks=3'", sentence)
        self.assertIn("'--blocks=2'", sentence)
        self.assertIn("'--cost=x'", self.both(["d", "m"], ["--cost=x", "d", "m"]))
        self.assertIn("'m'", self.both(["d", "m"], ["d"]))
        self.assertIn("'m'", self.both(["d"], ["d", "m"]))


class Surroundings(support.Case):
    def shell(self, script, **env):
        return subprocess.run(["bash", "-c", script], cwd=self.directory, capture_output=True, text=True,
                              env=dict(support.environment(0), BDA=support.BDA, **env), timeout=support.TIMEOUT)

    def test_a_reader_that_leaves(self):
        """The log is lost, and the status says so; the model is not."""
        self.write("d", DATA)
        r = self.shell('"$BDA" train --gap=1e-9 --method=bda --log=/dev/stdout d m | true; exit "${PIPESTATUS[0]}"')
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("run log", r.stderr)
        self.works("info", "m")

    def test_largest_size_of_a_file(self):
        self.write("d", DATA)
        self.works("generate", "-q", "--like=url", "--scale=1e-3", "wide.bda")
        r = self.shell('ulimit -f 4; "$BDA" train -q --method=bda --max-rounds=1 wide.bda m')
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("'m'", r.stderr)
        self.assertIn("too large", r.stderr.lower())
        self.assertFalse(self.exists("m"))
        self.assertEqual(self.leftovers(), [])

    def test_signals_leave_no_temporary_files(self):
        process = self.start("generate", "-q", "--like=kddb", "--scale=0.1", "out")
        while process.poll() is None and not self.leftovers():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertFalse(self.exists("out"))
        self.assertEqual(self.leftovers(), [])

    def test_a_pipe_is_read_to_its_end(self):
        self.write("d", MANY)
        expected = [line for line in self.works("info", "d").stdout.splitlines() if "instances " in line]
        os.mkfifo(self.path("pipe"))

        def fill():
            with open(self.path("pipe"), "w") as pipe:
                pipe.write(MANY)

        threading.Thread(target=fill, daemon=True).start()
        got = [line for line in self.works("info", "pipe").stdout.splitlines() if "instances " in line]
        self.assertEqual(got, expected)
        self.assertIn("4000", got[0])

    def test_control_characters_are_not_printed(self):
        name = "d\033[31m"
        self.write(name, DATA)
        r = self.works("train", name, "m")
        self.assertNotIn("\033", r.stderr)
        self.assertNotIn("\033", self.works("info", name).stdout)
        self.assertNotIn("\033", self.fails(1, "train", name + "x", "m"))

    def test_a_launcher_that_started_ranks_which_are_alone(self):
        self.write("d", DATA)
        alone = {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
        warnings = self.shell('"$BDA" train -q d m', **alone).stderr
        self.assertEqual(warnings.count("SLURM_NTASKS is 4"), 1, warnings)
        self.assertIn("--mpi=pmix", warnings)
        for env in ({"SLURM_NTASKS": "4", "SLURM_PROCID": "1"}, {"SLURM_NTASKS": "1"}, {}):
            self.assertEqual(self.shell('"$BDA" train -q d m', **env).stderr, "")

    def test_probabilities_of_an_exported_softmax(self):
        self.write("d", "".join(f"{i % 3} {i % 3 + 1}:1\n" for i in range(30)))
        for loss, said in (("logistic", True), ("hinge", False)):
            self.works("train", "-q", "--loss=" + loss, "d", "m")
            r = self.works("export", "m", "liblinear")
            self.assertEqual("-b 1" in r.stderr, said, r.stderr)


class NotRoot(support.Case):
    """Root may write whatever the permissions say, so this is tried by somebody else."""
    NOBODY = 65534

    def setUp(self):
        super().setUp()
        self.write("a.svm", DATA)
        self.works("train", "-q", "--log=log", "a.svm", "model")
        self.works("predict", "-q", "--metrics=metrics", "model", "a.svm", "out")
        if os.geteuid() == 0:
            if self.as_user("--version").returncode != 0:
                self.skipTest("another user may not start the program")
            for name in (".", "a.svm", "log", "model", "metrics", "out"):
                os.chown(self.path(name), self.NOBODY, self.NOBODY)

    def as_user(self, *args):
        who = {"user": self.NOBODY, "group": self.NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            return subprocess.run([support.BDA, *args], cwd=self.directory, env=support.environment(0),
                                  capture_output=True, text=True, timeout=support.TIMEOUT, **who)
        except PermissionError:
            return subprocess.CompletedProcess(args, 126)

    def refused(self, name, *args):
        before = self.read(name)
        r = self.as_user(*args)
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn(f"'{name}'", r.stderr)
        self.assertIn("Permission denied", r.stderr)
        self.assertEqual(self.read(name), before)
        self.assertEqual(self.leftovers(), [])

    def test_files_that_may_not_be_written(self):
        """Told before the data is looked for, which is not there; files are not replaced behind their permissions."""
        for name in ("log", "model", "metrics", "out"):
            os.chmod(self.path(name), 0o444)
        self.refused("model", "train", "missing.svm", "model")
        self.refused("log", "train", "--log=log", "missing.svm", "new")
        self.refused("out", "predict", "model", "missing.svm", "out")
        self.refused("metrics", "predict", "--metrics=metrics", "model", "missing.svm", "new")
        self.assertFalse(self.exists("new"))

    def test_directories_that_may_not_be_written(self):
        os.chmod(self.directory, 0o555)
        r = self.as_user("train", "missing.svm", "new")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("'new'", r.stderr)
        self.assertIn("Permission denied", r.stderr)

    def test_data_that_may_not_be_read(self):
        os.chmod(self.path("a.svm"), 0)
        r = self.as_user("train", "a.svm", "new")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("a.svm: ", r.stderr)
        self.assertIn("Permission denied", r.stderr)
        self.assertFalse(self.exists("new"))


if __name__ == "__main__":
    support.main()

"""The command line: help, version, what is refused before any data is read, and how."""
import json
import os
import re
import shutil
import sys

import support

TRAIN = """task loss cost epsilon l1-ratio feature-penalty intercept bias scale multiclass class-weight weights start method gap gap-of max-rounds max-time
local-epochs a1 a2 line-search step tau beta hull accelerate history penalty balance relaxation blocks seed threads
threads-mode log quiet progress progress-every zero-based force no-scaling validate patience column
template trees labels min-count inference learning-epochs machine""".split()
OPTIONS = {
    "train": TRAIN + ["format", "label", "missing", "output", "checkpoint", "checkpoint-every", "resume"],
    "predict": ["format", "scores", "probability", "metrics", "threads", "quiet", "zero-based", "force"],
    "convert": ["format", "threads", "quiet", "zero-based", "force"],
    "generate": ["like", "scale", "seed", "format", "quiet", "force"],
    "export": ["format", "force"],
    "import": ["format", "force", "quiet"],
    "info": ["json", "top", "threads", "zero-based"],
    "select": ["folds", "costs", "l1-ratios", "score", "one-standard-error", "calibrate", "groups",
               "json", "format", "label", "missing", "output"] +
              [o for o in TRAIN if o not in "cost l1-ratio log start column template trees labels min-count validate "
               "patience".split()],
    "bench": """methods losses cost blocks ranks threads with gap max-rounds max-time repeat optimum no-reference output
                calibrate quiet""".split(),
    "report": ["output", "csv", "svg", "network", "optimum", "follow", "quiet", "force"],
}


class Help(support.Case):
    def test_help_lists_the_commands(self):
        r = self.works("--help")
        self.assertEqual(r.stderr, "")
        for command in OPTIONS:
            self.assertRegex(r.stdout, rf"\n  bda {command} ")

    def test_help_of_a_command_lists_its_options_and_no_others(self):
        for command, options in OPTIONS.items():
            r = self.works(command, "--help")
            self.assertEqual(r.stderr, "")
            listed = re.findall(r"^ +(?:-\w, +)?--([a-z0-9-]+)", r.stdout, re.M)
            self.assertEqual(sorted(listed), sorted(options + ["help", "version"]), command)
            self.assertEqual(self.works("help", command).stdout, r.stdout)
            self.assertLessEqual(max(map(len, r.stdout.split("\n"))), 110)
            self.assertEqual(len(re.findall(r"(?m)^  (?:mpirun -np \d+ )?bda ", r.stdout)), 3)

    def test_short_help(self):
        self.assertEqual(self.works("-h").stdout, self.works("--help").stdout)
        for command, options in OPTIONS.items():
            text = self.works(command, "-h").stdout
            self.assertEqual(sorted(set(re.findall(r"--([a-z0-9-]+)", text.split("\n\n", 2)[2])) - {"help"}),
                             sorted(options), command)
            self.assertLess(text.count("\n"), 32)

    def test_groups(self):
        text = self.works("train", "--help").stdout
        at = [text.index(f"\n{heading}:\n") for heading in
              "Examples Problem Data Stopping Output Parallel Methods Help".split()]
        self.assertEqual(at, sorted(at))
        self.assertLess(at[1], text.index("  -c, --cost="))
        self.assertLess(text.index("  -c, --cost="), at[2])

    def test_letters(self):
        text = self.works("train", "--help").stdout
        for letter, name in zip("tlcpbmq", "task loss cost epsilon bias method quiet".split()):
            self.assertRegex(text, rf"-{letter}, --{name}\b")

    def test_help_names_all_losses(self):
        text = " ".join(self.works("train", "--help").stdout.split())
        for task in ("classify", "regress"):
            refusal = self.fails(2, "train", f"--task={task}", "--loss=none", "d", "m")
            for loss in re.search(r"must be (.*) with", refusal).group(1).replace(" or ", ", ").split(", "):
                self.assertIn(loss, text)

    def test_version(self):
        for args in (["--version"], ["train", "--version"]):
            self.assertRegex(self.works(*args).stdout, r"^bda \d+\.\d+\.\d+\n$")

    def test_methods_are_listed_without_data(self):
        text = self.works("train", "--method=list").stdout
        for name in "auto bda disdca disdca-basic cocoa+ dsvm-ave prox-grad".split():
            self.assertRegex(text, rf"(?m)^{re.escape(name)} ")

    def test_help_to_a_full_disk(self):
        with open("/dev/full", "w") as full:
            pipe = support.subprocess.PIPE
            r = support.subprocess.run([support.BDA, "--help"], stdout=full, stderr=pipe, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("standard output", r.stderr)

    @support.unittest.skipUnless(support.has_launcher(), "no mpirun")
    def test_ranks_print_once(self):
        alone = self.works("train", "--help").stdout
        self.assertEqual(self.works("train", "--help", ranks=3).stdout, alone)
        self.fails(2, "train", "--cost=-1", "d", "m", ranks=3, says=["--cost"])


class Refused(support.Case):
    def setUp(self):
        super().setUp()
        self.write("d", "+1 1:1\n-1 2:1\n")

    def refused(self, *args, says=()):
        sentence = self.fails(2, *args, says=says)
        self.assertFalse(self.exists("m"))
        return sentence

    def test_words(self):
        self.fails(2, "frobnicate", says=["frobnicate"])
        self.fails(2, "--frobnicate", says=["--frobnicate"])
        self.assertEqual(self.bda().returncode, 2)
        for command, arguments in [("train", "DATA [MODEL]"), ("predict", "MODEL DATA [OUTPUT]"), ("info", "FILE"),
                                   ("export", "MODEL OUTPUT"), ("convert", "DATA OUTPUT")]:
            self.refused(command, says=[arguments])
        self.refused("train", "d", "m", "x", says=["'x'"])
        self.refused("train", "--frobnicate", "d", "m", says=["--frobnicate"])

    def test_near_words(self):
        self.fails(2, "trian", says=["'trian'", "`bda train'"])
        self.fails(2, "help", "predct", says=["`bda predict'"])
        for wrong, right in [("cots=3", "cost"), ("mehtod=bda", "method"), ("max_round", "max-rounds")]:
            self.refused("train", "--" + wrong, "d", "m", says=[f"did you mean --{right}?"])
        self.refused("predict", "--cost=3", "m", "d", says=["`bda train'"])
        self.refused("train", "--l=hinge", "d", "m", says=["--l ", "more than one"])
        self.assertNotIn("mean", self.refused("train", "--frobnicate", "d", "m"))

    def test_how_words_may_be_written(self):
        for words in (["-c", "3"], ["-c3"], ["-c=3"], ["--cost", "3"], ["--cost=3"], ["--cos=3"]):
            self.works("train", "--log=log", "-q", *words, "d", "m")
            self.assertEqual(self.log("log")[0]["cost"], 3)
        self.works("train", "-qc2", "--log=log", "d", "--", "m")
        self.assertEqual(self.log("log")[0]["cost"], 2)
        self.fails(2, "train", "--quiet=1", "d", "m", says=["--quiet", "no value"])
        self.fails(2, "train", "d", "m", "-c", says=["-c needs a value: -c C"])
        self.fails(2, "train", "d", "m", "--cost", says=["--cost needs a value: --cost=C"])

    def test_letters_of_liblinear(self):
        for words, says in [(("-s", "3"), "--loss=hinge"), (("-s7",), "--loss=logistic"),
                            (("-s", "11"), "--loss=squared-epsilon-insensitive"), (("-e", "0.1"), "--gap"),
                            (("-B", "1"), "--bias=1"), (("-w1", "5"), "--class-weight=LABEL:W"), (("-n", "4"), "--threads"),
                            (("-v", "5"), "`bda select --folds=N'"), (("-C",), "`bda select'")]:
            self.refused("train", *words, "d", "m", says=[f"-{words[0][1]};", "LIBLINEAR", says])
        self.fails(2, "predict", "-b", "1", "m", "d", says=["--probability"])

    def test_arguments_in_the_wrong_order(self):
        self.works("train", "-q", "d", "model")
        self.fails(2, "predict", "d", "model", says=["MODEL comes before DATA", "'model'", "'d'"])
        self.fails(2, "train", "model", "d", says=["'model' is a model"])

    def test_times(self):
        for text, seconds in [("90", 90), ("45s", 45), ("1.5h", 5400), ("1h30m", 5400), ("1d2h3m4s", 93784), ("0", 0)]:
            self.works("train", "-q", f"--max-time={text}", "--log=log", "d", "m", status=(0, 3))
            self.assertEqual(self.log("log")[0]["max_time"], seconds)
        for text in ["1x", "", "-1", "1h2", "30m1h", "h", "1hh", "inf", "nan", "1e999"]:
            self.fails(2, "train", f"--max-time={text}", "d", "m", says=["--max-time", f"'{text}'"])

    def test_threads_as_there_are_processors(self):
        self.works("train", "-q", "--threads=auto", "--log=log", "d", "m")
        alone = self.log("log")[0]["threads"]
        self.assertEqual(alone, min(len(os.sched_getaffinity(0)), os.cpu_count()))
        bound = "import os, sys; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1]); os.execv(sys.argv[1], sys.argv[1:])"
        support.subprocess.run([sys.executable, "-c", bound, support.BDA, "train", "-q", "--threads=auto", "--log=log", "d",
                                "m"], cwd=self.directory, env=support.environment(0), check=True)
        self.assertEqual(self.log("log")[0]["threads"], 1)

    def test_ranges(self):
        for option in ["cost=0", "cost=-1", "cost=nan", "cost=inf", "cost=abc", "cost=", "cost=1x", "epsilon=-1",
                       "gap=-1", "gap=nan", "max-rounds=-1", "max-rounds=1.5", "max-time=-1", "local-epochs=0",
                       "a2=-1", "tau=0", "tau=1", "beta=0", "beta=1", "blocks=0", "threads=0", "seed=-1", "bias=nan",
                       "a1=-1", "a1=x", "a1=nan", "class-weight=1", "class-weight=1:0", "class-weight=1:-2",
                       "class-weight=x:1", "class-weight=1:nan", "class-weight=unbalanced"]:
            name, value = option.split("=")
            self.refused("train", "--" + option, "d", "m", says=["--" + name, f"'{value}'"])

    def test_choices_are_listed(self):
        self.refused("train", "--task=guess", "d", "m", says=["classify", "regress", "tag", "'guess'"])
        self.refused("train", "--loss=hunge", "d", "m", says=["hinge", "squared-hinge", "logistic", "'hunge'"])
        self.refused("train", "--method=x", "d", "m", says=["bda", "disdca", "'x'"])
        self.refused("train", "--line-search=x", "d", "m", says=["exact", "backtracking", "none"])
        self.refused("train", "--progress=x", "d", "m", says=["auto", "always", "never"])
        self.refused("export", "--format=x", "d", "m", says=["liblinear"])
        self.refused("generate", "--like=x", "m", says=["webspam", "url", "kddb", "rcv1", "'x'"])
        self.refused("generate", "m", says=["--like"])

    def test_what_does_not_fit_together(self):
        self.refused("train", "--task=regress", "--loss=hinge", "d", "m", says=["hinge", "squared-error"])
        self.refused("train", "--loss=squared-error", "d", "m", says=["squared-error", "logistic"])
        self.refused("train", "--step=1", "d", "m", says=["--step", "--line-search=none"])
        self.refused("train", "--tau=0.1", "--line-search=exact", "d", "m", says=["--tau", "backtracking"])
        self.refused("train", "--beta=0.1", "--line-search=none", "d", "m", says=["--beta", "backtracking"])
        self.refused("train", "--task=regress", "--class-weight=1:2", "d", "m", says=["--class-weight"])
        self.refused("train", "--class-weight=balanced", "--class-weight=1:2", "d", "m", says=["balanced"])
        self.refused("train", "--class-weight=1:3", "--class-weight=1:2", "d", "m", says=["--class-weight"])
        self.refused("train", "--a1=0", "--a2=0", "d", "m", says=["--a1", "--a2"])

    def test_checkpoints_need_a_file(self):
        for option in ["checkpoint-every=5", "resume"]:
            self.refused("train", "--" + option, "d", "m", says=["--" + option.split("=")[0], "--checkpoint=FILE"])
        self.refused("train", "--checkpoint=x", "--checkpoint-every=often", "d", "m", says=["checkpoint-every", "often"])


class Progress(support.Case):
    def test_lines_where_there_is_no_terminal(self):
        self.write("d", support.libsvm(support.problem(noise=0.3)))
        endless = ["--gap=0", "--max-rounds=1000000000", "--max-time=1.5", "--method=dsvm-ave", "--blocks=7", "--loss=hinge"]
        lines = self.works("train", *endless, "--progress-every=0.1", "d", "m", status=(3,)).stderr.split("\n")
        told = [line for line in lines if "time left" in line]
        self.assertGreaterEqual(len(told), 1)
        self.assertRegex(told[-1], r"^bda train: time left: \S+.*  round \d+  objective .*  gap .* s so far$")
        for quiet in (["--progress=never", "--progress-every=0.1"], [], ["-q", "--progress-every=0.1"]):
            self.assertNotIn("time left", self.works("train", *endless, *quiet, "d", "m", status=(3,)).stderr)

    def test_the_last_line_says_whether_the_bits_return(self):
        self.write("d", support.libsvm(support.problem(rows=3000, features=40, nonzeros=25, noise=0.3)))
        shared = self.works("train", "--threads=2", "--loss=hinge", "--method=hull", "--threads-mode=lock-free", "d", "m")
        self.assertIn("not bit-reproducible", shared.stderr)
        for words in (["--threads=2", "--threads-mode=blocks"], []):
            self.assertNotIn("reproducible", self.works("train", "--loss=hinge", *words, "d", "m").stderr)


class Described(support.Case):
    def test_pages_and_completions_have_every_option(self):
        described = json.loads(self.write_description())
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "generate-docs")
        support.subprocess.run([sys.executable, tool, self.path("json"), self.path("share")], check=True)
        self.assertEqual({c["name"] for c in described["commands"]}, set(OPTIONS))
        bash = self.read("share/bash-completion/completions/bda").decode()
        zsh = self.read("share/zsh/site-functions/_bda").decode()
        fish = self.read("share/fish/vendor_completions.d/bda.fish").decode()
        for command, options in OPTIONS.items():
            page = self.read(f"share/man/man1/bda-{command}.1").decode()
            for name in options:
                self.assertIn("\\-\\-" + name.replace("-", "\\-") + "\\fR", page)
                self.assertRegex(bash, rf"{command}\) options='[^\n]*--{name}[ =]")
                self.assertIn(f"--{name}", zsh)
                self.assertIn(f"from {command}' -l {name} ", fish)

    def reads(self, shell, script):
        if not shutil.which(shell):
            self.skipTest("no " + shell)
        self.test_pages_and_completions_have_every_option()
        support.subprocess.run([shell, "-n", self.path("share/" + script)], check=True)

    def test_bash_reads_its_completions(self):
        self.reads("bash", "bash-completion/completions/bda")

    def test_zsh_reads_its_completions(self):
        self.reads("zsh", "zsh/site-functions/_bda")

    def test_fish_reads_its_completions(self):
        self.reads("fish", "fish/vendor_completions.d/bda.fish")

    @support.unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_reads_the_pages(self):
        self.test_pages_and_completions_have_every_option()
        for page in os.listdir(self.path("share/man/man1")):
            r = support.subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", self.path("share/man/man1/" + page)],
                                       capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stderr), (0, ""), page)

    def write_description(self):
        text = self.works("--describe").stdout
        self.write("json", text)
        return text

    @support.unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_completion_of_bash(self):
        self.test_pages_and_completions_have_every_option()
        ask = r"""source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo "$2"; }; _bda
            printf '%s\n' "${COMPREPLY[@]}"; complete -p bda"""
        self.write("a file", "")
        for words, expected in [(["tr"], ["train"]), (["train", "--los"], ["nospace", "--loss="]), (["train", "a "], ["filenames", "a file"]),
                                (["train", "--gap-of", "=", "s"], ["start"]),
                                (["train", "--method", "=", "new"], ["newton"]), (["help", "exp"], ["export"])]:
            r = support.subprocess.run(["bash", "-c", ask, "ask", self.path("share/bash-completion/completions/bda"), "bda",
                                        *words], capture_output=True, text=True, check=True, cwd=self.directory)
            # readline quotes what it takes for names of files: = and all
            self.assertEqual(r.stdout.splitlines(), expected + ["complete -F _bda bda"])


if __name__ == "__main__":
    support.main()

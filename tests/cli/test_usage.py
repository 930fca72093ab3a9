"""The command line: help, version, what is refused before any data is read, and how."""
import re

import support

TRAIN = """task loss cost epsilon l1-ratio feature-penalty bias class-weight method gap max-rounds max-time
local-epochs a1 a2 line-search step tau beta hull accelerate history penalty balance relaxation blocks seed threads
threads-mode log quiet progress zero-based""".split()
OPTIONS = {
    "train": TRAIN,
    "predict": ["scores", "probability", "metrics", "threads", "quiet", "zero-based"],
    "convert": ["format", "threads", "quiet", "zero-based"],
    "generate": ["like", "scale", "seed", "format", "quiet"],
    "export": ["format"],
    "info": ["threads", "zero-based"],
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
            listed = re.findall(r"^ +(?:-\w, +|-\?, +)?--([a-z0-9-]+)", r.stdout, re.M)
            self.assertEqual(sorted(listed), sorted(options + ["help", "usage", "version"]), command)

    def test_short_help(self):
        self.assertEqual(self.works("-h").stdout, self.works("--help").stdout)
        self.assertEqual(self.works("train", "-h").stdout, self.works("train", "--help").stdout)

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

    def test_ranges(self):
        for option in ["cost=0", "cost=-1", "cost=nan", "cost=inf", "cost=abc", "cost=", "cost=1x", "epsilon=-1",
                       "gap=-1", "gap=nan", "max-rounds=-1", "max-rounds=1.5", "max-time=-1", "local-epochs=0",
                       "a2=-1", "tau=0", "tau=1", "beta=0", "beta=1", "blocks=0", "threads=0", "seed=-1", "bias=nan",
                       "a1=-1", "a1=x", "a1=nan", "class-weight=1", "class-weight=1:0", "class-weight=1:-2",
                       "class-weight=x:1", "class-weight=1:nan", "class-weight=unbalanced"]:
            name, value = option.split("=")
            self.refused("train", "--" + option, "d", "m", says=["--" + name, f"'{value}'"])

    def test_choices_are_listed(self):
        self.refused("train", "--task=tag", "d", "m", says=["classify", "regress", "'tag'"])
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

    def test_options_of_features_that_are_not_there(self):
        for option in ["checkpoint=x", "resume", "column=upos"]:
            self.refused("train", "--" + option, "d", "m", says=["--" + option.split("=")[0]])


if __name__ == "__main__":
    support.main()

"""The whole command, from the file to the model, to a relative primal accuracy of 1e-3; and peak memory.

Both programs get the loosest of a row of tolerances with which their model is that good. Models are valued here, from
the text of the data and the weights, with numpy; the optimum is that of a run of ours whose gap certifies it. The
valuing is done by a process of its own: the system counts the memory of whoever starts a program into that program's
peak.
"""
import os
import subprocess
import sys
import tempfile

import tools

ACCURACY = 1e-3
THEIR_EPS = (3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)
OUR_GAP = (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6)


class Judge:
    """Asks the other process."""

    def __init__(self, path):
        self.path = path
        self.process = subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise tools.Missing("python3-sklearn is not installed")

    def value(self, model, loss):
        self.process.stdin.write(f"{model}\t{loss}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve(path):
    """The other process: a line with a model and a loss comes in, the primal value goes out."""
    import numpy
    from sklearn.datasets import load_svmlight_file
    X, y = load_svmlight_file(path)
    y = 2.0 * (y == y.max()) - 1
    print("ready", flush=True)
    for line in sys.stdin:
        model, loss = line.rstrip("\n").split("\t")
        with open(model) as f:
            lines = f.read().split("\n")
        at = lines.index("w")
        labels = next(text.split()[1:] for text in lines[:at] if text.startswith("label"))
        w = numpy.zeros(X.shape[1])
        weights = [float(x) for x in lines[at + 1:] if x.strip()][:len(w)]
        w[:len(weights)] = weights
        m = y * (X @ w) * (1 if float(labels[0]) > float(labels[1]) else -1)
        short = numpy.maximum(1 - m, 0)
        losses = {"hinge": short, "squared-hinge": short * short, "logistic": numpy.logaddexp(0, -m)}[loss]
        print(repr(float(w @ w / 2 + losses.sum())), flush=True)


def first_good(settings, attempt, good):
    for setting in settings:
        result = attempt(setting)
        if good():
            return setting, result
    return None, None


def row(judge, name, loss, ranks, best, theirs, d):
    model, text = os.path.join(d, "model"), os.path.join(d, "text")

    def attempt(gap):
        r = tools.train(judge.path, f"--loss={loss}", f"--gap={gap}", ranks=ranks, model=model)
        tools.bda("export", "--format=liblinear", model, text)
        return r

    gap, one = first_good(OUR_GAP, attempt, lambda: judge.value(text, loss) <= best * (1 + ACCURACY))
    if gap is None:
        return [name, loss, str(ranks), theirs.seconds, "not reached", "", "", "", ""]
    ours = tools.fastest([one] + [attempt(gap) for _ in range(tools.REPEATS - 1)])
    return [name, loss, str(ranks), theirs.seconds, ours.seconds, ours.seconds / theirs.seconds,
            tools.mega(theirs.rss), tools.mega(ours.end["peak_rss_bytes"]), ours.end["peak_rss_bytes"] / theirs.rss]


def run(options):
    rows = []
    for name in options.shapes:
        judge = Judge(tools.generated(name))
        for loss in options.losses:
            with tempfile.TemporaryDirectory() as d:
                model = os.path.join(d, "theirs")
                tight = tools.train(judge.path, f"--loss={loss}", "--gap=1e-6", "--max-rounds=10000")
                best = -tight.end["dual"]
                eps, one = first_good(THEIR_EPS, lambda e: tools.liblinear(judge.path, loss, e, model),
                                      lambda: judge.value(model, loss) <= best * (1 + ACCURACY))
                if eps is None:
                    raise tools.Missing(f"liblinear-train does not reach the accuracy on {name} {loss}")
                theirs = tools.fastest([one] + [tools.liblinear(judge.path, loss, eps, model)
                                                for _ in range(tools.REPEATS - 1)])
                rows += [row(judge, name, loss, ranks, best, theirs, d) for ranks in (1, 2)]
        judge.close()
    tools.table("Whole command to accuracy 1e-3: seconds, ratio to liblinear-train, and peak memory of a process",
                ["data", "loss", "ranks", "liblinear", "ours", "ratio", "its memory", "ours ", "ratio "], rows)


if __name__ == "__main__":
    try:
        serve(sys.argv[1])
    except ImportError:
        sys.exit(1)

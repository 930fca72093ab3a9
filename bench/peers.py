"""Seconds after loading to a relative primal accuracy, C = 1, beside liblinear-train's dual and primal solvers.

Ours end with the first round of the log whose primal value is good enough; theirs when the model is written that the
widest good tolerance gives. Runs take turns, and medians are compared as well as minima, for a machine that
does other work as well disturbs the faster of two by more.
"""
import math
import os
import statistics
import tempfile

import tools
import whole

ROWS = [("imdb", "hinge", 1e-3), ("imdb", "hinge", 1e-6), ("imdb", "squared-hinge", 1e-4), ("imdb", "logistic", 1e-4),
        ("newsgroups-bin", "squared-hinge", 1e-4), ("newsgroups-bin", "hinge", 1e-3), ("a9a", "squared-hinge", 1e-4),
        ("w8a", "logistic", 1e-4)]
SOLVERS = {"hinge": ("3",), "squared-hinge": ("1", "2"), "logistic": ("7", "0")}
RANKS = (1, 2)


def theirs(path, loss, solver, eps, model):
    r = tools.liblinear(path, loss, eps, model, solver=solver)
    return (r.seconds if math.isnan(r.solved) else r.solved) - r.loaded


def ours(path, loss, ranks, accuracy, best, gap):
    log = tools.train(path, f"--loss={loss}", f"--gap={gap:.3g}", ranks=ranks)
    return next(r["seconds"] for r in log.rounds if r["primal"] <= best * (1 + accuracy))


def compare(name, path, loss, accuracy):
    best, start = tools.optimum(path, f"--loss={loss}")
    judge = whole.Judge(path)
    runs = {}
    with tempfile.TemporaryDirectory() as d:
        model = os.path.join(d, "model")
        for solver in SOLVERS[loss]:
            eps, _ = whole.first_good(whole.THEIR_EPS, lambda e: theirs(path, loss, solver, e, model),
                                      lambda: judge.value(model, loss) <= best * (1 + accuracy))
            if eps is not None:
                runs["-s " + solver] = lambda s=solver, e=eps: theirs(path, loss, s, e, model)
        for ranks in RANKS:
            runs[ranks] = lambda n=ranks: ours(path, loss, n, accuracy, best, accuracy * best / start)
        seconds = {run: [] for run in runs}
        for _ in range(tools.REPEATS):
            for run, timed in runs.items():
                seconds[run].append(timed())
    judge.close()
    peer = min((run for run in runs if run not in RANKS), key=lambda run: statistics.median(seconds[run]))
    out = []
    for ranks in RANKS:
        row = [name, loss, f"{accuracy:g}", str(ranks), peer]
        for value in (min, statistics.median):
            row += [value(seconds[peer]), value(seconds[ranks]), value(seconds[ranks]) / value(seconds[peer])]
        out.append(row)
    return out


def run(_options):
    tools.need("liblinear-train")
    sets = tools.real_sets(sorted({name for name, _, _ in ROWS}))
    if not sets:
        raise tools.Missing("no data sets at hand")
    rows = [row for name, loss, accuracy in ROWS if name in sets
            for row in compare(name, sets[name], loss, accuracy)]
    tools.table("Seconds after loading to a relative primal accuracy", ["data", "loss", "accuracy", "ranks",
                "liblinear", "least", "ours", "ratio", "median", "ours ", "ratio "], rows)

"""`auto` beside every other method and liblinear-train: seconds from the start of the command to a primal accuracy, at
1 and 2 ranks. Ours are loading plus the seconds of the log's first round that is accurate; liblinear-train's are those
of the whole command with the widest tolerance that is good enough, so that none pays for stopping late.

A method that needs three times as long as `auto` is given up.
"""
import os
import tempfile

import methods
import tools
import whole

ACCURACIES = (1e-3, 1e-5)
SETS = ["imdb", "newsgroups-bin", "rcv1-small", "debian-dev", "a9a", "w8a", "magic04", "spambase"]


def seconds_to(log, best):
    """[seconds to each accuracy], infinite where it was not reached."""
    out = []
    for accuracy in ACCURACIES:
        good = next((r for r in log.rounds if r["best_primal"] - best <= accuracy * best), None)
        out.append(log.start["load_seconds"] + good["seconds"] if good else float("inf"))
    return out


def measure(path, loss, ranks, best, start, method, limit):
    """(seconds to each accuracy, what it chose); None where the method does not serve."""
    least, choice = None, ""
    for _ in range(tools.REPEATS):
        try:
            log = tools.train(path, f"--loss={loss}", f"--method={method}", f"--max-time={limit:.3g}",
                              "--max-rounds=100000", f"--gap={ACCURACIES[-1] * best / start:.3g}", ranks=ranks)
        except RuntimeError as error:
            if "would do" in str(error):
                return None
            raise
        now = seconds_to(log, best)
        least = now if least is None else [min(a, b) for a, b in zip(least, now)]
        choice = log.start.get("choice", "")
    return least, choice


def liblinear_seconds(path, loss, best):
    """[seconds to each accuracy]; infinite where no tolerance is good enough."""
    out = []
    judge = whole.Judge(path)
    with tempfile.TemporaryDirectory() as d:
        model = os.path.join(d, "model")
        for accuracy in ACCURACIES:
            eps, one = whole.first_good(whole.THEIR_EPS, lambda e: tools.liblinear(path, loss, e, model),
                                        lambda: judge.value(model, loss) <= best * (1 + accuracy))
            out.append(float("inf") if eps is None else
                       tools.fastest([one] + [tools.liblinear(path, loss, eps, model)
                                              for _ in range(tools.REPEATS - 1)]).seconds)
    judge.close()
    return out


def compare(name, path, loss, rows):
    best, start = tools.optimum(path, loss)
    peer = liblinear_seconds(path, loss, best)
    for ranks in (1, 2):
        ours, choice = measure(path, loss, ranks, best, start, "auto", 300)
        others = {}
        for method in methods.names():
            got = measure(path, loss, ranks, best, start, method, 3 * min(ours[-1], 100) + 0.1)
            if got:
                others[method] = got[0]
        for k, accuracy in enumerate(ACCURACIES):
            rival = min(others, key=lambda m: others[m][k])
            rows.append([name, loss, str(ranks), f"{accuracy:g}", choice, ours[k], rival, others[rival][k],
                         ours[k] / others[rival][k], peer[k], ours[k] / peer[k]])


def run(options):
    rows = []
    for name, path in (tools.real_sets(SETS) or {"like rcv1": tools.generated("rcv1", 0.02)}).items():
        for loss in options.losses:
            compare(name, path, loss, rows)
    tools.table("Seconds to a relative primal accuracy, loading included",
                ["data", "loss", "ranks", "accuracy", "auto is", "auto", "best other", "its seconds", "ratio",
                 "liblinear", "ratio "], rows)

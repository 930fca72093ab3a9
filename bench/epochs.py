"""One epoch of coordinate descent, beside liblinear's.

liblinear-train cannot be told how many passes to make, but prints how many it made. A run with a huge tolerance
makes one; a row of tighter ones finds a run of a few. With T the seconds from the end of loading to the end of the
process, (T(k) - T(1)) / (k - 1) is the time of one of its passes 2 .. k: set-up and saving cancel. Its shrinking works
from the second pass on and makes those passes cheaper than full ones: the ratio is, if anything, unkind to us.
Ours is local_seconds over epochs (cells visited over cells held) of the rounds 2 .. k, with shrinking as it comes.
"""
import tools


def after_loading(r):
    return r.seconds - r.loaded


def few_passes(path, loss):
    """A run of liblinear with at least 4 passes, its tolerance, and the number of passes."""
    for eps in (1.5, 0.7, 0.3, 0.1, 0.03):
        r = tools.liblinear(path, loss, eps, quiet=False)
        if tools.iterations(r) >= 4:
            return r, eps, tools.iterations(r)
    raise tools.Missing("no tolerance makes liblinear-train pass over the data a few times")


def theirs(path, loss):
    r, eps, k = few_passes(path, loss)
    one = min(map(after_loading, tools.liblinear_one_pass(path, loss)))
    more = [r] + [tools.liblinear(path, loss, eps) for _ in range(tools.REPEATS - 1)]
    return (min(map(after_loading, more)) - one) / (k - 1), k


def ours(path, loss, k):
    """Seconds and passes of the first epoch, and of the rounds 2 .. k."""
    first, later = [], []
    for _ in range(tools.REPEATS):
        rounds = tools.train(path, "--method=bda", f"--loss={loss}", "--gap=1e-12", f"--max-rounds={k}").rounds
        first.append(rounds[1]["local_seconds"] / rounds[1]["epochs"])
        later.append(sum(r["local_seconds"] for r in rounds[2:]) / (len(rounds) - 2))
    return min(first), min(later), rounds


def run(options):
    rows = []
    for name in options.shapes:
        path = tools.generated(name)
        for loss in options.losses:
            peer, k = theirs(path, loss)
            first, later, rounds = ours(path, loss, k)
            visited = sum(r["epochs"] for r in rounds[2:]) / (len(rounds) - 2)
            rows.append([name, loss, f"2..{k}", peer, later, later / peer, f"{visited:.0%}", first / peer])
    tools.table("Coordinate descent: seconds of a pass over the data, and ratio to liblinear's (below 1 is faster)",
                ["data", "loss", "passes", "liblinear", "ours", "ratio", "cells visited", "our first, all cells"],
                rows)

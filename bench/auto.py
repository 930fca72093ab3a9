"""`auto` beside every other method: seconds to a gap that certifies an accuracy relative to the optimum, at 1 and 2 ranks,
loading included. A method that needs a tenth longer than `auto` is given up; those that are left take turns with it, so
that what else the machine does strikes all alike, and medians are compared. Where `auto` seems to be behind there are
more turns.

The cells in which `auto` is 15 % and 5 ms behind the best are listed again at the end. BDA_BENCH_SETS names data sets,
BDA_BENCH_METHODS methods, where not all are wanted.
"""
import os
import statistics

import methods
import tools

ACCURACIES = (1e-3, 1e-5)
COSTS = (1, 0.01)
SMOOTH_OR_NOT = ["epsilon-insensitive", "squared-epsilon-insensitive", "squared-error"]
SETS = {
    "classify": ["imdb", "newsgroups-bin", "rcv1-small", "debian-dev", "a9a", "w8a", "magic04", "spambase"],
    "regress": ["housing_scale", "cadata-scale", "imdb-rating"],
    "multiclass": ["dna", "letter", "newsgroups20", "mnist-scale"],
}
RATIO, SECONDS = 1.15, 0.005  # behind the best by more than both: listed again
RIVALS = 2                    # that take turns with auto
LONG = 1                      # seconds of a run from which on fewer turns will do
MORE_TURNS = 7                # where auto seems to be behind


def problems(losses):
    """(data, its path, options) of the data sets at hand; of a generated one where there are none"""
    wanted = os.environ.get("BDA_BENCH_SETS", "").split(",")
    some = {"classify": losses, "regress": SMOOTH_OR_NOT, "multiclass": losses}
    found = False
    for kind, names in SETS.items():
        names = [name for name in names if name in wanted or wanted == [""]]
        for name, path in tools.real_sets(names).items():
            found = True
            for loss in some[kind]:
                for cost in COSTS:
                    task = "regress" if kind == "regress" else "classify"
                    yield name, path, (f"--task={task}", f"--loss={loss}", f"--cost={cost}")
    for loss in [] if found else losses:
        yield "like rcv1", tools.generated("rcv1", 0.02), ("--task=classify", f"--loss={loss}", "--cost=1")


def measure(path, options, ranks, gap, method, limit):
    """(seconds, what it chose); None where the method does not serve; infinite seconds where it is given up."""
    try:
        log = tools.train(path, *options, f"--method={method}", f"--max-time={limit:.3g}", "--max-rounds=100000",
                          f"--gap={gap:.3g}", ranks=ranks)
    except RuntimeError as error:
        if "would do" in str(error):
            return None
        raise
    choice = log.rounds[-1].get("choice", log.start.get("choice", ""))
    seconds = log.start["load_seconds"] + log.end["seconds"]
    return (seconds if log.end["reason"] == "gap" else float("inf")), choice


def is_behind(ours, theirs):
    return ours > RATIO * theirs and ours - theirs > SECONDS


def rivals_wanted():
    some = os.environ.get("BDA_BENCH_METHODS")
    return some.split(",") if some else methods.names()


def compare(path, options, ranks, gap):
    """[what auto is, its seconds, the best other, its seconds, ratio, ratio of minima]"""
    seconds = {"auto": []}
    for _ in range(2):
        ours, choice = measure(path, options, ranks, gap, "auto", 300)
        seconds["auto"].append(ours)
    limit = 1.1 * min(seconds["auto"]) + 0.02
    for method in rivals_wanted():
        got = measure(path, options, ranks, gap, method, limit)
        if got and got[0] < limit:
            seconds[method] = [got[0]]
    rivals = sorted((m for m in seconds if m != "auto"), key=lambda m: seconds[m][0])[:RIVALS]

    def turns(count):
        nonlocal choice
        for _ in range(count):
            for method in ["auto"] + rivals:
                got, what = measure(path, options, ranks, gap, method, 300)
                seconds[method].append(got)
                choice = what if method == "auto" else choice

    def medians():
        best = min(rivals, key=lambda m: statistics.median(seconds[m]))
        return best, statistics.median(seconds["auto"]), statistics.median(seconds[best])
    turns(tools.REPEATS if min(seconds["auto"]) < LONG else 1)
    if not rivals:
        return [choice, statistics.median(seconds["auto"]), "-", float("inf"), 0.0, 0.0]
    if is_behind(*medians()[1:]):
        turns(MORE_TURNS)
    rival, ours, theirs = medians()
    return [choice, ours, rival, theirs, ours / theirs, min(seconds["auto"]) / min(seconds[rival])]


def run(options):
    columns = ["data", "loss", "C", "ranks", "accuracy", "auto is", "auto", "best other", "its seconds", "ratio",
               "of minima"]
    rows = []
    for name, path, more in problems(options.losses):
        best, start = tools.optimum(path, *more)
        here = []
        for accuracy in ACCURACIES:
            for ranks in (1, 2):
                here.append([name, more[1][7:], more[2][7:], str(ranks), f"{accuracy:g}",
                             *compare(path, more, ranks, accuracy * best / start)])
        tools.table("Seconds to a certified relative accuracy, loading included", columns, here)
        rows += here
    tools.table(f"Of these, where auto is {RATIO:g} times and {SECONDS:g} s behind", columns,
                [row for row in rows if is_behind(row[6], row[8])])

"""2 ranks and 2 threads beside 1 of each, with `auto`: seconds to a gap that certifies an accuracy relative to the
optimum, loading included, of what takes longer than a second. The three take turns, each turn with a seed of its own:
the passes that are needed depend on it by a third and more. BDA_BENCH_SETS names data sets, where not all are wanted.
"""
import statistics

import auto
import tools

WAYS = {"1": (1, ()), "2 ranks": (2, ()), "2 threads": (1, ("--threads=2",))}
MOST_SECONDS = 300  # of a run; more count as endless


def seconds(path, options, gap, ranks, more):
    return auto.measure(path, (*options, *more), ranks, gap, "auto", MOST_SECONDS)[0]


def run(options):
    columns = ["data", "loss", "C", "accuracy"] + list(WAYS) + ["ratios of medians", "of minima"]
    for name, path, more in auto.problems(options.losses):
        best, start = tools.optimum(path, *more)
        rows = []
        for accuracy in auto.ACCURACIES:
            gap = accuracy * best / start
            if seconds(path, more, gap, *WAYS["1"]) < auto.LONG:
                continue
            taken = {way: [] for way in WAYS}
            for turn in range(tools.REPEATS):
                for way, (ranks, threads) in WAYS.items():
                    taken[way].append(seconds(path, more, gap, ranks, (*threads, f"--seed={turn + 1}")))
            medians = [statistics.median(t) for t in taken.values()]
            minima = [min(t) for t in taken.values()]
            rows.append([name, more[1][7:], more[2][7:], f"{accuracy:g}", *medians,
                         *(" ".join(f"{t / m[0]:.2f}" for t in m[1:]) for m in (medians, minima))])
        if rows:
            tools.table("Seconds at 1 rank and thread, 2 ranks, 2 threads; then those of the last two to the first",
                        columns, rows)

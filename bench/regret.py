"""The regret of `auto`: its training time over that of the best method, for every data set, loss, cost, gap and number of
ranks where the best takes LEAST seconds and more. The geometric mean and the largest are what counts.

One rank is measured in processor time, which other programs on the machine change little, less what reading takes; several
ranks by the clock. Methods take turns, and the best of BDA_BENCH_REPEATS runs counts; one that needs HOPELESS times as long
as auto is not run again. BDA_BENCH_SETS names data sets, BDA_BENCH_METHODS methods, BDA_BENCH_RANKS numbers of ranks (1,2),
and BDA_BENCH_MACHINE a table for --machine. Every cell is printed as soon as it is known.
"""
import math
import os
import resource

import auto
import methods
import tools

COSTS = (0.01, 1, 100)
GAPS = (1e-3, 1e-5)
LEAST = 0.05
HOPELESS = 1.3
LIMIT = 60  # seconds of auto
ONLY = ("average", "perceptron", "momentum", "disdca-basic", "dsvm-ave", "prox-grad", "cocoa+", "admm")  # never the fastest


def ranks_wanted():
    return [int(r) for r in os.environ.get("BDA_BENCH_RANKS", "1,2").split(",")]


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def attempt(path, options, ranks, gap, method, limit):
    """(seconds, infinite where the gap was not reached; what auto chose); None where the method does not serve."""
    machine = os.environ.get("BDA_BENCH_MACHINE")
    more = [f"--machine={machine}"] if machine and method == "auto" else []
    slack = max(2 * os.getloadavg()[0] / os.cpu_count(), 1) if ranks == 1 else 1  # limits are by the clock
    before = processor_seconds()
    try:
        log = tools.train(path, *options, *more, "--gap-of=objective", f"--gap={gap:g}", f"--method={method}",
                          f"--max-time={slack * limit:.3g}", "--max-rounds=1000000", ranks=ranks)
    except RuntimeError as error:
        if "would do" in str(error):
            return None
        raise
    used = processor_seconds() - before if ranks == 1 else log.end["seconds"]
    return used if log.end["reason"] == "gap" else math.inf, log.rounds[-1].get("choice") or log.start.get("choice", "")


def reading_seconds(path, options):
    """Of one rank, the problem set up but not trained."""
    def once():
        before = processor_seconds()
        tools.train(path, *options, "--max-rounds=0", "--method=bda")
        return processor_seconds() - before
    return min(once() for _ in range(tools.REPEATS))


def rivals():
    some = os.environ.get("BDA_BENCH_METHODS")
    return some.split(",") if some else [m for m in methods.names() if m not in ONLY]


def compare(path, options, ranks, gap, reading):
    """(what auto is, its seconds, the best method, its seconds); None where auto does not arrive within LIMIT."""
    best = {}

    def turn(method, limit):
        got = attempt(path, options, ranks, gap, method, limit)
        if got is None:
            return None
        best[method] = min(best.get(method, math.inf), max(got[0] - reading, 1e-4))
        return got[1]
    choice = turn("auto", LIMIT)
    if math.isinf(best["auto"]):
        return None
    for method in rivals():
        turn(method, 2 * best["auto"] + 0.1)
    for _ in range(tools.REPEATS - 1):
        turn("auto", LIMIT)
        for method in [m for m in best if m != "auto" and best[m] < HOPELESS * best["auto"] + 0.005]:
            turn(method, 2 * best["auto"] + 0.1)
    others = [m for m in best if m != "auto" and math.isfinite(best[m])]
    rival = min(others, key=best.get) if others else "-"
    return choice, best["auto"], rival, best.get(rival, math.inf)


def problems(losses):
    """(name, path, options)"""
    auto.COSTS = COSTS
    return auto.problems(losses)


def run(options):
    ratios = []
    print(f"\nSeconds of training to a relative gap; auto over the best, where that takes {LEAST} s and more")
    for name, path, more in problems(options.losses):
        path = tools.converted(path)
        reading = reading_seconds(path, more)
        for gap in GAPS:
            for ranks in ranks_wanted():
                got = compare(path, more, ranks, gap, reading if ranks == 1 else 0)
                cell = f"{name:15} {more[1][7:]:28} C={more[2][7:]:5} gap={gap:g} ranks={ranks}"
                if got is None:
                    print(f"  {cell}  auto did not arrive in {LIMIT} s", flush=True)
                    continue
                choice, ours, rival, theirs = got
                counts = min(ours, theirs) >= LEAST
                ratio = ours / min(theirs, ours)
                ratios += [(ratio, cell)] if counts else []
                print(f"  {cell}  auto ({choice}) {ours:.3f}  {rival} {theirs:.3f}  {ratio:.2f}{'' if counts else ' (short)'}",
                      flush=True)
    if ratios:
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
        print(f"\n{len(ratios)} cells: geometric mean {mean:.3f}, largest {max(ratios)[0]:.2f} ({max(ratios)[1].strip()})")
        for ratio, cell in sorted(ratios, reverse=True)[:10]:
            print(f"  {ratio:.2f}  {cell}")

"""Rounds to a dual accuracy with K = 16 blocks, method by method; and rounds at 1 and 2 ranks to a primal accuracy.

Rounds do not depend on the machine. The optimum is that of a run with one block and a tight gap.
"""
import tools

METHODS = ["bda", "disdca", "cocoa+", "dsvm-ave", "prox-grad"]
MOST = 1000
ACCURACIES = (1e-2, 1e-3)


def first(rounds, good):
    """Number of the first round that is good, as text; "> t" where time or rounds ran out at t."""
    reached = next((r["round"] for r in rounds if good(r)), None)
    return f"> {rounds[-1]['round']}" if reached is None else str(reached)


def data_sets():
    found = tools.real_sets(["rcv1-small", "newsgroups-bin"])
    return found or {"like rcv1": tools.generated("rcv1", 0.02)}


def by_method(options, name, path):
    rows = []
    for loss in options.losses:
        best, start = tools.optimum(path, f"--loss={loss}")
        enough = ACCURACIES[-1] * best / start  # a gap that certifies the accuracy
        logs = [tools.train(path, f"--loss={loss}", f"--method={method}", "--blocks=16", f"--gap={enough:.3g}",
                            f"--max-rounds={MOST}", "--max-time=12").rounds for method in METHODS]
        for accuracy in ACCURACIES:
            def good(r):
                return r["dual"] + best <= accuracy * best
            rows.append([loss, f"{accuracy:g}", *(first(log, good) for log in logs)])
    tools.table(f"Rounds to a relative dual accuracy with 16 blocks: {name}", ["loss", "accuracy", *METHODS], rows)


def by_ranks(options):
    rows = []
    for name, path in tools.real_sets(["a9a", "imdb", "newsgroups-bin"]).items():
        for loss in options.losses:
            best, start = tools.optimum(path, f"--loss={loss}")
            accuracy = 1e-3 if loss == "hinge" else 1e-4
            row = [name, loss, f"{accuracy:g}"]
            for ranks in (1, 2):
                log = tools.train(path, f"--loss={loss}", f"--gap={accuracy * best / start / 2:.3g}",
                                  f"--max-rounds={MOST}", "--max-time=5", "--method=bda", ranks=ranks).rounds
                row.append(first(log, lambda r: r["primal"] - best <= accuracy * best))
            rows.append(row)
    if rows:
        tools.table("Rounds of bda to a relative primal accuracy",
                    ["data", "loss", "accuracy", "1 rank", "2 ranks"], rows)


def run(options):
    for name, path in data_sets().items():
        by_method(options, name, path)
    by_ranks(options)

"""Rounds to a dual accuracy with K = 16 blocks, method by method; and rounds at 1 and 2 ranks to a primal accuracy.

Rounds do not depend on the machine. The optimum is that of a run with one block and a tight gap.
"""
import tools

METHODS = ["bda", "disdca", "cocoa+", "dsvm-ave", "prox-grad"]
MOST = 2000


def first(rounds, good):
    """Number of the first round that is good, as text."""
    reached = next((r["round"] for r in rounds if good(r)), None)
    return f"> {MOST}" if reached is None else str(reached)


def data_sets():
    found = tools.real_sets(["rcv1-small", "newsgroups-bin", "debian-dev"])
    return found or {"like rcv1": tools.generated("rcv1", 0.02)}


def by_method(options, name, path):
    rows = []
    for loss in options.losses:
        tight = tools.train(path, f"--loss={loss}", "--blocks=1", "--gap=1e-7", "--max-rounds=5000", "--max-time=30")
        best = tight.end["dual"]
        for accuracy in (1e-2, 1e-3):
            row = [loss, f"{accuracy:g}"]
            for method in METHODS:
                log = tools.train(path, f"--loss={loss}", f"--method={method}", "--blocks=16", f"--gap={accuracy / 30}",
                                  f"--max-rounds={MOST}", "--max-time=10").rounds
                row.append(first(log, lambda r: r["dual"] - best <= accuracy * abs(best)))
            rows.append(row)
    tools.table(f"Rounds to a relative dual accuracy with 16 blocks: {name}", ["loss", "accuracy", *METHODS], rows)


def by_ranks(options):
    rows = []
    for name, path in tools.real_sets(["a9a", "imdb", "newsgroups-bin"]).items():
        for loss in options.losses:
            tight = tools.train(path, f"--loss={loss}", "--gap=1e-6", "--max-rounds=5000", "--max-time=30")
            accuracy = 1e-3 if loss == "hinge" else 1e-4
            row = [name, loss, f"{accuracy:g}"]
            for ranks in (1, 2):
                log = tools.train(path, f"--loss={loss}", "--gap=1e-5", f"--max-rounds={MOST}", "--max-time=20",
                                  "--method=bda", ranks=ranks).rounds
                best = -tight.end["dual"]
                row.append(first(log, lambda r: r["primal"] - best <= accuracy * best))
            rows.append(row)
    if rows:
        tools.table("Rounds of bda to a relative primal accuracy", ["data", "loss", "accuracy", "1 rank", "2 ranks"], rows)


def run(options):
    for name, path in data_sets().items():
        by_method(options, name, path)
    by_ranks(options)

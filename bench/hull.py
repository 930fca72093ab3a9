"""hull beside bda and cocoa+, in rounds, which do not depend on the machine.

First the rounds to a relative dual error with 16 blocks, form by form; then hull as it comes beside bda over all binary
sets at hand, three losses and K = 2, 8, 16: the ratio of rounds to dual and to primal accuracies, wherever bda gets there
within 300 rounds.
"""
import math

import tools

FORMS = {"bda": ["--method=bda"], "cocoa+": ["--method=cocoa+"],
         "one-vector": ["--method=hull", "--hull=one-vector"], "fused": ["--method=hull", "--hull=fused"],
         "momentum": ["--method=hull", "--hull=momentum"]}
ERRORS = (1e-2, 1e-3, 1e-4, 1e-6)
MOST = 150
RATIOS = (1e-2, 1e-3, 1e-4)
MOST_OF_BDA = 300
BINARY = ["a9a", "w8a", "imdb", "newsgroups-bin", "rcv1-small", "debian-dev", "magic04", "spambase"]


def first(rounds, good):
    return next((r["round"] for r in rounds if good(r)), None)


def rounds_of(path, loss, blocks, most, gap, *options):
    return tools.train(path, f"--loss={loss}", f"--blocks={blocks}", f"--gap={gap:.3g}", f"--max-rounds={most}",
                       "--max-time=120", *options).rounds


def by_form(options, sets):
    rows = []
    for name, path in sets.items():
        for loss in options.losses:
            best, start = tools.optimum(path, f"--loss={loss}")
            gap = ERRORS[-1] * best / start / 10
            logs = {form: rounds_of(path, loss, 16, MOST, gap, *args) for form, args in FORMS.items()}
            best = max([best] + [-log[-1]["dual"] for log in logs.values()])

            def reached(log, error):
                return first(log, lambda r: r["dual"] + best <= error * best)
            rows.append([f"{name} {loss}", *(" ".join(str(reached(log, e) or "-") for e in ERRORS)
                                             for log in logs.values())])
    tools.table(f"Rounds to a relative dual error of {', '.join(f'{e:g}' for e in ERRORS)} with 16 blocks, at most "
                f"{MOST}", ["data, loss", *FORMS], rows)


def ratios(options, sets):
    rows = []
    for what, good in (("dual", lambda r, best, e: r["dual"] + best <= e * best),
                       ("primal", lambda r, best, e: r["best_primal"] - best <= e * best)):
        for error in RATIOS:
            rows.append([what, error, good, []])
    for name, path in sets.items():
        for loss in options.losses:
            best, start = tools.optimum(path, f"--loss={loss}")
            for blocks in (2, 8, 16):
                gap = RATIOS[-1] * best / start / 2
                bda = rounds_of(path, loss, blocks, MOST_OF_BDA, gap, "--method=bda")
                hull = rounds_of(path, loss, blocks, MOST_OF_BDA, gap, "--method=hull")
                for what, error, good, found in rows:
                    before = first(bda, lambda r: good(r, best, error))
                    ours = first(hull, lambda r: good(r, best, error))
                    if before:
                        found.append(((ours or math.inf) / before, f"{name} {loss} K={blocks}"))
    cells = []
    for what, error, _, found in rows:
        if found:
            worst, where = max(found)
            mean = math.exp(sum(math.log(max(r, 1e-3)) for r, _ in found) / len(found))
            cells.append([what, f"{error:g}", str(len(found)), mean, worst, where])
    tools.table(f"Rounds of hull over rounds of bda, where bda needs at most {MOST_OF_BDA}",
                ["accuracy of", "accuracy", "cases", "geometric mean", "worst", "where"], cells)


def run(options):
    by_form(options, tools.real_sets(["imdb", "a9a", "w8a"]) or {"like rcv1": tools.generated("rcv1", 0.02)})
    ratios(options, tools.real_sets(BINARY) or {"like rcv1": tools.generated("rcv1", 0.02)})

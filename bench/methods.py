"""Every method on a text set and on a set of few features, with 4 blocks: rounds, vectors and seconds to a primal
accuracy. Rounds and vectors do not depend on the machine.

The optimum is the best lower bound of any run, starting with a tight one.
"""
import re

import tools

ACCURACIES = (1e-3, 1e-6)
SECONDS = 20  # for a run


def data_sets():
    found = tools.real_sets(["rcv1-small", "a9a"])
    return found or {"like rcv1": tools.generated("rcv1", 0.02)}


def names():
    """Those that minimise the objective, as the program lists them."""
    listed = re.findall(r"^(\S+)  ", tools.bda("train", "--method=list").output, re.M)
    return [name for name in listed if name not in ("auto", "perceptron")]


def attempt(path, loss, method, gap):
    """The rounds, or None where the method does not serve."""
    try:
        return tools.train(path, f"--loss={loss}", f"--method={method}", "--blocks=4", "--max-rounds=20000",
                           f"--max-time={SECONDS}", f"--gap={gap:.3g}").rounds
    except RuntimeError as error:
        if "would do" in str(error):
            return None
        raise


def cells(rounds, best, accuracy):
    """rounds / vectors / seconds, as text."""
    good = next((r for r in rounds if r["best_primal"] - best <= accuracy * best), None)
    if good is None:
        return [f"> {rounds[-1]['round']}", f"> {rounds[-1]['vectors_sent']}", "-"]
    return [str(good["round"]), str(good["vectors_sent"]), f"{good['seconds']:.2f}"]


def run(options):
    for name, path in data_sets().items():
        for loss in options.losses:
            best, start = tools.optimum(path, f"--loss={loss}")
            logs = {}
            for method in names():
                rounds = attempt(path, loss, method, ACCURACIES[-1] * best / start)
                if rounds:
                    logs[method] = rounds
            best = max([best] + [-min(r["dual"] for r in rounds) for rounds in logs.values()])
            rows = [[method] + sum((cells(rounds, best, accuracy) for accuracy in ACCURACIES), [])
                    for method, rounds in logs.items()]
            columns = sum(([f"rounds {a:g}", f"vectors {a:g}", f"seconds {a:g}"] for a in ACCURACIES), [])
            tools.table(f"To a relative primal accuracy with 4 blocks: {name}, {loss}", ["method", *columns], rows)

"""More than two classes, on one core, to a relative primal accuracy of 1e-3: the multiclass SVM (hinge) against
liblinear-train -s 4, which minimises the same function, and the softmax (logistic) against scikit-learn's two solvers.

All get the loosest of a row of tolerances, or the fewest of a row of iterations, with which their model is that good.
Models are valued by a process of its own, which also runs scikit-learn, from the text of the data and the weights; the
optimum is bounded by a run of ours with a small gap. Times of training leave out the reading of the file.
"""
import os
import subprocess
import sys
import tempfile
import time

import tools
from whole import ACCURACY, OUR_GAP, THEIR_EPS, first_good

SOLVERS = {"lbfgs": (5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640),
           "saga": (1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)}


class Judge:
    """Asks the other process: a line there, a line of numbers back."""

    def __init__(self, path):
        one_core = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        self.process = subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=one_core)
        if self.process.stdout.readline() != "ready\n":
            raise tools.Missing("python3-sklearn is not installed")

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_weights(model, labels, features):
    """[features][classes], classes in increasing order of their labels, from LIBLINEAR's text."""
    import numpy
    with open(model) as f:
        lines = f.read().split("\n")
    at = lines.index("w")
    order = numpy.argsort([float(x) for text in lines[:at] if text.startswith("label") for x in text.split()[1:]])
    w = numpy.array([text.split() for text in lines[at + 1:] if text.strip()], dtype=float)[:features, order]
    return numpy.vstack([w, numpy.zeros((features - len(w), len(labels)))])


def serve(path):
    """The other process. "value MODEL LOSS" is answered by the primal value, "fit SOLVER ITERATIONS" by seconds and
    the primal value."""
    import warnings
    import numpy
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression
    warnings.simplefilter("ignore")  # stopping early is the point
    X, y = load_svmlight_file(path)
    labels, y = numpy.unique(y, return_inverse=True)
    mine = numpy.arange(len(y)), y
    dense = X.toarray() if X.nnz > 0.1 * X.shape[0] * X.shape[1] else X  # what suits it better

    def value(w, loss):
        z = X @ w
        if loss == "hinge":
            other = z + 1
            other[mine] = z[mine]
            losses = other.max(axis=1) - z[mine]
        else:
            top = z.max(axis=1)
            losses = top + numpy.log(numpy.exp(z - top[:, None]).sum(axis=1)) - z[mine]
        return (w * w).sum() / 2 + losses.sum()

    print("ready", flush=True)
    for line in sys.stdin:
        verb, what, how = line.rstrip("\n").split("\t")
        if verb == "value":
            print(repr(float(value(read_weights(what, labels, X.shape[1]), how))), flush=True)
            continue
        model = LogisticRegression(C=1, multi_class="multinomial", solver=what, fit_intercept=False, tol=1e-12,
                                   max_iter=int(how), random_state=1)
        begin = time.perf_counter()
        model.fit(dense, y)
        print(time.perf_counter() - begin, repr(float(value(model.coef_.T, "logistic"))), flush=True)


def scaled(path):
    """Pixels of 0 to 255 as 0 to 1, made once."""
    target = os.path.join(tools.CACHE, os.path.basename(path) + "-scaled")
    if not os.path.exists(target):
        os.makedirs(tools.CACHE, exist_ok=True)
        value = {str(v): f"{v / 255:.6g}" for v in range(256)}
        with open(path) as f, open(target + ".part", "w") as g:
            for line in f:
                label, *cells = line.split()
                parts = (cell.partition(":") for cell in cells)
                g.write(f"{label} {' '.join(column + ':' + value[v] for column, _, v in parts)}\n")
        os.rename(target + ".part", target)
    return target


def planted(instances=20000, features=50000, classes=20, cells=60):
    """Where no real data is at hand: rows of unit length with power-law columns, labels from a planted model."""
    target = os.path.join(tools.CACHE, f"planted-{classes}")
    if not os.path.exists(target):
        import numpy
        os.makedirs(tools.CACHE, exist_ok=True)
        random = numpy.random.default_rng(1)
        weight = random.normal(size=(features, classes))
        with open(target + ".part", "w") as f:
            for _ in range(instances):
                columns = numpy.unique((features * random.random(cells) ** 3).astype(int))
                x = random.random(len(columns)) + 0.1
                x /= numpy.linalg.norm(x)
                label = numpy.argmax(x @ weight[columns] + 0.5 * random.normal(size=classes)) + 1
                f.write(f"{label} {' '.join(f'{j + 1}:{v:.5f}' for j, v in zip(columns, x))}\n")
        os.rename(target + ".part", target)
    return target


def data_sets():
    found = tools.real_sets(["newsgroups20", "mnist"])
    if "mnist" in found:
        found["mnist"] = scaled(found["mnist"])
    return found or {"planted": planted()}


def liblinear(path, eps, model):
    tools.need("liblinear-train")
    r = tools.run(["liblinear-train", "-q", "-s", "4", "-e", str(eps), path, model], watched=path)
    if r.status != 0:
        raise RuntimeError(f"liblinear-train ended with {r.status}: {r.output.strip()}")
    return r


def optimum(path, loss):
    """A lower bound that is at most 0.3 of the accuracy off: a little more is asked of all alike. None where five
    minutes do not certify it."""
    for gap in (1e-4, 3e-5, 1e-5, 1e-6):
        tight = tools.train(path, f"--loss={loss}", f"--gap={gap}", "--max-rounds=100000", "--max-time=300").end
        if tight["primal"] + tight["dual"] <= 0.3 * ACCURACY * tight["primal"]:
            return -tight["dual"]
        if tight["reason"] != "gap":
            return None
    return None


def ours(judge, path, loss, good, d):
    model, text = os.path.join(d, "model"), os.path.join(d, "text")

    def attempt(gap):
        r = tools.train(path, f"--loss={loss}", f"--gap={gap}", model=model)
        tools.bda("export", "--format=liblinear", model, text)
        return r

    gap, one = first_good(OUR_GAP, attempt, lambda: judge.ask("value", text, loss)[0] <= good)
    if gap is None:
        raise RuntimeError(f"bda does not reach the accuracy with {loss} on {path}")
    return tools.fastest([one] + [attempt(gap) for _ in range(tools.REPEATS - 1)])


def svm_row(judge, name, path, d):
    best = optimum(path, "hinge")
    if best is None:
        return [name, "no optimum", "", "", "", "", ""]
    good = best * (1 + ACCURACY)
    mine, model = ours(judge, path, "hinge", good, d), os.path.join(d, "theirs")
    eps, one = first_good(THEIR_EPS, lambda e: liblinear(path, e, model),
                          lambda: judge.ask("value", model, "hinge")[0] <= good)
    if eps is None:
        return [name, "not reached", "", mine.end["seconds"], "", mine.seconds, ""]
    runs = [one] + [liblinear(path, eps, model) for _ in range(tools.REPEATS - 1)]
    whole, training = min(r.seconds for r in runs), min(r.seconds - r.loaded for r in runs)
    return [name, training, whole, mine.end["seconds"], mine.end["seconds"] / training, mine.seconds,
            mine.seconds / whole]


def scikit_learn(judge, solver, good, patience):
    """(iterations, seconds). Given up beyond `patience` seconds; then the ratio is an upper bound."""
    for iterations in SOLVERS[solver]:
        seconds, value = judge.ask("fit", solver, iterations)
        if value <= good:
            again = [judge.ask("fit", solver, iterations)[0] for _ in range(tools.REPEATS - 1)]
            return str(iterations), min([seconds, *again])
        if seconds > patience:
            break
    return f"not in {iterations}", seconds


def softmax_rows(judge, name, path, d):
    best = optimum(path, "logistic")
    if best is None:
        return [[name, "no optimum", "", "", "", ""]]
    good = best * (1 + ACCURACY)
    mine = ours(judge, path, "logistic", good, d).end["seconds"]
    rows = []
    for solver in SOLVERS:
        iterations, theirs = scikit_learn(judge, solver, good, 10 * mine)
        rows.append([name, solver, iterations, theirs, mine, mine / theirs])
    return rows


def run(_options):
    svm, softmax = [], []
    for name, path in data_sets().items():
        judge = Judge(path)
        with tempfile.TemporaryDirectory() as d:
            svm.append(svm_row(judge, name, path, d))
            softmax += softmax_rows(judge, name, path, d)
        judge.close()
    tools.table("Multiclass SVM to accuracy 1e-3, one core: seconds of training and of the whole command, ratios to"
                " liblinear-train -s 4", ["data", "its training", "its whole", "our training", "ratio", "our whole",
                                          "ratio "], svm)
    tools.table("Softmax to accuracy 1e-3, one core: seconds of training, ratio to scikit-learn's solvers",
                ["data", "solver", "iterations", "theirs", "ours", "ratio"], softmax)


if __name__ == "__main__":
    try:
        serve(sys.argv[1])
    except ImportError:
        sys.exit(1)

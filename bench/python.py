"""Fit times of the Python package beside those of scikit-learn, on one core, to the same objective.

Everyone minimises P(w) = |w|^2 / 2 + C sum of losses, C = 1, without an intercept, from the same matrix in memory; what an
estimator does to it first counts. Each gets smaller and smaller tolerances until P is close enough to the least value, which a
fit of ours with a small gap bounds; its time is that of the loosest tolerance that is enough. All of it is done by the
interpreter that `./dev test --newest` made, where there is one, else by this one.
"""
import json
import os
import resource
import subprocess
import sys
import time

import tools

ACCURACIES = (1e-3, 1e-6)
SETS = [("a9a", "classify", False), ("w8a", "classify", False), ("imdb", "classify", False), ("spambase", "classify", True),
        ("magic04", "classify", True), ("cadata-scale", "regress", True)]
LONGEST = 15  # seconds of the processor that an estimator has for all its tolerances
SHORTEST = 0.1  # seconds of the processor that fits are repeated for: its clock may tick in hundredths
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(tools.PROGRAM)), "python")


def interpreter():
    newest = os.path.join(tools.ROOT, "build", "newest", "bin", "python")
    return newest if os.path.exists(newest) else sys.executable


def run(_options):
    found = tools.real_sets([name for name, _, _ in SETS])
    if not found:
        raise tools.Missing("no data sets at hand")
    one_core = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONPATH=PACKAGE)
    rows = []
    for name, task, dense in SETS:
        if name not in found:
            continue
        r = subprocess.run([interpreter(), __file__, found[name], task, str(int(dense))], env=one_core, text=True,
                           stdout=subprocess.PIPE)
        if r.returncode:
            raise tools.Missing("numpy, scipy or scikit-learn is not installed, or the package is not built")
        rows += [[name + (" dense" if dense else ""), *json.loads(line)] for line in r.stdout.splitlines()]
    tools.table("Seconds of fit() to a relative distance from the optimum", ["data", "loss", "distance", "fastest other",
                "theirs", "ours", "ratio"], rows)


# ---- the other process -----------------------------------------------------------------------------------------------


def objective(loss, w, X, y):
    import numpy as np
    z = X @ w
    if loss == "logistic":
        losses = np.logaddexp(0, -y * z)
    elif loss == "squared-error":
        losses = (y - z) ** 2
    else:
        losses = np.maximum(0, 1 - y * z) ** (2 if loss == "squared-hinge" else 1)
    return w @ w / 2 + losses.sum()


def rivals(loss):
    """{name: estimator of a tolerance}"""
    from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
    from sklearn.svm import LinearSVC
    many = {"fit_intercept": False, "max_iter": 100000}
    if loss == "logistic":
        found = {s: lambda tol, s=s: LogisticRegression(solver=s, tol=tol, **many)
                 for s in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "saga")}
        return {**found, "liblinear dual": lambda tol: LogisticRegression(solver="liblinear", dual=True, tol=tol, **many)}
    if loss == "squared-error":
        return {f"Ridge {s}": lambda tol, s=s: Ridge(0.5, solver=s, tol=tol, **many)
                for s in ("cholesky", "svd", "lsqr", "sparse_cg")}
    found = {"LinearSVC dual": lambda tol: LinearSVC(loss=loss.replace("-", "_"), dual=True, tol=tol, random_state=0, **many)}
    if loss == "squared-hinge":
        found["LinearSVC primal"] = lambda tol: LinearSVC(dual=False, tol=tol, **many)
    if loss == "hinge":
        found["SGD"] = lambda tol: SGDClassifier("hinge", alpha=1 / SGD_ROWS[0], tol=tol, random_state=0, **many)
    return found


SGD_ROWS = [1]


def fitted(make, X, y, tol):
    import numpy as np
    best = float("inf")
    for _ in range(tools.REPEATS):
        fits, begin = 0, time.process_time()
        while fits == 0 or time.process_time() - begin < SHORTEST:
            estimator = make(tol).fit(X, y)
            fits += 1
        best = min(best, (time.process_time() - begin) / fits)
        if best > 2:
            break
    return best, np.ravel(estimator.coef_)


def times(make, loss, X, y, least):
    """The seconds to each accuracy that is reached within LONGEST: in a process of its own, for a fit cannot be ended."""
    out, to = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        try:
            with os.fdopen(to, "w") as file:
                for line in reached(make, loss, X, y, least):
                    print(*line, file=file, flush=True)
        finally:
            os._exit(0)
    os.close(to)
    with os.fdopen(out) as file:
        found = {float(accuracy): float(seconds) for accuracy, seconds in (line.split() for line in file)}
    os.waitpid(child, 0)
    return found


def reached(make, loss, X, y, least):
    found = set()
    for tol in (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10):
        seconds, w = fitted(make, X, y, tol)
        distance = objective(loss, w, X, y) / least - 1
        for accuracy in ACCURACIES:
            if distance <= accuracy and accuracy not in found:
                found.add(accuracy)
                yield accuracy, seconds
        if len(found) == len(ACCURACIES):
            break


def serve(path, task, dense):
    import warnings
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    import bda
    warnings.simplefilter("ignore")
    X, y = load_svmlight_file(path)
    if dense:
        X = X.toarray()
    else:  # liblinear within scikit-learn refuses others
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    if task == "classify":
        y = np.where(y == y.max(), 1.0, -1.0)
    SGD_ROWS[0] = len(y)
    kind = bda.Classifier if task == "classify" else bda.Regressor
    for loss in ("squared-hinge", "hinge", "logistic") if task == "classify" else ("squared-error",):
        def ours(tol, loss=loss):
            return kind(loss, fit_intercept=False, tol=tol, max_iter=100000)

        least = objective(loss, np.ravel(ours(1e-9).fit(X, y).coef_), X, y)
        mine = times(ours, loss, X, y, least)
        theirs = {name: times(make, loss, X, y, least) for name, make in rivals(loss).items()}
        for accuracy in ACCURACIES:
            best = min((name for name in theirs if accuracy in theirs[name]), key=lambda n: theirs[n][accuracy], default=None)
            other, own = theirs[best][accuracy] if best else float("nan"), mine.get(accuracy, float("nan"))
            print(json.dumps([loss, f"{accuracy:g}", best or "none", other, own, own / other]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], sys.argv[3] == "1")

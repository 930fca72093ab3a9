"""Fit times of the Python package beside those of scikit-learn, on one core, to the same objective.

Everyone minimises P(w) = |w|^2 / 2 + C sum of losses, C = 1, without an intercept, from the same matrix in memory; what an
estimator does to it first counts. Each gets smaller and smaller tolerances until P is close enough to the least value, which a
fit of ours with a small gap bounds; its time is that of the loosest tolerance that is enough. All of it is done by the
interpreter that BDA_BENCH_PYTHON names, or the one that `./dev test --newest` made, where there is one, else by this one.
Of skglm, cyanure, glum and snapml those take part that it has (pip install skglm cyanure glum snapml).
"""
import json
import os
import resource
import subprocess
import sys
import time

import tools

ACCURACIES = (1e-3, 1e-6)
SETS = [("a9a", "classify", False), ("w8a", "classify", False), ("imdb", "classify", False), ("rcv1-small", "classify", False),
        ("newsgroups-bin", "classify", False), ("debian-dev", "classify", False), ("spambase", "classify", True),
        ("magic04", "classify", True), ("imdb-rating", "regress", False), ("cadata-scale", "regress", True)]
LONGEST = 15  # seconds of the processor that an estimator has for all its tolerances
SHORTEST = 0.1  # seconds of the processor that fits are repeated for: its clock may tick in hundredths
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(tools.PROGRAM)), "python")


def interpreter():
    if os.environ.get("BDA_BENCH_PYTHON"):
        return os.environ["BDA_BENCH_PYTHON"]
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
                "theirs", "ours", "ratio", "others"], rows)


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
    others = {name: make for part in (of_skglm, of_cyanure, of_glum, of_snapml) for name, make in part(loss).items()}
    if loss == "logistic":
        found = {s: lambda tol, s=s: LogisticRegression(solver=s, tol=tol, **many)
                 for s in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "saga")}
        return {**found, **others, "liblinear dual": lambda tol: LogisticRegression(solver="liblinear", dual=True, tol=tol, **many)}
    if loss == "squared-error":
        return {f"Ridge {s}": lambda tol, s=s: Ridge(0.5, solver=s, tol=tol, **many)
                for s in ("cholesky", "svd", "lsqr", "sparse_cg")}
    found = {"LinearSVC dual": lambda tol: LinearSVC(loss=loss.replace("-", "_"), dual=True, tol=tol, random_state=0, **many)}
    if loss == "squared-hinge":
        found["LinearSVC primal"] = lambda tol: LinearSVC(dual=False, tol=tol, **many)
    if loss == "hinge":
        found["SGD"] = lambda tol: SGDClassifier("hinge", alpha=1 / SGD_ROWS[0], tol=tol, random_state=0, **many)
    return {**found, **others}


# Others, where they are installed. Each divides the objective by C times the rows, which are in SGD_ROWS.


def of_skglm(loss):
    try:
        from skglm import GeneralizedLinearEstimator
        from skglm.datafits import Logistic
        from skglm.penalties import L2
        from skglm.solvers import LBFGS
    except ImportError:
        return {}

    class Compiled:
        """What is compiled at the first fit does not count: see `fitted`."""
        def __init__(self, tol):
            self.inner = GeneralizedLinearEstimator(Logistic(), L2(1 / SGD_ROWS[0]), LBFGS(max_iter=10000, tol=tol))
            self.inner.solver.fit_intercept = self.inner.solver.warm_start = False  # which it asks for, and does not have

        def fit(self, X, y):
            self.inner.fit(X, y)
            self.coef_ = self.inner.coef_
            return self

    return {"skglm lbfgs": Compiled} if loss == "logistic" else {}


def of_cyanure(loss):
    try:
        from cyanure.estimators import Classifier
    except ImportError:
        return {}
    name, part = {"logistic": ("logistic", 1), "squared-hinge": ("sqhinge", 2)}.get(loss, (None, 0))
    if not name:
        return {}
    return {"cyanure": lambda tol: Classifier(loss=name, penalty="l2", lambda_1=1 / (part * SGD_ROWS[0]), fit_intercept=False,
                                              tol=tol, max_iter=10000, verbose=False, n_threads=1)}


def of_glum(loss):
    try:
        from glum import GeneralizedLinearRegressor
    except ImportError:
        return {}

    class OfZeroAndOne:
        def __init__(self, tol):
            self.inner = GeneralizedLinearRegressor(family="binomial", alpha=1 / SGD_ROWS[0], l1_ratio=0, fit_intercept=False,
                                                    gradient_tol=tol * 1e-2, max_iter=1000)

        def fit(self, X, y):
            self.coef_ = self.inner.fit(X, (y > 0).astype(float)).coef_
            return self

    return {"glum": OfZeroAndOne} if loss == "logistic" else {}


def of_snapml(loss):
    try:
        from snapml import LogisticRegression, SupportVectorMachine
    except ImportError:
        return {}
    kind = {"logistic": LogisticRegression, "hinge": SupportVectorMachine}.get(loss)
    return {"snapml": lambda tol: kind(regularizer=1.0, fit_intercept=False, tol=tol, max_iter=100000, n_jobs=1)} if kind else {}


SGD_ROWS = [1]


def fitted(make, X, y, tol):
    import numpy as np
    best = float("inf")
    if getattr(make, "__name__", "") == "Compiled":
        make(1.0).fit(X, y)
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
            rest = sorted((theirs[n][accuracy], n) for n in theirs if accuracy in theirs[n] and n != best)
            print(json.dumps([loss, f"{accuracy:g}", best or "none", other, own, own / other,
                              ", ".join(f"{name} {seconds:.3g}" for seconds, name in rest)]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], sys.argv[3] == "1")

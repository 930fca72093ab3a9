"""Look-alikes of scikit-learn's linear models: the same parameters, the same problem and so the same solution, trained by
the library to a certified duality gap.

What says how to compute and not what (dual, solver, selection, precompute, copy_X) is checked and otherwise without effect:
the library chooses its method itself and never writes to X. `tol` is the relative duality gap.
"""
import numbers

import numpy as np
from sklearn.base import BaseEstimator

from ._estimators import Classifier, Linear, Regressor, intercept_of, weighted
from ._library import Error, SettingError

__all__ = ["LinearSVC", "LogisticRegression", "LinearSVR", "Ridge", "ElasticNet"]


def one_of(estimator, name, *allowed):
    value = getattr(estimator, name)
    if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
        raise SettingError(f"{name}={value!r} is not one of " + ", ".join(repr(a) for a in allowed), name)
    return value


def not_served(estimator, name, instead):
    raise SettingError(f"{name}={getattr(estimator, name)!r} is not served here: {instead}", name)


def positive(estimator, name):
    value = getattr(estimator, name)
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise SettingError(f"{name} must be a number above 0, not {value!r}", name)
    return float(value)


class Alike(Linear):
    """Parameters that scikit-learn's estimators lack have the defaults of Classifier and Regressor."""

    l1_ratio, method, max_time, n_jobs, blocks, callback, comm = 0.0, "auto", None, None, None, None, None
    intercept_scaling, _intercept = 1.0, "penalised"
    _more_outputs = False

    set_params = BaseEstimator.set_params

    def _check_parameters(self):
        """Refuses what is wrong, or means another problem than the library solves."""

    def _intercept_values(self):
        return intercept_of(self._intercept if self.fit_intercept else "none", self.intercept_scaling)

    def _train_each(self, X, targets, weight, first):
        """A training for each column of targets; the attributes are those of all of them."""
        coef, intercept, rounds, history = [], [], [], []
        primal = dual = 0.0
        complete = None
        for k in range(targets.shape[1]):
            start = self._start(first, X.shape[1], targets.shape[1], slice(k, k + 1))
            self._train_arrays(X, targets[:, k], weight, start)
            outcome = self.__dict__.pop("_outcome")
            coef.append(np.ravel(self.coef_))
            intercept.append(float(np.ravel(self.intercept_)[0]))
            rounds.append(self.n_iter_)
            history.append(np.column_stack([self._history, np.full(len(self._history), k)]))
            primal, dual = primal + self.objective_, dual + self.dual_objective_
            if complete is None or outcome.interrupted or (complete.complete and not outcome.complete):
                complete = outcome
            if outcome.interrupted:
                break
        missing = targets.shape[1] - len(coef)
        self.coef_ = np.vstack(coef + [np.zeros_like(coef[0])] * missing)
        self.intercept_ = np.array(intercept + [0.0] * missing)
        self.n_iter_, self._history, self._outcome = max(rounds), np.vstack(history), complete
        self.objective_, self.dual_objective_ = primal, dual
        self.duality_gap_ = (primal + dual) / primal if primal > 0 else 0.0
        self._rounds_of_outputs = rounds


class AlikeClassifier(Alike, Classifier):
    def fit(self, X, y, sample_weight=None):
        """X: dense or sparse, [samples, features]; y: [samples] labels; sample_weight: [samples] factors of C."""
        self._check_parameters()
        first = self._first_weights()
        X, y = self._check(X, y)
        if sample_weight is not None:
            X, y, sample_weight = weighted(X, y, sample_weight)
        self.classes_, codes = self._coded(y)
        self._at_least_two_classes()
        self.n_samples_seen_ = X.shape[0]
        self._each = self._one_vs_rest() and len(self.classes_) > 2
        if self._each:
            own = self._class_weights(y)
            targets = (codes[:, None] == np.arange(len(self.classes_))).astype(float)
            if own is not None:
                sample_weight = own[codes] * (1.0 if sample_weight is None else sample_weight)
            self._train_each(X, targets, sample_weight, first)
        else:
            outputs = len(self.classes_) if len(self.classes_) > 2 else 1
            start = self._start(first, X.shape[1], outputs)
            self._train_arrays(X, codes, sample_weight, start, **self._class_weight_options(y))
        return self._conclude()

    def _one_vs_rest(self):
        return False

    def _model(self):
        if self._each and self._loss() == "logistic":
            raise Error("a model file has no place for probabilities of one against the rest; "
                        "train with multi_class='multinomial'", "multi_class")
        return super()._model()


class LinearSVC(AlikeClassifier):
    """scikit-learn's LinearSVC: squared hinge or hinge loss, an intercept that is penalised (`intercept_scaling` is the
    value of its constant feature), one against the rest or, with multi_class="crammer_singer", all labels at once.

    penalty="l1" is not served.
    """

    def __init__(self, penalty="l2", loss="squared_hinge", *, dual="auto", tol=1e-4, C=1.0, multi_class="ovr",
                 fit_intercept=True, intercept_scaling=1.0, class_weight=None, verbose=0, random_state=None,
                 max_iter=1000):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _check_parameters(self):
        if one_of(self, "penalty", "l2", "l1") == "l1":
            not_served(self, "penalty", "bda.Classifier(l1_ratio=0.95) has most of its zeros")
        one_of(self, "loss", "squared_hinge", "hinge")
        one_of(self, "dual", "auto", True, False)
        one_of(self, "multi_class", "ovr", "crammer_singer")

    def _loss(self):
        if self.multi_class == "crammer_singer":  # there is one such problem; `loss` is without effect
            return "hinge"
        return super()._loss()

    def _cost(self):
        # Of two labels all-at-once has two vectors, whose difference is that of the hinge with twice the C.
        return 2 * self.C if self.multi_class == "crammer_singer" and len(self.classes_) == 2 else self.C

    def _one_vs_rest(self):
        return self.multi_class == "ovr"


class LogisticRegression(AlikeClassifier):
    """scikit-learn's LogisticRegression: an intercept that is free, all labels at once (softmax), or one against the rest
    with multi_class="ovr". With solver="liblinear" the intercept is penalised and labels are one against the rest, as they
    are there.

    penalty="elasticnet" takes l1_ratio below 1; penalty="l1" and penalty=None are not served.
    """

    loss = "logistic"

    def __init__(self, penalty="l2", *, dual=False, tol=1e-4, C=1.0, fit_intercept=True, intercept_scaling=1,
                 class_weight=None, random_state=None, solver="lbfgs", max_iter=100, multi_class="auto", verbose=0,
                 warm_start=False, n_jobs=None, l1_ratio=None):
        self.penalty = penalty
        self.dual = dual
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.l1_ratio = l1_ratio

    def _check_parameters(self):
        if one_of(self, "penalty", "l2", "elasticnet", "l1", "none", None) in ("l1", "none", None):
            not_served(self, "penalty", "'l2' and 'elasticnet' with an l1_ratio below 1 are")
        if self.penalty == "elasticnet" and not isinstance(self.l1_ratio, numbers.Real):
            raise SettingError(f"l1_ratio must be a number for penalty='elasticnet', not {self.l1_ratio!r}", "l1_ratio")
        if self.penalty == "l2" and self.l1_ratio not in (None, 0):
            raise SettingError(f"l1_ratio={self.l1_ratio!r} needs penalty='elasticnet'", "l1_ratio")
        one_of(self, "dual", False, True)
        one_of(self, "solver", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
        one_of(self, "multi_class", "auto", "multinomial", "ovr", "deprecated")
        one_of(self, "warm_start", False, True)

    @property
    def _intercept(self):
        return "penalised" if self.solver == "liblinear" else "free"

    def _one_vs_rest(self):
        if self.multi_class == "multinomial" and len(self.classes_) == 2:
            not_served(self, "multi_class", "two classes are one logistic loss; leave it at 'auto'")
        return self.multi_class == "ovr" or (self.solver == "liblinear" and self.multi_class != "multinomial")

    def _take_weights(self, model):
        super()._take_weights(model)
        if self._intercept == "free" and len(self.intercept_) > 1:  # any number may be added to all: their mean is 0
            self.intercept_ = self.intercept_ - self.intercept_.mean()

    def _conclude(self):
        self.n_iter_ = np.array(self._rounds_of_outputs if self._each else [self.n_iter_], dtype=np.int32)
        return super()._conclude()

    def predict_proba(self, X):
        """[samples, classes], in the order of classes_."""
        if not self._is_each():
            return np.exp(self._log_probabilities(X))
        p = 1 / (1 + np.exp(-self._scores(X)))
        return p / p.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        """The logarithm of predict_proba."""
        return np.log(self.predict_proba(X)) if self._is_each() else self._log_probabilities(X)

    def _is_each(self):
        return getattr(self, "_each", False)


class AlikeRegressor(Alike, Regressor):
    def fit(self, X, y, sample_weight=None):
        """X: dense or sparse, [samples, features]; y: [samples], or [samples, targets] where that is served;
        sample_weight: [samples] factors of the losses."""
        self._check_parameters()
        first = self._first_weights()
        X, y = self._check(X, y, y_numeric=True, multi_output=self._more_outputs)
        if sample_weight is not None:
            X, y, sample_weight = weighted(X, y, sample_weight)
        self.n_samples_seen_ = X.shape[0]
        self._total_weight = float(X.shape[0] if sample_weight is None else sample_weight.sum())
        if y.ndim == 1:
            self._train_arrays(X, y, sample_weight, self._start(first, X.shape[1], 1))
        else:
            self._train_each(X, y, sample_weight, first)
        return self._conclude()

    def _model(self):
        if np.ndim(self.coef_) == 2:
            raise Error("a model file has one target; save an estimator for each", "y")
        return super()._model()

    def _more_tags(self):
        return {**super()._more_tags(), "multioutput": self._more_outputs}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._more_outputs
        return tags


class LinearSVR(AlikeRegressor):
    """scikit-learn's LinearSVR: (squared) epsilon-insensitive loss, an intercept that is penalised (`intercept_scaling` is
    the value of its constant feature)."""

    def __init__(self, *, epsilon=0.0, tol=1e-4, C=1.0, loss="epsilon_insensitive", fit_intercept=True,
                 intercept_scaling=1.0, dual="auto", verbose=0, random_state=None, max_iter=1000):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _check_parameters(self):
        one_of(self, "loss", "epsilon_insensitive", "squared_epsilon_insensitive")
        one_of(self, "dual", "auto", True, False)


class Squared(AlikeRegressor):
    """Squared error, given by alpha instead of C."""

    loss, epsilon, verbose, _intercept, _more_outputs = "squared-error", 0.0, 0, "free", True

    def _check_parameters(self):
        positive(self, "alpha")
        one_of(self, "copy_X", True, False)
        if one_of(self, "positive", False, True):
            not_served(self, "positive", "coefficients have no bounds")


class Ridge(Squared):
    """scikit-learn's Ridge: squared error plus alpha times the squared norm of the coefficients, and an intercept that is
    free. alpha is one number above 0; positive is not served."""

    def __init__(self, alpha=1.0, *, fit_intercept=True, copy_X=True, max_iter=None, tol=1e-4, solver="auto",
                 positive=False, random_state=None):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        one_of(self, "solver", "auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")

    def _cost(self):
        return 1 / (2 * positive(self, "alpha"))


class ElasticNet(Squared):
    """scikit-learn's ElasticNet: half the mean squared error plus alpha times (l1_ratio times the magnitudes of the
    coefficients plus half of (1 - l1_ratio) times their squares), and an intercept that is free.

    l1_ratio=1 (the lasso) and positive are not served.
    """

    def __init__(self, alpha=1.0, *, l1_ratio=0.5, fit_intercept=True, precompute=False, max_iter=1000, copy_X=True,
                 tol=1e-4, warm_start=False, positive=False, random_state=None, selection="cyclic"):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _check_parameters(self):
        super()._check_parameters()
        one_of(self, "selection", "cyclic", "random")
        one_of(self, "precompute", False, True)
        if isinstance(self.l1_ratio, numbers.Real) and self.l1_ratio == 1:
            not_served(self, "l1_ratio", "it must be below 1; scikit-learn's Lasso, skglm and celer solve that problem")
        one_of(self, "warm_start", False, True)

    def _cost(self):
        return 1 / (2 * self._total_weight * positive(self, "alpha"))

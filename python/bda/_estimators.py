"""Classifier and Regressor: scikit-learn's estimators over the library."""
import os
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core
from ._dataset import Dataset
from ._docs import NAMES, document, signature_without_options
from ._library import SettingError, text, version

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, *args, **settings):
        return estimator._validate_data(*args, **settings)

def threads_of(n_jobs):
    """n_jobs as joblib counts: None is 1, -1 all processors."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)):
        return n_jobs  # the library says what is wrong with it
    if n_jobs < 0:
        n_jobs = max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))
    if n_jobs > 1:
        _core.Fork.use_threads()
    return n_jobs


def canonical(X):
    """Compressed rows whose columns increase; X itself where it is so already."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def intercept_of(kind, scaling):
    """The options for an intercept that is "none", "penalised" (a constant feature of that value) or "free"."""
    known = "intercept" in _core.option_names()
    if kind == "free" and not known:
        raise SettingError(f"fit_intercept=True means an intercept that is not regularised here, which version {version} of "
                           "the library does not serve; use fit_intercept=False", "fit_intercept")
    values = {"bias": scaling if kind == "penalised" else None}
    return {**values, "intercept": kind} if known else values


def two_numbers(y):
    """What np.unique(y, return_inverse=True) says of whole numbers of which there are two, without sorting; else None."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    low, high = y.min(), y.max()
    upper = y == high
    if low == high or int(low) != low or int(high) != high or np.count_nonzero(y == low) + np.count_nonzero(upper) != len(y):
        return None
    return np.array([low, high]), upper.astype(np.intp)


class Narrator:
    """What `verbose` prints: 1 a line each second and one at the end, 2 each round."""

    def __init__(self, verbose, callback):
        self.verbose, self.callback, self.printed = verbose, callback, time.monotonic()

    def __call__(self, progress):
        now = time.monotonic()
        if self.verbose > 1 or (self.verbose and now - self.printed >= 1):
            self.printed = now
            print("round {round}: objective {best_primal:.6g}, gap {relative_gap:.3g} of {target:.3g}, "
                  "{seconds:.1f} s".format(**progress), flush=True)
        return self.callback(progress) if self.callback else None

    @classmethod
    def of(cls, verbose, callback):
        return cls(verbose, callback) if verbose or callback else None


class Linear(BaseEstimator):
    """What classifiers and regressors share."""

    _task = None
    warm_start = False

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        if "__init__" in vars(cls):
            cls.__signature__ = signature_without_options(cls)

    # ---- parameters ---------------------------------------------------------------------------------------------

    @classmethod
    def _get_param_names(cls):
        if "_parameters" not in vars(cls):  # scikit-learn would look at the signature each time
            cls._parameters = super()._get_param_names()
        return list(cls._parameters)

    def _take_options(self, options):
        for name, value in options.items():
            if name not in _core.option_names() or name in self._get_param_names():
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{name}'")
            setattr(self, name, value)

    def _own_options(self):
        """Names of those options that were given beyond the parameters of the signature."""
        named = self._get_param_names()
        return [name for name in _core.option_names() if name not in named and name in vars(self)]

    def get_params(self, deep=True):
        return {**super().get_params(deep), **{name: getattr(self, name) for name in self._own_options()}}

    def set_params(self, **params):
        named = super().get_params(deep=False)
        own = {name: value for name, value in params.items() if name not in named and name in _core.option_names()}
        super().set_params(**{name: value for name, value in params.items() if name not in own})
        self._take_options(own)
        return self

    def _values(self):
        """Options of the training that the parameters ask for."""
        values = {name.replace("_", "-"): getattr(self, name) for name in self._own_options()}
        values.update({
            "task": self._task,
            "loss": self._loss(),
            "cost": self._cost(),
            "l1-ratio": 0.0 if self.l1_ratio is None else self.l1_ratio,
            "method": self.method,
            "gap": self.tol,
            "max-rounds": self.max_iter,
            "max-time": self.max_time,
            "threads": threads_of(self.n_jobs),
            "blocks": self.blocks,
            **self._intercept_values(),
        })
        if str(values.get("scale", "none")).replace("_", "-") == "unit-rows":
            raise SettingError("scale='unit-rows' has no place in coef_: sklearn.preprocessing.normalize does it", "scale")
        if self.random_state is not None:
            values["seed"] = self._seed()
            if self.blocks is None:
                values.setdefault("threads-mode", "blocks")
        return values

    def _intercept_values(self):
        return intercept_of(getattr(self, "intercept", "penalised") if self.fit_intercept else "none",
                            self.intercept_scaling)

    def _seed(self):
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(1, 2**31 - 1))

    def _loss(self):
        return str(self.loss).replace("_", "-")

    def _cost(self):
        return self.C

    def _names(self):
        return NAMES

    def _settings(self, **more):
        return _core.Settings("train", {**self._values(), **more}, self._names())

    # ---- training -----------------------------------------------------------------------------------------------

    def _check(self, X, y, **settings):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], **settings)
        return canonical(X), y

    def _train_arrays(self, X, target, weight, start=None, **more):
        settings = self._settings(**more)
        comm = _core.Comm(self.comm)
        data = _core.Data.of_arrays(comm, settings, X, target, weight)
        return self._train(comm, data, settings, start)

    def _train(self, comm, data, settings, start=None):
        model, outcome = _core.train(comm, data, settings, Narrator.of(self.verbose, self.callback), start)
        summary = model.summary()
        self.method_ = text(summary.method)
        self.n_iter_ = outcome.rounds
        self.objective_, self.dual_objective_ = outcome.primal, outcome.dual
        self.duality_gap_, self.stopped_ = outcome.relative_gap, outcome.reason
        self.same_bits_ = outcome.same_bits
        self._history = np.array(outcome.history)
        self._take_weights(model)
        if self.verbose:
            print(f"{self.method_}: {outcome.rounds} rounds, {outcome.seconds:.2f} s, objective {outcome.primal:.8g}, "
                  f"gap {outcome.relative_gap:.2g}", flush=True)
        if outcome.log_problem:
            warnings.warn(f"the run log is not complete: {outcome.log_problem}", RuntimeWarning, stacklevel=4)
        self._outcome = outcome
        return model

    def _conclude(self):
        """After all attributes are set: how a training that did not do all that was asked for is told of."""
        outcome = self.__dict__.pop("_outcome")
        if outcome.interrupted:
            raise KeyboardInterrupt
        if not outcome.complete and outcome.reason != "interrupted":
            remedy = {"max-iter": f"raise max_iter (now {self.max_iter})", "max-time": "allow more max_time"}
            warnings.warn(
                f"stopped ({outcome.reason}) after {outcome.rounds} rounds at a relative duality gap of "
                f"{outcome.relative_gap:.3g}, tol={self.tol or outcome.target:g} was asked for: the objective is at most "
                f"that part above the least. To come closer {remedy.get(outcome.reason, 'raise tol')}, or scale the features.",
                ConvergenceWarning, stacklevel=3)
        return self

    def _take_weights(self, model):
        summary, weights = model.summary(), model.weights()
        d = summary.features
        self.coef_ = np.ascontiguousarray(weights[:d].T)
        self.intercept_ = summary.bias * weights[d] if summary.bias >= 0 else np.zeros(summary.outputs)
        self._packed = None

    def _held(self, X, y, sample_weight):
        """The communicator, settings and data of a training."""
        comm = _core.Comm(self.comm)
        if not isinstance(X, Dataset):
            X, target, weight, more = self._given(X, y, sample_weight)
            settings = self._settings(**more)
            return comm, settings, _core.Data.of_arrays(comm, settings, X, target, weight)
        settings = _core.Settings("train", {**self._values(), **X.options, **self._dataset_options()}, self._names())
        data = X.read(comm, settings, keep=sample_weight is None)
        if sample_weight is not None:
            data.weigh(comm, settings, sample_weight)
        return comm, settings, data

    def _first_weights(self, coef=None, intercept=None):
        """(coef, intercept, classes, given?) that training begins at: those given, with warm_start those of the last fit, or
        None. To be asked before a fit changes anything."""
        if coef is not None:
            return np.atleast_2d(np.asarray(coef, dtype=float)), 0.0 if intercept is None else intercept, None, True
        if intercept is not None:
            raise SettingError("intercept_init needs coef_init", "intercept_init")
        if not self.warm_start or "coef_" not in vars(self):
            return None
        return np.atleast_2d(self.coef_), self.intercept_, getattr(self, "classes_", None), False

    def _start(self, first, features, outputs, output=slice(None)):
        """A model of these weights, or of some of their outputs; None where there are none, and with warm_start where the last
        fit was of other classes or features."""
        if first is None:
            return None
        coef, intercept, classes, given = first
        if coef.shape != (outputs, features) or (classes is not None and not np.array_equal(classes, self.classes_)):
            if given:
                raise SettingError(f"coef_init has the shape {coef.shape}, and {(outputs, features)} is wanted", "coef_init")
            return None
        coef = coef[output]
        weights = np.vstack([coef.T, np.broadcast_to(np.asarray(intercept, dtype=float), outputs)[output]])
        labels = [] if self._task == "regress" else ["1", "0"] if len(coef) == 1 else [str(k) for k in range(len(coef))]
        return _core.Model.make(task=self._task, loss=self._loss(), method="", cost=1.0, bias=1.0, features=features,
                                outputs=len(coef), weights=weights, labels=labels)

    def _fit_dataset(self, dataset, sample_weight, coef_init):
        if coef_init is not None:
            raise SettingError("coef_init is for arrays; a Dataset goes on with warm_start, or from a file by start=",
                               "coef_init")
        start = self._model() if self.warm_start and "coef_" in vars(self) else None
        comm, settings, data = self._held(dataset, None, sample_weight)
        model = self._train(comm, data, settings, start)
        self._packed = model.pack()
        self._take_identity(model)
        return self._conclude()

    def _take_identity(self, model):
        """What else a model of the library says: features, and labels where there are any."""
        self.n_features_in_ = model.summary().features
        names = model.feature_names()
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _dataset_options(self):
        return {}

    @property
    def history_(self):
        """A row for each round: seconds, objective (primal), dual, gaps, step; where there were several trainings, also
        the output that each was for. Needs pandas."""
        if "_history" not in vars(self):
            raise AttributeError("history_ is there after fit")
        import pandas
        columns = [*_core.PROGRESS, "output"][:self._history.shape[1]]
        return pandas.DataFrame(self._history, columns=columns).astype({"round": int})

    # ---- prediction ---------------------------------------------------------------------------------------------

    def _scores(self, X):
        check_is_fitted(self)
        if isinstance(X, Dataset):
            model, comm, settings = self._model(), _core.Comm(self.comm), X.settings("predict")
            scores = model.decide(X.read(comm, settings, model), threads_of(self.n_jobs))
        else:
            X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
            scores = safe_sparse_dot(X, self.coef_.T.reshape(self.n_features_in_, -1), dense_output=True)
            scores = scores + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    # ---- models -------------------------------------------------------------------------------------------------

    def _model(self):
        """The model as the library has it."""
        check_is_fitted(self)
        if self._packed:
            return _core.Model.unpack(self._packed)
        coef = np.atleast_2d(self.coef_)
        labels, order = self._label_texts()
        intercept = np.atleast_1d(np.asarray(self.intercept_, dtype=float))
        bias = 1.0 if intercept.any() else -1.0
        weights = np.vstack([coef.T, intercept]) if bias > 0 else coef.T
        names = getattr(self, "feature_names_in_", None)
        return _core.Model.make(
            task=self._task, loss=self._loss(), method=self.method_, cost=float(self._cost()), bias=bias,
            l1_ratio=float(self.l1_ratio or 0), epsilon=float(getattr(self, "epsilon", 0)), features=coef.shape[1],
            outputs=coef.shape[0], primal=self.objective_, dual=self.dual_objective_,
            relative_gap=self.duality_gap_, rounds=self.n_iter_, instances=getattr(self, "n_samples_seen_", 0),
            weights=weights[:, order] if order is not None else weights, labels=labels,
            feature_names=None if names is None else [str(name) for name in names])

    def _label_texts(self):
        return [], None

    @classmethod
    def _of_model(cls, model):
        """A fitted estimator, with the parameters that the model's training had."""
        summary, options = model.summary(), model.options()
        self = cls(loss=text(summary.loss), C=summary.cost, fit_intercept=summary.bias >= 0,
                   l1_ratio=summary.l1_ratio)
        self.method_, self.n_iter_ = text(summary.method), summary.rounds
        self.objective_, self.dual_objective_ = summary.primal, summary.dual
        self.duality_gap_, self.n_samples_seen_ = summary.relative_gap, summary.instances
        self.stopped_, self._history = None, np.empty((0, len(_core.PROGRESS)))
        self._take_weights(model)
        self._take_identity(model)
        self._packed = model.pack()
        return self

    def save(self, path):
        """Writes a model file, which `bda.load` and the program `bda` read."""
        self._model().write(path)

    def to_liblinear(self, path):
        """Writes a model that LIBLINEAR reads."""
        self._model().export("liblinear", path)

    def coefficients(self, top=None):
        """The weights by the names of features: a Series, or a DataFrame with a column for each class. With `top` only
        that many features, those of the largest weights first. Needs pandas."""
        import pandas
        check_is_fitted(self)
        coef = np.atleast_2d(self.coef_)
        names = getattr(self, "feature_names_in_", np.arange(coef.shape[1]))
        columns = self._column_names(coef.shape[0])
        table = pandas.DataFrame(coef.T, index=names, columns=columns)
        if top is not None:
            table = table.iloc[np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:top]]
        return table.iloc[:, 0] if len(columns) == 1 else table

    def _column_names(self, outputs):
        return ["coefficient"]

    def __getstate__(self):
        state = dict(super().__getstate__())
        if state.get("comm") is not None:  # belongs to this process
            state["comm"] = None
        return state

    # ---- what scikit-learn asks ---------------------------------------------------------------------------------

    def _more_tags(self):
        return {"requires_y": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class Classifier(ClassifierMixin, Linear):
    _task = "classify"

    def __init__(self, loss="squared-hinge", *, C=1.0, l1_ratio=0.0, tol=1e-3, fit_intercept=True,
                 intercept_scaling=1.0, class_weight=None, method="auto", max_iter=1000, max_time=None, n_jobs=None,
                 blocks=None, random_state=None, warm_start=False, verbose=0, callback=None, comm=None, **options):
        self.loss = loss
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.method = method
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.blocks = blocks
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.comm = comm
        self._take_options(options)

    def fit(self, X, y=None, sample_weight=None, *, coef_init=None, intercept_init=None):
        """Learns from rows and their labels, or from a Dataset, which has both.

        X: dense or sparse, [samples, features]; y: [samples] labels of any kind; sample_weight: [samples] >= 0, factors
        of C; weight 3 is three copies, 0 is absent. coef_init and intercept_init, shaped as coef_ and intercept_: where
        training begins instead of 0.
        """
        if isinstance(X, Dataset):
            return self._fit_dataset(X, sample_weight, coef_init)
        first = self._first_weights(coef_init, intercept_init)
        X, codes, sample_weight, more = self._given(X, y, sample_weight)
        outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        self._train_arrays(X, codes, sample_weight, self._start(first, X.shape[1], outputs), **more)
        return self._conclude()

    def _given(self, X, y, sample_weight):
        """Rows, codes of their labels, weights, and options that depend on them."""
        X, y = self._check(X, y)
        if sample_weight is not None:
            X, y, sample_weight = weighted(X, y, sample_weight)
        self.classes_, codes = self._coded(y)
        self._at_least_two_classes()
        self.n_samples_seen_ = X.shape[0]
        return X, codes, sample_weight, self._class_weight_options(y)

    def _coded(self, y):
        """The distinct labels of all ranks, and the place of each among them."""
        two = two_numbers(y)
        if two is None:
            check_classification_targets(y)
        classes, codes = two or np.unique(y, return_inverse=True)
        if self.comm is not None:
            own = classes
            classes = np.unique(np.concatenate(self.comm.allgather(own)))
            codes = np.searchsorted(classes, own)[codes]
        return classes, codes

    def _at_least_two_classes(self):
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes; these have 1 class alone, "
                             f"{self.classes_[0]!r}")

    def _class_weights(self, y):
        """[classes]; None: all 1"""
        if self.class_weight is None:
            return None
        return compute_class_weight(self.class_weight, classes=self.classes_, y=y)

    def _class_weight_options(self, y):
        if self.class_weight == "balanced" and self.comm is not None:
            return {"class-weight": "balanced"}
        weight = self._class_weights(y)
        if weight is None:
            return {}
        return {"class-weight": [f"{k}:{w:.17g}" for k, w in enumerate(weight) if w != 1]}

    def _dataset_options(self):
        if self.class_weight is None:
            return {}
        if isinstance(self.class_weight, str):
            return {"class-weight": self.class_weight}
        return {"class-weight": [f"{label}:{w:.17g}" for label, w in self.class_weight.items()]}

    def _take_identity(self, model):
        super()._take_identity(model)
        names, two = model.labels(), model.summary().classes == 2
        if model.summary().labels:
            numbers = np.array([float(name) for name in names])
            self.classes_ = numbers.astype(int) if (numbers == np.rint(numbers)).all() else numbers
        else:
            self.classes_ = np.array(names)
        if two:  # the library has the larger first
            self.classes_ = self.classes_[::-1].copy()

    def _label_texts(self):
        """Texts of the classes in the library's order, and which outputs they are (None: as they stand)."""
        plain = [str(c) for c in self.classes_]
        if self.classes_.dtype.kind not in "iuf":
            place = sorted(range(len(plain)), key=lambda k: plain[k].encode("utf-8", "surrogateescape"))
        else:
            place = list(range(len(plain)))
        if len(plain) == 2:
            return [plain[1], plain[0]], None
        return [plain[k] for k in place], place

    def _column_names(self, outputs):
        return ["coefficient"] if outputs == 1 else list(self.classes_)

    def decision_function(self, X):
        """[samples] for two classes, positive for classes_[1]; else [samples, classes]."""
        return self._scores(X)

    def predict(self, X):
        scores = self._scores(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _has_probabilities(self):
        if self._loss() != "logistic":
            raise AttributeError(f"predict_proba is there for loss='logistic'; for loss={self.loss!r} use "
                                 f"sklearn.calibration.CalibratedClassifierCV")
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """[samples, classes], in the order of classes_."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """The logarithm of predict_proba."""
        return self._log_probabilities(X)

    def _log_probabilities(self, X):
        scores = self._scores(X)
        if scores.ndim == 1:
            return -np.logaddexp(0, np.column_stack([scores, -scores]))
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


class Regressor(RegressorMixin, Linear):
    _task = "regress"

    def __init__(self, loss="squared-error", *, C=1.0, epsilon=0.1, l1_ratio=0.0, tol=1e-3, fit_intercept=True,
                 intercept_scaling=1.0, method="auto", max_iter=1000, max_time=None, n_jobs=None, blocks=None,
                 random_state=None, warm_start=False, verbose=0, callback=None, comm=None, **options):
        self.loss = loss
        self.C = C
        self.epsilon = epsilon
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.method = method
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.blocks = blocks
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.comm = comm
        self._take_options(options)

    def fit(self, X, y=None, sample_weight=None, *, coef_init=None, intercept_init=None):
        """Learns from rows and their numbers, or from a Dataset, which has both.

        X: dense or sparse, [samples, features]; y: [samples]; sample_weight: [samples] >= 0, factors of C; weight 3 is
        three copies, 0 is absent. coef_init and intercept_init: where training begins instead of 0.
        """
        if isinstance(X, Dataset):
            return self._fit_dataset(X, sample_weight, coef_init)
        first = self._first_weights(coef_init, intercept_init)
        X, y, sample_weight, _ = self._given(X, y, sample_weight)
        self._train_arrays(X, y, sample_weight, self._start(first, X.shape[1], 1))
        return self._conclude()

    def _given(self, X, y, sample_weight):
        """Rows, their numbers, weights, and no options."""
        X, y = self._check(X, y, y_numeric=True)
        if sample_weight is not None:
            X, y, sample_weight = weighted(X, y, sample_weight)
        self.n_samples_seen_ = X.shape[0]
        return X, y, sample_weight, {}

    def _values(self):
        return {**super()._values(), "epsilon": self.epsilon}

    def _take_weights(self, model):
        super()._take_weights(model)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def predict(self, X):
        """[samples]"""
        return self._scores(X)


def weighted(X, y, sample_weight):
    """Samples of weight 0 are left out; weights that are all 1 are none."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weight < 0).any():
        raise SettingError("sample_weight must not have negative numbers", "sample_weight")
    if not (weight > 0).any():
        raise SettingError("sample_weight must not be 0 everywhere", "sample_weight")
    if (weight == 0).any():
        keep = np.flatnonzero(weight)
        X, y, weight = X[keep], y[keep], weight[keep]
    return X, y, None if (weight == 1).all() else weight


document(Classifier, """A linear classifier of two or more labels, trained to a certified duality gap.

With blocks given, the same data give the same bits with any n_jobs; with random_state alone the same call does, n_jobs included;
otherwise threads share their work as is fastest.""")
document(Regressor, """Linear regression, plain, robust or insensitive to small errors, trained to a certified duality gap.

With blocks given, the same data give the same bits with any n_jobs; with random_state alone the same call does, n_jobs included;
otherwise threads share their work as is fastest.""")

"""Cross-validation over a path of C and l1_ratio, by the folds of the library."""
import contextlib
import os
import tempfile

import numpy as np
from sklearn.base import clone

from . import _core
from ._estimators import threads_of
from ._library import Options, SettingError, text

LESS_IS_BETTER = ("log_loss", "mse", "mae")


class Selection:
    """What `select` found.

    estimator : a copy of the one given, fitted on all data with the chosen parameters
    C, l1_ratio : the chosen parameters
    best : place in the path of the best mean; chosen : the place that was chosen
    scores : [places, folds]
    path : a pandas.DataFrame with a row for each place: C, l1_ratio, mean, standard_error
    score : the name of what was measured
    """

    def __init__(self, score, C, l1_ratio, scores, one_standard_error):
        self.score, self.scores, self._C, self._l1_ratio = score, scores, C, l1_ratio
        self.mean = scores.mean(axis=1)
        self.standard_error = scores.std(axis=1) / np.sqrt(scores.shape[1] - 1)
        better = -self.mean if score in LESS_IS_BETTER else self.mean
        self.best = self.chosen = int(better.argmax())
        if one_standard_error:  # the least C, and of these the largest l1_ratio, within a standard error of the best
            near = np.flatnonzero(better[self.best] - better <= self.standard_error[self.best])
            self.chosen = int(min(near, key=lambda k: (C[k], -l1_ratio[k])))
        self.C, self.l1_ratio = float(C[self.chosen]), float(l1_ratio[self.chosen])

    @property
    def path(self):
        import pandas
        return pandas.DataFrame({"C": self._C, "l1_ratio": self._l1_ratio, "mean": self.mean,
                                 "standard_error": self.standard_error})

    def __repr__(self):
        return (f"<Selection: C={self.C:g}, l1_ratio={self.l1_ratio:g}, {self.score} "
                f"{self.mean[self.chosen]:.6g} +- {self.standard_error[self.chosen]:.2g}>")


def increasing(name, values):
    values = np.atleast_1d(np.asarray(values, dtype=float))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
        raise SettingError(f"{name} must be increasing numbers", name)
    return values


def preset(name):
    return [float(value) for value in text(Options.of("select")[name].preset).split(",")]


@contextlib.contextmanager
def file_of_groups(groups, kept):
    """A line for each sample; None where there are no groups."""
    if groups is None:
        yield None
        return
    codes = np.unique(np.asarray(groups)[kept], return_inverse=True)[1]
    with tempfile.TemporaryDirectory(prefix="bda-") as directory:
        path = os.path.join(directory, "groups")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{code}\n" for code in codes)
        yield path


def select(estimator, X, y=None, *, C=None, l1_ratio=(0.0,), folds=5, score=None, groups=None, one_standard_error=False,
           sample_weight=None):
    """Chooses C (and l1_ratio) of a Classifier or Regressor by cross-validation, then fits it on all data.

    X, y, sample_weight: as for fit; X may be a Dataset
    C, l1_ratio: increasing values to try, each of the one with each of the other; default for C: those of `bda select`
    folds: parts of the data, each of which is held out once; each has about the same share of every label
    score: "accuracy", "auc", "f1", "macro_f1", "log_loss", "mse", "mae" or "r2"; default: accuracy, for numbers mse
    groups: [samples] samples of one group stay in one fold
    one_standard_error: choose the least C whose mean score is within a standard error of the best

    Returns a Selection. The folds, and so the scores, are those of `bda select` for the same data.
    """
    if getattr(estimator, "_task", None) not in ("classify", "regress") or not hasattr(estimator, "_held") or \
            not {"C", "l1_ratio"} <= set(estimator.get_params()):
        raise TypeError(f"select() chooses for a bda.Classifier or bda.Regressor, not for {estimator!r}")
    if groups is not None and estimator.comm is not None:
        raise SettingError("groups are not served together with comm", "groups")
    C, l1_ratio = increasing("C", preset("costs") if C is None else C), increasing("l1_ratio", l1_ratio)
    C, l1_ratio = np.tile(C, len(l1_ratio)), np.repeat(l1_ratio, len(C))
    score = (score or ("mse" if estimator._task == "regress" else "accuracy")).replace("-", "_")
    copy = clone(estimator).set_params(C=float(C[0]), l1_ratio=float(l1_ratio[0]))
    kept = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
    with file_of_groups(groups, kept) as path:
        scores = cross_validate(copy, X, y, sample_weight, np.column_stack([C, l1_ratio]), folds, path, score)
    found = Selection(score, C, l1_ratio, scores, one_standard_error)
    found.estimator = copy.set_params(C=found.C, l1_ratio=found.l1_ratio).fit(X, y, sample_weight)
    return found


def cross_validate(estimator, X, y, sample_weight, path, folds, groups, score):
    """[places of the path][folds]"""
    comm, train, data = estimator._held(X, y, sample_weight)
    names = {"folds": "folds", "groups": "groups", **estimator._names()}
    of_folds = _core.Settings("select", {"task": estimator._task, "folds": folds, "groups": groups,
                                         "score": score.replace("_", "-"), "blocks": estimator.blocks}, names)
    predict = _core.Settings("predict", {"threads": threads_of(estimator.n_jobs)}, names)
    try:
        return _core.Folds(comm, data, of_folds).score(path, score, train, predict)
    except SettingError as problem:
        problem.option = problem.option or "score"  # what is left to be wrong for these data
        raise

"""Pictures of trainings, paths and probabilities. Need matplotlib; each returns the axes."""
import numpy as np


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as pyplot
    return pyplot.subplots()[1]


def plot_convergence(*estimators, labels=None, x="seconds", ax=None):
    """The relative duality gap over time, or over rounds with x="round", a line for each fitted estimator."""
    if x not in ("seconds", "round"):
        raise ValueError(f"x must be 'seconds' or 'round', not {x!r}")
    if labels is not None and len(labels) != len(estimators):
        raise ValueError(f"there are {len(estimators)} estimators and {len(labels)} labels")
    ax = _axes(ax)
    for k, estimator in enumerate(estimators):
        history = estimator.history_
        ax.plot(history[x], history["relative_gap"], marker=".", label=estimator.method_ if labels is None else labels[k])
    ax.set(yscale="log", xlabel=x, ylabel="relative duality gap")
    ax.legend()
    return ax


def plot_path(selection, ax=None):
    """Mean scores of the folds with their standard errors over C, a line for each l1_ratio, and what was chosen."""
    ax = _axes(ax)
    path = selection.path
    for ratio, part in path.groupby("l1_ratio"):
        ax.errorbar(part["C"], part["mean"], part["standard_error"], marker=".", capsize=2, label=f"l1_ratio={ratio:g}")
    ax.plot(selection.C, selection.mean[selection.chosen], "o", mfc="none", color="black", label="chosen")
    ax.set(xscale="log", xlabel="C", ylabel=selection.score)
    ax.legend()
    return ax


def plot_calibration(estimator, X, y, *, bins=10, ax=None):
    """How often predictions come true beside the probabilities given: of the second class where there are two, of the
    predicted class where there are more. A bin each for as many equal parts of [0, 1]."""
    p = estimator.predict_proba(X)
    if p.shape[1] == 2:
        given, true = p[:, 1], np.asarray(y) == estimator.classes_[1]
    else:
        given, true = p.max(axis=1), estimator.classes_[p.argmax(axis=1)] == np.asarray(y)
    bin_of = np.minimum((given * bins).astype(int), bins - 1)
    filled = np.unique(bin_of)
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1)
    ax.plot([given[bin_of == b].mean() for b in filled], [true[bin_of == b].mean() for b in filled], marker="o")
    ax.set(xlabel="probability given", ylabel="share that came true", xlim=(0, 1), ylim=(0, 1))
    return ax

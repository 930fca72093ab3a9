"""Model files as estimators."""
from . import _core
from ._library import text


def load(path):
    """The estimator of a model file, whether it was written by `save` or by the program `bda`."""
    model = _core.Model.read(path)
    summary = model.summary()
    task = text(summary.task)
    if task in ("classify", "regress"):
        from ._estimators import Classifier, Regressor
        kind = Classifier if task == "classify" else Regressor
        return kind._of_model(model)
    if task in ("tag", "parse"):
        from ._sentences import Parser, Tagger
        return (Tagger if task == "tag" else Parser)._of_model(model)
    raise ValueError(f"{path} is a model of task {task}")

"""bda: linear and structured models with a certified duality gap, on one machine or many."""
from ._library import Error, SettingError, version as __version__

_PLACES = {
    "Classifier": "_estimators", "Regressor": "_estimators", "Dataset": "_dataset", "load": "_files",
    "LinearSVC": "sklearn", "LogisticRegression": "sklearn", "LinearSVR": "sklearn", "Ridge": "sklearn",
    "ElasticNet": "sklearn", "Tagger": "_sentences", "Parser": "_sentences",
    "select": "_select", "Selection": "_select", "plot_convergence": "plot", "plot_path": "plot",
    "plot_calibration": "plot",
}
__all__ = ["Error", "SettingError", "__version__", *_PLACES]


def __getattr__(name):
    """Nothing heavy is imported before it is asked for."""
    if name in _PLACES:
        import importlib
        return getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    raise AttributeError(f"module 'bda' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)

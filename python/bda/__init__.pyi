"""The types of the package, for those who check them."""
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from typing_extensions import Self

Path = str | os.PathLike[str]
Reals = np.ndarray[Any, np.dtype[np.float64]]
Progress = Callable[[dict[str, float]], bool | None]
Seed = int | np.random.RandomState | None
Weights = dict[Any, float] | str | None

__version__: str

class Error(RuntimeError):
    option: str

class SettingError(Error, ValueError): ...

class Dataset:
    def __init__(self, *paths: Path, **options: Any) -> None: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def target(self) -> Reals: ...
    def __len__(self) -> int: ...

class _Fitted(BaseEstimator):
    n_iter_: Any
    duality_gap_: float
    objective_: float
    dual_objective_: float
    stopped_: str | None
    method_: str
    same_bits_: bool
    @property
    def history_(self) -> pandas.DataFrame: ...
    def save(self, path: Path) -> None: ...

class _Linear(_Fitted):
    coef_: Reals
    intercept_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]
    def fit(self, X: Any, y: Any = ..., sample_weight: Any = ..., *, coef_init: Any = ...,
            intercept_init: Any = ...) -> Self: ...
    def to_liblinear(self, path: Path) -> None: ...
    def coefficients(self, top: int | None = ...) -> pandas.DataFrame | pandas.Series[float]: ...

class _Classifying(ClassifierMixin, _Linear):
    classes_: np.ndarray[Any, Any]
    def decision_function(self, X: Any) -> Reals: ...
    def predict(self, X: Any) -> np.ndarray[Any, Any]: ...
    def predict_proba(self, X: Any) -> Reals: ...
    def predict_log_proba(self, X: Any) -> Reals: ...

class _Regressing(RegressorMixin, _Linear):
    def predict(self, X: Any) -> Reals: ...

class _Sentences(_Fitted):
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def evaluate(self, path: Path) -> dict[str, float]: ...
    def score(self, X: Any, y: Any = ...) -> float: ...

class Classifier(_Classifying):
    def __init__(self, loss: str = ..., *, C: float = ..., l1_ratio: float = ..., tol: float = ...,
                 fit_intercept: bool = ..., intercept_scaling: float = ..., class_weight: Weights = ...,
                 method: str = ..., max_iter: int = ..., max_time: float | None = ..., n_jobs: int | None = ...,
                 blocks: int | None = ..., random_state: Seed = ..., warm_start: bool = ..., verbose: int = ...,
                 callback: Progress | None = ..., comm: Any = ..., **options: Any) -> None: ...

class Regressor(_Regressing):
    def __init__(self, loss: str = ..., *, C: float = ..., epsilon: float = ..., l1_ratio: float = ...,
                 tol: float = ..., fit_intercept: bool = ..., intercept_scaling: float = ..., method: str = ...,
                 max_iter: int = ..., max_time: float | None = ..., n_jobs: int | None = ...,
                 blocks: int | None = ..., random_state: Seed = ..., warm_start: bool = ..., verbose: int = ...,
                 callback: Progress | None = ..., comm: Any = ..., **options: Any) -> None: ...

class LinearSVC(_Classifying):
    def __init__(self, penalty: str | None = ..., loss: str = ..., *, dual: bool | str = ..., tol: float = ...,
                 C: float = ..., multi_class: str = ..., fit_intercept: bool = ..., intercept_scaling: float = ...,
                 class_weight: Weights = ..., verbose: int = ..., random_state: Seed = ..., max_iter: int = ...) -> None: ...

class LogisticRegression(_Classifying):
    def __init__(self, penalty: str | None = ..., *, dual: bool | str = ..., tol: float = ..., C: float = ...,
                 fit_intercept: bool = ..., intercept_scaling: float = ..., class_weight: Weights = ...,
                 random_state: Seed = ..., solver: str = ..., max_iter: int = ..., multi_class: str = ...,
                 verbose: int = ..., warm_start: bool = ..., n_jobs: int | None = ..., l1_ratio: float | None = ...) -> None: ...

class LinearSVR(_Regressing):
    def __init__(self, *, epsilon: float = ..., tol: float = ..., C: float = ..., loss: str = ...,
                 fit_intercept: bool = ..., intercept_scaling: float = ..., dual: bool | str = ...,
                 verbose: int = ..., random_state: Seed = ..., max_iter: int = ...) -> None: ...

class Ridge(_Regressing):
    def __init__(self, alpha: float = ..., *, fit_intercept: bool = ..., copy_X: bool = ...,
                 max_iter: int | None = ..., tol: float = ..., solver: str = ..., positive: bool = ...,
                 random_state: Seed = ...) -> None: ...

class ElasticNet(_Regressing):
    def __init__(self, alpha: float = ..., *, l1_ratio: float = ..., fit_intercept: bool = ...,
                 precompute: bool = ..., max_iter: int = ..., copy_X: bool = ..., tol: float = ...,
                 warm_start: bool = ..., positive: bool = ..., random_state: Seed = ..., selection: str = ...) -> None: ...

class Tagger(_Sentences):
    def __init__(self, loss: str | None = ..., *, C: float | None = ..., tol: float | None = ..., method: str = ...,
                 max_iter: int | None = ..., max_time: float | None = ..., n_jobs: int | None = ...,
                 blocks: int | None = ..., random_state: Seed = ..., verbose: int = ...,
                 callback: Progress | None = ..., comm: Any = ..., **options: Any) -> None: ...
    def predict(self, X: Any, output: Path | None = ...) -> list[list[str]]: ...

class Parser(_Sentences):
    def __init__(self, loss: str | None = ..., *, C: float | None = ..., tol: float | None = ..., method: str = ...,
                 max_iter: int | None = ..., max_time: float | None = ..., n_jobs: int | None = ...,
                 blocks: int | None = ..., random_state: Seed = ..., verbose: int = ...,
                 callback: Progress | None = ..., comm: Any = ..., **options: Any) -> None: ...
    def predict(self, X: Any, output: Path | None = ...) -> list[list[tuple[int, str]]]: ...

def load(path: Path) -> Classifier | Regressor | Tagger | Parser: ...

class Selection:
    estimator: Classifier | Regressor
    score: str
    scores: Reals
    mean: Reals
    standard_error: Reals
    best: int
    chosen: int
    C: float
    l1_ratio: float
    @property
    def path(self) -> pandas.DataFrame: ...

def select(estimator: Classifier | Regressor, X: Any, y: Any = ..., *, C: Iterable[float] | None = ...,
           l1_ratio: Iterable[float] = ..., folds: int = ..., score: str | None = ..., groups: Any = ...,
           one_standard_error: bool = ..., sample_weight: Any = ...) -> Selection: ...
def plot_convergence(*estimators: _Fitted, labels: Sequence[str] | None = ..., x: str = ..., ax: Axes | None = ...) -> Axes: ...
def plot_path(selection: Selection, ax: Axes | None = ...) -> Axes: ...
def plot_calibration(estimator: Any, X: Any, y: Any, *, bins: int = ..., ax: Axes | None = ...) -> Axes: ...

"""The look-alikes beside scikit-learn's own: same parameters, same solutions."""
import inspect
import pickle
import unittest
import warnings

import common  # noqa: F401
import support
import numpy as np
import sklearn.linear_model
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import bda
from bda._core import option_names

FREE = "intercept" in option_names()
WEIGHT = np.random.default_rng(1).integers(0, 4, 150)


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X) + 0.3, np.array(["setosa", "versicolor", "virginica"])[y]


def houses(targets=1):
    X, y = make_regression(150, 12, n_targets=targets, noise=5, bias=3, random_state=2)
    return X + 0.5, y / 50


class Alike(unittest.TestCase):
    def both(self, name, X, y, weight=None, to=1e-4, **parameters):
        """Fits ours and theirs, compares, and returns ours."""
        theirs = getattr(sklearn.svm if name in ("LinearSVC", "LinearSVR") else sklearn.linear_model, name)
        tight = {"tol": 1e-10, "max_iter": 10**6}
        if name in ("LinearSVC", "LinearSVR"):
            tight["random_state"] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = theirs(**{**tight, **parameters}).fit(X, y, sample_weight=weight)
            ours = getattr(bda, name)(**{**parameters, "tol": 1e-12}).fit(X, y, sample_weight=weight)
        self.assertEqual(ours.coef_.shape, theirs.coef_.shape)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=to)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=to)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=10 * to) if name in (
            "Ridge", "ElasticNet", "LinearSVR") else np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        if hasattr(theirs, "predict_proba"):
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=to)
            np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=100 * to)
        return ours


class Solutions(Alike):
    def test_linear_svc(self):
        X, y = iris()
        self.both("LinearSVC", X, y, C=0.1)
        model = self.both("LinearSVC", X, y, weight=WEIGHT, C=0.1, intercept_scaling=3.0, to=1e-3)
        self.assertLess(model.duality_gap_, 1e-8)
        self.assertEqual(sorted(set(model.history_["output"])), [0, 1, 2])
        self.both("LinearSVC", X, y, C=0.1, class_weight="balanced", dual=False)
        self.both("LinearSVC", X[50:], y[50:], C=0.1, loss="hinge", dual=True, to=1e-3)
        self.both("LinearSVC", X[:100], y[:100], C=0.1, multi_class="crammer_singer", to=1e-3)
        self.both("LinearSVC", X, y, C=0.1, multi_class="crammer_singer", to=1e-3)

    def test_linear_svr(self):
        X, y = houses()
        self.both("LinearSVR", X, y, C=0.1, epsilon=0.2, dual=True, to=1e-3)
        self.both("LinearSVR", X, y, weight=WEIGHT, C=0.1, loss="squared_epsilon_insensitive", dual=True, to=1e-3)

    def test_logistic_regression(self):
        X, y = iris()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            ours = bda.LogisticRegression(C=0.5, solver="liblinear", tol=1e-12).fit(X[:100], y[:100])
            theirs = sklearn.linear_model.LogisticRegression(C=0.5, solver="liblinear", tol=1e-12, max_iter=10**4)
            np.testing.assert_allclose(ours.coef_, theirs.fit(X[:100], y[:100]).coef_, atol=1e-4)
        for free in ([False, True] if FREE else [False]):
            with self.subTest(fit_intercept=free):
                two = {"C": 0.5, "fit_intercept": free}
                self.both("LogisticRegression", X[50:], y[50:], class_weight={"virginica": 3}, **two)
                model = self.both("LogisticRegression", X, y, weight=WEIGHT, to=1e-3, **two)
                self.assertEqual(model.coef_.shape, (3, 4))
        one = bda.LogisticRegression(C=0.5, multi_class="ovr", fit_intercept=False, tol=1e-12).fit(X, y)
        for k, label in enumerate(one.classes_):
            alone = bda.Classifier("logistic", C=0.5, fit_intercept=False, tol=1e-12).fit(X, y == label)
            np.testing.assert_array_equal(one.coef_[k], alone.coef_[0])
        np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1)
        self.assertEqual(one.n_iter_.shape, (3,))

    def test_ridge(self):
        for free in ([False, True] if FREE else [False]):
            for targets in (1, 3):
                X, y = houses(targets)
                self.both("Ridge", X, y, alpha=2.0, fit_intercept=free)
                self.both("Ridge", sparse.csr_matrix(X), y, weight=WEIGHT, alpha=0.3, fit_intercept=free)

    def test_elastic_net(self):
        X, y = houses()
        for free in ([False, True] if FREE else [False]):
            model = self.both("ElasticNet", X, y, alpha=0.3, l1_ratio=0.7, fit_intercept=free)
            self.assertTrue((model.coef_ == 0).any())
            self.both("ElasticNet", X, y, weight=WEIGHT + 1.0, alpha=0.1, fit_intercept=free)


class Use(support.Case):
    def test_parameters_are_scikit_learns(self):
        for name in ("LinearSVC", "LogisticRegression", "LinearSVR", "Ridge", "ElasticNet"):
            ours = getattr(bda, name)
            theirs = getattr(sklearn.svm if name in ("LinearSVC", "LinearSVR") else sklearn.linear_model, name)
            known = inspect.signature(ours).parameters
            for parameter, kind in inspect.signature(theirs).parameters.items():
                self.assertIn(parameter, known)
                self.assertEqual(known[parameter].kind, kind.kind, (name, parameter))
            with self.assertRaises(ValueError):
                ours().set_params(method="hull")

    def test_what_is_not_served_is_said(self):
        X, y = iris()
        for kind, parameters, name in (
                (bda.LinearSVC, {"penalty": "l1"}, "penalty"), (bda.LinearSVC, {"dual": 3}, "dual"),
                (bda.LogisticRegression, {"penalty": None}, "penalty"),
                (bda.LogisticRegression, {"warm_start": 3}, "warm_start"),
                (bda.LogisticRegression, {"penalty": "elasticnet"}, "l1_ratio"),
                (bda.LinearSVC, {"C": -1}, "C"), (bda.LinearSVC, {"loss": "log"}, "loss")):
            with self.subTest(parameters=parameters), self.assertRaises(bda.SettingError) as caught:
                kind(**parameters).fit(X, y)
            self.assertEqual(caught.exception.option, name)
            self.assertIn(name, str(caught.exception))
        X, y = houses()
        for kind, parameters, name in (
                (bda.Ridge, {"alpha": 0}, "alpha"), (bda.Ridge, {"positive": True}, "positive"),
                (bda.Ridge, {"alpha": [1, 2]}, "alpha"), (bda.Ridge, {"solver": "magic"}, "solver"),
                (bda.ElasticNet, {"l1_ratio": 1}, "l1_ratio"), (bda.ElasticNet, {"selection": "best"}, "selection"),
                (bda.LinearSVR, {"loss": "huber"}, "loss")):
            with self.subTest(parameters=parameters), self.assertRaises(bda.SettingError) as caught:
                kind(**parameters).fit(X, y)
            self.assertEqual(caught.exception.option, name)
        if not FREE:
            with self.assertRaisesRegex(bda.SettingError, "fit_intercept"):
                bda.Ridge().fit(X, y)

    def test_warm_start(self):
        X, y = iris()
        for model in (bda.LogisticRegression(warm_start=True, tol=1e-6),
                      bda.LogisticRegression(warm_start=True, tol=1e-6, multi_class="ovr")):
            first = np.max(model.fit(X, y).n_iter_)
            self.assertLess(np.max(model.fit(X, y).n_iter_), first)
            self.assertGreater(model.fit(X[:100], y[:100]).score(X[:100], y[:100]), 0.9)  # of other classes: anew
        X, y = houses()
        model = bda.ElasticNet(alpha=0.1, warm_start=True, tol=1e-8)
        first = model.fit(X, y).n_iter_
        self.assertLess(model.fit(X, y).n_iter_, first)
        cold = bda.ElasticNet(alpha=0.1, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-4)

    def test_models_are_kept(self):
        X, y = iris()
        svc = bda.LinearSVC().fit(X, y)
        svc.save(self.path("svc"))
        np.testing.assert_array_equal(bda.load(self.path("svc")).predict(X), svc.predict(X))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(svc)).predict(X), svc.predict(X))
        each = bda.LogisticRegression(multi_class="ovr", fit_intercept=False).fit(X, y)
        with self.assertRaisesRegex(bda.Error, "multinomial"):
            each.save(self.path("each"))
        X, y = houses(2)
        with self.assertRaisesRegex(bda.Error, "one target"):
            bda.Ridge(fit_intercept=False).fit(X, y).save(self.path("ridge"))

    def test_a_gap_not_reached_is_said(self):
        X, y = load_breast_cancer(return_X_y=True)
        with self.assertWarnsRegex(ConvergenceWarning, "duality gap of .* max_iter"):
            bda.LinearSVC(loss="hinge", max_iter=1, tol=1e-12).fit(StandardScaler().fit_transform(X), y)


if __name__ == "__main__":
    support.main()

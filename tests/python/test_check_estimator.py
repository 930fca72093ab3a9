"""All checks that scikit-learn has for estimators."""
import unittest
import warnings

import common  # noqa: F401
import support
from sklearn.base import clone
try:
    from sklearn.utils.estimator_checks import estimator_checks_generator
except ImportError:  # scikit-learn before 1.6
    from sklearn.utils.estimator_checks import check_estimator

    def estimator_checks_generator(estimator):
        return check_estimator(estimator, generate_only=True)

import bda
from bda._core import option_names


class Checks(unittest.TestCase):
    def check(self, *estimators):
        for estimator in estimators:
            passed = 0
            for one, check in estimator_checks_generator(estimator):
                name = getattr(check, "func", check).__name__
                with self.subTest(estimator=estimator, check=name), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if "sample_weight_equivalence" in name:  # of seven digits; scikit-learn's own get a small tol, too
                        one = clone(one).set_params(tol=0, max_iter=10**5)
                    check(one)
                    passed += 1
            self.assertGreater(passed, 35)

    def test_classifier(self):
        self.check(bda.Classifier(), bda.Classifier("hinge"), bda.Classifier("logistic"),
                   bda.Classifier("logistic", l1_ratio=0.5, tol=1e-15), bda.Classifier(n_jobs=2),
                   bda.Classifier(n_jobs=2, random_state=3))

    def test_regressor(self):
        self.check(bda.Regressor(), bda.Regressor("epsilon-insensitive"),
                   bda.Regressor("squared-epsilon-insensitive"), bda.Regressor(C=1e6))

    def test_look_alikes(self):
        self.check(bda.LinearSVC(), bda.LinearSVC(loss="hinge", multi_class="crammer_singer"), bda.LinearSVR(),
                   bda.LogisticRegression(solver="liblinear"),
                   bda.LogisticRegression("elasticnet", l1_ratio=0.5, tol=1e-15, solver="liblinear"),
                   bda.Ridge(fit_intercept=False), bda.ElasticNet(tol=1e-15, fit_intercept=False))
        if "intercept" in option_names():
            self.check(bda.LogisticRegression(), bda.Ridge(), bda.ElasticNet(tol=1e-15))


if __name__ == "__main__":
    support.main()

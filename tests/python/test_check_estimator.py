"""All checks that scikit-learn has for estimators."""
import unittest
import warnings

import common  # noqa: F401
import support
from sklearn.utils.estimator_checks import check_estimator

import bda


class Checks(unittest.TestCase):
    def check(self, *estimators):
        for estimator in estimators:
            passed = 0
            for one, check in check_estimator(estimator, generate_only=True):
                with self.subTest(estimator=estimator, check=getattr(check, "func", check).__name__), \
                        warnings.catch_warnings():
                    warnings.simplefilter("ignore")
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


if __name__ == "__main__":
    support.main()

"""Classifier, Regressor and Dataset beside scikit-learn, beside the program, and as people use them."""
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import common
import support
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

import bda


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def text_like(rows=3000, columns=20000, cells=60, seed=0):
    random = np.random.default_rng(seed)
    column = np.sort(random.integers(columns, size=(rows, cells)), axis=1)
    X = sparse.csr_matrix((random.random(rows * cells), column.ravel(), np.arange(rows + 1) * cells), (rows, columns))
    X.sum_duplicates()
    y = np.sign(X @ random.normal(size=columns) + 0.1 * random.normal(size=rows))
    return X, y


class Optima(unittest.TestCase):
    """The same problems have the same solutions."""

    def close(self, ours, theirs, to=1e-5):
        np.testing.assert_allclose(np.ravel(ours.coef_), np.ravel(theirs.coef_), rtol=0, atol=to)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=to)

    def test_two_classes(self):
        X, y = breast_cancer()
        for loss, C in (("logistic", 0.3), ("squared-hinge", 0.1), ("hinge", 0.1)):
            theirs = (LogisticRegression(C=C, solver="liblinear", tol=1e-10, max_iter=10000) if loss == "logistic" else
                      LinearSVC(C=C, loss=loss.replace("-", "_"), dual=True, tol=1e-9, max_iter=10**6, random_state=0))
            with self.subTest(loss=loss), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                self.close(bda.Classifier(loss, C=C, tol=1e-12, **self.penalised).fit(X, y), theirs.fit(X, y), 1e-4)

    penalised = {}

    def test_free_intercept(self):
        X, y = breast_cancer()
        flowers = load_iris(return_X_y=True)
        for ours, theirs, (X, y) in (
                (bda.Classifier("logistic", C=0.5, tol=1e-13, intercept="free"),
                 LogisticRegression(C=0.5, tol=1e-12, max_iter=10000, solver="newton-cg"), (X + 3, y)),
                (bda.Classifier("logistic", C=0.5, tol=1e-11, intercept="free", method="hull"),
                 LogisticRegression(C=0.5, tol=1e-12, max_iter=10000, solver="newton-cg"), (X, y)),
                (bda.Classifier("logistic", C=0.5, tol=1e-13, intercept="free"),
                 LogisticRegression(C=0.5, tol=1e-12, max_iter=10000, solver="newton-cg"), flowers),
                (bda.Regressor(C=0.5, tol=1e-13, intercept="free"), Ridge(1), (X, y * 40.0 + 7))):
            with self.subTest(ours=ours):
                ours.fit(X, y)
                theirs.fit(X, y)
                if np.size(ours.intercept_) > 1:  # any number may be added to all
                    ours.intercept_ -= ours.intercept_.mean() - theirs.intercept_.mean()
                self.close(ours, theirs)
        self.assertEqual(bda.Classifier(intercept="free", fit_intercept=False).fit(X, y).intercept_, 0)

    def test_all_digits(self):
        """Models whose objectives differ by rounding alone: the nearest to the optimum is kept, and free intercepts of
        several labels, to which any number may be added, stay where they are."""
        for seed in range(12):
            draw = np.random.default_rng(seed)
            X, y, copies = draw.normal(size=(15, 30)), draw.permutation(np.arange(15) % 3), draw.integers(1, 5, 15)
            for more in ({}, {"intercept": "free"}, {"l1_ratio": 0.5}, {"l1_ratio": 0.5, "intercept": "free"}):
                model = bda.Classifier("logistic", tol=0, max_iter=10**5, **more)
                weighted = clone(model).fit(X, y, sample_weight=copies)
                copied = clone(model).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
                with self.subTest(seed=seed, more=more):
                    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-11)
                    self.assertLess(np.abs(weighted.intercept_).max(), 100)

    def test_without_intercept(self):
        X, y = load_iris(return_X_y=True)
        ours = bda.Classifier("logistic", C=2, fit_intercept=False, tol=1e-10).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = LogisticRegression(C=2, fit_intercept=False, tol=1e-10, max_iter=10000).fit(X, y)
        self.close(ours, theirs, 1e-3)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
        np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1)

    def test_regression(self):
        X, y = make_regression(200, 20, noise=5, random_state=1)
        alpha = 0.5
        self.close(bda.Regressor(C=1 / (2 * alpha), fit_intercept=False, tol=1e-14).fit(X, y),
                   Ridge(alpha, fit_intercept=False).fit(X, y), 1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs = LinearSVR(C=0.01, epsilon=1, tol=1e-10, max_iter=10**6, fit_intercept=False, random_state=0).fit(X, y)
        self.close(bda.Regressor("epsilon-insensitive", C=0.01, epsilon=1, fit_intercept=False, tol=1e-10).fit(X, y),
                   theirs, 1e-4)

    def test_the_gap_is_proof(self):
        X, y = text_like()
        best = bda.Classifier("hinge", tol=1e-8).fit(X, y)
        self.assertLessEqual(best.duality_gap_, 1e-8)
        rough = bda.Classifier("hinge", tol=1e-2).fit(X, y)
        self.assertLessEqual(best.objective_, rough.objective_)
        self.assertLessEqual(rough.objective_ - best.objective_, rough.duality_gap_ * rough.objective_)
        margins = np.maximum(0, 1 - y * rough.decision_function(X)).sum()
        own = (rough.coef_ ** 2).sum() / 2 + (rough.intercept_ ** 2).sum() / 2 + margins
        np.testing.assert_allclose(own, rough.objective_, rtol=1e-9)


class Inputs(unittest.TestCase):
    """Whatever form the data have, the model is the same."""

    def test_forms_of_matrices(self):
        X, y = text_like(500, 300, 20)
        want = bda.Classifier(random_state=1).fit(X, y).coef_
        wide = X.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        shuffled = sparse.csr_matrix((X.data[::-1], (X.tocoo().row[::-1], X.indices[::-1])), shape=X.shape)
        unsorted = X.copy()
        for i in range(X.shape[0]):
            part = slice(X.indptr[i], X.indptr[i + 1])
            unsorted.indices[part], unsorted.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
        unsorted.has_sorted_indices = unsorted.has_canonical_format = False
        before = unsorted.indices.copy()
        dense = X.toarray()
        for form in (X.tocsc(), X.tocoo(), wide, shuffled, unsorted, dense, np.asfortranarray(dense),
                     np.repeat(dense, 2, axis=1)[:, ::2], dense[::-1][::-1]):
            got = bda.Classifier(random_state=1).fit(form, y)
            np.testing.assert_array_equal(got.coef_, want)
        np.testing.assert_array_equal(unsorted.indices, before)

    def test_float32(self):
        X, y = text_like(500, 300, 20)
        small = X.astype(np.float32)
        want = bda.Classifier(random_state=1).fit(small.astype(np.float64), y)
        for form in (small, small.toarray()):
            got = bda.Classifier(random_state=1).fit(form, y)
            np.testing.assert_array_equal(got.coef_, want.coef_)
            np.testing.assert_allclose(got.decision_function(form), want.decision_function(small), rtol=1e-4, atol=1e-5)

    def test_labels_of_any_kind(self):
        X, y = load_iris(return_X_y=True)
        want = bda.Classifier().fit(X, y)
        for labels in (np.array(["setosa", "versi", "virgin"]), np.array([-7, 3, 10**6]), np.array([0.0, 1.0, 7.0]),
                       np.array(["10", "9", "x"]), np.array(["a", "b", "ç"], dtype=object)):
            got = bda.Classifier().fit(X, labels[y])
            np.testing.assert_array_equal(got.classes_, np.unique(labels))
            np.testing.assert_array_equal(got.coef_, want.coef_)
            np.testing.assert_array_equal(got.predict(X), labels[want.predict(X)])
        truth = bda.Classifier().fit(X, y == 0)
        self.assertEqual(truth.predict(X).dtype, bool)

    def test_class_weights(self):
        X, y = make_classification(400, weights=[0.9], random_state=1)
        for weight in ("balanced", {0: 1, 1: 5}):
            ours = bda.Classifier("logistic", class_weight=weight, fit_intercept=False, tol=1e-12).fit(X, y)
            theirs = LogisticRegression(class_weight=weight, fit_intercept=False, tol=1e-12, max_iter=1000).fit(X, y)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)

    def test_feature_names(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        X, y = load_iris(return_X_y=True, as_frame=True)
        model = bda.Classifier().fit(X, y)
        self.assertEqual(list(model.feature_names_in_), list(X.columns))
        table = model.coefficients()
        self.assertEqual(table.shape, (4, 3))
        self.assertEqual(list(table.index), list(X.columns))
        top = model.coefficients(top=2)
        self.assertEqual(len(top), 2)
        self.assertEqual(np.abs(top).max().max(), np.abs(table).max().max())
        self.assertIsInstance(bda.Regressor().fit(X, y).coefficients(), pandas.Series)
        history = model.history_
        self.assertEqual(history["round"].iloc[-1], model.n_iter_)
        self.assertEqual(history["best_primal"].iloc[-1], model.objective_)

    def test_errors_name_the_parameter(self):
        X, y = load_iris(return_X_y=True)
        for parameters, name in (({"C": -1}, "C"), ({"tol": "x"}, "tol"), ({"max_iter": 0.5}, "max_iter"),
                                 ({"local_epochs": 0}, "local_epochs"), ({"l1_ratio": 2}, "l1_ratio"),
                                 ({"max_time": "soon"}, "max_time")):
            with self.subTest(name=name), self.assertRaises(bda.SettingError) as caught:
                bda.Classifier(**parameters).fit(X, y)
            self.assertIsInstance(caught.exception, ValueError)
            self.assertEqual(caught.exception.option, name)
            self.assertIn(name, str(caught.exception))
            self.assertNotIn("--", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "nonsense"):
            bda.Classifier("nonsense").fit(X, y)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'costs'"):
            bda.Classifier(costs=1)
        with self.assertRaisesRegex(ValueError, "1 class"):
            bda.Classifier().fit(X, np.zeros(len(y)))
        with self.assertRaises(AttributeError) as caught:
            bda.Classifier().fit(X, y).predict_proba
        self.assertIn("logistic", f"{caught.exception} {caught.exception.__cause__}")


class Use(support.Case):
    def test_options_are_parameters(self):
        model = bda.Classifier("hinge", method="bda", blocks=3, local_epochs=2, a1="K")
        self.assertEqual(model.get_params()["local_epochs"], 2)
        copy = clone(model).set_params(local_epochs=4, C=2)
        self.assertEqual((copy.local_epochs, copy.C, copy.a1, model.local_epochs), (4, 2, "K", 2))
        X, y = breast_cancer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.assertEqual(copy.fit(X, y).method_, "bda")
        with self.assertRaises(ValueError):
            copy.set_params(nonsense=1)

    def test_convergence_warning_has_the_gap(self):
        X, y = text_like()
        with self.assertWarnsRegex(ConvergenceWarning, r"relative duality gap of .*, tol=1e-09 .*max_iter \(now 2\)"):
            model = bda.Classifier("hinge", method="bda", tol=1e-9, max_iter=2).fit(X, y)
        self.assertEqual((model.stopped_, model.n_iter_), ("max-iter", 2))
        self.assertGreater(model.duality_gap_, 1e-9)

    def test_training_begins_at_given_weights(self):
        X, y = text_like(500, 300, 20)
        names = np.array(["no", "yes"])[(y > 0).astype(int)]
        three = np.array(["a", "b", "c"])[np.arange(len(y)) % 3]
        rows = self.path("train.svm")
        dump_svmlight_file(X, y, rows, zero_based=False)
        for model, data in ((bda.Classifier("hinge"), (X, names)), (bda.Classifier("logistic"), (X, three)),
                            (bda.Classifier(intercept="free"), (X.toarray(), y)), (bda.Regressor(fit_intercept=False), (X, y)),
                            (bda.Classifier("logistic"), (bda.Dataset(rows),))):
            with self.subTest(model=model, data=len(data)):
                model.set_params(warm_start=True, tol=1e-5)
                cold = clone(model).fit(*data)
                warm = clone(model).fit(*data).fit(*data)
                self.assertLessEqual(warm.history_["best_primal"][0], cold.objective_ * (1 + 1e-12))
                self.assertLess(cold.history_["best_primal"][1], cold.history_["best_primal"][0])
                self.assertLessEqual(warm.duality_gap_, 1e-5)
                if len(data) == 2:
                    given = clone(model).fit(*data, coef_init=cold.coef_, intercept_init=cold.intercept_)
                    np.testing.assert_array_equal(given.coef_, warm.coef_)
        for arguments, name in (({"coef_init": np.zeros(7)}, "coef_init"), ({"intercept_init": 1}, "intercept_init")):
            with self.assertRaises(bda.SettingError) as caught:
                bda.Classifier().fit(X, y, **arguments)
            self.assertEqual(caught.exception.option, name)
        model = bda.Classifier(warm_start=True).fit(X, y).fit(X[:, :50], names)  # other features and classes: anew
        np.testing.assert_array_equal(model.coef_, bda.Classifier().fit(X[:, :50], names).coef_)

    def test_callback(self):
        X, y = text_like()
        seen = []

        def look(progress):
            seen.append(progress)
            return progress["round"] == 3

        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model = bda.Classifier("hinge", method="bda", tol=0, callback=look).fit(X, y)
        self.assertIn([p["round"] for p in seen], ([0, 1, 2, 3], [0, 1, 2, 3, 4]))  # the round under way is finished
        self.assertEqual(model.stopped_, "interrupted")
        self.assertEqual(seen[-1]["best_primal"], model.objective_)

        def fall(progress):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            bda.Classifier("hinge", method="bda", callback=fall).fit(X, y)

    def test_ctrl_c_keeps_the_model(self):
        X, y = text_like()
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where a shell started this in the background
        self.addCleanup(signal.signal, signal.SIGINT, before)
        model = bda.Classifier("hinge", method="prox-grad", tol=0, max_iter=10**9,
                               callback=lambda p: os.kill(os.getpid(), signal.SIGINT) if p["round"] == 5 else None)
        with self.assertRaises(KeyboardInterrupt):
            model.fit(X, y)
        self.assertEqual(model.stopped_, "interrupted")
        self.assertGreater(model.score(X, y), 0.5)
        self.assertLess(model.duality_gap_, 10)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_threads_run_beside_a_training(self):
        X, y = text_like()
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.001)

        other = threading.Thread(target=tick)
        other.start()
        model = bda.Classifier("hinge", method="prox-grad", tol=0, max_iter=10**9, callback=lambda p: len(ticks) > 20)
        model.fit(X, y)
        done.set()
        other.join()
        self.assertGreater(len(ticks), 20)

    def test_forked_processes_do_not_hang(self):
        X, y = text_like(500, 300, 20)
        want = bda.Classifier(n_jobs=2, blocks=2).fit(X, y).coef_
        child = os.fork()
        if child == 0:  # no test of its own: only its exit status is seen
            status = 1
            try:
                same = (bda.Classifier(blocks=2).fit(X, y).coef_ == want).all()
                bda.Classifier(n_jobs=2, blocks=2).fit(X, y)
            except bda.Error as problem:
                status = 0 if same and problem.option == "n_jobs" else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_same_bits(self):
        X, y = text_like()
        one = bda.Classifier("logistic", blocks=4).fit(X, y)
        two = bda.Classifier("logistic", blocks=4, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(one.coef_, two.coef_)
        seeded = [bda.Classifier("logistic", n_jobs=2, random_state=5).fit(X, y).coef_ for _ in range(2)]
        np.testing.assert_array_equal(*seeded)
        any_jobs = [bda.Classifier("hinge", n_jobs=n, blocks=3, random_state=5).fit(X, y).coef_ for n in (1, 2, 3)]
        np.testing.assert_array_equal(any_jobs[0], any_jobs[1])
        np.testing.assert_array_equal(any_jobs[0], any_jobs[2])

    def test_pickle_grid_search_and_pipelines(self):
        X, y = breast_cancer()
        model = bda.Classifier("logistic", local_epochs=2).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        self.assertEqual(again.get_params(), model.get_params())
        for jobs in (1, 2):
            search = GridSearchCV(bda.Classifier("logistic"), {"C": [0.01, 0.1, 1]}, n_jobs=jobs, cv=3).fit(X, y)
            self.assertGreater(search.best_score_, 0.95)
        scores = cross_val_score(make_pipeline(StandardScaler(), bda.Regressor()), X, y, cv=3)
        self.assertGreater(scores.mean(), 0.5)

    def test_files(self):
        X, y = load_iris(return_X_y=True)
        names = np.array(["setosa", "versicolor", "virginica"])
        for model in (bda.Classifier("logistic").fit(X, names[y]), bda.Classifier().fit(X, y),
                      bda.Classifier().fit(X[:100], names[::-1][y[:100]]), bda.Classifier().fit(X, np.array([3, 20, 100])[y]),
                      bda.Classifier(fit_intercept=False).fit(X, y)):
            model.save(self.path("model"))
            again = bda.load(self.path("model"))
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-12)
            self.assertEqual(again.loss, model._loss())
            again.save(self.path("again"))
        r = bda.Regressor("epsilon-insensitive", epsilon=0.5).fit(X, y)
        r.save(self.path("regressor"))
        np.testing.assert_allclose(bda.load(self.path("regressor")).predict(X), r.predict(X), rtol=1e-12)
        self.write("no model", "1 2 3\n")
        with self.assertRaisesRegex(bda.Error, "no model"):
            bda.load(self.path("no model"))

    def test_the_program_reads_them(self):
        X, y = load_iris(return_X_y=True)
        names = np.array(["setosa", "versicolor", "virginica"])
        model = bda.Classifier("logistic").fit(X, names[y])
        model.save(self.path("model"))
        self.write("data.svm", "".join(
            " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row)) + "\n" for row in X.tolist()))
        self.works("predict", "-q", "model", "data.svm", "out")
        self.assertEqual(self.read("out").decode().split(), list(model.predict(X)))

    def test_dataset(self):
        data = support.problem(rows=400, labels=(7, 3))
        self.write("train.svm", support.libsvm(data))
        self.works("train", "-q", "--loss=logistic", "--bias=1", "train.svm", "model")
        rows = bda.Dataset(self.path("train.svm"))
        self.assertEqual((len(rows), rows.shape[1]), (400, 30))
        model = bda.Classifier("logistic", **self.as_the_program).fit(rows)
        theirs = bda.load(self.path("model"))
        np.testing.assert_array_equal(model.coef_, theirs.coef_)
        np.testing.assert_array_equal(model.classes_, [3, 7])
        np.testing.assert_array_equal(model.predict(rows), theirs.predict(rows))
        X = np.zeros((400, 30))
        for i, (_, x) in enumerate(data):
            for j, value in x.items():
                X[i, j - 1] = value
        np.testing.assert_array_equal(model.predict(X), model.predict(rows))
        np.testing.assert_array_equal(rows.target, [y for y, _ in data])
        again = pickle.loads(pickle.dumps((model, rows)))
        np.testing.assert_array_equal(again[0].predict(again[1]), model.predict(rows))
        model.save(self.path("saved"))
        self.assertEqual(bda.load(self.path("saved")).score(X, rows.target), model.score(X, rows.target))
        with self.assertRaisesRegex(bda.Error, "no-such-file"):
            bda.Classifier().fit(bda.Dataset(self.path("no-such-file")))

    as_the_program = {}

    def test_table_of_numbers_and_words(self):
        self.write("t.csv", "price,area,place\n" + "".join(
            f"{100 + 3 * i + (50 if i % 3 == 0 else 0)},{i},{'abc'[i % 3]}\n" for i in range(60)))
        rows = bda.Dataset(self.path("t.csv"), format="csv", label="price")
        model = bda.Regressor(C=1e6, tol=1e-10).fit(rows)
        self.assertEqual(list(model.feature_names_in_), ["area", "place=a", "place=b", "place=c"])
        np.testing.assert_allclose(model.predict(rows), rows.target, rtol=1e-3)

    def test_nothing_heavy_is_imported(self):
        code = f"import sys; sys.path.insert(0, {common.PACKAGE!r}); import bda; assert bda.__version__; " \
               "assert not {'numpy', 'sklearn', 'pandas'} & set(sys.modules); assert 'Classifier' in dir(bda)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_documentation_is_the_librarys(self):
        self.assertIn("weight of the losses against the regulariser", bda.Classifier.__doc__)
        for kind in (bda.Classifier, bda.Regressor):
            for name in kind().get_params():
                self.assertIn(f"\n{name} : ", kind.__doc__)
            self.assertNotIn("--", kind.__doc__.replace("----------", "").replace("--------------------", ""))


if __name__ == "__main__":
    support.main()

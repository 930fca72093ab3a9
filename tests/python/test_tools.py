"""Tagger, Parser, select and pictures."""
import json
import pickle
import random
import unittest
import warnings

import common  # noqa: F401
import support
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import bda

WORDS = {"NOUN": ["tree", "house", "Köln"], "VERB": ["falls", "sees"], "DET": ["the", "a"]}
COLUMNS = ["ID", "FORM", "LEMMA", "UPOS"]


def corpus(seed, count):
    """Words, tags, and heads with relations: determiner noun verb, perhaps a noun more."""
    draw = random.Random(seed)
    X, tags, edges = [], [], []
    for _ in range(count):
        tag = ["DET", "NOUN", "VERB"] + draw.choice([[], ["NOUN"], ["DET", "NOUN"]])
        X.append([draw.choice(WORDS[t]) for t in tag])
        tags.append(tag)
        edges.append([(2, "det"), (3, "subject"), (0, "root"), *{3: [], 4: [(3, "object")],
                                                                5: [(5, "det"), (3, "object")]}[len(tag)]])
    return X, tags, edges


def conllu(X, tags, edges):
    return "".join("".join(f"{i}\t{w}\t_\t{t}\t_\t_\t{e[0]}\t{e[1]}\t_\t_\n" for i, (w, t, e) in enumerate(zip(*s), 1)) + "\n"
                   for s in zip(X, tags, edges))


class Sentences(support.Case):
    def test_tagger(self):
        X, y, edges = corpus(1, 60)
        model = bda.Tagger().fit(X, y)
        self.assertEqual(model.score(X, y), 1.0)
        new = [["the", "Köln", "sees"], [], ["a", "unseen", "falls"]]
        self.assertEqual(model.predict(new), [["DET", "NOUN", "VERB"], [], ["DET", "NOUN", "VERB"]])
        self.assertEqual(model.predict([[], []]), [[], []])
        self.assertGreater(len(model.history_), 1)
        self.write("train.conllu", conllu(X, y, edges))
        of_file = bda.Tagger(n_jobs=2, blocks=3).fit(self.path("train.conllu"))
        self.assertEqual(of_file.predict(self.path("train.conllu"), self.path("out")), y)
        self.assertEqual(self.read("out"), self.read("train.conllu"))
        self.assertEqual(of_file.evaluate(self.path("train.conllu"))["token_accuracy"], 1.0)
        self.assertEqual(of_file.score(self.path("train.conllu")), 1.0)

    def test_a_tagger_is_kept(self):
        X, y, _ = corpus(2, 40)
        pairs = [[(w, w[0]) for w in sentence] for sentence in X]
        model = bda.Tagger("logistic", C=0.5, min_count=2).fit(pairs, y)
        self.assertEqual(model.get_params()["min_count"], 2)
        model.save(self.path("model"))
        for again in (bda.load(self.path("model")), pickle.loads(pickle.dumps(model))):
            self.assertEqual(again.predict(pairs), y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            stopped = clone(model).set_params(tol=0, callback=lambda p: p["round"] == 1).fit(pairs, y)
        self.assertEqual(stopped.stopped_, "interrupted")
        with self.assertWarnsRegex(ConvergenceWarning, "max_iter"):
            clone(model).set_params(tol=1e-9, max_iter=1).fit(pairs, y)

    def test_parser(self):
        words, tags, y = corpus(3, 60)
        X = [list(zip(*pair)) for pair in zip(words, tags)]
        model = bda.Parser().fit(X, y)
        self.assertEqual(model.score(X, y), 1.0)
        self.assertEqual(model.predict([[("a", "DET"), ("tree", "NOUN"), ("falls", "VERB")]]),
                         [[(2, "det"), (3, "subject"), (0, "root")]])
        self.write("t.conllu", conllu(words, tags, y))
        self.assertEqual(model.predict(self.path("t.conllu")), y)
        self.assertEqual(model.evaluate(self.path("t.conllu"))["las"], 1.0)
        heads = bda.Parser().fit(X, [[head for head, _ in sentence] for sentence in y])
        self.assertEqual(heads.score(X, [[head for head, _ in sentence] for sentence in y]), 1.0)
        model.save(self.path("model"))
        self.assertEqual(bda.load(self.path("model")).predict(X), y)

    def test_wrong_sentences_are_named(self):
        X, y, _ = corpus(4, 5)
        for wrong, tags, words in ((X, y[:4], "5 sentences, y has 4"), ([["a"]], [["A", "B"]], "sentence 0 has 1 tokens"),
                                   ([["a b"]], [["A"]], "blanks"), ([[3]], [["A"]], "tuple of strings"),
                                   ([[""]], [["A"]], "not empty")):
            with self.assertRaisesRegex(ValueError, words):
                bda.Tagger().fit(wrong, tags)
        with self.assertRaisesRegex(ValueError, "tabs"):
            bda.Parser().fit([[("a\tb", "NOUN")]], [[0]])
        with self.assertRaises(bda.SettingError) as caught:
            bda.Tagger(C=-1).fit(X, y)
        self.assertEqual(caught.exception.option, "C")


class Selections(support.Case):
    def test_the_program_chooses_the_same(self):
        X, y = load_iris(return_X_y=True)
        X, y = X[20:], y[20:]
        self.write("data.svm", "".join(f"{label} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row)) + "\n"
                                       for row, label in zip(X.tolist(), y)))
        self.write("groups", "".join(f"g{i // 4}\n" for i in range(len(y))))
        for more, options in (({}, []), ({"one_standard_error": True, "score": "macro-f1"},
                                         ["--one-standard-error", "--score=macro-f1"]),
                              ({"groups": np.arange(len(y)) // 4, "l1_ratio": [0, 0.5]},
                               ["--groups=groups", "--l1-ratios=0,0.5"])):
            said = json.loads(self.works("select", "-q", "--json", "--force", "--costs=0.01,0.1,1", "--folds=4",
                                         "--gap=1e-6", *options, "data.svm", "model").stdout)
            found = bda.select(bda.Classifier(fit_intercept=False, tol=1e-6), X, y, C=[0.01, 0.1, 1], folds=4, **more)
            np.testing.assert_array_equal(found.scores, [t["scores"] for t in said["trials"]])
            np.testing.assert_allclose(found.standard_error, [t["standard_error"] for t in said["trials"]], atol=1e-12)
            self.assertEqual([found.C, found.l1_ratio], list(said["chosen"].values()))
            np.testing.assert_array_equal(found.estimator.predict(X), bda.load(self.path("model")).predict(X))

    def test_regression_and_refusals(self):
        X, y = load_breast_cancer(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        found = bda.select(bda.Regressor(), X, y, folds=3, C=[1e-6, 1e-2], sample_weight=np.arange(len(y)) % 3)
        self.assertEqual((found.C, found.score), (1e-2, "mse"))
        self.assertEqual(found.path.shape, (2, 4))
        self.assertIn("C=0.01", repr(found))
        for arguments, name in (({"C": [2, 1]}, "C"), ({"l1_ratio": [1.5]}, "l1_ratio"), ({"folds": 1}, "folds"),
                                ({"score": "auc"}, "score"), ({"score": "beauty"}, "score")):
            with self.subTest(arguments=arguments), self.assertRaises(bda.SettingError) as caught:
                bda.select(bda.Regressor(), X, y, **arguments)
            self.assertEqual(caught.exception.option, name)
        with self.assertRaises(TypeError):
            bda.select(bda.LinearSVC(), X, y)


class Pictures(unittest.TestCase):
    def test_pictures(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        import matplotlib.pyplot as pyplot
        X, y = load_breast_cancer(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        model = bda.Classifier("logistic", method="hull").fit(X, y)
        other = bda.Classifier("hinge").fit(X, y)
        for x in ("seconds", "round"):
            ax = bda.plot_convergence(model, other, labels=["one", "other"], x=x)
            np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.history_[x])
            np.testing.assert_array_equal(ax.lines[1].get_ydata(), other.history_["relative_gap"])
            self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()], ["one", "other"])
        found = bda.select(bda.Classifier(), X, y, C=[0.01, 0.1], folds=2)
        ax = bda.plot_path(found)
        self.assertEqual(ax.get_ylabel(), "accuracy")
        np.testing.assert_array_equal(ax.lines[-1].get_xdata(), [found.C])
        ax = bda.plot_calibration(model, X, y, bins=5)
        given, true = ax.lines[-1].get_xdata(), ax.lines[-1].get_ydata()
        p = model.predict_proba(X)[:, 1]
        np.testing.assert_allclose(given[0], p[p < 0.2].mean())
        np.testing.assert_allclose(true[-1], y[p >= 0.8].mean())
        iris, kind = load_iris(return_X_y=True)
        self.assertIs(bda.plot_calibration(bda.Classifier("logistic").fit(iris, kind), iris, kind, ax=ax), ax)
        pyplot.close("all")


if __name__ == "__main__":
    support.main()

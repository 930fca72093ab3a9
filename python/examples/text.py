"""Which of three texts is a sentence from? Words as features, C by cross-validation, the words that tell most."""
import re

import numpy as np
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer

import bda

texts = {"cancer": datasets.load_breast_cancer().DESCR, "digits": datasets.load_digits().DESCR,
         "diabetes": datasets.load_diabetes().DESCR}
pairs = [(line, name) for name, text in texts.items() for line in re.split(r"[.\n]\s", text) if len(line.split()) > 2]
lines, y = [line for line, _ in pairs], np.array([name for _, name in pairs])

vectoriser = TfidfVectorizer(sublinear_tf=True)
X = vectoriser.fit_transform(lines)
found = bda.select(bda.Classifier("logistic"), X, y, C=[0.1, 1, 10, 100], folds=5)
print(found)
print(found.path.to_string(index=False))

model = found.estimator
model.feature_names_in_ = vectoriser.get_feature_names_out()
print(model.coefficients(top=8).round(2))
print(f"the objective is at most {model.duality_gap_:.1e} of it above the least")
assert found.mean[found.chosen] > 0.6

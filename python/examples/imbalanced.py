"""A rare class in a dense table: weights of classes, probabilities, and how far they can be believed."""
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split

import bda

X, y = make_classification(4000, 20, n_informative=6, weights=[0.97], class_sep=1.5, random_state=3)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)

plain = bda.Classifier("logistic").fit(X, y)
balanced = bda.Classifier("logistic", class_weight="balanced").fit(X, y)
for name, model in (("plain", plain), ("balanced", balanced)):
    p = model.predict_proba(X_test)[:, 1]
    print(f"{name:9} balanced accuracy {balanced_accuracy_score(y_test, model.predict(X_test)):.3f}, "
          f"average precision {average_precision_score(y_test, p):.3f}, mean probability {p.mean():.3f} "
          f"where {np.mean(y_test):.3f} is true")
assert balanced_accuracy_score(y_test, balanced.predict(X_test)) > balanced_accuracy_score(y_test, plain.predict(X_test))

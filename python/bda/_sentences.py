"""Tagger and Parser: tags and dependency trees of sentences, from lists or from files."""
import contextlib
import os
import shutil
import tempfile

from sklearn.utils.validation import check_is_fitted

from . import _core
from ._docs import document
from ._estimators import Linear, threads_of
from ._library import text

FILES = (str, os.PathLike)


@contextlib.contextmanager
def directory_of(comm):
    """A directory for files that pass sentences to the library; by the same name on all ranks of an mpi4py communicator."""
    if comm is None:
        with tempfile.TemporaryDirectory(prefix="bda-") as path:
            yield path
        return
    path = comm.bcast(tempfile.mkdtemp(prefix="bda-") if comm.rank == 0 else None)
    os.makedirs(path, exist_ok=True)  # on another machine it is another one
    try:
        yield path
    finally:
        comm.barrier()
        shutil.rmtree(path, ignore_errors=True)


def strings_of(token, at):
    """The columns of a token: a word, or a word and what is known about it."""
    columns = tuple(token) if isinstance(token, (tuple, list)) else (token,)
    for column in columns:
        if not isinstance(column, str) or not column:
            raise ValueError(f"{at}: a token must be a word or a tuple of strings that are not empty, not {token!r}")
    return columns


def refuse_lengths(X, y):
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sentences, y has {len(y)}")
    for k, (sentence, gold) in enumerate(zip(X, y)):
        if len(sentence) != len(gold):
            raise ValueError(f"sentence {k} has {len(sentence)} tokens in X, and {len(gold)} in y")


class Sentences(Linear):
    """What taggers and parsers share."""

    l1_ratio, fit_intercept, intercept_scaling = None, False, 1.0

    def __init__(self, loss=None, *, C=None, tol=None, method="auto", max_iter=None, max_time=None, n_jobs=None,
                 blocks=None, random_state=None, verbose=0, callback=None, comm=None, **options):
        self.loss = loss
        self.C = C
        self.tol = tol
        self.method = method
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.blocks = blocks
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.comm = comm
        self._take_options(options)

    def _values(self):
        values = super()._values()
        for name in ("l1-ratio", "bias", "intercept"):
            values.pop(name, None)
        return values

    def _loss(self):
        return None if self.loss is None else super()._loss()

    def _take_weights(self, model):
        self._packed = model.pack()

    def _model(self):
        check_is_fitted(self, "_packed")
        return _core.Model.unpack(self._packed)

    @classmethod
    def _of_model(cls, model):
        summary = model.summary()
        self = cls(loss=text(summary.loss), C=summary.cost)
        self.method_, self.n_iter_ = text(summary.method), summary.rounds
        self.objective_, self.dual_objective_ = summary.primal, summary.dual
        self.duality_gap_, self.stopped_ = summary.relative_gap, None
        self._take_weights(model)
        return self

    def to_liblinear(self, path):
        raise AttributeError("LIBLINEAR has no models of sentences")

    def coefficients(self, top=None):
        raise AttributeError("the features of sentences have no names; `bda info --top=20` shows the largest weights")

    # ---- what they are asked --------------------------------------------------------------------------------------

    def fit(self, X, y=None):
        """X: sentences, and y what is known of their tokens; or X alone: the path of a file that has both."""
        settings = self._settings()
        comm = _core.Comm(self.comm)
        if isinstance(X, FILES):
            self._train(comm, _core.Data.of_files(comm, settings, [X]), settings)
            return self._conclude()
        refuse_lengths(X, y)
        with directory_of(self.comm) as directory:
            name = os.path.join(directory, self._name)
            own = name.replace("{rank}", str(0 if self.comm is None else self.comm.rank))
            with open(own, "w", encoding="utf-8", newline="") as file:
                file.writelines(self._written(X, y))
            path = name if self.comm is not None else own
            self._train(comm, _core.Data.of_files(comm, settings, [path]), settings)
        return self._conclude()

    def predict(self, X, output=None):
        """What is predicted of each token, a list for each sentence. X: sentences, or the path of a file; its text with
        the predictions is written to `output`, if given."""
        with tempfile.TemporaryDirectory(prefix="bda-") as directory:
            if isinstance(X, FILES):
                written = output or os.path.join(directory, "out")
                self._run(X, written)
                return list(self._read(written))
            given, written = os.path.join(directory, "in"), output or os.path.join(directory, "out")
            with open(given, "w", encoding="utf-8", newline="") as file:
                file.writelines(self._written(X, None))
            if not any(len(sentence) for sentence in X):
                return [[] for _ in X]
            self._run(given, written)
            found = iter(self._read(written))
            return [next(found) if len(sentence) else [] for sentence in X]

    def _run(self, path, output=None, measured=False):
        settings = _core.Settings("predict", {"threads": threads_of(self.n_jobs)}, self._names())
        comm, model = _core.Comm(), self._model()
        data = _core.Data.of_files(comm, settings, [path], model)
        return model.predict(comm, data, settings, output, measured)

    def evaluate(self, path):
        """How good the predictions for a file are that has the truth: a dict of numbers by name."""
        return self._run(path, measured=True)

    def score(self, X, y=None):
        """The share of tokens of which everything is right. X and y as for fit."""
        if isinstance(X, FILES):
            return self.evaluate(X)[self._score]
        refuse_lengths(X, y)
        pairs = [(a, b) for got, gold in zip(self.predict(X), y) for a, b in zip(got, gold)]
        return sum(self._same(a, b) for a, b in pairs) / max(1, len(pairs))


class Tagger(Sentences):
    _task, _name, _score = "tag", "train-{rank}.txt", "token_accuracy"

    @staticmethod
    def _written(X, y):
        for k, sentence in enumerate(X):
            for i, token in enumerate(sentence):
                columns = strings_of(token, f"sentence {k}")
                columns += (str(y[k][i]),) if y is not None else ()
                if any(not c or c.split() != [c] for c in columns):
                    raise ValueError(f"sentence {k}: words and tags must have no blanks, and not be empty: {columns!r}")
                yield " ".join(columns) + "\n"
            if len(sentence):
                yield "\n"

    def _read(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            tags, column = [], None
            for line in file:
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) == 10:  # CoNLL-U
                    if columns[0].isdigit():
                        column = column or (4 if self._model().options().get("column") == "xpos" else 3)
                        tags.append(columns[column])
                elif line.strip():
                    if column is None and not line.startswith("#"):
                        tags.append(line.split()[-1])
                elif tags:
                    yield tags
                    tags = []
            if tags:
                yield tags

    @staticmethod
    def _same(found, gold):
        return found == str(gold)


class Parser(Sentences):
    _task, _name, _score = "parse", "train-{rank}.conllu", "las"

    @staticmethod
    def _written(X, y):
        for k, sentence in enumerate(X):
            for i, token in enumerate(sentence):
                columns = strings_of(token, f"sentence {k}")
                if any("\t" in c or "\n" in c or "\r" in c for c in columns):
                    raise ValueError(f"sentence {k}: words and tags must have no tabs and no ends of lines: {columns!r}")
                word, upos, xpos, feats = (columns + ("_",) * 3)[:4]
                head, relation = Parser._edge(y[k][i]) if y is not None else ("_", "_")
                yield "\t".join([str(i + 1), word, "_", upos, xpos, feats, str(head), relation, "_", "_"]) + "\n"
            if len(sentence):
                yield "\n"

    @staticmethod
    def _edge(gold):
        """A head, or a head and a relation."""
        return (gold[0], gold[1]) if isinstance(gold, (tuple, list)) else (gold, "_")

    def _read(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            edges = []
            for line in file:
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) == 10 and columns[0].isdigit():
                    edges.append((int(columns[6]), columns[7]))
                elif not line.strip() and edges:
                    yield edges
                    edges = []
            if edges:
                yield edges

    @staticmethod
    def _same(found, gold):
        head, relation = Parser._edge(gold)
        return found[0] == head and relation in ("_", found[1])


_OF_SENTENCES = """
>>> model = bda.{kind}().fit(X, y)        # or .fit("{file}")
>>> model.predict(X_new)                  # or .predict("{new}", output="{out}")

{forms}"""
document(Tagger, "Tags for the words of sentences, by a structured SVM or a CRF (loss='logistic')." + _OF_SENTENCES.format(
    kind="Tagger", file="train.conllu", new="new.conllu", out="tagged.conllu",
    forms="X: a list of sentences; a sentence is a list of words, or of tuples of a word and what else is known about it.\n"
          "y: a list of lists of tags. A file is CoNLL-U, or plain columns with the tag in the last."))
document(Parser, "Dependency trees of sentences, by a structured SVM or a CRF (loss='logistic')." + _OF_SENTENCES.format(
    kind="Parser", file="train.conllu", new="new.conllu", out="parsed.conllu",
    forms="X: a list of sentences; a sentence is a list of tuples of a word, its UPOS tag and, where there are, XPOS and\n"
          "FEATS. y: a list of lists of heads (from 1, 0 is the root) or of tuples of a head and its relation. Predictions\n"
          "are tuples of both. A file is CoNLL-U."))

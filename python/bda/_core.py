"""Communicators, settings, data, trainings and models of the library, as Python has them. Knows no estimators."""
import ctypes
import os
import signal
import threading

import numpy as np

from . import _abi
from ._library import Call, Error, Handle, Options, encoded, lib, new, text

REASONS = {_abi.BDA_REACHED_GAP: "gap", _abi.BDA_MAX_ROUNDS: "max-iter", _abi.BDA_MAX_TIME: "max-time",
           _abi.BDA_STALLED: "stalled", _abi.BDA_INTERRUPTED: "interrupted", _abi.BDA_FINISHED: "finished",
           _abi.BDA_VALIDATED: "validated"}
PROGRESS = ("round", "seconds", "primal", "best_primal", "dual", "relative_gap", "gap_of_start", "step")


class Comm(Handle):
    """One rank, or those of an mpi4py communicator."""

    free = "bda_comm_free"

    def __init__(self, mpi=None):
        call, self.is_single = Call(), mpi is None
        if mpi is None:
            super().__init__(call(lib.bda_comm_single))
        else:
            from mpi4py import MPI
            super().__init__(call(lib.bda_comm_mpi, MPI._addressof(mpi)), mpi)


class Settings(Handle):
    """Options of a command by name; None is left out. A list gives a repeated option several values."""

    free = "bda_settings_free"

    def __init__(self, command, values=(), names=None):
        self.call = Call(names)
        super().__init__(self.call(lib.bda_settings_new, command.encode()))
        for name, value in dict(values).items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None:
                    self.set(name, one)

    def set(self, name, value):
        self.call(lib.bda_set, self, name.encode(), encoded(self.spelled(value)))

    @staticmethod
    def spelled(value):
        if isinstance(value, (bool, np.bool_)):
            return "1" if value else "0"
        if isinstance(value, (float, np.floating)):
            return repr(float(value))
        return value if isinstance(value, (str, bytes)) else str(value)

    def get(self, name):
        return text(lib.bda_get(self, name.encode()))


def _address(array):
    return array.ctypes.data


def _whole_numbers(array):
    """The array itself where the library can read it, else a copy that it can."""
    return np.ascontiguousarray(array) if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


def _reals(array):
    return array if array.dtype in (np.float32, np.float64) and array.dtype.isnative else array.astype(np.float64)


class Data(Handle):
    """Rows that the library holds, with their labels."""

    free = "bda_data_free"

    @classmethod
    def of_arrays(cls, comm, settings, X, label, weight=None):
        """X: dense, or compressed rows in canonical form; not copied here. label: [rows] double."""
        matrix = new(_abi.bda_matrix)
        matrix.rows, matrix.columns = X.shape
        keep = [np.ascontiguousarray(label, dtype=np.float64)] if label is not None else []
        if keep:
            matrix.label = _address(keep[0])
        if hasattr(X, "indptr"):
            start, column, value = _whole_numbers(X.indptr), _whole_numbers(X.indices), _reals(X.data)
            keep += [start, column, value]
            matrix.start, matrix.start_bytes = _address(start), start.itemsize
            matrix.column, matrix.column_bytes = _address(column), column.itemsize
            matrix.value, matrix.value_bytes = _address(value), value.itemsize
        else:
            value = _reals(X)
            keep.append(value)
            matrix.value, matrix.value_bytes = _address(value), value.itemsize
            matrix.row_stride, matrix.column_stride = value.strides
        data = cls(settings.call(lib.bda_data_matrix, comm, settings, ctypes.byref(matrix)), comm)
        if weight is not None:
            data.weigh(comm, settings, weight)
        return data

    def weigh(self, comm, settings, weight):
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        settings.call(lib.bda_data_weigh, comm, self, _address(weight))

    @classmethod
    def of_files(cls, comm, settings, paths, model=None):
        """Data to train on, or, with a model, to be predicted by it."""
        if model is not None:
            path, = paths
            return cls(settings.call(lib.bda_data_read_for, comm, model, settings, encoded(path)), comm)
        names = (ctypes.c_char_p * len(paths))(*map(encoded, paths))
        return cls(settings.call(lib.bda_data_read_files, comm, settings, len(paths), names), comm)

    def summary(self):
        found = new(_abi.bda_data_summary)
        lib.bda_data_summarise(self, ctypes.byref(found))
        return found

    def labels(self):
        """[own rows], NaN where labels are names."""
        label = np.empty(self.summary().own_rows)
        lib.bda_data_label(self, _address(label))
        return label


class Fork:
    """The threads of OpenMP do not survive a fork: a process that was forked from one that had used several would wait for
    them for ever."""

    used = lost = False

    @classmethod
    def use_threads(cls):
        if cls.lost:
            raise Error("this process was forked from one that had used several threads, and cannot use several itself: "
                        "set n_jobs to 1, or start processes by 'spawn' or with joblib's default backend", "n_jobs")
        cls.used = True

    @classmethod
    def forked(cls):
        cls.lost = cls.lost or cls.used


os.register_at_fork(after_in_child=Fork.forked)


class Folds(Handle):
    """The parts of data that a cross-validation holds out in turn."""

    free = "bda_folds_free"

    def __init__(self, comm, data, settings):
        self.comm, self.settings = comm, settings
        super().__init__(settings.call(lib.bda_folds_new, comm, data, settings), comm, data)

    def score(self, path, metric, train, predict):
        """[places of the path][folds]; path: [places][2] costs and l1 ratios."""
        path = np.ascontiguousarray(np.asarray(path, dtype=np.float64).T)
        trials, score = new(_abi.bda_trials), np.empty((path.shape[1], int(self.settings.get("folds"))))
        trials.count, trials.cost, trials.l1_ratio = path.shape[1], _address(path[0]), _address(path[1])
        trials.train, trials.predict, trials.metric = train.pointer, predict.pointer, metric.encode()
        with Interrupt() as interrupt:
            trials.interrupt = ctypes.addressof(interrupt.flag)
            try:
                train.call(lib.bda_folds_score, self.comm, self, ctypes.byref(trials), _address(score), None)
            except Error:
                if interrupt.flag.value:
                    raise KeyboardInterrupt from None
                raise
        return score


class Interrupt:
    """Ctrl-C ends a training after its round instead of at once, in the main thread, which alone sees signals."""

    def __init__(self):
        self.flag = ctypes.c_int(0)
        self.before = None

    def __enter__(self):
        if threading.current_thread() is threading.main_thread() and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.signal(signal.SIGINT, self.ask)
        return self

    def ask(self, number=signal.SIGINT, frame=None):
        self.flag.value = number

    def __exit__(self, *_):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


class Outcome:
    """How a training ended: `reason`, `complete`, `same_bits`, numbers of the best model, and `history`, a tuple for each
    round in the order of PROGRESS."""

    def __init__(self, c, history, interrupted):
        last = c.last
        self.reason, self.complete, self.same_bits = REASONS[c.reason], bool(c.complete), bool(c.same_bits)
        self.rounds, self.seconds, self.target = last.round, last.seconds, last.target
        self.primal, self.dual, self.relative_gap = last.best_primal, last.dual, last.relative_gap
        self.history, self.interrupted, self.log_problem = history, interrupted, text(c.log.text)


def train(comm, data, settings, on_round=None, start=None):
    """A model and the outcome. `start`: a model whose weights are the first. `on_round` gets a dict after each round, and ends the training by returning True; what it
    raises is raised here, after the round."""
    history, raised = [], []
    interrupt = Interrupt()

    def round_done(_, progress):
        p = progress.contents
        history.append((p.round, p.seconds, p.primal, p.best_primal, p.dual, p.relative_gap, p.gap_of_start, p.step))
        if on_round is None or raised:
            return
        try:
            if on_round(dict(zip(PROGRESS, history[-1]), target=p.target)):
                interrupt.ask(-1)
        except BaseException as problem:  # an exception cannot pass through C
            raised.append(problem)
            interrupt.ask(-1)

    observer = new(_abi.bda_observer)
    observer.round = dict(_abi.bda_observer._fields_)["round"](round_done)
    observer.interrupt = ctypes.addressof(interrupt.flag)
    outcome = new(_abi.bda_outcome)
    outcome.last.size = ctypes.sizeof(_abi.bda_progress)
    with interrupt:
        model = Model(settings.call(lib.bda_train_from, comm, data, settings, start, ctypes.byref(observer),
                                    ctypes.byref(outcome)))
    if raised:
        raise raised[0]
    return model, Outcome(outcome, history, interrupt.flag.value > 0)


class Model(Handle):
    """A model of the library."""

    free = "bda_model_free"

    @classmethod
    def read(cls, path):
        return cls(Call()(lib.bda_model_read, encoded(path)))

    @classmethod
    def unpack(cls, packed):
        return cls(Call()(lib.bda_model_unpack, packed, len(packed)))

    @classmethod
    def make(cls, *, weights, labels=(), feature_names=None, **fields):
        """weights: [features (+ 1 where bias >= 0)][outputs]. labels: texts in the order of the library."""
        s, keep = new(_abi.bda_model_summary), []
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        s.weights = _address(weights)
        for name, value in fields.items():
            setattr(s, name, value.encode() if isinstance(value, str) else value)
        if len(labels):
            numbers = _numbers_of(labels)
            if numbers is not None:
                keep.append(numbers)
                s.labels = _address(numbers)
            s.label_names = (ctypes.c_char_p * len(labels))(*map(encoded, labels))
            s.classes = len(labels)
        if feature_names is not None:
            s.feature_names = (ctypes.c_char_p * len(feature_names))(*map(encoded, feature_names))
        return cls(Call()(lib.bda_model_make, ctypes.byref(s)))

    def pack(self):
        address, count = ctypes.c_void_p(), ctypes.c_size_t()
        Call()(lib.bda_model_pack, self, ctypes.byref(address), ctypes.byref(count))
        try:
            return ctypes.string_at(address, count.value)
        finally:
            ctypes.CDLL(None).free(address)

    def summary(self):
        found = new(_abi.bda_model_summary)
        lib.bda_model_summarise(self, ctypes.byref(found))
        return found

    def weights(self):
        """A copy: [features (+ 1 where there is a constant feature)][outputs]."""
        s = self.summary()
        rows = s.features + (s.bias >= 0)
        if not rows * s.outputs:
            return np.zeros((rows, s.outputs))
        at = ctypes.cast(s.weights, ctypes.POINTER(ctypes.c_double))
        return np.ctypeslib.as_array(at, shape=(rows, s.outputs)).copy()

    def labels(self):
        """Texts, in the order of the library."""
        return [text(lib.bda_model_label(self, k)) for k in range(self.summary().classes)]

    def feature_names(self):
        s = self.summary()
        return [text(s.feature_names[j]) for j in range(s.features)] if s.feature_names else None

    def options(self):
        name, value, found, k = ctypes.c_char_p(), ctypes.c_char_p(), {}, 0
        while lib.bda_model_option(self, k, ctypes.byref(name), ctypes.byref(value)):
            found[text(name.value)] = text(value.value)
            k += 1
        return found

    def write(self, path):
        Call()(lib.bda_model_write, self, encoded(path))

    def export(self, form, path):
        Call()(lib.bda_model_export, self, form.encode(), encoded(path))

    def decide(self, data, threads=1):
        """[own rows][outputs]"""
        score = np.empty((data.summary().own_rows, self.summary().outputs))
        Call()(lib.bda_decide, self, data, threads, _address(score))
        return score

    def predict(self, comm, data, settings, output=None, measured=True):
        """Writes predictions to a file, and returns the metrics by name."""
        metrics = ctypes.c_void_p()
        settings.call(lib.bda_predict, comm, self, data, settings, encoded(output) if output else None,
                      ctypes.byref(metrics) if measured else None)
        found, k = {}, 0
        while measured:
            name = lib.bda_metric_name(metrics, k)
            if name is None:
                break
            found[text(name)] = lib.bda_metric(metrics, name)
            k += 1
        lib.bda_metrics_free(metrics)
        return found


def _numbers_of(labels):
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    rising = np.diff(numbers) > 0 if len(labels) != 2 else numbers[:1] > numbers[1:]
    return numbers if np.isfinite(numbers).all() and rising.all() else None


def option_names():
    """The options of a training, as parameters are spelled."""
    return Options.of("train")

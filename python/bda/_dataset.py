"""Files that the library reads itself: faster than by way of Python, and sharded over ranks."""
import os

from . import _core
from ._library import Options


class Dataset:
    """Rows in a file (LIBSVM text, plain or packed; the program's binary format; CSV and TSV), in several files, in a
    directory, or of a pattern such as "parts/*.zst". Estimators take one instead of X and y.

    Options of reading: zero_based=True, format="csv", label="price", missing="mean".

    The rows are read when they are first needed, and kept as long as the same ones are wanted.
    """

    _of_reading = ("zero_based", "format", "label", "missing")

    def __init__(self, *paths, **options):
        if not paths:
            raise TypeError("Dataset() needs a path")
        for name in options:
            if name not in self._of_reading:
                raise TypeError(f"Dataset() got an unexpected keyword argument '{name}'; there are "
                                + ", ".join(self._of_reading))
        self.paths = tuple(os.fspath(path) for path in paths)
        self.options = {name.replace("_", "-"): value for name, value in options.items()}
        self._key = self._data = None

    def read(self, comm, settings, model=None, keep=True):
        """The data of these settings, for a training or, with a model, for its predictions. keep=False: as files have
        them, to be changed by the caller."""
        if model is not None or not keep:
            return _core.Data.of_files(comm, settings, self.paths, model)
        key = tuple(settings.get(name) for name in ("blocks", "threads"))
        if self._key != key or not comm.is_single:
            self._data = _core.Data.of_files(comm, settings, self.paths)
            self._key = key
        return self._data

    def settings(self, command):
        """Those options of reading that the command has."""
        known = Options.of(command)
        return _core.Settings(command, {n: v for n, v in self.options.items() if n.replace("-", "_") in known})

    def _any(self):
        if self._data is None:
            self.read(_core.Comm(), self.settings("train"))
        return self._data

    @property
    def shape(self):
        """(instances, features)"""
        found = self._any().summary()
        return found.instances, found.features

    def __len__(self):
        return self.shape[0]

    @property
    def target(self):
        """The labels as numbers, NaN where they are names."""
        return self._any().labels()

    def __getstate__(self):
        return {**vars(self), "_key": None, "_data": None}

    def __repr__(self):
        given = [repr(p) for p in self.paths] + [f"{n.replace('-', '_')}={v!r}" for n, v in self.options.items()]
        return f"Dataset({', '.join(given)})"

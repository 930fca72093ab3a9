"""libbda, loaded and declared: `lib.bda_train` and its like, errors as exceptions."""
import ctypes
import os
import re

from . import _abi


class Error(RuntimeError):
    """Something failed: bad data, input or output, numbers. `option` is the parameter that the sentence names, or ""."""

    def __init__(self, text, option=""):
        super().__init__(text)
        self.option = option


class SettingError(Error, ValueError):
    """A parameter is wrong, or wrong for these data; nothing was trained."""


def _candidates():
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libbda.so." + os.environ.get("BDA_SOVERSION", "0")
    if os.environ.get("BDA_LIBRARY"):
        yield os.environ["BDA_LIBRARY"]
        return
    if os.path.exists(os.path.join(here, name)):
        yield os.path.join(here, name)
    yield name


def _load():
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            last = problem
    raise ImportError(f"the library libbda cannot be loaded: {last}")


lib = _load()
for _name, (_result, _arguments) in _abi.FUNCTIONS.items():
    try:
        _function = getattr(lib, _name)
    except AttributeError:
        raise ImportError(f"the library at hand has no {_name}: it is of another version than this package "
                          f"({_abi.BDA_VERSION.strip()})") from None
    _function.restype, _function.argtypes = _result, _arguments
version = lib.bda_version().decode()


def new(structure):
    """A structure that begins with its size."""
    return structure(size=ctypes.sizeof(structure))


def text(c):
    return c.decode("utf-8", "surrogateescape") if c is not None else None


def encoded(string):
    return os.fspath(string).encode("utf-8", "surrogateescape") if not isinstance(string, bytes) else string


class Call:
    """Makes calls whose last argument is a bda_error, and raises what it says.

    `names` has the parameters of those options that are called differently in Python, as "cost": "C".
    """

    def __init__(self, names=None):
        self.names = names or {}
        self.error = _abi.bda_error()

    def __call__(self, function, *arguments):
        self.error.status = _abi.BDA_OK
        result = function(*arguments, ctypes.byref(self.error))
        if not result:
            raise self.exception()
        return result

    def parameter(self, option):
        return self.names.get(option, option.replace("-", "_"))

    def exception(self):
        sentence = text(self.error.text)
        if sentence.startswith("out of memory"):
            return MemoryError(sentence)
        sentence = re.sub(r"--([a-z][a-z0-9-]*)", lambda m: self.parameter(m[1]), sentence)
        kind = SettingError if self.error.status == _abi.BDA_USAGE else Error
        return kind(sentence, self.parameter(text(self.error.option)))


class Handle:
    """An object of the library, freed with it. Keeps alive what it depends on."""

    free = None

    def __init__(self, pointer, *needs):
        self.pointer, self.needs = pointer, needs

    @property
    def _as_parameter_(self):
        return self.pointer

    def close(self):
        pointer, self.pointer = self.pointer, None
        if pointer:
            getattr(lib, self.free)(pointer)
        self.needs = ()

    def __del__(self):
        try:
            self.close()
        except (AttributeError, TypeError):  # the interpreter ends
            pass

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} belongs to this process and cannot be pickled")


class Options:
    """The options of a command, as the library declares them."""

    _tables = {}

    @classmethod
    def of(cls, command):
        if command not in cls._tables:
            table, k, options = lib.bda_options(command.encode()), 0, {}
            while table[k].name:
                options[text(table[k].name).replace("-", "_")] = table[k]
                k += 1
            cls._tables[command] = options
        return cls._tables[command]

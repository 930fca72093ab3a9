"""What the tests of the Python package share.

A script gets the path of the program as its first argument; beside it are the package, in python/, and the library. It
exits with SKIPPED where the interpreter has no scikit-learn, or the library is built for a sanitizer, which would have
to be loaded before Python.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

# What others compute is small, and threads of OpenBLAS that wait for each other hardly move on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(support.BDA)
PACKAGE = os.path.join(BUILD, "python")
if os.environ.get("BDA_INSTALLED") != "1":  # set: what is installed is tested instead
    sys.path.insert(0, PACKAGE)


def skip(reason):
    print(f"skipped: {os.path.basename(sys.argv[0])}: {reason}")
    sys.exit(support.SKIPPED)


if os.environ.get("BDA_BUILD_TYPE", "Release") not in ("Release", "RelWithDebInfo"):
    skip("the library is not a release build")
try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
    import sklearn  # noqa: F401
except ImportError as missing:
    skip(f"{sys.executable} has no {missing.name}")

"""The examples, the types, and ranks of mpi4py."""
import ast
import glob
import inspect
import os
import re
import subprocess
import sys
import unittest

import common
import support

import bda

EXAMPLES = os.path.join(common.ROOT, "python", "examples")


def run(*command):
    environment = support.environment(0)
    if os.environ.get("BDA_INSTALLED") != "1":
        environment["PYTHONPATH"] = common.PACKAGE
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=support.TIMEOUT)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


def mpi():
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        raise unittest.SkipTest("no mpi4py") from None
    if not support.has_launcher():
        raise unittest.SkipTest("no mpirun")
    return os.environ.get("MPIEXEC", "mpirun")


class Examples(unittest.TestCase):
    def test_they_run(self):
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(EXAMPLES, "*.py")))
        self.assertEqual(names, ["imbalanced.py", "ranks.py", "tagger.py", "text.py"])
        for name in set(names) - {"ranks.py"}:
            with self.subTest(name=name):
                self.assertGreater(len(run(sys.executable, os.path.join(EXAMPLES, name))), 50)

    def test_one_model_on_any_ranks(self):
        launcher, script = mpi(), os.path.join(EXAMPLES, "ranks.py")
        said = [run(sys.executable, script)] + [run(launcher, "-n", str(n), sys.executable, script) for n in (2, 4)]
        digests = {re.search(r"SHA-256 of coef_ (\w{64})", one)[1] for one in said}
        self.assertEqual(len(digests), 1, said)


class Ranks(support.Case):
    def test_sentences_labels_and_errors(self):
        launcher = mpi()
        self.write("ranks.py", """
import sys
from mpi4py import MPI
import numpy as np
import bda
comm = MPI.COMM_WORLD
X, y = [["a", "tree"], ["the", "tree", "falls"]] * 3, [["D", "N"], ["D", "N", "V"]] * 3
own = slice(comm.rank, None, comm.size)
tagger = bda.Tagger(comm=comm, blocks=2).fit(X[own], y[own])
assert tagger.predict(X) == y
labels = np.array(["x", "y", "z"])
rows = np.eye(3)[[0, 1, 2, 0, 1, 2]]
own = [0, 3] if comm.rank == 0 else [1, 2, 4, 5]
model = bda.Classifier(comm=comm).fit(rows[own], np.resize(labels, 6)[own])
assert list(model.classes_) == list(labels) and list(model.predict(rows)) == list(np.resize(labels, 6))
try:
    bda.Classifier(comm=comm, method="nonsense").fit(rows[own], np.resize(labels, 6)[own])
except bda.SettingError as problem:
    assert "nonsense" in str(problem)
    print("refused", flush=True)
""")
        self.assertEqual(run(launcher, "-n", "2", sys.executable, self.path("ranks.py")).count("refused"), 2)


class Types(unittest.TestCase):
    def test_the_stub_is_true(self):
        folder = os.path.dirname(inspect.getsourcefile(bda))
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
            stub = {node.name: node for node in ast.parse(file.read()).body if hasattr(node, "name")}
        for name in set(bda.__all__) - {"__version__"}:
            self.assertIn(name, stub)
            said = stub[name]
            if isinstance(said, ast.FunctionDef):
                self.assertEqual(self.parameters(said), list(inspect.signature(getattr(bda, name)).parameters))
            elif any(isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in said.body):
                init = next(node for node in said.body if getattr(node, "name", "") == "__init__")
                known = inspect.signature(getattr(bda, name).__init__).parameters
                self.assertEqual(self.parameters(init), list(known), name)
        for name, node in stub.items():
            kind = getattr(bda, name, None)
            for method in node.body if kind else []:
                if isinstance(method, ast.FunctionDef):
                    self.assertTrue(hasattr(kind, method.name), (name, method.name))

    @staticmethod
    def parameters(function):
        a = function.args
        star = [a.vararg.arg] if a.vararg else []
        double = [a.kwarg.arg] if a.kwarg else []
        return [p.arg for p in a.posonlyargs + a.args] + star + [p.arg for p in a.kwonlyargs] + double


if __name__ == "__main__":
    support.main()

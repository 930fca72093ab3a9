"""Prints the names of the classes of a test script that have tests, with semicolons between them: CMake's lists."""
import importlib.util
import os
import sys
import unittest

path = sys.argv[1]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location("script", path)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
suites = unittest.defaultTestLoader.loadTestsFromModule(script)
print(";".join(sorted({type(test).__name__ for suite in suites for test in suite})), end="")

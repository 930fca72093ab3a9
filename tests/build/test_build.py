"""The build itself: what is missing or skipped is said, and the shared library never ends the program that uses it."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Skips(support.Case):
    """How a script of tests reports tests that were skipped."""

    def run_script(self, body):
        self.write("script.py", "import sys\n" f"sys.path.insert(0, {os.path.dirname(support.__file__)!r})\n"
                   f"import support\n\n\nclass Some(support.Case):\n{body}\n\nsupport.main()\n")
        return subprocess.run([sys.executable, "-B", self.path("script.py"), support.BDA], capture_output=True,
                              text=True, timeout=support.TIMEOUT)

    SKIPPED = "    def test_a(self):\n        self.skipTest('no moon')\n\n"
    PASSED = "    def test_b(self):\n        pass\n\n"
    FAILED = "    def test_c(self):\n        self.fail()\n\n"

    def test_all_skipped(self):
        r = self.run_script(self.SKIPPED)
        self.assertEqual(r.returncode, support.SKIPPED)
        self.assertIn("skipped: Some.test_a: no moon\n", r.stdout)

    def test_one_skipped(self):
        r = self.run_script(self.SKIPPED + self.PASSED)
        self.assertEqual(r.returncode, 0)
        self.assertIn("skipped: Some.test_a: no moon\n", r.stdout)

    def test_none_skipped(self):
        r = self.run_script(self.PASSED)
        self.assertEqual((r.returncode, r.stdout), (0, ""))

    def test_a_failure_is_no_skip(self):
        self.assertEqual(self.run_script(self.SKIPPED + self.FAILED).returncode, 1)


@support.unittest.skipUnless(shutil.which("cmake") and shutil.which("pkg-config"), "no cmake or pkg-config")
class Configure(support.Case):
    def configure(self, *args):
        self.write("pkg-config", '#!/bin/sh\ncase "$*" in *cmocka*) exit 1 ;; esac\n'
                   f'exec {shutil.which("pkg-config")} "$@"\n')
        os.chmod(self.path("pkg-config"), 0o755)
        return subprocess.run(["cmake", "-S", ROOT, "-B", self.path("b"), *args,
                               "-DPKG_CONFIG_EXECUTABLE=" + self.path("pkg-config")], capture_output=True, text=True,
                              timeout=support.TIMEOUT)

    def test_without_cmocka(self):
        r = self.configure("-DBUILD_TESTING=ON")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("cmocka", r.stderr)
        self.assertIn("libcmocka-dev", r.stderr)
        r = self.configure("-DBUILD_TESTING=OFF")
        self.assertEqual(r.returncode, 0, r.stderr)


class Library(support.Case):
    @support.unittest.skipUnless(shutil.which("nm"), "no nm")
    @support.unittest.skipUnless(os.environ.get("BDA_BUILD_TYPE") == "Release", "not a release build")
    def test_nothing_in_it_ends_the_program(self):
        library = os.path.join(os.path.dirname(support.BDA), "libbda.so")
        wanted = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True,
                                text=True).stdout
        names = {line.split()[-1].partition("@")[0] for line in wanted.splitlines()}
        self.assertIn("malloc", names)  # or nm did not say what it should
        self.assertEqual(names & {"__assert_fail", "abort", "exit", "_exit", "_Exit", "quick_exit"}, set())


if __name__ == "__main__":
    support.main()

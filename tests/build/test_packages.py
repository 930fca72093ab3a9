"""What is installed and how it is packed: pkg-config and CMake find it, archives repeat, there is one version."""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(support.BDA)
RELEASE = os.environ.get("BDA_BUILD_TYPE") == "Release"
sys.path.insert(0, os.path.join(ROOT, "packaging"))
sys.dont_write_bytecode = True
import backend  # noqa: E402

PROGRAM = '#include <bda.h>\n#include <stdio.h>\nint main(void) { puts(bda_version()); return 0; }\n'


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=support.TIMEOUT, **more).stdout


@support.unittest.skipUnless(RELEASE, "not a release build")
@support.unittest.skipUnless(shutil.which("cc") and shutil.which("cmake") and shutil.which("pkg-config"),
                             "no cc, cmake or pkg-config")
class Installed(support.Case):
    def setUp(self):
        super().setUp()
        run("cmake", "--install", BUILD, "--prefix", self.path("usr"))
        self.write("main.c", PROGRAM)

    def version(self, program):
        folders = {os.path.dirname(path) for path in glob.glob(self.path("usr/lib*/**/libbda.so.0"), recursive=True)}
        return run(program, env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}).strip()

    def test_pkg_config_and_cmake(self):
        found = glob.glob(self.path("usr/**/pkgconfig"), recursive=True)
        self.assertEqual(len(found), 1)
        # The file has the prefix of the configuration; a package is installed where it was configured for.
        with open(os.path.join(found[0], "bda.pc"), encoding="utf-8") as file:
            text = re.sub(r"^(prefix|libdir|includedir)=.*/(usr/local|usr)\b", lambda m: m[1] + "=" + self.path("usr"),
                          file.read(), flags=re.M)
        self.write("bda.pc", text)
        flags = run("pkg-config", "--cflags", "--libs", self.path("bda.pc")).split()
        run("cc", "-std=c99", "-Wall", "-Werror", "-o", self.path("a"), self.path("main.c"), *flags)
        self.assertEqual(self.version(self.path("a")), backend.version())
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(a C)\n"
                   f"find_package(bda {backend.version()} REQUIRED)\nadd_executable(b main.c)\n"
                   "target_link_libraries(b bda::bda)\n")
        run("cmake", "-S", self.directory, "-B", self.path("build"), "-DCMAKE_PREFIX_PATH=" + self.path("usr"))
        run("cmake", "--build", self.path("build"))
        self.assertEqual(self.version(self.path("build/b")), backend.version())
        self.assertFalse(glob.glob(self.path("usr/**/*.a"), recursive=True))


class Archives(support.Case):
    def digest(self, path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def test_sources_repeat(self):
        names = [backend.build_sdist(self.path(d)) for d in ("a", "b") if not os.mkdir(self.path(d))]
        self.assertEqual(self.digest(self.path("a/" + names[0])), self.digest(self.path("b/" + names[1])))
        with tarfile.open(self.path("a/" + names[0])) as archive:
            inside = {name.partition("/")[2] for name in archive.getnames()}
        self.assertLessEqual({"PKG-INFO", "pyproject.toml", "include/bda.h", "packaging/backend.py", "src/comm/mpi.c",
                              "python/bda/__init__.py", "LICENSE"}, inside)
        self.assertFalse([name for name in inside if name.startswith("build")])

    @support.unittest.skipUnless(RELEASE, "not a release build")
    @support.unittest.skipUnless(shutil.which("readelf") and os.path.isdir(os.path.join(BUILD, "python")), "no readelf")
    def test_wheel(self):
        package = os.path.join(BUILD, "python", "bda")
        names = [backend.pack_wheel(package, self.path(d)) for d in ("a", "b") if not os.mkdir(self.path(d))]
        wheel = self.path("a/" + names[0])
        self.assertEqual(self.digest(wheel), self.digest(self.path("b/" + names[1])))
        self.assertRegex(names[0], r"^bda-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            self.assertLessEqual({"bda/__init__.py", "bda/__init__.pyi", "bda/py.typed", "bda/_abi.py",
                                  "bda/libbda.so.0"}, set(archive.namelist()))
            record = archive.read(f"bda-{backend.version()}.dist-info/RECORD").decode()
            for name in archive.namelist():
                self.assertIn(f"{name},", record)
            archive.extractall(self.path("site"))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        said = run(sys.executable, "-c", "import bda; print(bda.__version__, bda.__file__)", cwd=self.path("site"),
                   env={**environment, "PYTHONPATH": self.path("site")})
        self.assertEqual(said.split(), [backend.version(), self.path("site/bda/__init__.py")])


@support.unittest.skipUnless(shutil.which("gcc") and shutil.which("abidw"), "no gcc or abigail-tools")
class Interface(support.Case):
    def compared(self, pattern="", by="", count=1):
        """Status and words of tools/abi for a header in which something was changed."""
        header, found = re.subn(pattern, by, backend.read("include", "bda.h"), count=1, flags=re.M) if pattern else (
            backend.read("include", "bda.h"), count)
        self.assertEqual(found, count)
        self.write("bda.h", header)
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "abi"), self.path("bda.h")],
                              capture_output=True, text=True, timeout=support.TIMEOUT)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_programs_of_the_last_release_go_on(self):
        status, words = self.compared()
        self.assertEqual(status, 0, words)

    def test_what_breaks_them_is_found(self):
        for pattern, by, words in ((r"^BDA_API bool bda_is_model.*$", "", "Removed function"),
                                   (r"^    double seconds;", "    double earlier;\n    double seconds;", "'seconds'"),
                                   (r"BDA_FAILED = 1", "BDA_FAILED = 3", "enumerator"),
                                   (r"const double \*label; ", "const float *label; ", "'label'"),
                                   (r"^    bda_status status;", "    int extra;\n    bda_status status;", "offset changed")):
            with self.subTest(pattern=pattern):
                status, said = self.compared(pattern, by)
                self.assertEqual(status, 1, said)
                self.assertIn(words, said)

    def test_what_is_added_breaks_nothing(self):
        for pattern, by in ((r"^BDA_API bool bda_is_model", "BDA_API bool bda_new(int);\nBDA_API bool bda_is_model"),
                            (r"^(    bda_error data;.*)$", r"\1\n    double more;")):
            with self.subTest(pattern=pattern):
                status, said = self.compared(pattern, by)
                self.assertEqual(status, 0, said)


class Version(support.Case):
    """The header has it; what must repeat it says the same."""

    def test_one_version(self):
        for name, pattern in (("debian/changelog", r"\Abda \(([\d.]+)-\d+\)"),
                              ("packaging/conda/meta.yaml", r'^\{% set version = "([\d.]+)" %\}'),
                              ("packaging/spack/package.py", r'^    version\("([\d.]+)"')):
            with self.subTest(name=name):
                found = re.search(pattern, backend.read(*name.split("/")), re.M)
                self.assertEqual(found and found[1], backend.version())
        said = run(support.BDA, "--version")
        self.assertIn(backend.version(), said)


if __name__ == "__main__":
    support.main()

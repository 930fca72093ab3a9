"""The shared library as others use it: what it exports, and the example of docs/library.md."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = os.path.dirname(support.BDA)


def header():
    with open(os.path.join(ROOT, "include", "bda.h"), encoding="utf-8") as f:
        return f.read()


class Symbols(support.Case):
    @support.unittest.skipUnless(shutil.which("nm"), "no nm")
    def test_exported_is_what_the_header_declares(self):
        out = subprocess.run(["nm", "-D", "--defined-only", os.path.join(LIBRARIES, "libbda.so")], check=True,
                             capture_output=True, text=True).stdout
        exported = {line.split()[-1].partition("@")[0] for line in out.splitlines() if line.split()[-2] in "TDBR"}
        declared = set(re.findall(r"BDA_API[^;]*?\b(bda_\w+)\(", header()))
        self.assertGreater(len(declared), 40)
        self.assertEqual(exported, declared)


@support.unittest.skipUnless(shutil.which("cc"), "no cc")
@support.unittest.skipUnless(os.environ.get("BDA_BUILD_TYPE") == "Release", "not a release build")
class Example(support.Case):
    FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include")]

    def build(self, source):
        subprocess.run(["cc", *self.FLAGS, "-o", self.path("example"), self.path(source), "-L", LIBRARIES, "-lbda",
                        "-Wl,-rpath," + LIBRARIES], check=True)

    def build_and_run(self, source):
        self.build(source)
        return subprocess.run([self.path("example")], capture_output=True, text=True, timeout=support.TIMEOUT)

    def test_the_documented_program(self):
        with open(os.path.join(ROOT, "docs", "library.md"), encoding="utf-8") as f:
            text = f.read()
        code = [line[4:] for line in re.search(r"(?:    .*\n|\n)+", text[text.index("    #include"):])[0].splitlines()]
        self.assertIn("int main(void)", code)
        self.write("example.c", "\n".join(code) + "\n")
        r = self.build_and_run("example.c")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"\Aobjective \d+\.\d{4}, at most \S+ above the least\n"
                                   r"\(1.5, 1\) is 1 with probability 0\.9\d\d\n\Z")

    def test_mpi_is_loaded_when_it_is_needed(self):
        needed = subprocess.run(["readelf", "-d", os.path.join(LIBRARIES, "libbda.so")], check=True, capture_output=True,
                                text=True).stdout
        self.assertIn("libgomp", needed)
        self.assertNotIn("libmpi", needed)
        self.write("ranks.c", r"""
            #include <bda.h>
            #include <stdio.h>
            #include <string.h>
            int main(void)
            {
                bda_error err = {0};
                bda_comm *c = bda_comm_launch(&err);
                char line[100] = "", maps[10000];
                FILE *f = fopen("/proc/self/maps", "r");
                int mpi = 0;
                while (f && fgets(maps, sizeof maps, f))
                    mpi |= strstr(maps, "libmpi") != NULL;
                if (c)
                    snprintf(line, sizeof line, "%d of %d, %s MPI\n", bda_comm_rank(c), bda_comm_size(c),
                             mpi ? "with" : "without");
                fputs(c ? line : err.text, stdout);
                bda_comm_free(c);
                return !c;
            }
            """)
        self.build("ranks.c")

        def run(*launcher, **environment):
            return subprocess.run([*launcher, self.path("example")], env={**support.environment(0), **environment},
                                  capture_output=True, text=True, timeout=support.TIMEOUT).stdout

        self.assertEqual(run(), "0 of 1, without MPI\n")
        self.assertIn("libbda-mpi.so.0 cannot be loaded", run(PMI_RANK="0", BDA_MPI=self.path("nothing")))
        if support.has_launcher():
            said = run(os.environ.get("MPIEXEC", "mpirun"), "-n", "2")
            self.assertEqual(sorted(said.splitlines()), ["0 of 2, with MPI", "1 of 2, with MPI"])

    @support.unittest.skipUnless(shutil.which("c++"), "no c++")
    def test_the_header_is_good_for_cxx(self):
        self.write("a.cc", '#include <bda.h>\nint main() { bda_outcome o = {}; o.size = sizeof o; return o.size == 0; }\n')
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include"), "-c",
                        "-o", self.path("a.o"), self.path("a.cc")], check=True)


if __name__ == "__main__":
    support.main()

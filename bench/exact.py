"""What the same bits on any number of ranks cost: the exact sum of vectors beside MPI_Allreduce."""
import os
import shlex
import subprocess

import tools


def build():
    tools.need("mpicc", "pkg-config")
    library = os.environ.get("BDA_LIBRARY", os.path.join(os.path.dirname(tools.PROGRAM), "libbda.a"))
    if not os.path.exists(library):
        raise tools.Missing(f"{library} is not there: ./dev build makes it")
    os.makedirs(tools.CACHE, exist_ok=True)
    program = os.path.join(tools.CACHE, "exact")
    libraries = subprocess.run(["pkg-config", "--libs", "zlib", "libzstd", "libxxhash"], check=True, text=True,
                               capture_output=True).stdout
    subprocess.run(["mpicc", "-O2", "-std=c17", "-fopenmp", "-I", os.path.join(tools.ROOT, "include"), "-I",
                    os.path.join(tools.ROOT, "src"), os.path.join(tools.ROOT, "bench", "exact.c"), library,
                    *shlex.split(libraries), "-lm", "-o", program], check=True)
    return program


def run(options):
    program = build()
    rows = []
    for n in (100_000, 1_000_000, 10_000_000):
        r = tools.run(tools.launcher(2) + [program, str(n), "15"])
        if r.status != 0:
            raise RuntimeError(r.output)
        plain, exact = map(float, r.output.split())
        rows.append([f"{n:,}", 1e3 * plain, 1e3 * exact, exact / plain])
    tools.table("Sum of a vector over 2 ranks: milliseconds", ["numbers", "MPI_Allreduce", "exact", "ratio"], rows)

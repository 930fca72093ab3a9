from spack.package import *


class Bda(CMakePackage):
    """Learn linear and structured models from data, on one machine or many."""

    license("BSD-3-Clause")
    version("0.1.0")

    variant("mpi", default=True, description="Runs on several ranks")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("random123")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        return [self.define_from_variant("BDA_MPI", "mpi"), self.define("BUILD_TESTING", self.run_tests)]

"""Builds the wheel and the source archive of the Python package: what pip calls (PEP 517), and `./dev wheel`.

Needs nothing but Python, CMake and a C compiler with the libraries that the README names. The same sources give the same
bytes: times are those of the last commit (SOURCE_DATE_EPOCH), names are in order. The wheel holds the library without
MPI, other libraries within it, and the OpenMP runtime beside it, so it runs wherever its tag says.
"""
import base64
import gzip
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What every Linux of a manylinux tag has, by the rules of that tag (PEP 600); the rest must be in the wheel.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
              "ld-linux-aarch64.so.1", "libgcc_s.so.1"}
NAME = "bda"


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def version():
    """The one place of the version is the header."""
    return re.search(r'^#define BDA_VERSION "([\d.]+)"$', read("include", "bda.h"), re.M)[1]


def epoch():
    """Seconds: of SOURCE_DATE_EPOCH, of the last commit, or of the beginning of zip files."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    try:
        return int(subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True,
                                  check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 315532800


def project():
    """Those parts of pyproject.toml that become metadata; a reader of TOML comes with Python 3.11 only."""
    text = read("pyproject.toml")
    one = {key: re.search(rf'^{key} = "([^"]*)"$', text, re.M)[1] for key in ("description", "readme", "requires-python")}
    needs = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*?)\]", text, re.M | re.S)[1])
    extras = re.search(r"^\[project.optional-dependencies\]\n((?:\w+ = .*\n)+)", text, re.M)[1]
    return one, needs, {line.split(" = ")[0]: re.findall(r'"([^"]+)"', line) for line in extras.splitlines()}


def metadata():
    one, needs, extras = project()
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {version()}", f"Summary: {one['description']}",
             f"Requires-Python: {one['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    for extra, list_of in extras.items():
        lines += [f"Provides-Extra: {extra}"] + [f"Requires-Dist: {need}; extra == '{extra}'" for need in list_of]
    lines += ["Description-Content-Type: text/markdown", "", read(*one["readme"].split("/"))]
    return "\n".join(lines)


# ---- the library ---------------------------------------------------------------------------------------------------


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def build(directory):
    """The package as in a build tree, with a library that is complete in itself."""
    run("cmake", "--log-level=WARNING", "-S", ROOT, "-B", directory, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
        "-DBDA_MPI=OFF", "-DBDA_COMPLETE=ON", "-DPython3_EXECUTABLE=" + sys.executable,
        *(["-G", "Ninja"] if shutil.which("ninja") else []))
    run("cmake", "--build", directory, "--target", "python_package", "--parallel", str(os.cpu_count() or 1))
    return os.path.join(directory, "python", NAME)


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))


def path_of(library, name):
    """Where the loader finds what a library needs."""
    found = re.search(rf"^\s*{re.escape(name)} => (\S+)", run("ldd", library), re.M)
    if not found:
        raise RuntimeError(f"{name}, which {library} needs, is not there")
    return os.path.realpath(found[1])


def gather(package, to):
    """The library, and what it needs that is not everywhere, in `to`."""
    library = os.path.join(package, "libbda.so.0")
    names, found = [library], {}
    while names:
        path = names.pop()
        name = os.path.basename(path) if found else os.path.basename(library)
        found[name] = path
        for need in needed(path):
            if need not in EVERYWHERE and need not in found:
                found[need] = path_of(library, need)
                if set(needed(found[need])) - EVERYWHERE:
                    names.append(found[need])
    for name, path in found.items():
        shutil.copyfile(os.path.realpath(path), os.path.join(to, name))
        run("strip", "--strip-unneeded", os.path.join(to, name))
    return [os.path.join(to, name) for name in found]


def tag(libraries):
    """py3-none-manylinux_2_N_...: N is the newest version of glibc whose symbols are used."""
    newest = max(int(minor) for path in libraries for minor in re.findall(r"GLIBC_2\.(\d+)", run("objdump", "-T", path)))
    missing = {need for path in libraries for need in needed(path)} - EVERYWHERE - {os.path.basename(p) for p in libraries}
    if missing:
        raise RuntimeError("not everywhere, and not in the wheel: " + ", ".join(sorted(missing)))
    return f"py3-none-manylinux_2_{max(newest, 17)}_{platform.machine()}"


# ---- archives ------------------------------------------------------------------------------------------------------


def write_zip(path, members):
    """members: (name, bytes, executable?) in the order of the archive."""
    when = time.gmtime(max(epoch(), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, executable in members:
            info = zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, (0o100755 if executable else 0o100644) << 16
            archive.writestr(info, data)


def sha256(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix="bda-wheel-") as work:
        return pack_wheel(build(work), wheel_directory)


def pack_wheel(package, wheel_directory):
    """package: as `build` made it."""
    with tempfile.TemporaryDirectory(prefix="bda-wheel-") as libraries:
        gathered = gather(package, libraries)
        label = tag(gathered)
        members = []
        for folder, kinds in ((package, (".py", ".pyi", ".typed")), (libraries, ("",))):
            for name in sorted(os.listdir(folder)):
                if name.endswith(kinds) and os.path.isfile(os.path.join(folder, name)):
                    with open(os.path.join(folder, name), "rb") as file:
                        members.append((f"{NAME}/{name}", file.read(), folder == libraries))
    info = f"{NAME}-{version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: bda {version()}\nRoot-Is-Purelib: false\nTag: {label}\n"
    members += [(f"{info}/METADATA", metadata().encode(), False), (f"{info}/WHEEL", wheel.encode(), False),
                (f"{info}/LICENSE", read("LICENSE").encode(), False)]
    record = "".join(f"{name},sha256={sha256(data)},{len(data)}\n" for name, data, _ in members)
    members.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), False))
    file_name = f"{NAME}-{version()}-{label}.whl"
    write_zip(os.path.join(wheel_directory, file_name), members)
    return file_name


def sources():
    """Files of the archive: those that are committed or about to be, or all that are there where there is no git."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        listed = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        return sorted(name for name in listed if name and os.path.exists(os.path.join(ROOT, name)))
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith(("build", "dist", "__pycache__", ".git"))]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name != "PKG-INFO"]
    return sorted(found)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def build_sdist(sdist_directory, config_settings=None):
    base, raw, when = f"{NAME}-{version()}", io.BytesIO(), epoch()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sources() + ["PKG-INFO"]:
            path, info = os.path.join(ROOT, name), tarfile.TarInfo(f"{base}/{name}")
            data = metadata().encode() if name == "PKG-INFO" else contents(path)
            info.mtime, info.size = when, len(data)
            info.mode = 0o755 if name != "PKG-INFO" and os.access(path, os.X_OK) else 0o644
            archive.addfile(info, io.BytesIO(data))
    with open(os.path.join(sdist_directory, base + ".tar.gz"), "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(raw.getvalue())
    return base + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: backend.py DIRECTORY    writes the wheel and the source archive")
    os.makedirs(sys.argv[1], exist_ok=True)
    for make in (build_sdist, build_wheel):
        print(os.path.join(sys.argv[1], make(sys.argv[1])))

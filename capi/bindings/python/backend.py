"""The build backend (PEP 517) of the Python package, and `backend.py assemble ARCHIVE CC FOLDER` for the tests.

The C compiler compiles the extension against CPython's limited API: one wheel for 3.11 and later. Linked into it is
libbfstore.a: that of the clone's build-release, or an installed one of this version that pkg-config knows, or else meson
builds it, which needs meson, ninja, a C++ compiler, pkg-config, and the headers of Boost and xxHash. Only the root's
meson.build has the version. Config settings: `archive` is the path of another libbfstore.a; with `compile` meson builds
it in any case; `platform` is the last part of the wheel's tag, if CC compiles for another platform than this.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "bfstore"
# In an sdist the sources of the library are next to this file; in the repository this file is in capi/bindings/python.
ROOT = HERE / "library" if (HERE / "library").is_dir() else HERE.parents[2]
BUILT = ROOT / "build-release"  # by tools/demo or tools/test
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")
PACKAGE_PARTS = ("pyproject.toml", "backend.py", "README.md", "bfstore", "tests")
LIBRARY_PARTS = ("meson.build", "meson_options.txt", "LICENSE", "src", "include", "capi")
KEYS = pathlib.Path("capi", "bindings", "keys.json")  # the tests' table of keys, which all languages share
NOTICE = ROOT / "capi" / "xxhash-license.txt"  # for code that is linked into the extension
PYTHON_FILES = ("__init__.py", "_words.py", "__init__.pyi", "py.typed")


def version():
    """Returns the version of the library."""
    return re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text("utf-8"), re.MULTILINE)[1]


# --- Compiling --------------------------------------------------------------------------------------------------------

def _run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)


def _say(sentence):
    """Says it where the user sees it: pip shows the standard error of a backend only with -v."""
    print(f"bfstore: {sentence}", file=sys.stderr, flush=True)
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\r\nbfstore: {sentence}\r\n")
    except OSError:
        pass  # there is no terminal


def _built():
    """Returns the path of the archive in the clone's build directory, where ninja brings it up to date, or None."""
    if not (BUILT / "build.ninja").is_file():
        return None
    try:
        _run("ninja", "-C", BUILT, "capi/libbfstore.a")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"bfstore: {BUILT} is not used: {error}", file=sys.stderr)
        return None
    return BUILT / "capi" / "libbfstore.a"


def _installed():
    """Returns the path of an installed archive of exactly this version, or None: before 1.0 each release may change the ABI."""
    try:
        subprocess.run(["pkg-config", "--exists", f"bfstore = {version()}"], check=True)
        folder = subprocess.run(["pkg-config", "--variable=libraries", "bfstore"], check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    archive = pathlib.Path(folder.strip()) / "libbfstore.a"
    return archive if archive.is_file() else None


def _archive(folder, settings):
    """Returns the path of libbfstore.a, and builds it if necessary."""
    if settings.get("archive"):
        return pathlib.Path(settings["archive"]).resolve()
    found = None if settings.get("compile") else _built() or _installed()
    if found:
        print(f"bfstore: links {found}", file=sys.stderr, flush=True)
        return found
    _say(f"libbfstore {version()} is neither built in a clone nor installed. Compiling it takes three minutes of one processor.")
    _run("meson", "setup", "-Dtools=false", "-Db_pch=false", folder, ROOT)
    _run("ninja", "-C", folder, "capi/libbfstore.a")
    return folder / "capi" / "libbfstore.a"


def _extension(archive, compiler, target):
    """Compiles the extension. Its libraries are linked in, and none of their symbols is visible (zig's linker has no
    --exclude-libs)."""
    visible = target.with_suffix(".map")
    visible.write_text("{ global: PyInit__bfstore; local: *; };\n", "utf-8")
    _run(*compiler, "-std=gnu11", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
         "-Werror=implicit-function-declaration",  # a function that the limited API lacks
         f"-I{ROOT / 'capi'}", "-isystem", sysconfig.get_path("include"), *sorted(PACKAGE.glob("*.c")), archive, "-lstdc++", "-lm",
         "-pthread", f"-Wl,--version-script={visible}", "-Wl,--gc-sections", "-Wl,-z,nodelete", "-Wl,--strip-all", "-o", target)
    visible.unlink()


def assemble(archive, compiler, folder):
    """Makes the importable package in folder/bfstore."""
    package = pathlib.Path(folder) / "bfstore"
    package.mkdir(parents=True, exist_ok=True)
    for name in PYTHON_FILES:
        shutil.copy(PACKAGE / name, package)
    _extension(archive, compiler, package / "_bfstore.abi3.so")


# --- Packages ---------------------------------------------------------------------------------------------------------

def _metadata():
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Keywords: {','.join(project['keywords'])}",
             f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown"]
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    return "\n".join(lines) + "\n\n" + (HERE / project["readme"]).read_text("utf-8")


def _write_wheel(path, tag, files):
    """Writes a wheel. files: {name in the wheel: bytes}. Makes RECORD, as in PEP 427."""
    info = f"bfstore-{version()}.dist-info"
    files = {**files, f"{info}/METADATA": _metadata().encode(), f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
             f"{info}/licenses/{NOTICE.name}": NOTICE.read_bytes(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: bfstore\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            wheel.writestr(name, data)
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    settings = config_settings or {}
    tag = "cp311-abi3-" + (settings.get("platform") or PLATFORM)
    name = f"bfstore-{version()}-{tag}.whl"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        archive = _archive(folder / "build", settings)
        assemble(archive, shlex.split(os.environ.get("CC", "cc")), folder)
        files = {f"bfstore/{path.name}": path.read_bytes() for path in sorted((folder / "bfstore").iterdir())}
    _write_wheel(pathlib.Path(wheel_directory) / name, tag, files)
    return name


def _files(base, parts):
    for part in parts:
        for path in [base / part] if (base / part).is_file() else sorted((base / part).rglob("*")):
            relative = path.relative_to(base)
            if path.is_file() and not {"__pycache__", "bindings"} & set(relative.parts):
                yield path, relative


def _sources():
    """Yields (path, name in the sdist) of every file: the package as it is here, and the library below library/."""
    yield from _files(HERE, PACKAGE_PARTS)
    for path, relative in _files(ROOT, LIBRARY_PARTS):
        yield path, pathlib.Path("library") / relative
    yield ROOT / KEYS, pathlib.Path("library") / KEYS


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    base = f"bfstore-{version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as sdist:
        metadata = tarfile.TarInfo(f"{base}/PKG-INFO")
        text = _metadata().encode()
        metadata.size = len(text)
        sdist.addfile(metadata, io.BytesIO(text))
        for path, name in _sources():
            sdist.add(path, f"{base}/{name}", recursive=False)
    return f"{base}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] != "assemble":
        sys.exit("usage: backend.py assemble ARCHIVE CC FOLDER")
    assemble(pathlib.Path(sys.argv[2]), shlex.split(sys.argv[3]), sys.argv[4])

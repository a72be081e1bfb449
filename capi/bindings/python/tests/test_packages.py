"""A wheel and an sdist are built without a network, installed into an empty environment, used, and removed.

With BFSTORE_ARCHIVE, the path of a built libbfstore.a, they use that; without it each builds the library.
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import bfstore
from case import HERE, ROOT

ARCHIVE = os.environ.get("BFSTORE_ARCHIVE")
SETTINGS = ["--config-settings", f"archive={ARCHIVE}"] if ARCHIVE else []
PROGRAM = """
import bfstore, sys
with bfstore.create(sys.argv[1], capacity=100) as f:
    f.add("alice")
    print(["alice" in f, "bob" in f], bfstore.__version__)
"""


def run(*command, **more):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=env, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def backend(call):
    """Acts as a build frontend: runs the backend in a process of its own, in the folder of pyproject.toml."""
    return run(sys.executable, "-B", "-c", f"import backend; print(backend.{call})", cwd=HERE).strip()


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-packages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.python = cls.folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.sdist = cls.folder / backend(f"build_sdist({str(cls.folder)!r})")
        cls.wheel = cls.folder / backend(f"build_wheel({str(cls.folder)!r}, {{'archive': {ARCHIVE!r}}})")

    def pip(self, *words):
        return run(self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", *words)

    def check_installed(self):
        said = run(self.python, "-I", "-c", PROGRAM, self.folder / f"{self.id()}.bf")
        self.assertEqual(said, f"[True, False] {bfstore.__version__}\n")
        self.assertIn(f"Version: {bfstore.__version__}\n", self.pip("show", "bfstore"))
        self.pip("uninstall", "--yes", "bfstore")
        self.assertEqual([path for path in (self.folder / "venv").rglob("*") if "bfstore" in path.name], [])

    def test_the_wheel(self):
        self.pip("install", "--no-index", self.wheel)
        self.check_installed()

    def test_the_sdist(self):
        self.pip("install", "--no-index", *SETTINGS, self.sdist)
        self.check_installed()

    def test_the_wheel_is_for_every_python_from_3_11_on(self):
        self.assertRegex(self.wheel.name, rf"^bfstore-{re.escape(bfstore.__version__)}-cp311-abi3-linux_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            self.assertIsNone(wheel.testzip())
            self.assertLessEqual({"bfstore/__init__.py", "bfstore/__init__.pyi", "bfstore/py.typed", "bfstore/_bfstore.abi3.so"},
                                 set(wheel.namelist()))
            wheel.extract("bfstore/_bfstore.abi3.so", self.folder)
        extension = self.folder / "bfstore" / "_bfstore.abi3.so"
        needed = set(re.findall(r"\(NEEDED\).*\[([\w+-]+)\.so", run("readelf", "-dW", extension)))
        self.assertLessEqual(needed, {"libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64"})
        exported = run("nm", "-D", "--defined-only", "--format=posix", extension).split("\n")
        self.assertEqual([line.split()[0] for line in exported if line], ["PyInit__bfstore"])

    def unpacked(self):
        folder = self.folder / "unpacked"
        with tarfile.open(self.sdist) as sdist:
            sdist.extractall(folder)
        return next(folder.iterdir())

    def test_the_sdist_has_every_source_of_the_library(self):
        library = self.unpacked() / "library"
        build = self.folder / "build"
        run("meson", "setup", "-Dtools=false", build, library)
        run("ninja", "-C", build, "-n", "capi/libbfstore.a")  # without a source this is an error
        headers = [path.relative_to(ROOT) for folder in ("src", "include", "capi") for path in (ROOT / folder).rglob("*.h*")]
        headers = [path for path in headers if "bindings" not in path.parts]
        self.assertGreater(len(headers), 50)
        for path in headers:
            self.assertEqual((library / path).read_bytes(), (ROOT / path).read_bytes())


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The type stubs: mypy --strict finds exactly the mistakes in typed_use.py, and the stubs name everything public."""

import importlib.util
import os
import pathlib
import pydoc
import re
import subprocess
import sys
import tempfile
import unittest

import bfstore
from case import HERE

USE = HERE / "tests" / "typed_use.py"
PACKAGES = pathlib.Path(bfstore.__file__).resolve().parent.parent


class Help(unittest.TestCase):
    def test_help_has_no_private_function(self):
        """pydoc takes a module with a name "_fields" for a named tuple, and shows what is private."""
        text = pydoc.plain(pydoc.render_doc(bfstore))
        functions = re.search(r"^FUNCTIONS\n(.*?)^\S", text, re.DOTALL | re.MULTILINE)[1]
        names = re.findall(r"^    (\w+)\(", functions, re.MULTILINE)
        self.assertIn("open", names)
        self.assertEqual([name for name in names if name.startswith("_")], [])


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Types(unittest.TestCase):
    def run_mypy(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([sys.executable, "-B", "-W", "ignore", "-m", *words], cwd=folder, capture_output=True, text=True,
                                  check=False, env={**os.environ, "MYPYPATH": str(PACKAGES), "PYTHONPATH": str(PACKAGES)})

    def test_uses_that_are_right_are_accepted_and_mistakes_are_found(self):
        expected = {(number, code) for number, line in enumerate(USE.read_text("utf-8").splitlines(), 1)
                    for code in re.findall(r"# error: ([\w-]+)", line)}
        self.assertGreater(len(expected), 4)
        done = self.run_mypy("mypy", "--strict", str(USE))
        found = {(int(line), code) for line, code in re.findall(r"typed_use\.py:(\d+): error: .* \[([\w-]+)\]$", done.stdout, re.MULTILINE)}
        self.assertEqual(found, expected, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(": error:"), len(expected), done.stdout)

    def test_the_stubs_are_like_the_module(self):
        done = self.run_mypy("mypy.stubtest", "bfstore")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The Python binding: builds the extension from the tree, and runs the binding's own tests with it.

Arguments: the folder of the binding, libbfstore.a, the C compiler.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

FOLDER, ARCHIVE, CC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
sys.path.insert(0, str(FOLDER))
import backend  # found only now

with tempfile.TemporaryDirectory(prefix="bfstore-python-") as packages:
    backend.assemble(ARCHIVE, shlex.split(CC), packages)
    environment = {**os.environ, "PYTHONPATH": packages, "BFSTORE_ARCHIVE": str(ARCHIVE), "CC": CC}
    tests = [sys.executable, "-B", "-X", "dev", "-m", "unittest", "discover", "-v", "-s", str(FOLDER / "tests"), *sys.argv[4:]]
    sys.exit(subprocess.run(tests, env=environment, check=False).returncode)

"""The Python packages whose bits bfstore's filters hold: mmh3 and bitarray, from the folder PYTHON_PACKAGES, or installed
(tools/setup.sh). Without them the tests that need them are skipped.
"""
import os
import sys
import unittest

sys.path.append(os.environ.get("PYTHON_PACKAGES", ""))
try:
    import bitarray
    import mmh3
except ImportError:
    bitarray = mmh3 = None

needs_packages = unittest.skipUnless(mmh3, "the Python packages mmh3 and bitarray are not installed: fetch_python_packages of tools/setup.sh fetches them")

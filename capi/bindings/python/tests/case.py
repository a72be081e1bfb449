"""The common part of the tests: a folder for each test, and the path of the library's sources."""

import pathlib
import tempfile
import unittest

import bfstore

HERE = pathlib.Path(__file__).resolve().parent.parent
# As in backend.py: in an sdist the library is next to it.
ROOT = HERE / "library" if (HERE / "library").is_dir() else HERE.parents[2]
HEADERS = sorted(path for path in (ROOT / "capi").glob("bfstore*.h") if path.name != "bfstore_reader.h")  # those of the C ABI

try:
    import numpy
except ImportError:
    numpy = None
needs_numpy = unittest.skipIf(numpy is None, "numpy is not here: tools/setup.sh fetches it")

# BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "caf\u00e9".
JAYBIRD = bytes.fromhex("fca9f1d24d62503f0a000000000000000f000000000000000a000000000000000300000000000000"
                        "80c21002480200179018000904114892002200")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "filter.bf"

    def create(self, path=None, **options):
        """Returns a filter that is open for writing until the test ends. Its seed is fixed: no absent key is there by chance."""
        if not {"num_bits", "like"} & set(options):
            options.setdefault("capacity", 10_000)
        if not {"hash", "like"} & set(options):
            options.setdefault("seed", 1)
        made = bfstore.create(path or self.path, **options)
        self.addCleanup(made.close)
        return made

    def open(self, *arguments, **options):
        opened = bfstore.open(*(arguments or (self.path,)), **options)
        self.addCleanup(opened.close)
        return opened

"""Shared by the ctypes tests of the C ABI. Their arguments: the shared library, capi/bfstore.h."""
import array
import ctypes
import os
import sys
import tempfile
import unittest

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "support"), os.path.join(TESTS, "format")]
import bfstore_ctypes as bfs
import bfstore_header

HEADER = sys.argv.pop(2)
CODES = bfstore_header.codes(HEADER)
LIBRARY_PATH = sys.argv.pop(1)
LIBRARY = bfs.load(LIBRARY_PATH)
EINVAL = CODES["BFS_EINVAL"]
COUNT = 2000


def column(keys, kind):
    offsets = array.array(kind, [0])
    for key in keys:
        offsets.append(offsets[-1] + len(key))
    element = ctypes.c_int32 if kind == "i" else ctypes.c_int64
    return b"".join(keys), (element * len(offsets)).from_buffer(offsets)


def pointers(keys):
    return (ctypes.c_char_p * len(keys))(*keys), (ctypes.c_size_t * len(keys))(*map(len, keys))


def answers_for(count, fill=7):
    return (ctypes.c_uint8 * count)(*([fill] * count))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-ctypes-")
        self.addCleanup(folder.cleanup)
        self.folder = os.fsencode(folder.name)
        self.path = self.folder + b"/filter.bf"

    def create(self, path=None, flags=0, **given):
        """Makes a filter. Its seed is fixed: no absent key is there by chance."""
        if not {"hash", "like"} & set(given):
            given.setdefault("seed", 1)
        handle = bfs.create(LIBRARY, path or self.path, flags, **{"capacity": COUNT, "fpr": 0.01, **given})
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def close(self, handle):
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        handle.value = None

    def fails(self, code, function, *arguments):
        """Returns the message that comes with the code, which is one of C or the name of a rule of the format."""
        with self.assertRaises(bfs.CodeError) as raised:
            bfs.call(function, *arguments)
        self.assertEqual((raised.exception.code, raised.exception.rule), bfs.said(code), raised.exception.message)
        self.assertNotEqual(raised.exception.message, b"")
        return raised.exception.message

"""quickstart.c in Python, with nothing but ctypes: open a filter file or make it, add keys, close it, open it to ask.

    python3 quickstart.py seen.bf

Run it as often as you like, and in several processes at once. Needs libbfstore.so.0 where the loader finds it;
BFSTORE_LIBRARY names another.
"""
import ctypes
import os
import sys

READ, WRITE, CREATE = 0x1, 0x2, 0x8  # BFS_READ, BFS_WRITE, BFS_CREATE
bfstore = ctypes.CDLL(os.environ.get("BFSTORE_LIBRARY", "libbfstore.so.0"))
bfstore.bfs_strerror.restype = ctypes.c_char_p
bfstore.bfs_open.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
bfstore.bfs_add.argtypes = bfstore.bfs_contains.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
bfstore.bfs_close.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


class Options(ctypes.Structure):
    """bfs_options of bfstore.h. What is left zero takes its default."""
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("mode", ctypes.c_uint32), ("capacity", ctypes.c_uint64),
                ("fpr", ctypes.c_double), ("layout", ctypes.c_uint32), ("hash", ctypes.c_uint32),
                ("like", ctypes.c_char_p), ("secret", ctypes.c_void_p), ("secret_bytes", ctypes.c_uint64),
                ("lock_timeout_ms", ctypes.c_uint32), ("writeback_check_ms", ctypes.c_uint32),
                ("threads", ctypes.c_uint32), ("num_probes", ctypes.c_uint32), ("part", ctypes.c_uint32),
                ("num_parts", ctypes.c_uint32), ("bits_per_key", ctypes.c_double), ("max_bytes", ctypes.c_uint64),
                ("num_bits", ctypes.c_uint64), ("note_bytes", ctypes.c_uint64), ("num_seeds", ctypes.c_uint64),
                ("window_ms", ctypes.c_uint64), ("capacity_at_most", ctypes.c_uint64),
                ("seeds", ctypes.c_void_p), ("seed", ctypes.c_void_p), ("note", ctypes.c_void_p),
                ("file_id", ctypes.c_void_p), ("range", ctypes.c_void_p), ("fd", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("code", ctypes.c_int32), ("os_errno", ctypes.c_int32),
                ("rule", ctypes.c_uint32), ("message", ctypes.c_char * 496)]


class Filter:
    """A filter file. Keys are bytes."""

    def __init__(self, path, flags, **options):
        options = Options(ctypes.sizeof(Options), **options)
        self.handle, error = ctypes.c_void_p(), Error(ctypes.sizeof(Error))
        opened = bfstore.bfs_open(os.fsencode(path), flags, ctypes.byref(options), ctypes.byref(self.handle),
                                  ctypes.byref(error))
        if opened < 0:
            raise OSError(error.os_errno, error.message.decode(errors="backslashreplace"))
        self.created = opened == 1

    def add(self, key):
        code = bfstore.bfs_add(self.handle, key, len(key))
        if code < 0:
            raise OSError(bfstore.bfs_strerror(code).decode())

    def __contains__(self, key):
        return bfstore.bfs_contains(self.handle, key, len(key)) != 0  # 0 is the only no

    def __enter__(self):
        return self

    def __exit__(self, *_):
        code = bfstore.bfs_close(self.handle, None)
        if code != 0:  # only when this is 0 are the keys safe from a power cut
            raise OSError(bfstore.bfs_strerror(code).decode())


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "seen.bf"
    with Filter(path, WRITE | CREATE, capacity=100_000, fpr=0.001) as seen:
        for key in (b"ada", b"grace", b"edsger", b"barbara"):
            seen.add(key)
    with Filter(path, READ) as seen:
        for key in (b"ada", b"donald", b"barbara", b"niklaus"):
            print(f"{key.decode()}: {'maybe present' if key in seen else 'certainly absent'}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"quickstart.py: {error.strerror or error}")

"""quickstart.c in Python, with nothing but ctypes: make a filter file, add keys, close it, open it again and ask.

    python3 quickstart.py seen.bf

Needs libbfstore.so.0 where the loader finds it; BFSTORE_LIBRARY names another.
"""
import ctypes
import os
import sys

bfstore = ctypes.CDLL(os.environ.get("BFSTORE_LIBRARY", "libbfstore.so.0"))
bfstore.bfs_strerror.restype = ctypes.c_char_p
bfstore.bfs_add.argtypes = bfstore.bfs_contains.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
bfstore.bfs_close.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


class Options(ctypes.Structure):
    """bfs_options of bfstore.h. What is left zero takes its default."""
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("mode", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("capacity", ctypes.c_uint64),
                ("fpr", ctypes.c_double), ("bits_per_key", ctypes.c_double), ("max_bytes", ctypes.c_uint64),
                ("num_bits", ctypes.c_uint64), ("num_probes", ctypes.c_uint32), ("layout", ctypes.c_uint32),
                ("hash", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("seed", ctypes.c_uint64),
                ("like", ctypes.c_char_p), ("note", ctypes.c_void_p), ("note_bytes", ctypes.c_uint64),
                ("key", ctypes.c_void_p), ("key_bytes", ctypes.c_uint64), ("lock_timeout_ms", ctypes.c_uint32),
                ("writeback_check_ms", ctypes.c_uint32), ("file_id", ctypes.c_uint8 * 16),
                ("seeds", ctypes.c_void_p), ("num_seeds", ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("code", ctypes.c_int32), ("os_errno", ctypes.c_int32),
                ("reserved", ctypes.c_uint32), ("message", ctypes.c_char * 496)]


class Filter:
    """A filter file. Keys are bytes."""

    def __init__(self, function, path, how):
        self.handle, error = ctypes.c_void_p(), Error(ctypes.sizeof(Error))
        if function(os.fsencode(path), how, ctypes.byref(self.handle), ctypes.byref(error)) != 0:
            raise OSError(error.os_errno, error.message.decode(errors="backslashreplace"))

    @classmethod
    def create(cls, path, capacity, fpr):
        options = Options(struct_bytes=ctypes.sizeof(Options), capacity=capacity, fpr=fpr)
        return cls(bfstore.bfs_create, path, ctypes.byref(options))

    @classmethod
    def open(cls, path):
        return cls(bfstore.bfs_open, path, ctypes.c_uint64(1))  # BFS_OPEN_READ

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
    with Filter.create(path, capacity=100_000, fpr=0.001) as seen:
        for key in (b"ada", b"grace", b"edsger", b"barbara"):
            seen.add(key)
    with Filter.open(path) as seen:
        for key in (b"ada", b"donald", b"barbara", b"niklaus"):
            print(f"{key.decode()}: {'maybe present' if key in seen else 'certainly absent'}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"quickstart.py: {error.strerror or error}")

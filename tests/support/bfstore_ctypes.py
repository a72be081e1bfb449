"""capi/bfstore.h for Python tests, by ctypes: load(path) gives the library with its argument types, and the structs."""
import ctypes
import pathlib
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_uint64, c_void_p

import bfstore_header


def _numbers(prefix):
    """{name as the tools write it: number} of every row that the header has."""
    header = pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore.h"
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in bfstore_header.constants(header).items() if name.startswith(prefix)}


LAYOUTS = _numbers("BFS_LAYOUT_")
HASHES = _numbers("BFS_HASH_")
READ, WRITE, EXCLUSIVE, WRAP_BARE = 1, 2, 4, 8
OPTION_SEED, OPTION_REPLACE, OPTION_UNPUBLISHED, OPTION_BARE = 1, 2, 4, 8
OPEN_VERIFY, OPEN_TOLERATE_DAMAGE = 8192, 16384
OPEN_COPY, OPEN_GUARD, OPTION_GUARD = 2048, 4096, 512
OPEN_POPULATE, OPEN_RANDOM, OPEN_STRICT, OPEN_ANY_FILESYSTEM, OPEN_RANGE = 16, 32, 256, 512, 32768
LOCK_NO_WAIT, LOCK_FOREVER, WRITEBACK_CHECK_EACH_ADD = 2**32 - 2, 2**32 - 1, 2**32 - 2
STATS_FILL = 1


class Error(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("code", c_int32), ("os_errno", c_int32), ("reserved", c_uint32),
                ("message", c_char * 496)]


class Options(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("flags", c_uint32), ("capacity", c_uint64), ("fpr", c_double),
                ("bits_per_key", c_double), ("max_bytes", c_uint64), ("num_bits", c_uint64), ("num_probes", c_uint32),
                ("layout", c_uint32), ("hash", c_uint32), ("mode", c_uint32), ("seed", c_uint64), ("like", c_char_p),
                ("note", c_char_p), ("note_bytes", c_uint64), ("key", c_char_p),
                ("lock_timeout_ms", c_uint32), ("writeback_check_ms", c_uint32)]


class OpenOptions(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("flags", c_uint32), ("key", c_char_p), ("key_bytes", c_uint64),
                ("offset", c_uint64), ("max_bytes", c_uint64), ("lock_timeout_ms", c_uint32),
                ("writeback_check_ms", c_uint32)]


class Statistics(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("layout", c_uint32), ("hash", c_uint32), ("num_probes", c_uint32),
                ("num_bits", c_uint64), ("capacity", c_uint64), ("fpr", c_double), ("seed", c_uint64),
                ("body_bytes", c_uint64), ("keys_added", c_uint64), ("huge_page_bytes", c_uint64), ("health", c_int32),
                ("has_fill", c_uint32), ("set_bits", c_uint64), ("fill_ratio", c_double), ("estimated_keys", c_double),
                ("estimated_fpr", c_double), ("resident_bytes", c_uint64), ("isa", c_char * 16),
                ("saturated", c_uint32), ("reserved", c_uint32)]


class Range(Structure):
    _fields_ = [("offset", c_uint64), ("bytes", c_uint64)]


OUT = POINTER(c_void_p)
ERROR = POINTER(Error)
POINTERS, LENGTHS, ANSWERS, DIGESTS = POINTER(c_char_p), POINTER(c_size_t), POINTER(c_uint8), POINTER(c_uint64)
INDICES = POINTER(c_uint32)
SIGNATURES = {
    "bfs_version": (c_char_p, []),
    "bfs_strerror": (c_char_p, [c_int32]),
    "bfs_create": (c_int32, [c_char_p, POINTER(Options), OUT, ERROR]),
    "bfs_open": (c_int32, [c_char_p, c_uint32, OUT, ERROR]),
    "bfs_open_with": (c_int32, [c_char_p, POINTER(OpenOptions), OUT, ERROR]),
    "bfs_wrap_keyed": (c_int32, [c_void_p, c_uint64, c_uint32, c_char_p, OUT, ERROR]),
    "bfs_required_bytes": (c_int32, [POINTER(Options), POINTER(c_uint64), ERROR]),
    "bfs_format": (c_int32, [c_void_p, c_uint64, POINTER(Options), OUT, ERROR]),
    "bfs_wrap": (c_int32, [c_void_p, c_uint64, c_uint32, OUT, ERROR]),
    "bfs_publish": (c_int32, [c_void_p, ERROR]),
    "bfs_supersede": (c_int32, [c_void_p, ERROR]),
    "bfs_seal": (c_int32, [c_char_p, c_char_p, c_uint32, c_uint32, ERROR]),
    "bfs_verify": (c_int64, [c_char_p, POINTER(Range), c_size_t, ERROR]),
    "bfs_close": (c_int32, [c_void_p]),
    "bfs_add": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_add_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_contains": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_contains_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_digest": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_uint64)]),
    "bfs_add_many": (c_int64, [c_void_p, POINTERS, LENGTHS, c_size_t]),
    "bfs_add_fixed": (c_int64, [c_void_p, c_char_p, c_size_t, c_size_t]),
    "bfs_add_column32": (c_int64, [c_void_p, c_char_p, POINTER(c_int32), c_size_t]),
    "bfs_add_column64": (c_int64, [c_void_p, c_char_p, POINTER(c_int64), c_size_t]),
    "bfs_add_digests": (c_int64, [c_void_p, DIGESTS, c_size_t]),
    "bfs_use_threads": (c_int32, [c_void_p, c_uint32]),
    "bfs_contains_many": (c_int64, [c_void_p, POINTERS, LENGTHS, c_size_t, ANSWERS]),
    "bfs_contains_fixed": (c_int64, [c_void_p, c_char_p, c_size_t, c_size_t, ANSWERS]),
    "bfs_contains_column32": (c_int64, [c_void_p, c_char_p, POINTER(c_int32), c_size_t, ANSWERS]),
    "bfs_contains_column64": (c_int64, [c_void_p, c_char_p, POINTER(c_int64), c_size_t, ANSWERS]),
    "bfs_contains_digests": (c_int64, [c_void_p, DIGESTS, c_size_t, ANSWERS]),
    "bfs_select_many": (c_int64, [c_void_p, POINTERS, LENGTHS, c_size_t, INDICES]),
    "bfs_select_fixed": (c_int64, [c_void_p, c_char_p, c_size_t, c_size_t, INDICES]),
    "bfs_select_column32": (c_int64, [c_void_p, c_char_p, POINTER(c_int32), c_size_t, INDICES]),
    "bfs_select_column64": (c_int64, [c_void_p, c_char_p, POINTER(c_int64), c_size_t, INDICES]),
    "bfs_select_digests": (c_int64, [c_void_p, DIGESTS, c_size_t, INDICES]),
    "bfs_bare_contains": (c_int32, [c_void_p, c_uint64, c_char_p, c_size_t]),
    "bfs_bare_contains_digest": (c_int32, [c_void_p, c_uint64, c_uint64]),
    "bfs_bare_bytes": (c_uint64, [c_uint64, c_double, c_uint32]),
    "bfs_bare_build": (c_int32, [c_void_p, c_uint64, c_uint32, POINTERS, LENGTHS, c_size_t]),
    "bfs_bare_build_digests": (c_int32, [c_void_p, c_uint64, c_uint32, c_uint32, DIGESTS, c_size_t]),
    "bfs_sync": (c_int32, [c_void_p, c_uint64, c_uint64]),
    "bfs_mark": (c_uint64, [c_void_p, c_uint64]),
    "bfs_recovered": (c_int32, [c_void_p, c_uint64, ERROR]),
    "bfs_is_current": (c_int32, [c_void_p]),
    "bfs_stats": (c_int32, [c_void_p, c_uint32, POINTER(Statistics)]),
}


def load(path, use_errno=False):
    library = ctypes.CDLL(path, use_errno=use_errno)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def options(note=None, seed=None, flags=0, like=None, **fields):
    """bfs_options from keywords; layout and hash by name."""
    fields["layout"] = LAYOUTS.get(fields.get("layout"), fields.get("layout") or 0)
    fields["hash"] = HASHES.get(fields.get("hash"), fields.get("hash") or 0)
    if seed is not None:
        fields["seed"], flags = seed, flags | OPTION_SEED
    if note is not None:
        fields["note"], fields["note_bytes"] = note, len(note)
    return Options(struct_bytes=ctypes.sizeof(Options), flags=flags, like=like, **fields)


def open_options(flags=READ, key=None, offset=None, **fields):
    """bfs_open_options from keywords; with an offset, a range."""
    if key is not None:
        fields["key"], fields["key_bytes"] = key, len(key)
    if offset is not None:
        fields["offset"], flags = offset, flags | OPEN_RANGE
    return OpenOptions(struct_bytes=ctypes.sizeof(OpenOptions), flags=flags, **fields)


def open_with(library, path, flags=READ, **given):
    return call(library.bfs_open_with, path, open_options(flags, **given))


def new_error():
    return Error(struct_bytes=ctypes.sizeof(Error))


def call(function, *arguments):
    """Calls a function that ends in (out, error): the handle, or a CodeError."""
    handle, error = c_void_p(), new_error()
    code = function(*arguments, byref(handle), byref(error))
    if code != 0:
        assert handle.value is None, "a handle came with an error"
        assert error.code == code, f"bfs_error has code {error.code}, the function returned {code}"
        raise CodeError(code, error.os_errno, error.message)
    return handle


class CodeError(Exception):
    def __init__(self, code, os_errno, message):
        super().__init__(code, os_errno, message)
        self.code, self.os_errno, self.message = code, os_errno, message


def seal(library, path, to, flags=0, mode=0):
    error = new_error()
    if library.bfs_seal(path, to, flags, mode, byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)


def verify(library, path, capacity=100):
    """The damaged ranges, as (offset, bytes)."""
    ranges, error = (Range * capacity)(), new_error()
    found = library.bfs_verify(path, ranges, capacity, byref(error))
    if found < 0:
        assert error.code == found
        raise CodeError(error.code, error.os_errno, error.message)
    return [(one.offset, one.bytes) for one in ranges[:min(found, capacity)]]


def statistics(library, handle, flags=0):
    stats = Statistics(struct_bytes=ctypes.sizeof(Statistics))
    code = library.bfs_stats(handle, flags, byref(stats))
    if code != 0:
        raise CodeError(code, 0, b"bfs_stats")
    return stats


def aligned_buffer(size, alignment=64):
    """A writable buffer whose address is a multiple of `alignment`: (object to keep alive, address)."""
    block = ctypes.create_string_buffer(size + alignment)
    start = ctypes.addressof(block)
    return block, start + -start % alignment

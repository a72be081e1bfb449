"""bfstore_reader.h by ctypes, from the module that BFR_SHIM names (reader_shim.c).

    open_file(path, secret=None, flags=0) | open_bytes(data, secret=None)  ->  Filter, or Refused with the code's name
"""
import ctypes
import os
import re
import pathlib

HEADER = pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore_reader.h"
SHIM = ctypes.CDLL(os.environ["BFR_SHIM"], use_errno=True)
CODES = {"BFR_" + name: int(number) for name, number in re.findall(r"^  X\((\w+), (-\d+),", HEADER.read_text("utf-8"), re.M)}
NAMES = {number: name for name, number in CODES.items()}
ABSENT, MAYBE = 0, 1
COPY, ANY_FILESYSTEM = 1, 2
DEED = ctypes.CFUNCTYPE(None)
_size, _text, _pointer, _u64 = ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64
for _name, _result, _arguments in (
        ("bfr_open", ctypes.c_int, [_pointer, _text, ctypes.c_uint, _text]),
        ("bfr_open_memory", ctypes.c_int, [_pointer, _pointer, _size, _text]),
        ("bfr_contains", ctypes.c_int, [_pointer, _text, _size]), ("bfr_contains_digest", ctypes.c_int, [_pointer, _u64]),
        ("bfr_digest", ctypes.c_int, [_pointer, _text, _size, ctypes.POINTER(_u64)]), ("bfr_health", ctypes.c_int, [_pointer]),
        ("bfr_verify", ctypes.c_int, [_pointer]), ("bfr_close", None, [_pointer]), ("bfr_error_text", _text, [ctypes.c_int]),
        ("bfr_error_name", _text, [ctypes.c_int]), ("shim_filter_bytes", _size, []), ("shim_copies", ctypes.c_int, []),
        ("shim_contains", None, [_pointer, _text, _pointer, _size, _pointer]),
        ("shim_contains_digests", None, [_pointer, _pointer, _size, _pointer]),
        ("shim_flip", ctypes.c_long, [_text, _size, _size, _size, _size, _text, _text, _pointer, _size]),
        ("shim_cut", ctypes.c_long, [_text, _size, _text, _text, _pointer, _size]),
        ("shim_scramble", ctypes.c_long, [_text, _size, ctypes.c_long, _u64, _text]),
        ("shim_ask_while", ctypes.c_int, [_text, _size, _text, _u64, _u64, _u64]),
        ("shim_ask_while_word", ctypes.c_int, [_text, _size, _text, _u64, _size, _u64, _u64]),
        ("shim_reads", None, [ctypes.c_int, DEED, ctypes.c_long, ctypes.c_int, _size]),
        ("shim_fail", None, [ctypes.c_int, ctypes.c_int, ctypes.c_long])):
    _function = getattr(SHIM, _name)
    _function.restype, _function.argtypes = _result, _arguments


class Refused(Exception):
    code = property(str)


class Facts(ctypes.Structure):
    """The fields of bfr_filter that are the caller's to read."""
    _fields_ = [(name, ctypes.c_uint32) for name in ("layout", "hash", "k", "part", "num_parts", "sealed", "epochs", "growth")]
    _fields_ += [(name, _u64) for name in ("m", "n", "seed", "window_ms")] + [("p", ctypes.c_double), ("file_id", ctypes.c_uint8 * 16)]


class Filter:
    def __init__(self, keep=None):
        self.keep, self.address = keep, None
        self.memory = ctypes.create_string_buffer(SHIM.shim_filter_bytes() + 8)
        self.address = ctypes.addressof(self.memory) + -ctypes.addressof(self.memory) % 8

    facts = property(lambda self: Facts.from_address(self.address))

    def opened(self, code):
        if code != 0:
            raise Refused(NAMES[code])
        return self

    def contains(self, key):
        return SHIM.bfr_contains(self.address, key, len(key))

    def contains_digest(self, digest):
        return SHIM.bfr_contains_digest(self.address, digest)

    def digest(self, key):
        digest = _u64()
        code = SHIM.bfr_digest(self.address, key, len(key), ctypes.byref(digest))
        return code or digest.value

    def contains_column(self, data, offsets, count):
        answers = (ctypes.c_int8 * count)()
        SHIM.shim_contains(self.address, data, offsets, count, answers)
        return bytes(answers)

    def contains_digests(self, digests):
        answers = (ctypes.c_int8 * len(digests))()
        SHIM.shim_contains_digests(self.address, digests, len(digests), answers)
        return bytes(answers)

    def health(self):
        return NAMES.get(SHIM.bfr_health(self.address))

    def verify(self):
        return NAMES.get(SHIM.bfr_verify(self.address))

    def close(self):
        SHIM.bfr_close(self.address)

    __del__ = close


def open_file(path, secret=None, flags=0):
    made = Filter()
    return made.opened(SHIM.bfr_open(made.address, os.fsencode(path), flags, secret))


def open_bytes(data, secret=None):
    keep = ctypes.create_string_buffer(len(data) + 8)
    at = ctypes.addressof(keep) + -ctypes.addressof(keep) % 8
    ctypes.memmove(at, bytes(data), len(data))
    made = Filter(keep)
    return made.opened(SHIM.bfr_open_memory(made.address, at, len(data), secret))


def column(keys):
    """Returns (data, offsets, count) of the keys, as contains_column takes them."""
    offsets, end = [0], 0
    for key in keys:
        end += len(key)
        offsets.append(end)
    return b"".join(keys), (ctypes.c_int64 * len(offsets))(*offsets), len(keys)

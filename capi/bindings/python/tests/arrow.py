"""Arrow columns by ctypes, in the form in which pyarrow and polars export them, and a count of the unreleased ones."""

import ctypes
import struct
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, py_object

RELEASE = ctypes.CFUNCTYPE(None, c_void_p)


class Schema(Structure):
    _fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
                ("children", c_void_p), ("dictionary", c_void_p), ("release", RELEASE), ("private_data", c_void_p)]


class Array(Structure):
    _fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                ("buffers", POINTER(c_void_p)), ("children", c_void_p), ("dictionary", c_void_p), ("release", RELEASE),
                ("private_data", c_void_p)]


class Stream(Structure):
    _fields_ = [("get_schema", ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)), ("get_next", ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)),
                ("get_last_error", ctypes.CFUNCTYPE(c_void_p, c_void_p)), ("release", RELEASE), ("private_data", c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = py_object, [c_void_p, c_char_p, c_void_p]


class Column:
    """One array: its format, its buffers (bytes or None), the number of its keys, its first key."""

    def __init__(self, format_, buffers, length, *, offset=0, null_count=0, dictionary=None):
        self.format, self.length, self.offset, self.null_count = format_.encode(), length, offset, null_count
        self.rooms = [None if one is None else ctypes.create_string_buffer(one, len(one)) for one in buffers]
        self.pointers = (c_void_p * max(1, len(buffers)))(*[None if one is None else ctypes.addressof(one) for one in self.rooms])
        self.num_buffers, self.dictionary, self.out = len(buffers), dictionary, 0
        self.released = RELEASE(self._release)
        self.kept = []

    def _release(self, address):
        self.out -= 1
        Array.from_address(address).release = RELEASE()

    def schema(self):
        return Schema(self.format, b"", None, 0, 0, None, self.dictionary, RELEASE(), None)

    def fill(self, array):
        self.out += 1
        array.length, array.null_count, array.offset, array.n_buffers = self.length, self.null_count, self.offset, self.num_buffers
        array.buffers, array.release = ctypes.cast(self.pointers, POINTER(c_void_p)), self.released

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.schema(), Array()
        self.fill(array)
        self.kept += [schema, array]
        return _new_capsule(ctypes.addressof(schema), b"arrow_schema", None), _new_capsule(ctypes.addressof(array), b"arrow_array", None)


class Chunks:
    """Several columns of one format, as a stream. With a failure, an errno, the stream fails with it before the end."""

    def __init__(self, columns, failure=0):
        self.columns, self.failure, self.kept = columns, failure, []

    def __arrow_c_stream__(self, requested_schema=None):
        todo = iter(self.columns)

        def get_schema(_, out):
            schema = self.columns[0].schema()
            ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(schema))
            return 0

        def get_next(_, out):
            array, column = Array(), next(todo, None)
            if column is None and self.failure:
                return self.failure
            if column is not None:
                column.fill(array)
            ctypes.memmove(out, ctypes.addressof(array), ctypes.sizeof(array))
            return 0
        words = ctypes.create_string_buffer(b"the disk is gone")
        get_schema, get_next, say = (kind(function) for (_, kind), function in zip(
            Stream._fields_, (get_schema, get_next, lambda _: ctypes.addressof(words)), strict=False))
        stream = Stream(get_schema, get_next, say, RELEASE(), None)
        self.kept += [stream, words]
        return _new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


def bitmap(there):
    """Returns Arrow's validity bitmap of a list of bools, the lowest bit first."""
    return bytes(sum(bit << i for i, bit in enumerate(there[at:at + 8])) for at in range(0, len(there), 8))


def text(keys, format_="u", **more):
    """Returns a column of these keys; None is a null, whose bytes are not empty."""
    wide = format_ in "UZ"
    words = [b"null" if key is None else key for key in keys]
    offsets, end = [0], 0
    for word in words:
        end += len(word)
        offsets.append(end)
    there = [key is not None for key in keys]
    valid = None if all(there) else bitmap(there)
    return Column(format_, [valid, struct.pack(f"{len(offsets)}{'q' if wide else 'i'}", *offsets), b"".join(words)],
                  more.pop("length", len(keys)), null_count=more.pop("null_count", there.count(False)), **more)


def views(keys, format_="vu", **more):
    """Returns a column of views, whose long keys are in two buffers in turn."""
    data, packed = [b"..", b""], []
    for number, key in enumerate(keys):
        key = b"" if key is None else key
        if len(key) <= 12:
            packed.append(struct.pack("<i12s", len(key), key))
        else:
            at = number % 2
            packed.append(struct.pack("<i4sii", len(key), key[:4], at, len(data[at])))
            data[at] += key
    there = [key is not None for key in keys]
    lengths = more.pop("lengths", [len(one) for one in data])
    return Column(format_, [None if all(there) else bitmap(there), b"".join(packed), *data, struct.pack("2q", *lengths)],
                  len(keys), null_count=there.count(False), **more)

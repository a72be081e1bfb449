"""The C ABI for Python tests, by ctypes: load(path) gives the library with its argument types, and the structs."""
import ctypes
import pathlib
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_uint64, c_void_p

import bfstore_header
import header_codes

HEADER = pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore.h"
ABI = bfstore_header.declarations.read()
_CONSTANTS = {one.name: one.value for one in ABI.constants}
# BFS_OPEN_READ is READ here, and so on; BFS_OPEN_GUARD is OPEN_GUARD.
READ, WRITE, EXCLUSIVE = (_CONSTANTS["BFS_OPEN_" + name] for name in ("READ", "WRITE", "EXCLUSIVE"))
globals().update({name.removeprefix("BFS_"): number for name, number in _CONSTANTS.items()})


def _numbers(prefix):
    """{name as the tools write it: number} of every row that the header has."""
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in _CONSTANTS.items() if name.startswith(prefix)}


LAYOUTS = _numbers("BFS_LAYOUT_")
HASHES = _numbers("BFS_HASH_")
# bfs_open_options is OpenOptions here; its pointers are void*, but those to text.
_TYPES = {"int32_t": c_int32, "uint32_t": c_uint32, "int64_t": c_int64, "uint64_t": c_uint64, "size_t": c_size_t,
          "double": c_double, "char": c_char, "uint8_t": c_uint8, "void": None, **dict.fromkeys(ABI.handles)}


def _field(one):
    if one.type.is_pointer:
        return one.name, c_char_p if one.type.base == "char" else c_void_p
    return one.name, _TYPES[one.type.base] * one.count if one.count else _TYPES[one.type.base]


for _struct in ABI.structs:
    _name = "".join(map(str.capitalize, _struct.name.split("_")[1:]))
    _TYPES[_struct.name] = type(_name, (Structure,), {"_fields_": [_field(one) for one in _struct.fields]})
    assert ctypes.sizeof(_TYPES[_struct.name]) == _struct.bytes, _name
    globals()[_name] = _TYPES[_struct.name]


def _type(kind):
    if not kind.is_pointer:
        return _TYPES[kind.base]
    stars, pointed = len(kind.points_to_const), _TYPES[kind.base]
    if pointed in (None, c_char):
        stars, pointed = stars - 1, c_char_p if pointed else c_void_p
    return pointed if stars == 0 else POINTER(pointed)


SIGNATURES = {one.name: (_type(one.result), [_type(each.type) for each in one.parameters]) for one in ABI.functions}
LISTED = header_codes.of(HEADER)


def _only_listed(name):
    """No function returns a code that its comment in the header does not list."""
    def check(result, _function, _arguments):
        assert result >= 0 or result in LISTED.get(name, ()), f"{name} returned {result}, which its comment does not list"
        return result
    return check


def load(path, use_errno=False):
    library = ctypes.CDLL(path, use_errno=use_errno)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        if result in (c_int32, c_int64):
            function.errcheck = _only_listed(name)
    for form in ("many", "fixed", "column32", "column64", "digests"):
        for verb in ("add", "contains", "select"):
            setattr(library, f"{verb}_{form}", _call_of(getattr(library, f"bfs_{verb}_keys"), verb, form))
    return library


def _address(array):
    """Of an array of ctypes or bytes; keeps it."""
    if array is None:
        return None
    return ctypes.cast(c_char_p(array) if isinstance(array, bytes) else array, c_void_p)


def many_keys(kind, count, data=None, **fields):
    """bfs_keys; `data`, `lengths`, `offsets` and `validity` are ctypes arrays or bytes, which the caller keeps."""
    for name in ("lengths", "offsets", "validity"):
        fields[name] = _address(fields.get(name))
    return Keys(struct_bytes=ctypes.sizeof(Keys), kind=kind, count=count, data=_address(data), **fields)


def _keys_of(form, data, *rest):
    """The keys of library.add_many(handle, keys, lengths, count) and its sisters. A column is as long as it says."""
    *more, count = rest
    if form == "many":
        return many_keys(KEYS_POINTERS, count, data, lengths=more[0])
    if form == "fixed":
        return many_keys(KEYS_FIXED, count, data, key_bytes=more[0])
    if form == "digests":
        return many_keys(KEYS_DIGESTS, count, data)
    offsets = more[0]
    absurd = count >= 2**32  # no test has so many: the offsets end before
    end = max(0, offsets[count]) if offsets is not None and not absurd else 0
    return many_keys(KEYS_COLUMN32 if form == "column32" else KEYS_COLUMN64, count, data, data_bytes=end, offsets=offsets)


def _call_of(function, verb, form):
    """What a test says in one line: library.contains_many(handle, keys, lengths, count, answers)."""
    adds = verb == "add"

    def call_it(handle, *arguments):
        given, out = (arguments, ()) if adds else (arguments[:-1], arguments[-1:])
        return function(handle, byref(_keys_of(form, *given)), *out)
    call_it.__name__ = f"{verb}_{form}"
    return call_it


def options(note=None, seed=None, flags=0, like=None, **fields):
    """bfs_options from keywords; layout and hash by name."""
    fields["layout"] = LAYOUTS.get(fields.get("layout"), fields.get("layout") or 0)
    fields["hash"] = HASHES.get(fields.get("hash"), fields.get("hash") or 0)
    if seed is not None:
        fields["seed"], flags = seed, flags | OPTION_SEED
    if note is not None:
        fields["note"], fields["note_bytes"] = _address(note), len(note)
    if fields.get("key") is not None:
        fields["key"], fields["key_bytes"] = _address(fields["key"]), len(fields["key"])
    if fields.get("file_id") is not None:
        fields["file_id"], flags = (c_uint8 * 16)(*fields["file_id"]), flags | OPTION_FILE_ID
    if fields.get("seeds") is not None:
        fields["num_seeds"] = len(fields["seeds"])
        fields["seeds"] = _address((c_uint32 * len(fields["seeds"]))(*fields["seeds"]))
    return Options(struct_bytes=ctypes.sizeof(Options), flags=flags, like=like, **fields)


def open_options(flags=READ, key=None, offset=None, **fields):
    """bfs_open_options from keywords; with an offset, a range."""
    if key is not None:
        fields["key"], fields["key_bytes"] = _address(key), len(key)
    if offset is not None:
        fields["offset"], flags = offset, flags | OPEN_RANGE
    return OpenOptions(struct_bytes=ctypes.sizeof(OpenOptions), flags=flags, **fields)


def copy_options(flags=0, mode=0, **fields):
    return CopyOptions(struct_bytes=ctypes.sizeof(CopyOptions), flags=flags, mode=mode, **fields)


def foreign_form(format_name, order=0, name=None):
    return ForeignForm(struct_bytes=ctypes.sizeof(ForeignForm), order=order, format=format_name, name=name)


def foreign_inspect(library, form, data, given=None):
    """The Foreign of these bytes."""
    found, error = Foreign(struct_bytes=ctypes.sizeof(Foreign)), new_error()
    if library.bfs_foreign_inspect(byref(form), data, len(data), given and byref(given), byref(found), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)
    return found


def foreign_import(library, path, form, data, given):
    return call(library.bfs_foreign_import, path, form, data, len(data), given)


def foreign_export(library, handle, form):
    """The bytes."""
    needed, error = c_uint64(), new_error()
    code = library.bfs_foreign_export(handle, byref(form), None, 0, byref(needed), byref(error))
    data = ctypes.create_string_buffer(needed.value)
    code = code or library.bfs_foreign_export(handle, byref(form), data, needed.value, None, byref(error))
    if code != 0:
        raise CodeError(error.code, error.os_errno, error.message)
    return data.raw


def open_with(library, path, flags=READ, **given):
    return call(library.bfs_open_with, path, open_options(flags, **given))


def wrap_with(library, address, size, flags=READ, key=None):
    return call(library.bfs_wrap_with, address, size, open_options(flags, key))


def compare(library, a, b):
    found = Comparison(struct_bytes=ctypes.sizeof(Comparison))
    error = new_error()
    if library.bfs_compare(a, b, byref(found), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)
    return found


def intersect(library, handles, path, flags=0, mode=0, **fields):
    error, array = new_error(), (c_void_p * len(handles))(*handles)
    if library.bfs_intersect(array, len(handles), path, byref(copy_options(flags, mode, **fields)), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)


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
    if library.bfs_seal(path, to, byref(copy_options(flags, mode)), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)


def verify(library, path, capacity=100):
    """The damaged ranges, as (offset, bytes)."""
    ranges, error = (Range * capacity)(), new_error()
    found = library.bfs_verify(path, 0, ranges, capacity, byref(error))
    if found < 0:
        assert error.code == found
        raise CodeError(error.code, error.os_errno, error.message)
    return [(one.offset, one.bytes) for one in ranges[:min(found, capacity)]]


def list_marks(library, handle, capacity=64):
    """Every bfs_owner_mark."""
    marks, error = (OwnerMark * capacity)(), new_error()
    found = library.bfs_list_marks(handle, marks, capacity, byref(error))
    if found < 0:
        assert error.code == found
        raise CodeError(error.code, error.os_errno, error.message)
    return marks[:min(found, capacity)]


def marks_of(library, handle):
    """{owner: (mark, epoch)}"""
    return {one.owner: (one.mark, one.epoch) for one in list_marks(library, handle)}


def plan(library, **numbers):
    """The PlanResult of these fields of a bfs_plan_request."""
    result, error = PlanResult(struct_bytes=ctypes.sizeof(PlanResult)), new_error()
    request = PlanRequest(struct_bytes=ctypes.sizeof(PlanRequest), **numbers)
    if library.bfs_plan(byref(request), byref(result), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)
    return result


def statistics(library, handle, flags=0):
    stats = Statistics(struct_bytes=ctypes.sizeof(Statistics))
    error = new_error()
    if library.bfs_stats(handle, flags, byref(stats), byref(error)) != 0:
        raise CodeError(error.code, error.os_errno, error.message)
    return stats


def aligned_buffer(size, alignment=64):
    """A writable buffer whose address is a multiple of `alignment`: (object to keep alive, address)."""
    block = ctypes.create_string_buffer(size + alignment)
    start = ctypes.addressof(block)
    return block, start + -start % alignment

"""The C ABI for Python tests, by ctypes: load(path) gives the library with its argument types, and the structs."""
import ctypes
import pathlib
import re
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_uint64, c_void_p

import bfstore_header
import header_codes

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "capi" / "bfstore.h"
ABI = bfstore_header.declarations.read()
_CONSTANTS = {one.name: one.value for one in ABI.constants}
# BFS_READ is READ here, and so on.
READ, WRITE, EXCLUSIVE = (_CONSTANTS["BFS_" + name] for name in ("READ", "WRITE", "EXCLUSIVE"))
globals().update({name.removeprefix("BFS_"): number for name, number in _CONSTANTS.items()})


def _numbers(prefix):
    """Returns {name as the tools write it: number} of every row that the header has."""
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in _CONSTANTS.items() if name.startswith(prefix)}


LAYOUTS = _numbers("BFS_LAYOUT_")
# Those that are built once, from all keys, and take none later.
BUILT_LAYOUTS = {name: number for name, number in LAYOUTS.items() if name == "static"}
# Those that grow, in a file alone.
GROWING_LAYOUTS = {name: number for name, number in LAYOUTS.items() if name == "growing"}
# Those that take keys, and keep them: a filter of them needs no window, and may be in memory.
LASTING_LAYOUTS = {name: number for name, number in LAYOUTS.items()
                   if name not in {**BUILT_LAYOUTS, **GROWING_LAYOUTS} and not name.startswith("window")}
HASHES = _numbers("BFS_HASH_")
# bfs_owner_mark is OwnerMark here; pointers in structs are void*, but those to text.
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


def _rules():
    """{name of a code of C++: rule}, of the codes that C has as BFS_EMALFORMED."""
    names = dict(re.findall(r"CodeRow\{Code::(k\w+), \"(BFS_E\w+)\"", (ROOT / "src/base/error.cpp").read_text("utf-8")))
    numbers = re.findall(r"^  (k\w+) = (-2\d\d),", (ROOT / "include/bfstore/error.hpp").read_text("utf-8"), re.M)
    return {names[name]: -200 - int(number) for name, number in numbers
            if names[name] not in _CONSTANTS and names[name] not in ("BFS_ELAYOUT", "BFS_EHASH")}


RULES = _rules()


def said(name):
    """(code, rule) in bfs_error of what C++, bfinspect and the format's document call by this name."""
    if name in RULES:
        return _CONSTANTS["BFS_EMALFORMED"], RULES[name]
    return _CONSTANTS["BFS_EFEATURE" if name in ("BFS_ELAYOUT", "BFS_EHASH") else name], 0


SIGNATURES = {one.name: (_type(one.result), [_type(each.type) for each in one.parameters]) for one in ABI.functions}
LISTED = header_codes.of(HEADER)


def _only_listed(name):
    """Returns a check that the function returns only codes that its comment in the header lists."""
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
    library.count = lambda handle, key, size: _count_one(library, handle, _one_key(key, size))
    library.count_digest = lambda handle, digest: _count_one(library, handle, _one_digest(digest))
    library.remove_digest = lambda handle, digest: library.bfs_remove_keys(handle, byref(_one_digest(digest)))
    return library


def _one_key(key, size):
    return many_keys(KEYS_POINTERS, 1, (c_char_p * 1)(key), lengths=(c_size_t * 1)(size))


def _one_digest(digest):
    return many_keys(KEYS_DIGESTS, 1, (c_uint64 * 1)(digest))


def _count_one(library, handle, keys):
    """How often the key is in, or a code."""
    counts = (c_uint8 * 1)(99)
    code = library.bfs_count_keys(handle, byref(keys), counts)
    assert counts[0] == 15 if code < 0 else code == (counts[0] > 0), (code, counts[0])
    return code if code < 0 else counts[0]


def _address(array):
    """Returns the address of an array of ctypes or bytes, and keeps the array."""
    if array is None:
        return None
    return ctypes.cast(c_char_p(array) if isinstance(array, bytes) else array, c_void_p)


def many_keys(kind, count, data=None, **fields):
    """Returns bfs_keys. `data`, `lengths`, `offsets`, `validity` and `scratch` are ctypes arrays or bytes, which the caller keeps."""
    for name in ("lengths", "offsets", "validity", "scratch"):
        fields[name] = _address(fields.get(name))
    return Keys(struct_bytes=ctypes.sizeof(Keys), kind=kind, count=count, data=_address(data), **fields)


def _keys_of(form, data, *rest):
    """Returns the keys of library.add_many(handle, keys, lengths, count) and its sisters. A column is as long as it says."""
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
    """Returns a call for one line of a test: library.contains_many(handle, keys, lengths, count, answers)."""
    adds = verb == "add"

    def call_it(handle, *arguments):
        given, out = (arguments, ()) if adds else (arguments[:-1], arguments[-1:])
        return function(handle, byref(_keys_of(form, *given)), *out)
    call_it.__name__ = f"{verb}_{form}"
    return call_it


def options(**fields):
    """bfs_options from keywords: layout and hash by name, a range as (offset, bytes), and what the struct points to as it is."""
    kept = []  # what the struct points to lives as long as the struct

    def pointer(thing):
        kept.append(thing)
        return ctypes.cast(ctypes.pointer(thing), c_void_p)

    fields = {name: value for name, value in fields.items() if value is not None}
    for name, numbers in (("layout", LAYOUTS), ("hash", HASHES)):
        if name in fields:
            fields[name] = numbers.get(fields[name], fields[name])
    for name in {"note", "secret"} & fields.keys():
        fields.setdefault(name + "_bytes", len(fields[name]))
        fields[name] = pointer(ctypes.create_string_buffer(fields[name], max(1, len(fields[name]))))
    if "seeds" in fields:
        fields.setdefault("num_seeds", len(fields["seeds"]))
        fields["seeds"] = pointer((c_uint32 * len(fields["seeds"]))(*fields["seeds"]))
    if "seed" in fields:
        fields["seed"] = pointer(c_uint64(fields["seed"]))
    if "file_id" in fields:
        fields["file_id"] = pointer((c_uint8 * 16)(*fields["file_id"]))
    if "range" in fields:
        fields["range"] = pointer(Range(*fields["range"]))
    if "fd" in fields:
        fields["fd"] = pointer(c_int32(fields["fd"]))
    made = Options(struct_bytes=ctypes.sizeof(Options), **fields)
    made.kept = kept
    return made


def _given(fields):
    return options(**fields) if any(value is not None for value in fields.values()) else None


def create(library, path, flags=0, **fields):
    return call(library.bfs_create, path, flags, options(**fields))


def open_path(library, path, flags=READ, **fields):
    return call(library.bfs_open, path, flags, _given(fields))


def open_or_create(library, path, flags=WRITE, **fields):
    """(handle, whether the call made the file)."""
    made = []

    def remember(*arguments):
        made.append(library.bfs_open(*arguments))
        return made[0]
    return call(remember, path, flags | CREATE, options(**fields)), made[0] == 1


def build(library, path, keys, flags=0, **fields):
    """The handle of a file of these bfs_keys."""
    return call(library.bfs_build, path, flags, _given(fields), keys)


def open_memory(library, address, size, flags=READ, secret=None):
    return call(library.bfs_open_memory, address, size, flags, _given({"secret": secret} if secret is not None else {}))


def bytes_needed(library, flags=0, given=None, **fields):
    """What bfs_format needs, for these options."""
    error = new_error()
    return _checked(library.bfs_format(None, 0, flags, given or options(**fields), None, byref(error)), error)


def mark(owner, epoch, position):
    """bfs_owner_mark for bfs_sync."""
    return OwnerMark(owner=owner, epoch=epoch, mark=position)


def _checked(code, error):
    """The result of a function, or a CodeError."""
    if code < 0:
        assert error.code == code, f"bfs_error has code {error.code}, the function returned {code}"
        raise CodeError(error)
    return code


def copy(library, handle, path, flags=0, **fields):
    error = new_error()
    _checked(library.bfs_copy(handle, path, flags, _given(fields), byref(error)), error)


def seal(library, path, to, flags=0, secret=None, **fields):
    """Makes a sealed copy of a file."""
    handle = open_path(library, path, secret=secret)
    try:
        copy(library, handle, to, flags | SEALED, **fields)
    finally:
        library.bfs_close(handle, None)


def dump(library, handle, flags=0):
    """The bytes."""
    error = new_error()
    data = ctypes.create_string_buffer(_checked(library.bfs_dump(handle, None, 0, flags, byref(error)), error))
    size = _checked(library.bfs_dump(handle, data, len(data), flags, byref(error)), error)  # before the bytes are taken
    return data.raw[:size]


def foreign_form(format_name, order=0, name=None, column=None, member=0):
    return ForeignForm(struct_bytes=ctypes.sizeof(ForeignForm), order=order, format=format_name, name=name, column=column, member=member)


def foreign_open(library, path, form, flags=0, given=None):
    return call(library.bfs_foreign_open, path, form, flags, given)


def recognized(library, path, flags=0):
    """The names of the formats that the file has."""
    names, name, error = [], c_char_p(), new_error()
    while True:
        _checked(library.bfs_foreign_recognize(path, flags, len(names), byref(name), byref(error)), error)
        if name.value is None:
            return names
        names.append(name.value)


def foreign_inspect(library, form, data, flags=0, given=None):
    """The Foreign of these bytes."""
    found, error = Foreign(struct_bytes=ctypes.sizeof(Foreign)), new_error()
    _checked(library.bfs_foreign_inspect(byref(form), data, len(data), flags, given, byref(found), byref(error)), error)
    return found


def foreign_import(library, path, form, data, flags=0, given=None):
    return call(library.bfs_foreign_import, path, form, data, len(data), flags, given)


def foreign_export(library, handle, form):
    """The bytes."""
    error = new_error()
    data = ctypes.create_string_buffer(_checked(library.bfs_foreign_export(handle, byref(form), None, 0, byref(error)), error))
    _checked(library.bfs_foreign_export(handle, byref(form), data, len(data), byref(error)), error)
    return data.raw


def compare(library, a, b):
    found, error = Comparison(struct_bytes=ctypes.sizeof(Comparison)), new_error()
    _checked(library.bfs_compare(a, b, byref(found), byref(error)), error)
    return found


def intersect(library, handles, path, flags=0, **fields):
    error, array = new_error(), (c_void_p * len(handles))(*handles)
    _checked(library.bfs_intersect(array, len(handles), path, flags, _given(fields), byref(error)), error)


def join(library, handles, path, flags=0, **fields):
    error, array = new_error(), (c_void_p * len(handles))(*handles)
    _checked(library.bfs_join(array, len(handles), path, flags, _given(fields), byref(error)), error)


def new_error():
    return Error(struct_bytes=ctypes.sizeof(Error))


def call(function, *arguments):
    """Calls a function that ends in (out, error). Returns the handle, or raises a CodeError."""
    handle, error = c_void_p(), new_error()
    code = function(*arguments, byref(handle), byref(error))
    if code < 0:
        assert handle.value is None, "a handle came with an error"
        _checked(code, error)
    return handle


class CodeError(Exception):
    def __init__(self, error):
        super().__init__(error.code, error.os_errno, error.message)
        self.code, self.os_errno, self.rule, self.message = error.code, error.os_errno, error.rule, error.message


def verify(library, path, capacity=100):
    """Returns the damaged ranges, as (offset, bytes)."""
    ranges, error = (Range * capacity)(), new_error()
    found = _checked(library.bfs_verify(path, 0, ranges, capacity, byref(error)), error)
    return [(one.offset, one.bytes) for one in ranges[:min(found, capacity)]]


def list_marks(library, handle, capacity=64):
    """Returns every bfs_owner_mark."""
    marks, error = (OwnerMark * capacity)(), new_error()
    found = _checked(library.bfs_list_marks(handle, marks, capacity, byref(error)), error)
    return marks[:min(found, capacity)]


def marks_of(library, handle):
    """Returns {owner: (mark, epoch)}."""
    return {one.owner: (one.mark, one.epoch) for one in list_marks(library, handle)}


def plan(library, **numbers):
    """Returns the PlanResult of these fields of a bfs_plan_request."""
    result, error = PlanResult(struct_bytes=ctypes.sizeof(PlanResult)), new_error()
    request = PlanRequest(struct_bytes=ctypes.sizeof(PlanRequest), **numbers)
    _checked(library.bfs_plan(byref(request), byref(result), byref(error)), error)
    return result


def statistics(library, handle, flags=0):
    stats = Statistics(struct_bytes=ctypes.sizeof(Statistics))
    error = new_error()
    _checked(library.bfs_stats(handle, flags, byref(stats), byref(error)), error)
    return stats


def note_of(library, handle):
    stats = statistics(library, handle)
    return bytes(stats.note[:stats.note_bytes])


def seeds_of(library, handle):
    stats = statistics(library, handle)
    return list(stats.seeds[:stats.num_seeds])


def aligned_buffer(size, alignment=64):
    """Returns a writable buffer whose address is a multiple of `alignment`: (object to keep alive, address)."""
    block = ctypes.create_string_buffer(size + alignment)
    start = ctypes.addressof(block)
    return block, start + -start % alignment

"""The C ABI for Python tests, by ctypes: load(path) gives the library with its argument types, and the structs."""
import ctypes
import pathlib
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_uint64, c_void_p

import bfstore_header
import header_codes


def _numbers(prefix):
    """{name as the tools write it: number} of every row that the header has."""
    header = pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore.h"
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in bfstore_header.constants(header).items() if name.startswith(prefix)}


LAYOUTS = _numbers("BFS_LAYOUT_")
HASHES = _numbers("BFS_HASH_")
_HEADER = {name: value for header in bfstore_header.installed(pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore.h")
           for name, value in bfstore_header.constants(header).items()}
# BFS_OPEN_READ is READ here, and so on; BFS_OPEN_GUARD is OPEN_GUARD.
READ, WRITE, EXCLUSIVE = (_HEADER["BFS_OPEN_" + name] for name in ("READ", "WRITE", "EXCLUSIVE"))
globals().update({name.removeprefix("BFS_"): number for name, number in _HEADER.items()
                  if name.startswith(("BFS_OPEN_", "BFS_OPTION_", "BFS_STATS_", "BFS_DIFFERS_", "BFS_LOCK_", "BFS_KEYS_", "BFS_WRITEBACK_",
                                      "BFS_BITS_", "BFS_FOREIGN_"))})


class Error(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("code", c_int32), ("os_errno", c_int32), ("reserved", c_uint32),
                ("message", c_char * 496)]


class Options(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("mode", c_uint32), ("flags", c_uint64), ("capacity", c_uint64), ("fpr", c_double),
                ("bits_per_key", c_double), ("max_bytes", c_uint64), ("num_bits", c_uint64), ("num_probes", c_uint32),
                ("layout", c_uint32), ("hash", c_uint32), ("reserved", c_uint32), ("seed", c_uint64), ("like", c_char_p),
                ("note", c_char_p), ("note_bytes", c_uint64), ("key", c_char_p), ("key_bytes", c_uint64),
                ("lock_timeout_ms", c_uint32), ("writeback_check_ms", c_uint32), ("file_id", c_uint8 * 16),
                ("seeds", POINTER(c_uint32)), ("num_seeds", c_uint64)]


class OpenOptions(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("fd", c_int32), ("flags", c_uint64), ("key", c_char_p), ("key_bytes", c_uint64),
                ("offset", c_uint64), ("max_bytes", c_uint64), ("lock_timeout_ms", c_uint32),
                ("writeback_check_ms", c_uint32)]


class CopyOptions(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("mode", c_uint32), ("flags", c_uint64), ("lock_timeout_ms", c_uint32),
                ("reserved", c_uint32), ("fpr", c_double)]


class Statistics(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("layout", c_uint32), ("hash", c_uint32), ("num_probes", c_uint32),
                ("num_bits", c_uint64), ("capacity", c_uint64), ("fpr", c_double), ("seed", c_uint64),
                ("body_bytes", c_uint64), ("keys_added", c_uint64), ("health", c_int32), ("saturated", c_uint32),
                ("has_fill", c_uint32), ("has_memory", c_uint32), ("set_bits", c_uint64), ("fill_ratio", c_double),
                ("estimated_keys", c_double), ("estimated_keys_low", c_double),
                ("estimated_keys_high", c_double), ("estimated_fpr", c_double), ("huge_page_bytes", c_uint64),
                ("resident_bytes", c_uint64), ("isa", c_char * 16), ("file_id", c_uint8 * 16),
                ("keys_removed", c_uint64), ("counters_at_15", c_uint64)]


class Interval(Structure):
    _fields_ = [("estimate", c_double), ("low", c_double), ("high", c_double)]


class Comparison(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("differs", c_uint32), ("comparable", c_uint32), ("equal", c_uint32),
                ("a_in_b", c_uint32), ("b_in_a", c_uint32), ("some_in_both", c_uint32), ("reserved", c_uint32),
                ("num_bits", c_uint64), ("set_bits_a", c_uint64), ("set_bits_b", c_uint64), ("set_bits_both", c_uint64),
                ("keys_a", Interval), ("keys_b", Interval), ("keys_either", Interval), ("keys_both", Interval),
                ("jaccard", Interval)]


class Keys(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("kind", c_uint32), ("count", c_uint64), ("data", c_void_p),
                ("data_bytes", c_uint64), ("lengths", c_void_p), ("offsets", c_void_p), ("key_bytes", c_uint64),
                ("stride", c_uint64), ("validity", c_void_p), ("validity_offset", c_uint64)]


class Range(Structure):
    _fields_ = [("offset", c_uint64), ("bytes", c_uint64)]


class OwnerMark(Structure):
    _fields_ = [("owner", c_uint64), ("mark", c_uint64), ("epoch", c_uint64), ("recovered", c_uint32), ("reserved", c_uint32)]


class PlanRequest(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("layout", c_uint32), ("capacity", c_uint64), ("fpr", c_double),
                ("bits_per_key", c_double), ("max_bytes", c_uint64), ("num_bits", c_uint64), ("num_probes", c_uint32),
                ("reserved", c_uint32)]


class PlanResult(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("layout", c_uint32), ("num_probes", c_uint32), ("abilities", c_uint32),
                ("num_bits", c_uint64), ("capacity", c_uint64), ("fpr", c_double), ("bits_per_key", c_double),
                ("body_bytes", c_uint64), ("file_bytes", c_uint64), ("fill_ratio", c_double), ("bloom_fpr", c_double),
                ("cache_lines", c_double), ("page_faults", c_double)]


class ForeignForm(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("order", c_uint32), ("format", c_char_p), ("name", c_char_p)]


class Foreign(Structure):
    _fields_ = [("struct_bytes", c_uint32), ("needs", c_uint32), ("layout", c_uint32), ("hash", c_uint32),
                ("num_bits", c_uint64), ("capacity", c_uint64), ("fpr", c_double), ("keys", c_uint64), ("bytes", c_uint64),
                ("num_probes", c_uint32), ("has_keys", c_uint32)]


OUT = POINTER(c_void_p)
ERROR = POINTER(Error)
POINTERS, LENGTHS, ANSWERS, DIGESTS = POINTER(c_char_p), POINTER(c_size_t), POINTER(c_uint8), POINTER(c_uint64)
INDICES = POINTER(c_uint32)
SIGNATURES = {
    "bfs_version": (c_char_p, []),
    "bfs_version_number": (c_uint32, []),
    "bfs_strerror": (c_char_p, [c_int32]),
    "bfs_code_name": (c_char_p, [c_int32]),
    "bfs_create": (c_int32, [c_char_p, POINTER(Options), OUT, ERROR]),
    "bfs_open": (c_int32, [c_char_p, c_uint64, OUT, ERROR]),
    "bfs_open_with": (c_int32, [c_char_p, POINTER(OpenOptions), OUT, ERROR]),
    "bfs_wrap_with": (c_int32, [c_void_p, c_uint64, POINTER(OpenOptions), OUT, ERROR]),
    "bfs_plan": (c_int32, [POINTER(PlanRequest), POINTER(PlanResult), ERROR]),
    "bfs_required_bytes": (c_int32, [POINTER(Options), POINTER(c_uint64), ERROR]),
    "bfs_format": (c_int32, [c_void_p, c_uint64, POINTER(Options), OUT, ERROR]),
    "bfs_wrap": (c_int32, [c_void_p, c_uint64, c_uint64, OUT, ERROR]),
    "bfs_publish": (c_int32, [c_void_p, ERROR]),
    "bfs_supersede": (c_int32, [c_void_p, ERROR]),
    "bfs_save": (c_int32, [c_void_p, c_char_p, POINTER(CopyOptions), ERROR]),
    "bfs_dump": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint64, POINTER(c_uint64), ERROR]),
    "bfs_load": (c_int32, [c_void_p, c_uint64, POINTER(OpenOptions), OUT, ERROR]),
    "bfs_merge": (c_int32, [c_void_p, c_void_p, ERROR]),
    "bfs_create_part": (c_int32, [c_char_p, POINTER(Options), c_uint32, c_uint32, POINTER(c_void_p), ERROR]),
    "bfs_get_part": (c_int32, [c_void_p, POINTER(c_uint32), POINTER(c_uint32), ERROR]),
    "bfs_join": (c_int32, [POINTER(c_void_p), c_size_t, c_char_p, POINTER(CopyOptions), ERROR]),
    "bfs_open_set": (c_int32, [c_char_p, POINTER(OpenOptions), OUT, ERROR]),
    "bfs_intersect": (c_int32, [POINTER(c_void_p), c_size_t, c_char_p, POINTER(CopyOptions), ERROR]),
    "bfs_compare": (c_int32, [c_void_p, c_void_p, POINTER(Comparison), ERROR]),
    "bfs_import_bits": (c_int32, [c_void_p, c_char_p, c_uint64, c_uint32, ERROR]),
    "bfs_export_bits": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint32, ERROR]),
    "bfs_foreign_name": (c_char_p, [c_uint32]),
    "bfs_foreign_inspect": (c_int32, [POINTER(ForeignForm), c_char_p, c_uint64, POINTER(Options), POINTER(Foreign), ERROR]),
    "bfs_foreign_import": (c_int32, [c_char_p, POINTER(ForeignForm), c_char_p, c_uint64, POINTER(Options), OUT, ERROR]),
    "bfs_foreign_export": (c_int32, [c_void_p, POINTER(ForeignForm), c_void_p, c_uint64, POINTER(c_uint64), ERROR]),
    "bfs_seal": (c_int32, [c_char_p, c_char_p, POINTER(CopyOptions), ERROR]),
    "bfs_verify": (c_int64, [c_char_p, c_uint64, POINTER(Range), c_size_t, ERROR]),
    "bfs_close": (c_int32, [c_void_p, ERROR]),
    "bfs_shut": (c_int32, [c_void_p, ERROR]),
    "bfs_abandon": (None, [c_void_p]),
    "bfs_add": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_add_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_remove": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_remove_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_remove_keys": (c_int64, [c_void_p, POINTER(Keys)]),
    "bfs_count": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_count_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_contains": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "bfs_contains_digest": (c_int32, [c_void_p, c_uint64]),
    "bfs_digest": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_uint64)]),
    "bfs_add_digests": (c_int64, [c_void_p, DIGESTS, c_size_t]),
    "bfs_add_keys": (c_int64, [c_void_p, POINTER(Keys)]),
    "bfs_contains_keys": (c_int64, [c_void_p, POINTER(Keys), ANSWERS]),
    "bfs_select_keys": (c_int64, [c_void_p, POINTER(Keys), INDICES]),
    "bfs_digest_keys": (c_int64, [c_void_p, POINTER(Keys), DIGESTS]),
    "bfs_use_threads": (c_int32, [c_void_p, c_uint32, ERROR]),
    "bfs_contains_digests": (c_int64, [c_void_p, DIGESTS, c_size_t, ANSWERS]),
    "bfs_bare_contains": (c_int32, [c_void_p, c_uint64, c_char_p, c_size_t]),
    "bfs_bare_contains_digest": (c_int32, [c_void_p, c_uint64, c_uint64]),
    "bfs_bare_bytes": (c_uint64, [c_uint64, c_double, c_uint32]),
    "bfs_bare_build": (c_int32, [c_void_p, c_uint64, c_uint32, POINTER(Keys)]),
    "bfs_bare_build_digests": (c_int32, [c_void_p, c_uint64, c_uint32, c_uint32, DIGESTS, c_size_t]),
    "bfs_sync": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint64, ERROR]),
    "bfs_get_mark": (c_uint64, [c_void_p, c_uint64, c_uint64]),
    "bfs_list_marks": (c_int64, [c_void_p, POINTER(OwnerMark), c_size_t, ERROR]),
    "bfs_drop_owner": (c_int32, [c_void_p, c_uint64, ERROR]),
    "bfs_finish_recovery": (c_int32, [c_void_p, c_uint64, ERROR]),
    "bfs_finish_filling": (c_int32, [c_void_p, ERROR]),
    "bfs_health": (c_int32, [c_void_p]),
    "bfs_is_current": (c_int32, [c_void_p, ERROR]),
    "bfs_get_note": (c_int64, [c_void_p, c_void_p, c_size_t, ERROR]),
    "bfs_get_seeds": (c_int64, [c_void_p, POINTER(c_uint32), c_size_t, ERROR]),
    "bfs_stats": (c_int32, [c_void_p, c_uint64, POINTER(Statistics), ERROR]),
}


LISTED = header_codes.of(pathlib.Path(__file__).resolve().parents[2] / "capi" / "bfstore.h")


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
    return ctypes.cast(array, c_void_p) if array is not None else None


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
        fields["note"], fields["note_bytes"] = note, len(note)
    if fields.get("key") is not None:
        fields["key_bytes"] = len(fields["key"])
    if fields.get("file_id") is not None:
        fields["file_id"], flags = (c_uint8 * 16)(*fields["file_id"]), flags | OPTION_FILE_ID
    if fields.get("seeds") is not None:
        fields["num_seeds"], fields["seeds"] = len(fields["seeds"]), (c_uint32 * len(fields["seeds"]))(*fields["seeds"])
    return Options(struct_bytes=ctypes.sizeof(Options), flags=flags, like=like, **fields)


def open_options(flags=READ, key=None, offset=None, **fields):
    """bfs_open_options from keywords; with an offset, a range."""
    if key is not None:
        fields["key"], fields["key_bytes"] = key, len(key)
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

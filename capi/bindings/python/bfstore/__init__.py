"""Bloom filters in files, which any number of processes and languages share through a memory map.

    import bfstore

    with bfstore.create("users.bf", capacity=1_000_000, fpr=0.01) as users:
        users.add("alice")
        "alice" in users                     # True: maybe.  False would be certain.

    with bfstore.open("users.bf") as users:  # for reading; "r+" also adds
        mask = users.contains_many(["alice", "bob"])

Keys are bytes.  A str is its UTF-8, without normalization (a lone surrogate is a UnicodeEncodeError).  An int of 64 bits
is 8 bytes, little-endian, and a negative one its two's complement.  bool, float and None are a TypeError.

Threads: any number may use one filter.  Calls with many keys, and calls that may wait for the disk or for a lock, let
other threads run; one key does not, since that would cost more than the lookup.  fork(): the child may ask through the
filters that it inherits, and close them; adding is a ForkedError, so it opens the path again.
"""

import dataclasses
import io
import math
import os
import sys

from . import _bfstore

__all__ = [
    "BusyError", "CallError", "ClosedError", "Comparison", "DamagedError", "DoubtError", "Error", "ExistsError", "Filter",
    "FilesystemError", "FillingError", "Foreign", "ForkedError", "FullError", "Interval", "InvalidError", "KindOfKeyError", "MalformedError",
    "Mark", "MemoryShortError", "MismatchError", "NoPermissionError", "NoSpaceError", "NotFoundError", "PartError", "Plan", "Range",
    "ReadOnlyError", "RecoveryError", "SealedError", "SecretError", "StateError", "Statistics", "SystemFailedError",
    "UnsupportedError", "bare_build", "bare_build_digests", "bare_bytes", "bare_contains", "bare_contains_digest", "build",
    "create", "foreign_formats", "format", "import_foreign", "inspect_foreign", "intersect", "join", "load", "open", "open_set", "plan", "required_bytes", "seal", "strerror",
    "verify", "wrap",
]

__version__ = _bfstore.version()


# --- Errors -----------------------------------------------------------------------------------------------------------

class Error(Exception):
    """Any error of bfstore.  Its text says what failed, on what, and what to do."""

    code = 0  #: the BFS_E number
    os_errno = 0  #: errno of the failed system call, or the one that means the same as the code; 0: none

    @property
    def code_name(self):
        """"BFS_EUNCLEAN", as in bfstore.h."""
        return _bfstore.code_name(self.code)

    def __str__(self):
        return str(self.args[-1]) if self.args else ""

    def __reduce__(self):
        return _error, (self.code, self.os_errno, str(self))


class CallError(Error):
    """The call or the system is at fault: change the call, or try again."""


class StateError(Error):
    """The file is good, and its state forbids this."""


class MalformedError(Error):
    """The file at the path is not a good filter file."""


class InvalidError(CallError, ValueError):
    """An argument is out of range, or contradicts another."""


class MemoryShortError(CallError, MemoryError):
    """Out of memory."""


class SystemFailedError(CallError, OSError):
    """A system call failed."""


class BusyError(CallError, BlockingIOError):
    """Another user of the file excludes this for now: try again later."""


class ExistsError(CallError, FileExistsError):
    """The file exists."""


class NotFoundError(CallError, FileNotFoundError):
    """The file does not exist."""


class NoPermissionError(CallError, PermissionError):
    """Permission denied."""


class ReadOnlyError(CallError, io.UnsupportedOperation):
    """The filter was opened for reading."""


class NoSpaceError(CallError, OSError):
    """The disk, the quota or the file size limit is full."""


class KindOfKeyError(CallError, TypeError):
    """The file takes only digests, or only keys."""


class PartError(CallError, ValueError):
    """The key belongs to another part of the whole filter than this one."""


class UnsupportedError(CallError):
    """The filter's layout cannot do this."""


class ForkedError(CallError):
    """The filter was opened before a fork, and this is the child: open the path again."""


class FilesystemError(CallError, OSError):
    """The file is on a network or overlay filesystem, which may show readers an older file: see any_filesystem."""


class SecretError(CallError):
    """The secret is missing, is another one, or the filter has none."""


class ClosedError(CallError, ValueError):
    """The filter was closed."""


class MismatchError(CallError, ValueError):
    """Two filters differ in what must be equal."""


class DoubtError(StateError):
    """Poisoned, lost, superseded or unreadable: every answer is "maybe".  Open the path again, or recover the file."""


class RecoveryError(StateError):
    """Not closed cleanly before a crash, poisoned, or being recovered: open it with recover=True."""


class FullError(StateError):
    """The filter has a limit, and is at its capacity."""


class SealedError(StateError):
    """The file is sealed, and takes no key; or it is not, and has no checksums."""


class DamagedError(StateError):
    """A sealed file has other bytes than when it was sealed."""


class FillingError(StateError):
    """Not every key was added yet: every answer is "maybe"."""


_CLASSES = {
    "BFS_EINVAL": InvalidError, "BFS_ENOMEM": MemoryShortError, "BFS_ESYSTEM": SystemFailedError, "BFS_EBUSY": BusyError,
    "BFS_EEXIST": ExistsError, "BFS_ENOENT": NotFoundError, "BFS_EACCES": NoPermissionError, "BFS_EREADONLY": ReadOnlyError,
    "BFS_ENOSPC": NoSpaceError, "BFS_EDIGESTONLY": KindOfKeyError, "BFS_EKEYONLY": KindOfKeyError, "BFS_EPART": PartError,
    "BFS_ESIZING": InvalidError,
    "BFS_EUNSUPPORTED": UnsupportedError, "BFS_EFORKED": ForkedError, "BFS_EFILESYSTEM": FilesystemError,
    "BFS_EKEY": SecretError, "BFS_ESHUT": ClosedError, "BFS_EMISMATCH": MismatchError, "BFS_EUNCLEAN": RecoveryError,
    "BFS_EPOISONED": RecoveryError, "BFS_ERECOVERING": RecoveryError, "BFS_ELOST": DoubtError, "BFS_ESUPERSEDED": DoubtError,
    "BFS_EFAULT": DoubtError, "BFS_EFULL": FullError, "BFS_ESEALED": SealedError, "BFS_ENOTSEALED": SealedError,
    "BFS_EDAMAGED": DamagedError, "BFS_EFILLING": FillingError,
}


def _class_of(code):
    """A code that this release does not know is treated as its class: see BFS_IS_CALL_ERROR."""
    by_range = CallError if code > -100 else StateError if code > -200 else MalformedError if code > -300 else Error
    return _CLASSES.get(_bfstore.code_name(code), by_range)


def _error(code, os_errno, words):
    """Returns the exception of a code.  The extension raises it."""
    kind = _class_of(code)
    error = kind(os_errno, words) if issubclass(kind, OSError) and os_errno else kind(words)
    error.code, error.os_errno = code, os_errno
    return error


def strerror(code):
    """One sentence for a BFS_E code."""
    return _bfstore.strerror(code)


# --- Results ----------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Interval:
    """An estimated number, and the interval that has it in 95 of 100 cases; high is math.inf if there is no bound."""

    estimate: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Range:
    """Bytes of a file."""

    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Mark:
    """Every key of the owner's log `epoch` up to the position `mark` is durable."""

    owner: int
    mark: int
    epoch: int
    recovered: bool


@dataclasses.dataclass(frozen=True)
class Plan:
    """The properties of a planned filter: see plan()."""

    layout: str
    num_probes: int
    abilities: frozenset
    num_bits: int
    capacity: int
    fpr: float
    bits_per_key: float
    body_bytes: int
    file_bytes: int
    fill_ratio: float
    bloom_fpr: float
    cache_lines: float
    page_faults: float


@dataclasses.dataclass(frozen=True)
class Foreign:
    """Facts in the bytes of another program's filter: see inspect_foreign().  None: the bytes do not tell it.

    needs: what import_foreign() needs besides the bytes: "size" (num_bits and num_probes, or another way), "order",
    "hash" (and its seed or seeds).
    """

    layout: str
    hash: "str | None"
    num_probes: "int | None"
    num_bits: "int | None"
    capacity: "int | None"
    fpr: "float | None"
    keys: "int | None"
    bytes: "int | None"
    needs: frozenset


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Facts about an open filter.  None: not requested (see Filter.stats), or the kernel does not report it."""

    layout: str
    hash: str
    num_probes: int
    num_bits: int
    capacity: int
    fpr: float
    seed: int
    body_bytes: int
    keys_added: int
    keys_removed: int
    health: str
    saturated: bool
    isa: str
    file_id: bytes
    set_bits: "int | None"
    fill_ratio: "float | None"
    estimated_keys: "Interval | None"
    estimated_fpr: "float | None"
    counters_at_15: "int | None"
    huge_page_bytes: "int | None"
    resident_bytes: "int | None"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The differences of two filters, and the keys that they share: see Filter.compare."""

    differs: frozenset
    comparable: bool
    equal: bool
    a_in_b: bool
    b_in_a: bool
    some_in_both: bool
    num_bits: int
    set_bits_a: int
    set_bits_b: int
    set_bits_both: int
    keys_a: Interval
    keys_b: Interval
    keys_either: Interval
    keys_both: Interval
    jaccard: Interval


def _numbers(prefix):
    """Returns {name: number} of the extension's numbers with this prefix."""
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in vars(_bfstore).items() if name.startswith(prefix)}


_LAYOUTS = {_bfstore.layout_name(number): number for number in _numbers("LAYOUT_").values()}
_HASHES = {_bfstore.hash_name(number): number for number in _numbers("HASH_").values()}
_ABILITIES, _DIFFERENCES, _ORDERS = _numbers("CAN_"), _numbers("DIFFERS_"), _numbers("BITS_")
_NEEDS = _numbers("FOREIGN_NEEDS_")


def _names_in(names, bits):
    return frozenset(name for name, bit in names.items() if bits & bit)


def _number_in(names, name, what):
    if name not in names:
        raise ValueError(f"{what} is one of {', '.join(names)}, not {name!r}")
    return names[name]


# --- Options ----------------------------------------------------------------------------------------------------------

_OPEN_FLAGS = {
    name: getattr(_bfstore, "OPEN_" + name.upper())
    for name in ("populate", "random", "copy", "guard", "recover", "accept_loss", "strict", "any_filesystem", "limit", "no_write",
                 "follow", "verify", "tolerate_damage", "bare")}
_CREATE_FLAGS = {
    **{name: _OPEN_FLAGS[name] for name in ("populate", "random", "guard", "limit", "any_filesystem", "bare")},
    "exclusive": _bfstore.OPEN_EXCLUSIVE, "replace": _bfstore.OPTION_REPLACE, "unpublished": _bfstore.OPTION_UNPUBLISHED,
    "filling": _bfstore.OPTION_FILLING, "tutorial_sizing": _bfstore.OPTION_TUTORIAL_SIZING}
_COPY_FLAGS = {
    "replace": _bfstore.OPTION_REPLACE, "any_filesystem": _bfstore.OPEN_ANY_FILESYSTEM, "filling": _bfstore.OPTION_FILLING,
    "same_file_id": _bfstore.OPTION_FILE_ID}
_MODES = {"r": _bfstore.OPEN_READ, "r+": _bfstore.OPEN_WRITE}


def _milliseconds(seconds, zero, infinite, what):
    """Returns a time for bfs_options.  `zero` and `infinite` are the field's numbers for these times, since 0 is the
    default."""
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"{what} is a number of seconds, 0 or more")
    if seconds == 0:
        return zero
    if math.isinf(seconds) and infinite is not None:
        return infinite
    if seconds > 4_000_000:
        raise ValueError(f"{what} is at most 4,000,000 seconds")
    return max(1, round(seconds * 1000))


def _seeds(seeds):
    return b"".join(seed.to_bytes(4, sys.byteorder) for seed in seeds)


# Conversion of an option's value: (name of the field, function).
_CONVERTED = {
    "layout": ("layout", lambda name: _number_in(_LAYOUTS, name, "layout")),
    "hash": ("hash", lambda name: _number_in(_HASHES, name, "hash")),
    "like": ("like", os.fsencode),
    "secret": ("key", lambda secret: bytes(memoryview(secret))),  # bytes(16) would be 16 zeros
    "seeds": ("seeds", _seeds),
    "lock_timeout": ("lock_timeout_ms", lambda seconds: _milliseconds(
        seconds, _bfstore.LOCK_NO_WAIT, _bfstore.LOCK_FOREVER, "lock_timeout")),
    "writeback_check": ("writeback_check_ms", lambda seconds: _milliseconds(
        seconds, _bfstore.WRITEBACK_CHECK_EACH_ADD, None, "writeback_check")),
}
# A field that counts only with a flag: 0 is a value.
_GIVEN = {"seed": _bfstore.OPTION_SEED, "file_id": _bfstore.OPTION_FILE_ID, "offset": _bfstore.OPEN_RANGE}


def _fields(options, flags_by_name, flags=0):
    """Returns the fields of a struct from keywords.  None means "not given".  The extension refuses a name that is not
    a field."""
    fields = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in flags_by_name:
            flags |= flags_by_name[name] if value else 0
        elif name in ("flags", "key", "fd", "lock_timeout_ms", "writeback_check_ms"):
            raise TypeError(f"there is no option {name!r} here")
        else:
            field, convert = _CONVERTED.get(name, (name, lambda same: same))
            fields[field] = convert(value)
            flags |= _GIVEN.get(name, 0)
    fields["flags"] = flags
    return fields


def _open_flags(mode, exclusive, follow_symlinks=True):
    if mode not in _MODES:
        raise ValueError(f"mode is 'r' (asks) or 'r+' (also adds), not {mode!r}; create() makes a new file")
    if exclusive and mode == "r":
        raise ValueError("exclusive=True is for writing: mode 'r+'")
    flags = _bfstore.OPEN_EXCLUSIVE if exclusive else _MODES[mode]
    return flags | (0 if follow_symlinks else _bfstore.OPEN_NOFOLLOW)


def _name_of(path):
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# --- Filters ----------------------------------------------------------------------------------------------------------

class Filter(_bfstore.Handle):
    """An open filter: create(), open(), build(), format(), wrap() and load() make one.

    `key in filter`: False is certain, True is "maybe".  A closed filter raises ClosedError.  A filter that was not
    closed when it is collected warns (ResourceWarning), and is left as after a killed process: no key that was added is
    lost, and nothing is synced.
    """

    __slots__ = ()

    def __repr__(self):
        return f"<bfstore.Filter {self.name!r}{' (closed)' if self.closed else ''}>"

    def sync(self, owner=0, *, epoch=0, mark=0):
        """Makes everything that was added durable, then stores `mark`, a position in the log `epoch` of `owner`.

        The caller promises that every key up to the mark has returned from an add.  Without arguments it only syncs.
        """
        self._sync(owner, epoch, mark)

    def get_mark(self, owner, epoch):
        """Returns the mark of the owner in this epoch, as of the last sync by any process; 0: add the keys of all
        rows."""
        return self._get_mark(owner, epoch)

    def marks(self):
        """Returns a Mark for every owner that the filter knows, in no order."""
        return [Mark(*one) for one in self._list_marks()]

    @property
    def health(self):
        """"ok", or why every answer is "maybe" now: "poisoned", "lost", "superseded", "recovering", "filling", "fault", "shut"."""
        return _health(self._health())

    def stats(self, *, fill=False, memory=False):
        """Returns Statistics.  fill=True counts the bits, which reads everything; memory=True asks which pages are in
        memory."""
        flags = (_bfstore.STATS_FILL if fill else 0) | (_bfstore.STATS_MEMORY if memory else 0)
        return _statistics(self._stats(flags))

    def save(self, path, *, mode=None, replace=False, any_filesystem=False, filling=False, same_file_id=False, fpr=None,
             lock_timeout=None):
        """Makes a new file of the filter, complete and durable, while others may add.

        fpr: folds the copy as small as possible while its rate is at most this.  filling: the new file answers "maybe"
        until its owner calls finish_filling().
        """
        self._save(path, _fields(
            {"mode": mode, "replace": replace, "any_filesystem": any_filesystem, "filling": filling, "same_file_id": same_file_id,
             "fpr": fpr, "lock_timeout": lock_timeout}, _COPY_FLAGS))

    def dump(self, *, bare=False, same_file_id=False):
        """Returns the filter as bytes, for load(): an embedded filter, or the bare form.  Marks are not in them."""
        return self._dump((_bfstore.OPEN_BARE if bare else 0) | (_bfstore.OPTION_FILE_ID if same_file_id else 0))

    def merge(self, other):
        """Adds every key of another filter with the same layout, hash, seed and k.  `filter |= other` is the same."""
        self._merge(other)

    def __ior__(self, other):
        if not isinstance(other, Filter):
            return NotImplemented
        self._merge(other)
        return self

    def __or__(self, other):
        """Returns a new filter in memory with the keys of both, made like this one; merge() says which filters fit.

        For keyed filters: union = load(a.dump(), "r+", secret=...); union |= b."""
        if not isinstance(other, Filter):
            return NotImplemented
        union = load(self.dump(), "r+")
        try:
            union.merge(other)
        except BaseException:
            union.close()
            raise
        return union

    def compare(self, other):
        """Returns a Comparison of this filter (A) and another (B): their differences, and the number of keys that they
        share."""
        return _comparison(self._compare(other))

    def import_bits(self, bits, *, order):
        """Takes in the bit array of another program, whose m, k, hash and seeds the filter has.

        order: "little" or "big", which bit of a byte comes first.  An array does not tell whether these are right: look
        up keys that are known to be in it before you use the filter.
        """
        self._import_bits(bits, _number_in(_ORDERS, order, "order"))

    def export_bits(self, *, order):
        """Returns the filter's bits as an array for another program: bytes."""
        return self._export_bits((self.stats().num_bits + 7) // 8, _number_in(_ORDERS, order, "order"))

    def export_foreign(self, format, *, order=None):
        """Returns the filter for another program, in one of foreign_formats(): bytes.

        order: "little" or "big", only for the format "raw".
        """
        return self._export_foreign(format, _order_of(order))


def _order_of(order):
    return 0 if order is None else _number_in(_ORDERS, order, "order")


def _health(code):
    return "ok" if code == 0 else _bfstore.code_name(code).removeprefix("BFS_E").lower()


def _shown(kind, found):
    """Makes a result of the fields that the class has."""
    return kind(**{field.name: found[field.name] for field in dataclasses.fields(kind)})


def _statistics(facts):
    facts["layout"], facts["hash"] = _bfstore.layout_name(facts["layout"]), _bfstore.hash_name(facts["hash"])
    facts["health"], facts["saturated"] = _health(facts["health"]), bool(facts["saturated"])
    facts["estimated_keys"] = Interval(
        facts["estimated_keys"], facts["estimated_keys_low"], facts["estimated_keys_high"])
    if not facts["has_fill"]:
        facts.update(dict.fromkeys(("set_bits", "fill_ratio", "estimated_keys", "estimated_fpr", "counters_at_15")))
    if not facts["has_memory"]:
        facts.update(dict.fromkeys(("huge_page_bytes", "resident_bytes")))
    if facts["resident_bytes"] == 2**64 - 1:
        facts["resident_bytes"] = None
    return _shown(Statistics, facts)


def _comparison(found):
    for name in ("comparable", "equal", "a_in_b", "b_in_a", "some_in_both"):
        found[name] = bool(found[name])
    for name in ("keys_a", "keys_b", "keys_either", "keys_both", "jaccard"):
        found[name] = Interval(*found[name])
    found["differs"] = _names_in(_DIFFERENCES, found["differs"])
    return _shown(Comparison, found)


def open(path, mode="r", *, exclusive=False, follow_symlinks=True, **options):
    """Opens a filter file (or, for reading, the file of a descriptor, as an int).

    mode: "r" asks; "r+" also adds, concurrently with other writers.
    exclusive: adds as the only writer, several times as fast.
    secret: 16 bytes, of a filter with the hash "siphash".
    lock_timeout: seconds for each lock (default 5; 0: do not wait; math.inf).
    writeback_check: seconds between checks whether the kernel failed to write (default 0.1; 0: at each add).
    offset, max_bytes: reads an embedded filter in a file of any other format.

    Flags, all False: populate, random, copy, guard (how the file gets into memory); recover, accept_loss, strict,
    any_filesystem, limit, no_write (what is allowed); follow (open a file that replaces this one); verify,
    tolerate_damage (for a sealed file).  follow_symlinks=False refuses a symbolic link.  bfstore.h says what each
    costs.
    """
    fields = _fields(options, _OPEN_FLAGS, _open_flags(mode, exclusive, follow_symlinks))
    if isinstance(path, int):
        fields["fd"], fields["flags"] = path, fields["flags"] | _bfstore.OPEN_FD
        return _bfstore.open(Filter, f"descriptor {path}", None, fields)
    return _bfstore.open(Filter, _name_of(path), path, fields)


def open_set(manifest, *, follow_symlinks=True, **options):
    """Opens the parts of one filter that a text file lists, for reading, as one filter that answers for every key.

    The file begins with the line "bfstore-set 1"; then each line is the path of a part, relative to the file's folder.
    A part that is not listed, or is in doubt, answers True for its keys.  Options and flags are those of open() for
    reading, except offset, max_bytes and follow.
    """
    fields = _fields(options, _OPEN_FLAGS, _open_flags("r", False, follow_symlinks))
    return _bfstore.open_set(Filter, _name_of(manifest), manifest, fields)


def _pair(part):
    number, parts = part
    if not 0 <= number < 2**32 or not 0 <= parts < 2**32:
        raise ValueError(f"no part: {number} of {parts}")
    return number, parts


def create(path, *, part=None, **options):
    """Makes a new, empty filter file, open for writing.  It appears complete and durable, or not at all.

    Give the size by capacity and fpr (default 0.01), capacity and bits_per_key, capacity and max_bytes, num_bits and
    num_probes, or like (the path of a filter with the shape to use).

    layout: "blocked" (default), "classic", "counting" (can remove).
    hash: "xxh3" (default), "siphash" (with secret=16 bytes, for keys that strangers choose), "external" (only digests),
        or for the bits of other programs "murmur3", "murmur3-unsigned", "java-polynomial" (with seeds), "jaybird" and
        "pybloom-live" (its version 4 or later).  If python-bloomfilter has the key k, pass str(k) to the last two:
        an int or bytes is another key here.
    seed, file_id: random if not given.  note: at most 1,024 bytes for the owner.
    mode: permission bits, less the umask (if not given: those of the file that is replaced, or 0o600).
    part: (i, n) makes part i, from 0, of n of the filter that the other options describe: it takes only that part's
    keys.
    lock_timeout, writeback_check: as in open().

    Flags, all False: exclusive, populate, random, guard, limit, any_filesystem; replace (an existing file), unpublished
    (no name until publish()), filling (answers "maybe" until finish_filling()), tutorial_sizing.
    """
    if part is not None:
        return _bfstore.create_part(Filter, _name_of(path), path, _fields(options, _CREATE_FLAGS), *_pair(part))
    return _bfstore.create(Filter, _name_of(path), path, _fields(options, _CREATE_FLAGS))


def build(path, keys, *, capacity=None, width=0, **options):
    """Makes a filter file of these keys, which appears when it is complete, and is open for reading.

    capacity: if not given, and no other option gives the size, the number of the keys.  Other options as in create().
    """
    sized = {"capacity", "num_bits", "like"} & {name for name, value in options.items() if value is not None}
    if capacity is None and not sized:
        keys, capacity = _counted(keys, width)
    made = create(path, **{**options, "capacity": capacity, "exclusive": True, "unpublished": True})
    try:
        made.add_many(keys, width=width)
        made.publish()
    except BaseException:
        made.abandon()
        raise
    return made


def _counted(keys, width):
    """Returns keys whose number is known, and the number, at least 1."""
    if not hasattr(keys, "__len__"):
        if hasattr(keys, "__arrow_c_array__") or hasattr(keys, "__arrow_c_stream__"):
            raise TypeError("capacity= is needed for keys without a length")
        keys = tuple(keys)
    return keys, max(1, memoryview(keys).nbytes // width if width > 0 else len(keys))


# --- Filters of other programs ----------------------------------------------------------------------------------------

def foreign_formats():
    """The names of the formats that import_foreign() reads and Filter.export_foreign() writes: "raw", "jaybird", ...

    raw: only the bits, as bitarray.tofile() writes them.  The caller describes them by num_bits and num_probes (or
        like), hash and seeds, and order.
    jaybird: the file that BloomFilter.tofile() of python-bloomfilter writes (pybloom, pybloom-live).  Small filters need
        hash="jaybird", or hash="pybloom-live" if version 4 of pybloom-live or a later one made them.
    """
    return _bfstore.foreign_formats()


def inspect_foreign(data, format, *, order=None, name=None, **options):
    """Returns facts in the bytes of another program's filter, as a Foreign, without importing it.  64 KiB suffice.

    With the options of import_foreign(): describes the filter that it would make.
    """
    fields = _fields(options, _CREATE_FLAGS) if options else None
    found = _bfstore.inspect_foreign(fields, format, _order_of(order), name, data)
    has_keys = found.pop("has_keys")
    told = {field: value or None for field, value in found.items()}
    return Foreign(**{**told, "layout": _bfstore.layout_name(found["layout"]),
                      "hash": _bfstore.hash_name(found["hash"]) if found["hash"] else None,
                      "keys": found["keys"] if has_keys else None, "needs": _names_in(_NEEDS, found["needs"])})


def import_foreign(path, data, format, *, order=None, name=None, **options):
    """Makes a filter file of the bytes of another program's filter, open for reading.  It appears whole, or not at all.

    format: one of foreign_formats(), which says what each needs.  order: "little" or "big", which bit of a byte comes
    first.  name: the bytes' name in messages.  Other options are those of create(), if the bytes do not tell them.  If
    the caller's options are wrong, the filter answers False for keys that it has: so import with unpublished=True, look
    up keys that are known to be in it, and then call publish().
    """
    return _bfstore.import_foreign(Filter, _name_of(path), path, _fields(options, _CREATE_FLAGS), format, _order_of(order), name, data)


# --- In memory --------------------------------------------------------------------------------------------------------

def required_bytes(**options):
    """Returns the bytes that format() needs for these options of create()."""
    return _bfstore.required_bytes(_fields(options, _CREATE_FLAGS))


def format(buffer, **options):
    """Makes a new, empty filter in a writable buffer at a multiple of 64, such as that of mmap.mmap.

    Options as in create().  The buffer cannot be resized or closed while the filter is open.
    """
    return _bfstore.format(Filter, "the filter in a buffer", buffer, _fields(options, _CREATE_FLAGS))


def wrap(buffer, mode="r", *, secret=None, bare=False):
    """Opens the filter in a buffer at a multiple of 64, in place."""
    fields = _fields({"secret": secret, "bare": bare}, _OPEN_FLAGS, _open_flags(mode, False))
    function = _bfstore.wrap_to_read if mode == "r" else _bfstore.wrap_to_write
    return function(Filter, "the filter in a buffer", buffer, fields)


def load(data, mode="r", *, secret=None, bare=False):
    """Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed."""
    fields = _fields({"secret": secret, "bare": bare}, _OPEN_FLAGS, _open_flags(mode, False))
    return _bfstore.load(Filter, "the loaded filter", data, fields)


# --- Files ------------------------------------------------------------------------------------------------------------

def seal(source, to, *, mode=None, replace=False, any_filesystem=False, lock_timeout=None):
    """Makes a sealed copy of a file, with checksums, that is never written to again.  With replace, `to` may be `source`."""
    _bfstore.seal(source, to, _fields(
        {"mode": mode, "replace": replace, "any_filesystem": any_filesystem, "lock_timeout": lock_timeout}, _COPY_FLAGS))


def verify(path, *, follow_symlinks=True):
    """Returns the damaged Ranges of a sealed file, ascending; [] if it is unchanged."""
    flags = 0 if follow_symlinks else _bfstore.OPEN_NOFOLLOW
    found, ranges = _bfstore.verify(path, flags, 100)
    if found > len(ranges):
        found, ranges = _bfstore.verify(path, flags, found)
    return [Range(*one) for one in ranges]


def intersect(filters, path, *, mode=None, replace=False, any_filesystem=False, filling=False, lock_timeout=None):
    """Makes a new file of the keys that each of the filters has."""
    _bfstore.intersect(_bfstore.Handle, tuple(filters), path, _fields(
        {"mode": mode, "replace": replace, "any_filesystem": any_filesystem, "filling": filling, "lock_timeout": lock_timeout},
        _COPY_FLAGS))


def join(parts, path, *, mode=None, replace=False, any_filesystem=False, filling=False, lock_timeout=None):
    """Makes a new file of the whole filter.  Each of its parts must occur once."""
    _bfstore.join(_bfstore.Handle, tuple(parts), path, _fields(
        {"mode": mode, "replace": replace, "any_filesystem": any_filesystem, "filling": filling, "lock_timeout": lock_timeout},
        _COPY_FLAGS))


def plan(*, layout=None, capacity=None, fpr=None, bits_per_key=None, max_bytes=None, num_bits=None, num_probes=None):
    """Computes the missing numbers from the given ones, without making a filter: returns a Plan."""
    given = {"layout": layout, "capacity": capacity, "fpr": fpr, "bits_per_key": bits_per_key, "max_bytes": max_bytes,
             "num_bits": num_bits, "num_probes": num_probes}
    fields = _fields(given, {})
    del fields["flags"]
    found = _bfstore.plan(fields)
    found["layout"], found["abilities"] = _bfstore.layout_name(found["layout"]), _names_in(_ABILITIES, found["abilities"])
    return _shown(Plan, found)


# --- Bare filters -----------------------------------------------------------------------------------------------------

def bare_contains(data, key):
    """Returns False if the bare filter in `data` was certainly built without the key; True for every doubt."""
    return _bfstore.bare_contains(data, key)


def bare_contains_digest(data, digest):
    """Answers as bare_contains(), for a key's digest."""
    return _bfstore.bare_contains_digest(data, digest)


def bare_bytes(num_keys, bits_per_key, *, layout="blocked"):
    """Returns the bytes of a bare filter for this number of keys; 0 if no such filter exists."""
    return _bfstore.bare_bytes(num_keys, bits_per_key, _number_in(_LAYOUTS, layout, "layout"))


def bare_build(size, keys, *, layout="blocked", width=0):
    """Returns a bare filter of these keys, exactly `size` bytes long (see bare_bytes)."""
    return _bfstore.bare_build(size, _number_in(_LAYOUTS, layout, "layout"), 0, keys, width)


def bare_build_digests(size, digests, *, layout="blocked", hash="xxh3"):
    """Returns a bare filter of these digests, exactly `size` bytes long."""
    return _bfstore.bare_build(size, _number_in(_LAYOUTS, layout, "layout"), _number_in(_HASHES, hash, "hash"), digests, 0)

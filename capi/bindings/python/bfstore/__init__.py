"""Bloom filters in files, which any number of processes and languages share through a memory map.

    import bfstore

    with bfstore.open("users.bf", "a", capacity=1_000_000, fpr=0.01) as users:  # makes a missing file
        users.add("alice")
        users.update(["bob", "carol"])
        "alice" in users                     # True: maybe.  False would be certain.

    with bfstore.open("users.bf") as users:  # for reading
        mask = users.contains_many(["alice", "zoe"])

Keys are bytes.  A str is its UTF-8, without normalization (a lone surrogate is a UnicodeEncodeError).  An int of 64 bits
is 8 bytes, little-endian, and a negative one its two's complement.  bool, float and None are a TypeError.

Threads: any number may use one filter.  Calls with many keys, and calls that may wait for the disk or for a lock, let
other threads run; one key does not, since that would cost more than the lookup.  fork(): the child may ask through the
filters that it inherits, and close them; adding is a ForkedError, so it opens the path again.
"""

import dataclasses
import datetime
import io
import math
import operator
import os
import re
import struct
import sys
from errno import EBADF as _EBADF

from . import _bfstore, _words

__all__ = [
    "BusyError", "CallError", "ClosedError", "Comparison", "DamagedError", "DoubtError", "Error", "ExistsError",
    "FilesystemError", "FillingError", "Filter", "Foreign", "ForkedError", "FullError", "Interval", "InvalidError",
    "KindOfKeyError", "MalformedError", "Mark", "MemoryShortError", "MismatchError", "NoPermissionError",
    "NoSpaceError", "NotFoundError", "PartError", "Plan", "Range", "ReadOnlyError", "RecoveryError", "SealedError",
    "SecretError", "StateError", "Statistics", "SystemFailedError", "UnsupportedError", "apply_delta", "bare_build",
    "bare_build_digests", "bare_bytes", "bare_contains", "bare_contains_digest", "build", "contains_any", "create",
    "foreign_formats", "format", "import_foreign", "inspect_foreign", "intersect", "join", "load", "make_delta", "open",
    "open_foreign", "plan", "recognize_foreign", "required_bytes", "strerror", "verify", "which", "wrap",
]

__version__ = _bfstore.version()


# --- Errors -----------------------------------------------------------------------------------------------------------

class Error(Exception):
    """Any error of bfstore.  Its text says what failed, on what, and what to do."""

    code = 0  #: the BFS_E number
    os_errno = 0  #: errno of the failed system call, or the one that means the same as the code; 0: none
    rule = 0  #: of a MalformedError with the code BFS_EMALFORMED: the number of the broken rule in FORMAT.md

    @property
    def code_name(self):
        """"BFS_EUNCLEAN", as in bfstore_codes.h."""
        return _bfstore.code_name(self.code)

    def __str__(self):
        return str(self.args[-1]) if self.args else ""

    def __reduce__(self):
        return _plain_error, (self.code, self.os_errno, str(self), self.rule, getattr(self, "filename", None))


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
    """The file is on a network filesystem or a read-only overlay, which may show readers an older file: see any_filesystem."""


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
    _bfstore.EINVAL: InvalidError, _bfstore.ENOMEM: MemoryShortError, _bfstore.ESYSTEM: SystemFailedError,
    _bfstore.EBUSY: BusyError, _bfstore.EEXIST: ExistsError, _bfstore.ENOENT: NotFoundError,
    _bfstore.EACCES: NoPermissionError, _bfstore.EREADONLY: ReadOnlyError, _bfstore.ENOSPC: NoSpaceError,
    _bfstore.EDIGESTONLY: KindOfKeyError, _bfstore.EKEYONLY: KindOfKeyError, _bfstore.EPART: PartError,
    _bfstore.ESIZING: InvalidError, _bfstore.EUNSUPPORTED: UnsupportedError, _bfstore.EFORKED: ForkedError,
    _bfstore.EFILESYSTEM: FilesystemError, _bfstore.ESECRET: SecretError, _bfstore.ESHUT: ClosedError,
    _bfstore.EMISMATCH: MismatchError, _bfstore.EUNCLEAN: RecoveryError, _bfstore.EPOISONED: RecoveryError,
    _bfstore.ERECOVERING: RecoveryError, _bfstore.ELOST: DoubtError, _bfstore.ESUPERSEDED: DoubtError,
    _bfstore.EFAULT: DoubtError, _bfstore.ELATER: DoubtError, _bfstore.EFULL: FullError,
    _bfstore.ESEALED: SealedError, _bfstore.ENOTSEALED: SealedError, _bfstore.EDAMAGED: DamagedError, _bfstore.EFILLING: FillingError,
}

def _class_of(code):
    """A code that this release does not know is treated as its class: see BFS_IS_CALL_ERROR."""
    by_range = CallError if code > -100 else StateError if code > -200 else MalformedError if code > -300 else Error
    return _CLASSES.get(code, by_range)


_WORD = re.compile(r"(?<![^\s(])[\w.]+?(?=[,.;)]*(?:\s|$))")  # between spaces, so that a path is none


def _in_python(words):
    """The library's words, with what options and calls are called here.  A path stays as it is."""
    names = _words.NAMES
    for theirs, own in _words.FUNCTIONS.items():
        if words.startswith((f"{theirs}: ", f"{theirs} ")):
            words = own + words[len(theirs):]
            names = {**names, **_words.QUALIFIED}
            break
    if words.startswith("bfs_options."):
        names = {**names, **_words.QUALIFIED}
    for theirs, own in _words.PHRASES.items():
        words = words.replace(theirs, own)
    return _WORD.sub(lambda found: names.get(found[0], found[0]), words)


def _error(code, os_errno, words, rule=0, name=None):
    """Returns the exception of a code.  The extension raises it.  `name` is the path of the call, or other words."""
    if code == _bfstore.EREADONLY and os_errno == 0:
        os_errno = _EBADF  # as after the calls that have a bfs_error
    filename = name if words.startswith(f"{name}: ") else None  # otherwise the words are about another file, such as like=
    return _plain_error(code, os_errno, _in_python(words), rule, filename)


def _plain_error(code, os_errno, words, rule, filename=None):
    kind = _class_of(code)
    error = kind(os_errno, words) if issubclass(kind, OSError) and os_errno else kind(words)
    if issubclass(kind, OSError) and os_errno:
        error.filename = filename
    error.code, error.os_errno, error.rule = code, os_errno, rule
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

    needs: what import_foreign() and open_foreign() need besides the bytes: "size" (num_bits and num_probes, or another
    way), "order", "hash" (and its seed or seeds), "column".
    filters: how many the bytes have; the other fields are those of the first one.  bytes: None if there are several.
    """

    layout: str
    hash: "str | None"
    num_probes: "int | None"
    num_bits: "int | None"
    capacity: "int | None"
    fpr: "float | None"
    keys: "int | None"
    bytes: "int | None"
    filters: int
    needs: frozenset


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Facts about an open filter.  None: not requested (see Filter.stats), or the kernel does not report it.

    Of a filter whose keys expire: epochs, how many it keeps; epoch, the number of the current one, from 0; turned_at, when
    that began, as time.time(); window, in seconds; turn_due, whether Filter.turn() would end it; keys_of_epochs, the
    estimated keys of each epoch, the current one first.  Of other filters epochs is 0, and these are None.
    """

    layout: str
    hash: str
    num_probes: int
    num_bits: int
    capacity: int
    fpr: float
    seed: int
    seeds: tuple
    note: bytes
    part: tuple
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
    epochs: int
    epoch: "int | None"
    turned_at: "float | None"
    window: "float | None"
    turn_due: "bool | None"
    keys_of_epochs: "tuple | None"


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

# A flag of the library for each option that is True or False.
_FLAGS = {name: getattr(_bfstore, name.upper()) for name in (
    "accept_loss", "any_filesystem", "bare", "exclusive", "filling", "follow", "guard", "limit", "no_write", "populate",
    "private", "random", "recover", "replace", "same_file_id", "strict", "tolerate_damage", "tutorial_sizing",
    "unpublished", "verify")}
_MODES = {"r": _bfstore.READ, "r+": _bfstore.WRITE, "a": _bfstore.WRITE | _bfstore.CREATE}

# The options that each function takes.
_SIZE = {"capacity", "capacity_at_most", "fpr", "bits_per_key", "max_bytes", "num_bits", "num_probes"}
_SHAPE = _SIZE | {"like", "layout", "hash", "seed", "seeds", "secret", "window", "note", "file_id", "tutorial_sizing"}
_LOCKS = {"lock_timeout", "any_filesystem"}
_HANDLE = _LOCKS | {"writeback_check", "threads", "populate", "random", "guard"}
_BUILD = _SHAPE | _HANDLE | {"part", "permissions", "replace"}
_IMPORT = _BUILD | {"limit", "exclusive", "unpublished"}
_CREATE = _IMPORT | {"filling"}
_FOREIGN = _SIZE | {"like", "layout", "hash", "seed", "seeds", "secret", "tutorial_sizing", "populate", "random", "guard",
                    "private", "any_filesystem"}
_FORMAT = _SHAPE | {"threads", "exclusive", "bare"}
_OPEN_ALL = _HANDLE | {"secret", "exclusive", "private", "recover", "accept_loss", "strict", "limit", "no_write", "follow",
                       "verify", "tolerate_damage"}
_OPEN = _OPEN_ALL | {"offset", "length"}
_OPEN_OR_CREATE = _OPEN_ALL | _SHAPE | {"part", "permissions", "filling"}
_COPY = _LOCKS | {"permissions", "replace", "filling"}
_DELTA = _COPY - {"filling"}


def _check_seconds(what, seconds, kind):
    """Python's own errors do not say which argument they are about."""
    try:
        math.isnan(seconds)
    except TypeError:
        raise TypeError(f"{what} is not {kind}: {seconds!r}") from None


def _integer(what, number, end, kind="an integer"):
    try:
        found = operator.index(None if isinstance(number, bool) else number)
    except TypeError:
        raise TypeError(f"{what} is not {kind}: {number!r}") from None
    if not 0 <= found < end:
        raise OverflowError(f"{what} is negative or too large: {number!r}")
    return found


def _bytes(what, value):
    """The message has no value: it may be a secret, and messages go into logs."""
    try:
        return bytes(memoryview(value))  # bytes(16) would be 16 zeros
    except TypeError:
        way_out = ": encode() it" if isinstance(value, str) else ""
        raise TypeError(f"{what} is not bytes, but of type {type(value).__name__}{way_out}") from None


def _path(what, path):
    try:
        return os.fsencode(path)
    except TypeError:
        raise TypeError(f"{what} is not a path: {path!r}") from None


def _milliseconds(seconds, zero, infinite, what):
    """Returns a time for bfs_options.  `zero` and `infinite` are the field's numbers for these times, since 0 is the
    default."""
    _check_seconds(what, seconds, "a number of seconds")
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"{what} is a number of seconds, 0 or more, not {seconds!r}")
    if seconds == 0:
        return zero
    if math.isinf(seconds) and infinite is not None:
        return infinite
    if seconds > 4_000_000:
        raise ValueError(f"{what} is at most 4,000,000 seconds")
    return max(1, round(seconds * 1000))


def _window_ms(window):
    """Returns the milliseconds of a timedelta or of seconds.  0, for the library, is a filter without a window."""
    if isinstance(window, datetime.timedelta):
        millisecond = datetime.timedelta(milliseconds=1)
        milliseconds = -(-window // millisecond) if window >= millisecond else 0
    else:
        _check_seconds("window", window, "a timedelta or a number of seconds")
        milliseconds = window * 1000 if math.isfinite(window) else math.nan
    if not 1 <= milliseconds < 2**63:
        raise ValueError(f"window is a timedelta or a number of seconds, of a millisecond or more, not {window!r}")
    return round(milliseconds)


def _seeds(seeds):
    return b"".join(_integer("seeds", seed, 2**32).to_bytes(4, sys.byteorder) for seed in seeds)


def _number(what, number):
    """The 8 bytes of a field that the library is given the address of."""
    return _integer(what, number, 2**64).to_bytes(8, sys.byteorder)


# Conversion of an option's value: (name of the field, function).
_CONVERTED = {
    "permissions": ("mode", lambda bits: _integer("permissions", bits, 2**31, "an integer such as 0o644")),
    "layout": ("layout", lambda name: _number_in(_LAYOUTS, name, "layout")),
    "hash": ("hash", lambda name: _number_in(_HASHES, name, "hash")),
    "like": ("like", lambda path: _path("like", path)),
    "seed": ("seed", lambda seed: _number("seed", seed)),
    "secret": ("secret", lambda secret: _bytes("secret", secret)),
    "seeds": ("seeds", _seeds),
    "lock_timeout": ("lock_timeout_ms", lambda seconds: _milliseconds(
        seconds, _bfstore.LOCK_NO_WAIT, _bfstore.LOCK_FOREVER, "lock_timeout")),
    "writeback_check": ("writeback_check_ms", lambda seconds: _milliseconds(
        seconds, _bfstore.WRITEBACK_CHECK_EACH_ADD, None, "writeback_check")),
    "window": ("window_ms", _window_ms),
}


def _part_of(part):
    try:
        number, parts = map(operator.index, part)
    except (TypeError, ValueError):
        raise TypeError(f"part= is (i, n), two integers, not {part!r}") from None
    if not 0 <= number < parts < 2**32:
        raise ValueError(f"part= is (i, n) with i from 0 to n - 1, not {part!r}")
    return {"part": number, "num_parts": parts}


def _fields_of(options):
    """Returns the fields of bfs_options from options with values."""
    fields = {}
    for name, value in options.items():
        if name == "part":
            fields.update(_part_of(value))
        else:
            field, convert = _CONVERTED.get(name, (name, lambda same: same))
            fields[field] = convert(value)
    return fields


def _given(function, taken, options, flags=0):
    """Returns the flags and the fields of a call of the library.  None means "not given"."""
    for name in options:
        if name not in taken:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{_way_out(name, taken)}")
    said = {name: value for name, value in options.items() if value is not None}
    for name in sorted(_FLAGS.keys() & said.keys()):
        flags |= _FLAGS[name] if _flag(name, said.pop(name)) else 0
    return flags, _fields_of(said)


def _flag(name, value):
    """Refuses what is true by chance, such as "no"."""
    if value not in (False, True):
        raise TypeError(f"{name} is not True or False: {value!r}")
    return value


def _way_out(name, taken):
    """Returns the end of a refusal: where the option belongs, or what it is called."""
    import difflib  # for this error alone

    places = [place for place, theirs in (("create()", _CREATE), ('open() with mode "a"', _OPEN_OR_CREATE), ("open()", _OPEN)) if name in theirs]
    if places:
        return f": it is for {places[0]}"
    if name in ("mode", "permission") and "permissions" in taken:
        return ". Did you mean permissions=0o644?"
    close = difflib.get_close_matches(name, sorted(taken), 1)
    return f". Did you mean {close[0]}=?" if close else ""


def _mode_flags(mode, modes):
    if mode not in modes:
        making = ' or "a" (also adds, and makes a missing file)' if "a" in modes else ""
        raise ValueError(f'mode is "r" (asks), "r+" (also adds){making}, not {mode!r}; create() makes a new file')
    return _MODES[mode]


def _name_of(path):
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# --- Filters ----------------------------------------------------------------------------------------------------------

class Filter(_bfstore.Handle):
    """An open filter: open(), create(), build(), format(), wrap() and load() make one.

    `key in filter`: False is certain, True is "maybe".  A closed filter raises ClosedError.  A filter that was not
    closed when it is collected warns (ResourceWarning), and is left as after a killed process: no key that was added is
    lost, and nothing is synced.
    """

    __slots__ = ()

    def __new__(cls, *_, **__):
        raise TypeError("a Filter comes from bfstore.open(path, \"a\", capacity=...), create(), build(), format(), wrap() or load()")

    def __repr__(self):
        return f"<bfstore.Filter {self.name!r}{' (closed)' if self.closed else ''}>"

    @property
    def capacity(self):
        """The number of distinct keys that the filter is sized for."""
        return self.stats().capacity

    @property
    def fpr(self):
        """The false-positive rate that is promised at `capacity` keys."""
        return self.stats().fpr

    @property
    def num_bits(self):
        """The filter's bits (counters of the counting layout)."""
        return self.stats().num_bits

    @property
    def num_probes(self):
        """The bits of each key."""
        return self.stats().num_probes

    @property
    def layout(self):
        """"blocked", "classic", "counting", "static", "window", "window-4", "window-2" or "growing"."""
        return self.stats().layout

    @property
    def hash(self):
        """"xxh3", "siphash", "external", ..."""
        return self.stats().hash

    @property
    def note(self):
        """The note that the filter was made with; b"" if it has none."""
        return self.stats().note

    @property
    def part(self):
        """(i, n): part i, from 0, of n parts of a whole filter.  (0, 1) is a whole filter."""
        return self.stats().part

    @property
    def seeds(self):
        """The seeds of the filter's hash, if it takes a list of them: a tuple."""
        return self.stats().seeds

    def update(self, *keys):
        """Adds all keys of lists, buffers, columns or other iterables, as set.update().

        Each argument is what add_many() takes, which also returns how many were new.
        """
        for some in keys:
            self.add_many(some)

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

    def turn(self, from_epoch=None):
        """Ends an epoch, of a filter whose keys expire (create with window=): forgets the keys of the oldest epoch.

        Without an argument it ends the epoch if that has lasted for its time; no other call does so.  Call it from time
        to time, in any number of processes: several that call it at once end one epoch.  With from_epoch, from stats(),
        it ends that epoch now, if it is the current one.  Returns whether it ended an epoch.  It writes the whole file.
        """
        return self._turn(from_epoch if from_epoch is None else _integer("from_epoch", from_epoch, 2**64))

    @property
    def health(self):
        """"ok", or why every answer is "maybe" now: "poisoned", "lost", "superseded", "recovering", "filling", "fault", "shut"."""
        return _health(self._health())

    def stats(self, *, fill=False, memory=False):
        """Returns Statistics.  fill=True counts the bits, which reads everything; memory=True asks which pages are in
        memory."""
        flags = (_bfstore.STATS_FILL if fill else 0) | (_bfstore.STATS_MEMORY if memory else 0)
        return _statistics(self._stats(flags))

    def copy(self, path, *, permissions=None, replace=False, any_filesystem=False, filling=False, same_file_id=False,
             lock_timeout=None):
        """Makes a file of the same keys and marks, complete and durable, while others may add.

        filling: the new file answers "maybe" until its owner calls finish_filling().  same_file_id: it gets this file's
        id, as a replica.  permissions: as in create().
        """
        self._to_file("copy", path, permissions=permissions, replace=replace, any_filesystem=any_filesystem,
                      filling=filling, same_file_id=same_file_id, lock_timeout=lock_timeout)

    def fold(self, path, fpr, *, permissions=None, replace=False, any_filesystem=False, filling=False, lock_timeout=None):
        """Makes a smaller copy: as small as possible while its rate, with the keys of now, is at most `fpr`.

        So a filter for an unknown number of keys gets its size: create() it too large and with unpublished=True, add,
        fold() it to its path, and close it.
        """
        self._to_file("fold", path, fpr=fpr, permissions=permissions, replace=replace, any_filesystem=any_filesystem,
                      filling=filling, lock_timeout=lock_timeout)

    def seal(self, path, *, permissions=None, replace=False, any_filesystem=False, lock_timeout=None):
        """Makes a copy with checksums, which detects each damaged byte (see verify()) and is never written to again.

        With replace=True the path may be this filter's own, while no process adds to it.
        """
        self._to_file("seal", path, _bfstore.SEALED, permissions=permissions, replace=replace,
                      any_filesystem=any_filesystem, lock_timeout=lock_timeout)

    def _to_file(self, function, path, flags=0, **options):
        self._copy(path, *_given(function, _COPY | {"fpr", "same_file_id"}, options, flags))

    def dump(self, *, bare=False, same_file_id=False):
        """Returns the filter as bytes, for load(): an embedded filter, or the bare form.  Marks are not in them."""
        return self._dump((_bfstore.BARE if bare else 0) | (_bfstore.SAME_FILE_ID if same_file_id else 0))

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

        With the hash "siphash": union = load(a.dump(), "r+", secret=...); union |= b."""
        if not isinstance(other, Filter):
            return NotImplemented
        union = _open_memory(f"the union of {self.name} and {other.name}", self.dump(), "r+", _bfstore.PRIVATE)
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
        return self._export_bits((self.num_bits + 7) // 8, _number_in(_ORDERS, order, "order"))

    def export_foreign(self, format, *, order=None):
        """Returns the filter for another program, in one of foreign_formats(): bytes.

        order: "little" or "big", only for a format that needs it.
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
    facts["part"] = (facts["part"], facts["num_parts"])
    facts["health"], facts["saturated"] = _health(facts["health"]), bool(facts["saturated"])
    facts["estimated_keys"] = Interval(
        facts["estimated_keys"], facts["estimated_keys_low"], facts["estimated_keys_high"])
    facts["window"], facts["turned_at"] = facts["window_ms"] / 1000, facts["turned_at"] / 10**9
    facts["turn_due"] = bool(facts["turn_due"])
    facts["keys_of_epochs"] = facts["keys_of_epochs"][:facts["epochs"]]
    if not facts["epochs"]:
        facts.update(dict.fromkeys(("epoch", "turned_at", "window", "turn_due", "keys_of_epochs")))
    if not facts["has_fill"]:
        facts.update(dict.fromkeys(("set_bits", "fill_ratio", "estimated_keys", "estimated_fpr", "counters_at_15",
                                    "keys_of_epochs")))
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


def open(path, mode="r", *, follow_symlinks=True, **options):
    """Opens a filter file, or the file of a descriptor (an int), or the parts of one filter that a text file lists.

    mode: "r" asks.  "r+" also adds, concurrently with other writers.  "a" also adds, and makes the file if it is
    missing: any number of processes may do so at once, and one of them makes it (Filter.created).  For "a" give
    capacity and fpr, and other options of create().  The layout, hash, seed, secret, part and window must be those of a
    file that is there; its size may be another one.
    exclusive: adds as the only writer, several times as fast; threads: of its add_many().
    secret: 16 bytes, of a filter with the hash "siphash".  Without it, or with another one: SecretError.
    lock_timeout: seconds for each lock (default 5; 0: do not wait; math.inf).  An exclusive writer is a BusyError at once.
    writeback_check: seconds between checks whether the kernel failed to write (default 0.1; 0: at each add).
    offset, length: reads an embedded filter in a file of any other format.

    Flags, all False: populate, random, private, guard (how the file gets into memory; private: a copy of it in memory,
    for hostile files); recover, accept_loss, strict, any_filesystem, limit (FullError at the capacity, asked at
    every 64th key), no_write (what is allowed); follow; verify, tolerate_damage (for a sealed file).
    follow_symlinks=False refuses a symbolic link.  bfstore_engine.h says what each costs.

    follow: continues with a file that replaces this one, if that has the same hash and seed: make it with like=PATH.
    Otherwise every answer stays True, and health is "superseded".

    A list of parts begins with the line "bfstore-set 1"; then each line is the path of a part, relative to the list's
    folder.  A part that is not listed, or is in doubt, answers True for its keys.
    """
    flags = _mode_flags(mode, _MODES) | (0 if follow_symlinks else _bfstore.NOFOLLOW)
    if options.get("exclusive"):
        if mode == "r":
            raise ValueError('exclusive=True is for writing: mode "r+" or "a"')
        flags ^= _bfstore.WRITE
    if mode != "a" and (making := sorted(_OPEN_OR_CREATE - _OPEN & options.keys())):
        raise TypeError(f'open(): {making[0]}= is for mode "a", which makes a missing file')
    flags, fields = _given("open", _OPEN_OR_CREATE if mode == "a" else _OPEN, options, flags)
    offset, length = fields.pop("offset", None), fields.pop("length", None)
    if offset is not None or length is not None:
        fields["range"] = _number("offset", offset or 0) + _number("length", length or 0)
    if isinstance(path, int) and not isinstance(path, bool) and mode == "a":
        raise ValueError('a descriptor is of a file that is there: mode "r" or "r+"')
    return _bfstore.open(Filter, *_file_of(path, flags, fields))


def _file_of(path, flags, fields):
    """Returns the arguments of the extension for a path, or for a descriptor."""
    if isinstance(path, bool):
        raise TypeError(f"a path is text or bytes, or an int, the number of a descriptor, not {path!r}")
    if isinstance(path, int):
        return f"descriptor {path}", None, flags, {**fields, "fd": struct.pack("=i", path)}
    return _name_of(path), path, flags, fields


def create(path, capacity=None, fpr=None, **options):
    """Makes a new, empty filter file, open for writing.  It appears complete and durable, or not at all.

    Give the size by capacity and fpr (default 0.01), capacity and bits_per_key, capacity and max_bytes, num_bits and
    num_probes, or like (the path of a filter with the shape to use).  If nobody knows how many keys will come, give
    capacity_at_most, a number that is surely enough, and fpr: fold() brings the filter to its size later.

    layout: "blocked" (default), "classic", "counting" (can remove), "static" (built once, from all keys: build(), or
        unpublished=True, adds and publish()), "window", "window-4", "window-2" (keys expire),
        "growing" (from capacity to capacity_at_most keys, in up to 5 slices of one file).
    window: a timedelta, or seconds, for which a key is found after its last add, at least; then it is forgotten.  The
        layout is "window" if not given.  The program calls turn() from time to time.  capacity: the keys of one window.
    hash: "xxh3" (default), "siphash" (with secret=16 bytes, for keys that strangers choose), "external" (only digests),
        or for the bits of other programs "murmur3", "murmur3-unsigned", "java-polynomial" (with seeds), "jaybird" and
        "pybloom-live" (its version 4 or later), and others, which bfstore_interop.h describes.  If python-bloomfilter
        has the key k, pass str(k): an int or bytes is another key here.
    seed, file_id: random if not given.  note: at most 1,024 bytes for the owner.
    permissions: bits, less the umask (if not given: those of the file that is replaced, or 0o600).
    part: (i, n) makes part i, from 0, of n of the filter that the other options describe: it takes only that part's
    keys.
    threads, lock_timeout, writeback_check: as in open().

    Flags, all False: exclusive, populate, random, guard, limit, any_filesystem; replace (an existing file), unpublished
    (no name until publish()), filling (answers "maybe" until finish_filling()), tutorial_sizing.
    """
    flags, fields = _given("create", _CREATE, {"capacity": capacity, "fpr": fpr, **options})
    return _bfstore.create(Filter, _name_of(path), path, flags, fields)


def build(path, keys, capacity=None, fpr=None, *, width=0, **options):
    """Makes a filter file of these keys, which appears when it is complete, and is open for reading.

    keys: as in add_many().  With a capacity an iterator is read in pieces, so that its keys need not fit into memory.
    capacity: if not given, and no other option gives the size, the number of the keys.  More keys are a FullError.
    layout="static": the smallest file, to which no key is added later.  Without a capacity an iterator is read in pieces,
    too: each key needs 8 bytes of memory, and the capacity is the number of different keys.
    Other options as in create(), except exclusive, limit, unpublished and filling.
    """
    options.update(capacity=capacity, fpr=fpr)
    flags, fields = _given("build", _BUILD, options)
    in_pieces = {"capacity", "capacity_at_most", "num_bits", "like"} & fields.keys() or options.get("layout") == "static"
    if not in_pieces or width or not _bfstore.is_stream(keys):
        return _bfstore.build((Filter, _name_of(path), path, flags, fields), keys, width)
    made = create(path, exclusive=True, unpublished=True, **options)
    try:
        added, facts = made.add_many(keys), made.stats()
        if added == 0 and facts.layout != "static":  # as of an empty list, which replaces no file
            made.abandon()
            return _bfstore.build((Filter, _name_of(path), path, flags, fields), (), 0)
        if facts.saturated and (capacity or options.get("num_bits") is None):
            words = (f"{made.name}: not built, for there are more keys than its capacity, {facts.capacity}. Give a greater one, "
                     "or none.")
            raise _error(_bfstore.EFULL, 0, words)
        made.publish()
    except BaseException:
        made.abandon()
        raise
    return made


# --- Filters of other programs ----------------------------------------------------------------------------------------

def foreign_formats():
    """The names of all formats of other programs' filters that the library knows.  bfstore_interop.h describes each."""
    return _bfstore.foreign_formats()


def recognize_foreign(path, *, follow_symlinks=True, any_filesystem=False):
    """Returns the names of the foreign formats that all bytes of the file have.

    []: none.  Several: the bytes do not tell which.  A format that needs num_bits and num_probes is never among them.
    """
    flags, _ = _given("recognize_foreign", {"any_filesystem"}, {"any_filesystem": any_filesystem},
                      0 if follow_symlinks else _bfstore.NOFOLLOW)
    return _bfstore.recognize_foreign(path, flags)


def _form(format, order, column, member, name=None):
    if member is not None and not 1 <= operator.index(member) < 2**32:
        raise ValueError(f"member= is the number of a filter, from 1, not {member!r}")
    return format, _order_of(order), column, member or 0, name


def inspect_foreign(data, format, *, order=None, column=None, member=None, name=None, **options):
    """Returns facts in the bytes of another program's filter, as a Foreign, without importing it.  64 KiB suffice.

    With the options of import_foreign(): describes the filter that it would make.
    """
    flags, fields = _given("inspect_foreign", _IMPORT, options)
    form = _form(format, order, column, member, name)
    found = _bfstore.inspect_foreign(flags, fields if options else None, form, data)
    has_keys = found.pop("has_keys")
    told = {field: value or None for field, value in found.items()}
    return Foreign(**{**told, "layout": _bfstore.layout_name(found["layout"]),
                      "hash": _bfstore.hash_name(found["hash"]) if found["hash"] else None,
                      "keys": found["keys"] if has_keys else None, "needs": _names_in(_NEEDS, found["needs"])})


def open_foreign(path, format, *, order=None, column=None, member=None, follow_symlinks=True, **options):
    """Asks a file of another program, or that of a descriptor (an int), in place: maps it, and makes no file.

    The filter only reads.  The form and the options say what the bytes do not: see import_foreign().  Of a file with
    several filters, a key is in it if one of them has it.  After a change of the file every answer is True, and health
    is "lost".  A process that writes through a mapping of its own shows that late or never: with private=True the
    filter asks a copy of its own.
    Options: those of create() that give the size, layout, hash, seed, seeds, secret or like; and, all False, populate,
    random, guard, private, any_filesystem, tutorial_sizing.
    """
    flags, fields = _given("open_foreign", _FOREIGN, options, 0 if follow_symlinks else _bfstore.NOFOLLOW)
    form = _form(format, order, column, member)
    return _bfstore.open_foreign((Filter, *_file_of(path, flags, fields)), form)


def import_foreign(path, data, format, *, order=None, column=None, member=None, name=None, **options):
    """Makes a filter file of the bytes of another program's filter, open for reading.  It appears whole, or not at all.

    format: one of foreign_formats().  order: "little" or "big", which bit of a byte comes first; column: its name; both
    where the format needs them (Foreign.needs).  member: the number, from 1, of the only one of several filters that is
    meant.  name: the bytes' name in messages.  Other options are those of create(), if the bytes do not tell them.  If
    the caller's options are wrong, the filter answers False for keys that it has: so import with unpublished=True, look
    up keys that are known to be in it, and then call publish().
    """
    flags, fields = _given("import_foreign", _IMPORT, options)
    form = _form(format, order, column, member, name)
    return _bfstore.import_foreign((Filter, _name_of(path), path, flags, fields), form, data)


# --- In memory --------------------------------------------------------------------------------------------------------

def required_bytes(**options):
    """Returns the bytes that format() needs for these options of create()."""
    return _bfstore.required_bytes(*_given("required_bytes", _FORMAT, options))


def format(buffer, **options):
    """Makes a new, empty filter in a writable buffer at a multiple of 64, such as that of mmap.mmap.

    Options as in create(), without those of files.  The buffer cannot be resized or closed while the filter is open.
    """
    return _bfstore.format(Filter, "the filter in a buffer", buffer, *_given("format", _FORMAT, options))


def _open_memory(name, data, mode, flags, **options):
    flags |= _mode_flags(mode, ("r", "r+"))
    return _bfstore.open_memory(Filter, name, data, *_given("open_memory", {"secret", "bare"}, options, flags))


def wrap(buffer, mode="r", *, secret=None, bare=False):
    """Opens the filter in a buffer at a multiple of 64, in place."""
    return _open_memory("the filter in a buffer", buffer, mode, 0, secret=secret, bare=bare)


def load(data, mode="r", *, secret=None, bare=False):
    """Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed."""
    return _open_memory("the loaded filter", data, mode, _bfstore.PRIVATE, secret=secret, bare=bare)


# --- Files ------------------------------------------------------------------------------------------------------------

def verify(path, *, follow_symlinks=True):
    """Returns the damaged Ranges of a sealed file, ascending; [] if it is unchanged."""
    flags = 0 if follow_symlinks else _bfstore.NOFOLLOW
    found, ranges = _bfstore.verify(path, flags, 100)
    if found > len(ranges):
        found, ranges = _bfstore.verify(path, flags, found)
    return [Range(*one) for one in ranges]


def intersect(filters, path, *, permissions=None, replace=False, any_filesystem=False, filling=False, lock_timeout=None):
    """Makes a new file of the keys that each of the filters has."""
    _bfstore.intersect(_bfstore.Handle, tuple(filters), path, *_given("intersect", _COPY, {
        "permissions": permissions, "replace": replace, "any_filesystem": any_filesystem, "filling": filling,
        "lock_timeout": lock_timeout}))


def join(parts, path, *, permissions=None, replace=False, any_filesystem=False, filling=False, lock_timeout=None):
    """Makes a new file of the whole filter.  Each of its parts must occur once."""
    _bfstore.join(_bfstore.Handle, tuple(parts), path, *_given("join", _COPY, {
        "permissions": permissions, "replace": replace, "any_filesystem": any_filesystem, "filling": filling,
        "lock_timeout": lock_timeout}))


def make_delta(before, after, delta, *, permissions=None, replace=False, any_filesystem=False, lock_timeout=None):
    """Makes a small file of the bits that the file `after` has and `before` lacks.

    `after` is `before` with more keys, and both are copies or sealed files of the layout blocked or classic."""
    _bfstore.make_delta(before, after, delta, *_given("make_delta", _DELTA, {
        "permissions": permissions, "replace": replace, "any_filesystem": any_filesystem, "lock_timeout": lock_timeout}))


def apply_delta(before, delta, after, *, permissions=None, replace=False, any_filesystem=False, lock_timeout=None):
    """Makes the file `after` that the delta's maker had, of the file `before` from which the delta was made.

    With replace=True it may be `before` itself."""
    _bfstore.apply_delta(before, delta, after, *_given("apply_delta", _DELTA, {
        "permissions": permissions, "replace": replace, "any_filesystem": any_filesystem, "lock_timeout": lock_timeout}))


def plan(*, layout=None, capacity=None, fpr=None, bits_per_key=None, max_bytes=None, num_bits=None, num_probes=None):
    """Computes the missing numbers from the given ones, without making a filter: returns a Plan."""
    given = {"layout": layout, "capacity": capacity, "fpr": fpr, "bits_per_key": bits_per_key, "max_bytes": max_bytes,
             "num_bits": num_bits, "num_probes": num_probes}
    found = _bfstore.plan(_fields_of({name: value for name, value in given.items() if value is not None}))
    found["layout"], found["abilities"] = _bfstore.layout_name(found["layout"]), _names_in(_ABILITIES, found["abilities"])
    return _shown(Plan, found)


# --- Any of several ---------------------------------------------------------------------------------------------------

def contains_any(filters, key):
    """Returns whether any of the filters may have the key.  False is certain, of each of them.

    The filters are those of several lists, of this library or of other programs: see open_foreign().  The key is hashed
    once for neighbors with the same hash and the same seed.
    """
    return _bfstore.contains_any(_bfstore.Handle, tuple(filters), key)


def which(filters, key):
    """Returns the numbers, from 0, of the filters that may have the key: a list, ascending.  Asks as contains_any()."""
    answers = _bfstore.which(_bfstore.Handle, tuple(filters), key)
    return [number for number, maybe in enumerate(answers) if maybe]


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

"""The types of bfstore. __init__.py documents each name."""

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Never, Protocol, SupportsIndex, TypeAlias, overload
from _typeshed import ReadableBuffer, WriteableBuffer

_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Key: TypeAlias = bytes | bytearray | memoryview | str | SupportsIndex
_Layout: TypeAlias = Literal["blocked", "classic", "counting", "static", "window", "window-4", "window-2", "growing"]
_Hash: TypeAlias = Literal[
    "xxh3", "siphash", "external", "murmur3", "murmur3-unsigned", "java-polynomial", "jaybird", "pybloom-live",
    "dcso", "guava", "guava-32", "redisbloom", "pybloomfilter", "leveldb", "rocksdb",
    "parquet", "bits-and-blooms", "libbloom", "rbloom", "java-bytes"
]
_Order: TypeAlias = Literal["little", "big"]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Keys: TypeAlias = Iterable[_Key] | _ArrowArray | _ArrowStream | ReadableBuffer
_Digests: TypeAlias = Iterable[SupportsIndex] | _ArrowArray | _ArrowStream | ReadableBuffer

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
__version__: str

class Error(Exception):
    code: int
    os_errno: int
    rule: int
    @property
    def code_name(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class CallError(Error): ...
class StateError(Error): ...
class MalformedError(Error): ...
class InvalidError(CallError, ValueError): ...
class MemoryShortError(CallError, MemoryError): ...
class SystemFailedError(CallError, OSError): ...
class BusyError(CallError, BlockingIOError): ...
class ExistsError(CallError, FileExistsError): ...
class NotFoundError(CallError, FileNotFoundError): ...
class NoPermissionError(CallError, PermissionError): ...
class ReadOnlyError(CallError, io.UnsupportedOperation): ...
class NoSpaceError(CallError, OSError): ...
class KindOfKeyError(CallError, TypeError): ...
class PartError(CallError, ValueError): ...
class UnsupportedError(CallError): ...
class ForkedError(CallError): ...
class FilesystemError(CallError, OSError): ...
class SecretError(CallError): ...
class ClosedError(CallError, ValueError): ...
class MismatchError(CallError, ValueError): ...
class DoubtError(StateError): ...
class RecoveryError(StateError): ...
class FullError(StateError): ...
class SealedError(StateError): ...
class DamagedError(StateError): ...
class FillingError(StateError): ...

def strerror(code: int) -> str: ...

@dataclass(frozen=True)
class Interval:
    estimate: float
    low: float
    high: float

@dataclass(frozen=True)
class Range:
    offset: int
    bytes: int

@dataclass(frozen=True)
class Mark:
    owner: int
    mark: int
    epoch: int
    recovered: bool

@dataclass(frozen=True)
class Plan:
    layout: str
    num_probes: int
    abilities: frozenset[str]
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

@dataclass(frozen=True)
class Foreign:
    layout: str
    hash: str | None
    num_probes: int | None
    num_bits: int | None
    capacity: int | None
    fpr: float | None
    keys: int | None
    bytes: int | None
    filters: int
    needs: frozenset[str]

@dataclass(frozen=True)
class Statistics:
    layout: str
    hash: str
    num_probes: int
    num_bits: int
    capacity: int
    fpr: float
    seed: int
    seeds: tuple[int, ...]
    note: bytes
    part: tuple[int, int]
    body_bytes: int
    keys_added: int
    keys_removed: int
    health: str
    saturated: bool
    isa: str
    file_id: bytes
    set_bits: int | None
    fill_ratio: float | None
    estimated_keys: Interval | None
    estimated_fpr: float | None
    counters_at_15: int | None
    huge_page_bytes: int | None
    resident_bytes: int | None
    epochs: int
    epoch: int | None
    turned_at: float | None
    window: float | None
    turn_due: bool | None
    keys_of_epochs: tuple[float, ...] | None

@dataclass(frozen=True)
class Comparison:
    differs: frozenset[str]
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

class Filter:
    def __new__(cls, *_: Never, **__: Never) -> Never: ...
    @property
    def closed(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def created(self) -> bool: ...
    @property
    def health(self) -> str: ...
    @property
    def capacity(self) -> int: ...
    @property
    def fpr(self) -> float: ...
    @property
    def num_bits(self) -> int: ...
    @property
    def num_probes(self) -> int: ...
    @property
    def layout(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def note(self) -> bytes: ...
    @property
    def part(self) -> tuple[int, int]: ...
    @property
    def seeds(self) -> tuple[int, ...]: ...
    def __contains__(self, key: _Key, /) -> bool: ...
    def __enter__(self) -> Filter: ...
    def __exit__(
        self, kind: type[BaseException] | None = ..., error: BaseException | None = ..., trace: TracebackType | None = ..., /
    ) -> None: ...
    def __ior__(self, other: Filter) -> Filter: ...
    def __or__(self, other: Filter) -> Filter: ...
    def contains(self, key: _Key, /) -> bool: ...
    def add(self, key: _Key, /) -> bool: ...
    def remove(self, key: _Key, /) -> bool: ...
    def count(self, key: _Key, /) -> int: ...
    def digest(self, key: _Key, /) -> int: ...
    def contains_digest(self, digest: SupportsIndex, /) -> bool: ...
    def add_digest(self, digest: SupportsIndex, /) -> bool: ...
    def update(self, *keys: _Keys) -> None: ...
    def add_many(self, keys: _Keys, *, width: int = 0) -> int: ...
    def remove_many(self, keys: _Keys, *, width: int = 0) -> int: ...
    def contains_many(self, keys: _Keys, *, width: int = 0) -> bytearray: ...
    def count_many(self, keys: _Keys, *, width: int = 0) -> bytearray: ...
    def select(self, keys: _Keys, *, width: int = 0) -> memoryview: ...
    def digest_many(self, keys: _Keys, *, width: int = 0) -> memoryview: ...
    def add_digests(self, digests: _Digests, /) -> int: ...
    def remove_digests(self, digests: _Digests, /) -> int: ...
    def contains_digests(self, digests: _Digests, /) -> bytearray: ...
    def count_digests(self, digests: _Digests, /) -> bytearray: ...
    def select_digests(self, digests: _Digests, /) -> memoryview: ...
    def close(self) -> None: ...
    def abandon(self) -> None: ...
    def publish(self) -> None: ...
    def supersede(self) -> None: ...
    def sync(self, owner: int = 0, *, epoch: int = 0, mark: int = 0) -> None: ...
    def get_mark(self, owner: int, epoch: int) -> int: ...
    def marks(self) -> list[Mark]: ...
    def drop_owner(self, owner: int, /) -> None: ...
    def finish_recovery(self, owner: int, /) -> bool: ...
    def finish_filling(self) -> None: ...
    def turn(self, from_epoch: int | None = None) -> bool: ...
    def is_current(self) -> bool: ...
    def stats(self, *, fill: bool = False, memory: bool = False) -> Statistics: ...
    def copy(
        self,
        path: _Path,
        *,
        permissions: int | None = None,
        replace: bool = False,
        any_filesystem: bool = False,
        filling: bool = False,
        same_file_id: bool = False,
        lock_timeout: float | None = None,
    ) -> None: ...
    def fold(
        self,
        path: _Path,
        fpr: float,
        *,
        permissions: int | None = None,
        replace: bool = False,
        any_filesystem: bool = False,
        filling: bool = False,
        lock_timeout: float | None = None,
    ) -> None: ...
    def seal(
        self,
        path: _Path,
        *,
        permissions: int | None = None,
        replace: bool = False,
        any_filesystem: bool = False,
        lock_timeout: float | None = None,
    ) -> None: ...
    def dump(self, *, bare: bool = False, same_file_id: bool = False) -> bytes: ...
    def merge(self, other: Filter) -> None: ...
    def compare(self, other: Filter) -> Comparison: ...
    def import_bits(self, bits: ReadableBuffer, *, order: _Order) -> None: ...
    def export_bits(self, *, order: _Order) -> bytes: ...
    def export_foreign(self, format: str, *, order: _Order | None = None) -> bytes: ...

@overload
def open(
    path: _Path | int,
    mode: Literal["r", "r+"] = "r",
    *,
    exclusive: bool = ...,
    follow_symlinks: bool = True,
    secret: bytes | None = ...,
    offset: int | None = ...,
    length: int | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    private: bool = ...,
    recover: bool = ...,
    accept_loss: bool = ...,
    strict: bool = ...,
    limit: bool = ...,
    no_write: bool = ...,
    follow: bool = ...,
    verify: bool = ...,
    tolerate_damage: bool = ...,
) -> Filter: ...
@overload
def open(
    path: _Path,
    mode: Literal["a"],
    *,
    exclusive: bool = ...,
    follow_symlinks: bool = True,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    part: tuple[int, int] | None = ...,
    permissions: int | None = ...,
    filling: bool = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    private: bool = ...,
    recover: bool = ...,
    accept_loss: bool = ...,
    strict: bool = ...,
    limit: bool = ...,
    no_write: bool = ...,
    follow: bool = ...,
    verify: bool = ...,
    tolerate_damage: bool = ...,
) -> Filter: ...
@overload
def open(  # a mode that the program chooses as it runs: the options that every mode takes
    path: _Path,
    mode: Literal["r", "r+", "a"],
    *,
    exclusive: bool = ...,
    follow_symlinks: bool = True,
    secret: bytes | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    private: bool = ...,
    recover: bool = ...,
    accept_loss: bool = ...,
    strict: bool = ...,
    limit: bool = ...,
    no_write: bool = ...,
    follow: bool = ...,
    verify: bool = ...,
    tolerate_damage: bool = ...,
) -> Filter: ...
def create(
    path: _Path,
    capacity: int | None = None,
    fpr: float | None = None,
    *,
    capacity_at_most: int | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    part: tuple[int, int] | None = ...,
    permissions: int | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    limit: bool = ...,
    replace: bool = ...,
    exclusive: bool = ...,
    unpublished: bool = ...,
    filling: bool = ...,
) -> Filter: ...
def build(
    path: _Path,
    keys: _Keys,
    capacity: int | None = None,
    fpr: float | None = None,
    *,
    width: int = 0,
    capacity_at_most: int | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    part: tuple[int, int] | None = ...,
    permissions: int | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    replace: bool = ...,
) -> Filter: ...
def foreign_formats() -> list[str]: ...
def recognize_foreign(path: _Path, *, follow_symlinks: bool = True, any_filesystem: bool = False) -> list[str]: ...
def open_foreign(
    path: _Path | int,
    format: str,
    *,
    order: _Order | None = None,
    column: str | None = None,
    member: int | None = None,
    follow_symlinks: bool = True,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    tutorial_sizing: bool = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    private: bool = ...,
    any_filesystem: bool = ...,
) -> Filter: ...
def inspect_foreign(
    data: ReadableBuffer,
    format: str,
    *,
    order: _Order | None = None,
    column: str | None = None,
    member: int | None = None,
    name: str | None = None,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    part: tuple[int, int] | None = ...,
    permissions: int | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    limit: bool = ...,
    replace: bool = ...,
    exclusive: bool = ...,
    unpublished: bool = ...,
) -> Foreign: ...
def import_foreign(
    path: _Path,
    data: ReadableBuffer,
    format: str,
    *,
    order: _Order | None = None,
    column: str | None = None,
    member: int | None = None,
    name: str | None = None,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    part: tuple[int, int] | None = ...,
    permissions: int | None = ...,
    threads: int | None = ...,
    lock_timeout: float | None = ...,
    writeback_check: float | None = ...,
    populate: bool = ...,
    random: bool = ...,
    guard: bool = ...,
    any_filesystem: bool = ...,
    limit: bool = ...,
    replace: bool = ...,
    exclusive: bool = ...,
    unpublished: bool = ...,
) -> Filter: ...
def required_bytes(
    *,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    threads: int | None = ...,
    exclusive: bool = ...,
    bare: bool = ...,
) -> int: ...
def format(
    buffer: WriteableBuffer,
    *,
    capacity: int | None = ...,
    capacity_at_most: int | None = ...,
    fpr: float | None = ...,
    bits_per_key: float | None = ...,
    max_bytes: int | None = ...,
    num_bits: int | None = ...,
    num_probes: int | None = ...,
    like: _Path | None = ...,
    layout: _Layout | None = ...,
    hash: _Hash | None = ...,
    seed: int | None = ...,
    seeds: Iterable[int] | None = ...,
    secret: bytes | None = ...,
    window: timedelta | float | None = ...,
    note: bytes | None = ...,
    file_id: bytes | None = ...,
    tutorial_sizing: bool = ...,
    threads: int | None = ...,
    exclusive: bool = ...,
    bare: bool = ...,
) -> Filter: ...
def wrap(buffer: ReadableBuffer, mode: Literal["r", "r+"] = "r", *, secret: bytes | None = None, bare: bool = False) -> Filter: ...
def load(data: ReadableBuffer, mode: Literal["r", "r+"] = "r", *, secret: bytes | None = None, bare: bool = False) -> Filter: ...
def verify(path: _Path, *, follow_symlinks: bool = True) -> list[Range]: ...
def join(
    parts: Iterable[Filter],
    path: _Path,
    *,
    permissions: int | None = None,
    replace: bool = False,
    any_filesystem: bool = False,
    filling: bool = False,
    lock_timeout: float | None = None,
) -> None: ...
def intersect(
    filters: Iterable[Filter],
    path: _Path,
    *,
    permissions: int | None = None,
    replace: bool = False,
    any_filesystem: bool = False,
    filling: bool = False,
    lock_timeout: float | None = None,
) -> None: ...
def make_delta(
    before: _Path,
    after: _Path,
    delta: _Path,
    *,
    permissions: int | None = None,
    replace: bool = False,
    any_filesystem: bool = False,
    lock_timeout: float | None = None,
) -> None: ...
def apply_delta(
    before: _Path,
    delta: _Path,
    after: _Path,
    *,
    permissions: int | None = None,
    replace: bool = False,
    any_filesystem: bool = False,
    lock_timeout: float | None = None,
) -> None: ...
def plan(
    *,
    layout: _Layout | None = None,
    capacity: int | None = None,
    fpr: float | None = None,
    bits_per_key: float | None = None,
    max_bytes: int | None = None,
    num_bits: int | None = None,
    num_probes: int | None = None,
) -> Plan: ...
def contains_any(filters: Iterable[Filter], key: _Key) -> bool: ...
def which(filters: Iterable[Filter], key: _Key) -> list[int]: ...
def bare_contains(data: ReadableBuffer, key: _Key) -> bool: ...
def bare_contains_digest(data: ReadableBuffer, digest: SupportsIndex) -> bool: ...
def bare_bytes(num_keys: int, bits_per_key: float, *, layout: _Layout = "blocked") -> int: ...
def bare_build(size: int, keys: _Keys, *, layout: _Layout = "blocked", width: int = 0) -> bytes: ...
def bare_build_digests(
    size: int, digests: _Digests, *, layout: _Layout = "blocked", hash: Literal["xxh3", "external"] = "xxh3"
) -> bytes: ...

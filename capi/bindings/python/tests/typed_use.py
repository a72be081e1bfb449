"""Not run: mypy --strict must accept every line, except those that name the error that it must find."""

import array
import datetime
import errno
import mmap
from typing import Literal

import bfstore


def open_in(mode: Literal["r", "r+", "a"], writes: bool) -> bfstore.Filter:
    bfstore.open("a.bf", mode, capacity=5)  # error: arg-type
    bfstore.open("a.bf", mode, offset=64)  # error: arg-type
    bfstore.open("a.bf", "w" if writes else "r")  # error: call-overload
    bfstore.open("a.bf", "a" if writes else "r", secret=bytes(16))
    return bfstore.open("a.bf", mode, lock_timeout=1)


with bfstore.create("a.bf", 1000, fpr=0.01, layout="counting", lock_timeout=0.5) as f:
    new: bool = f.add("alice")
    present: bool = b"alice" in f
    counted: int = f.count(5)
    f.update(["alice", b"bob"], {7})
    size: int = f.capacity
    mask: bytearray = f.contains_many(["alice", b"bob", 7])
    numbers: list[int] = f.select(array.array("Q", [1])).tolist()
    f |= bfstore.load(f.dump(), "r+")
    f.sync(1, epoch=2, mark=3)
    marks: list[int] = [one.mark for one in f.marks()]
    fill: float | None = f.stats(fill=True).fill_ratio
    low: float = f.compare(f).jaccard.low
    foreign: bytes = f.export_foreign("raw", order="big")
    told: bfstore.Foreign = bfstore.inspect_foreign(foreign, "raw", num_bits=8)
    names: list[str] = bfstore.recognize_foreign("b.bloom")
    in_place: bfstore.Filter = bfstore.open_foreign("b.bloom", names[0], column="id", member=told.filters, private=True)
    some: bool = bfstore.contains_any([f, in_place], "alice")
    them: list[int] = bfstore.which((f, in_place), 5)
    in_buffer: bfstore.Filter = bfstore.format(mmap.mmap(-1, bfstore.required_bytes(capacity=5)), capacity=5)
    seen: bfstore.Filter = bfstore.create("c.bf", 1000, layout="window-4", window=datetime.timedelta(hours=24))
    ended: bool = seen.turn() or seen.turn(seen.stats().epoch) or seen.turn(from_epoch=7)
    of_epochs: tuple[float, ...] | None = seen.stats(fill=True).keys_of_epochs
    f.add(1.5)  # error: arg-type
    f.add(None)  # error: arg-type
    f.add_many(5)  # error: arg-type
    made: bool = bfstore.open("a.bf", "a", capacity=5, fpr=0.5).created
    f.copy("b.bf", replace=True)
    f.fold("b.bf", 0.05)
    f.seal("b.bf")
    bfstore.open("a.bf", "w")  # error: call-overload
    bfstore.create("a.bf", capacity=5, layout="other")  # error: arg-type
    bfstore.create("a.bf", capacity=5, window="24h")  # error: arg-type
    bfstore.open("a.bf", capacity=5)  # error: call-overload
    f.copy("b.bf", fpr=0.5)  # error: call-arg
    bfstore.import_foreign("b.bf", foreign, "raw", order="middle")  # error: arg-type
    bfstore.open_foreign("b.bloom", "raw", replace=True)  # error: call-arg
    bfstore.which([f, None], "alice")  # error: list-item
try:
    bfstore.open("b.bf")
except FileNotFoundError as error:
    assert error.errno == errno.ENOENT
except bfstore.Error as error:
    print(error.code, error.code_name)

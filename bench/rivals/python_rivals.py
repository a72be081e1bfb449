#!/usr/bin/env python3
"""Filters as Python programs ask them: `key in filter` for one key at a time, and bfstore through ctypes.

    build-deps/venv/bin/python bench/rivals/python_rivals.py --library build/capi/libbfstore.so --json python.json

Answers are asserted first (no wrong no), then time is measured: CPU time, medians of repetitions in random order. Keys
are bytes objects of 16 to 32 bytes, and hashing them is part of it. table.py --python makes a table of the JSON.
"""
import argparse
import ctypes
import hashlib
import importlib.util
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

MOST_ASKED = 1_000_000
CHUNK = 100_000
MOST_KEYS = 10_000_000
FIRST_ABSENT = 1 << 40  # this key and higher ones are never added
# The values of BFS_LAYOUT_* and BFS_HASH_* in the headers.
CLASSIC, COUNTING, MURMUR3 = 2, 3, 4
# The number of removed keys for which another filter may still answer maybe. Ours has none left.
MOST_LEFT = 0.01
# pyprobables has a counting Bloom filter, too. It is written in Python and takes 14 microseconds a key: hours for a run.
NOTE = ("Keys are bytes objects of 16 to 32 bytes, which each filter hashes itself; Python remembers the hash of an "
        "object, so rbloom and set compute it but once. Nanoseconds of CPU time per key, Python's own loop included. "
        "`bfstore (ctypes)` is a mapped file asked through the C ABI; many at once includes joining the keys into one "
        "column. `bfstore murmur3` has the bits of programs with mmh3 and bitarray, as pybloomfiltermmap3 hashes each key "
        "with MurmurHash3. `bfstore counting` has four times as many bits a key; the cuckoo filters choose their size.")


def make_key(number: int) -> bytes:
    return hashlib.blake2b(number.to_bytes(8, "little"), digest_size=16 + number % 17).digest()


def make_keys(first: int, count: int) -> list:
    return [make_key(number) for number in range(first, first + count)]


def error_rate(bits_per_key: float) -> float:
    """The rate that a classic filter of that size promises. Such libraries compute their size from it."""
    return math.exp(-bits_per_key * math.log(2) ** 2)


class Subject:
    """Any filter with `in` and add, and with remove or None."""

    def __init__(self, filter_, add, remove=None) -> None:
        self.filter, self.add, self.remove = filter_, add, remove

    def add_all(self, keys: list) -> None:
        add = self.add
        for key in keys:
            add(key)

    def remove_all(self, keys: list) -> None:
        remove = self.remove
        for key in keys:
            remove(key)

    def ask_each(self, keys: list) -> int:
        maybes, filter_ = 0, self.filter
        for key in keys:
            if key in filter_:
                maybes += 1
        return maybes

    ask_many = None


KEYS_COLUMN64 = 5


class Keys(ctypes.Structure):
    """bfs_keys of bfstore.h."""
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("kind", ctypes.c_uint32), ("count", ctypes.c_uint64),
                ("data", ctypes.c_char_p), ("data_bytes", ctypes.c_uint64), ("lengths", ctypes.c_void_p),
                ("offsets", ctypes.c_void_p), ("key_bytes", ctypes.c_uint64), ("stride", ctypes.c_uint64),
                ("validity", ctypes.c_void_p), ("validity_offset", ctypes.c_uint64), ("scratch_bytes", ctypes.c_uint64),
                ("scratch", ctypes.c_void_p)]


class Bfstore(Subject):
    """The example of the C ABI for Python, and also many keys in one call."""

    def __init__(self, example, path: str, num_keys: int, bits_per_key: float, **kind: int) -> None:
        filter_ = example.Filter(path, example.WRITE | example.CREATE, capacity=num_keys, bits_per_key=bits_per_key,
                                 **kind)
        super().__init__(filter_, filter_.add, self.remove_one if kind.get("layout") == COUNTING else None)
        self.bfs_remove = example.bfstore.bfs_remove
        self.bfs_remove.argtypes = example.bfstore.bfs_add.argtypes
        self.contains_keys = example.bfstore.bfs_contains_keys
        self.contains_keys.restype = ctypes.c_int64
        self.contains_keys.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]

    def remove_one(self, key: bytes) -> None:
        if self.bfs_remove(self.filter.handle, key, len(key)) != 1:
            raise OSError("a key that was added was not removed")

    def ask_many(self, keys: list) -> int:
        joined = b"".join(keys)
        offsets = (ctypes.c_int64 * (len(keys) + 1))(*itertools.accumulate(map(len, keys), initial=0))
        answers = ctypes.create_string_buffer(len(keys))
        column = Keys(ctypes.sizeof(Keys), KEYS_COLUMN64, len(keys), joined, len(joined), None,
                      ctypes.cast(offsets, ctypes.c_void_p))
        return self.contains_keys(self.filter.handle, ctypes.byref(column), answers)


def bfstore_example(library: pathlib.Path):
    os.environ["BFSTORE_LIBRARY"] = str(library.resolve())
    path = pathlib.Path(__file__).parents[2] / "capi/examples/quickstart.py"
    spec = importlib.util.spec_from_file_location("quickstart", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_pybloomfilter(folder: str, num_keys: int, bits_per_key: float) -> Subject:
    import pybloomfilter
    made = pybloomfilter.BloomFilter(num_keys, error_rate(bits_per_key), os.path.join(folder, "py.bloom"))
    return Subject(made, made.add)


def make_rbloom(num_keys: int, bits_per_key: float) -> Subject:
    import rbloom
    made = rbloom.Bloom(num_keys, error_rate(bits_per_key))
    return Subject(made, made.add)


def make_set() -> Subject:
    made = set()
    return Subject(made, made.add, made.remove)


class ScalableCuckoo(Subject):
    """A cuckoo filter in Rust. It has calls, and no `in`."""

    def __init__(self, num_keys: int, bits_per_key: float) -> None:
        import scf
        made = scf.PyScalableCuckooFilter(num_keys, error_rate(bits_per_key))
        super().__init__(made, made.insert, made.remove)

    def ask_each(self, keys: list) -> int:
        maybes, ask = 0, self.filter.might_contain
        for key in keys:
            if ask(key):
                maybes += 1
        return maybes


def make_zpds(num_keys: int) -> Subject:
    import zpds
    made = zpds.CuckooFilter(num_keys)
    return Subject(made, made.add, made.remove)


def make_subjects(example, folder: str, num_keys: int, bits_per_key: float, not_measured: dict) -> dict:
    makers = {"bfstore (ctypes)": lambda: Bfstore(example, os.path.join(folder, "ours.bf"), num_keys, bits_per_key),
              "bfstore murmur3 (ctypes)": lambda: Bfstore(example, os.path.join(folder, "murmur3.bf"), num_keys,
                                                          bits_per_key, layout=CLASSIC, hash=MURMUR3),
              "bfstore counting (ctypes)": lambda: Bfstore(example, os.path.join(folder, "counting.bf"), num_keys,
                                                           4 * bits_per_key, layout=COUNTING),
              "cjrh-scalable-cuckoo-filter (heap)": lambda: ScalableCuckoo(num_keys, bits_per_key),
              "zpds cuckoo filter (heap)": lambda: make_zpds(num_keys),
              "pybloomfiltermmap3 (mapped file)": lambda: make_pybloomfilter(folder, num_keys, bits_per_key),
              "rbloom (heap)": lambda: make_rbloom(num_keys, bits_per_key),
              "set (heap)": make_set}
    subjects = {}
    for name, make in makers.items():
        try:
            subjects[name] = make()
        except ImportError as error:
            not_measured[name] = f"{error}; tools/bench installs it where it can be fetched"
    return subjects


def change(changes: dict, num_keys: int) -> dict:
    """Gives the same keys to all functions of {name: function}, in turns. Returns nanoseconds per key."""
    took = dict.fromkeys(changes, 0.0)
    for first in range(0, num_keys, CHUNK):
        keys = make_keys(first, min(CHUNK, num_keys - first))
        for name, change_all in random.sample(list(changes.items()), len(changes)):
            begin = time.thread_time()
            change_all(keys)
            took[name] += time.thread_time() - begin
    return {name: 1e9 * seconds / num_keys for name, seconds in took.items()}


def check(name: str, subject: Subject, asked: dict) -> dict:
    """Counts the maybes for each kind of question. A wrong no ends the program."""
    maybes = {kind: subject.ask_each(keys) for kind, keys in asked.items()}
    if maybes["present"] != len(asked["present"]):
        sys.exit(f"python_rivals.py: {name}: a wrong no for {len(asked['present']) - maybes['present']} keys")
    if subject.ask_many is not None and any(subject.ask_many(keys) != maybes[kind] for kind, keys in asked.items()):
        sys.exit(f"python_rivals.py: {name}: one by one and many at once differ")
    return maybes


def remove(subjects: dict, num_keys: int, present: list) -> dict:
    """Removes all keys from the filters that can. Returns nanoseconds per key."""
    can = {name: subject for name, subject in subjects.items() if subject.remove is not None}
    took = change({name: subject.remove_all for name, subject in can.items()}, num_keys)
    for name, subject in can.items():
        most = 0 if isinstance(subject, Bfstore) else MOST_LEFT * len(present)
        if subject.ask_each(present) > most:
            sys.exit(f"python_rivals.py: {name}: keys that were removed are still there")
    return took


def measure(subjects: dict, asked: dict, repetitions: int) -> dict:
    """Returns {(subject, way, kind): nanoseconds per key}."""
    passes = [(name, way, kind, ask) for name, subject in subjects.items() for kind in asked
              for way, ask in (("one by one", subject.ask_each), ("many at once", subject.ask_many)) if ask is not None]
    samples = {}
    for _ in range(repetitions):
        for name, way, kind, ask in random.sample(passes, len(passes)):
            keys = asked[kind]
            begin = time.thread_time()
            ask(keys)
            samples.setdefault((name, way, kind), []).append(1e9 * (time.thread_time() - begin) / len(keys))
    return {key: statistics.median(times) for key, times in samples.items()}


def measure_size(example, folder: str, num_keys: int, bits_per_key: float, repetitions: int,
                 not_measured: dict) -> list:
    subjects = make_subjects(example, folder, num_keys, bits_per_key, not_measured)
    adding = change({name: subject.add_all for name, subject in subjects.items()}, num_keys)
    count = min(num_keys, MOST_ASKED)
    present, absent = make_keys(0, count), make_keys(FIRST_ABSENT, count)
    coin = random.Random(1)
    asked = {"mixed": [coin.choice(pair) for pair in zip(present, absent)], "absent": absent, "present": present}
    fpr = {name: check(name, subject, asked)["absent"] / count for name, subject in subjects.items()}
    times = {(name, "add, one by one", "absent"): ns for name, ns in adding.items()}
    times.update(measure(subjects, asked, repetitions))
    removing = remove(subjects, num_keys, present)
    times.update({(name, "remove, one by one", "present"): ns for name, ns in removing.items()})
    return [{"subject": name, "num_keys": num_keys, "bits_per_key": bits_per_key, "way": way, "present": kind, "ns": ns,
             "fpr": fpr[name]} for (name, way, kind), ns in sorted(times.items())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True, help="libbfstore.so")
    parser.add_argument("--keys", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--bits-per-key", type=float, nargs="+", default=[10])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    example = bfstore_example(arguments.library)
    rows, not_measured = [], {}
    for num_keys, bits_per_key in itertools.product(arguments.keys, arguments.bits_per_key):
        if num_keys > MOST_KEYS:
            not_measured[f"{num_keys:,} keys"] = "a Python loop would add them for minutes"
            continue
        with tempfile.TemporaryDirectory(prefix="bfbench-") as folder:
            rows += measure_size(example, folder, num_keys, bits_per_key, arguments.repetitions, not_measured)
    arguments.json.write_text(json.dumps({"note": NOTE, "rows": rows, "not_measured": not_measured}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

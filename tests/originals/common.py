"""Shared by the programs here in Python: the keys, what an original says of absent keys, and a line of files.tsv."""

import sys
import time

ABSENT = 1_000_000
FEW = 10_000


def keys(count, prefix="key-"):
    return [prefix + str(i) for i in range(count)]


def fold_of(numbers):
    """FNV-1a of 64 bits over the numbers, each as 4 bytes, the lowest first."""
    fold = 0xCBF29CE484222325
    for number in numbers:
        for byte in number.to_bytes(4, "little"):
            fold = (fold ^ byte) * 0x100000001B3 % 2**64
    return f"{fold:016x}"


def answers(has, key_of=lambda number: f"absent-{number}"):
    """The columns of the false positives: of all absent keys, and of the first ones."""
    found = [number for number in range(ABSENT) if has(key_of(number))]
    few = [number for number in found if number < FEW]
    return [str(len(found)), fold_of(found), str(len(few)), fold_of(few)]


def print_time(name, has):
    """The nanoseconds of a lookup of an absent key."""
    absent = keys(FEW, "absent-")
    best = None
    for _ in range(10):
        begin = time.perf_counter_ns()  # clock: for the report
        for key in absent:
            has(key)
        taken = time.perf_counter_ns() - begin  # clock: for the report
        best = taken if best is None else min(best, taken)
    print("time", name, f"{best / FEW:.1f}", sep="\t", file=sys.stderr)


def print_row(name, form, options, prefix, count, columns, original, key_form="utf8", order="-"):
    print(name, form, order, options, prefix, count, *columns, original, key_form, sep="\t")

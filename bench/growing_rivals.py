#!/usr/bin/env python3
"""Filters for keys that nobody counted, in one run: the layout of bfstore that grows, its filters that were made large and folded, and
the chains of filters of other programs.

    python3 -B bench/growing_rivals.py --build BUILD [--first N] [--rounds N] [--redisbloom CLONE] [--quick]

BUILD is a build directory with capi/libbfstore.so, and CLONE a clone of RedisBloom's repository (or the variable REDISBLOOM names it, as
for tests/originals/make.py). Prints two tables, and says what was left out.

Each candidate is made for N keys at 1 % and gets N, 10 N, 100 N, 1000 N and 10000 N keys of 16 bytes, one by one. Then every key is asked,
and the rate is measured, before a time counts. Cells have the numbers for the five, and "-" where a candidate was not filled so far: filters of
bfstore beyond their capacity, and loops in Python beyond a million keys. The two that are no rivals but the aim know their number of keys:
`blocked` of the right size exactly, and the filter that is folded only that it is at most 10000 N.

Bits are those of all arrays that are allocated. Times are the least of all rounds, and in each round every candidate has its turn: CPU
nanoseconds a key, of loops in C (key_loops.cpp, redisbloom_loops.c), and of a loop in Python where the table says so. An add is one of all
that fill the filter, its growth included. All keys that are looked up are absent.

Chains that are not linked are computed: their sizes from the formulas of their programs, and their rate from the sizes.
"""

import argparse
import ctypes
import importlib
import math
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench" / "rivals")]
import bfstore_ctypes as bfs
from key_loops import FEW, FIRST_ABSENT, INT, KEY_BYTES, NANOSECONDS, NUMBER, POINTER, Calls, Filters, Loops, Missing, Timed, each

RATE, SEED = 0.01, 7
TIMES = 1, 10, 100, 1000, 10_000  # as many keys as the first
QUICK = 4                         # of these
MOST_SLICES = 5
ABSENT = 200_000
MOST_OF_SLOW = 1_000_000
CHAIN = (("chain_make", POINTER, NUMBER, ctypes.c_double, INT), ("chain_free", None, POINTER), ("chain_bits", NUMBER, POINTER),
         ("chain_add", NANOSECONDS, POINTER, POINTER, NUMBER), ("chain_ask", NANOSECONDS, POINTER, POINTER, NUMBER, POINTER))


# --- Candidates. add(), ask() and ask_many() return nanoseconds, the latter two also a byte for each key. ----------------------------

class OfBfstore(Filters):
    slices = None

    def __init__(self, run, layout, **options):
        self.loops, self.library, self.path = run.loops, run.library, os.fsencode(run.folder / "one.bf")
        self.handle = bfs.create(self.library, self.path, layout=layout, fpr=RATE, seed=SEED, **options)

    @property
    def filters(self):
        return (ctypes.c_void_p * 1)(self.handle)

    def bits(self):
        return bfs.statistics(self.library, self.handle).num_bits

    def close(self):
        assert self.library.bfs_close(self.handle, None) == 0
        os.unlink(self.path)


def as_many(growth, slices):
    return sum(growth**i for i in range(slices))


class Growing(OfBfstore):
    """With the factor between a slice and the next, which capacity_at_most chooses. None: the usual one."""

    def __init__(self, run, growth):
        self.growth = growth or 10
        super().__init__(run, "growing", capacity=run.first, capacity_at_most=growth and run.first * as_many(growth, MOST_SLICES))
        self.first_bits = self.bits()

    @property
    def slices(self):
        return next(n for n in range(1, MOST_SLICES + 1) if self.first_bits * as_many(self.growth, n) == self.bits())


class Folded(OfBfstore):
    """Made for the most keys that may come, and folded when all have come."""

    def __init__(self, run):
        super().__init__(run, "blocked", capacity_at_most=run.first * run.times[-1])

    def add(self, keys, first):
        took, folded = super().add(keys, first), self.path + b".folded"
        bfs.copy(self.library, self.handle, folded, fpr=RATE)
        self.close()
        self.path, self.handle = folded, bfs.open_path(self.library, folded)
        return took


class RedisBloom:
    """The chain of filters of RedisBloom: BF.RESERVE with its EXPANSION of 2."""
    slices = ask_many = None

    def __init__(self, run):
        self.chains = run.redisbloom()
        self.chain = self.chains.call("chain_make", run.first, RATE, 2)

    def bits(self):
        return self.chains.call("chain_bits", self.chain)

    def add(self, keys, _first):
        return self.chains.call("chain_add", self.chain, keys, len(keys) // KEY_BYTES)

    def ask(self, keys):
        return self.chains.asked("chain_ask", (self.chain,), keys)

    def close(self):
        self.chains.call("chain_free", self.chain)


class Jaybird(Timed):
    """ScalableBloomFilter of pybloom-live. Its filters have 0.9, 0.81, ... of the rate: together up to nine times as much."""
    slices = None

    def __init__(self, run):
        try:
            module = importlib.import_module("pybloom_live")
        except ImportError as error:
            raise Missing(f"no ScalableBloomFilter of Python: pybloom-live of PyPI, {error}") from None
        self.filter = module.ScalableBloomFilter(run.first, RATE, mode=module.ScalableBloomFilter.SMALL_SET_GROWTH)

    def bits(self):
        return sum(one.num_bits for one in self.filter.filters)

    def adder(self, _first):
        return self.filter.add

    def asker(self):
        return self.filter.__contains__


class Row:
    """`make(run, keys)` makes a candidate. It keeps its promise up to `most` times the first number of keys."""

    def __init__(self, name, make, most=math.inf, slow=False, keeps_rate=True):
        self.name, self.make, self.most, self.slow, self.keeps_rate = name, make, most, slow, keeps_rate

    def takes(self, times, keys, most_of_slow):
        return times <= self.most and not (self.slow and keys > most_of_slow)


ROWS = (
    Row("`blocked` of the right size", lambda run, keys: OfBfstore(run, "blocked", capacity=keys)),
    Row("`blocked` for the most, then folded", lambda run, _keys: Folded(run)),
    Row("`growing`", lambda run, _keys: Growing(run, None), as_many(10, MOST_SLICES)),
    Row("`growing`, factor 4", lambda run, _keys: Growing(run, 4), as_many(4, MOST_SLICES)),
    Row("`growing`, factor 2", lambda run, _keys: Growing(run, 2), as_many(2, MOST_SLICES)),
    Row("RedisBloom", lambda run, _keys: RedisBloom(run)),
    Row("pybloom-live, a loop in Python", lambda run, _keys: Jaybird(run), slow=True, keeps_rate=False),
)


# --- Chains that are computed --------------------------------------------------------------------------------------------------------

def redisbloom_shape(capacity, number):
    """(bits, probes) of a filter of RedisBloom's chain: bloom_init of its bloom.c, without rounding."""
    bits_a_key = -math.log(RATE * 0.5**(number + 1)) / 0.480453013918201
    return -(-int(capacity * bits_a_key) // 64) * 64, math.ceil(0.693147180559945 * bits_a_key)


def valkey_shape(capacity, number):
    """Of that of valkey-bloom, by Bloom::new_for_fp_rate of the crate bloomfilter. The first one has the whole rate."""
    bits = 8 * math.ceil(capacity * math.log(RATE * 0.5**number) / (-8 * math.log(2)**2))
    return bits, max(1, round(bits / capacity * math.log(2)))


def computed(shape, first, keys):
    """A chain of filters that double: bits a key, and the rate."""
    all_bits, none, left, number = 0, 1.0, keys, 0
    while left > 0:
        capacity = first * 2**number
        bits, probes = shape(capacity, number)
        none *= 1 - (1 - math.exp(-probes * min(left, capacity) / bits))**probes
        all_bits, left, number = all_bits + bits, left - capacity, number + 1
    return {"bits": all_bits / keys, "fpr": 1 - none}


# --- The run -------------------------------------------------------------------------------------------------------------------------

class Run:
    def __init__(self, given, folder):
        self.first, self.rounds, self.clone, self.folder = given.first, given.rounds, given.redisbloom, folder
        library = (pathlib.Path(given.build) / "capi" / "libbfstore.so").resolve()
        self.library, self.loops = bfs.load(str(library)), Loops(given.cc, library, folder)
        self.times, self.most_of_slow = (TIMES[:QUICK], 10_000) if given.quick else (TIMES, MOST_OF_SLOW)
        self.chains, self.left_out = None, {}

    def redisbloom(self):
        if not self.clone:
            raise Missing("no clone of RedisBloom: --redisbloom, or the variable REDISBLOOM, names its folder")
        if self.chains is None:
            clone = pathlib.Path(self.clone).resolve()
            folders = ROOT / "tests" / "originals" / "redis", clone / "src", clone / "deps", clone / "deps" / "murmur2"
            sources = (ROOT / "bench" / "rivals" / "redisbloom_loops.c", clone / "src" / "sb.c", clone / "deps" / "bloom" / "bloom.c",
                       clone / "deps" / "murmur2" / "MurmurHash2.c")
            options = ["-O3", "-w", *(f"-I{one}" for one in folders)]
            self.chains = Calls(os.environ.get("CC", "gcc"), self.folder / "chains.so", [*options, *sources, "-lm"], CHAIN)
        return self.chains

    def measured(self, row, keys, all_keys, absent, cell):
        """Fills, checks and times a candidate once, and keeps the least times in the cell."""
        one = row.make(self, keys)
        try:
            took = {"add": one.add(all_keys, 0) / keys}
            if not cell:
                cell |= self.checked(row, one, keys, all_keys, absent)
            for way in ("ask", "ask_many"):
                ask = getattr(one, way)
                took[way] = ask and ask(absent)[0] * KEY_BYTES / len(absent)
        finally:
            one.close()
        for way, nanoseconds in took.items():
            cell[way] = nanoseconds if cell.get(way) is None else min(cell[way], nanoseconds)

    def checked(self, row, one, keys, all_keys, absent):
        """What is not timed, after the answers were checked."""
        found = {way: getattr(one, way) for way in ("ask", "ask_many") if getattr(one, way)}
        answers = {way: (ask(all_keys)[1], ask(absent)[1]) for way, ask in found.items()}
        facts = {"wrong_noes": max(present.count(0) for present, _ in answers.values()), "differ": len(set(answers.values())) > 1,
                 "fpr": sum(answers["ask"][1]) * KEY_BYTES / len(absent), "bits": one.bits() / keys, "slices": one.slices}
        check(row, facts)
        return facts

    def cells(self, times):
        """{name: cell} for a number of keys."""
        keys = times * self.first
        all_keys, absent, few = self.loops.keys(0, keys), self.loops.keys(FIRST_ABSENT, ABSENT), self.loops.keys(FIRST_ABSENT, FEW)
        cells = {row.name: {} for row in ROWS if row.takes(times, keys, self.most_of_slow)}
        for round_ in range(self.rounds):
            for row in ROWS:
                if row.name not in cells or row.name in self.left_out or (row.slow and round_ > 0):
                    continue
                try:
                    self.measured(row, keys, all_keys, few if row.slow else absent, cells[row.name])
                except Missing as missing:
                    self.left_out[row.name] = str(missing)
        if "RedisBloom" not in self.left_out:  # the formula is that of the code
            assert cells["RedisBloom"]["bits"] == computed(redisbloom_shape, self.first, keys)["bits"]
        else:
            cells["RedisBloom, computed"] = computed(redisbloom_shape, self.first, keys)
        cells["valkey-bloom, computed"] = computed(valkey_shape, self.first, keys)
        return {name: cell for name, cell in cells.items() if cell}


def check(row, facts):
    """A program that does not keep its own rate has a row, too. None has a row with a wrong no."""
    wrong = []
    if facts["wrong_noes"]:
        wrong.append(f"a wrong no for {facts['wrong_noes']} keys")
    if facts["differ"]:
        wrong.append("one by one and many at once differ")
    if row.keeps_rate and facts["fpr"] > 1.2 * RATE:
        wrong.append(f"a rate of {facts['fpr']:.2%}")
    if wrong:
        sys.exit(f"{row.name}: {', '.join(wrong)}")


def joined(columns, name, text):
    """The numbers of a row: a column for each number of keys."""
    return " / ".join("-" if name not in cells or (made := text(cells, cells[name])) is None else made for cells in columns)


def as_table(columns):
    names = list(dict.fromkeys(name for cells in columns for name in cells))
    ways = (("bits", lambda bits: f"{bits:.1f}"), ("add", "{:,.0f}".format), ("ask", "{:,.1f}".format), ("ask_many", "{:,.1f}".format),
            ("fpr", lambda rate: f"{100 * rate:.2f}"))
    keys = ", ".join("N" if times == 1 else f"{times} N" for times in TIMES[:len(columns)])
    lines = [f"| {keys} keys | bits a key | ns an add | ns a lookup | in bulk | % false positives |", "|---|---|---|---|---|---|"]
    for name in names:
        texts = [joined(columns, name, lambda _, cell, way=way, form=form: None if cell.get(way) is None else form(cell[way])) for way, form in ways]
        lines.append(f"| {name} | {' | '.join('-' if set(text) <= set('- /') else text for text in texts)} |")
    return "\n".join(lines)


def as_ratios(columns):
    """Of what grows: lookups in bulk, beside those of `blocked` of the right size."""
    ideal = ROWS[0].name

    def ratio(cells, cell):
        return f"{cell['ask_many'] / cells[ideal]['ask_many'] / cell['slices']:.2f}"
    names = [name for name in dict.fromkeys(name for cells in columns for name in cells) if any(cells.get(name, {}).get("slices") for cells in columns)]
    lines = ["| | slices | in bulk, for each slice, times that of `blocked` of the right size |", "|---|---|---|"]
    lines += [f"| {name} | {joined(columns, name, lambda _, cell: str(cell['slices']))} | {joined(columns, name, ratio)} |" for name in names]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--build", required=True, help="a directory that meson built")
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cc", default="g++")
    parser.add_argument("--redisbloom", default=os.environ.get("REDISBLOOM"))
    parser.add_argument("--quick", action="store_true", help="as far as 1000 N, one round, 10,000 keys in Python: times mean nothing")
    given = parser.parse_args()
    if given.quick:
        given.first, given.rounds = 1000, 1
    with tempfile.TemporaryDirectory(prefix="bfstore-growing-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        run = Run(given, pathlib.Path(folder))
        columns = [run.cells(times) for times in run.times]
    for missing in run.left_out.values():
        print(f"left out: {missing}", file=sys.stderr)
    print(as_table(columns), as_ratios(columns), sep="\n\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Ways to remember the keys of a time window, in one run: filters of bfstore whose keys expire, two of its filters in turn, an
age-partitioned Bloom filter, Redis with an expiry for each key, and a dictionary with times.

    python3 -B bench/windows_rivals.py --build BUILD [--keys N] [--rounds N] [--redis PATH] [--quick]

BUILD is a build directory with capi/libbfstore.so. Prints a table, and says what was left out.

All live through one simulated clock: N keys come in each window, evenly, for three windows, and each candidate turns when its own
epoch is over. Filters have a rate of 1 %. Just before the last turn they have the most keys: then the rate is measured, and how long
keys are kept. Just after it they have the fewest: then the youngest key is searched that is forgotten. Redis gets each key with the
moment of its expiry (SET ... PXAT), as SETEX computes it: moments of the past for keys that are older than a window. What a
candidate must answer is checked before it is timed.

Times are the least of all rounds: CPU nanoseconds a key, of loops in C (key_loops.cpp, window_loops.cpp), half of the keys present;
those of the dictionary of a loop in Python. Those of Redis are of the wall clock, over a Unix socket: each key is a request that is
waited for, in bulk 1,000 keys are one request.
"""

import argparse
import collections
import ctypes
import importlib
import math
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench" / "rivals")]
import bfstore_ctypes as bfs
from key_loops import FEW, FIRST_ABSENT, INT, KEY_BYTES, NANOSECONDS, NUMBER, POINTER, Filters, Loops, Missing, Timed, each

RATE, WINDOWS = 0.01, 3
DAY_MS, SEED = 86_400_000, 7
EACH_REQUEST = 1000  # keys in bulk, of Redis
KEPT = 0.1  # a share of keys that is no chance, where 1 % is
AGE_PARTITIONED = (("age_make", POINTER, INT, INT, NUMBER), ("age_free", None, POINTER), ("age_bytes", NUMBER, POINTER),
                   ("age_turn", None, POINTER), ("age_add", NANOSECONDS, POINTER, POINTER, NUMBER),
                   ("age_ask", NANOSECONDS, POINTER, POINTER, NUMBER, POINTER))


# --- Candidates. add(keys, first): the keys that come from moment `first` on, a moment each. ask() and ask_many() return
# --- nanoseconds and a byte for each key. `epochs`: how many of them are a window, or None where each key expires by itself.

class Windows(Filters):
    """A file of bfstore whose keys expire."""
    exact, promises = False, True

    def __init__(self, run, layout, epochs):
        self.name, self.epochs, self.loops, self.library = f"`{layout}`", epochs, run.loops, run.library
        options = bfs.options(layout=layout, capacity=run.keys, fpr=RATE, window_ms=DAY_MS, seed=SEED)
        self.handle = bfs.call(self.library.bfs_create, os.fsencode(run.folder / f"{layout}.bf"), 0, options)
        self.filters = (ctypes.c_void_p * 1)(self.handle)

    def bits(self):
        return bfs.statistics(self.library, self.handle).num_bits

    def turn(self):
        assert self.library.bfs_turn(self.handle, bfs.statistics(self.library, self.handle).epoch, None) == 1

    def close(self):
        for handle in self.filters:
            assert self.library.bfs_close(handle, None) == 0


class InTurn(Windows):
    """Two filters of bfstore: the newer one takes the keys of a window, and both are asked. Each has half of the rate."""

    def __init__(self, run):
        self.name, self.epochs, self.loops, self.library, self.run = "two `blocked` filters in turn", 1, run.loops, run.library, run
        self.filters = (ctypes.c_void_p * 2)(self.made(0), self.made(1))
        self.number = 2

    def made(self, number):
        options = bfs.options(layout="blocked", capacity=self.run.keys, fpr=RATE / 2, seed=SEED)
        return bfs.call(self.library.bfs_create, os.fsencode(self.run.folder / f"in-turn-{number}.bf"), 0, options)

    def bits(self):
        return sum(bfs.statistics(self.library, handle).num_bits for handle in self.filters)

    def turn(self):
        assert self.library.bfs_close(self.filters[1], None) == 0
        self.filters[1], self.filters[0] = self.filters[0], self.made(self.number)
        self.number += 1


def age_partitioned_rate(k, l):
    """The rate just before a turn: the paper's recursion, with slices that fill up in k epochs until half of the bits are set."""
    fill = [1 - 2 ** (-min(age + 1, k) / k) for age in range(k + l)]
    rates = {}

    def found(seen, age):
        if seen == k:
            return 1.0
        if age > l + seen:
            return 0.0
        if (seen, age) not in rates:
            rates[seen, age] = fill[age] * found(seen + 1, age + 1) + (1 - fill[age]) * found(0, age + 1)
        return rates[seen, age]
    return found(0, 0)


def age_partitioned_shapes():
    """Returns (k, l): the smallest with epochs of a seventh of the window, and the smallest of all with at most 24 epochs a window."""
    shapes = [(k, l) for k in range(2, 20) for l in range(1, 25) if age_partitioned_rate(k, l) <= RATE]
    size = lambda shape: shape[0] * sum(shape) / shape[1]
    return min((shape for shape in shapes if shape[1] == 7), key=size), min(shapes, key=size)


class AgePartitioned:
    """The paper's filter in C++: window_loops.cpp."""
    exact, promises, ask_many = False, True, None

    def __init__(self, run, k, l):
        self.name, self.epochs, self.loops = f"age-partitioned, k = {k}, l = {l}", l, run.loops
        self.filter = self.loops.call("age_make", k, l, -(-run.keys // l))

    def bits(self):
        return 8 * self.loops.call("age_bytes", self.filter)

    def turn(self):
        self.loops.call("age_turn", self.filter)

    def add(self, keys, _first):
        return self.loops.call("age_add", self.filter, keys, len(keys) // KEY_BYTES)

    def ask(self, keys):
        return self.loops.asked("age_ask", (self.filter,), keys)

    def close(self):
        self.loops.call("age_free", self.filter)


class PublishedAgePartitioned(Timed):
    """python-persistent-apbf of PyPI, with the same k and l."""
    exact, promises, slow = False, False, True

    def __init__(self, run, k, l):
        try:
            module = importlib.import_module("apbf.apbf_s3")
        except ImportError as error:
            raise Missing(f"no Python module apbf: python-persistent-apbf of PyPI, {error}") from None
        self.name, self.epochs = f"python-persistent-apbf, k = {k}, l = {l}", l
        self.filter = module.AgePartitionedBloomFilter(k, l, -(-run.keys // l))

    def bits(self):
        return 8 * len(self.filter.buffer)

    def turn(self):
        self.filter.next_generation()

    def adder(self, _first):
        return self.filter.add

    def asker(self):
        return self.filter.query


class Dictionary(Timed):
    """The exact answer: the moment of each key's last add, in their order, and the old ones are dropped at each add."""
    name, epochs, exact, promises = "`OrderedDict` of Python, with times", None, True, True

    def __init__(self, run):
        self.window, self.times, self.now = run.keys, collections.OrderedDict(), 0

    def bits(self):
        some = next(iter(self.times.items()))
        return 8 * (sys.getsizeof(self.times) + len(self.times) * sum(map(sys.getsizeof, some)))

    def adder(self, first):
        self.now = first - 1
        times, window = self.times, self.window

        def add(key):
            self.now += 1
            times[key] = self.now
            times.move_to_end(key)
            while times[next(iter(times))] <= self.now - window:
                times.popitem(last=False)
        return add

    def asker(self):
        times, oldest = self.times, self.now - self.window
        return lambda key: times.get(key, oldest) > oldest


class Redis:
    """A server of its own, without a disk. Key i of N in a window is set with the moment at which SETEX would have let it expire."""
    epochs, exact, promises, slow = None, True, True, True
    WINDOW_MS = 1000 * DAY_MS  # so long that no key expires while this runs

    def __init__(self, run):
        if shutil.which(run.redis) is None:
            raise Missing(f"{run.redis} is not installed")
        at = str(run.folder / "redis.sock")
        self.name, self.run = "Redis, `SETEX`", run
        self.server = subprocess.Popen([run.redis, "--port", "0", "--unixsocket", at, "--save", "", "--appendonly", "no", "--dir", run.folder],
                                       stdout=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(at) != 0:
            if self.server.poll() is not None:
                raise Missing(f"{run.redis} ended at once")
            time.sleep(0.01)
        self.input = self.socket.makefile("rb")
        version = next(line for line in self.info("server") if line.startswith("redis_version:"))
        self.name += f" ({version.partition(':')[2]})"
        self.empty = self.used()
        self.end_ms = int(time.time() * 1000)  # the simulated moment WINDOWS * N

    @staticmethod
    def request(*words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

    def replies(self, each, count):
        """Returns that many replies, which are as long as this one."""
        data = self.input.read(len(each) * count)
        return [data[at:at + len(each)] for at in range(0, len(data), len(each))]

    def reply(self):
        line = self.input.readline()
        if line[:1] == b"$":
            return self.input.read(int(line[1:]) + 2)[:-2]
        assert line[:1] in b"+:", line
        return line[1:-2]

    def info(self, section):
        self.socket.sendall(self.request("INFO", section))
        return self.reply().decode().splitlines()

    def used(self):
        return next(int(line.partition(":")[2]) for line in self.info("memory") if line.startswith("used_memory:"))

    def bits(self):
        return 8 * (self.used() - self.empty)

    def expiry(self, moment):
        """The end of the window that begins at this moment, in milliseconds since 1970."""
        return self.end_ms + self.WINDOW_MS - (WINDOWS * self.run.keys - moment) * self.WINDOW_MS // self.run.keys

    def add(self, keys, first):
        keys = each(keys)
        if len(keys) > FEW:  # not timed
            for at in range(0, len(keys), EACH_REQUEST):
                part = keys[at:at + EACH_REQUEST]
                self.socket.sendall(b"".join(self.request("SET", key, "", "PXAT", self.expiry(first + at + i)) for i, key in enumerate(part)))
                assert self.replies(b"+OK\r\n", len(part)) == [b"+OK\r\n"] * len(part)
            return 0
        requests = [self.request("SETEX", key, DAY_MS // 1000, "") for key in keys]
        began = time.perf_counter_ns()
        for one in requests:
            self.socket.sendall(one)
            self.reply()
        return time.perf_counter_ns() - began

    def ask(self, keys):
        keys = each(keys)
        if len(keys) > FEW:
            return self.ask_many(b"".join(keys))
        requests = [self.request("EXISTS", key) for key in keys]
        began = time.perf_counter_ns()
        answers = []
        for one in requests:
            self.socket.sendall(one)
            answers.append(self.reply() == b"1")
        return time.perf_counter_ns() - began, bytes(answers)

    def ask_many(self, keys):
        keys, answers = each(keys), bytearray()
        requests = [b"".join(self.request("EXISTS", key) for key in keys[at:at + EACH_REQUEST]) for at in range(0, len(keys), EACH_REQUEST)]
        began = time.perf_counter_ns()
        for at, one in enumerate(requests):
            self.socket.sendall(one)
            answers += self.input.read(len(b":1\r\n") * len(keys[EACH_REQUEST * at:EACH_REQUEST * (at + 1)]))
        took = time.perf_counter_ns() - began
        return took, bytes(digit == ord("1") for digit in answers[1::4])

    def close(self):
        self.input.close()
        self.socket.close()
        self.server.terminate()
        self.server.wait()


# --- The run -----------------------------------------------------------------------------------------------------------------

class Run:
    def __init__(self, given, folder):
        self.keys, self.rounds, self.redis, self.folder = given.keys, given.rounds, given.redis, folder
        library = (pathlib.Path(given.build) / "capi" / "libbfstore.so").resolve()
        others = [ROOT / "bench" / "rivals" / "window_loops.cpp"]
        self.library, self.loops = bfs.load(str(library)), Loops(given.cc, library, folder, others, AGE_PARTITIONED)

    def candidates(self):
        """Functions that make one each."""
        seventh, smallest = age_partitioned_shapes()
        yield from (lambda one=one: Windows(self, *one) for one in (("window", 7), ("window-4", 3), ("window-2", 1)))
        yield lambda: InTurn(self)
        yield from (lambda shape=shape: AgePartitioned(self, *shape) for shape in (seventh, smallest))
        yield lambda: PublishedAgePartitioned(self, *seventh)
        yield lambda: Redis(self)
        yield lambda: Dictionary(self)

    def fill(self, one):
        """The simulated clock: WINDOWS windows of keys, and a turn after each epoch but the last, which is just over."""
        if one.epochs is None:
            return one.add(self.loops.keys(0, WINDOWS * self.keys), 0)
        began, number = 0, WINDOWS * one.epochs
        for epoch in range(number):
            end = self.keys * (epoch + 1) // one.epochs
            one.add(self.loops.keys(began, end - began), began)
            began = end
            if epoch + 1 < number:
                one.turn()

    def found(self, one, first, count):
        return (one.ask_many or one.ask)(self.loops.keys(first, count))[1]

    def oldest_kept(self, one, rate):
        """The age, in windows, up to which keys are kept: that of the oldest hundredth of a window of which a tenth is found."""
        part, all_keys = self.keys // 100, WINDOWS * self.keys
        assert rate < KEPT / 4
        shares = ((first, sum(self.found(one, first, part)) / part) for first in range(0, all_keys, part))
        return next((all_keys - first) / self.keys for first, share in shares if share >= KEPT)

    def forgotten(self, one):
        """The age of the youngest key that is forgotten, in windows, and the share of keys younger than a window that are."""
        all_keys = WINDOWS * self.keys
        answers = self.found(one, 0, all_keys)
        youngest = max((i for i in range(all_keys) if not answers[i]), default=-1)
        younger = answers[1 - self.keys:]  # than a window: the key before these is exactly as old
        return (all_keys - youngest) / self.keys, younger.count(0) / len(younger)

    def measured(self, one):
        self.fill(one)
        row = {"name": one.name, "bits": one.bits() / self.keys}
        absent = self.loops.keys(FIRST_ABSENT, max(FEW, self.keys // 10))
        row["fpr"] = sum(one.ask(absent)[1]) * KEY_BYTES / len(absent)
        row["oldest"] = self.oldest_kept(one, row["fpr"])
        row["ask"], row["ask_many"] = self.times_of_asking(one)
        if one.epochs is not None:
            one.turn()
        row["youngest"], row["lost"] = self.forgotten(one)
        check(row, one)
        row["add"] = min(self.time_of_adding(one, round_) for round_ in range(self.rounds))
        return row

    def times_of_asking(self, one):
        count = FEW if getattr(one, "slow", False) else max(FEW, self.keys // 10)
        half = count // 2
        present, absent = each(self.loops.keys(WINDOWS * self.keys - half, half)), each(self.loops.keys(FIRST_ABSENT, half))
        keys = b"".join(key for pair in zip(present, absent) for key in pair)
        least = lambda ask: min(ask(keys)[0] for _ in range(self.rounds)) / (2 * half)
        return least(one.ask), least(one.ask_many) if one.ask_many else None

    def time_of_adding(self, one, round_):
        count = min(FEW, self.keys // 10)
        first = WINDOWS * self.keys + round_ * count
        return one.add(self.loops.keys(first, count), first) / count


def check(row, one):
    """What is published as a filter without wrong noes is asked whether it has any, too, and keeps its row."""
    wrong = []
    if row["lost"] or row["youngest"] < 1:
        wrong.append(f"{row['lost']:.2%} of the window's keys are forgotten")
    if row["fpr"] > (0 if one.exact else 1.2 * RATE):
        wrong.append(f"a rate of {row['fpr']:.2%}")
    if wrong and one.promises:
        sys.exit(f"{one.name}: {', '.join(wrong)}")


def as_table(rows):
    lines = ["| | bits a key | ns an add | ns a lookup | in bulk | false positives | forgets after | keeps up to | forgotten too early |",
             "|---|---|---|---|---|---|---|---|---|"]
    digits = lambda number: "-" if number is None else f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
    for row in rows:
        lines.append(f"| {row['name']} | {row['bits']:,.1f} | {digits(row['add'])} | {digits(row['ask'])} | {digits(row['ask_many'])} "
                     f"| {row['fpr']:.2%} | {math.floor(100 * row['youngest']) / 100:.2f} | {row['oldest']:.2f} | {row['lost']:.1%} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--build", required=True, help="a directory that meson built")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cc", default="g++")
    parser.add_argument("--redis", default="redis-server")
    parser.add_argument("--quick", action="store_true", help="21,000 keys and one round: times mean nothing")
    given = parser.parse_args()
    if given.quick:
        given.keys, given.rounds = 21_000, 1
    with tempfile.TemporaryDirectory(prefix="bfstore-windows-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        run, rows = Run(given, pathlib.Path(folder)), []
        for make in run.candidates():
            try:
                one = make()
            except Missing as missing:
                print(f"left out: {missing}", file=sys.stderr)
                continue
            try:
                rows.append(run.measured(one))
            finally:
                one.close()
    print(as_table(rows))


if __name__ == "__main__":
    main()

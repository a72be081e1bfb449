"""A DCSO filter of 1 GB, as CIRCL's hashlookup is one: opened and asked in place by bfstore, and loaded by the programs for such
files. Prints one table: the time until the first answer, the memory of 32 processes, the nanoseconds of a lookup.

    python3 -B bench/hashlookup.py --build BUILD [--gigabytes G] [--processes N] [--folder FOLDER]

BUILD is a build directory with capi/libbfstore.so and tools/bf/bf. The others: `bloom` of Debian's package
golang-github-dcso-bloom-cli, and flor and poppy-py of PyPI, which this script installs in BUILD. What is missing has no row.

The file: `bloom create` makes its header, random bytes make half of its bits (a full filter), and `bloom insert` adds the keys
that are there. Before anything is timed, each program answers the same keys, and the answers are equal. Each time is the
median of five; memory is the sum of the processes' proportional sets (PSS), once all of them have asked.
"""

import argparse
import ctypes
import hashlib
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
import bfstore_ctypes as bfs

RATE, PRESENT, ABSENT, TIMES = 0.0001, 100_000, 100_000, 5


def keys(prefix, count):
    """Digests as hashlookup has them: SHA-1 in upper-case hexadecimal."""
    return [hashlib.sha1(f"{prefix} {i}".encode()).hexdigest().upper() for i in range(count)]


def make_file(path, gigabytes, bloom):
    bits = gigabytes * 8 * 2**30
    capacity = int(bits * math.log(2) ** 2 / -math.log(RATE))
    subprocess.run([bloom, "create", "-n", str(capacity), "-p", str(RATE), path], check=True)
    with open(path, "r+b") as file:
        file.seek(48)
        left = os.path.getsize(path) - 48
        rng = random.Random(1)
        while left > 0:
            piece = rng.randbytes(min(left, 1 << 24))
            file.write(piece)
            left -= len(piece)
    subprocess.run([bloom, "insert", path], input="\n".join(keys("present", PRESENT)), text=True, check=True)


# --- Programs: each has open(path) -> handle, given(keys) -> what it takes, and ask(handle, given) -> number of maybes ------

class Bfstore:
    name = "bfstore, in place"

    def __init__(self, build):
        self.library = bfs.load(str(build / "capi" / "libbfstore.so"))

    def open(self, path):
        return bfs.foreign_open(self.library, path.encode(), bfs.foreign_form(b"dcso"))

    def given(self, words):
        count, text = len(words), [word.encode() for word in words]
        return ((ctypes.c_char_p * count)(*text), (ctypes.c_size_t * count)(*map(len, text)), count, (ctypes.c_uint8 * count)())

    def ask(self, handle, keys):
        """One call for all keys, as one run of `bloom check`."""
        return self.library.contains_many(handle, *keys)


class Python:
    """A package of PyPI."""

    def __init__(self, name, load, ask):
        self.name, self.open, self.ask = name, load, ask

    def given(self, words):
        return words


def flor():
    from flor import BloomFilter  # installed by main()

    def load(path):
        made = BloomFilter()
        with open(path, "rb") as file:
            made.read(file)
        return made
    return Python("flor (Python)", load, lambda handle, words: sum(word.encode() in handle for word in words))


def poppy():
    import poppy as package  # installed by main()
    return Python("poppy (Rust, from Python)", lambda path: package.load(str(path)),
                  lambda handle, words: sum(map(handle.contains_str, words)))


class Bloom:
    """The command, which loads the file in each run."""
    name = "bloom check (Go)"

    def __init__(self, program):
        self.program = program

    def open(self, path):
        return path

    def given(self, words):
        return words

    def ask(self, path, words):
        done = subprocess.run([self.program, "check", path], input="\n".join(words) + "\n", text=True, check=True, capture_output=True)
        return len(done.stdout.splitlines())


# --- Measurements -------------------------------------------------------------------------------------------------------

def median_of(measure):
    return statistics.median(measure() for _ in range(TIMES))


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def pss_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def memory_of(program, path, processes, words):
    """Forks processes that open the file, ask, and wait; returns the sum of their PSS, less that of one that does nothing."""
    pids, gates = [], []
    for number in range(processes):
        ready, done = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            handle = program.open(path)
            program.ask(handle, program.given(words[number::processes]))
            os.write(ready[1], b"1")
            os.read(done[0], 1)
            os._exit(0)
        os.read(ready[0], 1)
        pids.append(pid)
        gates.append(done[1])
    total = sum(map(pss_bytes, pids))
    for pid, gate in zip(pids, gates):
        os.write(gate, b"1")
        os.waitpid(pid, 0)
    return total


def human(count):
    return f"{count / 2**30:.2f} GiB" if count >= 2**29 else f"{count / 2**20:.1f} MiB"


def row(program, path, processes, absent, available):
    one, keys = program.given(absent[:1]), program.given(absent)
    first = median_of(lambda: seconds(lambda: program.ask(program.open(path), one)))
    if isinstance(program, Bloom):
        whole = median_of(lambda: seconds(lambda: program.ask(path, keys)))
        each = (whole - first) / len(absent) * 1e9
        return [program.name, f"{first * 1000:,.0f} ms", "a copy for each", f"{each:,.0f}"]
    handle = program.open(path)
    program.ask(handle, keys)
    each = median_of(lambda: seconds(lambda: program.ask(handle, keys))) / len(absent) * 1e9
    del handle
    fits = isinstance(program, Bfstore) or processes * os.path.getsize(path) < available
    some = processes if fits else max(1, int(available // os.path.getsize(path)))
    memory = memory_of(program, path, some, absent)
    words = human(memory) if some == processes else f"{human(memory)} with {some}, {human(memory / some * processes)} with {processes}"
    return [program.name, f"{first * 1000:,.3f} ms" if first < 0.01 else f"{first * 1000:,.0f} ms", words, f"{each:,.0f}"]


def install(build):
    folder = build / "hashlookup-packages"
    if not folder.is_dir():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", folder, "flor==1.1.3", "poppy-py==0.2.1"], check=False)
    sys.path.insert(0, str(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    bloom = shutil.which("bloom")
    if bloom is None:
        sys.exit("no bloom on this machine. Debian's package: golang-github-dcso-bloom-cli")
    install(asked.build)
    programs = [Bfstore(asked.build), Bloom(bloom)]
    for make in (flor, poppy):
        try:
            programs.append(make())
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="bfstore-hashlookup-", dir=asked.folder) as folder:
        path = str(pathlib.Path(folder) / "hashlookup.bloom")
        make_file(path, asked.gigabytes, bloom)
        present, absent = keys("present", PRESENT), keys("absent", ABSENT)
        counts = {program.name: tuple(program.ask(program.open(path), program.given(keys)) for keys in (present, absent)) for program in programs}
        if len(set(counts.values())) != 1 or counts[Bfstore.name][0] != PRESENT:
            sys.exit(f"the answers differ: {counts}")
        print(f"{human(os.path.getsize(path))}, {PRESENT:,} keys that are there, {counts[Bfstore.name][1]} false positives of {ABSENT:,}: "
              f"all programs agree.\n")
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 0.7
        print(f"| program | open and first answer | memory of {asked.processes} processes | ns a lookup, absent |\n|---|---|---|---|")
        for program in programs:
            print(f"| {' | '.join(row(program, path, asked.processes, absent, available))} |", flush=True)


if __name__ == "__main__":
    main()

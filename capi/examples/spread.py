"""The steps of a build by parts, for spark_parts.py and dask_parts.py. Each function is what one task does, on any machine.

A task may be done twice, one after the other or at once, and its process may be killed: a part is made in a file without a
name, and publish() gives it its name when it is complete. Both attempts add the same digests, so it is all one which of them
has the name in the end.
"""
import array
import mmap
import os
import resource
import signal
import time

import bfstore

PARTS = 8
LIST = 250_000  # keys of one task that sorts
SEED = 1  # all parts have the same: other seeds lead to other bits


def options(keys):
    """Returns the options of the whole filter."""
    return {"capacity": keys, "fpr": 0.01, "seed": SEED}


def list_of(first, count, word=b"key"):
    """Returns keys; a real task would read a file."""
    return [b"%s %d" % (word, number) for number in range(first, first + count)]


def sorted_digests(keys):
    """Returns the digests of the keys, 8 bytes each: item i has those of part i."""
    small = {"capacity": 1, "seed": SEED}  # a filter in memory, for its hash
    by_part = [array.array("Q") for _ in range(PARTS)]
    with mmap.mmap(-1, bfstore.required_bytes(**small)) as memory, bfstore.format(memory, **small) as hashing:
        for digest in hashing.digest_many(keys):
            by_part[digest * PARTS >> 64].append(digest)
    return [digests.tobytes() for digests in by_part]


def part_path(folder, number):
    """Returns the path of a finished part. Its folder is on a disk that the task and the joining process can reach."""
    return os.path.join(folder, f"part{number}.bf")


def build_part(folder, number, keys, pieces, dies_in_the_middle):
    """Makes a part from its digests, which come in pieces. Returns this process's peak memory, in MB."""
    part = bfstore.create(part_path(folder, number), part=(number, PARTS), exclusive=True, unpublished=True, replace=True,
                          **options(keys))
    try:
        for digests in pieces:
            part.add_digests(memoryview(digests).cast("Q"))
            if dies_in_the_middle:
                os.kill(os.getpid(), signal.SIGKILL)
        part.publish()
        part.close()
    except BaseException:
        part.abandon()
        raise
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 // 10**6


def join(folder):
    """Makes all.bf of the parts."""
    parts = [bfstore.open(part_path(folder, number)) for number in range(PARTS)]
    bfstore.join(parts, os.path.join(folder, "all.bf"))
    for part in parts:
        part.close()


def check(folder, keys):
    """Compares the bits of all.bf with those that one process sets for all keys, and asks about keys that no task added."""
    begin = time.monotonic()
    with bfstore.create(os.path.join(folder, "one.bf"), like=os.path.join(folder, "all.bf"), exclusive=True) as one:
        for first in range(0, keys, LIST):
            one.add_many(list_of(first, min(LIST, keys - first)))
    print(f"one process with all keys: {time.monotonic() - begin:.1f} s")
    with bfstore.open(os.path.join(folder, "all.bf")) as joined, bfstore.open(os.path.join(folder, "one.bf")) as one:
        assert joined.compare(one).equal, "the bits differ"
        absent = list_of(0, 1_000_000, b"absent")
        found = sum(joined.contains_many(absent))
        print(f"the joined filter has the same bits; false positives: {found / len(absent):.3%} of {len(absent):,} keys")

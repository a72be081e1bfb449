"""How a file that does not fit in the memory of its process's control group is read: whole and in order by a batch that is
sorted, and page by page, many pages at once, by one that is not.

Arguments: the shared library, capi/bfstore.h. This program also is the process in the group, which asks.
"""
import array
import ctypes
import os
import random
import resource
import subprocess
import sys
import unittest

ARGUMENTS = sys.argv[1:3]
ASKED = sys.argv[4:] if sys.argv[3:4] == ["ask"] else []

import support
from support import LIBRARY, answers_for, bfs

import control_group  # found by support

BODY_BYTES = 256 << 20
LIMIT_BYTES = 160 << 20
PAGE = 4096
ADDED = 1_000_000  # a key in nearly every page, so that none is a hole
SORTED = 3 << 20
FEW = 3000


def digests(seed, count):
    return (ctypes.c_uint64 * count).from_buffer(array.array("Q", random.Random(seed).randbytes(8 * count)))


def ask(path, seed, count, scratch_bytes, at_once):
    """Asks in calls of at_once keys. Prints how many may be present, the bytes that were read from the disk, and for how many pages the process waited."""
    keys, answers = digests(seed, count), answers_for(count)
    handle = bfs.open_path(LIBRARY, os.fsencode(path))
    scratch = ctypes.create_string_buffer(scratch_bytes) if scratch_bytes else None
    before = resource.getrusage(resource.RUSAGE_SELF)
    maybes = 0
    for first in range(0, count, at_once):
        size = min(at_once, count - first)
        asked = (ctypes.c_uint64 * size).from_buffer(keys, 8 * first)
        maybes += LIBRARY.bfs_contains_keys(handle, bfs.many_keys(bfs.KEYS_DIGESTS, size, asked, scratch=scratch, scratch_bytes=scratch_bytes),
                                            answers)
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(maybes, 512 * (after.ru_inblock - before.ru_inblock), after.ru_majflt - before.ru_majflt)


class Cold(support.Case):
    def setUp(self):
        super().setUp()
        handle = self.create(num_bits=8 * BODY_BYTES, num_probes=6, fpr=0, hash="external", layout="blocked", capacity=ADDED)
        self.assertGreater(LIBRARY.add_digests(handle, digests(1, ADDED), ADDED), 0)
        self.expected = {}
        for seed, count in ((1, FEW), (2, SORTED)):
            self.expected[count] = LIBRARY.contains_digests(handle, digests(seed, count), count, answers_for(count))
        self.close(handle)
        self.enter = control_group.limited(self, LIMIT_BYTES)

    def asked(self, seed, count, scratch_bytes, at_once):
        control_group.forget(self.path)
        asked = [self.path, *map(str, (seed, count, scratch_bytes, at_once))]
        done = subprocess.run([sys.executable, "-B", __file__, *ARGUMENTS, "ask", *asked], preexec_fn=self.enter, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        maybes, read, waits = map(int, done.stdout.split())
        self.assertEqual(maybes, self.expected[count])
        if read == 0:
            self.skipTest(f"{self.folder} is in memory: nothing of a file there is read from a disk")
        return read, waits

    def test_a_sorted_batch_reads_the_file_once_and_in_order(self):
        read, waits = self.asked(2, SORTED, 12 * SORTED + (8 << 20), SORTED)
        self.assertGreater(read, BODY_BYTES * 9 // 10)
        self.assertLess(read, BODY_BYTES * 12 // 10)
        self.assertLess(waits, BODY_BYTES // PAGE // 10, "nearly every page was asked for before")

    def test_a_few_keys_read_their_pages_and_wait_for_few_of_them(self):
        for at_once in (FEW, 256):
            with self.subTest(at_once=at_once):
                read, waits = self.asked(1, FEW, 0, at_once)
                self.assertLess(read, 3 * FEW * PAGE)
                self.assertLess(waits, FEW // 4)


if __name__ == "__main__":
    if ASKED:
        ask(ASKED[0], *map(int, ASKED[1:]))
    else:
        unittest.main(verbosity=2)

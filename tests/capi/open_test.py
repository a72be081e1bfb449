"""The options of bfs_open: which go together, and a filter in a range with every flag of memory that a file may have.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import unittest
from ctypes import byref

from support import CODES, LIBRARY, Case, bfs

SECRET = bytes(range(16))
AT = 4096 + 64
MAP_FLAGS = (0, bfs.POPULATE, bfs.RANDOM, bfs.GUARD, bfs.PRIVATE,
             bfs.POPULATE | bfs.RANDOM | bfs.GUARD | bfs.PRIVATE)


class Open(Case):
    def refused(self, words, flags=bfs.READ, **given):
        self.assertIn(words, self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, flags, bfs.options(**given)))

    def put_range(self, keys, **given):
        """Makes a file with a filter of its own at AT, and other bytes after it. Returns the filter's length, too."""
        options = bfs.options(**{"capacity": 20000, **given})
        size = bfs.bytes_needed(LIBRARY, 0, options)
        keep, address = bfs.aligned_buffer(size)
        handle = bfs.call(LIBRARY.bfs_format, address, size, 0, options)
        for key in keys:
            self.assertEqual(LIBRARY.bfs_add(handle, key, len(key)), 1)
        self.close(handle)
        with open(self.path, "wb") as file:
            file.write(b"\xee" * AT + ctypes.string_at(address, size) + b"\xee" * 5000)
        del keep
        return size

    def test_the_length_of_a_secret_is_16_or_none_is_given(self):
        self.close(self.create(hash="siphash", secret=SECRET))
        self.close(bfs.open_path(LIBRARY, self.path, secret=SECRET))
        for length in (0, 1, 8, 15, 17, 32, 2**32 + 16, 2**64 - 1):
            self.refused(b"16", secret=SECRET * 2, secret_bytes=length)
        self.refused(b"secret is null", secret_bytes=16)
        self.assertIn(b"no secret was given", self.fails("BFS_ESECRET", LIBRARY.bfs_open, self.path, bfs.READ, None))

    def test_a_descriptor_is_read_with_a_path_for_a_name_or_without(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        self.close(handle)
        for flags in MAP_FLAGS:
            for path in (None, self.path, b"a name"):
                with open(self.path, "rb") as file, self.subTest(flags=flags, path=path):
                    handle = bfs.open_path(LIBRARY, path, bfs.READ | flags, fd=file.fileno())
                self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), (1, 0))
                self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
                self.close(handle)

    def test_a_range_of_a_descriptor_is_read(self):
        self.put_range([b"k"])
        with open(self.path, "rb") as file:
            handle = bfs.open_path(LIBRARY, None, bfs.READ, fd=file.fileno(), range=(AT, 0))
        self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), (1, 0))
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
        os.unlink(self.path)
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 0)
        self.close(handle)

    def test_a_descriptor_is_for_reading_and_for_bfs_open_alone(self):
        self.close(self.create())
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.READ, None)
        with open(self.path, "r+b") as file:
            for mode in (bfs.WRITE, bfs.EXCLUSIVE):
                words = self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, mode, bfs.options(fd=file.fileno()))
                self.assertTrue(words.startswith(b"descriptor %d: opened for writing" % file.fileno()), words)
            self.refused(b"bfs_options.fd", bfs.WRITE | bfs.CREATE, capacity=10, fd=file.fileno())
        keep, address = bfs.aligned_buffer(65536)
        words = self.fails("BFS_EINVAL", LIBRARY.bfs_open_memory, address, 65536, bfs.READ, bfs.options(fd=3))
        self.assertIn(b"does not take bfs_options.fd", words)
        del keep

    def test_a_number_of_a_descriptor_is_one_that_is_open(self):
        for number in (-1, 2**31 - 1):
            words = self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.READ, bfs.options(fd=number))
            self.assertIn(b"descriptor %d" % number, words)

    def test_a_range_of_a_whole_file_has_another_form(self):
        self.close(self.create())
        self.fails("BFS_EFORM", LIBRARY.bfs_open, self.path, bfs.READ, bfs.options(range=(0, 0)))

    def test_a_range_is_read_with_the_flags_of_memory_and_no_others(self):
        self.put_range([b"k"])
        others = [bfs.STRICT, bfs.VERIFY, bfs.TOLERATE_DAMAGE, bfs.RECOVER, bfs.ACCEPT_LOSS, bfs.LIMIT, bfs.FOLLOW, bfs.WRITE,
                  bfs.EXCLUSIVE, 1 << 31]
        for flags in [0, bfs.WRITE, bfs.EXCLUSIVE, *(bfs.READ | other for other in others)]:
            with self.subTest(flags=flags):
                self.refused(b"range", flags, range=(AT, 0))
        self.refused(b"bfs_options.range", bfs.WRITE | bfs.CREATE, range=(AT, 0))

    def test_a_range_answers_alike_with_every_flag_and_with_its_secret(self):
        keys = [b"key %d" % i for i in range(100)]
        for given in ({}, {"hash": "siphash", "secret": SECRET}):
            size, secret = self.put_range(keys, **given), given.get("secret")
            for flags in MAP_FLAGS:
                for max_bytes in (0, size, size + 100):
                    with self.subTest(flags=flags, max_bytes=max_bytes, **given):
                        handle = bfs.open_path(LIBRARY, self.path, bfs.READ | flags, secret=secret, range=(AT, max_bytes))
                        self.assertEqual({LIBRARY.bfs_contains(handle, k, len(k)) for k in keys}, {1})
                        self.assertEqual(LIBRARY.bfs_contains(handle, b"absent", 6), 0)
                        self.close(handle)
                too_short = bfs.options(secret=secret, range=(AT, size - 1))
                self.fails("BFS_EBODY", LIBRARY.bfs_open, self.path, bfs.READ | flags, too_short)

    def test_a_range_with_a_guard_is_in_doubt_when_its_file_is_cut_and_a_copy_is_as_it_was(self):
        for flags in (bfs.GUARD, bfs.PRIVATE, bfs.GUARD | bfs.PRIVATE):
            with self.subTest(flags=flags):
                self.put_range([b"k"])
                handle = bfs.open_path(LIBRARY, self.path, bfs.READ | flags, range=(AT, 0))
                os.truncate(self.path, 0)
                expected = (1, 0) if flags & bfs.PRIVATE else (1, 1)
                self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), expected)
                health = 0 if flags & bfs.PRIVATE else CODES["BFS_EFAULT"]
                self.assertEqual(bfs.statistics(LIBRARY, handle).health, health)
                self.close(handle)


if __name__ == "__main__":
    unittest.main(verbosity=2)

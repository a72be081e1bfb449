"""bfs_open_with: which options go together, and a filter in a range with every flag of memory that a file may have.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import unittest
from ctypes import byref

from support import CODES, LIBRARY, Case, bfs

SECRET = bytes(range(16))
AT = 4096 + 64
MAP_FLAGS = (0, bfs.OPEN_POPULATE, bfs.OPEN_RANDOM, bfs.OPEN_GUARD, bfs.OPEN_COPY,
             bfs.OPEN_POPULATE | bfs.OPEN_RANDOM | bfs.OPEN_GUARD | bfs.OPEN_COPY)


class OpenWith(Case):
    def refused(self, words, **given):
        self.assertIn(words, self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, self.path, bfs.open_options(**given)))

    def put_range(self, keys, **given):
        """Makes a file with a filter of its own at AT, and other bytes after it. Returns the filter's length, too."""
        options, size = bfs.options(**{"capacity": 20000, **given}), ctypes.c_uint64()
        self.assertEqual(LIBRARY.bfs_required_bytes(byref(options), byref(size), None), 0)
        keep, address = bfs.aligned_buffer(size.value)
        handle = bfs.call(LIBRARY.bfs_format, address, size.value, options)
        for key in keys:
            self.assertEqual(LIBRARY.bfs_add(handle, key, len(key)), 1)
        self.close(handle)
        with open(self.path, "wb") as file:
            file.write(b"\xee" * AT + ctypes.string_at(address, size.value) + b"\xee" * 5000)
        del keep
        return size.value

    def test_the_length_of_a_key_is_16_or_none_is_given(self):
        self.close(self.create(hash="siphash", key=SECRET))
        self.close(bfs.open_with(LIBRARY, self.path, key=SECRET))
        for length in (1, 8, 15, 17, 32, 2**32 + 16, 2**64 - 1):
            options = bfs.open_options(key=SECRET * 2)
            options.key_bytes = length
            self.assertIn(b"16 bytes", self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, self.path, options))
        self.refused(b"key is null", key_bytes=16)
        options = bfs.open_options(key=SECRET)
        options.key_bytes = 0
        self.assertIn(b"16 bytes", self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, self.path, options))
        self.assertIn(b"no key was given", self.fails("BFS_EKEY", LIBRARY.bfs_open_with, self.path, bfs.open_options()))

    def test_a_descriptor_is_read_with_a_path_for_a_name_or_without(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        self.close(handle)
        for flags in MAP_FLAGS:
            for path in (None, self.path, b"a name"):
                with open(self.path, "rb") as file, self.subTest(flags=flags, path=path):
                    handle = bfs.open_with(LIBRARY, path, bfs.READ | bfs.OPEN_FD | flags, fd=file.fileno())
                self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), (1, 0))
                self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
                self.close(handle)

    def test_a_range_of_a_descriptor_is_read(self):
        self.put_range([b"k"])
        with open(self.path, "rb") as file:
            handle = bfs.open_with(LIBRARY, None, bfs.READ | bfs.OPEN_FD, offset=AT, fd=file.fileno())
        self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), (1, 0))
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
        os.unlink(self.path)
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 0)
        self.close(handle)

    def test_a_descriptor_is_said_by_its_flag_and_is_for_reading_in_bfs_open_with(self):
        self.close(self.create())
        self.refused(b"fd is for BFS_OPEN_FD", fd=3)
        words = self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, bfs.READ | bfs.OPEN_FD)
        self.assertIn(b"needs bfs_open_with", words)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, None, bfs.open_options())
        with open(self.path, "r+b") as file:
            for mode in (bfs.WRITE, bfs.EXCLUSIVE):
                options = bfs.open_options(mode | bfs.OPEN_FD, fd=file.fileno())
                words = self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, None, options)
                self.assertTrue(words.startswith(b"descriptor %d: opened for writing" % file.fileno()), words)
        keep, address = bfs.aligned_buffer(65536)
        options = bfs.open_options(fd=3)
        self.fails("BFS_EINVAL", LIBRARY.bfs_wrap_with, address, 65536, options)
        del keep

    def test_a_range_is_said_by_its_flag_and_by_nothing_else(self):
        self.close(self.create())
        self.refused(b"BFS_OPEN_RANGE", max_bytes=4096)
        options = bfs.open_options()
        options.offset = 64
        self.assertIn(b"BFS_OPEN_RANGE", self.fails("BFS_EINVAL", LIBRARY.bfs_open_with, self.path, options))
        self.fails("BFS_EFORM", LIBRARY.bfs_open_with, self.path, bfs.open_options(offset=0))

    def test_a_range_is_read_with_the_flags_of_memory_and_no_others(self):
        self.put_range([b"k"])
        others = [bfs.OPEN_STRICT, bfs.OPEN_VERIFY, bfs.OPEN_TOLERATE_DAMAGE, bfs.OPEN_RECOVER,
                  bfs.OPEN_ACCEPT_LOSS, bfs.OPEN_LIMIT, bfs.WRITE, bfs.EXCLUSIVE, 8, 1 << 31]
        for flags in [0, bfs.WRITE, bfs.EXCLUSIVE, *(bfs.READ | other for other in others)]:
            with self.subTest(flags=flags):
                self.refused(b"BFS_OPEN_RANGE", flags=flags, offset=AT)

    def test_a_range_answers_alike_with_every_flag_and_with_its_key(self):
        keys = [b"key %d" % i for i in range(100)]
        for given in ({}, {"hash": "siphash", "key": SECRET}):
            size, key = self.put_range(keys, **given), given.get("key")
            for flags in MAP_FLAGS:
                for max_bytes in (0, size, size + 100):
                    with self.subTest(flags=flags, max_bytes=max_bytes, **given):
                        handle = bfs.open_with(LIBRARY, self.path, bfs.READ | flags, offset=AT, max_bytes=max_bytes,
                                               key=key)
                        self.assertEqual({LIBRARY.bfs_contains(handle, k, len(k)) for k in keys}, {1})
                        self.assertEqual(LIBRARY.bfs_contains(handle, b"absent", 6), 0)
                        self.close(handle)
                too_short = bfs.open_options(bfs.READ | flags, offset=AT, max_bytes=size - 1, key=key)
                self.fails("BFS_EBODY", LIBRARY.bfs_open_with, self.path, too_short)

    def test_a_range_with_a_guard_is_in_doubt_when_its_file_is_cut_and_a_copy_is_as_it_was(self):
        for flags in (bfs.OPEN_GUARD, bfs.OPEN_COPY, bfs.OPEN_GUARD | bfs.OPEN_COPY):
            with self.subTest(flags=flags):
                self.put_range([b"k"])
                handle = bfs.open_with(LIBRARY, self.path, bfs.READ | flags, offset=AT)
                os.truncate(self.path, 0)
                expected = (1, 0) if flags & bfs.OPEN_COPY else (1, 1)
                self.assertEqual(tuple(LIBRARY.bfs_contains(handle, key, 1) for key in (b"k", b"l")), expected)
                health = 0 if flags & bfs.OPEN_COPY else CODES["BFS_EFAULT"]
                self.assertEqual(bfs.statistics(LIBRARY, handle).health, health)
                self.close(handle)


if __name__ == "__main__":
    unittest.main(verbosity=2)

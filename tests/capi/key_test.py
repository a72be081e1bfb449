"""The secret key of BFS_HASH_SIPHASH through the C ABI: given at create and open, never stored, one digest everywhere.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import unittest
from ctypes import byref

from support import CODES, LIBRARY, Case, answers_for, bfs, pointers

import reader

SECRET = bytes(range(100, 116))
OTHERS = [(int.from_bytes(SECRET, "little") ^ 1 << bit).to_bytes(16, "little") for bit in (0, 7, 63, 64, 127)]
MODES = (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE)


class Keyed(Case):
    def buffer(self, **given):
        options, size = bfs.options(**{"capacity": 100, **given}), ctypes.c_uint64()
        self.assertEqual(LIBRARY.bfs_required_bytes(byref(options), byref(size), None), 0)
        keep, address = bfs.aligned_buffer(size.value)
        self.addCleanup(lambda: keep)
        self.close(bfs.call(LIBRARY.bfs_format, address, size.value, options))
        return address, size.value

    def openers(self, address, size):
        """Returns every function that opens, as f(key)."""
        with open(self.path + b".range", "wb") as file:
            file.write(ctypes.string_at(address, size))
        openers = [lambda key, mode=mode: bfs.open_with(LIBRARY, self.path, mode, key=key) for mode in MODES]
        openers += [lambda key, mode=mode: bfs.wrap_with(LIBRARY, address, size, mode, key)
                    for mode in (bfs.READ, bfs.WRITE)]
        return openers + [lambda key: bfs.open_with(LIBRARY, self.path + b".range", offset=0, key=key)]

    def refused(self, opener, key, words):
        with self.assertRaises(bfs.CodeError) as refused:
            opener(key)
        self.assertEqual(refused.exception.code, CODES["BFS_EKEY"])
        self.assertIn(words, refused.exception.message)

    def test_each_way_to_open_wants_the_filter_s_own_key(self):
        self.close(self.create(hash="siphash", key=SECRET))
        for opener in self.openers(*self.buffer(hash="siphash", key=SECRET)):
            for key in OTHERS:
                self.refused(opener, key, b"is not this filter's")
            self.refused(opener, None, b"no key was given")
            self.close(opener(SECRET))

    def test_the_functions_without_a_key_are_those_with_none(self):
        address, size = self.buffer(hash="siphash", key=SECRET)
        self.close(self.create(hash="siphash", key=SECRET))
        self.openers(address, size)
        self.fails("BFS_EKEY", LIBRARY.bfs_open, self.path, bfs.READ)
        self.fails("BFS_EKEY", LIBRARY.bfs_wrap, address, size, bfs.READ)
        self.fails("BFS_EKEY", LIBRARY.bfs_open_with, self.path + b".range", bfs.open_options(offset=0))

    def test_a_key_for_a_filter_that_has_none(self):
        self.close(self.create())
        for opener in self.openers(*self.buffer()):
            self.close(opener(None))
            self.refused(opener, SECRET, b"has none")
        address, size = self.buffer(flags=bfs.OPEN_BARE)
        self.fails("BFS_EKEY", LIBRARY.bfs_wrap_with, address, size, bfs.open_options(bfs.READ | bfs.OPEN_BARE, SECRET))

    def test_what_can_not_be_made(self):
        for code, given in (("BFS_EKEY", {"hash": "siphash"}), ("BFS_EKEY", {"key": SECRET}),
                            ("BFS_EKEY", {"hash": "external", "key": SECRET}),
                            ("BFS_EINVAL", {"hash": "siphash", "key": SECRET, "seed": 0}),
                            ("BFS_EINVAL", {"hash": "external", "seed": 0})):
            with self.subTest(given=given):
                self.fails(code, LIBRARY.bfs_create, self.path, bfs.options(capacity=10, **given))
        for key in (None, SECRET):
            options = bfs.options(capacity=10, hash="siphash", key=key, flags=bfs.OPEN_BARE)
            size, error = ctypes.c_uint64(), bfs.new_error()
            self.assertEqual(LIBRARY.bfs_required_bytes(byref(options), byref(size), byref(error)), CODES["BFS_EINVAL"])
            self.assertIn(b"bare", error.message)

    def test_a_file_like_a_keyed_one(self):
        self.close(self.create(hash="siphash", key=SECRET))
        for key in (None, OTHERS[0]):
            self.fails("BFS_EKEY", LIBRARY.bfs_create, self.path + b"2", bfs.options(like=self.path, key=key))
        self.close(bfs.call(LIBRARY.bfs_create, self.path + b"2", bfs.options(like=self.path, key=SECRET)))
        self.fails("BFS_EKEY", LIBRARY.bfs_open, self.path + b"2", bfs.READ)
        self.close(bfs.open_with(LIBRARY, self.path + b"2", key=SECRET))

    def test_the_caller_s_key_is_copied(self):
        block = ctypes.create_string_buffer(SECRET, 16)
        options = bfs.options(capacity=100, hash="siphash")
        options.key, options.key_bytes = ctypes.cast(block, ctypes.c_void_p), 16
        handle = bfs.call(LIBRARY.bfs_create, self.path, options)
        ctypes.memset(block, 0, 16)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        digest = ctypes.c_uint64()
        self.assertEqual(LIBRARY.bfs_digest(handle, b"k", 1, byref(digest)), 0)
        self.assertEqual(digest.value, reader.siphash(b"k", SECRET))
        self.close(handle)

    def test_every_call_has_the_digest_that_siphash_gives(self):
        handle = self.create(hash="siphash", key=SECRET, fpr=1e-6)
        keys = [b"x" * length for length in range(40)] + [b"key %d" % i for i in range(500)]
        digests = [reader.siphash(key, SECRET) for key in keys]
        for key, expected in zip(keys, digests):
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(handle, key, len(key), byref(digest)), 0)
            self.assertEqual(digest.value, expected)
        half = len(keys) // 2
        self.assertEqual(LIBRARY.bfs_add_digests(handle, (ctypes.c_uint64 * half)(*digests[:half]), half), half)
        expected = [1] * half + [0] * (len(keys) - half)
        self.assertEqual([LIBRARY.bfs_contains(handle, key, len(key)) for key in keys], expected)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in digests], expected)
        answers, (addresses, lengths) = answers_for(len(keys)), pointers(keys)
        self.assertEqual(LIBRARY.contains_many(handle, addresses, lengths, len(keys), answers), half)
        self.assertEqual(list(answers), expected)
        self.assertEqual(LIBRARY.add_many(handle, addresses, lengths, len(keys)), len(keys) - half)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in digests], [1] * len(keys))
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual((stats.hash, stats.seed), (3, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)

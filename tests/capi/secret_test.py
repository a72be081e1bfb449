"""The secret of BFS_HASH_SIPHASH through the C ABI: given at create and open, never stored, one digest everywhere.

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


class Secret(Case):
    def buffer(self, flags=0, **given):
        options = bfs.options(**{"capacity": 100, **given})
        size = bfs.bytes_needed(LIBRARY, flags, options)
        keep, address = bfs.aligned_buffer(size)
        self.addCleanup(lambda: keep)
        self.close(bfs.call(LIBRARY.bfs_format, address, size, flags, options))
        return address, size

    def openers(self, address, size):
        """Returns every function that opens, as f(secret)."""
        with open(self.path + b".range", "wb") as file:
            file.write(ctypes.string_at(address, size))
        openers = [lambda secret, mode=mode: bfs.open_path(LIBRARY, self.path, mode, secret=secret) for mode in MODES]
        openers += [lambda secret, mode=mode: bfs.open_memory(LIBRARY, address, size, mode, secret)
                    for mode in (bfs.READ, bfs.WRITE)]
        return openers + [lambda secret: bfs.open_path(LIBRARY, self.path + b".range", secret=secret, range=(0, 0))]

    def refused(self, opener, secret, words):
        with self.assertRaises(bfs.CodeError) as refused:
            opener(secret)
        self.assertEqual(refused.exception.code, CODES["BFS_ESECRET"])
        self.assertIn(words, refused.exception.message)

    def test_each_way_to_open_wants_the_filter_s_own_secret(self):
        self.close(self.create(hash="siphash", secret=SECRET))
        for opener in self.openers(*self.buffer(hash="siphash", secret=SECRET)):
            for secret in OTHERS:
                self.refused(opener, secret, b"is not this filter's")
            self.refused(opener, None, b"no secret was given")
            self.close(opener(SECRET))

    def test_without_options_no_secret_is_given(self):
        address, size = self.buffer(hash="siphash", secret=SECRET)
        self.close(self.create(hash="siphash", secret=SECRET))
        self.openers(address, size)
        self.fails("BFS_ESECRET", LIBRARY.bfs_open, self.path, bfs.READ, None)
        self.fails("BFS_ESECRET", LIBRARY.bfs_open_memory, address, size, bfs.READ, None)
        self.fails("BFS_ESECRET", LIBRARY.bfs_open, self.path + b".range", bfs.READ, bfs.options(range=(0, 0)))

    def test_a_secret_for_a_filter_that_has_none(self):
        self.close(self.create())
        for opener in self.openers(*self.buffer()):
            self.close(opener(None))
            self.refused(opener, SECRET, b"has none")
        address, size = self.buffer(flags=bfs.BARE)
        self.fails("BFS_ESECRET", LIBRARY.bfs_open_memory, address, size, bfs.READ | bfs.BARE, bfs.options(secret=SECRET))

    def test_what_can_not_be_made(self):
        for code, given in (("BFS_ESECRET", {"hash": "siphash"}), ("BFS_ESECRET", {"secret": SECRET}),
                            ("BFS_ESECRET", {"hash": "external", "secret": SECRET}),
                            ("BFS_EINVAL", {"hash": "siphash", "secret": SECRET, "seed": 0}),
                            ("BFS_EINVAL", {"hash": "external", "seed": 0})):
            with self.subTest(given=given):
                self.fails(code, LIBRARY.bfs_create, self.path, 0, bfs.options(capacity=10, **given))
        for secret in (None, SECRET):
            options, error = bfs.options(capacity=10, hash="siphash", secret=secret), bfs.new_error()
            self.assertEqual(LIBRARY.bfs_format(None, 0, bfs.BARE, options, None, byref(error)), CODES["BFS_EINVAL"])
            self.assertIn(b"bare", error.message)

    def test_a_file_like_one_with_a_secret(self):
        self.close(self.create(hash="siphash", secret=SECRET))
        for secret in (None, OTHERS[0]):
            self.fails("BFS_ESECRET", LIBRARY.bfs_create, self.path + b"2", 0, bfs.options(like=self.path, secret=secret))
        self.close(bfs.create(LIBRARY, self.path + b"2", like=self.path, secret=SECRET))
        self.fails("BFS_ESECRET", LIBRARY.bfs_open, self.path + b"2", bfs.READ, None)
        self.close(bfs.open_path(LIBRARY, self.path + b"2", secret=SECRET))

    def test_the_caller_s_secret_is_copied(self):
        block = ctypes.create_string_buffer(SECRET, 16)
        options = bfs.options(capacity=100, hash="siphash")
        options.secret, options.secret_bytes = ctypes.cast(block, ctypes.c_void_p), 16
        handle = bfs.call(LIBRARY.bfs_create, self.path, 0, options)
        ctypes.memset(block, 0, 16)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        digest = ctypes.c_uint64()
        self.assertEqual(LIBRARY.bfs_digest(handle, b"k", 1, byref(digest)), 0)
        self.assertEqual(digest.value, reader.siphash(b"k", SECRET))
        self.close(handle)

    def test_every_call_has_the_digest_that_siphash_gives(self):
        handle = self.create(hash="siphash", secret=SECRET, fpr=1e-6)
        keys = [b"x" * length for length in range(40)] + [b"key %d" % i for i in range(500)]
        digests = [reader.siphash(key, SECRET) for key in keys]
        for key, expected in zip(keys, digests):
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(handle, key, len(key), byref(digest)), 0)
            self.assertEqual(digest.value, expected)
        half = len(keys) // 2
        self.assertEqual(LIBRARY.add_digests(handle, (ctypes.c_uint64 * half)(*digests[:half]), half), half)
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

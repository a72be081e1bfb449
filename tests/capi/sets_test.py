"""bfs_intersect and bfs_compare, and clearing by bfs_create, as a binding uses them.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import math
import os
import unittest
from ctypes import byref

from support import CODES, COUNT, EINVAL, LIBRARY, Case, bfs

SEED = 7


class Sets(Case):
    def make(self, name, first, end, **given):
        path = self.folder + b"/" + name
        handle = self.create(path, **{"seed": SEED, **given})
        for i in range(first, end):
            key = b"key-%d" % i
            self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
        return handle

    def has(self, handle, first, end):
        keys = [b"key-%d" % i for i in range(first, end)]
        return sum(LIBRARY.bfs_contains(handle, key, len(key)) for key in keys)

    def refused(self, code, function, *arguments, **given):
        with self.assertRaises(bfs.CodeError) as raised:
            function(LIBRARY, *arguments, **given)
        self.assertEqual(raised.exception.code, CODES[code], raised.exception.message)
        self.assertNotEqual(raised.exception.message, b"")
        return raised.exception.message

    def test_an_intersection_has_what_all_filters_have(self):
        third = COUNT // 3
        one, other = self.make(b"one", 0, 2 * third), self.make(b"other", third, 3 * third)
        bfs.intersect(LIBRARY, [one, other], self.path, mode=0o640)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)
        both = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(self.has(both, third, 2 * third), third)
        self.assertLess(self.has(both, 0, third), third // 10)
        stats = bfs.statistics(LIBRARY, both, bfs.STATS_FILL)
        self.assertAlmostEqual(stats.keys_added, stats.estimated_keys, delta=1)
        self.assertEqual((stats.capacity, stats.fpr), (COUNT, 0.01))
        self.close(both)
        self.refused("BFS_EEXIST", bfs.intersect, [one, other], self.path)
        bfs.intersect(LIBRARY, [one], self.path, bfs.REPLACE | bfs.FILLING)
        again = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(LIBRARY.bfs_health(again), CODES["BFS_EFILLING"])
        self.close(again)

    def test_a_comparison_tells_what_both_have(self):
        half = COUNT // 2
        one, other = self.make(b"one", 0, COUNT), self.make(b"other", half, COUNT + half)
        found = bfs.compare(LIBRARY, one, other)
        self.assertEqual((found.differs, found.comparable, found.equal, found.some_in_both), (0, 1, 0, 1))
        for interval, truth in ((found.keys_a, COUNT), (found.keys_b, COUNT), (found.keys_either, COUNT + half),
                                (found.keys_both, half), (found.jaccard, 1 / 3)):
            # Twice the interval: this is one pair, and must not fail by chance.
            self.assertLess(abs(interval.estimate - truth), interval.high - interval.low + 1)
            self.assertTrue(interval.low < interval.estimate < interval.high)
        self.assertEqual(found.set_bits_a, bfs.statistics(LIBRARY, one, bfs.STATS_FILL).set_bits)
        self.assertEqual(found.num_bits, bfs.statistics(LIBRARY, one).num_bits)
        same = bfs.compare(LIBRARY, one, one)
        self.assertEqual((same.equal, same.a_in_b, same.b_in_a, same.set_bits_both), (1, 1, 1, same.set_bits_a))
        part = bfs.compare(LIBRARY, self.make(b"part", 0, half), one)
        self.assertEqual((part.equal, part.a_in_b, part.b_in_a), (0, 1, 0))

    def test_each_difference_has_its_bit(self):
        shape = {"num_bits": 51200, "num_probes": 5, "capacity": 0, "fpr": 0}
        one = self.make(b"one", 0, 100, **shape)
        for bit, change in ((bfs.DIFFERS_LAYOUT, {"layout": "classic"}), (bfs.DIFFERS_SEED, {"seed": 8}),
                            (bfs.DIFFERS_NUM_PROBES, {"num_probes": 6}), (bfs.DIFFERS_NUM_BITS, {"num_bits": 51200 + 512})):
            other = self.make(b"other", 0, 100, **{**shape, **change})
            found = bfs.compare(LIBRARY, one, other)
            self.assertEqual((found.differs, found.comparable, found.keys_both.high), (bit, 0, 0))
            self.assertAlmostEqual(found.keys_b.estimate, 100, delta=10)
            self.refused("BFS_EMISMATCH", bfs.intersect, [one, other], self.path)
            self.close(other)
            os.unlink(self.folder + b"/other")
        folded = bfs.compare(LIBRARY, one, self.make(b"double", 0, 100, **{**shape, "num_bits": 102400}))
        self.assertEqual((folded.differs, folded.comparable, folded.equal, folded.a_in_b, folded.num_bits),
                         (bfs.DIFFERS_NUM_BITS, 1, 0, 1, 51200))
        with_secret = [self.create(self.folder + b"/secret%d" % i, hash="siphash", secret=bytes([i] * 16)) for i in range(2)]
        self.assertEqual(bfs.compare(LIBRARY, *with_secret).differs, bfs.DIFFERS_SECRET)
        self.assertTrue(bfs.compare(LIBRARY, one, with_secret[0]).differs & bfs.DIFFERS_HASH)

    def test_a_full_filter_sets_no_bound(self):
        shape = {"num_bits": 512, "num_probes": 5, "capacity": 0, "fpr": 0}
        found = bfs.compare(LIBRARY, self.make(b"full", 0, 5000, **shape), self.make(b"one", 0, 10, **shape))
        self.assertTrue(math.isinf(found.keys_either.high))
        self.assertEqual((found.keys_both.low, found.some_in_both), (0, 0))
        self.assertLess(found.keys_both.high, 20)

    def test_wrong_arguments_are_refused_and_nothing_appears(self):
        one = self.make(b"one", 0, 10)
        found = bfs.Comparison(struct_bytes=ctypes.sizeof(bfs.Comparison))
        for a, b, out in ((None, one, found), (one, None, found), (one, one, None)):
            error = bfs.new_error()
            self.assertEqual(LIBRARY.bfs_compare(a, b, byref(out) if out else None, byref(error)), EINVAL)
            self.assertNotEqual(error.message, b"")
        for size in (0, ctypes.sizeof(bfs.Comparison) - 1, 4097):
            found.struct_bytes = size
            self.assertEqual(LIBRARY.bfs_compare(one, one, byref(found), None), EINVAL)
        self.assertEqual(bytes(found)[4:], bytes(ctypes.sizeof(found) - 4))
        self.refused("BFS_EINVAL", bfs.intersect, [], self.path)
        self.refused("BFS_EINVAL", bfs.intersect, [one, None], self.path)
        self.refused("BFS_EINVAL", bfs.intersect, [one], None)
        self.refused("BFS_EINVAL", bfs.intersect, [one], self.path, fpr=0.1)
        self.refused("BFS_EINVAL", bfs.intersect, [one], self.folder + b"/one", bfs.REPLACE)
        self.assertEqual(LIBRARY.bfs_intersect(None, 1, self.path, 0, None, None), EINVAL)
        array = (ctypes.c_void_p * 1)(one)
        self.assertEqual(LIBRARY.bfs_intersect(array, 2**61, self.path, 0, None, None), EINVAL)
        taken = bfs.ANY_FILESYSTEM | bfs.REPLACE | bfs.FILLING
        for bit in (1 << i for i in range(64)):
            if not bit & taken:
                self.assertIn(b"bfs_intersect: does not take", self.refused("BFS_EINVAL", bfs.intersect, [one], self.path, bit))
        self.assertEqual(os.listdir(self.folder), [b"one"])

    def test_a_filter_is_cleared_by_one_like_it(self):
        handle = self.make(b"filter.bf", 0, 100, note=b"mine")
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 2, 3), None), 0)
        cleared = bfs.create(LIBRARY, self.path, bfs.REPLACE, like=self.path)
        self.assertEqual(LIBRARY.bfs_health(handle), CODES["BFS_ESUPERSEDED"])
        self.assertEqual((self.has(handle, 0, 200), self.has(cleared, 0, 200)), (200, 0))
        self.assertEqual(bfs.list_marks(LIBRARY, cleared), [])
        before, after = bfs.statistics(LIBRARY, handle), bfs.statistics(LIBRARY, cleared)
        for field in ("layout", "hash", "num_probes", "num_bits", "capacity", "fpr", "seed"):
            self.assertEqual(getattr(before, field), getattr(after, field), field)
        self.close(cleared)


if __name__ == "__main__":
    unittest.main(verbosity=2)

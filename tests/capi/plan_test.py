"""bfs_plan: its numbers compared with exact sums in whole fractions, with the textbook's formulas, with filters that are made of
them, and with simulated lookups.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import fractions
import math
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import bfstore_header

HEADER, LIBRARY = sys.argv.pop(2), bfs.load(sys.argv.pop(1))
CODES, CONSTANTS = bfstore_header.codes(HEADER), bfstore_header.constants(HEADER)
LN2 = math.log(2)


def exact_rate(n, m, k):
    """Returns the rate of k independent probes of m bits after n keys, without rounding: E[(set / m)^k] over the distribution
    of the number of set bits (Bose et al. 2008 give it with Stirling numbers; this is the same, throw by throw)."""
    ways = [1] + [0] * m  # [i]: of m^throws, how many leave i bits set
    for _ in range(n * k):
        ways = [i * ways[i] + ((m - i + 1) * ways[i - 1] if i > 0 else 0) for i in range(m + 1)]
    return fractions.Fraction(sum(count * i**k for i, count in enumerate(ways)), m**(n * k) * m**k)


def bloom(n, m, k):
    return (-math.expm1(-k * n / m))**k


class Plan(unittest.TestCase):
    def refused(self, code, *words, **numbers):
        with self.assertRaises(bfs.CodeError) as caught:
            bfs.plan(LIBRARY, **numbers)
        self.assertEqual(caught.exception.code, CODES[code])
        for word in words:
            self.assertIn(word, caught.exception.message.decode())

    def test_the_exact_sum_itself(self):
        self.assertEqual(exact_rate(1, 2, 1), fractions.Fraction(1, 2))
        self.assertEqual(exact_rate(1, 2, 2), fractions.Fraction(5, 8))  # half the time one bit, half the time both
        self.assertEqual(exact_rate(1, 1, 3), 1)

    def test_tiny_filters_are_never_promised_less_than_the_exact_rate_and_the_textbook_does(self):
        for n, m, k in [(1, 8, 2), (3, 16, 3), (5, 50, 4), (20, 124, 4), (10, 100, 7), (30, 300, 6)]:
            plan = bfs.plan(LIBRARY, layout=bfs.LAYOUTS["classic"], capacity=n, num_bits=m, num_probes=k)
            exact = float(exact_rate(n, m, k))
            with self.subTest(n=n, m=m, k=k):
                self.assertGreater(plan.fpr, exact * (1 - 2e-6))
                self.assertLess(plan.fpr, exact * 1.05)
                self.assertAlmostEqual(plan.bloom_fpr, bloom(n, m, k), delta=1e-12)
                self.assertLess(plan.bloom_fpr, exact)

    def test_large_classic_filters_are_the_textbooks(self):
        for n in (10**6, 10**9, 2**36):
            for k in (3, 7, 10):
                plan = bfs.plan(LIBRARY, layout=bfs.LAYOUTS["classic"], capacity=n, fpr=2.0**-k)
                with self.subTest(n=n, k=k):
                    self.assertEqual(plan.num_probes, k)
                    self.assertAlmostEqual(plan.num_bits / (n * k / LN2), 1, delta=1e-4)
                    self.assertAlmostEqual(plan.bits_per_key * LN2, k, delta=1e-3)
                    self.assertAlmostEqual(plan.fpr / plan.bloom_fpr, 1, delta=1e-3)
                    self.assertAlmostEqual(plan.fill_ratio, 0.5, delta=1e-3)

    def test_the_rate_of_blocked_is_above_the_textbooks_at_every_size(self):
        for n in (10**3, 10**6, 10**9):
            for p in (0.05, 0.001):
                plan = bfs.plan(LIBRARY, capacity=n, fpr=p)
                self.assertGreater(plan.fpr, plan.bloom_fpr * 1.01)

    def test_a_filter_made_of_a_plan_has_its_numbers_and_its_file_has_its_bytes(self):
        with tempfile.TemporaryDirectory(prefix="bfstore-plan-") as folder:
            for name, layout in bfs.LASTING_LAYOUTS.items():
                for number, given in enumerate([{"capacity": 1000}, {"capacity": 2_000_000, "fpr": 0.001},
                                                {"max_bytes": 3_000_000, "fpr": 0.01},
                                                {"capacity": 50, "bits_per_key": 12.0}]):
                    plan = bfs.plan(LIBRARY, layout=layout, **given)
                    path = os.path.join(folder, f"{name}{number}").encode()
                    options = bfs.options(capacity=plan.capacity, layout=layout, num_bits=plan.num_bits,
                                          num_probes=plan.num_probes)
                    handle = bfs.call(LIBRARY.bfs_create, path, 0, ctypes.byref(options))
                    stats = bfs.statistics(LIBRARY, handle)
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    with self.subTest(layout=name, given=given):
                        self.assertEqual((stats.num_bits, stats.num_probes, stats.capacity, stats.body_bytes),
                                         (plan.num_bits, plan.num_probes, plan.capacity, plan.body_bytes))
                        self.assertAlmostEqual(stats.fpr / plan.fpr, 1, delta=1e-9)
                        self.assertEqual(os.path.getsize(path), plan.file_bytes)
                        self.assertLessEqual(plan.file_bytes, given.get("max_bytes", 2**63))
                        self.assertAlmostEqual(plan.bits_per_key, plan.body_bytes * 8 / plan.capacity, delta=1e-9)

    def test_bfs_create_with_the_same_numbers_makes_the_same_filter(self):
        for layout in bfs.LASTING_LAYOUTS.values():
            for given in [{"capacity": 1000, "fpr": 0.02}, {"capacity": 77_777, "bits_per_key": 11.0},
                          {"num_bits": 100_000, "num_probes": 5}]:
                plan = bfs.plan(LIBRARY, layout=layout, **given)
                needed = []
                for numbers in (given, {"num_bits": plan.num_bits, "num_probes": plan.num_probes, "capacity": plan.capacity}):
                    options = bfs.options(**{"capacity": 0, "layout": layout, **numbers})
                    needed.append(bfs.bytes_needed(LIBRARY, 0, options))
                self.assertEqual(needed[0], needed[1])

    def test_the_lines_and_pages_of_a_lookup_are_what_a_simulation_counts(self):
        chance = random.Random(5)
        for m, k in [(1 << 14, 7), (1 << 18, 7), (1 << 24, 10)]:
            plan = bfs.plan(LIBRARY, layout=bfs.LAYOUTS["classic"], num_bits=m, num_probes=k)
            probes = [[chance.randrange(m) for _ in range(k)] for _ in range(4000)]
            for planned, bits in [(plan.cache_lines, 512), (plan.page_faults, 32768)]:
                counted = sum(len({probe // bits for probe in key}) for key in probes) / len(probes)
                self.assertAlmostEqual(planned, counted, delta=0.03 * k)
        blocked = bfs.plan(LIBRARY, capacity=10**9)
        self.assertEqual((blocked.cache_lines, blocked.page_faults), (1, 1))

    def test_abilities_are_those_of_the_layout(self):
        for layout in ("blocked", "classic"):
            plan = bfs.plan(LIBRARY, layout=bfs.LAYOUTS[layout], capacity=10)
            can = {name for name in ("ADD", "REMOVE", "MERGE", "FOLD", "GROW", "EXPIRE", "INTERSECT")
                   if plan.abilities & CONSTANTS["BFS_CAN_" + name]}
            self.assertEqual(can, {"ADD", "MERGE", "FOLD", "INTERSECT"})

    def test_what_is_missing_contradictory_or_impossible_is_named(self):
        self.refused("BFS_EINVAL", "nothing was given")
        self.refused("BFS_EINVAL", "only fpr", fpr=0.01)
        self.refused("BFS_EINVAL", "num_bits and max_bytes", num_bits=1, max_bytes=1)
        self.refused("BFS_EINVAL", "unknown layout 999", layout=999, capacity=1)
        self.refused("BFS_EINVAL", "unknown layout", layout=2**32 - 1, capacity=1)
        self.refused("BFS_EINVAL", "reserved", capacity=1, reserved=1)
        self.refused("BFS_EINVAL", "false-positive rate", capacity=1, fpr=float("nan"))
        self.refused("BFS_ESIZING", "100 keys in 512 bits", capacity=100, num_bits=512, fpr=0.001)
        result = bfs.PlanResult(struct_bytes=ctypes.sizeof(bfs.PlanResult))
        self.assertEqual(LIBRARY.bfs_plan(None, ctypes.byref(result), None), CODES["BFS_EINVAL"])
        self.assertEqual(LIBRARY.bfs_plan(ctypes.byref(bfs.PlanRequest()), None, None), CODES["BFS_EINVAL"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

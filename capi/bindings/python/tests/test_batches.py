"""Every form of many keys gives the answers of the single calls."""

import array
import ctypes
import itertools
import mmap
import random
import struct
import unittest

import arrow
import bfstore
from case import Case, needs_numpy, numpy

KEYS = [b"", b"alice", "bob", "Zürich".encode(), b"a\x00b", b"\x00", b"k" * 12, b"k" * 13, b"x" * 1000] + [b"key %d" % i for i in range(100)]
KEYS = [key.encode() if isinstance(key, str) else key for key in KEYS]


class Batch(Case):
    def setUp(self):
        super().setUp()
        self.filter = self.create()

    def check(self, keys, expected, **how):
        """Adds half of the keys one by one; looks up and adds all in the form `keys`. expected: bytes, None for a
        null."""
        there = [key for i, key in enumerate(expected) if key is not None and i % 2 == 0]
        for key in there:
            self.filter.add(key)
        answers = [key is not None and key in self.filter for key in expected]
        self.assertIn(True, answers)
        self.assertEqual(list(self.filter.contains_many(keys, **how)), [int(one) for one in answers])
        self.assertEqual(self.filter.select(keys, **how).tolist(), [i for i, one in enumerate(answers) if one])
        digests = [0 if key is None else self.filter.digest(key) for key in expected]
        self.assertEqual(self.filter.digest_many(keys, **how).tolist(), digests)
        self.filter.add_many(keys, **how)
        for key in expected:
            if key is not None:
                self.assertIn(key, self.filter)
        if None in expected:
            self.assertFalse(all(self.filter.contains_many(keys, **how)))


class Lists(Batch):
    def test_lists_tuples_sets_and_generators(self):
        self.check(KEYS, KEYS)
        self.check(tuple(KEYS), KEYS)
        self.assertTrue(all(self.filter.contains_many(set(KEYS))))
        self.assertTrue(all(self.filter.contains_many(key for key in KEYS)))
        self.assertTrue(all(self.filter.contains_many(dict.fromkeys(KEYS))))

    def test_every_kind_of_key_in_one_list(self):
        keys = ["text", b"bytes", 5, bytearray(b"array"), memoryview(b"view"), -1, "", "Zürich", bytearray(), 2**64 - 1]
        expected = [b"text", b"bytes", struct.pack("<q", 5), b"array", b"view", b"\xff" * 8, b"", "Zürich".encode(), b"", b"\xff" * 8]
        self.check(keys, expected)
        self.check(keys[::-1] * 10, expected[::-1] * 10)

    def test_no_keys(self):
        for none in ([], (), set(), array.array("Q"), arrow.text([])):
            self.assertEqual(self.filter.add_many(none), 0)
            self.assertEqual(self.filter.contains_many(none), bytearray())
            self.assertEqual(self.filter.select(none).tolist(), [])
            self.assertEqual(self.filter.digest_many(none).tolist(), [])

    def test_how_many_were_new(self):
        self.assertEqual(self.filter.add_many([b"a", b"b"]), 2)
        self.assertEqual(self.filter.add_many([b"a", b"c"]), 1)

    def test_update_takes_several_lists_as_a_set_does(self):
        self.assertIsNone(self.filter.update(["a", b"b"], {5}, (key for key in "cd"), arrow.text([b"e", None])))
        self.assertEqual(bytes(self.filter.contains_many(["a", "b", 5, "c", "d", "e", "f"])), b"\1\1\1\1\1\1\0")
        self.filter.update()
        for wrong in ("text", b"bytes", 5, None):
            with self.assertRaises(TypeError):
                self.filter.update(wrong)

    def test_the_mask_chooses_from_the_keys(self):
        self.filter.add_many(["a", "c"])
        self.assertEqual(list(itertools.compress("abcd", self.filter.contains_many(list("abcd")))), ["a", "c"])

    def test_a_key_that_is_none_changes_nothing(self):
        for wrong, error in ((None, TypeError), (1.5, TypeError), (True, TypeError), ("\ud800", UnicodeEncodeError), (2**64, OverflowError)):
            with self.assertRaises(error):
                self.filter.add_many([*KEYS, wrong])
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)

    def test_what_is_no_batch_is_refused(self):
        for wrong in ("text", b"bytes", bytearray(b"bytes"), 5, None, 1.5):
            for call in (self.filter.add_many, self.filter.contains_many, self.filter.select, self.filter.digest_many):
                with self.subTest(wrong), self.assertRaises(TypeError):
                    call(wrong)
        for wrong in (["a"], arrow.text([b"a"]), {"a"}):
            with self.assertRaisesRegex(TypeError, "width"):
                self.filter.add_many(wrong, width=1)
        with self.assertRaises(ZeroDivisionError):
            self.filter.add_many(1 // (i - 3) for i in range(9))

    def test_an_iterator_is_added_in_pieces(self):
        # Its keys need not be in memory at once: the first ones are in the filter while the last ones are made.
        def keys():
            for number in range(200_000):
                if number == 199_999:
                    self.assertGreater(self.filter.stats().keys_added, 10_000)
                yield b"%d" % number
        self.assertGreater(self.filter.add_many(keys()), 20_000)
        self.assertTrue(all(self.filter.contains_many([b"%d" % number for number in range(200_000)])))
        self.assertEqual(self.filter.add_many(iter(())), 0)
        digests = list(range(0, 2**63, 2**45))
        self.filter.add_digests(iter(digests))
        self.assertTrue(all(self.filter.contains_digests(digests)))

    def test_an_iterator_that_closes_the_filter(self):
        def keys():
            yield b"a"
            self.filter.close()
            yield b"b"
        with self.assertRaises(bfstore.ClosedError):
            self.filter.add_many(keys())


class Buffers(Batch):
    def test_keys_of_one_width(self):
        keys = [b"%08d" % i for i in range(200)]
        data = b"".join(keys)
        memory = mmap.mmap(-1, len(data))
        self.addCleanup(memory.close)
        memory[:] = data
        for buffer in (data, bytearray(data), memoryview(data), memory, array.array("B", data), (ctypes.c_ubyte * len(data))(*data)):
            self.check(buffer, keys, width=8)

    def test_rows_of_bytes(self):
        keys = [b"%08d" % i for i in range(200)]
        self.check(memoryview(b"".join(keys)).cast("B", (200, 8)), keys)

    def test_rows_with_gaps(self):
        keys = [b"%08d" % i for i in range(200)]
        self.check(memoryview(b"".join(keys)).cast("B", (200, 8))[::2], keys[::2])

    def test_integers_of_64_bits_are_keys_of_8_bytes(self):
        numbers = [0, 1, -1, 2**63 - 1, -2**63, *range(100, 200)]
        expected = [struct.pack("<q", number) for number in numbers]
        self.check(array.array("q", numbers), expected)
        self.check(array.array("l", numbers), expected)
        self.check(memoryview(array.array("q", numbers))[::3], expected[::3])
        self.assertTrue(all(number in self.filter for number in numbers))

    def test_digests(self):
        digests = array.array("Q", [self.filter.digest(key) for key in KEYS])
        self.filter.add_digests(digests[:50])
        expected = [int(key in self.filter) for key in KEYS]
        self.assertIn(0, expected)
        for form in (digests, list(digests), memoryview(digests), tuple(digests), iter(digests),
                     arrow.Column("L", [None, digests.tobytes()], len(digests))):
            self.assertEqual(list(self.filter.contains_digests(form)), expected)
        self.assertEqual(self.filter.select_digests(digests).tolist(), [i for i, one in enumerate(expected) if one])
        self.assertEqual(self.filter.add_digests(digests[:50]), 0)

    def test_buffers_that_are_no_keys_are_refused(self):
        data = bytes(64)
        for wrong, how, error in (
                (data, {}, TypeError), (data, {"width": 7}, ValueError), (data, {"width": -8}, ValueError),
                (array.array("i", [1]), {}, TypeError), (array.array("d", [1]), {}, TypeError), (array.array("f", [1, 2]), {}, TypeError),
                (array.array("q", [1]), {"width": 4}, TypeError), (array.array("b", b"abcd"), {"width": 4}, TypeError),
                (memoryview(data).cast("B", (8, 8)), {"width": 4}, ValueError), (memoryview(data).cast("B", (2, 4, 8)), {}, TypeError),
                (memoryview(array.array("q", [1, 2, 3]))[::-1], {}, ValueError), (memoryview(data)[::2], {"width": 4}, ValueError),
                (memoryview(data).cast("?"), {}, TypeError), ((ctypes.c_int64.__ctype_be__ * 2)(1, 2), {}, TypeError)):
            with self.subTest(wrong, how=how), self.assertRaises(error):
                self.filter.add_many(wrong, **how)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)

    def test_buffers_that_are_no_digests_are_refused(self):
        numbers = array.array("Q", range(9))
        unaligned = memoryview(b"." + bytes(80))[1:73].cast("Q")
        for wrong, error in ((array.array("q", [1]), TypeError), (array.array("I", [1]), TypeError), (bytes(8), TypeError),
                             (memoryview(numbers)[::2], ValueError), (unaligned, ValueError), ([-1], OverflowError),
                             ([2**64], OverflowError), ([1.0], TypeError), (["1"], TypeError), ([True], TypeError), ("1", TypeError)):
            with self.subTest(wrong), self.assertRaises(error):
                self.filter.add_digests(wrong)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)


@needs_numpy
class NumPy(Batch):
    def test_arrays_of_keys(self):
        numbers = [0, 1, -1, 2**63 - 1, -2**63, *range(100, 200)]
        self.check(numpy.array(numbers), [struct.pack("<q", number) for number in numbers])
        rows = numpy.frombuffer(b"".join(b"%08d" % i for i in range(200)), numpy.uint8).reshape(200, 8)
        self.check(rows, [b"%08d" % i for i in range(200)])
        self.check(numpy.array(["alice", "bob", None, "zoe"][:2] + ["zoe"], object), [b"alice", b"bob", b"zoe"])

    def test_arrays_whose_items_are_no_keys_are_refused(self):
        days = numpy.array(["2026-11-26", "2026-11-27"], "datetime64[D]")
        masked = numpy.ma.array([1, 2, 3], mask=[0, 1, 0])
        for wrong in (days, list(days), days - days[0], numpy.array([1.0]), masked, masked.astype(numpy.uint64), list(masked)):
            for call in (self.filter.add_many, self.filter.contains_many, self.filter.select, self.filter.digest_many):
                with self.subTest(repr(wrong)), self.assertRaises((TypeError, ValueError)):
                    call(wrong)
        for call in (self.filter.add_digests, self.filter.contains_digests):
            with self.assertRaisesRegex(TypeError, "compressed"):
                call(masked.astype(numpy.uint64))
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)
        self.filter.add_many(masked.compressed())
        self.assertEqual(list(self.filter.contains_many([1, 2, 3])), [1, 0, 1])


class Arrow(Batch):
    def check_column(self, column, expected):
        self.check(column, expected)
        for one in getattr(column, "columns", []):
            self.assertEqual(one.out, 0, "an array was not given back")

    def test_text_and_binary(self):
        for format_ in "uzUZ":
            self.check_column(arrow.text(KEYS, format_), KEYS)

    def test_nulls_are_neither_added_nor_present(self):
        keys = [None if i % 5 == 1 else key for i, key in enumerate(KEYS)]
        for format_ in "uU":
            self.check_column(arrow.text(keys, format_), keys)
        self.assertNotIn(b"null", self.filter)
        self.check_column(arrow.text(keys, null_count=-1), keys)  # -1: not counted yet

    def test_a_slice(self):
        keys = [None if i % 5 == 1 else key for i, key in enumerate(KEYS)]
        self.check_column(arrow.text(keys, "u", offset=13, length=40), keys[13:53])
        self.check_column(arrow.text(keys, "Z", offset=13, length=40), keys[13:53])
        numbers = b"".join(struct.pack("<q", i) for i in range(100))
        self.check_column(arrow.Column("l", [None, numbers], 40, offset=13), [struct.pack("<q", i) for i in range(13, 53)])

    def test_views(self):
        keys = [None if i % 5 == 1 else key for i, key in enumerate(KEYS)]
        self.check_column(arrow.views(KEYS), KEYS)
        self.check_column(arrow.views(keys, "vz"), keys)

    def test_a_fixed_width_and_integers(self):
        keys = [b"%08d" % i for i in range(100)]
        self.check_column(arrow.Column("w:8", [None, b"".join(keys)], 100), keys)
        numbers = [struct.pack("<q", i) for i in range(100)]
        for format_ in "lL":
            self.check_column(arrow.Column(format_, [None, b"".join(numbers)], 100), numbers)

    def test_a_stream_of_chunks(self):
        keys = [None if i % 5 == 1 else key for i, key in enumerate(KEYS)]
        self.check_column(arrow.Chunks([arrow.text(keys[:30]), arrow.text([]), arrow.text(keys[30:31]), arrow.text(keys[31:])]), keys)
        self.assertEqual(self.filter.contains_many(arrow.Chunks([arrow.text([])])), bytearray())

    def test_a_stream_that_fails(self):
        column = arrow.text(KEYS)
        with self.assertRaisesRegex(OSError, "the disk is gone"):
            self.filter.add_many(arrow.Chunks([column], failure=5))
        self.assertEqual(column.out, 0)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)

    def test_other_types_are_refused_with_words(self):
        for format_ in ("i", "g", "+s", "n", "+l", "tdD", "b", "e", ""):
            with self.subTest(format_), self.assertRaisesRegex(TypeError, "column"):
                self.filter.add_many(arrow.Column(format_, [None, bytes(64)], 2))
        with self.assertRaisesRegex(TypeError, "dictionary"):
            self.filter.add_many(arrow.Column("u", [None, bytes(64), b""], 2, dictionary=1))
        for format_ in ("l", "u"):
            with self.assertRaisesRegex(TypeError, "uint64"):
                self.filter.add_digests(arrow.Column(format_, [None, bytes(64)], 2))

    def test_an_unsound_array_adds_nothing_and_reads_nothing(self):
        offsets = struct.pack
        for column in (
                arrow.Column("u", [None, offsets("3i", 0, 5, 3), b"abcde"], 2), arrow.Column("u", [None, offsets("3i", 0, 3, -1), b"abc"], 2),
                arrow.Column("u", [None, offsets("3i", -2, 1, 3), b"abc"], 2), arrow.Column("U", [None, offsets("3q", 0, 9, 3), b"abc"], 2),
                arrow.Column("u", [None, None, b"abc"], 2), arrow.Column("u", [None, offsets("3i", 0, 1, 2)], 2),
                arrow.Column("u", [None, offsets("3i", 0, 1, 2), None], 2), arrow.Column("u", [None, bytes(64), b""], -1),
                arrow.Column("u", [None, bytes(64), b""], 2, offset=-1), arrow.Column("w:0", [None, bytes(64)], 2),
                arrow.Column("w:-4", [None, bytes(64)], 2), arrow.Column("w:8", [None, None], 2), arrow.Column("l", [None], 2),
                arrow.views(KEYS, lengths=[3, 3])):
            with self.subTest(column.format), self.assertRaises(ValueError):
                self.filter.add_many(column)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)

    def test_what_is_no_capsule_is_refused(self):
        class Wrong:
            def __init__(self, what):
                self.what = what

            def __arrow_c_array__(self, requested_schema=None):
                return self.what
        for wrong in (None, (), (1, 2), ("a", "b")):
            with self.subTest(wrong), self.assertRaises((TypeError, ValueError)):
                self.filter.add_many(Wrong(wrong))


class Millions(Case):
    def test_millions_of_keys_that_are_sorted_have_the_answers_of_fewer(self):
        count = 2**21 + 3
        digests = array.array("Q", random.Random(1).randbytes(8 * count))
        filter_ = self.create(capacity=40_000_000)
        filter_.add_digests(digests[:count // 2])
        parts = [digests[:count // 2], digests[count // 2:]]
        expected = b"".join(filter_.contains_digests(part) for part in parts)
        self.assertTrue(count // 2 <= sum(expected) < count)
        self.assertEqual(bytes(filter_.contains_digests(digests)), expected)
        self.assertEqual(filter_.select_digests(digests).tolist(), [i for i, maybe in enumerate(expected) if maybe])


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Every form of a batch of the C ABI gives the answers of the single calls; wrong arguments do nothing.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import random
import unittest
from ctypes import byref

import support
from support import COUNT, EINVAL, LIBRARY, answers_for, bfs, column, pointers

# The forms, with the arguments that replace their arrays if there are no keys.
FORMS_OF_NOTHING = {"many": (None, None), "fixed": (None, 8), "column32": (None, None), "column64": (None, None),
                    "digests": (None,)}


class Batches(support.Case):
    """Each form of a batch gives the answers of the single calls."""

    def setUp(self):
        super().setUp()
        self.present = [b"", b"\0", b"a\0b"] + [b"key %d" % i * (1 + i % 9) for i in range(COUNT - 3)]
        self.absent = [b"not %d" % i for i in range(COUNT)]
        self.asked = self.absent + self.present
        self.single = self.create(self.path + b".single", seed=1)
        self.fresh = sum(LIBRARY.bfs_add(self.single, key, len(key)) for key in self.present)
        self.expected = [LIBRARY.bfs_contains(self.single, key, len(key)) for key in self.asked]
        self.assertEqual(self.expected[COUNT:], [1] * COUNT)
        self.assertLess(sum(self.expected[:COUNT]), COUNT // 20)
        self.batch = self.create(seed=1)

    def check(self, form, *arguments):
        """Returns the form's answers, as bytes and as a selection vector."""
        contains, select = getattr(LIBRARY, "contains_" + form), getattr(LIBRARY, "select_" + form)
        answers = answers_for(len(self.asked))
        self.assertEqual(contains(self.batch, *arguments, len(self.asked), answers), sum(self.expected))
        self.assertEqual(list(answers), self.expected)
        indices = (ctypes.c_uint32 * len(self.asked))()
        self.assertEqual(select(self.batch, *arguments, len(self.asked), indices), sum(self.expected))
        self.assertEqual(indices[:sum(self.expected)], [i for i, maybe in enumerate(self.expected) if maybe])

    def check_count(self):
        self.assertEqual(bfs.statistics(LIBRARY, self.batch).keys_added, self.fresh)

    def test_pointers_and_lengths(self):
        keys, lengths = pointers(self.present)
        self.assertEqual(LIBRARY.add_many(self.batch, keys, lengths, COUNT), self.fresh)
        self.assertEqual(LIBRARY.add_many(self.batch, keys, lengths, COUNT), 0, "the second time nothing is new")
        self.check("many", *pointers(self.asked))
        self.check_count()

    def test_a_column_with_32_bit_offsets(self):
        self.assertEqual(LIBRARY.add_column32(self.batch, *column(self.present, "i"), COUNT), self.fresh)
        self.check("column32", *column(self.asked, "i"))
        self.check_count()

    def test_a_column_with_64_bit_offsets(self):
        self.assertEqual(LIBRARY.add_column64(self.batch, *column(self.present, "q"), COUNT), self.fresh)
        self.check("column64", *column(self.asked, "q"))
        self.check_count()

    def test_a_slice_of_a_column_whose_first_offset_is_not_zero(self):
        data, offsets = column([b"before"] + self.present + [b"behind"], "i")
        inner = ctypes.cast(ctypes.addressof(offsets) + 4, ctypes.POINTER(ctypes.c_int32))
        self.assertEqual(LIBRARY.add_column32(self.batch, data, inner, COUNT), self.fresh)
        self.check("column32", *column(self.asked, "i"))

    def test_digests(self):
        asked, digest = (ctypes.c_uint64 * len(self.asked))(), ctypes.c_uint64()
        for i, key in enumerate(self.asked):
            self.assertEqual(LIBRARY.bfs_digest(self.single, key, len(key), byref(digest)), 0)
            asked[i] = digest.value
        present = (ctypes.c_uint64 * COUNT)(*asked[COUNT:])
        self.assertEqual(LIBRARY.add_digests(self.batch, present, COUNT), self.fresh)
        self.check("digests", asked)
        self.check_count()

    def test_an_array_of_keys_of_equal_width(self):
        choose = random.Random(1)
        for width in (1, 4, 8, 16, 23):
            with self.subTest(width=width):
                path = self.path + b"%d" % width
                keys = [choose.randbytes(width) for _ in range(300)]
                one, other = self.create(path, seed=2), self.create(path + b".other", seed=2)
                fresh = sum(LIBRARY.bfs_add(one, key, width) for key in keys)
                self.assertEqual(LIBRARY.add_fixed(other, b"".join(keys), width, 300), fresh)
                asked, answers = [choose.randbytes(width) for _ in range(500)] + keys, answers_for(800)
                expected = [LIBRARY.bfs_contains(one, key, width) for key in asked]
                self.assertEqual(LIBRARY.contains_fixed(other, b"".join(asked), width, 800, answers), sum(expected))
                self.assertEqual(list(answers), expected)

    def test_batches_of_every_small_length_and_of_none(self):
        keys, lengths = pointers(self.present)
        for count in [*range(70), 127, 128, 129, 1000]:
            answers = answers_for(count + 1)
            self.assertEqual(LIBRARY.contains_many(self.single, keys, lengths, count, answers), count)
            self.assertEqual(list(answers), [1] * count + [7], "exactly count answers are written")

    def test_no_keys_need_no_memory(self):
        for form, nothing in FORMS_OF_NOTHING.items():
            with self.subTest(form=form):
                self.assertEqual(getattr(LIBRARY, "add_" + form)(self.batch, *nothing, 0), 0)
                self.assertEqual(getattr(LIBRARY, "contains_" + form)(self.batch, *nothing, 0, None), 0)
                self.assertEqual(getattr(LIBRARY, "select_" + form)(self.batch, *nothing, 0, None), 0)
        self.assertEqual(bfs.statistics(LIBRARY, self.batch).keys_added, 0)

    def test_an_empty_key_may_have_no_address(self):
        keys, lengths = (ctypes.c_char_p * 2)(None, b"x"), (ctypes.c_size_t * 2)(0, 1)
        self.assertEqual(LIBRARY.add_many(self.batch, keys, lengths, 2), 2)
        self.assertEqual(LIBRARY.bfs_contains(self.batch, None, 0), 1)

    def test_wrong_arguments_add_nothing_and_answer_maybe(self):
        good, offsets32 = column(self.present, "i")
        _, offsets64 = column(self.present, "q")
        keys, lengths = pointers(self.present)
        keys[COUNT - 1] = None  # with a length that is not 0
        offsets32[COUNT // 2] += 1000
        offsets64[0] = -1
        many = (LIBRARY.add_many, LIBRARY.contains_many, (keys, lengths))
        for add, contains, arguments in (
                many, (LIBRARY.add_many, LIBRARY.contains_many, (None, lengths)),
                (LIBRARY.add_many, LIBRARY.contains_many, (keys, None)),
                (LIBRARY.add_column32, LIBRARY.contains_column32, (good, offsets32)),
                (LIBRARY.add_column32, LIBRARY.contains_column32, (good, None)),
                (LIBRARY.add_column64, LIBRARY.contains_column64, (good, offsets64)),
                (LIBRARY.add_column64, LIBRARY.contains_column64, (None, column(self.present, "q")[1])),
                (LIBRARY.add_fixed, LIBRARY.contains_fixed, (None, 8)),
                (LIBRARY.add_digests, LIBRARY.contains_digests, (None,))):
            with self.subTest(add=add.__name__, arguments=[type(a).__name__ for a in arguments]):
                answers = answers_for(COUNT, 0)
                self.assertEqual(add(self.batch, *arguments, COUNT), EINVAL)
                self.assertEqual(contains(self.batch, *arguments, COUNT, answers), EINVAL)
                self.assertEqual(list(answers), [1] * COUNT)
                self.assertEqual(contains(self.batch, *arguments, COUNT, None), EINVAL)
                select = getattr(LIBRARY, contains.__name__.replace("bfs_", "").replace("contains", "select"))
                indices = (ctypes.c_uint32 * COUNT)()
                self.assertEqual(select(self.batch, *arguments, COUNT, indices), EINVAL)
                self.assertEqual(list(indices), list(range(COUNT)))
                self.assertEqual(select(self.batch, *arguments, COUNT, None), EINVAL)
        self.assertEqual(bfs.statistics(LIBRARY, self.batch, bfs.STATS_FILL).set_bits, 0)

    def test_a_count_that_no_array_can_have(self):
        """The call fails before it reads any item: the arrays here have four."""
        text, keys, lengths = b"x" * 64, (ctypes.c_char_p * 4)(), (ctypes.c_size_t * 4)()
        arrays = {"many": (keys, lengths), "fixed": (text, 1), "column32": (text, (ctypes.c_int32 * 5)()),
                  "column64": (text, (ctypes.c_int64 * 5)()), "digests": ((ctypes.c_uint64 * 4)(),)}
        for form, arguments in arrays.items():
            for count in (2**64 - 1, 2**64 - 2, 2**63, 2**62 if form != "fixed" else 2**63):
                with self.subTest(form=form, count=count):
                    self.assertEqual(getattr(LIBRARY, "add_" + form)(self.batch, *arguments, count), EINVAL)
                    answers, indices = answers_for(4), (ctypes.c_uint32 * 4)(9, 9, 9, 9)
                    self.assertEqual(getattr(LIBRARY, "contains_" + form)(self.batch, *arguments, count, answers), EINVAL)
                    self.assertEqual(getattr(LIBRARY, "select_" + form)(self.batch, *arguments, count, indices), EINVAL)
                    self.assertEqual((list(answers), list(indices)), ([7] * 4, [9] * 4), "where no answers can be")
        self.assertEqual(bfs.statistics(LIBRARY, self.batch).keys_added, 0)

    def test_an_offset_of_validity_that_no_bitmap_can_have(self):
        bitmap, answers = (ctypes.c_uint8 * 1)(255), answers_for(2)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, 2, (ctypes.c_uint64 * 2)(1, 2), validity=bitmap)
        keys.validity_offset = 2**64 - 1
        self.assertEqual(LIBRARY.bfs_add_keys(self.batch, ctypes.byref(keys)), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_keys(self.batch, ctypes.byref(keys), answers), EINVAL)
        self.assertEqual(list(answers), [1, 1])

    def test_scratch_is_used_for_millions_of_keys_and_left_alone_for_few(self):
        count = 3 * 2**20
        digests = (ctypes.c_uint64 * count)()
        ctypes.memmove(digests, random.Random(1).randbytes(8 * count), 8 * count)
        filter_ = self.create(self.path + b".large", capacity=40_000_000, hash=bfs.HASH_EXTERNAL)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, count // 2, digests)
        self.assertGreater(LIBRARY.bfs_add_keys(filter_, ctypes.byref(keys)), 0)
        keys.count = count
        plain, sorted_, few = answers_for(count), answers_for(count), answers_for(4)
        maybes = LIBRARY.bfs_contains_keys(filter_, ctypes.byref(keys), plain)
        self.assertTrue(count // 2 <= maybes < count)
        scratch = ctypes.create_string_buffer(12 * count + 2**23)
        keys.scratch, keys.scratch_bytes = ctypes.addressof(scratch), len(scratch)
        keys.count = 4
        self.assertEqual(LIBRARY.bfs_contains_keys(filter_, ctypes.byref(keys), few), 4)
        self.assertEqual(scratch.raw.count(0), len(scratch))
        keys.count = count
        self.assertEqual(LIBRARY.bfs_contains_keys(filter_, ctypes.byref(keys), sorted_), maybes)
        self.assertEqual(bytes(sorted_), bytes(plain))
        self.assertLess(scratch.raw.count(0), len(scratch) // 2)
        keys.scratch = None
        self.assertEqual(LIBRARY.bfs_contains_keys(filter_, ctypes.byref(keys), sorted_), EINVAL)
        self.assertEqual(bytes(sorted_), b"\1" * count)

    def test_the_bytes_of_a_null_are_not_read(self):
        text = ctypes.create_string_buffer(b"x")
        keys = (ctypes.c_void_p * 2)(ctypes.addressof(text), 8)  # nothing is at 8
        given = bfs.many_keys(bfs.KEYS_POINTERS, 2, keys, lengths=(ctypes.c_size_t * 2)(1, 100), validity=(ctypes.c_uint8 * 1)(1))
        answers, digests = answers_for(2), (ctypes.c_uint64 * 2)()
        self.assertEqual(LIBRARY.bfs_add_keys(self.batch, ctypes.byref(given)), 1)
        self.assertEqual(LIBRARY.bfs_contains_keys(self.batch, ctypes.byref(given), answers), 1)
        self.assertEqual(list(answers), [1, 0])
        self.assertEqual(LIBRARY.bfs_digest_keys(self.batch, ctypes.byref(given), digests), 2)

    def test_a_width_of_0_and_a_width_times_a_count_that_overflows(self):
        answers = answers_for(5, 0)
        self.assertEqual(LIBRARY.add_fixed(self.batch, b"x", 2**40, 2**40), EINVAL)
        self.assertEqual(LIBRARY.add_fixed(self.batch, b"x", 0, 5), EINVAL)
        self.assertEqual(LIBRARY.contains_fixed(self.batch, b"x", 0, 5, answers), EINVAL)
        self.assertEqual(list(answers), [1] * 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)

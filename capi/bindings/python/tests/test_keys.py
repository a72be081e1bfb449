"""The bytes of each key: programs in other languages have to agree with this table."""

import array
import json
import struct
import unittest

import arrow
import bfstore
from case import Case, ROOT, needs_numpy, numpy

MEBIBYTE = b"\x00\xff" * 2**19
# (the key in Python, its bytes)
SAME = [
    (b"", b""),
    ("", b""),
    ("alice", b"alice"),
    (b"\x00", b"\x00"),
    ("\x00", b"\x00"),
    ("a\x00b\x00", b"a\x00b\x00"),
    (MEBIBYTE, MEBIBYTE),
    ("ä" * 2**19, "ä".encode() * 2**19),
    ("Zürich", b"Z\xc3\xbcrich"),
    ("Zu\u0308rich", b"Zu\xcc\x88rich"),  # not normalized: another key
    ("\U0001f600", b"\xf0\x9f\x98\x80"),
    ("\ufeff", b"\xef\xbb\xbf"),
    (0, bytes(8)),
    (1, b"\x01" + bytes(7)),
    (0x0102030405060708, bytes([8, 7, 6, 5, 4, 3, 2, 1])),
    (-1, b"\xff" * 8),
    (-2**63, bytes(7) + b"\x80"),
    (2**64 - 1, b"\xff" * 8),
    (bytearray(b"bytes"), b"bytes"),
    (memoryview(b"some bytes")[5:], b"bytes"),
    (memoryview(b""), b""),
]


class OfText(str):
    pass


class OfBytes(bytes):
    pass


class OfNumber(int):
    pass


class Index:
    """An integer like those of NumPy."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class OneKey(Case):
    def setUp(self):
        super().setUp()
        self.filter = self.create(seed=0)

    def test_a_digest_is_xxh3_of_the_bytes(self):
        self.assertEqual(self.filter.digest(b""), 0x2D06800538D394C2)  # XXH3_64bits of nothing, seed 0

    def test_every_form_of_a_key_is_its_bytes(self):
        for said, same in [*SAME, (OfBytes(b"a\0"), b"a\0"), (OfText("ü"), "ü".encode()), (OfNumber(7), b"\x07" + bytes(7)), (Index(7), b"\x07" + bytes(7))]:
            with self.subTest(said if len(str(said)) < 99 else "long"):
                self.assertEqual(self.filter.digest(said), self.filter.digest(same))
                self.assertEqual(self.filter.digest_many([said]).tolist(), [self.filter.digest(same)])

    def test_different_bytes_are_different_keys(self):
        self.assertEqual(len({self.filter.digest(same) for _, same in SAME}), len({same for _, same in SAME}))

    def test_what_is_added_in_one_form_is_there_in_the_others(self):
        for number, (said, same) in enumerate(SAME):
            with self.subTest(number), self.create(self.folder / f"{number}.bf") as one:
                self.assertNotIn(said, one)
                self.assertTrue(one.add(said))
                self.assertFalse(one.add(same))
                self.assertIn(same, one)
                self.assertTrue(one.contains(said))
                self.assertNotIn(same + b"?", one)

    def test_what_is_no_key_is_refused_and_nothing_is_added(self):
        refused = [True, False, 1.5, None, object(), ["a"], (), {}, array.array("I", [1]), memoryview(array.array("d", [1])),
                   memoryview(b"abcd").cast("B", (2, 2))]
        for no_key in refused:
            for call in (self.filter.add, self.filter.contains, self.filter.__contains__, self.filter.digest, self.filter.count,
                         self.filter.remove, lambda key: self.filter.add_many([b"before", key])):
                with self.subTest(no_key), self.assertRaises(TypeError):
                    call(no_key)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)

    def test_a_lone_surrogate_is_an_error(self):
        for text in ("\ud800", "a\udfffb", OfText("\ud800")):
            for call in (self.filter.add, self.filter.__contains__, lambda key: self.filter.contains_many([key])):
                with self.assertRaises(UnicodeEncodeError):
                    call(text)

    def test_an_int_of_more_than_64_bits_is_an_error(self):
        for number in (2**64, -2**63 - 1, 2**200):
            for call in (self.filter.add, self.filter.__contains__, lambda key: self.filter.add_many([key])):
                with self.assertRaises(OverflowError):
                    call(number)

    def test_a_digest_is_an_int_of_64_bits(self):
        self.filter.add("alice")
        self.assertTrue(self.filter.contains_digest(self.filter.digest("alice")))
        self.assertFalse(self.filter.contains_digest(5))
        self.assertTrue(self.filter.add_digest(2**64 - 1))
        for wrong, error in ((-1, OverflowError), (2**64, OverflowError), (1.0, TypeError), ("1", TypeError), (True, TypeError)):
            with self.subTest(wrong), self.assertRaises(error):
                self.filter.contains_digest(wrong)

    def test_digests_are_refused_where_keys_are_wanted_and_the_other_way_round(self):
        digests_only = self.create(self.folder / "external.bf", hash="external")
        keys_only = self.create(self.folder / "murmur.bf", hash="murmur3")
        for call in (lambda: digests_only.add("a"), lambda: "a" in digests_only, lambda: digests_only.contains_many(["a"]),
                     lambda: keys_only.add_digest(1), lambda: keys_only.contains_digests([1]), lambda: keys_only.digest("a")):
            with self.assertRaises(bfstore.KindOfKeyError):
                call()


@needs_numpy
class KeysOfNumPy(Case):
    """Scalars are keys only if equal ones are the same key."""

    def setUp(self):
        super().setUp()
        self.filter = self.create()

    def test_whole_numbers_text_and_bytes_are_keys(self):
        for said, same in ((numpy.int64(-7), -7), (numpy.uint8(7), 7), (numpy.int16(7), 7), (numpy.array(7), 7), (numpy.str_("a"), "a"),
                           (numpy.bytes_(b"a"), b"a"), (numpy.frombuffer(b"ab", numpy.uint8), b"ab")):
            with self.subTest(repr(said)):
                self.assertEqual(self.filter.digest(said), self.filter.digest(same))

    def test_what_has_other_bytes_than_its_equals_is_no_key(self):
        day = numpy.datetime64("2026-11-26")
        self.assertEqual(day, day.astype("datetime64[ns]"))
        for no_key in (day, day.astype("datetime64[ns]"), numpy.timedelta64(1, "D"), numpy.float64(1), numpy.float32(1), numpy.float16(1),
                       numpy.longdouble(1), numpy.complex64(1), numpy.void(b"abcd"), numpy.array(b"ab"), numpy.array(day), numpy.array(1.0),
                       numpy.ma.masked, numpy.ma.array([1, 2], mask=[0, 1], dtype=numpy.uint8)):
            for call in (self.filter.add, self.filter.contains, self.filter.digest, lambda key: self.filter.add_many([b"before", key]),
                         lambda key: self.filter.contains_many([key])):
                with self.subTest(repr(no_key)), self.assertRaises((TypeError, ValueError)):
                    call(no_key)
        self.assertEqual(self.filter.stats(fill=True).set_bits, 0)


class KeysOfPythonBloomfilter(Case):
    def test_keys_are_found_and_have_no_digest(self):
        bits = set()
        for name in ("jaybird", "pybloom-live"):
            with self.subTest(name):
                made = self.create(self.folder / name, hash=name, capacity=1000, fpr=0.01, tutorial_sizing=True)
                facts = made.stats()
                self.assertEqual((facts.hash, facts.layout, facts.num_bits, facts.num_probes), (name, "classic", 7 * 1370, 7))
                self.assertTrue(made.add("foo"))
                self.assertEqual(made.add_many(["foo", "4711", str(b"x")]), 2)
                self.assertEqual(list(made.contains_many([b"foo", "4711", "b'x'", "bar"])), [1, 1, 1, 0])
                for other in ("bar", 4711, b"x"):  # for 4711 and b"x" python-bloomfilter takes str(key)
                    self.assertNotIn(other, made)
                self.assertEqual(made.stats(fill=True).set_bits, 3 * 7)
                bits.add(made.export_bits(order="little"))
                for call in (lambda: made.digest("foo"), lambda: made.digest_many(["foo"]), lambda: made.contains_digest(1)):
                    with self.assertRaises(bfstore.KindOfKeyError) as raised:
                        call()
                    self.assertEqual(raised.exception.code_name, "BFS_EKEYONLY")
        self.assertEqual(len(bits), 2)  # the two hashes differ in the digest of small filters


class Table(Case):
    """The table that the tests of every language read."""

    def said(self, row):
        if "utf16" in row:
            return bytes.fromhex(row["utf16"]).decode("utf-16-be", "surrogatepass")
        if "integer" in row:
            return int(row["integer"])
        return (row["text"] if "text" in row else bytes.fromhex(row["binary"])) * row.get("times", 1)

    def table(self, name):
        return json.loads((ROOT / "capi" / "bindings" / "keys.json").read_text("utf-8"))[name]

    def test_every_row_has_its_digest_or_is_refused(self):
        rows = self.table("keys")
        self.assertGreater(len(rows), 25)
        filter_ = self.create(seed=0)
        for row in rows:
            key = self.said(row)
            for digest in (filter_.digest, lambda one: filter_.digest_many([one])[0]):
                with self.subTest(str(row)[:99]):
                    if "error" in row:
                        self.assertRaises((UnicodeEncodeError, OverflowError), digest, key)
                    else:
                        self.assertEqual(f"{digest(key):016x}", row["xxh3"])
                        self.assertEqual(digest(bytes.fromhex(row["bytes"]) * row.get("times", 1)), digest(key))

    def many(self, row):
        """Returns the row's keys, and the keywords of a call that gets them."""
        if "fixed" in row:
            return bytes.fromhex(row["fixed"]), {"width": row["width"]}
        first, offsets = row.get("first", 0), row["offsets"]
        valid = bytes.fromhex(row["validity"]) if "validity" in row else None
        # Arrow has one offset for both the bitmap and the offsets.
        packed = struct.pack(f"{first + len(offsets)}i", *[0] * first, *offsets)
        return arrow.Column("z", [valid, packed, bytes.fromhex(row["column"])], len(offsets) - 1, offset=first,
                            null_count=0 if valid is None else -1), {}

    def test_every_list_has_its_digests_and_its_nulls_or_is_refused(self):
        rows = self.table("lists")
        self.assertGreater(len(rows), 14)
        for number, row in enumerate(rows):
            keys, how = self.many(row)
            with self.subTest(row), self.create(self.folder / f"{number}.bf", seed=0) as filter_:
                if "error" in row:
                    self.assertRaises(ValueError, filter_.add_many, keys, **how)
                    self.assertEqual(filter_.stats(fill=True).set_bits, 0)
                    continue
                digests = [int(one, 16) for one in row["xxh3"]]
                self.assertEqual(list(filter_.digest_many(keys, **how)), digests)
                filter_.add_many(keys, **how)
                self.assertEqual(list(filter_.contains_many(keys, **how)), [digest != 0 for digest in digests])
                self.assertEqual(filter_.contains_digest(0), False)


class Counting(Case):
    def test_keys_are_counted_and_removed(self):
        counting = self.create(layout="counting")
        for key in ("alice", "alice", 5):
            counting.add(key)
        self.assertEqual([counting.count(key) for key in ("alice", 5, "bob")], [2, 1, 0])
        self.assertEqual(counting.count_many(["alice", 5, "bob", "alice"]), bytearray([2, 1, 0, 2]))
        self.assertEqual(counting.count_digests([counting.digest("alice"), 1]), bytearray([2, 0]))
        self.assertTrue(counting.remove("alice"))
        self.assertIn("alice", counting)
        self.assertEqual(counting.remove_digests([counting.digest("alice")]), 1)
        self.assertNotIn("alice", counting)
        self.assertFalse(counting.remove("alice"))
        self.assertEqual(counting.add_many(["a", "b", "c"]), 3)
        self.assertEqual(counting.remove_many(["a", "b", "never"]), 2)
        self.assertEqual(counting.remove_digests([counting.digest("c")]), 1)
        self.assertEqual(bytes(counting.contains_many(["a", "b", "c", 5])), b"\0\0\0\1")

    def test_other_layouts_cannot(self):
        blocked = self.create()
        for call in (lambda: blocked.remove("a"), lambda: blocked.count("a"), lambda: blocked.count_many(["a"]), lambda: blocked.remove_many(["a"])):
            with self.assertRaises(bfstore.UnsupportedError):
                call()


if __name__ == "__main__":
    unittest.main(verbosity=2)

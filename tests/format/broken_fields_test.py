"""Each field of the format broken in turn, with its checksum made right again so that its own rule is what fails: the
independent reader (reader.py) and the library refuse with the same code, the one that FORMAT.md gives.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import readers as reader
import single_header
from breakage import (EMBEDDED_ONLY, END_WORD, FILE_ONLY, FOREIGN_IDENTITY, GROWING, GROWTH_IDENTITY, IDENTITY, JAVA, JAVA_IDENTITY,
                      JAYBIRD, JAYBIRD_IDENTITY, NOTE, OF_EPOCHS, OF_GROWTH, OF_SLICES, PAGE, SECRET, SECRET_IDENTITY, SEEDED,
                      SEEDED_IDENTITY, SLICES, STATE, WINDOW_IDENTITY, WINDOW_MS, WINDOW_STATE, both, end_word, field, fill, growth_record,
                      number, only_records, put, record, seal_identity, seal_slots, stretched, with_records)

sys.argv.pop(2)
LIBRARY = bfs.load(sys.argv.pop(1))


def in_c(code):
    """Returns what C has for a code of the document: (code, rule)."""
    return code and bfs.said(code)


def window_ms(layout):
    return WINDOW_MS if layout.startswith("window") else None


def takes_no_adds(data, flags):
    """An embedded filter has no epoch, so one whose keys expire is not written to. Nor is one that is built once."""
    return "BFS_EUNSUPPORTED" if flags == bfs.WRITE and number(data, 32, 2) in {*reader.EPOCHS, *bfs.BUILT_LAYOUTS.values()} else None


def identity_rules(layout):
    return {**IDENTITY, **(OF_GROWTH if layout in bfs.GROWING_LAYOUTS else {})}


def refusal(function, *arguments):
    """Returns the code of a refusal, or None."""
    try:
        function(*arguments)
    except (reader.Refused, single_header.Refused) as refused:
        return refused.code
    return None


# Files of the others are sealed: static_test.py breaks them.
WRITTEN_LAYOUTS = [layout for layout in bfs.LAYOUTS if layout not in bfs.BUILT_LAYOUTS]


# A filter that grows is a file.
EMBEDDED_LAYOUTS = [layout for layout in bfs.LAYOUTS if layout not in bfs.GROWING_LAYOUTS]


class BrokenFields(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-broken-")
        self.addCleanup(folder.cleanup)
        self.path = os.fsencode(folder.name) + b"/filter.bf"

    def make_file(self, layout="blocked", **given):
        if os.path.exists(self.path):
            os.unlink(self.path)
        given = {"num_bits": 512 * 64, "num_probes": 5, "seed": 1, "note": NOTE, "window_ms": window_ms(layout), **given}
        if layout in bfs.BUILT_LAYOUTS:
            handle = bfs.build(LIBRARY, self.path, bfs.many_keys(bfs.KEYS_FIXED, 1, b"a key", key_bytes=5), layout=layout, **given)
        else:
            handle = bfs.create(LIBRARY, self.path, layout=layout, **given)
            LIBRARY.bfs_add(handle, b"a key", 5)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        with open(self.path, "rb") as file:
            return bytearray(file.read())

    def make_embedded(self, layout="blocked", **given):
        if layout not in bfs.LASTING_LAYOUTS:
            return self.dumped(layout, **given)
        given = {"num_bits": 512 * 64, "num_probes": 5, "seed": 1, "note": NOTE, **given}
        options = bfs.options(layout=layout, **given)
        size = bfs.bytes_needed(LIBRARY, 0, options)
        self.keep, address = bfs.aligned_buffer(size)
        handle = bfs.call(LIBRARY.bfs_format, address, size, 0, options)
        LIBRARY.bfs_add(handle, b"a key", 5)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return bytearray(ctypes.string_at(address, size))

    def of_1970(self, layout):
        """Returns a file whose slots say nothing of time: that is a fault of its own in a layout without epochs."""
        data = self.make_file(layout)
        for page in (PAGE, 2 * PAGE):
            data[page + 88:page + 104] = bytes(16)
        seal_slots(data)
        return data

    def dumped(self, layout, **given):
        """Returns the embedded form of a file: a filter whose keys expire, or that is built once, is made as a file alone."""
        self.make_file(layout, **given)
        handle = bfs.open_path(LIBRARY, self.path, secret=given.get("secret"))
        data = bfs.dump(LIBRARY, handle)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return bytearray(data)

    def save(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def library_says(self, function, *arguments):
        """Returns (code, rule), or None after it has closed the handle again."""
        try:
            handle = bfs.call(function, *arguments)
        except bfs.CodeError as error:
            self.assertTrue(error.message, "no message came with the code")
            return error.code, error.rule
        self.assertGreater(LIBRARY.bfs_contains(handle, b"a key", 5), 0, "a wrong no")
        LIBRARY.bfs_close(handle, None)
        return None

    def reader_says(self, function, *arguments):
        try:
            read = function(*arguments)
        except reader.Refused as refused:
            return refused.code
        self.assertTrue(read.contains(b"a key"))
        return None

    def check_file(self, data, code, write_code=None):
        self.save(data)
        self.assertEqual(self.reader_says(reader.open_file, self.path), code, "reader.py")
        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, bfs.READ, None), in_c(code), "bfs_open to read")
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), data, "a reader wrote to the file")
        for flags in (bfs.WRITE, bfs.EXCLUSIVE):
            self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, None), in_c(write_code or code), "to write")
            if code or write_code:
                with open(self.path, "rb") as file:
                    self.assertEqual(file.read(), data, "a refused file was written to")

    def check_embedded(self, data, code):
        self.assertEqual(self.reader_says(reader.embedded, bytes(data)), code, "reader.py")
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, bytes(data), len(data))
        for flags in (bfs.READ, bfs.WRITE):
            its_code = code or takes_no_adds(data, flags)
            self.assertEqual(self.library_says(LIBRARY.bfs_open_memory, address, len(data), flags, None), in_c(its_code), "in place")
        self.assertEqual(ctypes.string_at(address, len(data)), bytes(data), "bfs_open_memory wrote to the buffer")
        del keep
        self.save(b"\xee" * 64 + data)
        self.assertEqual(self.reader_says(reader.open_range, self.path, 64), code, "reader.py, range")
        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, bfs.READ, bfs.options(range=(64, 0))), in_c(code), "a range")

    def check_secret_file(self, data, code):
        self.save(data)
        self.assertEqual(self.reader_says(reader.open_file, self.path, SECRET), code, "reader.py")
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, bfs.options(secret=SECRET)), in_c(code))

    def check_secret_embedded(self, data, code):
        self.assertEqual(self.reader_says(reader.embedded, bytes(data), SECRET), code, "reader.py")
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, bytes(data), len(data))
        for flags in (bfs.READ, bfs.WRITE):
            its_code = code or takes_no_adds(data, flags)
            self.assertEqual(self.library_says(LIBRARY.bfs_open_memory, address, len(data), flags, bfs.options(secret=SECRET)), in_c(its_code))
        del keep
        self.save(b"\xee" * 64 + data)
        self.assertEqual(self.reader_says(reader.open_range, self.path, 64, 0, SECRET), code, "reader.py, range")
        options = bfs.options(secret=SECRET, range=(64, 0))
        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, bfs.READ, options), in_c(code))

    def check_identities(self, base, rules, check):
        for name, (change, code) in rules.items():
            with self.subTest(name):
                data = bytearray(base)
                change(data)
                self.assertNotEqual(data, base)
                seal_identity(data)
                check(data, code)

    def test_the_unbroken_forms_are_accepted(self):
        for layout in EMBEDDED_LAYOUTS:
            self.check_embedded(self.make_embedded(layout), None)
        for layout in WRITTEN_LAYOUTS:
            self.check_file(self.make_file(layout), None)

    def test_each_field_of_a_file_s_identity(self):
        for layout in WRITTEN_LAYOUTS:
            self.check_identities(self.of_1970(layout), {**identity_rules(layout), **FILE_ONLY}, self.check_file)

    def test_each_field_of_an_embedded_identity(self):
        for layout in EMBEDDED_LAYOUTS:
            self.check_identities(self.make_embedded(layout), {**IDENTITY, **EMBEDDED_ONLY}, self.check_embedded)

    def test_each_rule_of_an_identity_whose_keys_expire(self):
        for layout in filter(window_ms, bfs.LAYOUTS):
            self.check_identities(self.of_1970(layout), WINDOW_IDENTITY, self.check_file)
            self.check_identities(self.make_embedded(layout), WINDOW_IDENTITY, self.check_embedded)

    def test_each_rule_of_an_identity_that_grows(self):
        self.check_identities(self.make_file("growing"), GROWTH_IDENTITY, self.check_file)

    def test_the_bits_of_all_slices_are_at_most_2_to_the_48(self):
        """A sparse file: its first slice has half a gigabyte. What is accepted is not read."""
        for growth in (16, 15):
            largest = 2**48 // sum(growth**i for i in range(5)) // 512 * 512
            for bits, code in ((largest, None), (largest + 512, "BFS_ERECORD")):
                with self.subTest(growth=growth, bits=bits):
                    data = self.make_file("growing")[:4 * PAGE]
                    for offset, value in ((40, bits), (72, 2 << 20), (80, bits // 8), (48, 100)):
                        put(data, offset, "Q", value)
                    only_records(data, growth_record(growth) + record(1, 0, NOTE))
                    seal_identity(data)
                    end = -(-((2 << 20) + bits // 8) // PAGE) * PAGE
                    with open(self.path, "wb") as file:
                        file.write(data)
                        file.seek(end)
                        file.write(end_word(data))
                    self.assertEqual(refusal(reader.identity, bytes(data), 1, end + 8, None), code)
                    self.assertEqual(refusal(single_header.open_file, self.path, None, single_header.ANY_FILESYSTEM), code and "BFR" + code[3:])
                    if code:
                        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, bfs.READ, None), in_c(code))
                    else:
                        handle = bfs.open_path(LIBRARY, self.path)
                        self.assertEqual(LIBRARY.bfs_contains(handle, b"nobody", 6), 0)
                        LIBRARY.bfs_close(handle, None)

    def test_a_growing_filter_is_never_embedded(self):
        for layout in ("blocked", "classic", "window"):
            for name, change in (("with a growth", both(field(32, "H", GROWING), lambda data: with_records(data, b""))),
                                 ("without one", field(32, "H", GROWING)), ("a growth alone", lambda data: with_records(data, growth_record(10)))):
                with self.subTest(name, layout=layout):
                    data = self.make_embedded(layout)
                    change(data)
                    seal_identity(data)
                    self.check_embedded(data, "BFS_ERECORD")

    def test_a_growing_file_is_never_sealed(self):
        """Also if it has checksums, and an end word behind them."""
        for layout, code in (("blocked", None), ("growing", "BFS_ERECORD")):
            data = self.make_file(layout)
            end = len(data) - 8
            salt = reader.xxh3(bytes(data[88:104]), 0)
            sums = struct.pack("<Q", reader.xxh3(bytes(data[16384:16384 + 4096]), salt))
            keys = reader.open_file(self.path).keys_added
            with_records(data, record(3, 0, struct.pack("<IIQQQQ", 65536, 0, 1, end, reader.xxh3(sums, salt), keys)))
            put(data, 20, "I", 1)
            seal_identity(data)
            data[end:end] = sums
            self.check_file(data, code, code or "BFS_ESEALED")

    def test_each_rule_of_an_identity_with_a_secret(self):
        with_secret = {"hash": "siphash", "secret": SECRET, "seed": None, "note": None}
        for layout in WRITTEN_LAYOUTS:
            forms = [(self.make_file(layout, **with_secret), self.check_secret_file)]
            if layout in EMBEDDED_LAYOUTS:
                forms.append((self.make_embedded(layout, **with_secret), self.check_secret_embedded))
            for base, check in forms:
                check(base, None)
                self.check_identities(base, SECRET_IDENTITY, check)

    def test_each_rule_of_an_identity_with_positions(self):
        for given, rules in ((SEEDED, SEEDED_IDENTITY), (JAVA, JAVA_IDENTITY), (JAYBIRD, JAYBIRD_IDENTITY), *FOREIGN_IDENTITY):
            file, embedded = self.make_file(**given), self.make_embedded(**given)
            self.check_file(file, None)
            self.check_embedded(embedded, None)
            self.check_identities(file, rules, self.check_file)
            self.check_identities(embedded, rules, self.check_embedded)

    def test_a_filter_with_a_secret_without_it_and_another_with_one(self):
        with_secret = {"hash": "siphash", "secret": SECRET, "seed": None}
        self.check_file(self.make_file(**with_secret), "BFS_ESECRET")
        self.check_embedded(self.make_embedded(**with_secret), "BFS_ESECRET")
        self.check_secret_file(self.make_file(), "BFS_ESECRET")
        self.check_secret_embedded(self.make_embedded(), "BFS_ESECRET")
        for bit in range(128):
            other = (int.from_bytes(SECRET, "little") ^ 1 << bit).to_bytes(16, "little")
            self.check_secret_file(self.make_file(**{**with_secret, "secret": other}), "BFS_ESECRET")

    def test_an_embedded_record_of_every_possible_length(self):
        base = self.make_embedded()
        for header_bytes, body_offset, code in (
                (256, 256, None), (4096, 4096, None), (65536, 65536, None), (65536 + 64, 65536 + 64, "BFS_EHEADERSIZE"),
                (256 + 8, 320, "BFS_EHEADERSIZE"), (256, 320, None), (256, 256 + 8, "BFS_EBODY")):
            with self.subTest(header_bytes=header_bytes, body_offset=body_offset):
                self.check_embedded(stretched(base, header_bytes, body_offset), code)

    def test_records_that_end_within_their_last_8_bytes(self):
        for base, check in ((self.make_file(), self.check_file), (self.make_embedded(), self.check_embedded)):
            base = bytearray(base)
            with_records(base, record(8, 0, b""), 9)  # the extra byte is zero, like reserved bytes
            seal_identity(base)
            check(base, "BFS_ERECORD")

    def test_a_record_of_an_impossible_part(self):
        impossible = [(0, 1, 5), (0, 0, 5), (3, 3, 5), (2, 3, 0), (2, 3, 2**63)]
        for layout, more in (("blocked", []), ("counting", []), ("classic", [(2, 3, 5)])):
            for part, parts, capacity in impossible + more:
                with self.subTest(layout=layout, part=part, parts=parts, capacity=capacity):
                    for base, check in ((self.make_file(layout), self.check_file), (self.make_embedded(layout), self.check_embedded)):
                        base = bytearray(base)
                        with_records(base, record(4, 1, struct.pack("<IIQ", part, parts, capacity)))
                        seal_identity(base)
                        check(base, "BFS_ERECORD")

    def test_num_bits_of_a_blocked_filter_that_are_no_whole_blocks(self):
        for base, check in ((self.make_file(), self.check_file), (self.make_embedded(), self.check_embedded)):
            put(base, 40, "Q", 512 * 64 - 64)
            put(base, 80, "Q", 64 * 64 - 8)
            seal_identity(base)
            check(base, "BFS_EBITS")

    def test_num_bits_of_a_counting_filter_that_are_no_whole_lines_or_too_many(self):
        for base, check in ((self.make_file("counting"), self.check_file), (self.make_embedded("counting"), self.check_embedded)):
            for m in (512 * 64 - 64, 2**46 + 128, 2**48):
                with self.subTest(m=m):
                    put(base, 40, "Q", m)
                    put(base, 80, "Q", m // 2)
                    seal_identity(base)
                    check(base, "BFS_EBITS")

    def test_num_bits_of_a_classic_filter_that_end_in_the_body_s_last_word_or_before_it(self):
        base = self.make_file("classic", num_bits=512 * 64)
        for bits, code in ((512 * 64 - 64, "BFS_EBODY"), (512 * 64 + 1, "BFS_EBODY")):
            with self.subTest(bits=bits):
                put(base, 40, "Q", bits)
                seal_identity(base)
                self.check_file(base, code)

    def test_a_wrong_checksum_of_the_identity(self):
        for base, check in ((self.make_file(), self.check_file), (self.make_embedded(), self.check_embedded)):
            for offset in (10, 16, 64, 88, 103, 128, number(base, 12, 4) - 8, number(base, 12, 4) - 1):
                with self.subTest(offset=offset):
                    data = bytearray(base)
                    data[offset] ^= 0x10
                    check(data, "BFS_ECHECKSUM")

    def test_a_feature_without_which_a_file_may_be_read_and_not_written(self):
        for bit in (1, 31):  # 0 is known: sealed_test.py
            data = self.make_file()
            put(data, 20, "I", 1 << bit)
            seal_identity(data)
            self.check_file(data, None, "BFS_EFEATURE")

    def test_the_canary_of_an_external_hash_is_zero(self):
        data = self.make_file(hash="external", seed=None)
        put(data, 104, "Q", 1)
        seal_identity(data)
        self.check_file(data, "BFS_ECANARY")

    def test_state_slots_and_live_word(self):
        for layout in ("blocked", *bfs.GROWING_LAYOUTS, *filter(window_ms, bfs.LAYOUTS)):
            base = self.make_file(layout)
            for name, (change, code) in STATE.items():
                with self.subTest(name, layout=layout):
                    data = bytearray(base)
                    change(data)
                    self.assertNotEqual(data, base)
                    others = OF_EPOCHS if window_ms(layout) else OF_SLICES if layout in bfs.GROWING_LAYOUTS else ()
                    if name not in others:
                        self.check_file(data, code)

    def test_slots_and_live_page_of_one_epoch_or_of_two(self):
        for layout in filter(window_ms, bfs.LAYOUTS):
            base = self.make_file(layout)
            self.assertGreater(number(base, PAGE, 8), number(base, 2 * PAGE, 8), "slot A is the newest")
            for name, (change, clean) in WINDOW_STATE.items():
                with self.subTest(name, layout=layout):
                    data = bytearray(base)
                    change(data)
                    self.assertNotEqual(data, base)
                    for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
                        self.save(data)
                        read = reader.open_file(self.path)
                        self.assertIs(read.clean, clean)
                        self.assertTrue(read.contains(b"a key"))
                        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, None), in_c(None if clean else "BFS_EUNCLEAN"))

    def make_three_slices(self):
        self.make_file("growing", capacity=10)
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        for i in range(200):
            LIBRARY.bfs_add(handle, b"%d" % i, len(b"%d" % i))
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        with open(self.path, "rb") as file:
            return bytearray(file.read())

    def test_slices_that_are_not_there(self):
        base = self.make_three_slices()
        read = reader.open_file(self.path)
        self.assertEqual((read.num_slices, read.slot_slices, read.clean), (3, 3, True))
        self.assertGreater(number(base, PAGE, 8), number(base, 2 * PAGE, 8), "slot A is the newest")
        for name, (change, code) in SLICES.items():
            with self.subTest(name):
                data = bytearray(base)
                change(data)
                self.assertNotEqual(data, base)
                if code == "BFS_EUNCLEAN":
                    self.check_unclean(data)
                else:
                    self.check_file(data, code)

    def check_unclean(self, data):
        """reader.py opens such a file, and says what it is."""
        self.save(data)
        read = reader.open_file(self.path)
        self.assertIs(read.clean, False)
        self.assertTrue(read.contains(b"a key"))
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, None), in_c("BFS_EUNCLEAN"))

    def test_the_word_at_the_end(self):
        for layout in WRITTEN_LAYOUTS:
            forms = [(self.make_file(layout), self.check_file)]
            if layout in EMBEDDED_LAYOUTS:
                forms.append((self.make_embedded(layout), self.check_embedded))
            for base, check in forms:
                for name, (change, code) in END_WORD.items():
                    with self.subTest(name, layout=layout):
                        data = bytearray(base)
                        change(data)
                        self.assertNotEqual(data, base)
                        check(data, code)

    def test_a_file_as_long_as_its_body_lacks_the_word_at_its_end(self):
        self.check_file(self.make_file()[:-8], "BFS_EBODY")
        self.check_embedded(self.make_embedded()[:-8], "BFS_EBODY")

    def test_reserved_bytes_behind_the_identity(self):
        """FORMAT.md, Conventions: a reader that knows the minor version refuses what is not zero."""
        base = self.make_file()
        for page, offsets in ((1, (13, 73, 80, 104, 127, 1664, 4087)), (2, (14, 103, 1700, 4087)), (3, (9, 16, 25, 32, 63, 2112, 4095))):
            for offset in offsets:
                with self.subTest(page=page, offset=offset):
                    data = bytearray(base)
                    data[PAGE * page + offset] = 1
                    seal_slots(data)
                    self.check_file(data, "BFS_ERESERVED")

    def test_a_file_that_is_not_clean_by_both_slots_is_unclean(self):
        """Such a file is not adopted either: a clean slot has no boot id, and a file with one valid slot is never adopted."""
        base = self.make_file()
        newest = PAGE if number(base, PAGE, 8) > number(base, 2 * PAGE, 8) else 2 * PAGE
        older = 3 * PAGE - newest
        skip = both(lambda d: put(d, newest, "Q", number(d, newest, 8) + 1), seal_slots)
        equal = both(lambda d: put(d, newest, "Q", number(d, older, 8)), seal_slots)
        foreign = both(field(newest + 8, "I", 2), fill(newest + 16, b"another boot's i"), seal_slots)
        nobody = both(field(newest + 8, "I", 2), fill(newest + 16, bytes(16)), seal_slots)
        for name, change in (("the older slot torn", field(older + 4000, "B", 1)),
                             ("the newer slot torn", field(newest + 70, "B", 1)),
                             ("sequences that differ by two", skip), ("equal sequences", equal),
                             ("dirty in another boot", foreign), ("dirty in an unknown boot", nobody)):
            with self.subTest(name):
                data = bytearray(base)
                change(data)
                self.assertNotEqual(data, base)
                self.save(data)
                self.assertIs(reader.open_file(self.path).clean, False)
                for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
                    self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, None), in_c("BFS_EUNCLEAN"))

    def test_a_file_whose_recovery_was_begun(self):
        base = self.make_file()
        newest = PAGE if number(base, PAGE, 8) > number(base, 2 * PAGE, 8) else 2 * PAGE
        put(base, newest + 8, "I", 3)
        seal_slots(base)
        self.save(base)
        read = reader.open_file(self.path)
        self.assertEqual((read.state, read.clean), (3, False))
        self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, bfs.READ, None), in_c("BFS_ERECOVERING"))

    def test_a_file_whose_sync_failed(self):
        """The live word still says so after every process has closed. A reader that opens it all the same answers maybe."""
        base = self.make_file()
        put(base, 3 * PAGE, "Q", number(base, 3 * PAGE, 8) | reader.POISONED)
        self.save(base)
        self.assertTrue(reader.open_file(self.path).contains(b"never added"))
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            self.assertEqual(self.library_says(LIBRARY.bfs_open, self.path, flags, None), in_c("BFS_EPOISONED"))

    def test_a_file_cut_short(self):
        base = self.make_file()
        for size, code in ((0, "BFS_ETOOSHORT"), (8, "BFS_ETOOSHORT"), (16383, "BFS_ETOOSHORT"), (16384, "BFS_EBODY"),
                           (len(base) - 1, "BFS_EBODY")):
            with self.subTest(size=size):
                self.check_file(base[:size], code)

    def test_what_follows_the_body_does_not_matter(self):
        self.check_file(self.make_file() + b"anything", None)

    def test_an_embedded_filter_cut_short(self):
        base = self.make_embedded()
        for size, code in ((0, "BFS_ETOOSHORT"), (191, "BFS_ETOOSHORT"), (len(base) - 1, "BFS_EBODY")):
            with self.subTest(size=size):
                self.check_embedded(base[:size], code)

    def test_what_is_no_regular_file(self):
        self.make_file()
        link, pipe = self.path + b".link", self.path + b".pipe"
        os.symlink(self.path, link)
        os.mkfifo(pipe)
        for path, code in ((link, "BFS_ESYMLINK"), (pipe, "BFS_ENOTREGULAR"), (b"/dev/null", "BFS_ENOTREGULAR"),
                           (os.path.dirname(self.path), "BFS_ENOTREGULAR")):
            with self.subTest(path=path):
                self.assertEqual(self.reader_says(reader.open_file, path), code)
                for flags in (bfs.READ | bfs.NOFOLLOW, bfs.WRITE, bfs.EXCLUSIVE):
                    self.assertEqual(self.library_says(LIBRARY.bfs_open, path, flags, None), in_c(code))
        self.assertIsNone(self.library_says(LIBRARY.bfs_open, link, bfs.READ, None))

    def check_bare(self, data, code):
        self.assertEqual(self.reader_says(reader.bare, bytes(data)), code, "reader.py")
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, bytes(data), len(data))
        for flags in (bfs.READ, bfs.WRITE):
            says = self.library_says(LIBRARY.bfs_open_memory, address, len(data), flags | bfs.BARE, None)
            self.assertEqual(says, in_c(code), "in place")
        del keep

    def test_each_field_of_a_bare_filter(self):
        options = bfs.options(num_bits=512, num_probes=4)
        keep, address = bfs.aligned_buffer(72)
        handle = bfs.call(LIBRARY.bfs_format, address, 72, bfs.BARE, options)
        LIBRARY.bfs_add(handle, b"a key", 5)
        LIBRARY.bfs_close(handle, None)
        base = ctypes.string_at(address, 72)
        self.check_bare(base, None)
        body = base[:64]
        for name, body, head, code in (
                ("marker", body, b"\xbe\1\1\4", "BFS_EMAGIC"), ("layout 0", body, b"\xbf\0\1\4", "BFS_ELAYOUT"),
                ("layout 255", body, b"\xbf\xff\1\4", "BFS_ELAYOUT"), ("hash 0", body, b"\xbf\1\0\4", "BFS_EHASH"),
                ("hash 3", body, b"\xbf\1\3\4", "BFS_EHASH"), ("k 0", body, b"\xbf\1\1\0", "BFS_EPROBES"),
                ("k 65", body, b"\xbf\1\1\x41", "BFS_EPROBES"), ("no body", b"", b"\xbf\1\1\4", "BFS_ETOOSHORT"),
                ("half a block", body[:32], b"\xbf\1\1\4", "BFS_EBITS"),
                ("no whole word", body[:60], b"\xbf\2\1\4", "BFS_EBITS")):
            with self.subTest(name):
                summed = head + struct.pack("<Q", len(body))
                check = reader.xxh3(summed, reader.canary(head[2], 0)) % 2**32
                self.check_bare(body + head + struct.pack("<I", check), code)
        for size in (0, 7, 15):
            self.check_bare(base[-size:] if size else b"", "BFS_ETOOSHORT")
        self.check_bare(base[:-1] + bytes([base[-1] ^ 1]), "BFS_ECHECKSUM")
        self.check_bare(base[:64] + base, "BFS_ECHECKSUM")  # a block too many
        del keep


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""bfstore_reader.h, the reader in one C header, next to the library: the same answers to a million absent keys in each
layout with each hash, every kept file, files that writers change while it has them open, damage, and failing system calls.

readers.py tries it with every file of the tests that import that. Arguments: the shared library, ask (ask.c), the C compiler.
"""
import ctypes
import errno
import itertools
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE), str(HERE.parent / "data")]
import bfstore_ctypes as bfs
import reader
import single_header as single
from breakage import LIVE_EPOCH, LIVE_NUM_SLICES, PAGE, WINDOW_MS, epochs, field, fill, number, put, record, seal_identity, seal_slots, slices_of, with_records
from make import DIGESTS, KEYS, SECRET

CC = sys.argv.pop(3)
ASK = sys.argv.pop(2)
LIBRARY = bfs.load(sys.argv.pop(1))
FOLDER = HERE.parent / "data"
SCALE = 1 if os.environ.get("KEY_SCALE", "1") == "1" else 10
PRESENT = [b"key %d" % i for i in range(2000)]
LIVE = 3 * PAGE
MAPS = pathlib.Path("/proc/self/maps")
# LD_PRELOAD is for Python; a program has its own sanitizer.
OF_PROGRAMS = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-pedantic-errors", "-Wconversion", "-Wshadow", "-Wmissing-declarations", "-Werror"]
ALL_IN_USE = *bfs.LASTING_LAYOUTS, *bfs.GROWING_LAYOUTS
ALL_ASKED = *ALL_IN_USE, *bfs.BUILT_LAYOUTS
WINDOWS = [layout for layout in bfs.LAYOUTS if layout.startswith("window")]
SECRETS = {"xxh3": None, "external": None, "siphash": SECRET}


def built(path, layout, hash, keys, digests, **given):
    """Builds a file that takes no key later."""
    data, offsets, count = single.column(keys)
    of_keys = bfs.many_keys(bfs.KEYS_COLUMN64, count, data, data_bytes=len(data), offsets=offsets)
    of_digests = bfs.many_keys(bfs.KEYS_DIGESTS, len(digests), (ctypes.c_uint64 * max(1, len(digests)))(*digests))
    handle = bfs.build(LIBRARY, path, of_digests if digests else of_keys, 0 if not keys and not digests else bfs.REPLACE, layout=layout, hash=hash,
                       secret=SECRETS[hash], seed=1 if hash == "xxh3" else None, **given)
    assert LIBRARY.bfs_close(handle, None) == 0
    return pathlib.Path(os.fsdecode(path)).read_bytes()


def at_rest(path, layout="blocked", hash="xxh3", keys=(), digests=(), **given):
    """Makes a file and closes it. Returns its bytes. Keys that expire are spread over all epochs."""
    if layout in bfs.BUILT_LAYOUTS:
        return built(path, layout, hash, keys, digests, **{**given, "capacity": None})
    window_ms = WINDOW_MS if layout.startswith("window") else None
    options = bfs.options(**{"layout": layout, "window_ms": window_ms, "hash": hash, "secret": SECRETS[hash], "seed": 1 if hash == "xxh3" else None, "capacity": 2000,
                             **given})
    handle = bfs.call(LIBRARY.bfs_create, path, bfs.REPLACE, options)
    epochs_of_layout = reader.EPOCHS.get(bfs.LAYOUTS[layout], 1)
    of_an_epoch = max(1, -(-max(len(keys), len(digests)) // epochs_of_layout))
    for epoch, at in enumerate(range(0, max(len(keys), len(digests)), of_an_epoch)):
        assert epoch == 0 or LIBRARY.bfs_turn(handle, epoch - 1, None) == 1
        for key in keys[at:at + of_an_epoch]:
            assert LIBRARY.bfs_add(handle, key, len(key)) >= 0
        part = digests[at:at + of_an_epoch]
        if part:
            LIBRARY.add_digests(handle, (ctypes.c_uint64 * len(part))(*part), len(part))
    assert LIBRARY.bfs_close(handle, None) == 0
    return pathlib.Path(os.fsdecode(path)).read_bytes()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-header-")
        self.addCleanup(folder.cleanup)
        self.path = os.fsencode(folder.name) + b"/filter.bf"
        self.addCleanup(self.before_read, 0)
        self.addCleanup(single.SHIM.shim_fail, 0, 0, 0)

    def refused(self, code, function, *arguments):
        with self.assertRaises(single.Refused) as refused:
            function(*arguments)
        self.assertEqual(refused.exception.code, "BFR_" + code)

    def before_read(self, nth, deed=None, result=0, error=0, most_bytes=0):
        """Before the nth read from now on: does the deed, and returns the result with the error, if any."""
        self.deed = single.DEED(deed or 0)  # lives as long as it may be called
        single.SHIM.shim_reads(nth, self.deed, result, error, most_bytes)

    def patch(self, offset, data):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def change_live_word(self, mask):
        with open(self.path, "rb") as file:
            file.seek(LIVE)
            self.patch(LIVE, struct.pack("<Q", number(file.read(8), 0, 8) ^ mask))


class Answers(Case):
    def test_a_million_absent_keys_have_the_library_s_false_positives_in_each_layout_with_each_hash(self):
        count = 1_000_000 // SCALE
        absent, present = (single.column([b"%s %d" % (kind, i) for i in range(number)]) for kind, number in ((b"absent", count), (b"key", 2000)))
        digests, added = ((ctypes.c_uint64 * number).from_buffer_copy(random.Random(number).randbytes(8 * number)) for number in (count, 2000))
        for layout in bfs.LAYOUTS:
            epochs_of_layout = reader.EPOCHS.get(bfs.LAYOUTS[layout])
            capacity = 1800 * (epochs_of_layout - 1) // epochs_of_layout if epochs_of_layout else 1800  # a window is an epoch less
            for name, secret in SECRETS.items():
                with self.subTest(layout=layout, hash=name):
                    external, answers = name == "external", (ctypes.c_uint8 * count)()
                    fpr = 0.05 if layout in bfs.GROWING_LAYOUTS else None  # of five slices, two of which have keys
                    at_rest(self.path, layout, name, capacity=capacity, fpr=fpr, **{"digests": list(added)} if external else {"keys": PRESENT})
                    handle = bfs.open_path(LIBRARY, self.path, secret=secret)
                    if external:
                        LIBRARY.contains_digests(handle, digests, count, answers)
                    else:
                        LIBRARY.contains_column64(handle, *absent, answers)
                    LIBRARY.bfs_close(handle, None)
                    mine = single.open_file(self.path, secret)
                    found = mine.contains_digests(digests) if external else mine.contains_column(*absent)
                    self.assertEqual(found, bytes(answers))
                    self.assertTrue(count // 200 < sum(found) < count // 20, "there are some to compare")
                    self.assertEqual({*(mine.contains_digests(added) if external else mine.contains_column(*present))}, {1})

    def test_the_record_of_a_part_keeps_its_rules(self):
        base = at_rest(self.path, num_bits=2**19, num_probes=5, keys=[b"a key"])
        for flags, part, parts, capacity, code in (
                (1, 0, 2, 5, None), (1, 0, 2**29, 2**63 - 1, None), (0, 0, 2, 5, "ERECORD"), (1, 2, 2, 5, "ERECORD"), (1, 0, 1, 5, "ERECORD"),
                (1, 0, 2**29 + 1, 5, "ERECORD"), (1, 0, 2, 0, "ERECORD"), (1, 0, 2, 2**63, "ERECORD")):
            data = bytearray(base)
            with_records(data, record(4, flags, struct.pack("<IIQ", part, parts, capacity)))
            seal_identity(data)
            with self.subTest(flags=flags, part=part, parts=parts, capacity=capacity):
                if code:
                    self.refused(code, single.open_bytes, data)
                else:
                    read = single.open_bytes(data)
                    self.assertEqual(read.facts.num_parts, parts)

    def test_a_part_s_record_of_another_length_is_malformed(self):
        base = at_rest(self.path, num_bits=2**19, num_probes=5)
        for length in (0, 8, 15, 17, 24):
            data = bytearray(base)
            with_records(data, record(4, 1, struct.pack("<IIQ", 0, 2, 5).ljust(24, b"\0")[:length]))
            seal_identity(data)
            self.refused("ERECORD", single.open_bytes, data)

    def test_a_body_in_an_impossible_place_is_refused(self):
        base = at_rest(self.path, num_bits=512, num_probes=5)
        for bits, offset in ((512, 16384 + 64), (512, 16384 + 8), (512, 12288), (512, 0), (512, 16384 + 4096), (512, 2**64 - 4096),
                             (2**40, 16384), (2**40, 2**64 - 2**37 + 16384), (2**48, 2**64 - 2**45 + 16384)):
            data = bytearray(base)
            for at, value in ((40, bits), (80, bits // 8), (72, offset)):
                put(data, at, "Q", value)
            seal_identity(data)
            with self.subTest(bits=bits, offset=offset):
                self.refused("EBODY", single.open_bytes, data)

    def test_a_file_without_its_end_is_cut_before_its_records_are_malformed(self):
        data = bytearray(at_rest(self.path))
        with_records(data, record(4, 0, b""))
        seal_identity(data)
        self.refused("ERECORD", single.open_bytes, data)
        self.refused("EBODY", single.open_bytes, data[:-1])

    def test_a_part_answers_its_own_digests_alone(self):
        source = random.Random(4)
        for layout in ("blocked", "counting", "window", "window-4", "window-2"):
            for parts in (2, 3, 7):
                ends = [(i << 64) // parts + near for i in range(1, parts) for near in (-1, 0, 1)] + [0, 2**64 - 1]
                digests = ends + [source.getrandbits(64) for _ in range(1000)]
                for part in range(parts):
                    own = [digest for digest in digests[::2] if digest * parts >> 64 == part]
                    at_rest(self.path, layout, "external", digests=own, capacity=2000, part=part, num_parts=parts)
                    handle, read = bfs.open_path(LIBRARY, self.path), single.open_file(self.path)
                    theirs = [LIBRARY.bfs_contains_digest(handle, digest) for digest in digests]
                    LIBRARY.bfs_close(handle, None)
                    self.assertEqual({*theirs}, {bfs.EPART, 0, 1})
                    of_another = single.CODES["BFR_EPART"]
                    self.assertEqual([read.contains_digest(digest) for digest in digests], [of_another if one < 0 else one for one in theirs])

    def test_each_number_of_slices_has_the_library_s_answers(self):
        absent = single.column([b"absent %d" % i for i in range(200_000 // SCALE)])
        for slices, keys in ((1, 40), (2, 160), (3, 700), (4, 2_500), (5, 16_000)):
            answers, present = (ctypes.c_uint8 * absent[2])(), [b"key %d" % i for i in range(keys)]
            at_rest(self.path, "growing", keys=present, capacity=50, capacity_at_most=50 * (1 + 4 + 16 + 64 + 256), fpr=0.05)
            self.assertEqual(reader.open_file(self.path).num_slices, slices)
            handle = bfs.open_path(LIBRARY, self.path)
            LIBRARY.contains_column64(handle, *absent, answers)
            LIBRARY.bfs_close(handle, None)
            for flags in (0, single.COPY):
                mine = single.open_file(self.path, flags=flags)
                self.assertEqual((mine.facts.growth, mine.facts.epochs), (4, 0))
                self.assertEqual(mine.contains_column(*absent), bytes(answers))
                self.assertGreater(sum(answers), 0)
                self.assertEqual({*mine.contains_column(*single.column(present))}, {1})

    def test_the_worked_example_of_the_format(self):
        at_rest(self.path, "blocked", num_bits=1024, num_probes=3, seed=1, keys=[b"alice"])
        read = single.open_file(self.path)
        self.assertEqual(read.digest(b"alice"), 0x699B7243FF43B565)
        self.assertEqual(read.contains(b"alice"), 1)

    def test_it_has_a_hash_of_keys_of_every_length(self):
        at_rest(self.path)
        read = single.open_file(self.path)
        for length in [*range(260), 511, 512, 513, 1023, 1024, 1025, 1088, 2048, 2049, 100_000]:
            key = random.Random(length).randbytes(length)
            self.assertEqual(read.digest(key), reader.xxh3(key, 1), length)

    def test_kept_files_are_asked_or_refused(self):
        kept = sorted(FOLDER.iterdir())
        asked = refused = 0
        for path in kept:
            if path.suffix not in (".bf", ".record", ".trailer"):
                continue
            secret = SECRET if "siphash" in path.name or "ESECRET" in path.name else None
            for how in (0, single.COPY, None):
                with self.subTest(path.name, how=how):
                    data = path.read_bytes()
                    opening = (single.open_bytes, data, secret) if how is None else (single.open_file, path, secret, how)
                    if not path.name.startswith("good") or path.suffix != ".bf" or number(data, 34, 2) > 3:
                        self.assertRaises(single.Refused, *opening)
                        refused += 1
                        continue
                    read, asked = opening[0](*opening[1:]), asked + 1
                    if read.facts.hash == 2:
                        self.assertEqual([*read.contains_digests((ctypes.c_uint64 * 4)(*DIGESTS))], [1] * 4)
                        self.assertEqual(read.contains(b"alice"), single.CODES["BFR_EDIGESTONLY"])
                    else:
                        self.assertEqual({*read.contains_column(*single.column(KEYS))}, {1})
                    self.assertEqual(read.verify(), None if "sealed" in path.name or "static" in path.name else "BFR_ENOTSEALED")
        self.assertEqual(asked, 11 * 3)
        self.assertGreater(refused, 90 * 3)

    def test_files_that_are_not_clean_have_a_code_each(self):
        base = bytearray(at_rest(self.path, keys=[b"a key"]))
        newest = PAGE if number(base, PAGE, 8) > number(base, 2 * PAGE, 8) else 2 * PAGE
        older = 3 * PAGE - newest
        live = number(base, LIVE, 8)
        for code, changes in (
                ("EBUSY", [field(newest + 8, "I", 2)]), ("ERECOVERING", [field(newest + 8, "I", 3)]),
                ("ERECOVERING", [field(newest + 8, "I", 4)]), ("EUNCLEAN", [lambda d: put(d, newest, "Q", number(d, newest, 8) + 1)]),
                ("EUNCLEAN", [lambda d: put(d, newest, "Q", number(d, older, 8))]), ("EUNCLEAN", [field(older + 8, "I", 9)]),
                ("EUNCLEAN", [field(newest + 8, "I", 2), field(older + 8, "I", 9)]),
                ("EUNCLEAN", [field(newest + 72, "I", 1)]), ("EFILLING", [field(newest + 72, "I", 1), field(LIVE, "Q", live | 32)]),
                ("EFILLING", [field(LIVE, "Q", live | 32)]), ("ESLOTS", [fill(newest, bytes(PAGE - 8)), fill(older, bytes(PAGE - 8))]),
                ("EPOISONED", [field(LIVE, "Q", live | 2)]), ("ESUPERSEDED", [field(LIVE, "Q", live | 4)]),
                ("ERECOVERING", [field(LIVE, "Q", live | 8)]), ("ESUPERSEDED", [field(LIVE, "Q", live | 16)]),
                ("ESUPERSEDED", [field(LIVE, "Q", live | 18)]), ("EPOISONED", [field(LIVE, "Q", live | 46)]),
                ("ERECOVERING", [field(LIVE, "Q", live | 44)]), ("ESUPERSEDED", [field(LIVE, "Q", live | 36)])):
            data = bytearray(base)
            for change in changes:
                change(data)
            seal_slots(data)
            self.refused(code, single.open_bytes, data)

    def test_a_file_of_two_epochs_is_unclean_or_a_turn_was_not_finished(self):
        for layout in WINDOWS:
            base = at_rest(self.path, layout, keys=[b"a key"])
            self.assertGreater(number(base, PAGE, 8), number(base, 2 * PAGE, 8), "slot A is the newest")
            for change, state, code in (
                    (epochs(3, 6), 2, "EBUSY"), (epochs(3, 7), 2, "EBUSY"), (epochs(4, 7), 2, "EBUSY"), (epochs(4, 7), 1, "EUNCLEAN"),
                    (epochs(4, 6), 2, "EUNCLEAN"), (epochs(2, 7), 2, "EUNCLEAN"), (epochs(5, 7), 2, "EUNCLEAN"), (epochs(4, 7), 3, "ERECOVERING"),
                    (epochs(2**63, 1), 2, "EUNCLEAN")):
                data = bytearray(base)
                put(data, PAGE + 8, "I", state)
                change(data)
                self.refused(code, single.open_bytes, data)

    def test_of_two_slots_with_one_sequence_the_first_is_the_newest(self):
        base = at_rest(self.path)
        for first, second, code in ((1, 3, "EUNCLEAN"), (3, 1, "ERECOVERING")):
            data = bytearray(base)
            for page, state in ((PAGE, first), (2 * PAGE, second)):
                put(data, page, "Q", 7)
                put(data, page + 8, "I", state)
            seal_slots(data)
            self.refused(code, single.open_bytes, data)

    def test_a_counter_of_any_height_is_a_key(self):
        for height in range(1, 18):
            at_rest(self.path, "counting", num_bits=128 * 20, num_probes=5, keys=[b"a key"] * height)
            read = single.open_file(self.path)
            self.assertEqual((read.contains(b"a key"), read.contains(b"nobody")), (1, 0), height)

    def test_the_words_of_the_codes(self):
        texts = {single.SHIM.bfr_error_text(code) for code in single.NAMES}
        self.assertEqual(len(texts), len(single.NAMES), "each code has a text of its own")
        self.assertEqual({single.SHIM.bfr_error_name(code).decode() for code in single.NAMES}, {*single.CODES})
        for code, name, text in ((-9999, b"BFR_EUNKNOWN", b"an unknown code"), (0, b"BFR_OK", b"no error"), (1, b"BFR_OK", b"no error")):
            self.assertEqual((single.SHIM.bfr_error_name(code), single.SHIM.bfr_error_text(code)), (name, text))
        self.assertTrue(all(code < 0 for code in single.NAMES), "so that an error is no no")

    def test_what_is_not_open_or_asked_wrongly(self):
        closed = single.Filter()
        for _ in range(2):
            self.assertEqual((closed.contains(b""), closed.contains_digest(0), closed.health(), closed.verify()),
                             (single.CODES["BFR_ENOTOPEN"],) * 2 + ("BFR_ENOTOPEN",) * 2)
            self.refused("EMAGIC", lambda: closed.opened(single.SHIM.bfr_open(closed.address, os.fsencode(reader.__file__), 0, None)))
            closed.close()
        self.assertEqual(single.SHIM.bfr_contains(None, b"", 0), single.CODES["BFR_ENOTOPEN"])
        at_rest(self.path, keys=[b""])
        read = single.open_file(self.path)
        self.assertEqual((single.SHIM.bfr_contains(read.address, None, 0), single.SHIM.bfr_contains(read.address, None, 1)), (1, -1))
        for arguments in ((None, self.path, 0, None), (read.address, None, 0, None), (read.address, self.path, 4, None)):
            self.assertEqual(single.SHIM.bfr_open(*arguments), -1)
        self.assertEqual(single.SHIM.bfr_open_memory(read.address, 12, 100_000, None), -1, "no multiple of 8")

    def test_nothing_is_left_in_a_filter_that_was_refused(self):
        at_rest(self.path, hash="siphash")
        made = single.Filter()
        for open_it in (single.SHIM.bfr_open, lambda at, path, flags, secret: single.SHIM.bfr_open_memory(at, None, 0, secret)):
            self.assertNotEqual(open_it(made.address, self.path, 0, SECRET[::-1]), 0)
            self.assertEqual(ctypes.string_at(made.address, single.SHIM.shim_filter_bytes()), bytes(single.SHIM.shim_filter_bytes()))

    def test_what_is_not_a_file_of_the_form(self):
        folder = os.path.dirname(self.path)
        os.mkfifo(folder + b"/pipe")
        os.symlink(self.path, folder + b"/link")
        at_rest(self.path, hash="siphash")
        for name, code in (("", "ENOTREGULAR"), ("pipe", "ENOTREGULAR"), ("link", "ESYMLINK"), ("none", "EOPEN")):
            self.refused(code, single.open_file, os.path.join(folder, name.encode()))
        self.assertEqual(ctypes.get_errno(), errno.ENOENT)
        for secret in (None, bytes(16)):
            self.refused("ESECRET", single.open_file, self.path, secret)
        at_rest(self.path)
        self.refused("ESECRET", single.open_file, self.path, SECRET)


class InUse(Case):
    """A file that others change while the reader has it mapped."""

    def test_a_key_is_found_once_its_add_has_returned(self):
        for layout in ALL_IN_USE:
            at_rest(self.path, layout, keys=[b"first"])
            mapped, copy = single.open_file(self.path), single.open_file(self.path, flags=single.COPY)
            self.assertEqual([mapped.contains(b"later %d" % i) for i in range(20)], [0] * 20)
            handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
            for i in range(2000):
                key = b"later %d" % i
                self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
                self.assertEqual(mapped.contains(key), 1)
            self.refused("EBUSY", single.open_file, self.path)
            self.refused("EBUSY", single.open_file, self.path, None, single.COPY)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
            self.assertEqual((mapped.health(), copy.health(), mapped.contains(b"first"), copy.contains(b"first")), (None, None, 1, 1))
            self.assertLess(sum(copy.contains(b"later %d" % i) for i in range(2000)), 100, "a copy is of its moment")
            self.assertEqual(single.open_file(self.path, flags=single.COPY).contains(b"later 1999"), 1)

    def test_every_state_of_the_live_word_is_maybe(self):
        at_rest(self.path)
        read = single.open_file(self.path)
        names = {1: "EPOISONED", 2: "ESUPERSEDED", 3: "ERECOVERING", 4: "ESUPERSEDED", 5: "EFILLING", **dict.fromkeys(range(6, 15), "ELATER")}
        for bit in range(64):
            self.change_live_word(1 << bit)
            self.assertEqual((read.contains(b"nobody"), read.health()), (1, "BFR_" + names.get(bit, "ELOST")), bit)
            self.change_live_word(1 << bit)
            self.assertEqual((read.contains(b"nobody"), read.health()), (0, None))

    def test_the_word_of_another_file_is_lost_whatever_its_state(self):
        at_rest(self.path)
        read = single.open_file(self.path)
        for mask in (1 << 16 | 2, 1 << 63 | 4, 1 | 8, 1 << 15 | 16, 1 << 40 | 32, 1 << 30 | 1 << 6):
            self.change_live_word(mask)
            self.assertEqual((read.contains(b"nobody"), read.health()), (1, "BFR_ELOST"), hex(mask))
            self.change_live_word(mask)

    def test_every_bit_of_the_end_word_is_maybe(self):
        data = at_rest(self.path)
        read = single.open_file(self.path)
        end = number(data, len(data) - 8, 8)
        for bit in range(64):
            self.patch(len(data) - 8, struct.pack("<Q", end ^ 1 << bit))
            self.assertEqual((read.contains(b"nobody"), read.health()), (1, "BFR_ELOST"), bit)
            self.patch(len(data) - 8, struct.pack("<Q", end))
            self.assertEqual((read.contains(b"nobody"), read.health()), (0, None))

    def test_a_file_that_is_cut_and_grown_again_overwritten_or_replaced_is_lost(self):
        for layout in ALL_ASKED:
            data = at_rest(self.path, layout, keys=[b"a key"])
            read, copy = single.open_file(self.path), single.open_file(self.path, flags=single.COPY)
            os.truncate(self.path, 16384 + 64)
            os.truncate(self.path, len(data))
            self.assertEqual((read.contains(b"a key"), read.contains(b"nobody"), read.health()), (1, 1, "BFR_ELOST"))
            self.assertEqual((copy.contains(b"a key"), copy.contains(b"nobody"), copy.health()), (1, 0, None))
            self.patch(0, data)
            self.assertEqual((read.contains(b"nobody"), read.health()), (0, None))
            self.patch(0, bytes(len(data)))
            self.assertEqual((read.contains(b"a key"), read.health()), (1, "BFR_ELOST"))
            self.patch(0, data)
            at_rest(self.path, layout, keys=[b"another key"])  # replaces it
            self.assertEqual((read.contains(b"nobody"), read.health()), (1, "BFR_ESUPERSEDED"))
            self.assertEqual(single.open_file(self.path).contains(b"another key"), 1)

    def test_a_file_whose_state_changes_while_a_lookup_reads_its_bits_is_maybe(self):
        for layout in ALL_ASKED:
            data = at_rest(self.path, layout, keys=[b"a key"])
            good = number(data, LIVE, 8)
            for before, then, answer in ((good, good, 0), (good, good | 2, 1), (good | 2, good, 1), (good, 0, 1), (good ^ 1 << 40, good, 1)):
                self.assertEqual(single.SHIM.shim_ask_while(data, len(data), None, 12345, before, then), answer, (layout, before, then))


    def test_an_epoch_that_changes_while_a_lookup_reads_its_bits_is_maybe_where_keys_expire(self):
        for layout in bfs.LAYOUTS:
            data = at_rest(self.path, layout, keys=[b"a key"])
            live, good = LIVE_EPOCH, number(data, LIVE_EPOCH, 8)
            for before, then in ((good, good + 1), (good + 1, good + 2), (good, good + 2**31), (good, good + 2**32), (good, good + 2**63)):
                answer = single.SHIM.shim_ask_while_word(data, len(data), None, 12345, live, before, then)
                self.assertEqual(answer, int(layout in WINDOWS), (layout, before, then))
            for same in (good, good + 1, good + 2**40):
                self.assertEqual(single.SHIM.shim_ask_while_word(data, len(data), None, 12345, live, same, same), 0)

    def test_keys_expire_turn_by_turn_while_the_file_is_mapped(self):
        for layout in WINDOWS:
            number_of_epochs = reader.EPOCHS[bfs.LAYOUTS[layout]]
            at_rest(self.path, layout, num_bits=512 * 2000, num_probes=5)
            mapped = single.open_file(self.path)
            self.assertEqual((mapped.facts.epochs, mapped.facts.window_ms), (number_of_epochs, WINDOW_MS))
            handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
            for epoch in range(2 * number_of_epochs + 3):
                key = b"of epoch %d" % epoch
                self.assertEqual((mapped.contains(key), LIBRARY.bfs_add(handle, key, len(key)), mapped.contains(key)), (0, 1, 1))
                for older in range(epoch):
                    kept = int(older > epoch - number_of_epochs)
                    self.assertEqual(mapped.contains(b"of epoch %d" % older), kept, (layout, epoch, older))
                self.assertEqual(LIBRARY.bfs_turn(handle, epoch, None), 1)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)


class Grows(Case):
    """A file that grows while the reader has it open."""

    def of_slices(self, slices):
        """Makes a file. Returns its bytes, and where its end words are."""
        keys = [b"key %d" % i for i in range((0, 5, 50, 500)[slices])]
        data = at_rest(self.path, "growing", keys=keys, capacity=10, num_bits=1024, num_probes=8)
        self.assertEqual(number(data, LIVE_NUM_SLICES, 8), slices)
        self.assertEqual(number(data, LIVE, 2), 1)
        return data, [one.end_at for one in slices_of(data)]

    def test_a_mapped_file_has_the_keys_of_slices_that_are_added_later_and_a_copy_has_not(self):
        self.of_slices(1)
        mapped, copy = single.open_file(self.path), single.open_file(self.path, flags=single.COPY)
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        later = [b"later %d" % i for i in range(15_000)]
        for key in later:
            self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
            self.assertEqual(mapped.contains(key), 1)
        self.assertEqual(reader.open_file(self.path).num_slices, 5)
        self.refused("EBUSY", single.open_file, self.path)
        self.assertEqual((mapped.health(), copy.health(), {*mapped.contains_column(*single.column(later))}), (None, None, {1}))
        self.assertLess(sum(copy.contains(key) for key in later[:1000]), 100, "a copy is of its moment")
        strangers = [b"no %d" % i for i in range(1000)]
        answers = [LIBRARY.bfs_contains(handle, key, len(key)) for key in strangers]
        self.assertEqual(mapped.contains_column(*single.column(strangers)), bytes(answers))
        self.assertLess(sum(answers), 100)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_slices_that_were_not_mapped_are_maybe_until_the_file_is_opened_again(self):
        data, _ = self.of_slices(1)
        single.SHIM.shim_fail(len(data), 0, 0)  # a system that maps no more
        mapped = single.open_file(self.path)
        single.SHIM.shim_fail(0, 0, 0)
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        self.assertEqual((mapped.contains(b"nobody"), mapped.health()), (0, None))
        for i in range(30):
            LIBRARY.bfs_add(handle, b"later %d" % i, len(b"later %d" % i))
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        self.assertEqual((mapped.contains(b"nobody"), mapped.contains(b"later 29"), mapped.health()), (1, 1, "BFR_EGREW"))
        again = single.open_file(self.path)
        self.assertEqual((again.contains(b"nobody"), again.contains(b"later 29"), again.health()), (0, 1, None))
        self.change_live_word(4)
        self.assertEqual(mapped.health(), "BFR_ESUPERSEDED", "a state comes first")

    def test_the_number_of_slices_in_bytes_that_end_is_maybe(self):
        data, _ = self.of_slices(2)
        read = single.open_bytes(data)
        at = ctypes.addressof(read.keep) + -ctypes.addressof(read.keep) % 8 + LIVE_NUM_SLICES
        for slices, answer, health in ((2, 0, None), (3, 1, "BFR_EGREW"), (5, 1, "BFR_EGREW"), (6, 1, "BFR_ELOST"), (0, 1, "BFR_ELOST"), (1, 0, None),
                                       (2**32 + 1, 1, "BFR_ELOST"), (2**63 + 2, 1, "BFR_ELOST")):
            ctypes.memmove(at, struct.pack("<Q", slices), 8)
            self.assertEqual((read.contains(b"nobody"), read.health()), (answer, health), slices)

    def test_the_file_s_end_word_and_the_last_one_must_be_right(self):
        data, ends = self.of_slices(3)
        read, bytes_of = single.open_file(self.path), lambda at: bytes(data[at:at + 8])
        for slice, (answer, health) in enumerate(((1, "BFR_ELOST"), (0, None), (1, "BFR_ELOST"))):
            for bit in range(64):
                self.patch(ends[slice], struct.pack("<Q", number(data, ends[slice], 8) ^ 1 << bit))
                self.assertEqual((read.contains(b"nobody"), read.health()), (answer, health), (slice, bit))
                self.assertEqual(read.contains(b"key 3"), 1)
                self.patch(ends[slice], bytes_of(ends[slice]))
            self.assertEqual((read.contains(b"nobody"), read.health()), (0, None))
        os.truncate(self.path, ends[2])
        os.truncate(self.path, len(data))
        self.assertEqual((read.contains(b"nobody"), read.health()), (1, "BFR_ELOST"))

    def test_a_word_that_changes_while_a_lookup_reads_its_bits(self):
        data, ends = self.of_slices(3)
        ask = lambda at, then: single.SHIM.shim_ask_while_word(data, len(data), None, 12345, at, number(data, at, 8), then)
        self.assertEqual([ask(ends[slice], 0) for slice in range(3)], [1, 0, 1])
        self.assertEqual([ask(LIVE_NUM_SLICES, then) for then in (1, 2, 3, 4, 6)], [0] * 5, "the number is loaded once")

    def test_a_file_that_grows_while_it_is_copied_is_not_copied(self):
        for slices, first in ((1, 3), (3, 4)):
            for nth in (first, first + 1):
                self.of_slices(slices)
                self.before_read(nth, lambda: self.patch(LIVE_NUM_SLICES, struct.pack("<Q", slices + 1)))
                self.refused("ECHANGED", single.open_file, self.path, None, single.COPY)

    def test_each_read_fails_or_ends_early(self):
        for flags, reads in ((0, 3), (single.COPY, 5)):
            for nth in range(1, reads + 1):
                self.of_slices(3)
                self.before_read(nth, None, -1, errno.EIO)
                self.refused("EREAD", single.open_file, self.path, None, flags)
            self.before_read(reads + 1, None, -1, errno.EIO)
            self.assertEqual(single.open_file(self.path, flags=flags).health(), None)

    def every_way_refuses(self, data, code):
        pathlib.Path(os.fsdecode(self.path)).write_bytes(data)
        for flags in (0, single.COPY):
            self.refused(code, single.open_file, self.path, None, flags)
        self.refused(code, single.open_bytes, bytes(data))

    def test_a_file_from_before_a_power_cut_that_counts_other_slices_than_its_slot_is_refused(self):
        """Of the slices that were added after the last sync some pages, or all, may be lost, and with them the file's end; the live page
        may be of before. Only a recovery by the library knows what is left."""
        data, ends = self.of_slices(3)

        def left(state, durable, counted, end=None):
            changed = bytearray(data)
            for page in (PAGE, 2 * PAGE):
                changed[page + 8:page + 32] = struct.pack("<II", state, durable) + b"another boot's i"
            put(changed, LIVE_NUM_SLICES, "Q", counted)
            seal_slots(changed)
            return changed[:end]
        clean, dirty = 1, 2
        for durable in (1, 2):
            self.every_way_refuses(left(dirty, durable, 3), "EBUSY")
            self.every_way_refuses(left(clean, durable, 3), "EUNCLEAN")
            for end in (ends[2], ends[2] + 7, ends[1] + 8):
                self.every_way_refuses(left(dirty, durable, 3, end), "ELIVEWORD")
            zeros = left(dirty, durable, 3)
            zeros[ends[1] + 8:] = bytes(len(zeros) - ends[1] - 8)
            self.every_way_refuses(zeros, "ELIVEWORD")
        for state, (durable, counted) in itertools.product((clean, dirty), ((3, 1), (3, 2), (2, 1))):
            self.every_way_refuses(left(state, durable, counted), "EUNCLEAN")
        self.every_way_refuses(left(dirty, 3, 3), "EBUSY")
        pathlib.Path(os.fsdecode(self.path)).write_bytes(left(clean, 3, 3))  # closed before the boot
        self.assertEqual(single.open_file(self.path).contains(b"key 3"), 1)

    def test_a_file_that_grew_while_it_was_opened_is_in_use_and_not_cut(self):
        """Its length was looked at before the live page."""
        data, ends = self.of_slices(3)
        for page in (PAGE, 2 * PAGE):
            data = data[:page + 8] + struct.pack("<II", 2, 1) + data[page + 16:]
        data = bytearray(data)
        seal_slots(data)

        def grown():
            with open(self.path, "wb") as file:
                file.write(data)
        with open(self.path, "wb") as file:
            file.write(data[:ends[0] + 8])
        self.before_read(1, grown)
        self.refused("EBUSY", single.open_file, self.path)


class Damage(Case):
    def files(self):
        yield at_rest(self.path, "growing", keys=PRESENT[:600], capacity=60, note=b"a note"), None
        yield at_rest(self.path, "blocked", keys=PRESENT, note=b"a note"), None
        yield at_rest(self.path, "counting", "siphash", keys=PRESENT), SECRET
        yield at_rest(self.path, "window", keys=PRESENT, note=b"a note"), None
        yield at_rest(self.path, "static", keys=PRESENT, fpr=0.2), None
        at_rest(self.path, "classic", keys=PRESENT)
        bfs.seal(LIBRARY, self.path, self.path + b".sealed")
        yield pathlib.Path(os.fsdecode(self.path + b".sealed")).read_bytes(), None

    def test_no_flipped_bit_of_the_header_makes_a_file_that_says_a_wrong_no(self):
        keys = single.column(PRESENT[:50])
        step = 1 if SCALE == 1 else 7
        for data, secret in self.files():
            flip = lambda begin, end, step=1: single.SHIM.shim_flip(data, len(data), begin, end, step, secret, *keys)
            # The counters of keys added and removed, and syncing, which a killed closer may leave.
            # Of keys that expire: when the epoch began, in both slots, is under a checksum; that a turn was not finished is one bit.
            expected = 32 * 2 * 64 + 1 + (number(data, 32, 2) == 5)
            self.assertLessEqual(abs(flip(0, 16384, step) - expected / step), 1 + (step > 1))
            for body_end, end, counts in self.ends_of(data):
                self.assertEqual(flip(end, end + 8), 0 if counts else 64)
                self.assertEqual(flip(body_end, end, 8), end - body_end, "no byte between body and end word matters")

    def ends_of(self, data):
        """Returns where each slice ends, where its end word is, and whether that counts. A body that does not grow is one slice."""
        slices = number(data, LIVE_NUM_SLICES, 8)
        if slices == 1:
            return [(number(data, 72, 8) + number(data, 80, 8), len(data) - 8, True)]
        return [(one.start + one.body_bytes, one.end_at, i in (0, slices - 1)) for i, one in enumerate(slices_of(data)[:slices])]

    def test_a_file_cut_to_any_shorter_length_is_refused(self):
        for data, secret in self.files():
            self.assertEqual(single.SHIM.shim_cut(data, len(data), secret, *single.column(PRESENT[:50])), 0)
            self.assertEqual(single.open_bytes(data + b"anything", secret).contains(PRESENT[0]), 1)
            for length in (0, 16383, 16384, 16385, len(data) - 4096, len(data) - 9, len(data) - 8, len(data) - 1):
                with open(self.path, "wb") as file:
                    file.write(data[:length])
                for flags in (0, single.COPY):
                    self.assertRaises(single.Refused, single.open_file, self.path, secret, flags)

    def test_scrambled_identities_with_a_right_checksum_read_nothing_outside_the_file(self):
        for seed, (data, secret) in enumerate(self.files()):
            self.assertGreater(single.SHIM.shim_scramble(data, len(data), 20_000 // SCALE, seed, secret), 20 // SCALE)

    def test_damage_of_a_sealed_file_is_found(self):
        *_, (data, _) = self.files()
        self.assertIsNone(single.open_bytes(data).verify())
        body_end = number(data, 72, 8) + number(data, 80, 8)
        for spot in [16384, (16384 + body_end) // 2, body_end - 1, LIVE + 64, LIVE + 64 * 32] + [len(data) - 8 - 1]:
            broken = bytearray(data)
            broken[spot] ^= 4
            self.assertEqual(single.open_bytes(broken).verify(), "BFR_EDAMAGED", spot)
        other = bytearray(data)
        self.assertEqual(number(other, 128, 2), 3, "the seal")
        other[136 + 24] ^= 1  # the checksum of the checksums
        seal_identity(other)
        self.assertEqual(single.open_bytes(other).verify(), "BFR_EDAMAGED")


class SystemCalls(Case):
    def test_each_read_fails_or_ends_early(self):
        at_rest(self.path)
        for flags, reads in ((0, 2), (single.COPY, 4)):
            for nth in range(1, reads + 1):
                for result, error, said in ((-1, errno.EIO, errno.EIO), (0, 0, 0)):
                    at_rest(self.path)
                    self.before_read(nth, lambda: error or os.truncate(self.path, 100), result, error)
                    self.refused("EREAD", single.open_file, self.path, None, flags)
                    self.assertEqual(ctypes.get_errno(), said)
            at_rest(self.path)
            self.before_read(reads + 1, None, -1, errno.EIO)
            self.assertEqual(single.open_file(self.path, flags=flags).health(), None)

    def test_interrupted_and_short_reads_are_continued(self):
        data = at_rest(self.path, keys=PRESENT)
        for flags in (0, single.COPY):
            self.before_read(3, None, -1, errno.EINTR, 1000)
            read = single.open_file(self.path, flags=flags)
            self.assertEqual({*read.contains_column(*single.column(PRESENT))}, {1})
            self.assertEqual(read.contains(b"nobody"), int(reader.open_file(self.path).contains(b"nobody")))
        self.assertGreater(len(data), 16384)

    def test_a_slot_that_is_torn_for_a_moment_is_read_again(self):
        data = at_rest(self.path)
        self.patch(PAGE, bytes(PAGE))
        self.refused("EUNCLEAN", single.open_file, self.path)
        self.before_read(3, lambda: self.patch(PAGE, data[PAGE:2 * PAGE]))
        self.assertIsNone(single.open_file(self.path).health())

    def test_a_file_that_turns_while_it_is_copied_is_not_copied(self):
        for layout in WINDOWS:
            for nth in (3, 4):
                at_rest(self.path, layout)
                self.before_read(nth, lambda: self.patch(LIVE_EPOCH, struct.pack("<Q", 1)))
                self.refused("ECHANGED", single.open_file, self.path, None, single.COPY)
                self.assertIsNone(single.open_file(self.path, None, single.COPY).health())

    def test_a_file_that_changes_while_it_is_copied_is_not_copied(self):
        for offset, change in ((LIVE, lambda word: word ^ 2), (PAGE, lambda word: word + 2), (88, lambda word: word ^ 1)):
            data = at_rest(self.path)
            word = struct.pack("<Q", change(number(data, offset, 8)))
            for nth in (3, 4):
                self.restore(data)
                self.before_read(nth, lambda: self.patch(offset, word))
                self.refused("ECHANGED", single.open_file, self.path, None, single.COPY)
        self.restore(data)
        self.before_read(3, lambda: self.patch(len(data) - 8, bytes(8)))
        self.refused("ELIVEWORD", single.open_file, self.path, None, single.COPY)

    def restore(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def test_without_memory_a_map_or_a_known_filesystem(self):
        at_rest(self.path)
        single.SHIM.shim_fail(1, 0, 0)
        self.refused("EMAP", single.open_file, self.path)
        self.assertIsNone(single.open_file(self.path, flags=single.COPY).health())
        single.SHIM.shim_fail(0, 1, 0)
        self.refused("EMEMORY", single.open_file, self.path, None, single.COPY)
        for filesystem in (0x6969, -1):  # NFS; one that does not answer
            single.SHIM.shim_fail(0, 0, filesystem)
            for flags in (0, single.COPY):
                self.refused("EFILESYSTEM", single.open_file, self.path, None, flags)
                self.assertIsNone(single.open_file(self.path, None, flags | single.ANY_FILESYSTEM).health())

    def test_no_descriptor_no_map_and_no_copy_is_left(self):
        data = at_rest(self.path)
        before, copies = len(os.listdir("/proc/self/fd")), single.SHIM.shim_copies()
        for flags in (0, single.COPY):
            read = single.open_file(self.path, flags=flags)
            self.assertEqual(os.fsdecode(self.path) in MAPS.read_text("utf-8"), flags == 0)
            read.close()
            self.refused("ESECRET", single.open_file, self.path, SECRET, flags)
        self.before_read(3, lambda: self.patch(PAGE, data[:8]))
        self.refused("ECHANGED", single.open_file, self.path, None, single.COPY)
        self.assertEqual(single.SHIM.shim_copies(), copies)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertNotIn(os.fsdecode(self.path), MAPS.read_text("utf-8"))


class Compiled(Case):
    def compile(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), " ".join(map(str, command)))

    def test_it_compiles_without_a_warning_as_c_and_as_c_plus_plus(self):
        for family in (("gcc", "g++"), ("clang-14", "clang++-14")):
            for language, compiler in zip(("c", "c++"), family):
                if not shutil.which(compiler):
                    self.skipTest(f"{compiler}: not on this machine. Debian's package: {compiler}")
                for standard in {"c": ("c99", "gnu99", "c11", "gnu17"), "c++": ("c++11", "gnu++17", "c++20")}[language]:
                    source = self.path + b".source"
                    pathlib.Path(os.fsdecode(source)).write_text(
                        '#define BFSTORE_READER_IMPLEMENTATION\n#include "bfstore_reader.h"\n#include "bfstore_reader.h"\n', "utf-8")
                    self.compile(compiler, "-x", language, f"-std={standard}", *WARNINGS, f"-I{single.HEADER.parent}", "-fsyntax-only", source)

    def test_a_c99_program_asks_with_and_without_products_of_128_bits(self):
        ask = [[ASK]]
        for flags in (["-DBFR_NO_INT128"], ["-m32"]):
            program = os.fsdecode(self.path) + flags[0]
            command = [CC, "-std=c99", "-O1", *flags, *WARNINGS, f"-I{single.HEADER.parent}", str(HERE / "ask.c"), "-o", program]
            if flags != ["-m32"] or subprocess.run(command, capture_output=True).returncode == 0:  # few machines have the libraries
                self.compile(*command)
                ask.append([program])
        for layout in ALL_ASKED:
            at_rest(self.path, layout, keys=PRESENT)
            mine = single.open_file(self.path)
            strangers = sum(mine.contains(b"no %d" % i) for i in range(100))
            self.assertLess(strangers, 20)
            for program in ask:
                for more in ([], ["copy"]):
                    said = subprocess.run([*program, os.fsdecode(self.path), "0", "2000", *more], env=OF_PROGRAMS, capture_output=True, text=True)
                    self.assertEqual((said.stdout, said.returncode), (f"maybe 2000 strangers {strangers}\n", 0), program)
        self.patch(3, b"\0")
        said = subprocess.run([ASK, os.fsdecode(self.path), "0", "9"], env=OF_PROGRAMS, capture_output=True, text=True)
        self.assertEqual((said.stdout, said.returncode), ("BFR_EMAGIC: not a filter file\n", 1))

    def test_the_declarations_need_no_other_header_than_the_standard_integers_and_sizes(self):
        before = single.HEADER.read_text("utf-8").split("#if defined(BFSTORE_READER_IMPLEMENTATION) && !defined(BFSTORE_READER_IMPLEMENTED)")
        self.assertEqual(len(before), 2)
        self.assertEqual([line for line in before[0].splitlines() if line.startswith("#include")], ["#include <stddef.h>", "#include <stdint.h>"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

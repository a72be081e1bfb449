"""The independent reader (reader.py, written from FORMAT.md alone) and the library give the same answers about
the same files: both layouts, many k, seeds, hashes, sizes and notes; file, embedded and bare form.

Arguments: the shared library.
"""
import ctypes
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import readers as reader

LIBRARY = bfs.load(sys.argv.pop(1))
# The reader takes long for a key, and a run that is shortened asks fewer.
ABSENT, SAMPLE, MOST_KEYS = (5000, 3000, 400_000) if os.environ.get("KEY_SCALE", "1") == "1" else (1000, 500, 40_000)
ALL_ONES = 2**64 - 1
SECRET = bytes(range(0xF0, 0x100))  # the secret of every filter whose hash is siphash

# layout, m, k, hash, seed, note: every k and size that is a corner, each at least once with both hashes and layouts.
SHAPES = [
    ("blocked", 512, 1, "xxh3", 0, None),
    ("blocked", 512, 4, "xxh3", ALL_ONES, b""),
    ("blocked", 1024, 64, "xxh3", 7, b"\x00\xff any bytes"),
    ("blocked", 1536, 8, "external", None, b"tiny"),
    ("blocked", 512 * 1001, 6, "xxh3", 0x0123456789ABCDEF, bytes(range(256)) * 4),
    ("blocked", 512 * 1001, 2, "external", None, None),
    ("blocked", 512 * 4096, 13, "xxh3", None, b"seven b"),
    ("blocked", 512 * 4096 * 8 - 512, 7, "xxh3", 2, b"one line short of 2 MiB"),
    ("blocked", 512 * 4096 * 8, 7, "xxh3", 3, b"exactly 2 MiB"),
    ("blocked", 512 * 50021, 10, "external", None, b"over 2 MiB"),
    ("blocked", 512, 5, "siphash", None, None),
    ("blocked", 512 * 1001, 7, "siphash", None, b"secret"),
    ("blocked", 512 * 4096 * 8 + 512, 64, "siphash", None, bytes(1024)),
    ("classic", 99991, 6, "siphash", None, b"secret"),
    ("classic", 1, 1, "xxh3", 0, None),
    ("classic", 63, 3, "xxh3", 1, b"\n"),
    ("classic", 64, 2, "external", None, None),
    ("classic", 65, 5, "xxh3", ALL_ONES, None),
    ("classic", 1001, 64, "xxh3", 9, b"k at its limit"),
    ("classic", 99991, 7, "xxh3", None, b"m is a prime"),
    ("classic", 1000003, 11, "external", None, b"external"),
    ("classic", 2**20, 16, "xxh3", 2**63, b"m is a power of two"),
    ("classic", 20000003, 9, "xxh3", 5, b"over 2 MiB"),
    ("classic", 20000003, 1, "external", None, b"over 2 MiB, one probe"),
    ("counting", 128, 1, "xxh3", 0, None),
    ("counting", 256, 64, "external", None, b"k at its limit"),
    ("counting", 128 * 1001, 6, "siphash", None, b"secret"),
    ("counting", 128 * 32769, 40, "xxh3", ALL_ONES, b"over 2 MiB"),
    ("window", 512, 1, "xxh3", 0, None),
    ("window", 512 * 1001, 6, "siphash", None, b"secret"),
    ("window", 512 * 32769, 5, "xxh3", ALL_ONES, b"over 2 MiB"),
    ("window-4", 1024, 64, "external", None, b"k at its limit"),
    ("window-4", 512 * 1001, 5, "xxh3", 3, bytes(1024)),
    ("window-2", 512 * 3, 3, "xxh3", 2, None),
    ("window-2", 512 * 999, 7, "external", None, None),
    ("classic", 124, 4, "murmur3", None, None),
    ("classic", 50021, 7, "murmur3", None, b"signed"),
    ("classic", 50021, 7, "murmur3-unsigned", None, b"unsigned"),
    ("classic", 1001, 64, "murmur3-unsigned", None, None),
    ("classic", 2**16, 7, "java-polynomial", None, b"polynomials"),
    ("classic", 15 * 2**12, 7, "java-polynomial", None, b"a mask with gaps"),
    ("classic", 7 * 9586, 7, "jaybird", None, b"slices"),
    ("classic", 8 * 9586, 8, "pybloom-live", None, b"slices"),
    ("classic", 10 * 40000, 10, "jaybird", None, None),
    ("classic", 50021, 7, "pybloomfilter", None, b"two words"),
    ("classic", 50024, 6, "leveldb", None, None),
    ("classic", 512 * 99, 6, "rocksdb", None, b"lines"),
    ("classic", 256 * 211, 8, "parquet", None, b"blocks"),
    ("classic", 50021, 7, "libbloom", None, None),
    ("classic", 50024, 6, "rbloom", None, b"a generator"),
    ("classic", 50024, 8, "java-bytes", None, b"bits of bytes"),
    ("classic", 9585, 7, "dcso", None, b"a generator"),
    ("classic", 8192, 7, "dcso", None, b"a generator that a power of two breaks"),
    ("classic", 9600, 7, "guava", None, b"two numbers"),
    ("classic", 9600, 64, "guava-32", None, None),
    ("classic", 11072, 8, "redisbloom", None, b"two hashes"),
    ("classic", 9586, 7, "bits-and-blooms", None, b"four numbers"),
]
# Of the first slice. With half of its bits, it has grown.
GROWING_SHAPES = [
    ("growing", 512, 1, "xxh3", 0, None),
    ("growing", 512 * 1001, 6, "siphash", None, b"secret"),
    ("growing", 1024, 64, "external", None, b"k at its limit"),
    ("growing", 512 * 3277, 5, "xxh3", ALL_ONES, b"a second slice over 2 MiB"),
    ("growing", 512 * 32769, 7, "xxh3", 2, b"over 2 MiB"),
]
BARE_SHAPES = [
    ("blocked", 512, 3, "xxh3"), ("blocked", 512 * 77, 8, "external"), ("blocked", 512 * 5, 64, "xxh3"),
    ("classic", 64, 2, "xxh3"), ("classic", 6400, 7, "external"), ("classic", 64 * 1009, 5, "xxh3"),
    ("counting", 128, 3, "xxh3"), ("counting", 128 * 33, 7, "external"),
]


def window_ms(layout):
    return 86_400_000 if layout.startswith("window") else None


def options_of(shape, **more):
    layout, m, k, hash_name, seed, note = shape
    more["window_ms"] = window_ms(layout)
    secret = SECRET if hash_name == "siphash" else None
    if hash_name == "java-polynomial":
        more["seeds"] = [5, 7, 11, 13, 31, 37, 61][:k]
    if hash_name == "pybloomfilter":
        more["seeds"] = [2**32 - 1 - i for i in range(k)]
    return bfs.options(num_bits=m, num_probes=k, layout=layout, hash=hash_name, seed=seed, note=note, secret=secret, **more)


def secret_of(shape):
    return SECRET if shape[3] == "siphash" else None


def keys_for(shape, prefix, count):
    """Returns keys (or digests, for the external hash) that are the same in every run."""
    if shape[3] == "external":
        source = random.Random(f"{prefix} {shape}")
        return [source.getrandbits(64) for _ in range(count)]
    corners = [b"", b"\x00", b"a\x00b"] + [b"L" * length for length in (3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1000)]
    if prefix == "absent":
        corners = [prefix.encode() + corner for corner in corners]
    return (corners + [b"%s %d" % (prefix.encode(), i) for i in range(count)])[:count]


def add_all(handle, shape, keys):
    if shape[3] == "external":
        return LIBRARY.add_digests(handle, (ctypes.c_uint64 * len(keys))(*keys), len(keys))
    lengths = (ctypes.c_size_t * len(keys))(*map(len, keys))
    return LIBRARY.add_many(handle, (ctypes.c_char_p * len(keys))(*keys), lengths, len(keys))


class ReaderAgrees(unittest.TestCase):
    false_positives = 0
    noes = 0

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-reader-")
        self.addCleanup(folder.cleanup)
        self.path = os.fsencode(folder.name) + b"/filter.bf"

    def ask_both(self, handle, read, shape, present):
        """Checks that the library's answers are the reader's, one by one and as a batch, for present and for absent keys."""
        external = shape[3] == "external"
        absent = keys_for(shape, "absent", ABSENT)
        sample = random.Random(1).sample(present, min(len(present), SAMPLE))
        expected = [int(read.contains_digest(x) if external else read.contains(x)) for x in sample + absent]
        self.assertEqual(sum(expected[:len(sample)]), len(sample), "the reader misses a key that was added")
        self.assertEqual(self.one_by_one(handle, sample + absent, external), expected)
        self.assertEqual(self.as_batch(handle, sample + absent, external), expected)
        ReaderAgrees.false_positives += sum(expected[len(sample):])
        ReaderAgrees.noes += expected.count(0)

    def one_by_one(self, handle, keys, external):
        if external:
            return [LIBRARY.bfs_contains_digest(handle, x) for x in keys]
        return [LIBRARY.bfs_contains(handle, x, len(x)) for x in keys]

    def as_batch(self, handle, keys, external):
        count, answers = len(keys), (ctypes.c_uint8 * len(keys))(*([7] * len(keys)))
        if external:
            maybes = LIBRARY.contains_digests(handle, (ctypes.c_uint64 * count)(*keys), count, answers)
        else:
            offsets, end = [0], 0
            for key in keys:
                end += len(key)
                offsets.append(end)
            column = (ctypes.c_int64 * len(offsets))(*offsets)
            maybes = LIBRARY.contains_column64(handle, b"".join(keys), column, count, answers)
        self.assertEqual(maybes, sum(answers))
        return list(answers)

    def same_facts(self, handle, read):
        stats = bfs.statistics(LIBRARY, handle)
        times = sum(read.growth**i for i in range(read.num_slices)) if read.growth else 1  # as large as the first slice
        self.assertEqual((stats.num_bits, stats.num_probes, stats.layout, stats.hash, stats.seed, stats.body_bytes),
                         (read.m * times, read.k, read.layout, read.hash, read.seed, len(read.body) * times))
        self.assertEqual((stats.capacity, stats.fpr), ((read.n or 0) * times, read.p or 0.0))
        if read.state is not None:  # a file
            self.assertEqual((stats.epochs, stats.window_ms, stats.epoch, stats.turned_at),
                             (read.epochs, read.window_ms, read.epoch, read.turned_at))
        return stats

    def same_digests(self, handle, read):
        digest = ctypes.c_uint64()
        for length in [*range(301), 1000, 5000]:
            key = random.Random(length).randbytes(length)
            code = LIBRARY.bfs_digest(handle, key, length, ctypes.byref(digest))
            if read.hash > 3:
                self.assertEqual(code, -20)  # BFS_EKEYONLY
                self.assertRaisesRegex(reader.Refused, "^BFS_EKEYONLY$", read.digest, key)
            elif read.hash != 2:
                self.assertEqual((code, digest.value), (0, read.digest(key)), f"key of {length} bytes")
            else:
                self.assertEqual(code, -11)  # BFS_EDIGESTONLY
                self.assertRaisesRegex(reader.Refused, "^BFS_EDIGESTONLY$", read.digest, key)

    def keys_to_fill(self, shape):
        """Returns at most MOST_KEYS keys, which set up to half of the bits. So there are noes and false positives."""
        words = reader.EPOCHS.get(bfs.LAYOUTS[shape[0]], 1)  # of which all are in one
        return keys_for(shape, "present", max(1, min(int(0.69 * shape[1] / shape[2] / words), MOST_KEYS)))

    def test_parts_are_read_alike_and_refuse_the_digests_of_others(self):
        source = random.Random(4)
        for layout in ("blocked", "counting", "window", "window-4", "window-2"):
            for parts in (2, 3, 7):
                shape = (layout, 512 * 3 * 2 * 7 * 4, 6, "external", None, None)
                digests = [source.getrandbits(64) for _ in range(1500)]
                ends = [(i << 64) // parts + near for i in range(1, parts) for near in (-1, 0, 1, 2)] + [0, 2**64 - 1]
                for number in range(parts):
                    options = options_of(shape, part=number, num_parts=parts)
                    handle = bfs.call(LIBRARY.bfs_create, self.path, bfs.REPLACE, options)
                    own = [digest for digest in digests + ends if digest * parts >> 64 == number]
                    for digest in own:
                        self.assertGreaterEqual(LIBRARY.bfs_add_digest(handle, digest), 0)
                    read = reader.open_file(self.path)
                    for digest in own + [source.getrandbits(64) for _ in range(200)] + ends:
                        try:
                            expected = int(read.contains_digest(digest))
                        except reader.Refused as refused:
                            self.assertEqual(refused.code, "BFS_EPART")
                            expected = -21
                        self.assertEqual(LIBRARY.bfs_contains_digest(handle, digest), expected)
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_files_of_every_shape_are_read_alike(self):
        for shape in SHAPES + GROWING_SHAPES:
            with self.subTest(shape=shape):
                self.one_file(shape)
        self.assertGreater(ReaderAgrees.false_positives, 10000)
        self.assertGreater(ReaderAgrees.noes, 10000)

    def one_file(self, shape):
        keys = self.keys_to_fill(shape)
        handle = bfs.call(LIBRARY.bfs_create, self.path, 0, options_of(shape))
        fresh = add_all(handle, shape, keys)
        self.assertGreater(fresh, 0)
        for owner, epoch, mark in ((0, 0, 5), (ALL_ONES, ALL_ONES, ALL_ONES), (3, 6, 9), (0, 0, 4), (4, 8, 0), (3, 7, 1), (5, 5, 5)):
            self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(owner, epoch, mark), None), 0)
        self.assertEqual(LIBRARY.bfs_drop_owner(handle, 5, None), 0)
        read = reader.open_file(self.path, secret_of(shape))
        self.assertEqual((read.state, read.clean), (2, False), "a file that is open for writing is dirty")
        self.ask_both(handle, read, shape, keys)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

        read = reader.open_file(self.path, secret_of(shape))
        self.assertEqual((read.state, read.clean), (1, True), "closed by its last writer")
        self.assertEqual((read.layout, read.m, read.k), (bfs.LAYOUTS[shape[0]], *shape[1:3]))
        self.assertEqual(read.note or b"", shape[5] or b"")
        self.assertEqual(read.marks, {0: (5, 0), 3: (1, 7), 4: (0, 8), ALL_ONES: (ALL_ONES, ALL_ONES)})
        if shape[4] is not None:
            self.assertEqual(read.seed, shape[4])
        handle = bfs.open_path(LIBRARY, self.path, secret=secret_of(shape))
        stats = self.same_facts(handle, read)
        self.assertEqual((stats.keys_added, stats.keys_removed), (read.keys_added, read.keys_removed))
        self.assertEqual(stats.keys_added, len(keys) if shape[0] == "counting" else fresh)
        self.assertEqual(bfs.marks_of(LIBRARY, handle), read.marks)
        asked = [(0, 0), (0, 1), (1, 0), (3, 0), (3, 6), (3, 7), (ALL_ONES, ALL_ONES)]
        self.assertEqual([LIBRARY.bfs_get_mark(handle, *one) for one in asked], [5, 0, 0, 0, 0, 1, ALL_ONES])
        self.same_digests(handle, read)
        self.ask_both(handle, read, shape, keys)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        os.unlink(self.path)

    def test_keys_that_are_removed_are_gone_and_counted_alike(self):
        for exclusive in (False, True):
            with self.subTest(exclusive=exclusive):
                options = bfs.options(num_bits=128 * 50, num_probes=5, layout="counting", seed=3)
                handle = bfs.call(LIBRARY.bfs_create, self.path, 0, options)
                LIBRARY.bfs_close(handle, None)
                handle = bfs.open_path(LIBRARY, self.path, bfs.EXCLUSIVE if exclusive else bfs.WRITE)
                keys = [b"key %d" % (i % 400) for i in range(600)]
                for key in keys:
                    self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
                gone = keys[200:500]
                for key in gone[:150]:
                    self.assertEqual(LIBRARY.bfs_remove(handle, key, len(key)), 1)
                array = (ctypes.c_uint64 * 150)(*(reader.open_file(self.path).digest(key) for key in gone[150:]))
                digests = bfs.many_keys(bfs.KEYS_DIGESTS, 150, array)
                self.assertEqual(LIBRARY.bfs_remove_keys(handle, ctypes.byref(digests)), 150)
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                read = reader.open_file(self.path)
                self.assertEqual((read.keys_added, read.keys_removed), (600, 300))
                handle = bfs.open_path(LIBRARY, self.path)
                for key in {*keys, b"absent 1", b"absent 2"}:
                    digest = read.digest(key)
                    self.assertEqual(LIBRARY.count(handle, key, len(key)), read.count_digest(digest))
                    self.assertEqual(LIBRARY.count_digest(handle, digest), read.count_digest(digest))
                    self.assertEqual(LIBRARY.bfs_contains(handle, key, len(key)), int(read.contains(key)))
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                os.unlink(self.path)

    def test_a_body_of_2_MiB_begins_at_2_MiB_and_a_shorter_one_right_behind_the_header(self):
        for lines, start in ((1, 16384), (32767, 16384), (32768, 2097152), (32769, 2097152)):
            with self.subTest(lines=lines):
                options = bfs.options(num_bits=512 * lines, num_probes=6)
                LIBRARY.bfs_close(bfs.call(LIBRARY.bfs_create, self.path, 0, options), None)
                read = reader.open_file(self.path)
                self.assertEqual(read.start, start)
                self.assertGreaterEqual(os.stat(self.path).st_size, start + 64 * lines)
                os.unlink(self.path)

    def test_every_way_of_sizing_makes_a_file_that_the_reader_can_read(self):
        for given in ({"capacity": 10000}, {"capacity": 10000, "fpr": 0.001}, {"capacity": 10000, "bits_per_key": 12.5},
                      {"capacity": 10000, "max_bytes": 65536}, {"num_bits": 70001, "num_probes": 5, "capacity": 900}):
            for layout in (*bfs.LASTING_LAYOUTS, *bfs.GROWING_LAYOUTS):
                with self.subTest(layout=layout, given=given):
                    handle = bfs.create(LIBRARY, self.path, layout=layout, window_ms=window_ms(layout), **given)
                    read = reader.open_file(self.path)
                    self.same_facts(handle, read)
                    self.assertEqual(read.n, given["capacity"])
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    os.unlink(self.path)

    def test_the_live_word_makes_both_say_maybe_while_the_file_is_in_doubt(self):
        for bit, name in enumerate(("poisoned", "superseded", "recovering", "replaced", "filling"), 1):
            with self.subTest(name):
                handle = bfs.create(LIBRARY, self.path, num_bits=4096, num_probes=3)
                self.assertFalse(reader.open_file(self.path).contains(b"nobody"))
                self.assertEqual(LIBRARY.bfs_contains(handle, b"nobody", 6), 0)
                self.patch(12288, struct.pack("<Q", reader.open_file(self.path).live_word | 1 << bit))
                self.assertTrue(reader.open_file(self.path).contains(b"nobody"))
                self.all_maybe(handle, 1)
                LIBRARY.bfs_close(handle, None)
                os.unlink(self.path)

    def all_maybe(self, handle, maybe):
        self.assertEqual(LIBRARY.bfs_contains(handle, b"nobody", 6), maybe)
        self.assertEqual(self.as_batch(handle, [b"%d" % i for i in range(600)], False), [maybe] * 600)

    def test_a_later_state_makes_open_handles_say_maybe_and_both_refuse_to_open(self):
        for bit in range(6, 15):
            with self.subTest(bit=bit):
                handle = bfs.create(LIBRARY, self.path, num_bits=4096, num_probes=3)
                good = reader.open_file(self.path).live_word
                self.patch(12288, struct.pack("<Q", good | 1 << bit))
                self.all_maybe(handle, 1)
                with self.assertRaises(reader.Refused) as refused:
                    reader.open_file(self.path)
                self.assertEqual(refused.exception.code, "BFS_ELATER")
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.open_path(LIBRARY, self.path)
                self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said("BFS_ELATER"))
                self.patch(12288, struct.pack("<Q", good))
                self.all_maybe(handle, 0)
                LIBRARY.bfs_close(handle, None)
                os.unlink(self.path)

    def test_the_words_after_the_live_word_change_no_answer(self):
        for offset, values in ((8, (1, 0)), (16, (1, 2**64 - 1)), (24, (0, 2, 2**64 - 1)), (32, (1,))):
            for value in values:
                with self.subTest(offset=offset, value=value):
                    handle = bfs.create(LIBRARY, self.path, num_bits=4096, num_probes=3)
                    self.patch(12288 + offset, struct.pack("<Q", value))
                    self.all_maybe(handle, 0)
                    LIBRARY.bfs_close(handle, None)
                    os.unlink(self.path)

    def test_keys_added_is_the_sum_of_all_32_counters(self):
        LIBRARY.bfs_close(bfs.create(LIBRARY, self.path, num_bits=4096, num_probes=3), None)
        for stripe in range(32):
            self.patch(12288 + 64 + 64 * stripe, struct.pack("<Q", 1 << stripe))
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(bfs.statistics(LIBRARY, handle).keys_added, 2**32 - 1)
        self.assertEqual(reader.open_file(self.path).keys_added, 2**32 - 1)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def patch(self, offset, data):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def test_embedded_filters_are_read_alike_in_a_buffer_and_in_a_range_of_a_file(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.one_embedded(shape)

    def one_embedded(self, shape):
        options, keys = options_of(shape), self.keys_to_fill(shape)
        data = self.dumped(shape, keys) if window_ms(shape[0]) else None
        size = len(data) if data else bfs.bytes_needed(LIBRARY, 0, options)
        keep, address = bfs.aligned_buffer(size)
        if data:
            ctypes.memmove(address, data, size)
            handle = bfs.open_memory(LIBRARY, address, size, bfs.READ, secret_of(shape))
        else:
            handle = bfs.call(LIBRARY.bfs_format, address, size, 0, options)
            self.assertGreater(add_all(handle, shape, keys), 0)
        data = ctypes.string_at(address, size)
        read = reader.embedded(data, secret_of(shape))
        self.assertEqual(size, read.start + len(read.body) + 8, "no byte more than the format says")
        self.assertEqual(read.note or b"", shape[5] or b"")
        self.same_facts(handle, read)
        self.same_digests(handle, read)
        self.ask_both(handle, read, shape, keys)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        self.embedded_in_a_file(data, shape, keys)
        del keep

    def dumped(self, shape, keys):
        """Returns the embedded form of a file: a filter whose keys expire is made as a file alone."""
        handle = bfs.call(LIBRARY.bfs_create, self.path, bfs.REPLACE, options_of(shape))
        self.assertGreater(add_all(handle, shape, keys), 0)
        data = bfs.dump(LIBRARY, handle)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return data

    def embedded_in_a_file(self, data, shape, keys):
        for before, behind, max_bytes in ((0, 0, 0), (64, 1, len(data)), (4096 + 192, 5000, 0)):
            with open(self.path, "wb") as file:
                file.write(b"\xee" * before + data + b"\xee" * behind)
            secret = secret_of(shape)
            handle = bfs.open_path(LIBRARY, self.path, secret=secret, range=(before, max_bytes))
            self.ask_both(handle, reader.open_range(self.path, before, max_bytes, secret), shape, keys)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_bare_filters_are_read_alike(self):
        for shape in BARE_SHAPES:
            with self.subTest(shape=shape):
                self.one_bare((*shape, None, None))

    def one_bare(self, shape):
        options, keys = options_of(shape), self.keys_to_fill(shape)
        size = bfs.bytes_needed(LIBRARY, bfs.BARE, options)
        self.assertEqual(size, reader.body_bytes(bfs.LAYOUTS[shape[0]], shape[1]) + 8)
        keep, address = bfs.aligned_buffer(size)
        handle = bfs.call(LIBRARY.bfs_format, address, size, bfs.BARE, options)
        self.assertGreater(add_all(handle, shape, keys), 0)
        read = reader.bare(ctypes.string_at(address, size))
        self.assertEqual((read.seed, read.m, read.k), (0, *shape[1:3]))
        for opened in (handle, bfs.open_memory(LIBRARY, address, size, bfs.READ | bfs.BARE)):
            self.same_facts(opened, read)
            self.same_digests(opened, read)
            self.ask_both(opened, read, shape, keys)
            self.assertEqual(LIBRARY.bfs_close(opened, None), 0)
        del keep


if __name__ == "__main__":
    unittest.main(verbosity=2)

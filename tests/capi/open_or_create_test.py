"""bfs_open with BFS_CREATE, and bfs_build: what is made, what is opened, what is refused, and that no file is ever replaced or
left over.

Arguments: the shared library, capi/bfstore.h.
"""
import array
import ctypes
import os
import signal
import unittest
from ctypes import byref

from support import CODES, COUNT, EINVAL, LIBRARY, Case, answers_for, bfs, column, pointers

SECRET = bytes(range(16))
OTHER_SECRET = bytes(range(1, 17))
MODES = (bfs.WRITE, bfs.EXCLUSIVE)


class OpenOrCreate(Case):
    def either(self, flags=bfs.WRITE, path=None, **given):
        handle, made = bfs.open_or_create(LIBRARY, path or self.path, flags, **{"capacity": COUNT, **given})
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle, made

    def refused(self, code, flags=bfs.WRITE, path=None, **given):
        """The message. Every file is as it was; one that was opened, and did not fit, may have another count of openings."""
        whole = code != "BFS_EMISMATCH"
        before = self.contents(whole)
        said = self.fails(code, LIBRARY.bfs_open, path or self.path, flags | bfs.CREATE, bfs.options(**given))
        self.assertTrue(self.contents(whole) == before, "a file has changed")
        return said

    def contents(self, whole):
        """{name: inode and bytes}, without the pages of the state unless whole."""
        found = {}
        for name in os.listdir(self.folder):
            path = self.folder + b"/" + name
            if os.path.islink(path) or not os.path.isfile(path):
                found[name] = os.lstat(path).st_ino
            else:
                with open(path, "rb") as file:
                    data = file.read()
                found[name] = (os.stat(path).st_ino, data if whole else data[:4096] + data[16384:])
        return found

    def test_the_first_call_makes_the_file_and_the_next_one_opens_it(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                handle, made = self.either(mode, mode=0o640, note=b"mine", fpr=0.001)
                self.assertTrue(made)
                self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
                stats = bfs.statistics(LIBRARY, handle)
                self.assertEqual((stats.capacity, bfs.note_of(LIBRARY, handle)), (COUNT, b"mine"))
                self.assertLessEqual(stats.fpr, 0.001)
                self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640 & ~self.umask())
                self.close(handle)
                handle, made = self.either(mode)
                self.assertFalse(made)
                self.assertEqual([LIBRARY.bfs_contains(handle, key, 3) for key in (b"key", b"not")], [1, 0])
                self.assertEqual(LIBRARY.bfs_add(handle, b"not", 3), 1)
                self.close(handle)
                os.unlink(self.path)

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_the_file_is_there_at_once_and_durable_keys_are_kept(self):
        handle, _ = self.either()
        reader = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
        self.assertEqual(LIBRARY.bfs_contains(reader, b"key", 3), 1)
        self.close(reader)
        LIBRARY.bfs_abandon(handle)
        handle.value = None
        handle, made = self.either()  # a killed writer loses nothing
        self.assertEqual((made, LIBRARY.bfs_contains(handle, b"key", 3)), (False, 1))

    def test_writers_share_the_file_and_an_exclusive_one_has_it_alone(self):
        first, second = self.either()[0], self.either()[0]
        self.assertEqual(LIBRARY.bfs_add(first, b"key", 3), 1)
        self.assertEqual(LIBRARY.bfs_contains(second, b"key", 3), 1)
        self.refused("BFS_EBUSY", bfs.EXCLUSIVE, capacity=COUNT)
        self.close(first)
        self.close(second)
        alone, made = self.either(bfs.EXCLUSIVE, threads=2)
        self.assertFalse(made)
        self.refused("BFS_EBUSY", capacity=COUNT)
        self.close(alone)
        os.unlink(self.path)
        alone, made = self.either(bfs.EXCLUSIVE, threads=2)
        self.assertTrue(made)
        self.refused("BFS_EBUSY", capacity=COUNT)

    def test_it_is_for_writing_alone(self):
        """A mistaken path would become an empty filter that calls every key absent."""
        for flags in (bfs.READ, 0, bfs.READ | bfs.WRITE, bfs.WRITE | bfs.EXCLUSIVE):
            self.refused("BFS_EINVAL", flags, capacity=COUNT)
        self.assertEqual(os.listdir(self.folder), [])
        self.close(self.create())
        self.refused("BFS_EINVAL", bfs.READ, capacity=COUNT)

    def test_a_window_is_refused_where_the_file_has_none(self):
        # "is there, and has another window": a user looked for the window of the file.
        self.close(self.create())
        said = self.refused("BFS_EMISMATCH", capacity=COUNT, layout=None, window_ms=86_400_000)
        self.assertIn(b": is there, and has no window: its keys do not expire. Leave the window out, or name another file.", said)

    def test_an_empty_path_and_a_capacity_of_0_are_named(self):
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE, bfs.READ | bfs.FOLLOW):
            said = self.fails("BFS_ENOENT", LIBRARY.bfs_open, b"", flags, None)
            self.assertEqual(said, b"the path is empty. Give one.")
        said = self.fails("BFS_EINVAL", LIBRARY.bfs_open, b"", bfs.WRITE | bfs.CREATE, bfs.options(capacity=COUNT))
        self.assertEqual(said, b"the path is empty. Give one.")
        self.assertIn(b"no size was given, or a capacity of 0. Give a capacity", self.refused("BFS_EINVAL", capacity=0))

    def test_a_file_that_is_made_needs_a_size_and_one_that_is_there_does_not(self):
        self.refused("BFS_EINVAL")
        self.assertEqual(os.listdir(self.folder), [])
        self.close(self.create())
        handle, made = bfs.open_or_create(LIBRARY, self.path)
        self.assertFalse(made)
        self.close(handle)
        handle = ctypes.c_void_p()
        self.assertEqual(LIBRARY.bfs_open(self.path, bfs.WRITE | bfs.CREATE, None, byref(handle), None), 0)
        self.close(handle)

    def test_another_size_note_rate_and_id_are_no_error(self):
        self.close(self.create(note=b"mine"))
        for given in ({"capacity": 7}, {"capacity": 10**6, "fpr": 1e-5}, {"num_bits": 512, "num_probes": 3, "capacity": 0},
                      {"note": b"another"}, {"file_id": bytes(range(16))}, {"mode": 0o644}):
            handle, made = self.either(**given)
            self.assertEqual((made, bfs.statistics(LIBRARY, handle).capacity, bfs.note_of(LIBRARY, handle)), (False, COUNT, b"mine"))
            self.close(handle)

    def test_what_decides_where_a_key_has_its_bits_must_be_that_of_the_file(self):
        self.close(self.create(seed=5))
        for words, given in ((b"layout", {"layout": "classic"}), (b"hash", {"hash": "external"}), (b"seed", {"seed": 6}),
                             (b"part", {"part": 0, "num_parts": 2})):
            for mode in MODES:
                with self.subTest(given=given, mode=mode):
                    said = self.refused("BFS_EMISMATCH", mode, capacity=COUNT, **given)
                    self.assertIn(self.path, said)
                    self.assertIn(words, said)
        handle, made = self.either(layout="blocked", hash="xxh3", seed=5)
        self.assertFalse(made)
        self.close(handle)
        seeded = self.folder + b"/seeded"
        self.close(self.create(seeded, hash="murmur3", num_bits=1000, capacity=0, fpr=0, seeds=[1, 2, 3]))
        self.refused("BFS_EMISMATCH", path=seeded, hash="murmur3", num_bits=1000, seeds=[1, 2, 4])
        handle, made = bfs.open_or_create(LIBRARY, seeded, hash="murmur3", num_bits=1000, seeds=[1, 2, 3])
        self.assertFalse(made)
        self.close(handle)

    def test_the_secret_must_be_that_of_the_file(self):
        given = {"capacity": COUNT, "hash": "siphash"}
        handle, made = self.either(hash="siphash", secret=SECRET)
        self.assertTrue(made)
        self.close(handle)
        self.refused("BFS_ESECRET", **given)
        self.refused("BFS_ESECRET", **given, secret=OTHER_SECRET)
        self.refused("BFS_ESECRET", capacity=COUNT)
        handle, made = self.either(hash="siphash", secret=SECRET)
        self.assertFalse(made)
        self.close(handle)
        os.unlink(self.path)
        self.close(self.create())
        self.refused("BFS_ESECRET", **given, secret=SECRET)

    def test_a_part_is_made_and_opened_as_that_part(self):
        handle, made = self.either(part=1, num_parts=3, seed=5)
        self.assertTrue(made)
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual((stats.part, stats.num_parts), (1, 3))
        self.close(handle)
        handle, made = self.either(part=1, num_parts=3, seed=5)
        self.assertFalse(made)
        self.close(handle)
        self.refused("BFS_EMISMATCH", capacity=COUNT, part=2, num_parts=3)

    def test_a_file_like_another_is_made_and_opened(self):
        other = self.folder + b"/other"
        self.close(self.create(other, seed=5))
        handle, made = bfs.open_or_create(LIBRARY, self.path, like=other)
        self.assertTrue(made)
        self.assertEqual(bfs.statistics(LIBRARY, handle).seed, 5)
        self.close(handle)
        handle, made = bfs.open_or_create(LIBRARY, self.path, like=other)
        self.assertFalse(made)
        self.close(handle)
        self.close(bfs.create(LIBRARY, other, bfs.REPLACE, capacity=COUNT, seed=6))
        self.assertIn(b"seed", self.refused("BFS_EMISMATCH", like=other))

    def test_a_file_in_doubt_is_an_error_and_is_as_it_was(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
        LIBRARY.bfs_abandon(handle)
        handle.value = None
        for mode in MODES:
            self.refused("BFS_EUNCLEAN", mode | bfs.STRICT, capacity=COUNT)
        handle, made = self.either(bfs.WRITE | bfs.STRICT | bfs.RECOVER)
        self.assertFalse(made)
        self.refused("BFS_ERECOVERING", capacity=COUNT)
        self.assertEqual(LIBRARY.bfs_finish_recovery(handle, 1, None), 1)
        self.close(handle)
        self.close(self.either()[0])
        sealed = self.folder + b"/sealed"
        bfs.seal(LIBRARY, self.path, sealed)
        self.refused("BFS_ESEALED", path=sealed, capacity=COUNT)

    def test_what_is_no_filter_is_an_error_and_is_as_it_was(self):
        os.mkdir(self.folder + b"/folder")
        os.mkfifo(self.folder + b"/fifo")
        for name, content in ((b"empty", b""), (b"text", b"a list of names\n" * 5000), (b"zeros", bytes(20000))):
            with open(self.folder + b"/" + name, "wb") as file:
                file.write(content)
        signal.alarm(600)
        for mode in MODES:
            for name, code in ((b"empty", "BFS_ETOOSHORT"), (b"text", "BFS_EMAGIC"), (b"zeros", "BFS_EMAGIC"),
                               (b"folder", "BFS_ENOTREGULAR"), (b"fifo", "BFS_ENOTREGULAR")):
                self.assertIn(name, self.refused(code, mode, self.folder + b"/" + name, capacity=COUNT))
        signal.alarm(0)

    def test_nothing_is_made_or_written_through_a_symbolic_link(self):
        target = self.folder + b"/target"
        self.close(self.create(target))
        for name, to in ((b"good", target), (b"hanging", self.folder + b"/nowhere"), (b"loop", self.folder + b"/loop")):
            os.symlink(to, self.folder + b"/" + name)
            for mode in MODES:
                self.refused("BFS_ESYMLINK", mode, self.folder + b"/" + name, capacity=COUNT)
        self.assertFalse(os.path.exists(self.folder + b"/nowhere"))

    def test_a_folder_that_is_not_there_is_an_error(self):
        self.refused("BFS_ENOENT", path=self.folder + b"/no/such", capacity=COUNT)

    def test_sizes_that_can_not_be_leave_nothing(self):
        for code, given in (("BFS_ESIZING", {"capacity": 10**9, "fpr": 1e-10}), ("BFS_EINVAL", {"capacity": 10, "layout": 99}),
                            ("BFS_EINVAL", {"capacity": 10, "fpr": 2.0}), ("BFS_ESECRET", {"capacity": 10, "hash": "siphash"}),
                            ("BFS_ENOSPC", {"num_bits": 2**48, "num_probes": 4})):
            self.refused(code, **given)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_online_build_begins_with_the_first_process(self):
        handle, made = self.either(bfs.WRITE | bfs.FILLING)
        self.assertTrue(made)
        self.assertEqual(LIBRARY.bfs_health(handle), CODES["BFS_EFILLING"])
        second, made = self.either(bfs.WRITE | bfs.FILLING)
        self.assertEqual((made, LIBRARY.bfs_health(second)), (False, CODES["BFS_EFILLING"]))
        self.assertEqual(LIBRARY.bfs_finish_filling(second, None), 0)
        self.assertEqual(LIBRARY.bfs_health(handle), 0)
        self.close(second)
        self.close(handle)
        handle, made = self.either(bfs.WRITE | bfs.FILLING)  # it was filled long ago
        self.assertEqual((made, LIBRARY.bfs_health(handle)), (False, 0))

    def test_what_the_handle_does_is_that_of_its_flags_whether_it_made_the_file_or_not(self):
        for expected in (True, False):
            handle, made = self.either(bfs.WRITE | bfs.LIMIT, capacity=10)
            self.assertEqual(made, expected)
            codes = [LIBRARY.bfs_add(handle, b"key %d %d" % (made, i), 9) for i in range(200)]
            self.assertIn(CODES["BFS_EFULL"], codes)
            self.close(handle)


class Build(Case):
    KEYS = [b"key %04d" % i for i in range(COUNT)]

    def check(self, keys, expected, flags=0, absent=b"absent", **given):
        """Builds it, and asks for each key."""
        # A random seed would make `absent` a false positive in some runs.
        seeded = {} if given.keys() & {"hash", "seed", "like"} else {"seed": 1}
        handle = bfs.build(LIBRARY, self.path, byref(keys), flags, **seeded, **given)
        self.assertEqual({LIBRARY.bfs_contains(handle, key, len(key)) for key in expected}, {1} if expected else set())
        self.assertEqual(LIBRARY.bfs_contains(handle, absent, len(absent)), 0)
        self.assertEqual(LIBRARY.bfs_add(handle, b"later", 5), CODES["BFS_EREADONLY"])
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
        self.close(handle)
        writer = bfs.open_path(LIBRARY, self.path, bfs.WRITE)  # the file itself takes keys
        self.assertGreaterEqual(LIBRARY.bfs_add(writer, b"later", 5), 0)
        self.close(writer)
        os.unlink(self.path)
        return stats

    def refused(self, code, keys, flags=0, **given):
        before = os.listdir(self.folder)
        said = self.fails(code, LIBRARY.bfs_build, self.path, flags, bfs.options(**given), byref(keys))
        self.assertEqual(os.listdir(self.folder), before)
        return said

    def test_every_kind_of_keys_with_every_layout(self):
        count, (texts, lengths) = len(self.KEYS), pointers(self.KEYS)
        pairs = (bfs.Key * count)(*[bfs.Key(ctypes.cast(ctypes.c_char_p(key), ctypes.c_void_p), len(key)) for key in self.KEYS])
        data, offsets32 = column(self.KEYS, "i")
        _, offsets64 = column(self.KEYS, "q")
        kinds = {"pointers": bfs.many_keys(bfs.KEYS_POINTERS, count, texts, lengths=lengths),
                 "pairs": bfs.many_keys(bfs.KEYS_PAIRS, count, pairs),
                 "fixed": bfs.many_keys(bfs.KEYS_FIXED, count, data, key_bytes=8),
                 "column32": bfs.many_keys(bfs.KEYS_COLUMN32, count, data, data_bytes=len(data), offsets=offsets32),
                 "column64": bfs.many_keys(bfs.KEYS_COLUMN64, count, data, data_bytes=len(data), offsets=offsets64)}
        for layout in bfs.LASTING_LAYOUTS:
            for kind, keys in kinds.items():
                with self.subTest(layout=layout, kind=kind):
                    stats = self.check(keys, self.KEYS, layout=layout, fpr=0.001)
                    self.assertEqual((stats.layout, stats.capacity), (bfs.LAYOUTS[layout], COUNT))
                    self.assertTrue(0 < stats.fpr <= 0.001)
                    self.assertTrue(0 < stats.keys_added <= COUNT)

    def test_digests(self):
        digests = (ctypes.c_uint64 * 3)(1, 2**63, 2**64 - 1)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, 3, digests)
        for hash_name in ("external", "xxh3"):
            handle = bfs.build(LIBRARY, self.path, byref(keys), bfs.REPLACE, hash=hash_name)
            self.assertEqual([LIBRARY.bfs_contains_digest(handle, one) for one in digests], [1, 1, 1])
            self.close(handle)
        os.unlink(self.path)
        texts, lengths = pointers([b"a", b"b"])
        self.assertIn(self.path, self.refused(
            "BFS_EDIGESTONLY", bfs.many_keys(bfs.KEYS_POINTERS, 2, texts, lengths=lengths), hash="external"))
        self.refused("BFS_EKEYONLY", keys, hash="murmur3", num_bits=1000, num_probes=3)

    def test_nulls_are_no_keys(self):
        texts, lengths = pointers([b"one", b"two", b"three"])
        keys = bfs.many_keys(bfs.KEYS_POINTERS, 3, texts, lengths=lengths, validity=(ctypes.c_uint8 * 1)(0b101))
        stats = self.check(keys, [b"one", b"three"], absent=b"two")
        self.assertEqual(stats.keys_added, 2)

    def test_no_keys_make_a_filter_that_calls_each_key_absent(self):
        for kind in (bfs.KEYS_PAIRS, bfs.KEYS_DIGESTS, bfs.KEYS_COLUMN32):
            stats = self.check(bfs.many_keys(kind, 0), [])
            self.assertEqual((stats.capacity, stats.keys_added), (1, 0))

    def test_a_key_that_comes_twice_is_one_key(self):
        texts, lengths = pointers([b"one"] * 300)
        stats = self.check(bfs.many_keys(bfs.KEYS_POINTERS, 300, texts, lengths=lengths), [b"one"], capacity=10)
        self.assertEqual((stats.capacity, stats.keys_added, stats.saturated), (10, 1, 0))

    def test_more_keys_than_the_capacity_are_an_error(self):
        texts, lengths = pointers(self.KEYS)
        keys = bfs.many_keys(bfs.KEYS_POINTERS, COUNT, texts, lengths=lengths)
        said = self.refused("BFS_EFULL", keys, capacity=COUNT // 2)
        self.assertIn(self.path, said)
        self.check(keys, self.KEYS, capacity=COUNT + 1000)

    def test_no_handle_is_wanted(self):
        texts, lengths = pointers(self.KEYS)
        keys = byref(bfs.many_keys(bfs.KEYS_POINTERS, COUNT, texts, lengths=lengths))
        self.assertEqual(LIBRARY.bfs_build(self.path, 0, None, keys, None, None), 0)
        handle = bfs.open_path(LIBRARY, self.path, bfs.READ | bfs.NO_WRITE)  # it is clean
        self.assertEqual({LIBRARY.bfs_contains(handle, key, len(key)) for key in self.KEYS}, {1})
        self.close(handle)
        self.assertEqual(LIBRARY.bfs_build(self.path, 0, None, keys, None, None), CODES["BFS_EEXIST"])

    def test_a_file_is_replaced_only_if_that_is_wanted_and_only_by_a_whole_one(self):
        self.close(self.create())
        reader = bfs.open_path(LIBRARY, self.path)
        texts, lengths = pointers(self.KEYS)
        good = bfs.many_keys(bfs.KEYS_POINTERS, COUNT, texts, lengths=lengths)
        self.refused("BFS_EEXIST", good)
        self.refused("BFS_EFULL", good, bfs.REPLACE, capacity=5)
        self.assertEqual((LIBRARY.bfs_health(reader), LIBRARY.bfs_contains(reader, self.KEYS[0], 8)), (0, 0))
        handle = bfs.build(LIBRARY, self.path, byref(good), bfs.REPLACE)
        self.assertEqual(LIBRARY.bfs_health(reader), CODES["BFS_ESUPERSEDED"])
        self.assertEqual(LIBRARY.bfs_contains(handle, self.KEYS[0], 8), 1)
        self.close(reader)
        self.close(handle)

    def test_wrong_keys_leave_no_file(self):
        texts, lengths = pointers([b"one", b"two"])
        texts[1] = None  # with a length
        offsets = (ctypes.c_int32 * 3)(0, 2, 1)
        for keys in (bfs.many_keys(99, 0), bfs.many_keys(bfs.KEYS_POINTERS, 2, None, lengths=lengths),
                     bfs.many_keys(bfs.KEYS_POINTERS, 2, texts, lengths=lengths),
                     bfs.many_keys(bfs.KEYS_COLUMN32, 2, b"abc", data_bytes=3, offsets=offsets),
                     bfs.many_keys(bfs.KEYS_PAIRS, 2**63)):
            self.refused("BFS_EINVAL", keys)
        broken = bfs.many_keys(bfs.KEYS_PAIRS, 0)
        broken.struct_bytes = 4
        self.refused("BFS_EINVAL", broken)
        self.assertEqual(os.listdir(self.folder), [])

    def test_threads_and_a_secret(self):
        numbers = array.array("Q", range(100_000))
        keys = bfs.many_keys(bfs.KEYS_FIXED, len(numbers), numbers.tobytes(), key_bytes=8)
        for given in ({}, {"threads": 2}, {"threads": 2, "hash": "siphash", "secret": SECRET}):
            handle = bfs.build(LIBRARY, self.path, byref(keys), bfs.REPLACE, seed=None if "hash" in given else 3, **given)
            answers = answers_for(len(numbers))
            self.assertEqual(LIBRARY.bfs_contains_keys(handle, byref(keys), answers), len(numbers))
            self.close(handle)
        self.refused("BFS_EINVAL", keys, bfs.REPLACE, threads=65)
        self.refused("BFS_ESECRET", keys, bfs.REPLACE, hash="siphash")

    def test_a_part_is_built_of_its_own_keys_alone(self):
        digests = (ctypes.c_uint64 * 2)(1, 2**64 - 1)
        given = {"capacity": 100, "part": 0, "num_parts": 2, "seed": 3}
        self.refused("BFS_EPART", bfs.many_keys(bfs.KEYS_DIGESTS, 2, digests), **given)
        handle = bfs.build(LIBRARY, self.path, byref(bfs.many_keys(bfs.KEYS_DIGESTS, 1, digests)), **given)
        self.assertEqual(LIBRARY.bfs_contains_digest(handle, 1), 1)
        self.close(handle)


class CountKeys(Case):
    def test_counts_are_those_of_what_was_added_and_nulls_are_0(self):
        handle = self.create(layout="counting", fpr=1e-6)
        texts, lengths = pointers([b"one", b"two", b"three", b"none", b""])
        keys = bfs.many_keys(bfs.KEYS_POINTERS, 5, texts, lengths=lengths)
        for key, times in ((b"one", 1), (b"two", 2), (b"three", 40)):
            for _ in range(times):
                self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
        counts = answers_for(6)
        self.assertEqual(LIBRARY.bfs_count_keys(handle, byref(keys), counts), 3)
        self.assertEqual(list(counts), [1, 2, 15, 0, 0, 7])
        keys.validity = ctypes.cast((ctypes.c_uint8 * 1)(0b11101), ctypes.c_void_p)
        self.assertEqual(LIBRARY.bfs_count_keys(handle, byref(keys), counts), 2)
        self.assertEqual(list(counts), [1, 0, 15, 0, 0, 7])
        self.assertEqual(LIBRARY.bfs_remove(handle, b"two", 3), 1)
        self.assertEqual(LIBRARY.count(handle, b"two", 3), 1)

    def test_a_count_that_is_not_known_is_15(self):
        texts, lengths = pointers([b"one", b"two"])
        keys = byref(bfs.many_keys(bfs.KEYS_POINTERS, 2, texts, lengths=lengths))
        for code, given in (("BFS_EUNSUPPORTED", {}), ("BFS_EDIGESTONLY", {"layout": "counting", "hash": "external"})):
            handle, counts = self.create(**given), answers_for(2, 0)
            self.assertEqual(LIBRARY.bfs_count_keys(handle, keys, counts), CODES[code])
            self.assertEqual(list(counts), [15, 15])
            self.assertEqual(LIBRARY.bfs_count_keys(handle, keys, None), EINVAL)
            self.assertEqual(LIBRARY.bfs_count_keys(handle, None, counts), EINVAL)
            self.close(handle)
            os.unlink(self.path)
        handle, counts = self.create(layout="counting", flags=bfs.FILLING), answers_for(2, 0)
        self.assertEqual(LIBRARY.bfs_count_keys(handle, keys, counts), 2)
        self.assertEqual(list(counts), [15, 15])
        self.assertEqual(LIBRARY.bfs_shut(handle, None), 0)
        self.assertEqual(LIBRARY.bfs_count_keys(handle, keys, counts), 2)
        self.assertEqual(list(counts), [15, 15])

    def test_a_key_of_another_part_makes_every_count_15(self):
        handle = self.create(layout="counting", part=0, num_parts=2, seed=3)
        self.assertEqual(LIBRARY.bfs_add_digest(handle, 1), 1)
        digests, counts = (ctypes.c_uint64 * 2)(1, 2**64 - 1), answers_for(2, 0)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, 2, digests)
        self.assertEqual(LIBRARY.bfs_count_keys(handle, byref(keys), counts), CODES["BFS_EPART"])
        self.assertEqual(list(counts), [15, 15])


if __name__ == "__main__":
    unittest.main(verbosity=2)

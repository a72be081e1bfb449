"""The kept files: every version of the library accepts the good ones, answers as when they were made, and refuses a bad
one with the code in its name. The independent reader does the same.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import gzip
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "support"), str(FOLDER.parent / "format")]
import bfstore_ctypes as bfs
import bfstore_header
import readers as reader
from make import DIGESTS, GROWING, KEYS, LATER_KEYS, SECRET, STATIC, WINDOW_EPOCH, WINDOW_MS, WINDOWS, static_keys, window_keys

CODES = bfstore_header.codes(sys.argv.pop(2))
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
ABSENT = [b"absent %d" % i for i in range(2000)]
# {static file: (how many of ABSENT it may have, the first ones)}
STATIC_POSITIVES = {"good_static.bf": (16, [153, 168, 367, 454, 653, 825, 853, 892, 988, 1226, 1237, 1420, 1487, 1632, 1688, 1883]),
                    "good_static_shards.bf.gz": (24, [188, 190, 195, 201, 221, 326, 365, 437, 586, 587, 646, 662, 682, 748, 802, 831]),
                    "good_static_maybe.bf.gz": (1004, [5, 7, 9, 10, 13, 14, 16, 18, 21, 25, 34, 38, 40, 41, 42, 45])}


class KeptFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-data-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def copy(self, path):
        """Returns a copy of the kept file, because opening for writing changes a file."""
        return os.fsencode(shutil.copy(path, self.folder))

    def check_answers(self, handle, read):
        contains = lambda key: LIBRARY.bfs_contains(handle, key, len(key))
        self.assertEqual([contains(key) for key in KEYS], [1] * len(KEYS))
        self.assertEqual([contains(key) for key in ABSENT], [int(read.contains(key)) for key in ABSENT])
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_good_files_answer_as_when_they_were_made(self):
        for name in ("good_blocked.bf", "good_classic.bf", "good_murmur3.bf", "good_murmur3_unsigned.bf", "good_java_polynomial.bf",
                     "good_jaybird.bf", "good_pybloom_live.bf"):
            for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
                with self.subTest(name=name, flags=flags):
                    path = self.copy(FOLDER / name)
                    self.check_answers(bfs.open_path(LIBRARY, path, flags), reader.open_file(path))

    def test_good_files_whose_keys_expire_answer_as_when_they_were_made(self):
        for layout in WINDOWS:
            for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
                with self.subTest(layout=layout, flags=flags):
                    path = self.copy(FOLDER / f"good_{layout.replace('-', '_')}.bf")
                    read, handle = reader.open_file(path), bfs.open_path(LIBRARY, path, flags)
                    self.assertEqual((read.layout, read.epoch, read.window_ms), (bfs.LAYOUTS[layout], WINDOW_EPOCH, WINDOW_MS))
                    said = bfs.statistics(LIBRARY, handle)
                    self.assertEqual((said.epoch, said.epochs, said.window_ms), (WINDOW_EPOCH, read.epochs, WINDOW_MS))
                    old = [b"key of epoch %d" % epoch for epoch in range(WINDOW_EPOCH + 1)]
                    found = [LIBRARY.bfs_contains(handle, key, len(key)) for key in old]
                    self.assertEqual(found, [int(epoch > WINDOW_EPOCH - read.epochs) for epoch in range(WINDOW_EPOCH + 1)])
                    self.check_answers(handle, read)

    def test_the_oldest_keys_of_a_good_file_go_with_each_turn(self):
        for layout in WINDOWS:
            handle = bfs.open_path(LIBRARY, self.copy(FOLDER / f"good_{layout.replace('-', '_')}.bf"), bfs.WRITE)
            epochs = bfs.statistics(LIBRARY, handle).epochs
            for epoch in range(WINDOW_EPOCH - epochs + 1, WINDOW_EPOCH + 1):
                keys = [[LIBRARY.bfs_contains(handle, key, len(key)) for key in window_keys(epochs, each)]
                        for each in range(epoch, WINDOW_EPOCH + 1)]
                self.assertEqual({answer for answers in keys for answer in answers}, {1}, (layout, epoch))
                self.assertEqual(LIBRARY.bfs_turn(handle, epoch + epochs - 1, None), 1)
                key = b"key of epoch %d" % epoch
                self.assertEqual(LIBRARY.bfs_contains(handle, key, len(key)), 0, (layout, epoch))
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_good_files_that_grow_answer_as_when_they_were_made_and_grow_on(self):
        for name, (k, first, durable, counted) in GROWING.items():
            for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE) if durable == counted else ():
                with self.subTest(name=name, flags=flags):
                    path = self.copy(FOLDER / name)
                    read, handle = reader.open_file(path), bfs.open_path(LIBRARY, path, flags)
                    self.assertEqual((read.layout, read.k, read.n, read.growth, read.num_slices), (bfs.LAYOUTS["growing"], k, first, 2, counted))
                    self.assertEqual((read.slot_slices, read.clean, read.marks), (durable, True, {1: (len(KEYS), 0)}))
                    said = bfs.statistics(LIBRARY, handle)
                    self.assertEqual((said.capacity, said.body_bytes), (first * (2**counted - 1), 64 * (2**counted - 1)))
                    self.check_answers(handle, read)
                    if flags == bfs.READ:
                        continue
                    handle = bfs.open_path(LIBRARY, path, flags)
                    more = [b"more %d" % i for i in range(first * 2**counted)]
                    self.assertNotIn(-1, [min(LIBRARY.bfs_add(handle, key, len(key)), 0) for key in more])
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    read = reader.open_file(path)
                    self.assertEqual((read.num_slices, read.slot_slices, read.clean), (counted + 1, counted + 1, True))
                    self.assertEqual({read.contains(key) for key in KEYS + more}, {True})

    def test_a_growing_file_from_before_a_power_cut_is_recovered_with_the_slices_that_are_there(self):
        """The keys of its mark are in those of its slot. Whether the slice that was not synced is there or not, nothing is answered before."""
        name, (_, _, durable, counted) = "unclean_growing.bf", GROWING["unclean_growing.bf"]
        for without_the_last in (False, True):
            path = self.copy(FOLDER / name)
            last = reader.open_file(path).slices[counted - 1]
            if without_the_last:
                os.truncate(path, last.end_at)
            read = reader.open_file(path)  # and the reader in one header refuses it
            self.assertEqual((read.num_slices, read.slot_slices, read.clean, read.has_end), (counted, durable, False, not without_the_last))
            self.assertEqual({read.contains(key) for key in KEYS + LATER_KEYS}, {True})
            for flags in (bfs.READ, bfs.WRITE):
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.open_path(LIBRARY, path, flags)
                self.assertEqual(refused.exception.code, CODES["BFS_EUNCLEAN"])
            handle = bfs.open_path(LIBRARY, path, bfs.WRITE | bfs.RECOVER)
            kept = durable if without_the_last else counted
            self.assertEqual((LIBRARY.bfs_get_mark(handle, 1, 0), bfs.statistics(LIBRARY, handle).body_bytes), (len(KEYS), 64 * (2**kept - 1)))
            self.assertNotIn(-1, [min(LIBRARY.bfs_add(handle, key, len(key)), 0) for key in LATER_KEYS])
            self.assertEqual(LIBRARY.bfs_finish_recovery(handle, 1, None), 1)
            self.assertEqual({LIBRARY.bfs_contains(handle, key, len(key)) for key in LATER_KEYS}, {1})
            self.check_answers(handle, reader.open_file(path))
            read = reader.open_file(path)
            self.assertEqual((read.slot_slices, read.clean), (read.num_slices, True))

    def test_a_good_sealed_file(self):
        path = self.copy(FOLDER / "good_sealed.bf")
        self.assertEqual(bfs.verify(LIBRARY, path), [])
        self.check_answers(bfs.open_path(LIBRARY, path, bfs.READ | bfs.VERIFY), reader.open_file(path))
        with self.assertRaises(bfs.CodeError) as refused:
            bfs.open_path(LIBRARY, path, bfs.WRITE)
        self.assertEqual(refused.exception.code, CODES["BFS_ESEALED"])

    def unpacked(self, name):
        """Returns a copy of a kept file that may be compressed."""
        kept, path = FOLDER / name, os.path.join(self.folder, name.removesuffix(".gz"))
        data = kept.read_bytes()
        pathlib.Path(path).write_bytes(gzip.decompress(data) if name.endswith(".gz") else data)
        return os.fsencode(path)

    def test_good_static_files_answer_as_when_they_were_made(self):
        for name, (m, k, given_up, _) in STATIC.items():
            with self.subTest(name):
                path, keys = self.unpacked(name), static_keys(name)
                read = reader.open_file(path)
                self.assertEqual((read.layout, read.m, read.k, read.keys_added), (bfs.LAYOUTS["static"], m, k, len(keys)))
                seeds = [reader.number(read.shard(i)[:8]) for i in range(2**read.division.shard_bits)]
                self.assertEqual([i for i, seed in enumerate(seeds) if seed == reader.NO_SEED], given_up)
                self.assertEqual(bfs.verify(LIBRARY, path), [])
                for flags in (bfs.READ, bfs.READ | bfs.VERIFY, bfs.READ | bfs.TOLERATE_DAMAGE):
                    handle = bfs.open_path(LIBRARY, path, flags)
                    self.assertEqual({LIBRARY.bfs_contains(handle, key, len(key)) for key in keys}, {1})
                    found = [i for i, key in enumerate(ABSENT) if LIBRARY.bfs_contains(handle, key, len(key))]
                    self.assertEqual((len(found), found[:16]), STATIC_POSITIVES[name])
                    self.check_answers(handle, read)
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.open_path(LIBRARY, path, bfs.WRITE)
                self.assertEqual(refused.exception.code, CODES["BFS_ESEALED"])

    def test_a_good_file_of_digests(self):
        handle = bfs.open_path(LIBRARY, self.copy(FOLDER / "good_external.bf"))
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in DIGESTS], [1] * len(DIGESTS))
        self.assertEqual(LIBRARY.bfs_contains(handle, b"alice", 5), CODES["BFS_EDIGESTONLY"])
        LIBRARY.bfs_close(handle, None)

    def test_good_buffers(self):
        for name, flags, read in (("good_embedded.record", 0, reader.embedded), ("good_bare.trailer", bfs.BARE, reader.bare)):
            with self.subTest(name):
                data = (FOLDER / name).read_bytes()
                keep, address = bfs.aligned_buffer(len(data))
                ctypes.memmove(address, data, len(data))
                self.check_answers(bfs.open_memory(LIBRARY, address, len(data), bfs.READ | flags), read(data))
                del keep

    def test_good_files_with_a_secret(self):
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            path = self.copy(FOLDER / "good_siphash.bf")
            self.check_answers(bfs.open_path(LIBRARY, path, flags, secret=SECRET), reader.open_file(path, SECRET))
        path = self.copy(FOLDER / "good_siphash.record")
        self.check_answers(bfs.open_path(LIBRARY, path, secret=SECRET, range=(0, 0)), reader.open_range(path, 0, 0, SECRET))
        for secret in (None, bytes(16)):
            with self.assertRaises(bfs.CodeError) as refused:
                bfs.open_path(LIBRARY, self.copy(FOLDER / "good_siphash.bf"), secret=secret)
            self.assertEqual(refused.exception.code, CODES["BFS_ESECRET"])

    def test_a_bad_file_is_refused_with_the_code_in_its_name(self):
        bad = sorted(FOLDER.glob("BFS_*.bf"))
        self.assertGreater(len(bad), 15)
        for kept in bad:
            code, path = kept.name.split("__")[0], self.copy(kept)
            secret = SECRET if code == "BFS_ESECRET" else None
            for flags in (bfs.READ, bfs.WRITE):
                with self.subTest(kept.name, flags=flags):
                    with self.assertRaises(bfs.CodeError) as refused:
                        bfs.open_path(LIBRARY, path, flags, secret=secret)
                    self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said(code))
            with self.subTest(kept.name), self.assertRaises(reader.Refused) as refused:
                reader.open_file(path, secret)
            self.assertEqual(refused.exception.code, code)


if __name__ == "__main__":
    unittest.main(verbosity=2)

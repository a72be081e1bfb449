"""Sealed files against FORMAT.md: what the library writes is what the independent reader (reader.py) expects, both
find the same damage, and both refuse a broken seal with the same code.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"), os.path.dirname(os.path.abspath(__file__))]
import bfstore_ctypes as bfs
import bfstore_header
import readers as reader
from breakage import NOTE, both, put, record, seal_identity, with_records

CODES = bfstore_header.codes(sys.argv.pop(2))
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
KEYS = [b"key %d" % i for i in range(3000)]
ABSENT = [b"absent %d" % i for i in range(3000)]
CHUNK = 65536
# layout, m: bodies of one byte, one chunk less and more a word, 2 MiB, and one whose checksums fill more than a chunk.
SHAPES = [("blocked", 512), ("classic", 1), ("classic", CHUNK * 8 - 64), ("blocked", CHUNK * 8), ("classic", CHUNK * 8 + 1),
          ("blocked", CHUNK * 8 * 3 + 512), ("blocked", 2 << 23), ("classic", (2 << 23) + 77), ("counting", 128), ("counting", CHUNK * 2 * 3 + 128)]
SEAL = struct.Struct("<IIQQQQ")


class Sealed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-sealed-")
        self.addCleanup(folder.cleanup)
        self.plain, self.path = os.fsencode(folder.name + "/plain.bf"), os.fsencode(folder.name + "/sealed.bf")

    def make(self, layout="blocked", m=CHUNK * 8 * 3 + 512):
        options = bfs.options(num_bits=m, num_probes=4, layout=layout, seed=m, note=NOTE)
        handle = bfs.call(LIBRARY.bfs_create, self.plain, 0, options)
        for key in KEYS:
            LIBRARY.bfs_add(handle, key, len(key))
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(5, 0, 3000), None), 0)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        bfs.seal(LIBRARY, self.plain, self.path)

    def answers(self, flags, keys):
        handle = bfs.open_path(LIBRARY, self.path, bfs.READ | flags)
        found = [LIBRARY.bfs_contains(handle, key, len(key)) for key in keys]
        LIBRARY.bfs_close(handle, None)
        return found

    def code_of(self, deed):
        with self.assertRaises(bfs.CodeError) as refused:
            deed()
        return refused.exception.code, refused.exception.rule

    def test_a_sealed_file_is_what_the_document_says_and_what_it_was_made_of(self):
        for layout, m in SHAPES:
            with self.subTest(layout=layout, m=m):
                for path in (self.plain, self.path):
                    if os.path.exists(path):
                        os.unlink(path)
                self.make(layout, m)
                plain, sealed = reader.open_file(self.plain), reader.open_file(self.path)
                for name in ("layout", "hash", "k", "m", "n", "p", "seed", "note", "body", "marks", "keys_added"):
                    self.assertEqual(getattr(sealed, name), getattr(plain, name), name)
                self.assertTrue(sealed.clean)
                self.assertNotEqual(sealed.file_id, plain.file_id)
                self.assertEqual(reader.damaged(sealed), ([], True))
                self.assertEqual(bfs.verify(LIBRARY, self.path), [])
                expected = [int(sealed.contains(key)) for key in ABSENT]
                for flags in (0, bfs.VERIFY, bfs.TOLERATE_DAMAGE):
                    self.assertEqual(self.answers(flags, KEYS), [1] * len(KEYS))
                    self.assertEqual(self.answers(flags, ABSENT), expected)

    def flip(self, offset, bit=0):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1 << bit]))

    def expected_ranges(self):
        """Returns the damage that the reader finds, in the form of the library's."""
        f = reader.open_file(self.path)
        chunks, rest = reader.damaged(f)
        ranges = []
        for i in chunks:
            start, size = f.start + i * CHUNK, min(CHUNK, f.body_bytes - i * CHUNK)
            if ranges and sum(ranges[-1]) == start:
                ranges[-1] = (ranges[-1][0], ranges[-1][1] + size)
            else:
                ranges.append((start, size))
        if f.keys_added != f.keys_sealed:
            ranges.insert(0, (12288 + 64, 2048))
        if reader.xxh3(f.sums, reader.xxh3(f.file_id, 0)) != f.sums_sum:
            end = (f.sums_at, len(f.sums))
            ranges = ranges[:-1] + [(ranges[-1][0], ranges[-1][1] + end[1])] if ranges and sum(ranges[-1]) == end[0] else ranges + [end]
        return ranges

    def test_every_flip_is_found_and_named_and_makes_no_wrong_no(self):
        self.make()
        f = reader.open_file(self.path)
        places = random.Random(1)
        spots = [f.start, f.start + CHUNK - 1, f.start + CHUNK, f.start + f.body_bytes - 1, f.sums_at, f.sums_at + 8 * 3 + 7]
        spots += [places.randrange(f.start, f.start + f.body_bytes) for _ in range(60)]
        spots += [places.randrange(f.sums_at, f.sums_at + 32) for _ in range(20)] + [12288 + 64, 12288 + 64 * 32]
        for spot in spots:
            bit = places.randrange(8)
            with self.subTest(spot=spot, bit=bit):
                self.flip(spot, bit)
                found = bfs.verify(LIBRARY, self.path)
                self.assertTrue(any(start <= spot < start + size for start, size in found), found)
                self.assertEqual(found, self.expected_ranges())
                self.assertEqual(self.code_of(lambda: self.answers(bfs.VERIFY, [])), bfs.said("BFS_EDAMAGED"))
                self.assertEqual(self.answers(bfs.TOLERATE_DAMAGE, KEYS[:300]), [1] * 300)
                self.flip(spot, bit)
        self.assertEqual(bfs.verify(LIBRARY, self.path), [])

    def test_damage_far_apart_is_named_apart_and_the_rest_answers_as_before(self):
        self.make()
        f = reader.open_file(self.path)
        before = self.answers(0, ABSENT)
        self.assertLess(sum(before), 30)
        self.fill(f.start, b"\0" * CHUNK)
        self.fill(f.start + 2 * CHUNK, b"\0" * CHUNK)
        self.assertEqual(bfs.verify(LIBRARY, self.path), [(f.start, CHUNK), (f.start + 2 * CHUNK, CHUNK)])
        self.assertEqual(bfs.verify(LIBRARY, self.path, capacity=1), [(f.start, CHUNK)])
        self.assertLess(sum(self.answers(0, KEYS)), len(KEYS))  # the damage would cause these wrong noes
        self.assertEqual(self.answers(bfs.TOLERATE_DAMAGE, KEYS), [1] * len(KEYS))
        lines = f.m // 512
        for key, old, new in zip(ABSENT, before, self.answers(bfs.TOLERATE_DAMAGE, ABSENT)):
            chunk = (f.digest(key) * lines >> 64) * 64 // CHUNK
            self.assertEqual(new, 1 if chunk in (0, 2) else old)

    def fill(self, offset, content):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(content)

    def test_a_broken_seal_is_refused(self):
        self.make()
        with open(self.path, "rb") as file:
            good = file.read()
        f = reader.open_file(self.path)
        count, at = -(-f.body_bytes // CHUNK), f.sums_at
        note = record(1, 0, NOTE)

        def seal(*values, kind=3, flags=0, more=b""):
            return lambda data: with_records(data, note + record(kind, flags, SEAL.pack(*values) + more))

        def later(change):
            return both(change, lambda data: put(data, 10, "H", 1))

        right = (CHUNK, 0, count, at, f.sums_sum, f.keys_sealed)
        for name, change, code in (
                ("as it is", seal(*right), None),
                ("no seal", lambda data: with_records(data, note), "BFS_ERECORD"),
                ("two seals", lambda data: with_records(data, record(3, 0, SEAL.pack(*right)) * 2), "BFS_ERECORD"),
                ("ro_compat without the bit", lambda data: put(data, 16 + 4, "I", 0), "BFS_ERECORD"),
                ("chunks of 4096 bytes", seal(4096, *right[1:]), "BFS_ERECORD"),
                ("reserved", seal(CHUNK, 1, *right[2:]), "BFS_ERECORD"),
                ("a chunk less", seal(CHUNK, 0, count - 1, *right[3:]), "BFS_ERECORD"),
                ("2^64 - 1 chunks", seal(CHUNK, 0, 2**64 - 1, *right[3:]), "BFS_ERECORD"),
                ("checksums elsewhere", seal(CHUNK, 0, count, at + 4096, *right[4:]), "BFS_ERECORD"),
                ("checksums in the body", seal(CHUNK, 0, count, 16384, *right[4:]), "BFS_ERECORD"),
                ("checksums at 2^64 - 8", seal(CHUNK, 0, count, 2**64 - 8, *right[4:]), "BFS_ERECORD"),
                ("critical", seal(*right, flags=1), "BFS_ERECORD"),
                ("critical, later minor version", later(seal(*right, flags=1)), "BFS_ERECORD"),
                ("an unknown flag", seal(*right, flags=2), "BFS_ERECORD"),
                ("an unknown flag, later minor version", later(seal(*right, flags=2)), None),
                ("reserved, later minor version", later(seal(CHUNK, 1, *right[2:])), None),
                ("41 bytes", seal(*right, more=b"x"), "BFS_ERECORD")):
            with self.subTest(name):
                data = bytearray(good)
                change(data)
                seal_identity(data)
                self.fill(0, data)
                if code is None:
                    self.assertEqual(self.answers(0, KEYS[:9]), [1] * 9)
                    self.assertTrue(reader.open_file(self.path).contains(KEYS[0]))
                    continue
                self.assertEqual(self.code_of(lambda: self.answers(0, [])), bfs.said(code))
                self.assertEqual(self.code_of(lambda: bfs.verify(LIBRARY, self.path)), bfs.said(code))
                with self.assertRaises(reader.Refused) as refused:
                    reader.open_file(self.path)
                self.assertEqual(refused.exception.code, code)
        self.fill(0, good)
        os.truncate(self.path, len(good) - 1)
        self.assertEqual(self.code_of(lambda: self.answers(0, [])), bfs.said("BFS_EBODY"))
        with self.assertRaises(reader.Refused) as refused:
            reader.open_file(self.path)
        self.assertEqual(refused.exception.code, "BFS_EBODY")

    def test_more_ranges_than_there_is_room_for_are_counted_and_not_written(self):
        self.make()
        with open(self.path, "r+b") as file:
            for at in (16384, 16384 + 2 * CHUNK):
                file.seek(at)
                file.write(os.urandom(1000))
        damaged = [(16384, CHUNK), (16384 + 2 * CHUNK, CHUNK)]
        self.assertEqual(bfs.verify(LIBRARY, self.path), damaged)
        for capacity in (0, 1, 2):
            room = (bfs.Range * 2)(bfs.Range(1, 2), bfs.Range(3, 4))
            self.assertEqual(LIBRARY.bfs_verify(self.path, 0, room, capacity, None), 2)
            self.assertEqual([(one.offset, one.bytes) for one in room], damaged[:capacity] + [(1, 2), (3, 4)][capacity:])
        self.assertEqual(LIBRARY.bfs_verify(self.path, 0, None, 0, None), 2)

    def test_an_embedded_filter_can_not_be_sealed(self):
        options = bfs.options(num_bits=512, num_probes=4)
        keep, address = bfs.aligned_buffer(512)
        LIBRARY.bfs_close(bfs.call(LIBRARY.bfs_format, address, 512, 0, options), None)
        data = bytearray(keep.raw[address - ctypes.addressof(keep):][:512])
        put(data, 20, "I", 1)
        seal_identity(data)
        with self.assertRaises(reader.Refused) as refused:
            reader.embedded(bytes(data))
        self.assertEqual(refused.exception.code, "BFS_ERECORD")
        ctypes.memmove(address, bytes(data), 512)
        self.assertEqual(self.code_of(lambda: bfs.open_memory(LIBRARY, address, 512)), bfs.said("BFS_ERECORD"))

    def test_only_a_sealed_file_is_verified_and_it_is_not_written_to(self):
        self.make()
        for flags in (bfs.WRITE, bfs.EXCLUSIVE, bfs.WRITE | bfs.RECOVER, bfs.WRITE | bfs.ACCEPT_LOSS):
            self.assertEqual(self.code_of(lambda: bfs.open_path(LIBRARY, self.path, flags)), bfs.said("BFS_ESEALED"))
        for flags in (bfs.VERIFY, bfs.TOLERATE_DAMAGE):
            wrong = [lambda: bfs.open_path(LIBRARY, self.plain, bfs.READ | flags)]
            self.assertEqual([self.code_of(one) for one in wrong], [bfs.said("BFS_ENOTSEALED")])
            self.assertEqual(self.code_of(lambda: bfs.open_path(LIBRARY, self.plain, bfs.WRITE | flags)), bfs.said("BFS_EINVAL"))
        self.assertEqual(self.code_of(lambda: self.answers(bfs.VERIFY | bfs.TOLERATE_DAMAGE, [])), bfs.said("BFS_EINVAL"))
        self.assertEqual(self.code_of(lambda: bfs.verify(LIBRARY, self.plain)), bfs.said("BFS_ENOTSEALED"))
        self.assertEqual(LIBRARY.bfs_verify(None, 0, None, 0, None), CODES["BFS_EINVAL"])
        self.assertEqual(LIBRARY.bfs_verify(self.path, 0, None, 1, None), CODES["BFS_EINVAL"])
        handle = bfs.open_path(LIBRARY, self.plain)
        self.assertEqual(LIBRARY.bfs_copy(None, self.path, bfs.SEALED, None, None), CODES["BFS_EINVAL"])
        self.assertEqual(LIBRARY.bfs_copy(handle, None, bfs.SEALED, None, None), CODES["BFS_EINVAL"])
        self.assertEqual(LIBRARY.bfs_copy(handle, self.path, bfs.SEALED | bfs.EXCLUSIVE, None, None), CODES["BFS_EINVAL"])
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        self.assertEqual(self.code_of(lambda: bfs.seal(LIBRARY, self.plain, self.path + b"2", mode=0o1777)), bfs.said("BFS_EINVAL"))
        self.assertEqual(self.code_of(lambda: bfs.seal(LIBRARY, self.plain, self.path)), bfs.said("BFS_EEXIST"))
        self.assertEqual(self.code_of(lambda: bfs.seal(LIBRARY, self.path + b"3", self.path + b"4")), bfs.said("BFS_ENOENT"))
        self.assertEqual(bfs.verify(LIBRARY, self.path), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)

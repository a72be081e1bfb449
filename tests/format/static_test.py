"""Static filters (layout 4): what the library builds, and what the independent writer builds (ribbon.py), has the same answers from
the library, from reader.py and from the reader in one header; so have bodies of chance, in which every threshold and every slot
is used; damage makes no wrong "no"; and a broken identity has one code.

readers.py asks both independent readers. Arguments: the shared library, ask (ask.c).
"""
import ctypes
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"), os.path.dirname(os.path.abspath(__file__))]
import bfstore_ctypes as bfs
import readers as reader
import ribbon
import writer
from breakage import both, field, only_records, put, record, seal_identity

# LD_PRELOAD of a sanitizer is for Python; programs have theirs inside.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
ASK = os.path.abspath(sys.argv.pop(2))
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
STATIC = bfs.LAYOUTS["static"]
CHUNK = 65536
MIB = 2**20
SECRET = bytes(range(0xF0, 0x100))
SCALE = 1 if os.environ.get("KEY_SCALE", "1") == "1" else 10


def body_of_chance(f, chance):
    """Returns a body in which every bit is one of chance, but for its seeds: every fifth one says "maybe"."""
    body = bytearray(chance.randbytes(f.body_bytes))
    for shard in range(2**f.division.shard_bits if f.division.shard_bytes else 0):
        if chance.randrange(5) == 0:
            struct.pack_into("<Q", body, f.division.shard_bytes * shard, reader.NO_SEED)
    return bytes(body)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-static-")
        self.addCleanup(folder.cleanup)
        self.path = os.fsencode(folder.name) + b"/static.bf"
        self.chance = random.Random(1)

    def make(self, body_bytes, k, keys=(), body=None, hash="xxh3", digests=()):
        """Makes a file of these keys, or of this body. Returns what the independent readers say."""
        if os.path.exists(self.path):
            os.unlink(self.path)
        secret = SECRET if hash == "siphash" else None
        f = writer.shape(STATIC, 8 * body_bytes, k, n=max(1, len(keys)), hash=bfs.HASHES[hash], seed=7 if hash == "xxh3" else 0, secret=secret)
        writer.create_static(self.path, f, [writer.digest_of(f, key) for key in keys] + list(digests), body)
        return reader.open_file(self.path, secret)

    def digests(self, count):
        return [self.chance.getrandbits(64) for _ in range(count)]

    def library_says(self, digests, flags=bfs.READ, secret=None):
        handle = bfs.open_path(LIBRARY, self.path, flags, secret=secret)
        answers = (ctypes.c_uint8 * len(digests))()
        self.assertGreaterEqual(LIBRARY.contains_digests(handle, (ctypes.c_uint64 * len(digests))(*digests), len(digests), answers), 0)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in digests[:200]], list(answers[:200]))
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return list(answers)

    def all_agree(self, read, digests, flags=bfs.READ):
        mine = [int(read.contains_digest(digest)) for digest in digests]
        self.assertEqual(self.library_says(digests, flags, read.secret), mine)
        return mine


class OfWriter(Case):
    def test_every_key_is_found_and_other_answers_are_the_same(self):
        for body_bytes, k, load in ((64, 7, 1), (192, 1, 1), (256, 3, 1), (448, 7, 0.5), (960, 5, 0.8), (4096, 1, 0.9), (4096, 2, 0.96),
                                    (4096, 31, 0.7), (4096, 32, 0.7), (32704, 8, 0.97), (16384, 4, 0.97), (65600, 11, 0.9)):
            division = reader.Division(body_bytes, k)
            digests = self.digests(int(sum(division.slots) * load) if division.usable else 20)
            body = ribbon.body(division, body_bytes, digests)
            for hash_name in ("xxh3", "siphash", "external"):
                with self.subTest(body_bytes=body_bytes, k=k, hash=hash_name):
                    read = self.make(body_bytes, k, body=body, hash=hash_name, digests=digests)
                    self.assertEqual((read.m, read.keys_added, read.division.usable), (8 * body_bytes, len(digests), division.usable))
                    says_maybe = reader.number(read.body[:8]) == reader.NO_SEED
                    self.assertEqual(says_maybe, not division.usable)
                    self.assertEqual({*self.all_agree(read, digests[:2000])}, {1}, "a wrong no")
                    found = self.all_agree(read, self.digests(2000))
                    self.assertTrue(says_maybe or sum(found) < 3 * 2000 / 2**k + 30)
                    self.assertEqual(bfs.verify(LIBRARY, self.path), [])

    def test_no_key_and_one_key(self):
        for k in range(1, 33):
            for keys in ([], [b"the only key"]):
                read = self.make(4096, k, keys)
                self.assertTrue(all(read.contains(key) for key in keys))
                found = self.all_agree(read, [read.digest(key) for key in keys] + self.digests(300))
                self.assertTrue(k < 8 or sum(found) <= len(keys) + 6, (k, sum(found)))

    def test_a_file_of_several_shards(self):
        for body_bytes, shards in ((2 * MIB, 1), (2 * MIB + 64, 2), (2 * 1052672 + 64, 2), (4 * MIB, 2), (4 * MIB + 64, 4)):
            with self.subTest(body_bytes=body_bytes):
                digests = self.digests(400) + [0, 2**64 - 1, 2**63, 2**63 - 1, 2**62, 2**62 - 1]
                read = self.make(body_bytes, 7, digests=digests)
                self.assertEqual(2**read.division.shard_bits, shards)
                self.assertEqual({*self.all_agree(read, digests)}, {1}, "a wrong no")
                self.assertLess(sum(self.all_agree(read, self.digests(2000))), 40)

    def test_a_seed_may_have_any_bits(self):
        for seed in (1, 2**32, 2**63, 2**64 - 2):
            f = writer.shape(STATIC, 8 * 4096, 9, seed=7)
            digests = self.digests(2000)
            codes, slots = ribbon.solved(f.division, seed, digests)
            read = self.make(4096, 9, body=ribbon.shard_of(f.division, seed, len(digests), codes, slots))
            self.assertEqual({*self.all_agree(read, digests)}, {1}, "a wrong no")
            self.assertLess(sum(self.all_agree(read, self.digests(2000))), 30)

    def test_the_program_of_c99_finds_the_keys(self):
        read = self.make(4096, 12, [b"key %d" % i for i in range(2000)])
        strangers = sum(read.contains(b"no %d" % i) for i in range(100))
        for ways in ([], ["copy"]):
            said = subprocess.run([ASK, self.path, "0", "2000", *ways], env=ENVIRONMENT, capture_output=True, text=True)
            self.assertEqual((said.stdout, said.returncode), (f"maybe 2000 strangers {strangers}\n", 0))

    def test_the_worked_example_of_the_format(self):
        division = reader.Division(1024, 7)
        self.assertEqual((division.slots, division.granules_at), ((704, 128, 64), 80))
        self.assertEqual(division.hashed(reader.xxh3(b"alice", 1), 0), ([390, 1, 6], 0xD7F5742F, 0x56))
        shard = bytearray(1024)
        for codes, place in (((0, 0), 390), ((1, 0), 705), ((2, 1), 838)):
            shard[65] = codes[0] << 4
            shard[66] = codes[1] << 6
            self.assertEqual(division.place_of(shard, [390, 1, 6]), place, codes)


class OfLibrary(Case):
    def build(self, digests, hash="xxh3", **given):
        """Makes a file of these digests. Returns what the independent readers say."""
        if os.path.exists(self.path):
            os.unlink(self.path)
        secret = SECRET if hash == "siphash" else None
        column = (ctypes.c_uint64 * max(1, len(digests)))(*digests)
        given = {"layout": "static", "hash": hash, "secret": secret, "seed": 7 if hash == "xxh3" else None, **given}
        handle = bfs.build(LIBRARY, self.path, bfs.many_keys(bfs.KEYS_DIGESTS, len(digests), column), bfs.REPLACE if given.get("like") else 0, **given)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return reader.open_file(self.path, secret)

    def alike(self, digests, **given):
        read = self.build(digests, **given)
        self.assertEqual((read.clean, read.seal is not None, read.keys_added), (True, True, len({*digests})))
        shards = [read.shard(i) for i in range(2**read.division.shard_bits)]
        self.assertEqual(sum(reader.number(shard[8:16]) for shard in shards), len({*digests}))
        self.assertTrue(all(reader.number(shard[:8]) < 64 for shard in shards), "no shard is given up")
        self.assertEqual({*self.all_agree(read, digests[:1000])} - {1}, set(), "a wrong no")
        column = (ctypes.c_uint64 * len(digests))(*digests)
        self.assertEqual({*read.other.contains_digests(column)} - {1}, set(), "a wrong no of the reader in one header")
        self.assertEqual({*self.library_says(digests, secret=read.secret)} - {1}, set(), "a wrong no of the library")
        strangers = self.digests(100_000 // SCALE)
        answers = read.other.contains_digests((ctypes.c_uint64 * len(strangers))(*strangers))
        self.assertEqual(self.library_says(strangers, secret=read.secret), list(answers))
        self.all_agree(read, strangers[:1000])
        return read

    def test_files_of_every_size_are_read_alike(self):
        for count in (0, 1, 2, 30, 1000, 10_000, 300_000 // SCALE):
            for hash_name in ("xxh3", "siphash", "external"):
                with self.subTest(count=count, hash=hash_name):
                    read = self.alike(self.digests(count), hash=hash_name, fpr=0.01)
                    self.assertEqual(read.k, 7)

    def test_keys_have_the_digests_of_their_hash(self):
        """bfs_build hashed the keys of a filter with a secret under no secret: each answer of the file was a wrong no."""
        keys = [b"key %d" % i for i in range(2000)]
        column = bfs.many_keys(bfs.KEYS_POINTERS, len(keys), (ctypes.c_char_p * len(keys))(*keys), lengths=(ctypes.c_size_t * len(keys))(*map(len, keys)))
        for hash_name, secret in (("xxh3", None), ("siphash", SECRET)):
            for number, sized in enumerate(({}, {"capacity": 3000})):
                path = self.path + b"%d" % number + hash_name.encode()
                handle = bfs.build(LIBRARY, path, column, layout="static", hash=hash_name, secret=secret, **sized)
                again = bfs.open_path(LIBRARY, path, secret=secret)
                read = reader.open_file(path, secret)
                for one in (handle, again):
                    self.assertEqual({LIBRARY.bfs_contains(one, key, len(key)) for key in keys}, {1}, "a wrong no")
                    found = [LIBRARY.bfs_contains(one, b"no %d" % i, len(b"no %d" % i)) for i in range(1000)]
                    self.assertEqual(found, [int(read.contains(b"no %d" % i)) for i in range(1000)])
                    self.assertLess(sum(found), 40)
                    self.assertEqual(LIBRARY.bfs_close(one, None), 0)
                self.assertEqual({read.contains(key) for key in keys}, {True}, "a wrong no")

    def test_files_of_every_k_are_read_alike(self):
        for k in range(1, 33):
            with self.subTest(k=k):
                self.assertEqual(self.alike(self.digests(100 + 70 * k), fpr=2.0**-k).k, k)

    def test_a_file_of_several_shards_is_read_alike(self):
        for k, count, shards in ((32, 520_000, 2), (31, 1_100_000 // SCALE, 4 if SCALE == 1 else 1)):
            read = self.alike(self.digests(count), fpr=2.0**-k)
            self.assertEqual((read.k, 2**read.division.shard_bits), (k, shards))

    def test_equal_sets_have_equal_bodies(self):
        digests = self.digests(5000)
        bodies = {self.build(order, capacity=5000, threads=threads).body for order in (digests, digests[::-1], digests + digests[:2000]) for threads in (1, 2)}
        self.assertEqual(len(bodies), 1)

    def test_an_embedded_filter_has_no_seal_and_the_same_answers(self):
        digests = self.digests(2000)
        read = self.build(digests, fpr=0.05)
        handle = bfs.open_path(LIBRARY, self.path)
        data = bfs.dump(LIBRARY, handle)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        inside = reader.embedded(data)
        self.assertEqual((inside.seal, inside.body), (None, read.body))
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, data, len(data))
        handle = bfs.open_memory(LIBRARY, address, len(data))
        asked = digests + self.digests(2000)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in asked], [int(inside.contains_digest(digest)) for digest in asked])
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        del keep

    def test_there_is_no_bare_form(self):
        self.build(self.digests(100), hash="external")
        handle = bfs.open_path(LIBRARY, self.path)
        with self.assertRaises(bfs.CodeError) as refused:
            bfs.dump(LIBRARY, handle, bfs.BARE)
        self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said("BFS_EINVAL"))
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        f = writer.shape(STATIC, 8 * 4096, 7, hash=2)
        data = writer.bare_of(f, ribbon.body(f.division, f.body_bytes, self.digests(100)))
        with self.assertRaises(reader.Refused) as refused:
            reader.bare(data)
        self.assertEqual(refused.exception.code, "BFS_ELAYOUT")
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, data, len(data))
        with self.assertRaises(bfs.CodeError) as refused:
            bfs.open_memory(LIBRARY, address, len(data), bfs.READ | bfs.BARE)
        self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said("BFS_ELAYOUT"))
        self.assertEqual(LIBRARY.bfs_bare_contains_digest(data, len(data), 1), 1)
        del keep


class OfChance(Case):
    """Bodies that no builder made: every threshold, and every bit of a slot, is there. The answers say which one was read."""

    def test_answers_are_the_same_in_bodies_of_chance(self):
        shapes = [(body_bytes, k) for k in (1, 2, 3) for body_bytes in (64, 192, 256, 320, 1088, 4096, 65536, 2 * MIB - 64, 2 * MIB + 64, 2 * MIB + 128, 4 * MIB + 128)]
        shapes += [(3072, 1), (512, 1), (12032, 2), (384, 7), (384, 8), (448, 8)]  # roots that are odd, or whole; a layer 0 of 64 slots
        shapes += [(self.chance.randrange(1, 600) * 64, self.chance.randrange(1, 9)) for _ in range(30)] + [(4096, k) for k in (*range(4, 34), 40, 64)]
        for body_bytes, k in shapes:
            with self.subTest(body_bytes=body_bytes, k=k):
                f = writer.shape(STATIC, 8 * body_bytes, k)
                body = body_of_chance(f, self.chance)
                read = self.make(body_bytes, k, body=body)
                found = self.all_agree(read, [0, 2**64 - 1, *self.digests(1000)])
                if read.division.usable and k < 4 and read.division.shard_bits == 0 and reader.number(body[:8]) != reader.NO_SEED:
                    self.assertTrue(1000 / 2**(k + 1) < sum(found) < 1000 / 2**(k - 1) + 2, sum(found))

    def test_each_threshold_sends_its_keys_to_the_layer_after_it(self):
        f = writer.shape(STATIC, 8 * 4096, 2)
        for code in range(4):
            body = bytearray(body_of_chance(f, self.chance))
            struct.pack_into("<Q", body, 0, 5)
            buckets = (f.division.slots[0] + f.division.slots[1]) // 64
            body[64:64 + -(-buckets // 4)] = bytes([0b01010101 * code]) * -(-buckets // 4)
            read = self.make(4096, 2, body=bytes(body))
            digests = self.digests(1500)
            self.all_agree(read, digests)
            places = [read.division.place_of(read.body, read.division.hashed(digest, 5)[0]) for digest in digests]
            last = sum(place >= read.division.first_slot[2] for place in places) / len(places)
            self.assertAlmostEqual(last, ((0, 12, 28, 64)[code] / 64)**2, delta=0.05)


class Damaged(Case):
    def flip(self, offset):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1 << self.chance.randrange(8)]))

    def test_a_damaged_chunk_makes_its_shards_say_maybe_and_the_others_answer_as_before(self):
        size = 1052672  # no multiple of a chunk: chunk 16 has bytes of both shards
        digests = self.digests(400)
        body_bytes = 2 * size + 64
        for offset, shards in ((0, {0}), (size - 1, {0, 1}), (size, {0, 1}), (16 * CHUNK - 1, {0}), (17 * CHUNK, {1}), (body_bytes - 1, {1})):
            with self.subTest(offset=offset):
                whole = self.make(body_bytes, 10, digests=digests)
                strangers = self.digests(1000)
                before = [int(whole.contains_digest(digest)) for digest in strangers]
                self.flip(whole.start + offset)
                self.assertEqual(len(bfs.verify(LIBRARY, self.path)), 1)
                read = reader.tolerate(reader.open_file(self.path))
                self.assertEqual(read.damaged_shards, shards)
                self.assertEqual({*self.all_agree(read, digests, bfs.READ | bfs.TOLERATE_DAMAGE)}, {1}, "a wrong no")
                found = self.all_agree(read, strangers, bfs.READ | bfs.TOLERATE_DAMAGE)
                self.assertEqual(found, [1 if digest >> 63 in shards else old for digest, old in zip(strangers, before)])

    def test_zeros_and_ones_in_a_damaged_chunk_make_no_wrong_no(self):
        for byte in (b"\0", b"\xff", b"\xa5"):
            digests = self.digests(3000)
            read = self.make(4096, 7, digests=digests)
            with open(self.path, "r+b") as file:
                file.seek(read.start)
                file.write(byte * 4096)
            read = reader.tolerate(reader.open_file(self.path))
            self.assertEqual({*self.all_agree(read, digests + self.digests(100), bfs.READ | bfs.TOLERATE_DAMAGE)}, {1})

    def test_damage_behind_the_last_shard_makes_no_wrong_no(self):
        digests = self.digests(200)
        read = self.make(2 * MIB + 64, 7, digests=digests)  # the last chunk has 64 bytes, of no shard
        self.flip(read.start + 2 * MIB + 3)
        self.assertEqual(len(bfs.verify(LIBRARY, self.path)), 1)
        read = reader.tolerate(reader.open_file(self.path))
        self.assertEqual(read.damaged_shards, frozenset())
        self.assertEqual({*self.all_agree(read, digests, bfs.READ | bfs.TOLERATE_DAMAGE)}, {1})
        strangers = self.digests(1000)
        mine = [int(read.contains_digest(digest)) for digest in strangers]
        self.assertLess(sum(mine), 40)
        # The library may say "maybe" in other shards, too.
        its = self.library_says(strangers, bfs.READ | bfs.TOLERATE_DAMAGE)
        self.assertTrue(all(one >= other for one, other in zip(its, mine)), "a no where the reader says maybe")


class Broken(Case):
    def test_a_broken_identity_has_one_code(self):
        self.make(4096, 7, digests=self.digests(50))
        with open(self.path, "rb") as file:
            good = file.read()
        seal = good[128:176]
        more = lambda *records: lambda data: only_records(data, seal + b"".join(records))
        without_seal = both(lambda data: only_records(data, b""), field(20, "I", 0))

        def not_sealed(data):
            without_seal(data)
            sums_at = 16384 + 4096
            put(data, sums_at, "Q", reader.number(data[sums_at + 8:sums_at + 16]))

        part = struct.pack("<IIQ", 0, 2, 1000)
        for name, change, code in (
                ("as it is", lambda data: None, None),
                ("not sealed", not_sealed, None),
                ("not sealed, with the end word of a sealed file", without_seal, "BFS_ELIVEWORD"),
                ("a seal, and not sealed", field(20, "I", 0), "BFS_ERECORD"),
                ("sealed without a seal", lambda data: only_records(data, b""), "BFS_ERECORD"),
                ("k 0", field(36, "I", 0), "BFS_EPROBES"),
                ("k 65", field(36, "I", 65), "BFS_EPROBES"),
                ("m of half a line", field(40, "Q", 8 * 4096 - 256), "BFS_EBITS"),
                ("m 0", field(40, "Q", 0), "BFS_EBITS"),
                ("m beyond 2^48", field(40, "Q", 2**48 + 512), "BFS_EBITS"),
                ("another m", field(40, "Q", 8 * 4096 - 512), "BFS_EBODY"),
                ("hash 4", field(34, "H", 4), "BFS_EHASH"),
                ("hash 9", both(field(34, "H", 9), field(64, "Q", 0)), "BFS_EHASH"),
                ("a part", more(record(4, 1, part)), "BFS_ERECORD"),
                ("a window", more(record(6, 1, struct.pack("<Q", 1000))), "BFS_ERECORD"),
                ("a growth", more(record(7, 1, struct.pack("<II", 10, 0))), "BFS_ERECORD"),
                ("layout 8 with a growth and the seal", both(field(32, "H", 8), more(record(7, 1, struct.pack("<II", 10, 0)))), "BFS_ERECORD"),
                ("seeds", more(record(5, 1, bytes(28))), "BFS_ERECORD"),
                ("an unknown critical record", more(record(99, 1, b"")), "BFS_EFEATURE")):
            with self.subTest(name):
                data = bytearray(good)
                change(data)
                seal_identity(data)
                with open(self.path, "wb") as file:
                    file.write(data)
                if code is None:
                    self.all_agree(reader.open_file(self.path), self.digests(500))
                    continue
                with self.assertRaises(reader.Refused) as refused:
                    reader.open_file(self.path)
                self.assertEqual(refused.exception.code, code)
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.open_path(LIBRARY, self.path)
                self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said(code))

    def test_more_than_32_columns_say_maybe(self):
        for k in (33, 40, 64):
            for body in (None, bytes(4096), b"\x01" * 4096):  # what a builder would write, and what none would
                read = self.make(4096, k, body=body, digests=self.digests(50))
                self.assertEqual({*self.all_agree(read, self.digests(300))}, {1})


if __name__ == "__main__":
    unittest.main(verbosity=2)

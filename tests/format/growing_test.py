"""Filters that grow: files that bf makes and fills have the same answers from reader.py, from the reader in one header, from the
library and from bf, with any number of slices; the independent writer makes and fills them, and each goes on with the other's.

Arguments: the shared library, capi/bfstore.h, bf, bfinspect, ask (ask.c).
"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"), os.path.dirname(os.path.abspath(__file__))]
import bfstore_ctypes as bfs
import bfstore_header
import readers as reader
import writer
from breakage import LIVE_NUM_SLICES, PAGE, put, seal_slots

# LD_PRELOAD of a sanitizer is for Python; programs have theirs inside.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
ASK, INSPECT, BF = (os.path.abspath(sys.argv.pop(at)) for at in (5, 4, 3))
CODES = bfstore_header.codes(sys.argv.pop(2))
NAMES = {code: name for name, code in CODES.items()}
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
SECRET = bytes(range(0xF0, 0x100))
ABSENT = [b"absent %d" % i for i in range(1000)]
LIVE = 3 * PAGE
# lines of the first slice, k, growth, hash, seed, keys of the first slice: also a second slice of exactly 2 MiB, and a first one.
SHAPES = [
    (1, 1, 2, "xxh3", 0, 20),
    (20, 64, 3, "siphash", None, 60),
    (7, 6, 16, "external", None, 90),
    (2048, 5, 16, "xxh3", 2**64 - 1, 40),
    (32768, 7, 2, "xxh3", 3, 30),
]


def content(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def newest_slot(data):
    return max(data[PAGE:2 * PAGE], data[2 * PAGE:LIVE], key=lambda page: reader.number(page[:8]))


def keys_of(first, end):
    return [b"key %d" % i for i in range(first, end)]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-growing-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path, self.other = folder.name + "/grows.bf", folder.name + "/other.bf"

    def done(self, *words, keys=None):
        data = b"".join(key + b"\n" for key in keys) if keys is not None else None
        run = subprocess.run([BF, *words], input=data, capture_output=True, env=ENVIRONMENT)
        self.assertEqual(run.returncode, 0, (words, run.stderr))
        return run.stdout

    def inspected(self, path):
        run = subprocess.run([INSPECT, "--json", path], capture_output=True, env=ENVIRONMENT)
        return json.loads(run.stdout)

    def asked(self, handle, keys, external=False):
        if external:
            return [LIBRARY.bfs_contains_digest(handle, reader.xxh3(key, 1)) for key in keys]
        return [LIBRARY.bfs_contains(handle, key, len(key)) for key in keys]

    def all_agree(self, path, present, secret=None, external=False):
        """Checks that no key of `present` is absent, and that every reader has one answer to every other key."""
        read = reader.open_file(os.fsencode(path), secret)  # and the reader in one header, if the file is clean
        handle = bfs.open_path(LIBRARY, os.fsencode(path), secret=secret)
        answer_of = (lambda key: read.contains_digest(reader.xxh3(key, 1))) if external else read.contains
        mine = [int(answer_of(key)) for key in present + ABSENT]
        self.assertEqual(mine[:len(present)], [1] * len(present), "a wrong no")
        self.assertEqual(self.asked(handle, present + ABSENT, external), mine)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return read

    def change(self, path, change):
        data = content(path)
        change(data)
        seal_slots(data)
        with open(path, "r+b") as file:
            file.write(data)
            file.truncate()

    def refusal(self, path, flags=bfs.READ):
        try:
            LIBRARY.bfs_close(bfs.open_path(LIBRARY, os.fsencode(path), flags), None)
        except bfs.CodeError as refused:
            return NAMES[refused.code]
        return None


class OfBf(Case):
    """Files that bf made."""

    def make(self, slices, capacity=100, growth=2):
        """Makes a file with so many slices, the last one not full. Returns its keys."""
        each = [capacity * growth**i for i in range(5)]
        self.done("create", self.path, "--layout", "growing", "--capacity", str(capacity), "--capacity-at-most", str(sum(each)), "-q")
        keys = keys_of(0, sum(each[:slices]) - capacity // 2)
        self.done("add", self.path, "-q", keys=keys)
        return keys

    def in_each_number(self, check):
        for slices in (1, 2, 3, 5):
            with self.subTest(slices=slices):
                check(slices, self.make(slices))
                os.unlink(self.path)

    def test_every_reader_gives_one_answer_with_any_number_of_slices(self):
        self.in_each_number(self.one_answer)

    def one_answer(self, slices, keys):
        read = self.all_agree(self.path, keys)
        self.assertEqual((read.layout, read.growth, read.n, read.num_slices, read.slot_slices, read.clean), (bfs.LAYOUTS["growing"], 2, 100, slices, slices, True))
        self.assertEqual(os.path.getsize(self.path), read.slices[slices - 1].end_at + 8, "no byte more than the format says")
        self.assertEqual(self.inspected(self.path)["problems"], [])
        self.done("contains", self.path, *keys)
        with_key = [sum(one.contains_digest(read.digest(key)) for one in read.slices[:slices]) for key in keys]
        self.assertEqual(min(with_key), 1, "each key is whole in a slice")
        self.assertLess(sum(with_key), 1.1 * len(keys), "and in that one alone")

    def test_a_file_beyond_its_last_slice_goes_on(self):
        keys = self.make(5, 20) + keys_of(10_000, 11_000)
        self.done("add", self.path, "-q", keys=keys)
        self.assertEqual(self.all_agree(self.path, keys).num_slices, 5)

    def test_the_program_of_c99_counts_the_same_keys(self):
        for slices in (1, 4):
            keys = self.make(slices)
            read = reader.open_file(os.fsencode(self.path))
            strangers = sum(read.contains(b"no %d" % i) for i in range(100))
            for more in ([], ["copy"]):
                said = subprocess.run([ASK, self.path, "0", str(len(keys)), *more], env=ENVIRONMENT, capture_output=True, text=True)
                self.assertEqual((said.stdout, said.returncode), (f"maybe {len(keys)} strangers {strangers}\n", 0))
            os.unlink(self.path)

    def killed(self, more):
        """A writer of the library adds `more` keys, and is killed."""
        script = f"""if 1:
            import os, signal, sys
            sys.path[:0] = {sys.path[:2]!r}
            import bfstore_ctypes as bfs
            library = bfs.load({LIBRARY._name!r})
            handle = bfs.open_path(library, {os.fsencode(self.path)!r}, bfs.WRITE)
            for i in range({more}):
                library.bfs_add(handle, b"more %d" % i, len(b"more %d" % i))
            os.kill(os.getpid(), signal.SIGKILL)"""
        run = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True)
        self.assertEqual(run.returncode, -signal.SIGKILL, run.stderr)
        return [b"more %d" % i for i in range(more)]

    def test_slices_of_a_killed_writer_count_and_the_reader_in_one_header_refuses_the_file(self):
        keys = self.make(1) + self.killed(500)
        read = self.all_agree(self.path, keys)
        self.assertEqual((read.state, read.clean, read.other, read.slot_slices), (2, False, None, 1))
        self.assertEqual(read.num_slices, 3)
        self.done("add", self.path, "-q", keys=[b"late"])
        read = self.all_agree(self.path, keys + [b"late"])
        self.assertEqual((read.clean, read.num_slices, read.slot_slices), (True, 3, 3))

    def test_after_a_power_cut_the_slices_of_the_slot_are_left(self):
        """Its marks cover them. Readers refuse the file until it was recovered."""
        keys = self.make(2)
        self.killed(500)
        read = reader.open_file(os.fsencode(self.path))
        self.assertEqual((read.num_slices, read.slot_slices), (4, 2))
        last = read.slices[3].end_at

        def cut(data):
            for page in (PAGE, 2 * PAGE):
                data[page + 16:page + 32] = b"another boot's i"
            del data[last:]
        self.change(self.path, cut)
        read = reader.open_file(os.fsencode(self.path))
        self.assertEqual((read.clean, read.has_end, read.contains(b"nobody")), (False, False, True))
        for flags in (bfs.READ, bfs.WRITE):
            self.assertEqual(self.refusal(self.path, flags), "BFS_EUNCLEAN")
        self.assertIsNone(self.refusal(self.path, bfs.WRITE | bfs.ACCEPT_LOSS))
        read = self.all_agree(self.path, keys)
        self.assertEqual((read.num_slices, read.slot_slices, read.clean), (2, 2, True))

    def test_a_cut_file_is_lost_where_no_power_cut_explains_it(self):
        self.make(2)
        self.killed(500)
        read = reader.open_file(os.fsencode(self.path))
        with open(self.path, "r+b") as file:
            file.truncate(read.slices[3].end_at)
        with self.assertRaises(reader.Refused) as refused:
            reader.open_file(os.fsencode(self.path))
        self.assertEqual(refused.exception.code, "BFS_ELIVEWORD")
        for flags in (bfs.READ, bfs.WRITE, bfs.WRITE | bfs.ACCEPT_LOSS):
            self.assertEqual(self.refusal(self.path, flags), "BFS_EMALFORMED")

    def test_a_copy_has_the_slices_of_its_source(self):
        keys = self.make(3)
        self.done("copy", self.path, self.other)
        read = self.all_agree(self.other, keys)
        source = reader.open_file(os.fsencode(self.path))
        self.assertEqual((read.num_slices, read.slot_slices, read.clean), (3, 3, True))
        self.assertTrue(all(one.body == theirs.body for one, theirs in zip(read.slices[:3], source.slices)))


class OfWriter(Case):
    """Files that the independent writer made."""

    def secret_of(self, shape):
        return SECRET if shape[3] == "siphash" else None

    def writer_shape(self, shape, n=None, p=0.01):
        lines, k, growth, hash_name, seed, keys = shape
        return writer.shape(bfs.LAYOUTS["growing"], 512 * lines, k, n or keys, p, bfs.HASHES[hash_name], seed or 0, b"a note", self.secret_of(shape),
                            growth=growth)

    def library_creates(self, path, shape):
        lines, k, growth, hash_name, seed, keys = shape
        return bfs.create(LIBRARY, os.fsencode(path), 0, layout="growing", num_bits=512 * lines, num_probes=k, capacity=keys, hash=hash_name, seed=seed,
                          capacity_at_most=keys * sum(growth**i for i in range(5)), note=b"a note", secret=self.secret_of(shape))

    def opened(self, path, shape, flags=bfs.READ):
        return bfs.open_path(LIBRARY, os.fsencode(path), flags, secret=self.secret_of(shape))

    def library_adds(self, handle, shape, keys):
        if shape[3] == "external":
            return [LIBRARY.bfs_add_digest(handle, reader.xxh3(key, 1)) for key in keys]
        return [LIBRARY.bfs_add(handle, key, len(key)) for key in keys]

    def writer_adds(self, w, shape, keys):
        return w.add_digests([reader.xxh3(key, 1) for key in keys]) if shape[3] == "external" else w.add(*keys)

    def agree(self, path, shape, keys):
        return self.all_agree(path, keys, self.secret_of(shape), shape[3] == "external")

    def healthy(self, path):
        """A slice of one line is full with few keys: then only that may be a problem."""
        self.assertEqual(self.inspected(path)["problems"], [])

    def test_its_file_of_one_slice_is_the_library_s_but_for_what_is_random(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                keys = keys_of(0, shape[5] - 1)
                theirs = self.library_creates(self.other, shape)
                self.library_adds(theirs, shape, keys)
                self.assertEqual(LIBRARY.bfs_close(theirs, None), 0)
                read = reader.open_file(os.fsencode(self.other), self.secret_of(shape))
                w = writer.create(self.path, self.writer_shape(shape, read.n, read.p))
                self.writer_adds(w, shape, keys)
                w.close()
                mine, their = content(self.path), content(self.other)
                self.assertEqual((len(mine), mine[:64], mine[72:88], mine[104:116]), (len(their), their[:64], their[72:88], their[104:116]))
                self.assertTrue(mine[read.start:read.end_at] == their[read.start:read.end_at], "other bits")
                self.assertEqual(mine[LIVE + 8:LIVE + 64], their[LIVE + 8:LIVE + 64], "the words of the live page")
                self.assertEqual(newest_slot(mine)[:40], newest_slot(their)[:40], "sequence, state, slices, boot id and device")
                self.agree(self.path, shape, keys)
                self.healthy(self.path)
            for path in (self.path, self.other):
                os.unlink(path)

    def test_its_new_file_of_three_slices_is_used_by_the_library(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                w = writer.create(self.path, self.writer_shape(shape), slices=3)
                self.assertEqual((w.grow(2), w.counted()), (False, 3), "another number than the file's")
                keys, more = keys_of(0, 2 * shape[5]), keys_of(1000, 1000 + shape[5])
                self.writer_adds(w, shape, keys)
                w.close()
                read = self.agree(self.path, shape, keys)
                self.assertEqual((read.num_slices, read.slot_slices, read.clean), (3, 3, True))
                self.assertEqual(set(reader.number(one.body) for one in read.slices[:2]), {0}, "keys go to the last slice")
                handle = self.opened(self.path, shape, bfs.WRITE)
                self.assertEqual(set(self.library_adds(handle, shape, keys)), {0}, "the library would set other bits")
                self.library_adds(handle, shape, more)
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                read = self.agree(self.path, shape, keys + more)
                self.assertEqual((read.num_slices, set(reader.number(one.body) for one in read.slices[:2])), (3, {0}))
                self.healthy(self.path)
            os.unlink(self.path)

    def test_each_goes_on_with_the_other_s_file_and_adds_slices(self):
        for shape in SHAPES:
            lines, _, growth, _, _, of_first = shape
            most = 5 if lines < 100 and growth < 16 else 3  # as many slices as can be filled here
            with self.subTest(shape=shape):
                made_for = [of_first * sum(growth**i for i in range(slices)) for slices in range(1, 6)]
                w = writer.create(self.path, self.writer_shape(shape))
                keys = []
                for turn, slices in enumerate([1, *range(2, most + 1)]):
                    fresh = keys_of(len(keys), made_for[slices - 1] - of_first // 2)
                    if turn % 2:  # the library adds the next slice
                        handle = self.opened(self.path, shape, bfs.WRITE)
                        self.assertEqual(set(self.library_adds(handle, shape, keys)), {0}, "the library would set other bits")
                        self.library_adds(handle, shape, fresh)
                        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, slices), None), 0)
                        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    else:
                        w = w or writer.open_clean(self.path, self.secret_of(shape))
                        self.assertEqual(self.writer_adds(w, shape, keys), 0, "the writer would set other bits")
                        self.writer_adds(w, shape, fresh)
                        w.sync(1, slices)
                        w.close()
                        w = None
                    keys += fresh
                    read = self.agree(self.path, shape, keys)
                    self.assertEqual((read.clean, read.num_slices, read.slot_slices, read.marks), (True, slices, slices, {1: (slices, 0)}))
                    self.assertEqual(os.path.getsize(self.path), read.slices[slices - 1].end_at + 8)
                    self.healthy(self.path)
            os.unlink(self.path)

    def test_the_worked_example_of_the_format(self):
        for slices, bits, start in ((1, {398, 459, 207}, 16384), (2, {910, 971, 719}, 24576), (3, {1934, 1995, 1743}, 32768)):
            writer.create(self.path, writer.shape(bfs.LAYOUTS["growing"], 1024, 3, seed=1, growth=2), slices=slices).close()
            handle = bfs.open_path(LIBRARY, os.fsencode(self.path), bfs.WRITE)
            self.assertEqual(LIBRARY.bfs_add(handle, b"alice", 5), 1)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
            read = reader.open_file(os.fsencode(self.path))
            self.assertEqual((read.slices[slices - 1].start, read.slices[0].end_at, read.slices[1].end_at), (start, 20480, 28672))
            for number, one in enumerate(read.slices[:slices], 1):
                body = reader.number(one.body)
                self.assertEqual({bit for bit in range(one.m) if body >> bit & 1}, bits if number == slices else set())
            os.unlink(self.path)

    def test_readers_that_have_the_file_open_see_the_slices_that_it_adds(self):
        shape = SHAPES[1]
        w = writer.create(self.path, self.writer_shape(shape))
        handle = self.opened(self.path, shape)
        for slices in range(1, 6):
            self.assertEqual((w.counted(), w.grow(slices + 1), w.counted()), (slices, False, slices), "another number than the file's")
            key = b"of slice %d" % slices
            self.assertEqual((self.asked(handle, [key]), self.writer_adds(w, shape, [key]), self.asked(handle, [key])), ([0], 1, [1]))
            self.assertEqual(set(self.asked(handle, [b"of slice %d" % i for i in range(1, slices + 1)])), {1})
            self.assertEqual(w.grow(slices), slices < 5)
        w.sync()
        self.assertEqual(newest_slot(content(self.path))[12:16], struct.pack("<I", 5))
        w.close()
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_a_slice_that_was_not_counted_is_added_again(self):
        """As a writer leaves it that dies before it counts the slice: its end word is there, and perhaps bits of before a power cut."""
        for by_library in (False, True):
            shape = SHAPES[0]
            w = writer.create(self.path, self.writer_shape(shape))
            first = keys_of(0, 18)
            self.writer_adds(w, shape, first)
            w.close()
            read = reader.open_file(os.fsencode(self.path))
            new = read.slices[1]

            def left(data):
                data.extend(bytes(new.end_at + 8 - len(data)))
                data[new.start:new.start + 64] = b"\x01" * 64
                put(data, new.end_at, "Q", new.end_word)
            self.change(self.path, left)
            self.assertEqual(self.agree(self.path, shape, first).num_slices, 1)
            more = keys_of(18, 30)
            if by_library:
                handle = self.opened(self.path, shape, bfs.WRITE)
                self.library_adds(handle, shape, more)
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
            else:
                w = writer.open_clean(self.path)
                self.writer_adds(w, shape, more[:5])
                self.writer_adds(w, shape, more[5:])
                w.close()
            self.assertEqual(self.agree(self.path, shape, first + more).num_slices, 2)
            os.unlink(self.path)

    def test_it_adds_no_slice_to_a_file_in_doubt(self):
        for offset, change in ((LIVE, lambda word: word | reader.POISONED), (LIVE, lambda word: word | reader.SUPERSEDED), (LIVE, lambda word: word | reader.REPLACED),
                               (LIVE, lambda word: word | 1 << 6), (LIVE, lambda word: word ^ 1 << 40), (None, lambda word: word ^ 1)):
            w = writer.create(self.path, self.writer_shape(SHAPES[0]))
            offset = w.f.end_at if offset is None else offset
            w.words[offset // 8] = change(w.words[offset // 8])
            self.assertIs(w.grow(1), False)
            self.assertEqual(w.words[writer.NUM_SLICES], 1)
            w.drop()
            os.unlink(self.path)

    def test_slices_of_another_moment_are_unclean(self):
        shape = SHAPES[0]
        w = writer.create(self.path, self.writer_shape(shape), slices=3)
        w.close()
        for slices in (1, 2):
            self.change(self.path, lambda data: put(data, LIVE_NUM_SLICES, "Q", slices))
            self.assertEqual([self.refusal(self.path, flags) for flags in (bfs.READ, bfs.WRITE)], ["BFS_EUNCLEAN"] * 2)
            with self.assertRaises(reader.Refused) as refused:
                writer.open_clean(self.path)
            self.assertEqual(refused.exception.code, "BFS_EUNCLEAN")


if __name__ == "__main__":
    unittest.main(verbosity=2)

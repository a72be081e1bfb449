"""Filters whose keys expire: files that bf makes, fills and turns have the same answers from reader.py, from the reader in one
header, from the library and from bf; the independent writer makes, fills and turns them, and each goes on with the other's.

Arguments: the shared library, capi/bfstore.h, bf, bfinspect, ask (ask.c).
"""
import json
import os
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
from breakage import PAGE, put, seal_slots

# LD_PRELOAD of a sanitizer is for Python; programs have theirs inside.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
ASK, INSPECT, BF = (os.path.abspath(sys.argv.pop(at)) for at in (5, 4, 3))
CODES = bfstore_header.codes(sys.argv.pop(2))
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
LAYOUTS = {"window": 8, "window-4": 4, "window-2": 2}
DAY_MS = 86_400_000
PER_EPOCH = 60
ABSENT = [b"absent %d" % i for i in range(400)]
LIVE = 3 * PAGE
# layout, lines, k, hash, seed
SHAPES = [(layout, lines, k, hash_name, seed)
          for layout in LAYOUTS
          for lines, k, hash_name, seed in ((1, 1, "xxh3", 0), (997, 64, "siphash", None), (1024, 6, "external", None), (32768, 5, "xxh3", 2**64 - 1))]
SECRET = bytes(range(0xF0, 0x100))


def keys_of(epoch):
    return [b"key %d of epoch %d" % (i, epoch) for i in range(PER_EPOCH)]


def content(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def newest_slot(data):
    return max(data[PAGE:2 * PAGE], data[2 * PAGE:LIVE], key=lambda page: reader.number(page[:8]))


def turned(page):
    """Returns epoch, turned_at and turned_after_boot of a slot."""
    return struct.unpack_from("<QQQ", page, 80)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-windows-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path, self.other = folder.name + "/seen.bf", folder.name + "/other.bf"

    def bf(self, *words, keys=None):
        data = b"".join(key + b"\n" for key in keys) if keys is not None else None
        return subprocess.run([BF, *words], input=data, capture_output=True, env=ENVIRONMENT)

    def done(self, *words, keys=None):
        run = self.bf(*words, keys=keys)
        self.assertEqual(run.returncode, 0, (words, run.stderr))
        return run.stdout

    def inspected(self, path):
        run = subprocess.run([INSPECT, "--json", path], capture_output=True, env=ENVIRONMENT)
        return json.loads(run.stdout)

    def all_agree(self, path, kept, gone, secret=None):
        """Checks that no key of `kept` is absent, and that every reader has one answer to every other key."""
        read = reader.open_file(os.fsencode(path), secret)  # and the reader in one header, if the file is clean
        handle = bfs.open_path(LIBRARY, os.fsencode(path), secret=secret)
        for key in kept:
            self.assertTrue(read.contains(key), ("a wrong no", key))
        others = gone + ABSENT
        mine = [int(read.contains(key)) for key in others]
        self.assertEqual([LIBRARY.bfs_contains(handle, key, len(key)) for key in kept + others], [1] * len(kept) + mine)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        self.assertLess(sum(mine), len(others) // 10)
        return read


class OfBf(Case):
    """Files that bf made."""

    def make(self, layout, epochs):
        """Makes a file that is in epoch `epochs`, with keys of each epoch up to then."""
        self.done("create", self.path, "--layout", layout, "--window", "24h", "-n", str(PER_EPOCH * LAYOUTS[layout]), "-q")
        for epoch in range(epochs + 1):
            if epoch:
                self.done("turn", self.path, "--now", "-q")
            self.done("add", self.path, "-q", keys=keys_of(epoch))

    def kept_and_gone(self, layout, epoch):
        first = max(0, epoch - LAYOUTS[layout] + 1)
        return sum(map(keys_of, range(first, epoch + 1)), []), sum(map(keys_of, range(first)), [])

    def in_each_epoch(self, check):
        for layout, number in LAYOUTS.items():
            for epoch in sorted({0, 1, number - 1, number, number + 3}):
                with self.subTest(layout=layout, epoch=epoch):
                    if os.path.exists(self.path):
                        os.unlink(self.path)
                    self.make(layout, epoch)
                    check(layout, epoch)

    def test_every_reader_gives_one_answer_in_each_epoch(self):
        self.in_each_epoch(self.one_answer)

    def one_answer(self, layout, epoch):
        kept, gone = self.kept_and_gone(layout, epoch)
        read = self.all_agree(self.path, kept, gone)
        self.assertEqual((read.layout, read.epochs, read.window_ms, read.clean), (bfs.LAYOUTS[layout], LAYOUTS[layout], DAY_MS, True))
        self.assertEqual((read.epoch, read.live_epoch), (epoch, 2 * epoch))
        said = self.inspected(self.path)
        self.assertEqual([said[name] for name in ("epoch", "epochs", "window_ms", "problems")], [epoch, LAYOUTS[layout], DAY_MS, []])
        self.done("contains", self.path, *kept)
        for key in kept + gone:  # each key in the word of its epoch
            added = int(key.split()[-1])
            if added > epoch - LAYOUTS[layout]:
                self.assertIn(added % LAYOUTS[layout], read.words_with(read.digest(key)))
        words = [word for key in ABSENT + gone for word in read.words_with(read.digest(key))]
        self.assertLess(len(words), (len(ABSENT) + len(gone)) // 10)

    def test_the_program_of_c99_counts_the_same_keys(self):
        self.done("create", self.path, "--layout", "window-4", "--window", "24h", "-n", "2000", "-q")
        for epoch in range(6):
            if epoch:
                self.done("turn", self.path, "--now", "-q")
            self.done("add", self.path, "-q", keys=[b"key %d" % i for i in range(200 * epoch, 200 * epoch + 200)])
        read = reader.open_file(os.fsencode(self.path))
        strangers = sum(read.contains(b"no %d" % i) for i in range(100))
        for first, end in ((400, 1200), (0, 400)):
            expected = sum(read.contains(b"key %d" % i) for i in range(first, end))
            said = subprocess.run([ASK, self.path, str(first), str(end)], env=ENVIRONMENT, capture_output=True, text=True)
            self.assertEqual((said.stdout, said.returncode), (f"maybe {expected} strangers {strangers}\n", 0))
            self.assertTrue(expected == 800 if first else expected < 40, expected)

    def test_a_turn_that_was_not_finished_changes_no_answer_and_the_next_one_does(self):
        self.in_each_epoch(self.an_unfinished_turn)

    def an_unfinished_turn(self, layout, epoch):
        data = content(self.path)
        kept, gone = self.kept_and_gone(layout, epoch)
        for half in (False, True):
            put(data, LIVE + 16, "Q", 2 * epoch + 1)
            if half:  # of the lines are cleared
                self.clear_half(data, layout, (epoch + 1) % LAYOUTS[layout])
                kept, gone = [key for key in kept if int(key.split()[-1]) > epoch - LAYOUTS[layout] + 1], []
            with open(self.path, "r+b") as file:
                file.write(data)
            read = self.all_agree(self.path, kept, gone)
            self.assertEqual((read.clean, read.epoch, read.live_epoch), (True, epoch, 2 * epoch + 1))
        self.done("add", self.path, "-q", keys=[b"in the middle"])
        self.assertIn(epoch % LAYOUTS[layout], self.words_with(b"in the middle"))
        self.done("turn", self.path, "--now", "-q")
        read = self.all_agree(self.path, kept + [b"in the middle"], [])
        self.assertEqual((read.epoch, read.live_epoch), (epoch + 1, 2 * epoch + 2))
        self.assertEqual(self.bits_of_word(layout, (epoch + 1) % LAYOUTS[layout]), 0)

    def words_with(self, key):
        read = reader.open_file(os.fsencode(self.path))
        return read.words_with(read.digest(key))

    def clear_half(self, data, layout, word):
        start, size, of_word = reader.number(data[72:80]), reader.number(data[80:88]), 64 // LAYOUTS[layout]
        for line in range(start, start + size // 128 * 64, 64):
            data[line + of_word * word:line + of_word * (word + 1)] = bytes(of_word)

    def bits_of_word(self, layout, word):
        read, of_word = reader.open_file(os.fsencode(self.path)), 64 // LAYOUTS[layout]
        lines = (read.body[line + of_word * word:line + of_word * (word + 1)] for line in range(0, read.body_bytes, 64))
        return sum(bin(reader.number(line)).count("1") for line in lines)

    def test_a_killed_file_is_read_by_the_library_and_refused_by_the_reader_in_one_header(self):
        self.in_each_epoch(self.a_killed_file)

    def a_killed_file(self, layout, epoch):
        writer_of_the_library = f"""if 1:
            import os, signal, sys
            sys.path[:0] = {sys.path[:2]!r}
            import bfstore_ctypes as bfs
            library = bfs.load({LIBRARY._name!r})
            handle = bfs.open_path(library, {os.fsencode(self.path)!r}, bfs.WRITE)
            library.bfs_add(handle, b"late", 4)
            os.kill(os.getpid(), signal.SIGKILL)"""
        subprocess.run([sys.executable, "-B", "-c", writer_of_the_library], capture_output=True)
        kept, gone = self.kept_and_gone(layout, epoch)
        for live in (2 * epoch, 2 * epoch + 1):
            with open(self.path, "r+b") as file:
                file.seek(LIVE + 16)
                file.write(struct.pack("<Q", live))
            read = self.all_agree(self.path, kept + [b"late"], gone)
            self.assertEqual((read.state, read.clean, read.other, read.of_one_epoch), (2, False, None, True))
        for live in (2 * epoch + 2, 2 * epoch + 3, 2 * (epoch - 1) + 1 if epoch else 7):
            with open(self.path, "r+b") as file:
                file.seek(LIVE + 16)
                file.write(struct.pack("<Q", live))
            self.assertIs(reader.open_file(os.fsencode(self.path)).of_one_epoch, False)
            for flags in (bfs.READ, bfs.WRITE):
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.open_path(LIBRARY, os.fsencode(self.path), flags)
                self.assertEqual(refused.exception.code, CODES["BFS_EUNCLEAN"])

    def test_the_worked_example_of_the_format(self):
        for layout, in_word in (("window", {49, 57, 25}), ("window-4", {99, 114, 51}), ("window-2", {199, 229, 103})):
            bits_of_word = 512 // LAYOUTS[layout]
            handle = bfs.create(LIBRARY, os.fsencode(self.path), bfs.REPLACE, layout=layout, num_bits=1024, num_probes=3, seed=1, window_ms=DAY_MS)
            for epoch in range(11):
                self.assertEqual(LIBRARY.bfs_turn(handle, epoch - 1, None) if epoch else 1, 1)
                before = reader.open_file(os.fsencode(self.path)).body
                self.assertEqual(LIBRARY.bfs_add(handle, b"alice", 5), int(epoch == 0))
                body = reader.open_file(os.fsencode(self.path)).body
                fresh = reader.number(body) & ~reader.number(before)
                word = epoch % LAYOUTS[layout]
                self.assertEqual({bit for bit in range(1024) if fresh >> bit & 1}, {bits_of_word * word + bit for bit in in_word})
            if layout == "window":
                self.assertEqual({bits_of_word * word + bit for bit in in_word}, {177, 185, 153})
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)


class OfWriter(Case):
    """Files that the independent writer made."""

    def secret_of(self, shape):
        return SECRET if shape[3] == "siphash" else None

    def writer_shape(self, shape, n=1000, p=0.01, window_ms=DAY_MS):
        layout, lines, k, hash_name, seed = shape
        return writer.shape(bfs.LAYOUTS[layout], 512 * lines, k, n, p, bfs.HASHES[hash_name], seed or 0, b"a note", self.secret_of(shape),
                            window_ms=window_ms)

    def library_creates(self, path, shape):
        layout, lines, k, hash_name, seed = shape
        return bfs.create(LIBRARY, os.fsencode(path), 0, layout=layout, num_bits=512 * lines, num_probes=k, hash=hash_name, seed=seed,
                          note=b"a note", secret=self.secret_of(shape), window_ms=DAY_MS)

    def opened(self, path, shape, flags=bfs.READ):
        return bfs.open_path(LIBRARY, os.fsencode(path), flags, secret=self.secret_of(shape))

    def items(self, shape, keys):
        return [reader.xxh3(key, 1) for key in keys] if shape[3] == "external" else keys

    def library_adds(self, handle, shape, keys):
        if shape[3] == "external":
            return [LIBRARY.bfs_add_digest(handle, digest) for digest in self.items(shape, keys)]
        return [LIBRARY.bfs_add(handle, key, len(key)) for key in keys]

    def asked(self, handle, shape, keys):
        if shape[3] == "external":
            return [LIBRARY.bfs_contains_digest(handle, digest) for digest in self.items(shape, keys)]
        return [LIBRARY.bfs_contains(handle, key, len(key)) for key in keys]

    def writer_adds(self, w, shape, keys):
        return w.add_digests(self.items(shape, keys)) if shape[3] == "external" else w.add(*keys)

    def healthy(self, path):
        self.assertEqual(self.inspected(path)["problems"], [])

    def same_but_for_what_is_random(self, shape):
        mine, theirs = content(self.path), content(self.other)
        self.assertEqual((len(mine), mine[:48]), (len(theirs), theirs[:48]))
        start, size = reader.number(mine[72:80]), reader.number(mine[80:88])
        self.assertEqual((mine[64:88], mine[104:128]), (theirs[64:88], theirs[104:128]))
        self.assertTrue(mine[start:start + size] == theirs[start:start + size], "other bits")
        self.assertEqual(mine[LIVE + 8:LIVE + 64], theirs[LIVE + 8:LIVE + 64], "the words of the live page")
        counted = [sum(reader.number(data[at:at + 8]) for at in range(LIVE + 64, LIVE + 2112, 64)) for data in (mine, theirs)]
        self.assertEqual(*counted)
        my_epoch, *my_moment = turned(newest_slot(mine))
        their_epoch, *their_moment = turned(newest_slot(theirs))
        self.assertEqual((my_epoch, all(my_moment)), (their_epoch, all(their_moment)))
        self.assertEqual(newest_slot(mine)[:8], newest_slot(theirs)[:8], "how many slots were written")
        self.assertEqual(newest_slot(mine)[8:40], newest_slot(theirs)[8:40], "state, boot id and device")

    def test_its_file_is_the_library_s_in_every_epoch(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                epochs = LAYOUTS[shape[0]]
                handle = self.library_creates(self.other, shape)
                n, p = (getattr(bfs.statistics(LIBRARY, handle), name) for name in ("capacity", "fpr"))
                w = writer.create(self.path, self.writer_shape(shape, n, p))
                for epoch in range(epochs + 2):
                    if epoch:
                        _, before = writer.now()
                        self.assertIs(w.turn(epoch - 1), True)
                        self.assertIs(w.turn(epoch - 1), False, "another epoch than the current one")
                        self.assertEqual((LIBRARY.bfs_turn(handle, epoch - 1, None), LIBRARY.bfs_turn(handle, epoch - 1, None)), (1, 0))
                        for path in (self.path, self.other):
                            _, _, moment = turned(newest_slot(content(path)))
                            self.assertTrue(before <= moment <= writer.now()[1], "the moment of the turn, however long it took")
                    again = keys_of(epoch - 2)[:20]  # keys that an older word may have
                    self.writer_adds(w, shape, keys_of(epoch) + again)
                    self.library_adds(handle, shape, keys_of(epoch) + again)
                    self.same_but_for_what_is_random(shape)
                self.assertEqual((w.turn(), LIBRARY.bfs_turn(handle, bfs.IF_DUE, None)), (False, 0), "no turn is due")
                w.close()
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                self.same_but_for_what_is_random(shape)
                self.healthy(self.path)
            for path in (self.path, self.other):
                os.unlink(path)

    def test_each_goes_on_with_the_other_s_file(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                epochs, full = LAYOUTS[shape[0]], shape[1] == 1
                w = writer.create(self.path, self.writer_shape(shape))
                self.writer_adds(w, shape, keys_of(0))
                w.close()
                for epoch in range(1, epochs + 4):
                    handle = self.opened(self.path, shape, bfs.WRITE)
                    kept = sum(map(keys_of, range(max(0, epoch - epochs), epoch)), [])
                    self.assertEqual(set(self.asked(handle, shape, kept)), {1}, "a wrong no")
                    if epoch % 2:
                        self.assertEqual(LIBRARY.bfs_turn(handle, epoch - 1, None), 1)
                        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                        w = writer.open_clean(self.path, self.secret_of(shape))
                        self.writer_adds(w, shape, keys_of(epoch))
                        w.sync(1, epoch)
                        w.close()
                    else:
                        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                        w = writer.open_clean(self.path, self.secret_of(shape))
                        self.assertIs(w.turn(epoch - 1), True)
                        w.close()
                        handle = self.opened(self.path, shape, bfs.WRITE)
                        self.library_adds(handle, shape, keys_of(epoch))
                        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, epoch), None), 0)
                        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    read = reader.open_file(os.fsencode(self.path), self.secret_of(shape))
                    self.assertEqual((read.epoch, read.live_epoch, read.clean, read.marks), (epoch, 2 * epoch, True, {1: (epoch, 0)}))
                    gone = sum(map(keys_of, range(max(0, epoch - epochs + 1))), [])
                    handle = self.opened(self.path, shape)
                    answers = self.asked(handle, shape, gone + ABSENT)
                    answer_of = read.contains_digest if shape[3] == "external" else read.contains
                    self.assertEqual(answers, [int(answer_of(item)) for item in self.items(shape, gone + ABSENT)])
                    self.assertTrue(full or sum(answers) < len(answers) // 10)
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                    self.healthy(self.path)
            os.unlink(self.path)

    def test_each_finds_that_a_turn_is_due_and_the_other_that_it_was_made(self):
        shape, year_ms = SHAPES[0], 365 * DAY_MS
        w = writer.create(self.path, self.writer_shape(shape, window_ms=7 * 20 * year_ms - 3))  # an epoch is not quite 20 years
        w.close()
        epoch = 0
        for mine in (True, False):
            for ago_ms, due in ((-year_ms, False), (19 * year_ms, False), (20 * year_ms, True)):
                data = content(self.path)
                for page in (PAGE, 2 * PAGE):
                    put(data, page + 88, "Q", writer.now()[0] - ago_ms * 10**6)
                    put(data, page + 96, "Q", 0)
                seal_slots(data)
                with open(self.path, "r+b") as file:
                    file.write(data)
                if mine:
                    w = writer.open_clean(self.path)
                    self.assertEqual((w.turn(), w.turn()), (due, False))
                    w.close()
                else:
                    handle = self.opened(self.path, shape, bfs.WRITE)
                    self.assertEqual([LIBRARY.bfs_turn(handle, bfs.IF_DUE, None) for _ in range(2)], [int(due), 0])
                    self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                epoch += due
                self.assertEqual(reader.open_file(os.fsencode(self.path)).epoch, epoch)

    def test_a_moment_after_another_boot_is_forgotten(self):
        writer.create(self.path, self.writer_shape(SHAPES[0])).close()
        data = content(self.path)
        for boot, kept in ((b"another boot's i", 0), (bytes(data[PAGE + 16:PAGE + 32]), 12345)):
            for mine in (True, False):
                for page in (PAGE, 2 * PAGE):
                    data[page + 16:page + 32] = boot
                    put(data, page + 88, "Q", 7)
                    put(data, page + 96, "Q", 12345)
                seal_slots(data)
                with open(self.path, "r+b") as file:
                    file.write(data)
                if mine:
                    writer.open_clean(self.path).close()
                else:
                    self.assertEqual(LIBRARY.bfs_close(self.opened(self.path, SHAPES[0], bfs.WRITE), None), 0)
                self.assertEqual(turned(newest_slot(content(self.path))), (0, 7, kept), mine)

    def test_a_turn_that_was_left_is_made_again_by_each(self):
        for shape in SHAPES[::4]:
            w = writer.create(self.path, self.writer_shape(shape))
            w.add(*keys_of(0))
            w.words[writer.EPOCH] = 1
            w.close()
            handle = self.opened(self.path, shape, bfs.WRITE)
            self.assertEqual(set(self.library_adds(handle, shape, keys_of(0))), {0}, "the epoch is still 0")
            self.assertEqual(LIBRARY.bfs_turn(handle, 0, None), 1)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
            w = writer.open_clean(self.path)
            self.assertEqual((w.live_epoch(), w.turn(1)), (2, True))
            w.words[writer.EPOCH] |= 1
            w.add(*keys_of(2))
            self.assertEqual((w.turn(1), w.turn(2), w.live_epoch()), (False, True, 6))
            w.words[writer.EPOCH] += 2  # a mixture of two moments
            with self.assertRaises(reader.Refused) as refused:
                w.turn(3)
            self.assertEqual(refused.exception.code, "BFS_EPOISONED")
            self.assertTrue(reader.open_file(os.fsencode(self.path)).contains(b"nobody"))
            w.drop()
            os.unlink(self.path)

    def patch(self, path, offset, change):
        with open(path, "r+b") as file:
            file.seek(offset)
            word = change(reader.number(file.read(8)))
            file.seek(offset)
            file.write(struct.pack("<Q", word))

    def test_both_refuse_a_turn_with_one_code_and_leave_the_same_words(self):
        shape = ("window-4", 50, 4, "xxh3", 5)
        for name, offset, change, code in (
                ("a process died in a sync", LIVE + 8, lambda word: 1, "BFS_EPOISONED"),
                ("a later epoch in the live page", LIVE + 16, lambda word: word + 2, "BFS_EPOISONED"),
                ("an epoch before in the live page", LIVE + 16, lambda word: word - 1, "BFS_EPOISONED"),
                ("poisoned", LIVE, lambda word: word | reader.POISONED, "BFS_EPOISONED"),
                ("recovering", LIVE, lambda word: word | reader.RECOVERING, "BFS_ERECOVERING"),
                ("superseded", LIVE, lambda word: word | reader.SUPERSEDED, "BFS_ESUPERSEDED"),
                ("replaced", LIVE, lambda word: word | reader.REPLACED, "BFS_ESUPERSEDED"),
                ("lost", LIVE, lambda word: word ^ 1 << 40, "BFS_ELOST")):
            with self.subTest(name):
                w, theirs = writer.create(self.path, self.writer_shape(shape)), self.library_creates(self.other, shape)
                w.add(*keys_of(0))
                self.library_adds(theirs, shape, keys_of(0))
                self.assertEqual((w.turn(0), LIBRARY.bfs_turn(theirs, 0, None)), (True, 1))
                bodies = [reader.open_file(os.fsencode(path)).body for path in (self.path, self.other)]
                for path in (self.path, self.other):
                    self.patch(path, offset, change)
                with self.assertRaises(reader.Refused) as refused:
                    w.turn(1)
                self.assertEqual((refused.exception.code, LIBRARY.bfs_turn(theirs, 1, None)), (code, CODES[code]))
                mine, their = content(self.path), content(self.other)
                self.assertEqual(mine[LIVE:LIVE + 2], their[LIVE:LIVE + 2], "the states of the live word")
                self.assertEqual(mine[LIVE + 8:LIVE + 64], their[LIVE + 8:LIVE + 64])
                self.assertEqual(newest_slot(mine)[8:40], newest_slot(their)[8:40], "state, boot id and device")
                self.assertEqual(any(newest_slot(mine)[40:64]), any(newest_slot(their)[40:64]), "the rest of the place")
                self.assertEqual(turned(newest_slot(mine))[0], turned(newest_slot(their))[0])
                for path, body in zip((self.path, self.other), bodies):
                    data = content(path)
                    start = reader.number(data[72:80])
                    self.assertEqual(data[start:start + len(body)], body, "a word was cleared")
                w.drop()
                LIBRARY.bfs_close(theirs, None)
            for path in (self.path, self.other):
                os.unlink(path)

    def test_its_sealed_file_is_of_the_source_s_epoch(self):
        for shape in SHAPES:
            w = writer.create(self.path, self.writer_shape(shape))
            for epoch in range(3):
                self.writer_adds(w, shape, keys_of(epoch))
                w.turn(epoch)
            w.words[writer.EPOCH] |= 1  # a turn that was not finished
            w.close()
            writer.seal(self.path, self.other, self.secret_of(shape))
            theirs = self.folder + "/theirs.bf"
            bfs.seal(LIBRARY, os.fsencode(self.path), os.fsencode(theirs), secret=self.secret_of(shape))
            for path in (self.other, theirs):
                read = reader.open_file(os.fsencode(path), self.secret_of(shape))
                self.assertEqual((read.epoch, read.live_epoch, read.clean), (3, 7, True), path)
                self.assertEqual(read.turned_at, turned(newest_slot(content(self.path)))[1])
                self.assertEqual(bfs.verify(LIBRARY, os.fsencode(path)), [])
                os.unlink(path)
            os.unlink(self.path)


if __name__ == "__main__":
    unittest.main(verbosity=2)

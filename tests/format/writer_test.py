"""The independent writer (writer.py, written from FORMAT.md) makes files that the library and its tools use as their own,
continues with theirs, and the files that it leaves when it is killed are judged as FORMAT.md says.

Arguments: the shared library, capi/bfstore.h, bf, bfinspect.
"""
import contextlib
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import bfstore_header
import readers as reader
import writer

# LD_PRELOAD of a sanitizer is for Python; programs have theirs inside.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
INSPECT, BF = os.path.abspath(sys.argv.pop(4)), os.path.abspath(sys.argv.pop(3))
CODES = bfstore_header.codes(sys.argv.pop(2))
LIBRARY = bfs.load(os.path.abspath(sys.argv.pop(1)))
# An unknown layout or hash is a feature in C.
NAME_OF = {bfs.said(name): name for name in ("BFS_ELAYOUT", "BFS_EHASH", *bfs.RULES, *CODES)}
SECRET = bytes(range(0xF0, 0x100))
KEYS = [b"", b"\0", b"a\0b"] + [b"L" * length for length in (3, 8, 16, 128, 129, 240, 241, 1000)] + [b"key %d" % i for i in range(1500)]
MORE = [b"more %d" % i for i in range(700)]
ABSENT = [b"absent %d" % i for i in range(3000)]
# layout, m, k, hash, seed, note: both sides of 2 MiB, of a chunk of a sealed file, and of a word of the classic layout.
SHAPES = [
    ("blocked", 512, 1, "xxh3", 0, None),
    ("blocked", 512 * 1024, 8, "xxh3", 2**64 - 1, b""),
    ("blocked", 512 * 1025, 64, "siphash", None, bytes(range(256)) * 4),
    ("blocked", 512 * 1001, 6, "external", None, b"\xff any"),
    ("blocked", 512 * 32767, 5, "xxh3", 1, b"one line short of 2 MiB"),
    ("blocked", 512 * 32768, 7, "xxh3", 3, b"exactly 2 MiB"),
    ("classic", 1, 1, "xxh3", 0, None),
    ("classic", 65, 5, "siphash", None, b"secret"),
    ("classic", 524288, 9, "external", None, b"a chunk"),
    ("classic", 524353, 7, "xxh3", 9, b"a word more"),
    ("classic", 20000003, 3, "siphash", None, None),
    ("classic", 1000, 4, "murmur3", None, b"signed"),
    ("classic", 99991, 7, "murmur3-unsigned", None, None),
    ("classic", 65536, 7, "java-polynomial", None, b"polynomials"),
    ("classic", 7 * 9370, 7, "jaybird", None, b"slices"),
    ("classic", 4 * 9000, 4, "pybloom-live", None, None),
    ("classic", 17 * 32768, 17, "pybloom-live", None, None),
    ("classic", 99991, 7, "pybloomfilter", None, b"two words"),
    ("classic", 99992, 6, "leveldb", None, None),
    ("classic", 512 * 199, 6, "rocksdb", None, b"lines"),
    ("classic", 256 * 401, 8, "parquet", None, None),
    ("classic", 99991, 7, "libbloom", None, b"sums"),
    ("classic", 99992, 6, "rbloom", None, None),
    ("classic", 99992, 8, "java-bytes", None, None),
    ("classic", 14379, 7, "dcso", None, b"a generator"),
    ("classic", 14400, 7, "guava", None, None),
    ("classic", 14400, 7, "guava-32", None, None),
    ("classic", 16384, 8, "redisbloom", None, None),
    ("classic", 14379, 7, "bits-and-blooms", None, None),
    ("counting", 128 * 1025, 6, "xxh3", 4, b"counters"),
    ("counting", 128 * 32768, 5, "external", None, None),
]
BARE_SHAPES = [("blocked", 512, 3, "xxh3"), ("blocked", 512 * 77, 64, "external"), ("classic", 64, 2, "external"), ("classic", 6400, 7, "xxh3"), ("counting", 128 * 9, 6, "xxh3")]
SLOT_A, SLOT_B, LIVE = 4096, 8192, 12288


def key_of(shape):
    return SECRET if shape[3] == "siphash" else None


def seeds_of(shape):
    return [41 + i * 0x9E3779B9 & 2**32 - 1 for i in range(shape[2])] if shape[3].startswith(("murmur3", "java-polynomial", "pybloomfilter")) else None


def items(shape, keys):
    """Returns keys, or digests for the external hash."""
    return [reader.xxh3(key, 1) for key in keys] if shape[3] == "external" else keys


def library_options(shape, **more):
    layout, m, k, hash_name, seed, note = shape
    return bfs.options(num_bits=m, num_probes=k, layout=layout, hash=hash_name, seed=seed, note=note, secret=key_of(shape),
                       seeds=seeds_of(shape), **more)


def writer_shape(shape, n, p):
    layout, m, k, hash_name, seed, note = shape
    return writer.shape(bfs.LAYOUTS[layout], m, k, n, p, bfs.HASHES[hash_name], seed or 0, note, key_of(shape),
                        seeds_of(shape))


def library_adds(handle, shape, keys):
    if shape[3] == "external":
        return [LIBRARY.bfs_add_digest(handle, digest) for digest in items(shape, keys)]
    return [LIBRARY.bfs_add(handle, key, len(key)) for key in keys]


def writer_adds(w, shape, keys):
    return w.add_digests(items(shape, keys)) if shape[3] == "external" else w.add(*keys)


def digests_of(f, shape, keys):
    return items(shape, keys) if shape[3] == "external" else [writer.digest_of(f, key) for key in keys]


def asked(handle, shape, keys):
    if shape[3] == "external":
        return [LIBRARY.bfs_contains_digest(handle, digest) for digest in items(shape, keys)]
    return [LIBRARY.bfs_contains(handle, key, len(key)) for key in keys]


# Owner, mark and epoch of one sync after the other; the last owner is dropped.
MARKS = ((0, 5, 0), (7, 9, 1), (0, 4, 0), (7, 3, 2), (6, 0, 4), (2**64 - 1, 2**64 - 1, 2**64 - 1), (8, 8, 8))


def content(path):
    with open(path, "rb") as file:
        return file.read()


def masked(record):
    """Returns an identity as bytes and sorted records, without what differs from filter to filter: file_id, secret check, checksum."""
    size, length, records, at = reader.number(record[12:16]), reader.number(record[112:116]), [], 128
    while at < 128 + length:
        kind, flags, value_bytes = struct.unpack_from("<HHI", record, at)
        records.append((kind, flags, value_bytes, b"" if kind == 2 else record[at + 8:at + 8 + value_bytes]))
        at += 8 + writer.up(value_bytes, 8)
    return record[:88], record[104:128], sorted(records), record[at:size - 8]


def small_body(path):
    return content(path)[16384:16384 + 6400]


def newest_slot(data):
    return max(data[SLOT_A:SLOT_B], data[SLOT_B:LIVE], key=lambda page: reader.number(page[:8]))


class Writer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-writer-")
        self.addCleanup(folder.cleanup)
        self.folder = os.fsencode(folder.name)
        self.path, self.other = self.folder + b"/writer.bf", self.folder + b"/library.bf"

    def library_file(self, shape, keys, marks=MARKS):
        handle = bfs.call(LIBRARY.bfs_create, self.other, 0, library_options(shape))
        library_adds(handle, shape, keys)
        for owner, mark, epoch in marks:
            self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(owner, epoch, mark), None), 0)
        self.assertEqual(LIBRARY.bfs_drop_owner(handle, 8, None), 0)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return reader.open_file(self.other, key_of(shape))

    def writer_file(self, shape, keys, n=1000, p=0.01, marks=MARKS):
        w = writer.create(self.path, writer_shape(shape, n, p))
        writer_adds(w, shape, keys)
        for owner, mark, epoch in marks:
            w.sync(owner, mark, epoch)
        w.drop_owner(8)
        w.close()
        return reader.open_file(self.path, key_of(shape))

    def library_finds(self, path, shape, keys, flags=bfs.READ):
        handle = bfs.open_path(LIBRARY, path, flags, secret=key_of(shape))
        found = asked(handle, shape, keys)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return found

    def healthy(self, path):
        """Checks bfinspect's verdict. A shape of a few bits is full with one key: then only that may be a problem."""
        done = subprocess.run([INSPECT, "--json", path], capture_output=True, env=ENVIRONMENT)
        said = json.loads(done.stdout)
        full = said["num_bits"] <= 16384 and said["overfull"] and said["valid"] and said["state"] in ("clean", "in use")
        self.assertEqual((said["problems"], done.returncode), ([], 1 if full else 0), said)

    def code_of(self, deed):
        """Returns the name of the code with which the library refuses, or None."""
        try:
            deed()
        except bfs.CodeError as refused:
            return NAME_OF[refused.code, refused.rule]

    def refused(self, code, deed):
        with self.assertRaises(reader.Refused) as refusal:
            deed()
        self.assertEqual(refusal.exception.code, code)

    @contextlib.contextmanager
    def each(self, shape):
        with self.subTest(shape=shape[:5]):
            yield
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))

    def test_its_file_is_the_library_s_but_for_what_is_random(self):
        for shape in SHAPES:
            with self.each(shape):
                theirs = self.library_file(shape, KEYS)
                if shape[3] == "xxh3":
                    self.assertEqual(theirs.seed, shape[4])
                mine = self.writer_file(shape, KEYS, theirs.n, theirs.p)
                my_file, their_file = content(self.path), content(self.other)
                self.assertEqual(masked(my_file), masked(their_file))
                self.assertTrue(mine.body == theirs.body, "other bits")  # assertEqual takes minutes to show the difference
                self.assertEqual((mine.k, mine.m, mine.keys_added), (theirs.k, theirs.m, theirs.keys_added))
                self.assertEqual(newest_slot(my_file)[128:4088], newest_slot(their_file)[128:4088], "the lanes")
                self.assertEqual(newest_slot(my_file)[8:40], newest_slot(their_file)[8:40], "state, boot id and device")
                self.assertEqual(newest_slot(my_file)[56:128], newest_slot(their_file)[56:128], "mount")
                self.assertEqual(len(my_file), len(their_file))
                self.assertNotEqual(mine.file_id, theirs.file_id)
                self.healthy(self.path)

    def test_the_library_opens_its_file_and_goes_on_and_it_goes_on_with_the_library_s(self):
        for shape in SHAPES:
            with self.each(shape):
                self.writer_file(shape, KEYS)
                self.assertEqual(set(self.library_finds(self.path, shape, KEYS)), {1})
                handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE, secret=key_of(shape))
                self.assertEqual(bfs.marks_of(LIBRARY, handle), {0: (5, 0), 6: (0, 4), 7: (3, 2), 2**64 - 1: (2**64 - 1, 2**64 - 1)})
                self.assertEqual(set(asked(handle, shape, KEYS)), {1})
                self.assertEqual(set(library_adds(handle, shape, KEYS)), {0}, "the library would set other bits")
                library_adds(handle, shape, MORE[:300])
                self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 6), None), 0)
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                self.healthy(self.path)

                w = writer.open_clean(self.path, key_of(shape))
                self.assertEqual(writer_adds(w, shape, KEYS + MORE[:300]), 0, "the writer would set other bits")
                added = writer_adds(w, shape, MORE[300:])
                w.sync(7, 9, 2)
                w.sync(0, 2)
                w.drop_owner(6)
                self.healthy(self.path)
                w.close()
                self.healthy(self.path)
                self.assertEqual(set(self.library_finds(self.path, shape, KEYS + MORE)), {1})
                read, handle = reader.open_file(self.path, key_of(shape)), bfs.open_path(LIBRARY, self.path, secret=key_of(shape))
                self.assertEqual(read.marks, {0: (5, 0), 1: (6, 0), 7: (9, 2), 2**64 - 1: (2**64 - 1, 2**64 - 1)})
                self.assertEqual(bfs.statistics(LIBRARY, handle).keys_added, read.keys_added)
                absent = digests_of(read, shape, ABSENT)
                answer_of = read.has if read.hash > 3 else read.contains_digest  # of positions, or of a digest
                self.assertTrue(asked(handle, shape, ABSENT) == [int(answer_of(digest)) for digest in absent])
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                self.assertGreaterEqual(added, 0)

    def test_it_goes_on_with_a_file_that_the_library_made(self):
        for shape in SHAPES:
            with self.each(shape):
                self.library_file(shape, KEYS)
                w = writer.open_clean(self.other, key_of(shape))
                writer_adds(w, shape, MORE)
                w.close()
                self.healthy(self.other)
                self.assertEqual(set(self.library_finds(self.other, shape, KEYS + MORE, bfs.WRITE)), {1})
                self.healthy(self.other)

    def test_each_removes_what_the_other_added_and_the_counters_are_those_of_the_keys_that_are_left(self):
        shape = SHAPES[-2]
        w = writer.create(self.path, writer_shape(shape, 1000, 0.01))
        w.add(*KEYS, *KEYS[:100])
        w.close()
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        library_adds(handle, shape, MORE)
        self.assertEqual({LIBRARY.bfs_remove(handle, key, len(key)) for key in KEYS[50:]}, {1})
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        w = writer.open_clean(self.path)
        self.assertEqual(w.remove_digests(digests_of(w.f, shape, MORE + KEYS[:50])), len(MORE) + 50)
        w.close()
        left = self.library_file(shape, KEYS[:100], ())
        read = reader.open_file(self.path)
        self.assertTrue(read.body == left.body, "other counters")
        self.assertEqual((read.keys_added - read.keys_removed, left.keys_added), (100, 100))
        self.healthy(self.path)

    def test_bf_asks_and_adds(self):
        self.writer_file(SHAPES[1], KEYS[3:])
        def bf(*words):
            return subprocess.run([BF, *words], capture_output=True, env=ENVIRONMENT).returncode
        self.assertEqual(bf("contains", self.path, "key 1", "key 1499"), 0)
        self.assertNotEqual(bf("contains", self.path, "absent 1"), 0)
        self.assertEqual(bf("add", self.path, "absent 1"), 0)
        w = writer.open_clean(self.path)
        self.assertEqual(w.add(b"absent 1"), 0)
        w.close()

    def test_65_owners_are_one_too_many_and_a_file_stays_good(self):
        w = writer.create(self.path, writer.shape(1, 5120, 4))
        for owner in range(100, 164):
            w.sync(owner, owner)
        w.add(b"late")
        self.refused("BFS_EOWNERS", lambda: w.sync(1, 1))
        w.sync(163, 1000)
        w.close()
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        self.assertEqual([LIBRARY.bfs_get_mark(handle, owner, 0) for owner in (1, 100, 163)], [0, 100, 1000])
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None), CODES["BFS_EOWNERS"])
        self.assertEqual(LIBRARY.bfs_contains(handle, b"late", 4), 1)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_beside_it_the_library_reads_and_does_not_write(self):
        w = writer.create(self.path, writer.shape(1, 51200, 4))
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"now", 3), 0)
        w.add(b"now")
        self.assertEqual(LIBRARY.bfs_contains(handle, b"now", 3), 1)
        w.sync(1, 1)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"never", 5), 0)
        for flags in (bfs.WRITE, bfs.EXCLUSIVE):
            beside = lambda: bfs.open_path(LIBRARY, self.path, flags, lock_timeout_ms=bfs.LOCK_NO_WAIT)
            self.assertEqual(self.code_of(beside), "BFS_EBUSY")
        self.healthy(self.path)
        w.close()
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        self.refused("BFS_EBUSY", lambda: writer.open_clean(self.path))
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        writer.open_clean(self.path).close()

    def test_a_file_that_the_library_replaces_is_left_alone(self):
        w = writer.create(self.path, writer.shape(1, 51200, 4))
        w.add(b"old")
        LIBRARY.bfs_close(bfs.create(LIBRARY, self.path, bfs.REPLACE, num_bits=51200, num_probes=4), None)
        for deed in (lambda: w.add(b"late"), lambda: w.sync(1, 1)):
            self.refused("BFS_ESUPERSEDED", deed)
        w.close()
        w = writer.open_clean(self.path)
        self.assertEqual(w.add(b"old"), 1)
        w.close()

    def test_it_fills_a_file_beside_the_library_and_each_finishes_the_other_s(self):
        for mine in (True, False):
            w = writer.create(self.path, writer.shape(1, 51200, 4), filling=True)
            self.assertEqual(w.add(b"old"), 1)
            w.sync(1, 1)
            w.close()
            handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
            self.assertEqual(LIBRARY.bfs_health(handle), CODES["BFS_EFILLING"])
            self.assertEqual((LIBRARY.bfs_add(handle, b"new", 3), LIBRARY.bfs_contains(handle, b"nobody", 6)), (1, 1))
            self.assertTrue(reader.open_file(self.path).contains(b"nobody"))
            if not mine:
                self.assertEqual(LIBRARY.bfs_finish_filling(handle, None), 0)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
            if mine:
                w = writer.open_clean(self.path)
                self.assertTrue(reader.open_file(self.path).filling)
                w.close()
                self.refused("BFS_EFILLING", lambda: writer.seal(self.path, self.other))
                w = writer.open_clean(self.path)
                w.finish_filling()
                w.close()
            handle = bfs.open_path(LIBRARY, self.path)
            self.assertEqual(LIBRARY.bfs_health(handle), 0)
            self.assertEqual([LIBRARY.bfs_contains(handle, key, len(key)) for key in (b"old", b"new", b"nobody")], [1, 1, 0])
            LIBRARY.bfs_close(handle, None)
            read = reader.open_file(self.path)
            self.assertEqual([read.contains(key) for key in (b"old", b"new", b"nobody")], [True, True, False])
            self.assertFalse(read.filling)
            os.unlink(self.path)

    def test_its_adds_and_the_library_s_are_refused_with_the_same_code(self):
        for mask, code in ((1 << 1, "BFS_EPOISONED"), (1 << 2, "BFS_ESUPERSEDED"), (1 << 3, "BFS_ERECOVERING"),
                           (1 << 4, "BFS_ESUPERSEDED"), (1 << 6, "BFS_ELATER"), (1 << 14, "BFS_ELATER"), (1 << 15, "BFS_ELOST"),
                           (1 << 37, "BFS_ELOST"), (1, "BFS_ELOST")):
            with self.subTest(mask=mask):
                w = writer.create(self.path, writer.shape(1, 51200, 4))
                theirs = bfs.create(LIBRARY, self.other, num_bits=51200, num_probes=4)
                for path in (self.path, self.other):
                    with open(path, "r+b") as file:
                        file.seek(LIVE)
                        word = reader.number(file.read(8)) ^ mask
                        file.seek(LIVE)
                        file.write(struct.pack("<Q", word))
                self.refused(code, lambda: w.add(b"late"))
                self.assertEqual(LIBRARY.bfs_add(theirs, b"late", 4), CODES[code])
                self.assertFalse(any(small_body(self.path) + small_body(self.other)), "a bit was set")
                w.drop()
                LIBRARY.bfs_close(theirs, None)
                for path in (self.path, self.other):
                    os.unlink(path)

    def killed_file(self, and_then=""):
        """Makes, fills and marks a file in a process that is killed."""
        script = f"""if 1:
            import os, sys
            sys.path.insert(0, {os.path.dirname(writer.__file__)!r})
            import writer
            w_path = {self.path!r}
            w = writer.create(w_path, writer.shape(1, 512 * 1024, 6))
            w.add({KEYS[0]!r}, *(b"key %d" % i for i in range(300)))
            w.sync(4, 44)
            w.add(b"after the mark")
            {and_then}
            os.kill(os.getpid(), {signal.SIGKILL})"""
        done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        return content(self.path)

    def put(self, data):
        with open(self.path, "r+b") as file:
            file.write(data)

    def opened(self, flags):
        def deed():
            handle = bfs.open_path(LIBRARY, self.path, flags)
            self.assertEqual([LIBRARY.bfs_contains(handle, key, len(key)) for key in (b"key 299", b"after the mark")], [1, 1])
            self.assertEqual(LIBRARY.bfs_get_mark(handle, 4, 0), 44)
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return self.code_of(deed)

    def test_what_it_leaves_when_it_is_killed_is_adopted_only_here_and_now(self):
        left = self.killed_file()
        at = SLOT_A + 4096 * (reader.number(left[SLOT_A:SLOT_A + 8]) < reader.number(left[SLOT_B:SLOT_B + 8]))
        boot, device, inode, mark, mount = struct.unpack_from("<16sQQQQ", left, at + 16)
        self.assertTrue(any(boot) and mark, "this system has no boot id, or this filesystem nothing for inode_mark")
        fine, unclean = None, "BFS_EUNCLEAN"
        for name, its_place, code in (
                ("as it was left", (boot, device, inode, mark, mount), fine),
                ("no boot id", (bytes(16), device, inode, mark, mount), unclean),
                ("another boot", (boot[::-1], device, inode, mark, mount), unclean),
                ("another device", (boot, device + 1, inode, mark, mount), unclean),
                ("another inode", (boot, device, inode ^ 1, mark, mount), unclean),
                ("inode_mark unknown", (boot, device, inode, 0, mount), unclean),
                ("another inode_mark", (boot, device, inode, mark ^ 1, mount), unclean),
                ("mount known to one alone", (boot, device, inode, mark, 0 if mount else 1), unclean),
                ("another mount", (boot, device, inode, mark, mount + 1), unclean)):
            with self.subTest(name):
                page = left[at:at + 16] + struct.pack("<16sQQQQ", *its_place) + left[at + 64:at + 4088]
                page += struct.pack("<Q", reader.xxh3(page, reader.xxh3(left[88:104], 0)))
                for flags in (bfs.READ, bfs.WRITE):
                    self.put(left[:at] + page + left[at + 4096:])
                    self.assertEqual(self.opened(flags), code)
                self.refused("BFS_EUNCLEAN", lambda: writer.open_clean(self.path)) if code else writer.open_clean(self.path).close()

    def test_a_clean_file_that_it_opened_is_dirty_when_it_is_killed(self):
        self.killed_file("w.close(); w = writer.open_clean(w_path); w.add(b'the second time')")
        self.assertEqual(reader.open_file(self.path).state, 2)
        self.assertEqual(self.opened(bfs.READ | bfs.STRICT), "BFS_EUNCLEAN")
        self.assertEqual(self.opened(bfs.WRITE), None)
        self.assertEqual(self.library_finds(self.path, SHAPES[0], [b"the second time"]), [1])

    def test_a_killed_file_is_unclean_when_torn_in_a_sync_copied_or_asked_for_strictly(self):
        left = self.killed_file()
        self.healthy(self.path)
        older = SLOT_A if reader.number(left[SLOT_A:SLOT_A + 8]) < reader.number(left[SLOT_B:SLOT_B + 8]) else SLOT_B
        self.assertEqual(self.opened(bfs.READ | bfs.STRICT), "BFS_EUNCLEAN")
        self.refused("BFS_EUNCLEAN", lambda: writer.open_clean(self.path))
        self.put(left[:older + 100] + b"\1" + left[older + 101:])
        self.assertEqual([self.opened(flags) for flags in (bfs.READ, bfs.WRITE)], ["BFS_EUNCLEAN"] * 2)
        self.put(left)
        shutil.copy(self.path, self.other)
        os.rename(self.other, self.path)
        self.assertEqual([self.opened(flags) for flags in (bfs.READ, bfs.WRITE)], ["BFS_EUNCLEAN"] * 2)
        os.unlink(self.path)
        self.killed_file("w.words[writer.SYNCING] = 1")
        self.assertEqual([self.opened(flags) for flags in (bfs.READ, bfs.WRITE)], ["BFS_EUNCLEAN"] * 2)

    def test_a_killed_file_says_maybe_after_its_writer_found_a_sync_that_failed(self):
        self.killed_file("w.words[writer.SYNCING] = 1\n            try: w.sync(4, 45)\n            except writer.Refused: pass")
        self.assertEqual([self.opened(flags) for flags in (bfs.READ, bfs.WRITE)], ["BFS_EPOISONED"] * 2)
        read = reader.open_file(self.path)
        self.assertEqual((read.marks, read.contains(b"never")), ({4: (44, 0)}, True))
        self.assertEqual(newest_slot(content(self.path))[16:32], bytes(16))

    def test_its_sealed_file_is_verified_and_the_library_s_but_for_what_is_random(self):
        mine, theirs = self.folder + b"/mine.bf", self.folder + b"/theirs.bf"
        for shape in SHAPES:
            with self.each(shape):
                self.writer_file(shape, KEYS)
                writer.seal(self.path, mine, key_of(shape))
                bfs.seal(LIBRARY, self.path, theirs, secret=key_of(shape))
                a, b = reader.open_file(mine, key_of(shape)), reader.open_file(theirs, key_of(shape))
                for name in ("layout", "hash", "k", "m", "n", "p", "seed", "note", "secret_check", "marks", "keys_added", "start", "end_at", "clean"):
                    self.assertEqual(getattr(a, name), getattr(b, name), name)
                self.assertTrue(a.body == b.body)
                self.assertEqual((a.seal[:24], a.seal[32:]), (b.seal[:24], b.seal[32:]))
                self.assertEqual((os.path.getsize(mine), len({a.file_id, b.file_id, content(self.path)[88:104]})), (os.path.getsize(theirs), 3))
                self.assertEqual(content(mine)[LIVE + 8:LIVE + 4096], content(theirs)[LIVE + 8:LIVE + 4096], "the counters")
                self.assertEqual((bfs.verify(LIBRARY, mine), reader.damaged(a)), ([], ([], True)))
                self.assertEqual(subprocess.run([BF, "verify", mine], capture_output=True, env=ENVIRONMENT).returncode, 0)
                self.healthy(mine)
                self.assertEqual(set(self.library_finds(mine, shape, KEYS, bfs.READ | bfs.VERIFY)), {1})
                self.assertEqual(self.code_of(lambda: self.library_finds(mine, shape, [], bfs.WRITE)), "BFS_ESEALED")
                self.refused("BFS_ESEALED", lambda: writer.open_clean(mine, key_of(shape)))
                for spot in (a.start, a.start + a.body_bytes - 1, a.sums_at, LIVE + 64):
                    data = bytearray(content(mine))
                    data[spot] ^= 16
                    with open(mine, "r+b") as file:
                        file.write(data)
                    self.assertNotEqual(subprocess.run([BF, "verify", mine], capture_output=True, env=ENVIRONMENT).returncode, 0, spot)
                    data[spot] ^= 16
                    with open(mine, "r+b") as file:
                        file.write(data)
                self.assertEqual(bfs.verify(LIBRARY, mine), [])

    def test_a_file_that_a_writer_has_is_not_sealed(self):
        w = writer.create(self.path, writer.shape(1, 51200, 4))
        self.refused("BFS_EBUSY", lambda: writer.seal(self.path, self.other))
        w.close()
        writer.seal(self.path, self.other)
        with self.assertRaises(FileExistsError):
            writer.seal(self.path, self.other)

    def wrapped(self, data, shape, flags):
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, data, len(data))
        secret = SECRET if shape[3] == "siphash" else None
        return keep, address, bfs.open_memory(LIBRARY, address, len(data), flags, secret)

    def formatted(self, shape, keys, flags=0):
        """Returns the library's own bytes."""
        options = library_options(shape)
        size = bfs.bytes_needed(LIBRARY, flags, options)
        keep, address = bfs.aligned_buffer(size)
        handle = bfs.call(LIBRARY.bfs_format, address, size, flags, options)
        library_adds(handle, shape, keys)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        return ctypes.string_at(address, size)

    def use(self, data, shape, bare=0):
        keep, address, handle = self.wrapped(data, shape, bfs.READ | bare)
        self.assertEqual(set(asked(handle, shape, KEYS)), {1})
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        keep, address, handle = self.wrapped(data, shape, bfs.WRITE | bare)
        self.assertEqual(set(library_adds(handle, shape, KEYS)), {0})
        library_adds(handle, shape, MORE)
        self.assertEqual(set(asked(handle, shape, KEYS + MORE)), {1})
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)

    def test_its_embedded_filters_are_the_library_s_but_for_what_is_random(self):
        for shape in SHAPES:
            with self.each(shape):
                theirs = self.formatted(shape, KEYS)
                read = reader.embedded(theirs, key_of(shape))
                f = writer_shape(shape, read.n, read.p)
                mine = writer.embedded(f, digests_of(f, shape, KEYS))
                self.assertEqual((len(mine), masked(mine)), (len(theirs), masked(theirs)))
                self.assertTrue(mine[read.start:-8] == theirs[read.start:-8], "other bits")
                self.use(mine, shape)

    def test_its_bare_filters_are_the_library_s_byte_by_byte(self):
        for shape in BARE_SHAPES:
            with self.subTest(shape=shape):
                shape = (*shape, None, None)
                f = writer_shape(shape, 1, 1.0)
                mine = writer.bare(f, digests_of(f, shape, KEYS[:40]))
                self.assertTrue(mine == self.formatted(shape, KEYS[:40], flags=bfs.BARE))
                self.use(writer.bare(f, digests_of(f, shape, KEYS)), shape, bfs.BARE)


if __name__ == "__main__":
    unittest.main(verbosity=2)

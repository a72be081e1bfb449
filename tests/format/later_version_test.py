"""A made-up later version, 2.1 and 3.0, next to processes of this one: each file is open in a newer program (the independent
writer, with bits and records of its own) and in processes that have this library, at once. No step runs beside another.

Arguments: the shared library, capi/bfstore.h.
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
from breakage import PAGE, field, only_records, put, record, seal_identity, seal_slots, with_records

HEADER, PATH_OF_LIBRARY = sys.argv.pop(2), os.path.abspath(sys.argv.pop(1))
CODES = bfstore_header.codes(HEADER)
NAMES = {code: name for name, code in CODES.items()}
FLAGS = {"read": bfs.READ, "write": bfs.WRITE, "exclusive": bfs.EXCLUSIVE, "recover": bfs.WRITE | bfs.RECOVER,
         "accept loss": bfs.WRITE | bfs.ACCEPT_LOSS}
ABSENT = ["absent %d" % i for i in range(300)]
LIVE = 3 * PAGE
OURS = struct.pack("<QQQ", 5, 1_700_000_000 * 10**9, 12345)  # epoch, turned_at, turned_after_boot of the newer program
UNKNOWN = record(65535, 0, b"of a later version")


class OldProcess:
    """A process that has this library. It serves one command after the other."""

    def __init__(self):
        command = [sys.executable, "-B", os.path.abspath(__file__), PATH_OF_LIBRARY, HEADER, "--old"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __getattr__(self, verb):
        return lambda *words: self.ask(verb, *words)

    def ask(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the old process ended"
        return json.loads(answer)

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Served:
    """Each command of an old process. Handles are named by the test."""

    def __init__(self):
        self.library, self.handles = bfs.load(PATH_OF_LIBRARY), {}

    def open(self, name, path, how):
        try:
            self.handles[name] = bfs.open_path(self.library, os.fsencode(path), FLAGS[how], lock_timeout_ms=bfs.LOCK_NO_WAIT)
        except bfs.CodeError as refused:
            return [NAMES[refused.code], refused.message.decode()]
        return ["", ""]

    def contains(self, name, *keys):
        """Returns the answers of one lookup after the other; the answers of a batch must be the same."""
        handle, data = self.handles[name], [key.encode() for key in keys]
        found = [self.library.bfs_contains(handle, key, len(key)) for key in data]
        answers = (bfs.c_uint8 * len(data))()
        lengths = (bfs.c_size_t * len(data))(*map(len, data))
        self.library.contains_many(handle, (bfs.c_char_p * len(data))(*data), lengths, len(data), answers)
        assert list(answers) == found, (list(answers), found)
        return found

    def add(self, name, key):
        return self.library.bfs_add(self.handles[name], key.encode(), len(key))

    def sync(self, name, owner, mark):
        return self.library.bfs_sync(self.handles[name], bfs.mark(owner, 0, mark), None)

    def add_batch(self, name, *keys):
        data = [key.encode() for key in keys]
        lengths = (bfs.c_size_t * len(data))(*map(len, data))
        return self.library.add_many(self.handles[name], (bfs.c_char_p * len(data))(*data), lengths, len(data))

    def copy(self, name, to):
        try:
            bfs.copy(self.library, self.handles[name], os.fsencode(to))
        except bfs.CodeError as refused:
            return NAMES[refused.code]
        return ""

    def health(self, name):
        return self.library.bfs_health(self.handles[name])

    def close(self, name):
        return self.library.bfs_close(self.handles.pop(name), None)


def serve():
    served = Served()
    for line in sys.stdin:
        verb, *words = json.loads(line)
        print(json.dumps(getattr(served, verb)(*words)), flush=True)


class LaterVersion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-later-")
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/later.bf"
        self.old, self.other = self.process(), self.process()

    def process(self):
        made = OldProcess()
        self.addCleanup(lambda: made.process.stdin.closed or made.end())
        return made

    def newer(self, *changes, minor=1, shape=None):
        """Makes a file of the newer program, which has it open as one of several writers. `changes`: to its header pages."""
        if os.path.exists(self.path):
            os.unlink(self.path)
        w = writer.create(self.path, shape or writer.shape(1, 512 * 64, 5, note=b"later"))
        header = bytearray(os.pread(w.fd, 4 * PAGE, 0))
        for change in (field(10, "H", minor), *changes):
            change(header)
        seal_identity(header)
        seal_slots(header)
        os.pwrite(w.fd, header[:3 * PAGE], 0)
        writer.ask(w.lock_fd, writer.fcntl.F_OFD_SETLK, writer.fcntl.F_UNLCK, writer.WRITERS)
        writer.lock(w.lock_fd, (writer.WRITERS[0] + 99, 1))
        w.add(b"newer")
        return w

    def leave(self, w):
        """Closes the newer program's handle as one of several writers: the last one writes the clean slot."""
        with writer.locked(w.fd, writer.STATE):
            writer.ask(w.lock_fd, writer.fcntl.F_OFD_SETLK, writer.fcntl.F_UNLCK, writer.WRITERS)
        w.drop()

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def opened(self, *handles):
        for process, name, how in handles:
            self.assertEqual(process.open(name, self.path, how), ["", ""])

    def refused(self, code, hows=FLAGS, says="."):
        before = self.content()
        for how in hows:
            its_code, words = self.other.open("refused", self.path, how)
            self.assertEqual(its_code, code, how)
            self.assertRegex(words, says)
        self.assertEqual(self.content(), before, "a refused file was written to")

    def all_there(self, process, name, *keys):
        self.assertEqual(process.contains(name, *keys), [1] * len(keys), "a wrong no")
        self.assertLess(sum(process.contains(name, *ABSENT)), 30)

    def kept(self, slices):
        """Checks that both slots and the live page have the newer program's words."""
        data = self.content()
        for at in (PAGE, 2 * PAGE):
            self.assertEqual(data[at + 80:at + 104], OURS)
            self.assertEqual(struct.unpack_from("<I", data, at + 12)[0], slices)
            self.assertEqual(data[at:at + PAGE][104:128], bytes(24), "a writer writes reserved bytes of a slot as 0")
        self.assertEqual(struct.unpack_from("<QQ", data, LIVE + 16), (5, slices))
        self.assertEqual((data[LIVE + 32:LIVE + 37], data[LIVE + 100:LIVE + 105]), (b"later", b"later"))
        return data

    def words_of_later(self, w, slices):
        """Puts the newer program's words into both slots and the live page."""
        header = bytearray(os.pread(w.fd, 3 * PAGE, 0))
        for at in (PAGE, 2 * PAGE):
            header[at + 80:at + 104] = OURS
            put(header, at + 12, "I", slices)
            header[at + 104:at + 109] = b"later"
        seal_slots(header)
        os.pwrite(w.fd, header, 0)
        w.map[LIVE + 16:LIVE + 37] = struct.pack("<QQ", 5, slices) + b"later"
        w.map[LIVE + 100:LIVE + 105] = b"later"  # reserved bytes of a stripe

    def test_what_may_be_ignored_is_ignored_and_kept_while_both_add_and_read(self):
        w = self.newer(field(16, "I", 1 << 31 | 1), lambda data: with_records(data, UNKNOWN + record(1, 0, b"later")))
        self.words_of_later(w, 3)
        identity = self.content()[:PAGE]
        self.opened((self.old, "w", "write"), (self.old, "r", "read"), (self.other, "w", "write"), (self.other, "r", "read"))
        keys = ["newer"]
        for step in range(3):
            self.assertEqual((self.old.add("w", f"old {step}"), self.other.add("w", f"other {step}")), (1, 1))
            w.add(b"newer %d" % step)
            keys += [f"old {step}", f"other {step}", f"newer {step}"]
            for process in (self.old, self.other):
                for name in "wr":
                    self.all_there(process, name, *keys)
            self.assertTrue(all(reader.open_file(self.path).contains(key.encode()) for key in keys), "a wrong no")
            self.assertEqual(self.old.sync("w", 1, step + 1), 0)
            w.sync(2, step + 1)
            self.assertEqual(self.other.sync("w", 3, step + 1), 0)
        self.kept(3)
        self.leave(w)
        self.assertEqual((self.other.close("w"), self.old.add("w", "last"), self.old.close("w")), (0, 1, 0))
        self.assertEqual(self.kept(3)[:PAGE], identity, "the identity changed")
        read = reader.open_file(self.path)
        self.assertTrue(read.clean)
        self.assertEqual(read.marks, {owner: (3, 0) for owner in (1, 2, 3)})
        self.all_there(self.old, "r", *keys, "last")
        w = writer.open_clean(self.path)
        self.assertEqual(w.add(*map(str.encode, keys), b"last"), 0)
        w.close()

    def test_the_words_survive_a_killed_writer_its_adoption_and_a_recovery(self):
        w = self.newer()
        self.words_of_later(w, 3)
        self.opened((self.old, "w", "write"))
        self.assertEqual((self.old.add("w", "killed"), self.old.sync("w", 1, 1)), (1, 0))
        self.leave(w)
        self.old.kill()
        self.opened((self.other, "w", "write"))
        self.all_there(self.other, "w", "newer", "killed")
        self.assertEqual(self.other.close("w"), 0)
        self.kept(3)
        data = bytearray(self.content())
        for at in (PAGE, 2 * PAGE):
            put(data, at + 8, "I", 2)
            data[at + 16:at + 32] = b"another boot's i"
        seal_slots(data)
        with open(self.path, "r+b") as file:
            file.write(data[:3 * PAGE])
        self.assertEqual(self.other.open("w", self.path, "write")[0], "BFS_EUNCLEAN")
        self.opened((self.other, "w", "accept loss"))
        self.all_there(self.other, "w", "newer", "killed")
        self.assertEqual(self.other.close("w"), 0)
        self.kept(3)

    def test_a_file_that_grows_does_so_under_both(self):
        """The newer program has reserved bytes of the growth, and of the slots."""
        grows = record(7, 1, struct.pack("<II", 3, 77))
        w = self.newer(lambda data: only_records(data, UNKNOWN + grows), shape=writer.shape(8, 512 * 4, 6, n=100, growth=3))
        self.opened((self.old, "w", "write"), (self.old, "r", "read"), (self.other, "r", "read"))
        keys = ["newer"]
        for slices in (2, 3):
            fresh = ["key %d" % i for i in range(len(keys), 100 * 3 ** (slices - 1))]
            self.assertGreater(sum(self.old.add("w", key) for key in fresh), 0.9 * len(fresh))
            keys += fresh
            self.assertEqual(w.add(*map(str.encode, keys)), 0, "the newer program would set other bits")
            self.assertEqual((self.old.sync("w", 1, slices), w.counted()), (0, slices))
            for process, name in ((self.old, "w"), (self.old, "r"), (self.other, "r")):
                self.all_there(process, name, *keys)
            self.assertEqual(reader.open_file(self.path).slot_slices, slices)
        self.assertTrue(w.grow(3))
        self.assertEqual((w.add(b"of the last slice"), self.old.add("w", "of the last slice")), (1, 0))
        self.leave(w)
        self.assertEqual(self.old.close("w"), 0)
        self.all_there(self.other, "r", *keys, "of the last slice")
        read = reader.open_file(self.path)
        self.assertEqual((read.clean, read.num_slices, read.slot_slices), (True, 4, 4))

    def test_what_forbids_writing_lets_old_processes_read(self):
        for bit in (1, 31):
            with self.subTest(bit=bit):
                w = self.newer(field(20, "I", 1 << bit))
                self.opened((self.old, "r", "read"), (self.other, "r", "read"))
                self.refused("BFS_EFEATURE", [how for how in FLAGS if how != "read"], "later|newer|feature")
                for step in range(3):
                    w.add(b"step %d" % step)
                    w.sync(1, step + 1)
                    for process in (self.old, self.other):
                        self.all_there(process, "r", "newer", *(f"step {i}" for i in range(step + 1)))
                w.close()
                self.refused("BFS_EFEATURE", [how for how in FLAGS if how != "read"])
                self.opened((self.other, "again", "read"))
                self.all_there(self.other, "again", "newer", "step 0")
                self.assertEqual([self.old.close("r"), self.other.close("r"), self.other.close("again")], [0, 0, 0])

    def test_what_forbids_reading_is_a_feature_while_the_newer_program_writes_and_when_it_has_closed(self):
        for name, change in (("incompat", field(24, "I", 1 << 31)), ("a layout", field(32, "H", 9)), ("a hash", field(34, "H", 9)),
                             ("a critical record", lambda data: with_records(data, record(8, 1, b"later"))),
                             ("a critical record behind an unknown one", lambda data: with_records(data, UNKNOWN + record(9999, 1, b"")))):
            for minor in (0, 1):
                with self.subTest(name, minor=minor):
                    w = self.newer(change, minor=minor)
                    self.refused("BFS_EFEATURE", says="later|newer|feature|know")
                    w.add(b"more")
                    w.sync(1, 1)
                    self.refused("BFS_EFEATURE")
                    w.close()
                    self.refused("BFS_EFEATURE")
    
    def test_a_later_state_stops_answers_and_adds_until_the_newer_program_clears_it(self):
        for mask in (1 << 6, 1 << 14, reader.LATER_STATES):
            with self.subTest(mask=mask):
                self.one_later_state(mask)

    def one_later_state(self, mask):
        w = self.newer()
        self.opened((self.old, "w", "write"), (self.old, "r", "read"), (self.other, "w", "write"), (self.other, "r", "read"))
        handles = [(process, name) for process in (self.old, self.other) for name in "wr"]
        self.assertEqual((self.old.add("w", "old"), self.other.add("w", "other")), (1, 1))
        for process, name in handles:
            self.all_there(process, name, "newer", "old", "other")
        w.change_live_word(mask)
        live, body = w.words[writer.LIVE_WORD], bytes(w.body)
        for process, name in handles:
            self.assertEqual(process.contains(name, "old", *ABSENT), [1] * (1 + len(ABSENT)), "an answer that does not count")
            self.assertEqual(process.health(name), CODES["BFS_ELATER"])
            self.assertEqual(process.copy(name, self.path + ".copy"), "BFS_ELATER")
            self.assertFalse(os.path.exists(self.path + ".copy"))
        for process in (self.old, self.other):
            for key in ("refused", "old"):
                self.assertEqual(process.add("w", key), CODES["BFS_ELATER"])
            self.assertEqual(process.add_batch("w", *ABSENT), CODES["BFS_ELATER"])
        self.assertEqual(bytes(w.body), body, "a refused add set a bit")
        self.assertEqual(self.old.open("refused", self.path, "read")[0], "BFS_ELATER")
        for how in [how for how in FLAGS if how != "exclusive"]:  # while others write that is BFS_EBUSY in any state
            self.assertEqual(self.other.open("refused", self.path, how)[0], "BFS_ELATER", how)
        self.assertEqual(self.old.sync("w", 7, 70), 0)
        self.assertEqual(w.words[writer.LIVE_WORD], live, "a sync changed a state")
        self.assertEqual(self.old.close("w"), 0)
        self.assertEqual(w.words[writer.LIVE_WORD], live, "a close changed a state")
        w.change_live_word(0, mask)
        self.assertEqual(self.other.add("w", "after"), 1)
        for process, name in handles[1:]:
            self.all_there(process, name, "newer", "old", "other", "after")
            self.assertEqual(process.health(name), 0)
        self.assertEqual(self.other.copy("r", self.path + ".copy"), "")
        os.unlink(self.path + ".copy")
        w.change_live_word(mask)
        self.leave(w)
        self.assertEqual(self.other.close("w"), 0)  # the last one, under the state
        self.refused("BFS_ELATER", says="later|newer|know")
        self.assertEqual(self.other.contains("r", *ABSENT), [1] * len(ABSENT))
        with open(self.path, "r+b") as file:
            file.seek(LIVE)
            self.assertEqual(reader.number(file.read(8)), live)
            file.seek(LIVE)
            file.write(struct.pack("<Q", live & ~mask))
        read = reader.open_file(self.path)
        self.assertEqual((read.clean, read.marks), (True, {7: (70, 0)}))
        self.opened((self.other, "w", "write"))
        for name in "wr":
            self.all_there(self.other, name, "newer", "old", "other", "after")
        self.assertEqual([process.close(name) for process, name in handles[1:]], [0] * 3)

    def test_a_later_state_next_to_a_failed_sync_is_poisoned_when_only_it_is_cleared(self):
        w = self.newer()
        self.opened((self.old, "w", "write"), (self.other, "r", "read"))
        w.change_live_word(1 << 6 | reader.POISONED)
        self.assertEqual(self.old.add("w", "late"), CODES["BFS_EPOISONED"])
        self.refused("BFS_ELATER", ("read", "write"))
        self.assertEqual(self.old.sync("w", 1, 1), CODES["BFS_EPOISONED"])
        self.assertEqual(w.words[writer.LIVE_WORD] & (reader.LATER_STATES | reader.POISONED), 1 << 6 | reader.POISONED)
        w.change_live_word(0, 1 << 6)
        self.assertEqual(self.other.contains("r", *ABSENT), [1] * len(ABSENT))
        self.refused("BFS_EPOISONED", ("read", "write"))
        self.leave(w)
        self.assertEqual(self.old.close("w"), CODES["BFS_EPOISONED"])

    def test_another_major_version_is_refused_with_what_to_do(self):
        for major, says in ((3, "(?i)later|newer"), (1, "(?i)make|build|create|development")):
            with self.subTest(major=major):
                w = self.newer(field(8, "H", major))
                self.refused("BFS_EVERSION", says=says)
                w.add(b"more")
                w.sync(1, 1)
                w.close()
                self.refused("BFS_EVERSION", says=says)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--old"] else unittest.main(verbosity=2)

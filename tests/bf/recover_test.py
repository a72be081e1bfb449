"""bf recover: adds again keys that a crash may have lost, and nothing is answered "absent" before all are added."""
import ctypes
import gzip
import os
import signal
import struct
import subprocess
import unittest

from bf_case import PATIENCE, SURE, BfCase, programs

programs.need_module("xxhash", "python3-xxhash")
import xxhash

DIRTY, RECOVERING, PAUSED = 2, 3, 4
SLOTS = (4096, 8192)


class Recover(BfCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def edit_slots(self, name, change):
        """Changes both slots' bytes and seals them again (FORMAT.md, "State slots")."""
        data = bytearray(self.read(name))
        seed = xxhash.xxh3_64_intdigest(bytes(data[88:104]))
        for at in SLOTS:
            slot = data[at:at + 4088]
            change(slot)
            data[at:at + 4088] = slot
            struct.pack_into("<Q", data, at + 4088, xxhash.xxh3_64_intdigest(bytes(slot), seed))
        self.write(name, data)

    def unclean(self, *owners, epoch=0, shape=SURE):
        """Makes a filter with the keys a and b and marks of these owners, as a machine that went down leaves it."""
        self.good("create", "f", "-q", *shape)
        self.good("add", "f", "-q", "a", "b")

        def go_down(slot):
            struct.pack_into("<I", slot, 8, DIRTY)
            slot[16:32] = os.urandom(16)
            for lane, owner in enumerate(owners):
                struct.pack_into("<QQQ", slot, 128 + 24 * lane, owner, 100, epoch)

        self.edit_slots("f", go_down)
        self.refused("contains", "f", "a", says=["bf recover", "accept the loss (bf recover --accept-loss), or rebuild it",
                                                "the machine went down, a writer was killed in the middle of a sync"])

    def state(self):
        with open(self.path("f"), "rb") as file:
            page = file.read(16384)
        return max(struct.unpack_from("<QI", page, at) for at in SLOTS)[1]

    def test_a_file_without_marks_names_the_command_that_recovers_it(self):
        # It said "with the keys after the marks", and there were none.
        self.unclean()
        self.refused("contains", "f", "a", says="No mark was stored, so any key may be missing. Recover it (bf recover f --from ALL-KEYS), accept the loss")
        os.unlink(self.path("f"))
        self.unclean(7)
        self.refused("contains", "f", "a", says="Recover it (bf recover) with the keys after the marks, accept the loss")

    def test_keys_are_added_again_and_the_filter_answers(self):
        self.unclean()
        self.assertEqual(self.good("recover", "f", "c", "d"), b"f: 2 keys added again; recovered\n")
        self.assertEqual(self.good("contains", "f", "a", "c", "x"), b"maybe\ta\nmaybe\tc\nabsent\tx\n")

    def test_keys_come_from_a_file_or_a_pipe_and_none_only_where_that_is_said(self):
        for args, text in (["--from", "keys"], b""), (["-0"], b"c\0d\0"), ([], b"c\nd"), (["--no-keys"], b"c\nd\n"):
            with self.subTest(args=args, text=text):
                self.write("keys", b"c\nd\n")
                self.unclean(*([7] if "--no-keys" in args else []))
                self.good("recover", "f", "-q", *args, input=text)
                added = b"absent" if "--no-keys" in args else b"maybe"
                self.assertEqual(self.good("contains", "f", "a", "c", "d"), b"maybe\ta\n%s\tc\n%s\td\n" % (added, added))
                self.good("create", "f", "--force", "-q", *SURE)
                os.unlink(self.path("f"))

    # A producer that fails in a pipe gives an empty list, and so does a list that is not there yet. An empty list once ended
    # the recovery, and every key after the marks was answered "absent" from then on.
    def test_a_list_that_is_shorter_than_what_the_file_counted_is_taken_with_a_warning_if_no_mark_tells(self):
        words = b"bf: warning: f: has no mark. It counted 2 keys, and 1 key was given."
        for owners, args, warned in (((), ["c"], True), ((), ["a", "b"], False), ((), ["c", "-q"], True), ((7,), ["--no-keys"], False),
                                     ((7,), ["c"], False)):
            with self.subTest(owners=owners, args=args):
                self.unclean(*owners)
                done = self.run_bf("recover", "f", *args)
                self.assertEqual((done.returncode, words in done.stderr), (0, warned), done.stderr)
                os.unlink(self.path("f"))

    def test_a_counting_filter_counts_adds_and_a_shorter_list_is_warned_of_in_these_words(self):
        for keys, warned in ((["c"], True), (["a", "b"], False)):
            self.unclean(shape=("-n", "1000", "--layout", "counting"))
            done = self.run_bf("recover", "f", *keys)
            self.assertEqual(done.returncode, 0)
            if warned:
                self.assert_warning(done.stderr, says="f: has no mark. It counted 2 adds (a key that was added twice counts twice), and 1 key was given. "
                                                      "Every key that was added since it was last closed well")
            else:
                self.assertEqual(done.stderr, b"")
            os.unlink(self.path("f"))

    def test_a_window_warns_of_a_list_that_is_shorter_than_the_bits_of_one_epoch(self):
        # Its count has keys that it has forgotten, and said nothing.
        keys = b"".join(b"key %d\n" % i for i in range(200))
        for turns, given, warned in ((0, b"c\n", True), (0, keys, False), (1, b"c\n", True), (9, b"c\n", False)):
            with self.subTest(turns=turns, warned=warned):
                self.good("create", "f", "-q", "-n", "10k", "--window", "24h", "--seed", "7")
                self.good("add", "f", "-q", input=keys)
                for _ in range(turns):
                    self.good("turn", "f", "--now", "-q")
                self.go_down("f")
                done = self.run_bf("recover", "f", input=given)
                self.assertEqual(done.returncode, 0, done.stderr)
                if warned:
                    self.assert_warning(done.stderr, says="and 1 key was given.")
                    self.assertRegex(done.stderr, rb"f: has no mark\. Its bits are those of about (19|20)\d keys in one epoch alone, and")
                else:
                    self.assertEqual(done.stderr, b"")
                os.unlink(self.path("f"))

    def recovering(self, *args):
        """A bf that recovers the file, and waits for more keys."""
        process = self.spawn("recover", "f", "-q", *args)
        process.stdin.write(b"c\n")
        process.stdin.flush()
        self.wait_until(lambda: self.state() == RECOVERING)
        return process

    def test_a_second_recovery_is_refused_while_one_runs_and_not_after_it_was_killed(self):
        # It joined the first one. Its own list, a shorter one perhaps, then ended both, and the filter answered absent.
        self.unclean()
        first = self.recovering()
        for words in (["d"], ["--accept-loss"]):
            said = self.refused("recover", "f", *words, says=["f: process %d (bf) is recovering it. Wait until that has ended." % first.pid,
                                                              "If it was killed or gave up, recover it again with all of the keys."])
        self.refused("contains", "f", "c", says="a recovery was begun and is not finished")
        self.assertEqual(first.communicate(b"d\n", timeout=PATIENCE), (b"", b""))
        self.assertEqual(self.good("contains", "f", "c", "d", "x"), b"maybe\tc\nmaybe\td\nabsent\tx\n")
        os.unlink(self.path("f"))
        self.unclean()
        first = self.recovering()
        first.kill()
        first.wait()
        self.good("recover", "f", "-q", "c", "d")
        self.assertEqual(self.good("contains", "f", "c", "d", "x"), b"maybe\tc\nmaybe\td\nabsent\tx\n")

    def test_a_program_that_comes_to_recover_meanwhile_is_told_at_once_that_it_is_busy(self):
        library = ctypes.CDLL(os.environ["BFSTORE_LIBRARY"])
        for words, others in ((["--all-owners"], -4), (["--owner", "7"], 0)):  # BFS_EBUSY, BFS_OK: engines.md says so
            self.unclean(7, 8)
            first = self.recovering(*words)
            for flags, code in ((0x102, others), (0x104, -4)):  # BFS_RECOVER with BFS_WRITE, BFS_EXCLUSIVE
                handle = ctypes.c_void_p()
                self.assertEqual(library.bfs_open(os.fsencode(self.path("f")), ctypes.c_uint64(flags), None, ctypes.byref(handle), None), code)
                library.bfs_close(handle, None)
            first.kill()
            first.wait()
            os.unlink(self.path("f"))

    def test_owners_of_their_own_recover_at_the_same_time(self):
        self.unclean(7, 8)
        first = self.recovering("--owner", "7")
        self.refused("recover", "f", "--all-owners", "d", says="is recovering it. Wait until that has ended.")
        self.assertIn(b"until the keys of the owner 7 are added, too", self.good("recover", "f", "--owner", "8", "d"))
        self.assertEqual(first.communicate(timeout=PATIENCE), (b"", b""))
        self.assertEqual(self.good("contains", "f", "c", "d", "x"), b"maybe\tc\nmaybe\td\nabsent\tx\n")

    def test_a_recovery_moves_no_mark_and_says_so(self):
        self.unclean(7)
        self.assertEqual(self.good("recover", "f", "c"), b"f: 1 key added again; recovered. The mark stays at 100 of owner 7: the next bf add "
                                                         b"--mark-after continues there, with these keys once more\n")
        self.assertIn(b"100 of owner 7\n", self.good("inspect", "f"))
        self.good("add", "f", "-q", "--mark-after", "100", "--owner", "7", "c", "d")
        os.unlink(self.path("f"))
        self.unclean(7, 8, epoch=5)
        self.assertEqual(self.good("recover", "f", "--all-owners", "--no-keys"), b"f: 0 keys added again; recovered. The marks stay at 100 of owner 7 in epoch 5, "
                                                                                 b"100 of owner 8 in epoch 5: the next bf add --mark-after continues there\n")

    def test_no_keys_at_all_are_an_error_and_nothing_changes(self):
        self.write("empty", b"")
        os.mkfifo(self.path("fifo"))
        for owners, args in (((), []), ((7,), []), ((7,), ["--from", "empty"]), ((7, 8), ["--all-owners"]),
                             ((7,), ["--owner", "7", "-0"]), ((7,), ["--from", "/dev/null"]), ((7,), ["--from", "fifo"])):
            with self.subTest(owners=owners, args=args):
                self.unclean(*owners)
                before = self.read("f")
                producer = None
                if "fifo" in args:
                    producer = subprocess.Popen(["sh", "-c", ": > fifo"], cwd=self.dir)
                said = self.refused("recover", "f", *args, says=["f: ", "has no keys", "say --no-keys" if owners else "any key may be missing: give every key."])
                self.assertEqual(b"--no-keys" in said, bool(owners), said)
                self.assertEqual(self.read("f"), before)
                self.assertEqual(producer.wait() if producer else 0, 0)
                self.good("recover", "f", "-q", *(["--all-owners", "--no-keys"] if owners else ["--accept-loss"]))
                self.assertEqual(self.good("contains", "f", "a", "x"), b"maybe\ta\nabsent\tx\n")
                os.unlink(self.path("f"))

    def test_no_keys_for_a_file_without_a_mark_are_refused(self):
        # It ended with 0, and said nothing.
        self.unclean()
        before = self.read("f")
        for more in ([], ["-q"], ["--all-owners"], ["--owner", "7"]):
            self.refused("recover", "f", "--no-keys", *more,
                         says="f: has no mark and counted 2 keys: without its keys, they would be answered absent. Give the keys, or --accept-loss instead of --no-keys.")
        self.assertEqual(self.read("f"), before)
        self.assertEqual(self.good("recover", "f", "--accept-loss"), b"f: is in use again. Any key may be missing.\n")
        self.assertEqual(self.good("recover", "f", "--no-keys"), b"f: 0 keys added again; it needed no recovery\n")

    def test_a_filter_that_needs_no_recovery_is_said_to_have_its_keys(self):
        self.good("build", "f", "-q", input=b"a\n")
        self.refused("recover", "f", input=b"", says="has no keys. The filter needs no recovery, and has its keys.")
        self.assertEqual(self.good("recover", "f", "--accept-loss"), b"f: needed no recovery, and has its keys.\n")

    def test_empty_lines_alone_are_an_error_and_the_empty_key_has_to_be_named(self):
        for args, text in ([], b"\n"), ([], b"\n\n\n"), (["-0"], b"\0"), ([], b" \n"), ([], b"\t \n\n"):
            with self.subTest(args=args, text=text):
                self.unclean(7)
                self.refused("recover", "f", *args, input=text, says=["f: ", "empty lines", "--no-keys", "bf recover f ''"])
                self.refused("contains", "f", "a", says="recover")
                self.good("recover", "f", "-q", *args, input=text + b"c")
                self.good("contains", "f", "--count", *args, input=text + b"c")
                self.assertEqual(self.good("contains", "f", "c", "x"), b"maybe\tc\nabsent\tx\n")
                os.unlink(self.path("f"))
        self.unclean(7)
        self.good("recover", "f", "-q", "")
        self.assertEqual(self.good("contains", "f", "", "x"), b"maybe\t\nabsent\tx\n")

    def test_a_list_that_is_none_or_was_cut_finishes_no_recovery(self):
        packed = gzip.compress(b"c\nd\n")
        for data in (b"c\nd\r\n", packed[:-4], "c\nd\n".encode("utf-16"), "c\nd\n".encode("utf-16-le"), b"c\rd\r"):
            self.unclean(7)
            self.refused("recover", "f", input=data, says="standard input: ")
            self.refused("contains", "f", "c", says="bf recover")
            self.assertTrue(self.good("recover", "f", input=packed).startswith(b"f: 2 keys added again; recovered. The mark stays at 100"))
            self.assertEqual(self.good("contains", "f", "--maybe", "c", "d", "x"), b"c\nd\n")
            os.unlink(self.path("f"))

    def test_keys_that_come_slowly_through_a_pipe_are_all_there(self):
        self.unclean(7)
        keys = b"".join(b"slow key %d\n" % i for i in range(1500))
        process = self.spawn("recover", "f", "-q")
        self.wait_until_it_reads(process)
        process.stdin.write(keys[:9])
        process.stdin.flush()
        self.wait_until_it_reads(process)
        output, errors = process.communicate(keys[9:])
        self.assertEqual((process.returncode, output, errors), (0, b"", b""))
        self.assertEqual(self.good("contains", "f", "--absent", input=keys + b"x\n"), b"x\n")

    def test_a_mark_of_another_epoch_refuses_keys_that_came_after_it(self):
        self.unclean(7, epoch=5)
        before = self.read("f")
        self.refused("recover", "f", "--epoch", "6", "c", says=["owner 7", "epoch 5", "epoch 6", "every key"])
        self.refused("recover", "f", "--owner", "9", "--epoch", "5", "c", says=["owner 9", "no mark"])
        self.refused("recover", "f", "--epoch", "x", "c", says="--epoch: ")
        self.assertEqual(self.read("f"), before)
        self.refused("contains", "f", "a", says=["owner 7 up to mark 100 of epoch 5"])
        self.good("recover", "f", "-q", "--owner", "7", "--epoch", "5", "c")
        self.assertEqual(self.good("contains", "f", "c", "x"), b"maybe\tc\nabsent\tx\n")

    def test_the_only_owner_is_meant_where_nobody_is_named(self):
        self.unclean(7)
        self.good("recover", "f", "-q", "c")
        self.good("contains", "f", "c")

    def test_of_several_owners_one_has_to_be_named_and_all_are_waited_for(self):
        self.unclean(7, 8)
        before = self.read("f")
        self.refused("recover", "f", "c", says=["7, 8", "--owner", "--all-owners"])
        self.assertEqual(self.read("f"), before)
        self.assertIn(b"of the owner 8 are", self.good("recover", "f", "--owner", "7", "c"))
        self.assertEqual(self.state(), PAUSED)
        self.refused("contains", "f", "c", says="recovery")
        self.refused("add", "f", "z", says="recovery")
        self.assertIn(b"recovered", self.good("recover", "f", "--owner", "8", "d"))
        self.assertEqual(self.good("contains", "f", "c", "d", "x"), b"maybe\tc\nmaybe\td\nabsent\tx\n")

    def test_several_owners_are_named_one_after_the_other(self):
        self.unclean(7, 8, 9)
        self.assertIn(b"of the owner 9 are", self.good("recover", "f", "--owner", "7", "--owner", "8", input=b"c\n"))
        self.assertIn(b"recovered", self.good("recover", "f", "--owner", "9", "d"))
        self.assertEqual(self.good("contains", "f", "--maybe", "c", "d", "8", "x"), b"c\nd\n")

    def test_an_owner_without_a_mark_is_named_because_the_number_may_be_a_mistake(self):
        self.unclean(7, 8)
        done = self.run_bf("recover", "f", "--owner", "7", "--owner", "9", "c")
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, says="f: has no mark of the owner 9, only of the owners 7, 8.")
        self.assertIn(b"of the owner 8 are added, too", done.stdout)
        self.assertIn(b"recovered", self.good("recover", "f", "--owner", "8", "d"))

    def go_down(self, name):
        def change(slot):
            struct.pack_into("<I", slot, 8, DIRTY)
            slot[16:32] = os.urandom(16)
        self.edit_slots(name, change)

    def test_a_mark_that_bf_add_stored_says_from_where_to_add_again(self):
        self.good("create", "f", "-q", *SURE)
        self.assertEqual(self.good("add", "f", "--mark", "2", input=b"a\nb\n"), b"f: 2 keys added (2 of them certainly new); mark 2 stored\n")
        self.good("add", "f", "-q", "--mark", "7", "--owner", "8", "--epoch", "9", "e")
        self.assertIn(b"mark            2 of owner 0", self.good("inspect", "f"))
        self.good("add", "f", "-q", "c")
        self.go_down("f")
        self.refused("contains", "f", "a", says="The keys of owner 0 up to mark 2, owner 8 up to mark 7 of epoch 9 are durable")
        self.assertIn(b"recovered", self.good("recover", "f", "--all-owners", "c"))
        self.assertEqual(self.good("contains", "f", "a", "b", "c", "e", "x"), b"maybe\ta\nmaybe\tb\nmaybe\tc\nmaybe\te\nabsent\tx\n")

    def test_bf_add_stores_no_mark_without_keys_or_for_a_part_of_them(self):
        self.good("create", "f", "-q", *SURE)
        self.refused("add", "f", "--mark", "2", input=b"", says="standard input: holds no keys, so none were added to f.")
        self.write("cut.gz", gzip.compress(b"a\nb\n" * 1000)[:-9])
        self.refused("add", "f", "--mark", "2000", "--from", "cut.gz", says="cut.gz: ")
        self.refused("add", "f", "--mark", "0", "a", says="--mark: ")
        for words in (["--owner", "1"], ["--epoch", "1"]):
            self.refused("add", "f", *words, "a", says="Give --mark-after or --mark.")
        self.refused("add", "f", "--mark", "1", "--mark-after", "0", "a", says="--mark-after")
        adding = self.spawn("add", "f", "--mark", "2")
        os.write(adding.stdin.fileno(), b"a\n")
        self.wait_until_it_reads(adding)
        adding.send_signal(signal.SIGINT)
        self.assertIn(b"the rest, if there is any, was not read, and the mark is not stored", adding.communicate(timeout=PATIENCE)[1])
        self.assertNotRegex(self.good("inspect", "f"), rb"mark +\d")

    # The end of a log may be the first half of a line. The mark once covered its whole key, which a recovery then called absent.
    def test_a_mark_of_a_list_whose_last_line_may_be_cut_is_refused_and_its_keys_are_added(self):
        self.good("create", "f", "-q", *SURE)
        self.write("log", b"a\nb\ncu")
        for words, text in ((["--from", "log"], b""), ([], b"a\nb\ncu"), (["-0"], b"a\0b\0cu")):
            with self.subTest(words):
                self.refused("add", "f", "--mark", "3", *words, input=text,
                             says=["f: no mark was stored: ", "does not end with a newline (with -0: a NUL)", "Its 3 keys are added.",
                                   "Give them again when the last one is whole, or count whole keys alone with --mark-after."])
        self.assertNotRegex(self.good("inspect", "f"), rb"mark +\d")
        self.assertEqual(self.good("contains", "f", "a", "b", "x"), b"maybe\ta\nmaybe\tb\nabsent\tx\n")
        self.assertIn(b"mark 3 stored", self.good("add", "f", "--mark", "3", "-0", input=b"a\0b\0cut\0"))

    def test_bf_add_counts_the_mark_from_the_lines_that_it_read(self):
        self.good("create", "f", "-q", *SURE)
        self.assertIn(b"2 keys added (2 of them certainly new); mark 2 stored\n", self.good("add", "f", "--mark-after", "0", input=b"a\nb\n"))
        cut = self.run_bf("add", "f", "--mark-after", "2", input=b"c\ncu")
        self.assertTrue(cut.stdout.endswith(b"; mark 3 stored, without the last key\n"), cut)
        self.assert_warning(cut.stderr, says="standard input: no newline ends the last key, which may be cut.")
        self.refused("add", "f", "--mark-after", "3", input=b"cu", says=["f: no mark was stored: standard input does not end", "Its 1 key is added"])
        self.assertIn(b"mark 5 stored", self.good("add", "f", "--mark-after", "3", "cut", "d"))
        self.good("add", "f", "-q", "--mark-after", "0", "--owner", "7", "--epoch", "2", input=b"e\n")
        shown = self.good("inspect", "f")
        self.assertRegex(shown, rb"5 of owner 0")
        self.assertRegex(shown, rb"1 of owner 7")
        self.good("add", "f", "-q", "--mark", str(2**64 - 2), "z")
        self.refused("add", "f", "--mark-after", str(2**64 - 2), "y", "z", says="no mark so high")
        self.assertEqual(b"f: 0 keys added (0 of them certainly new)\n", self.good("add", "f", "--mark-after", "5", input=b""))  # the log is as it was

    def test_bf_add_refuses_a_list_that_begins_after_a_gap(self):
        self.good("create", "f", "-q", *SURE)
        self.refused("add", "f", "--mark-after", "1", "b", says=["f: has no mark of this log", "from line 1 on: --mark-after 0."])
        self.good("add", "f", "-q", "--mark-after", "0", "a", "b")
        self.refused("add", "f", "--mark-after", "3", "d", says=["f: has mark 2 of owner 0", "Nothing was added.", "from line 3 on: --mark-after 2."])
        self.refused("add", "f", "--mark-after", "2", "--owner", "1", "d", says="has no mark of this log")
        self.refused("add", "f", "--mark-after", "2", "--epoch", "1", "d", says="has no mark of this log")
        self.assertEqual(self.good("contains", "f", "b", "d"), b"maybe\tb\nabsent\td\n")

    # A log that begins anew, as one that is rotated, has lower positions. bf add once said that its mark was stored.
    def test_a_mark_that_is_lower_than_that_of_the_file_is_an_error_and_its_keys_are_added(self):
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "--mark", "150", "a")
        for words in ["--mark", "50"], ["--mark-after", "49"]:
            self.refused("add", "f", *words, "b", says=["f: the keys are added, but mark 50 is not stored: the higher mark 150 of owner 0 stays",
                                                        "another --epoch"])
        self.assertEqual(self.good("contains", "f", "b", "c"), b"maybe\tb\nabsent\tc\n")
        self.assertIn(b"mark            150 of owner 0", self.good("inspect", "f"))
        self.assertIn(b"mark 150 stored", self.good("add", "f", "--mark", "150", "a"))
        self.assertIn(b"mark 50 stored", self.good("add", "f", "--mark", "50", "--epoch", "1", "b"))
        self.refused("add", "f", "--mark", "49", "--epoch", "1", "b", says="mark 50 of owner 0, epoch 1 stays")

    def test_quiet_does_not_hide_that_others_are_waited_for(self):
        self.unclean(7, 8, 9)
        words = b"f: 1 key added again. It answers maybe until the keys of the %s are added, too.\n"
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "8", "c"), words % b"owners 7, 9")
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "7", "c"), words % b"owner 9")
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "9", "c"), b"")
        self.assertEqual(self.good("contains", "f", "c", "x"), b"maybe\tc\nabsent\tx\n")

    def test_all_owners_at_once(self):
        self.unclean(7, 8)
        self.good("recover", "f", "-q", "--all-owners", "c")
        self.good("contains", "f", "c")

    def test_accepting_the_loss(self):
        self.unclean(7, 8)
        self.assertIn(b"Keys that were added after the marks may be missing.", self.good("recover", "f", "--accept-loss"))
        self.assertEqual(self.good("contains", "f", "a", "x"), b"maybe\ta\nabsent\tx\n")

    def test_a_filter_that_needs_no_recovery(self):
        self.good("create", "f", "-q", *SURE)
        self.assertIn(b"needed no recovery", self.good("recover", "f", "c"))
        self.good("contains", "f", "c")

    def test_keys_of_a_clean_counting_filter_are_not_counted_once_more(self):
        self.good("create", "f", "-q", *SURE, "--layout", "counting")
        self.good("add", "f", "-q", "a")
        self.write("keys", b"a\n")
        for words in (["a"], ["--from", "keys"], ["--from", "keys", "-q"]):
            self.refused("recover", "f", *words, says="f: needs no recovery, and has its keys. It counts each add, so these would count once more. Nothing was changed. "
                                                      "To add keys: bf add.")
        self.assertEqual(self.good("count", "f", "a"), b"1\ta\n")
        self.good("recover", "f", "--no-keys", "-q")

    def test_wrong_words(self):
        self.unclean(7)
        self.write("keys", b"c\n")
        for words in (["--accept-loss", "c"], ["--accept-loss", "--from", "keys"], ["--owner", "7", "--all-owners", "c"],
                      ["--accept-loss", "--owner", "7"], ["--accept-loss", "--all-owners"], ["--no-keys", "c"],
                      ["--no-keys", "--from", "keys"], ["--no-keys", "--accept-loss"], ["--epoch", "1", "--accept-loss"]):
            self.refused("recover", "f", *words, says="recover: ")
        self.refused("recover", "f", "--owner", "x", "c", says="--owner: ")
        self.refused("recover", "nothing", "c", says="nothing: ")
        self.refused("recover", "f", "--from", "f", says="f: ")
        self.refused("recover", "f", "--from", "no-list", says="no-list: ")
        self.assertEqual(self.state(), DIRTY)

    def test_what_is_no_filter_or_too_damaged_is_refused(self):
        self.write("text", b"some words\n" * 3000)
        self.refused("recover", "text", "c", says="text: ")
        self.unclean(7)
        with open(self.path("f"), "r+b") as file:
            file.seek(12288)
            file.write(bytes(8))
        self.refused("recover", "f", "c", says="live word")
        self.refused("recover", "f", "--accept-loss", says="live word")


if __name__ == "__main__":
    unittest.main(verbosity=2)

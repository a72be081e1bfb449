"""bfinspect on files that a process has open, left or was killed with: the state, the advice, and the processes."""
import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest

from inspector import (BF, BFINSPECT, DIRTY, LAYOUTS, LIVE, LIVE_RECOVERING, PAUSED, POISONED, RECOVERING, SLOT_A, SLOT_B, SUPERSEDED, SYNCING,
                       Bytes, InspectorCase, boot_id)
from waiting import wait_until

F_OFD_SETLK = 37
STATE_LOCK, SYNC_LOCK, FIRST_WRITER_LOCK, NUM_WRITER_LOCKS = 2**62, 2**62 + 2, 2**62 + 4096, 65536


@contextlib.contextmanager
def mapped(path, flags, protection, sharing):
    """Maps the file's first page without a descriptor (Python's own mmap keeps one)."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    descriptor = os.open(path, flags)
    address = libc.mmap(None, 4096, protection, sharing, descriptor, 0)
    os.close(descriptor)
    try:
        yield
    finally:
        libc.munmap(address, 4096)


def maps_shows(path):
    facts = os.stat(path)
    with open("/proc/self/maps") as maps:
        return f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x} {facts.st_ino} " in maps.read()


class States(InspectorCase):
    def dirty(self, boot=None, name="f.bf", **more):
        """Makes a file that is marked dirty, by this boot and with its own inode."""
        path = self.make(name=name, keys=range(5))
        facts = os.stat(path)
        return Bytes(path).slots(DIRTY, boot=boot or boot_id(), device=facts.st_dev, inode=facts.st_ino, **more)

    def test_a_file_that_may_lack_bits_needs_attention_in_every_output(self):
        # Ten pages were zeroed: the page for a browser knew it, and the text, the JSON, the metrics and the exit code said clean.
        for layout in LAYOUTS:
            for first, share in ((1 / 3, 1 / 3), (0, 0.7)):
                path = self.with_hole("--capacity", "50k", "--layout", layout, name=f"{layout}{first}", keys=range(40000), first=first, share=share)
                found, page = self.json(path, code=1), " ".join(self.text(path, code=1).split())
                self.assertEqual((found["bits_may_be_missing"], found["state"], found["problems"]), (True, "clean", []))
                self.assertAlmostEqual(found["emptier_stretches"] / found["stretches"], share, delta=0.05)
                words = f"{found['emptier_stretches']} of {found['stretches']} stretches of the body are much emptier than the others"
                self.assertRegex(page, rf"\* clean, bits may be missing .* missing bits {words}: .* a \"no\" may be wrong\. Rebuild it")
                self.assertNotIn("under way", page)
                self.assertIn(words, self.run_inspector("--html", "-", path).stdout.decode())
                metrics = self.run_inspector("--prometheus", path)
                self.assertEqual(metrics.returncode, 1)
                self.assertRegex(metrics.stdout.decode(), r"(?s)\nbfstore_healthy\{[^}]*\} 0\n.*\nbfstore_bits_may_be_missing\{[^}]*\} 1\n")
                self.assertTrue(self.json(path, "--quick")["healthy"])

    def test_keys_that_the_header_counts_and_no_bit_tells_need_attention_in_every_output(self):
        # The whole body was zeroed, and each output called the file healthy: "keys added 99,830, keys now about 0".
        makings = [(layout, ("--layout", layout), keys) for layout in LAYOUTS for keys in (1, 50, 20000)]
        makings += [("window", ("--window", "24h"), 20000), ("murmur3", ("--hash", "murmur3"), 5000)]
        for name, options, keys in makings:
            with self.subTest(name=name, keys=keys):
                path = self.with_hole("--capacity", "30k", *options, name=f"{name}{keys}", keys=range(keys), first=0, share=1)
                found, page = self.json(path, code=1), " ".join(self.text(path, code=1).split())
                self.assertEqual((found["bits_may_be_missing"], found["set_bits"], found["state"]), (True, 0, "clean"))
                words = f"{found['keys_added']:,} key{' was' if keys == 1 else 's were'} counted, and the bits are those of about 0: "
                self.assertRegex(page, rf"\* clean, bits may be missing .* keys now unknown, since bits may be missing .*missing bits {words}.* A \"no\" may be wrong\. Rebuild it")
                shown = self.run_inspector("--html", "-", path)
                self.assertEqual(shown.returncode, 1)
                self.assertIn(words, shown.stdout.decode())
                self.assertNotIn("by chance", shown.stdout.decode())
                self.assertRegex(self.run_inspector("--prometheus", path).stdout.decode(), r"(?s)\nbfstore_healthy\{[^}]*\} 0\n.*\nbfstore_bits_may_be_missing\{[^}]*\} 1\n")
                self.assertTrue(self.json(path, "--quick")["healthy"])

    def leaking(self, name, keys, twice):
        """Makes a counting filter of keys of which the first ones are in it twice, and counted once, as a killed process leaves them."""
        raw = Bytes(self.make("--capacity", "30k", "--layout", "counting", name=name, keys=range(keys)))
        counted = self.json(raw.path)["keys_added"]
        if twice:
            self.bf("add", raw.path, stdin=b"".join(b"%d\n" % key for key in range(twice)))
        raw = Bytes(raw.path)
        for stripe in range(1, 33):
            raw.put(LIVE + 64 * stripe, "Q", counted if stripe == 1 else 0)
        return raw.write()

    def test_a_filter_of_which_more_than_1_percent_has_leaked_needs_attention_in_every_output(self):
        # The row of the leak said "Build a new one", and the verdict, the exit code, the page for a browser and the metrics said clean.
        path = self.leaking("much", 20000, 3500)
        found, page = self.json(path, code=1), " ".join(self.text(path, code=1).split())
        self.assertEqual((found["leaky"], found["state"], found["overfull"], found["bits_may_be_missing"]), (True, "clean", False, False))
        self.assertAlmostEqual(found["leaked_keys"], 3500, delta=350)
        self.assertRegex(page, r"\* clean, leaky .* leaked about 3,\d+ of the keys now\. Build a new one from all keys \(bf build\)")
        shown = self.run_inspector("--html", "-", path)
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stdout.decode(), r"Needs attention: clean, leaky</strong><p>It has keys that no remove takes away any more.* Build a new one from all keys")
        metrics = self.run_inspector("--prometheus", path)
        self.assertEqual(metrics.returncode, 1)
        self.assertRegex(metrics.stdout.decode(), r"(?s)\nbfstore_healthy\{[^}]*\} 0\n.*\nbfstore_leaky\{[^}]*\} 1\n")
        self.assertEqual(self.json(path, "--quick")["leaky"], None)

    def test_a_leak_below_1_percent_or_one_that_may_be_chance_is_healthy(self):
        for keys, twice in ((20000, 0), (20000, 120), (30, 1)):
            with self.subTest(keys=keys, twice=twice):
                path = self.leaking(f"{keys} {twice}", keys, twice)
                self.assertIs(self.json(path)["leaky"], False)
                self.assertNotIn("Build a new one", self.text(path))

    def test_most_bits_may_be_missing_anywhere(self):
        # No stretch is emptier than another one.
        raw = Bytes(self.make("--capacity", "30k", keys=range(30000)))
        offset, length = raw.get(72, "Q"), raw.get(80, "Q")
        for at in range(offset, offset + length - 8):
            raw.data[at] &= 1 if at % 8 == 0 else 0
        self.assertIn("30,", re.search(r"missing bits (\S+) keys were counted", " ".join(self.text(raw.write(), code=1).split()))[1] + "30,")
        self.assertEqual(self.json(raw.path, code=1)["emptier_stretches"], 0)

    def test_no_file_whose_keys_went_honestly_lacks_bits(self):
        lines = b"".join(b"%d\n" % key for key in range(9000))
        window = self.make("--capacity", "10k", "--window", "24h", "--layout", "window-2", name="window", keys=range(3000))
        for _ in range(2):
            self.bf("turn", "--now", window)
        self.assertEqual((self.json(window)["keys_added"] > 2900, self.json(window)["set_bits"]), (True, 0))
        counting = self.make("--capacity", "10k", "--layout", "counting", name="counting", keys=range(9000))
        self.bf("remove", counting, stdin=lines)
        self.bf("copy", "-q", counting, self.path("copied"))
        killed = self.make("--capacity", "10k", "--layout", "counting", name="killed", keys=range(9000))
        with subprocess.Popen([BF, "remove", killed], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            process.stdin.write(lines)
            process.stdin.flush()
            wait_until(lambda: json.loads(self.run_inspector("--json", killed).stdout)["keys_removed"] > 0)
            process.kill()
        shape = ("--bits", "256Ki", "--probes", "7", "--layout", "classic")
        one, other = (self.make(*shape, name=str(first), keys=range(first, first + 6000)) for first in (0, 3000))
        self.bf("intersect", "-q", self.path("both"), one, other)
        self.bf("intersect", "-q", self.path("none"), one, self.make(*shape, name="empty"))
        self.bf("fold", "-q", one, self.path("folded"), "--to-fpr", "0.5")
        self.bf("merge", "-q", "--into", one, other)
        for path in (window, counting, self.path("copied"), killed, self.path("both"), self.path("none"), self.path("folded"), one):
            found = json.loads(self.run_inspector("--json", path).stdout)
            self.assertIsNot(found["bits_may_be_missing"], True, path)
            self.assertTrue(found["healthy"], path)

    def test_bits_that_were_missing_when_it_was_sealed_stay_in_doubt(self):
        self.bf("seal", "-q", self.with_hole(), self.path("sealed"))
        found = self.json(self.path("sealed"), code=1)
        self.assertEqual((found["damaged"], found["bits_may_be_missing"]), ([], True))

    def test_a_file_in_use_that_may_lack_bits_may_be_one_to_which_millions_of_keys_are_added(self):
        path = self.with_hole()
        self.writer(path)
        self.assertRegex(" ".join(self.text(path, code=1).split()), "in use, bits may be missing .* an add of millions of keys that is under way, a hole")

    def test_a_live_writer_is_in_use_and_healthy(self):
        path = self.make(keys=range(5))
        writer = self.writer(path)
        found = self.json(path)
        self.assertEqual((found["state"], found["valid"], found["keys_added"]), ("in use", True, 5))
        self.assertEqual([(by["pid"], by["command"], by["mode"]) for by in found["open_by"]], [(writer.pid, "bf", "writing")])
        page = self.text(path)
        self.assertIn("in use", page.splitlines()[0])
        self.assertRegex(page, rf"(?m)^  {writer.pid}  bf  writing$")

    def test_two_live_writers_are_both_named(self):
        path = self.make()
        writers = [self.writer(path), self.writer(path)]
        self.wait_for(lambda: len(self.json(path)["open_by"]) == 2)
        self.assertEqual([by["pid"] for by in self.json(path)["open_by"]], sorted(writer.pid for writer in writers))

    def test_a_writer_that_ends_leaves_a_clean_file(self):
        path = self.make()
        writer = self.writer(path)
        writer.communicate(b"a key\n", timeout=600)
        found = self.json(path)
        self.assertEqual((found["state"], found["keys_added"]), ("clean", 1))

    def test_a_killed_writer_leaves_a_file_that_can_be_adopted_and_is_healthy(self):
        path = self.make()
        writer = self.writer(path)
        writer.kill()
        writer.wait()
        for _ in range(2):  # the first look must not adopt it
            self.assertEqual(self.json(path)["state"], "adoptable")
        self.assertIn("killed", self.text(path))

    def test_of_a_killed_writer_it_says_which_keys_are_there_and_what_to_run_again(self):
        # "Nothing is lost" stood there, while the rest of the list of a killed bf add was never added.
        for layout in LAYOUTS:
            path = self.make("--capacity", "1000", "--layout", layout, name=layout)
            self.end(self.writer(path))
            page = " ".join(self.text(path).split())
            self.assertIn("Every key whose add returned is there", page)
            self.assertIn("If a bf add was killed, run it again with the whole list", page)
            self.assertNotIn("Nothing is lost", page)
            self.assertEqual("which is harmless" in page, layout != "counting")
            self.assertEqual("Never run a killed bf remove again with the whole list" in page, layout == "counting")

    def test_a_file_that_is_filling_needs_attention_whatever_its_state(self):
        path = self.make("--capacity", "1000", "--filling")
        for state in ("clean", "in use"):
            found = self.json(path, code=1)
            self.assertEqual((found["state"], found["filling"], found["valid"], found["healthy"]), (state, True, True, False))
            page = self.text(path, code=1)
            self.assertIn(f"{state}, filling", page.splitlines()[0])
            self.assertIn("bf finish-filling", " ".join(page.split()))
            self.writer(path)
        subprocess.run([BF, "finish-filling", path, "-q"], check=True, timeout=600)
        self.assertFalse(self.json(path)["filling"])
        self.assertNotIn("filling", self.text(path))

    def test_a_copy_made_in_use_is_unclean(self):
        path = self.make()
        self.writer(path)
        copy = shutil.copyfile(path, self.path("copy"))
        self.assertEqual(self.json(copy, code=1)["state"], "unclean")
        self.assertEqual(self.json(path)["state"], "in use")

    def test_a_crafted_dirty_file_of_this_boot_is_adoptable(self):
        self.assertEqual(self.json(self.dirty().seal().write())["state"], "adoptable")

    def test_a_dirty_file_of_another_boot_is_unclean_and_the_way_out_is_named(self):
        path = self.dirty(boot=b"another boot....").seal().write()
        found = self.json(path, code=1)
        self.assertEqual((found["state"], found["marks"]), ("unclean", []))
        page = self.text(path, code=1)
        self.assertIn("unclean", page.splitlines()[0])
        self.assertIn("any key may be missing", " ".join(page.split()))
        self.assertIn("bf build", " ".join(page.split()))

    def test_marks_are_shown_as_exact_numbers_of_64_bits(self):
        marks = [(2**64 - 1, 2**64 - 2, 0), (0, 2**53 + 1, 2**64 - 3), (6, 0, 9)]
        path = self.dirty(boot=b"another boot....", marks=marks).seal().write()
        found = self.json(path, code=1)
        self.assertEqual(found["marks"], [{"owner": str(owner), "epoch": str(epoch), "mark": str(mark), "recovered": None} for owner, mark, epoch in marks])
        page = self.text(path, code=1)
        for owner, mark, epoch in marks:
            self.assertIn(f"{mark:,} of owner {owner:,}" + (f", epoch {epoch:,}" if epoch else " "), " ".join(page.split()) + " ")
        self.assertNotIn("epoch 0", page)
        self.assertIn("up to the marks", " ".join(page.split()))

    def test_a_file_whose_writer_died_while_syncing_is_unclean(self):
        path = self.dirty().put(SYNCING, "Q", 1).seal().write()
        found = self.json(path, code=1)
        self.assertEqual((found["state"], found["syncing"]), ("unclean", False))
        self.assertIn("middle of a sync", " ".join(self.text(path, code=1).split()))

    def test_one_torn_slot_is_unclean_and_shown_as_invalid(self):
        raw = self.dirty().seal()
        raw.data[SLOT_A + 100] ^= 1
        found = self.json(raw.write(), code=1)
        self.assertEqual((found["state"], [slot["valid"] for slot in found["slots"]]), ("unclean", [False, True]))
        self.assertRegex(self.text(raw.path, code=1), r"slot A +invalid")

    def test_a_torn_newer_slot_makes_a_clean_file_unclean(self):
        raw = Bytes(self.make(keys=range(5)))
        newer = SLOT_A if raw.get(SLOT_A, "Q") > raw.get(SLOT_B, "Q") else SLOT_B
        raw.data[newer + 200] ^= 0x40
        self.assertEqual(self.json(raw.write(), code=1)["state"], "unclean")

    def test_poisoned_and_recovering_files_need_attention_and_say_what_to_do(self):
        for name, raw in (("poisoned", self.dirty().live(POISONED)),
                          ("recovering", Bytes(self.make(name="a")).live(LIVE_RECOVERING)),
                          ("recovering", Bytes(self.make(name="b")).slots(RECOVERING)),
                          ("recovering", Bytes(self.make(name="c")).slots(PAUSED))):
            path = raw.seal().write()
            self.assertEqual(self.json(path, code=1)["state"], name)
            page = self.text(path, code=1)
            self.assertIn(name, page.splitlines()[0])
            self.assertIn("bf build", page)
            self.assertIn("bf recover", page)
            # After a kill in a sync it was "Look for disk errors", and no cause but the disk was named.
            self.assertEqual("A process was killed in the sync, or the disk refused a write" in " ".join(page.split()), name == "poisoned")

    def test_while_it_recovers_the_owners_whose_keys_are_missing_are_named(self):
        path = self.dirty(boot=b"another boot....", marks=[(7, 100), (8, 200), (9, 300)]).seal().write()
        recovered = {"7": False, "8": False, "9": False}
        for owner, awaited in (("8", "until owners 7 and 9 have added again"), ("7", "until owner 9 has added again")):
            self.bf("recover", path, "--owner", owner, "a key")
            recovered[owner] = True
            found = self.json(path, code=1)
            self.assertEqual((found["state"], {one["owner"]: one["recovered"] for one in found["marks"]}), ("recovering", recovered))
            self.assertIn(awaited, " ".join(self.text(path, code=1).split()))
        self.bf("recover", path, "--owner", "9", "a key")
        self.assertEqual([one["recovered"] for one in self.json(path)["marks"]], [None] * 3)

    def test_a_file_whose_replacer_was_killed_says_that_opening_it_to_write_is_enough(self):
        path = Bytes(self.make()).live(SUPERSEDED).seal().write()
        self.assertEqual(self.json(path, code=1)["state"], "superseded")
        self.assertIn("opens it for writing", " ".join(self.text(path, code=1).split()))

    def test_a_file_whose_replacer_is_alive_is_being_replaced(self):
        path = Bytes(self.make()).live(SUPERSEDED).seal().write()
        with open(path, "r+b") as file:
            self.lock(file, STATE_LOCK)
            page = " ".join(self.text(path, code=1).split())
        self.assertIn("is replacing it", page)
        self.assertNotIn("opens it for writing", page)

    def test_a_poisoned_file_with_a_live_writer_still_needs_attention(self):
        path = self.make()
        self.writer(path)
        with open(path, "r+b") as file:
            file.seek(3 * 4096)
            word, = struct.unpack("<Q", file.read(8))
            file.seek(3 * 4096)
            file.write(struct.pack("<Q", word | POISONED))
        self.assertEqual(self.json(path, code=1)["state"], "poisoned")

    def test_an_overfull_file_in_use_needs_attention(self):
        path = self.make("--capacity", "100", keys=range(1000))
        self.writer(path)
        found = self.json(path, code=1)
        self.assertEqual((found["state"], found["overfull"]), ("in use", True))

    @staticmethod
    def lock(file, byte, count=1):
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, count, 0))

    def test_beside_an_exclusive_writer_no_other_process_may_add(self):
        path = self.dirty().seal().write()
        for count, words in ((1, "may ask and add at the same time"), (NUM_WRITER_LOCKS - 1, "may ask and add at the same time"),
                             (NUM_WRITER_LOCKS, "may ask, and can add when that writer has closed it")):
            with open(path, "r+b") as file:
                self.lock(file, FIRST_WRITER_LOCK, count)
                page = " ".join(self.text(path).split())
                self.assertIn(words, page)
                self.assertEqual("An exclusive writer" in page, count == NUM_WRITER_LOCKS)
                self.assertIn("without those of a call that has not ended", page)

    def test_no_lock_of_the_file_makes_it_wait_or_fail(self):
        clean = self.make(name="clean")
        with open(clean, "r+b") as file:
            for byte in (STATE_LOCK, SYNC_LOCK, FIRST_WRITER_LOCK):
                self.lock(file, byte)
            self.assertEqual(self.json(clean)["state"], "clean")
        for byte, state in ((STATE_LOCK, "adoptable"), (FIRST_WRITER_LOCK, "in use"), (SYNC_LOCK, "adoptable")):
            dirty = self.dirty(name=f"dirty{byte}").seal().write()
            with open(dirty, "r+b") as file:
                self.lock(file, byte)
                self.assertEqual(self.json(dirty)["state"], state)

    def test_the_file_is_never_opened_for_writing(self):
        close_write, close_nowrite, changed = 0x8, 0x10, 0x2 | 0x4  # numbers of inotify(7)
        libc = ctypes.CDLL(None, use_errno=True)
        for path, code in ((self.make(keys=range(5), name="clean"), 0),
                           (self.dirty(name="killed").seal().write(), 0),
                           (self.dirty(name="unclean", boot=b"another boot....").seal().write(), 1)):
            watcher = libc.inotify_init1(os.O_NONBLOCK)
            self.addCleanup(os.close, watcher)
            self.assertGreaterEqual(libc.inotify_add_watch(watcher, os.fsencode(path), close_write | close_nowrite | changed), 0)
            self.json(path, code=code)
            events = os.read(watcher, 4096)
            masks = {mask for _, mask, _, _ in struct.iter_unpack("iIII", events)}  # events of a watched file have no name
            self.assertEqual(masks, {close_nowrite})


class OpenBy(InspectorCase):
    def openers(self, path, **more):
        return {by["pid"]: (by["command"], by["mode"]) for by in self.json(path, **more)["open_by"] or []}

    def test_a_reader_is_named_with_its_command(self):
        path = self.make()
        with open("/proc/self/comm") as file:
            command = file.read().rstrip("\n")
        with open(path, "rb"):
            self.assertEqual(self.openers(path), {os.getpid(): (command, "reading")})
            self.assertRegex(self.text(path), rf"(?m)^  {os.getpid()}  {re.escape(command)}  reading$")

    def test_one_descriptor_for_writing_makes_a_writer(self):
        path = self.make()
        with open(path, "rb"), open(path, "r+b"), open(path, "rb"):
            self.assertEqual([mode for _, mode in self.openers(path).values()], ["writing"])
        with open(path, "ab"):
            self.assertEqual([mode for _, mode in self.openers(path).values()], ["writing"])

    def test_a_mapping_whose_descriptor_is_closed_counts(self):
        path = self.make()
        read, both = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
        for flags, protection, sharing, mode in ((os.O_RDONLY, read, mmap.MAP_SHARED, "reading"),
                                                 (os.O_RDWR, both, mmap.MAP_SHARED, "writing"),
                                                 (os.O_RDONLY, both, mmap.MAP_PRIVATE, "reading")):
            with mapped(path, flags, protection, sharing):
                if not maps_shows(path):
                    self.skipTest("this filesystem shows another device in maps")
                self.assertEqual([found for _, found in self.openers(path).values()], [mode])
        self.assertEqual(self.openers(path), {})

    def test_a_descriptor_that_only_holds_the_name_is_not_open(self):
        path = self.make()
        descriptor = os.open(path, os.O_PATH)
        self.addCleanup(os.close, descriptor)
        self.assertEqual(self.openers(path), {})

    def test_another_name_of_the_file_is_the_same_file(self):
        path = self.make()
        os.link(path, self.path("other"))
        with open(self.path("other"), "rb"):
            self.assertEqual(set(self.openers(path)), {os.getpid()})

    def test_processes_that_end_meanwhile_do_no_harm(self):
        # Once, reading /proc/PID/maps of a process that had just ended (ESRCH) was an exception, and exit 3.
        path = self.make()
        children = ("import os, random, time\nrandom.seed(1)\nwhile True:\n  for _ in range(20):\n    if os.fork() == 0:\n"
                    "      time.sleep(random.random() / 200)\n      os._exit(0)\n  for _ in range(20): os.wait()")
        self.addCleanup(self.end, subprocess.Popen([sys.executable, "-S", "-c", children]))
        for _ in range(100):
            self.json(path)

    def test_a_command_with_escape_sequences_does_not_reach_the_terminal(self):
        path = self.make()
        command = b"\x1b[31m\xff\nx\xe2\x80\xae"
        child = subprocess.Popen(
            [sys.executable, "-c",
             "import ctypes, sys; file = open(sys.argv[1], 'rb'); ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[2]));"
             "print('ready', flush=True); sys.stdin.read()", path, command.hex()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, child)
        self.assertEqual(child.stdout.readline(), b"ready\n")
        for locale, shown in (("C.UTF-8", "\\x1b[31m\\xff\\nx\\u{202e}"), ("C", "\\x1b[31m\\xff\\nx\\u{202e}")):
            self.assertIn(f"{child.pid}  {shown}  reading", self.text(path, environment={"LC_ALL": locale}))
        by, = self.json(path)["open_by"]
        self.assertEqual((by["command"], bytes.fromhex(by["command_bytes"])), (None, command))

    @staticmethod
    def processes():
        """Returns the number of processes with a program, and that of kernel threads."""
        found = {True: 0, False: 0}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                os.readlink(f"/proc/{process}/exe")
                found[True] += 1
            except PermissionError:
                found[True] += 1
            except FileNotFoundError:
                found[False] += os.path.exists(f"/proc/{process}")
        return found[True], found[False]

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be somebody else")
    def test_processes_of_others_are_counted_and_never_called_nobody(self):
        path = self.make("--capacity", "10", "--mode", "0644")
        os.chmod(self.folder, 0o755)
        self.writer(path)
        program = shutil.copy(BFINSPECT, self.path("bfinspect"))
        os.chmod(program, 0o755)
        with open(path, "rb"):  # root has it open, and another user cannot look at root's processes
            found = self.json(path, program=program, user=65534, group=65534, extra_groups=[])
            page = self.text(path, program=program, user=65534, group=65534, extra_groups=[])
        self.assertEqual((found["open_by"], found["open_by_complete"]), (None, False))
        undumpable = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); sys.stdin.read()"  # PR_SET_DUMPABLE
        with subprocess.Popen([sys.executable, "-c", undumpable], cwd="/", user=65534, group=65534, extra_groups=[], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as own:
            own.stdout.readline()
            of_both = self.text(path, program=program, user=65534, group=65534, extra_groups=[])
            own.communicate()
        self.assertRegex(of_both, r"\d+ of this user \(the system\s+forbids\s+to\s+look: ")
        with_program, kernel_threads = self.processes()
        self.assertGreaterEqual(found["processes_not_looked_at"], 1)
        if kernel_threads > 20:  # kernel threads hold no files and do not count; a container has none
            self.assertLess(found["processes_not_looked_at"], with_program + kernel_threads / 2)
        self.assertRegex(page, r"Not seen: \d+ of\s+(an)?other users?\s+\(root\s+may\s+see\s+more\)")
        self.assertNotRegex(page, r"(?m)^  no process$")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_processes_outside_a_container_are_never_called_nobody(self):
        path = self.make()
        inside = ["unshare", "--pid", "--fork", "--mount-proc", BFINSPECT, "--json", path]
        done = subprocess.run(inside, capture_output=True, timeout=600)
        if done.returncode != 0:
            self.skipTest("no new PID namespace: " + done.stderr.decode())
        self.assertIn(b'"open_by": null', done.stdout)
        self.assertIn(b'"open_by_complete": false', done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)

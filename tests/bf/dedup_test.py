"""bf dedup: each new line once, by several processes, across kills, and again after its window."""
import itertools
import os
import re
import signal
import unittest

from bf_case import STEPS_APART, SURE, BfCase, preloaded

# All keys come in one epoch, which has an eighth of the bits: so the rate keeps its promise.
WINDOW = ["--capacity", "20000", "--fpr", "0.0000001", "--seed", "7", "--window", "24h"]
EPOCHS = 8
LINES = b"".join(b"line %d\n" % i for i in range(1000))


class Dedup(BfCase):
    def test_each_line_is_printed_once_the_first_time(self):
        for making in (SURE, WINDOW, [*SURE, "--layout", "counting"]):
            for how in ([], ["--at-least-once"]):
                with self.subTest(making=making, how=how):
                    self.assertEqual(self.good("dedup", "f", "--create", *making, *how, input=b"b\na\nb\nc\na\n"), b"b\na\nc\n")
                    self.assertEqual(self.good("dedup", "f", *how, input=b"c\nd\nc\n"), b"d\n")
                    self.assertEqual(self.good("dedup", "f", *how, "d", "e", "e"), b"e\n")
                    self.assertEqual(self.good("dedup", "f", *how, "-0", input=b"e\0x\ny\0x\ny\0"), b"x\ny\0")
                    self.assertEqual(self.good("contains", "f", "a", "z"), b"maybe\ta\nabsent\tz\n")
                    os.unlink(self.path("f"))

    def test_a_line_comes_again_after_its_window_and_with_refresh_only_if_it_stayed_away(self):
        self.good("create", "f", "-q", *WINDOW)
        self.good("create", "kept", "-q", *WINDOW)
        for epoch in range(2 * EPOCHS):
            self.assertEqual(self.good("dedup", "f", "a"), b"a\n" if epoch % EPOCHS == 0 else b"", epoch)
            self.assertEqual(self.good("dedup", "kept", "--refresh", "a"), b"a\n" if epoch == 0 else b"", epoch)
            for name in ("f", "kept"):
                self.good("turn", name, "--now", "-q")
        for _ in range(EPOCHS):
            self.good("turn", "kept", "--now", "-q")
        self.assertEqual(self.good("dedup", "kept", "--refresh", "a"), b"a\n")

    def test_processes_that_share_a_file_print_each_line_once(self):
        self.good("create", "f", "-q", *WINDOW)
        processes = [self.spawn("dedup", "f") for _ in range(4)]
        for process in processes:  # all have begun before one is fed
            process.stdin.write(b"first\n")
            process.stdin.flush()
        printed = b"".join(process.communicate(LINES)[0] for process in processes)
        self.assertEqual([process.returncode for process in processes], [0] * 4)
        self.assertEqual(sorted(printed.splitlines()), sorted((b"first\n" + LINES).splitlines()))

    def test_after_a_kill_at_any_step_a_line_is_printed_at_most_once_or_at_least_once_as_chosen(self):
        self.write("lines", LINES)
        lines = LINES.splitlines()
        for how in ([], ["--at-least-once"]):
            met = set()
            for call, done in self.outputs_killed_at_each_step("dedup", "f", "--from", "lines", *how):
                self.recover()
                before, after = done.splitlines(), self.good("dedup", "f", "--from", "lines", *how).splitlines()
                met.add((bool(before), bool(after)))
                if how:
                    self.assertEqual(set(before) | set(after), set(lines), call)
                else:
                    self.assertEqual(len(set(before) | set(after)), len(before) + len(after), call)
            self.assertLessEqual({(False, True), (True, False)}, met)

    def outputs_killed_at_each_step(self, *command):
        """Kills the command at each of its steps, each time with a new file. Yields the call, and what was printed."""
        for step in itertools.count(1, STEPS_APART):
            self.good("create", "f", "-q", *WINDOW)
            done = self.run_bf(*command, env=preloaded("KILL_LIBRARY", KILL_AT=str(step), KILL_SIGNAL=str(int(signal.SIGKILL))))
            call = done.stderr.split(b"\n")[0].decode() or None
            self.assertEqual(done.returncode, -signal.SIGKILL if call else 0, done.stderr)
            yield call, done.stdout
            os.unlink(self.path("f"))
            if call is None:
                return

    def recover(self):
        """A process that was killed while it synced leaves an unclean file. Its bits are all there: no power was cut."""
        if self.run_bf("contains", "f", "x").returncode == 2:
            self.good("recover", "f", "--accept-loss", "-q")

    # Nothing was said, and most of the new lines were taken for old ones.
    # It was ignored.
    def test_refresh_without_a_window_is_refused_and_makes_no_file(self):
        self.good("create", "f", "-q", "-n", "10")
        before = self.files()
        self.refused("dedup", "f", "a", "--refresh", says=["f: has no window, so a line that was seen stays seen", "Leave --refresh out", "--create makes with --window TIME."])
        self.good("contains", "f", "a", code=1)
        self.refused("dedup", "new", "a", "--refresh", "--create", "-n", "10", says=["dedup: --refresh is for a filter with a window", "Give --window TIME"])
        self.assertEqual(self.files(), before)
        self.assertEqual(self.good("dedup", "new", "a", "--refresh", "--create", "-n", "10", "--window", "1h"), b"a\n")
        self.assertEqual(self.good("dedup", "new", "a", "b", "--refresh", "--create", "-n", "10"), b"b\n")
        self.assertEqual(self.good("dedup", "alike", "a", "--refresh", "--create", "--like", "new"), b"a\n")

    def test_lines_before_one_that_is_none_are_printed_because_they_would_not_come_again(self):
        # 8,192 lines were added and not printed. The list was mended, and bf took them for old ones.
        good = b"".join(b"%06d\n" % i for i in range(10_000))
        for bad, options, says in ((b"a\r\n", [], b"some lines end in CR LF and others in LF"), (b"a\0b\n", [], b"is a NUL"),
                                   (b"zz\n", ["--key-form", "hex"], b"has not the form")):
            self.write("list", good + bad)
            self.good("create", "f", "-q", "-n", "100000", "-p", "1e-6", "--force", *(["--key-form", "hex"] if options else []))
            done = self.run_bf("dedup", "f", *options, "--from", "list")
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
            read = int(re.search(rb"Before that ([0-9,]+) lines were read, and the new ones of these are printed\.\n", done.stderr)[1].replace(b",", b""))
            self.assertGreater(read, 4000)
            self.write("list", good)
            again = self.good("dedup", "f", *options, "--from", "list")
            self.assertEqual(sorted((done.stdout + again).split()), sorted(good.split()))

    def test_an_overfull_filter_is_named_once_and_a_window_by_its_rate_of_now(self):
        for making in (["--seed", "7"], ["--seed", "7", "--window", "24h"]):
            for how in ([], ["--at-least-once"]):
                with self.subTest(making=making, how=how):
                    self.good("dedup", "f", "--create", "-n", "100", *making, *how, "a")
                    done = self.run_bf("dedup", "f", *how, input=LINES)
                    self.assertEqual(done.returncode, 0)
                    if not how:
                        self.assertLess(len(done.stdout.splitlines()), 900)
                    self.assert_warning(done.stderr, says=["f: ", "its false-positive rate is about" if "--window" in making else "holds more than the ",
                                                             "More and more new lines are taken for lines that were seen, and are not printed. "])
                    self.assert_warning(self.run_bf("dedup", "f", *how, "x").stderr, says="More and more new lines")
                    if "--window" in making:
                        for _ in range(EPOCHS):
                            self.good("turn", "f", "--now", "-q")
                        self.good("dedup", "f", *how, "x")
                    os.unlink(self.path("f"))

    def test_an_add_of_keys_to_a_window_whose_keys_expired_is_no_complaint(self):
        self.good("create", "f", "-q", "-n", "100", "--window", "24h", "--seed", "7")
        for epoch in range(4 * EPOCHS):
            self.good("add", "f", "-q", *[f"{epoch} {i}" for i in range(13)])
            self.good("turn", "f", "--now", "-q")
        self.assertIn('"overfull": false', self.good("inspect", "--json", "f").decode())
        done = self.run_bf("add", "f", *map(str, range(1000)))
        self.assert_warning(done.stderr, says="its false-positive rate is about ")
        self.assertIn('"overfull": true', self.run_bf("inspect", "--json", "f").stdout.decode())

    def test_lines_that_a_failed_output_loses_are_counted(self):
        self.good("create", "f", "-q", *SURE)
        self.good("create", "g", "-q", *SURE)
        for name, how, says in (("f", [], "1,000 lines were added to f and not printed, and will not come again."),
                                ("g", ["--at-least-once"], "No line is lost: give the list again")):
            with open("/dev/full", "wb") as full:
                done = self.spawn("dedup", name, *how, stdout=full)
                said = done.communicate(LINES)[1]
            self.assertEqual(done.returncode, 2)
            self.assert_complaint(said, says=["standard output: cannot write: No space left on device. Free some space, or use another disk. " + says])
        self.assertEqual(self.good("dedup", "f", input=LINES), b"")
        self.assertEqual(self.good("dedup", "g", input=LINES), LINES)

    def test_a_filter_in_doubt_swallows_no_line(self):
        self.good("create", "f", "-q", "--filling", *WINDOW)
        done = self.run_bf("dedup", "f", input=b"a\n")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assert_complaint(done.stderr, says=["f: ", "after 0 lines", "bf finish-filling f. Give the rest again"])
        self.refused("dedup", "none", "a", says="none: no such file")
        self.refused("dedup", "f", "--from", "f", says="f: is a bfstore filter, and not a list of keys")
        self.refused("dedup", "f", "--from", "f", "--binary", says="is the filter itself")


if __name__ == "__main__":
    unittest.main(verbosity=2)

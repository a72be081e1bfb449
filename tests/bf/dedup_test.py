"""bf dedup: each new line once, by several processes, across kills, and again after its window."""
import itertools
import os
import signal
import unittest

from bf_case import STEPS_APART, SURE, BfCase, preloaded

WINDOW = [*SURE, "--window", "24h"]
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
            self.good("recover", "f", "--no-keys", "-q")

    def test_a_filter_in_doubt_swallows_no_line(self):
        self.good("create", "f", "-q", "--filling", *WINDOW)
        done = self.run_bf("dedup", "f", input=b"a\n")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assert_complaint(done.stderr, says=["f: ", "after 0 lines"])
        self.refused("dedup", "none", "a", says="none: no such file")
        self.refused("dedup", "f", "--from", "f", says="is the filter itself")


if __name__ == "__main__":
    unittest.main()

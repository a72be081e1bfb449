"""bf --lock-timeout: its values, and how long each command that writes or replaces waits for another process.

The times are those of the clock of tests/support/virtual_clock.h.
"""
import fcntl
import os
import signal
import struct
import sys

from bf_case import BfCase, main

STATE_LOCK = 1 << 62  # FORMAT.md, "Locks"
LOCKERS = {"create": ("f", "--capacity", "10", "--force"), "build": ("f", "--from", "keys", "--force"),
           "add": ("f", "key"), "recover": ("f", "--accept-loss"), "seal": ("g", "f", "--force"),
           "merge": ("f", "g", "--into"), "copy": ("g", "f", "--force"),
           "fold": ("g", "f", "--force", "--to-fpr", "0.5"), "intersect": ("f", "g", "--force"), "clear": ("f", "--force")}
MILLISECOND, SECOND = 10**6, 10**9
POLL = MILLISECOND // 2


class LockTimeout(BfCase):
    def setUp(self):
        super().setUp()
        self.write("keys", b"one\ntwo\n")
        for name in ("f", "g"):
            self.good("create", name, "--capacity", "100", "--seed", "7", "-q")

    def hold(self):
        """Holds the lock of a process that replaces the file, and never ends."""
        fd = os.open(self.path("f"), os.O_RDWR)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, STATE_LOCK, 1, 0))
        return fd

    def clock(self, **more):
        """Returns the environment in which bf has the clock."""
        more["file"] = self.path("clock")
        variables = {"VIRTUAL_CLOCK_" + name.upper(): str(value) for name, value in more.items()}
        return {**os.environ, **variables, "LD_PRELOAD": os.environ["VIRTUAL_CLOCK_MODULE"],
                "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def slept(self):
        with open(self.path("clock"), "rb") as file:
            return int.from_bytes(file.read(), sys.byteorder)

    def waited(self, command, *options):
        return self.waited_by(command, *LOCKERS[command], *options)

    def waited_by(self, *args):
        """Returns how long, in nanoseconds, a command waits until it fails as busy. The message must have the time that was over."""
        done = self.run_bf(*args, env=self.clock())
        self.assertEqual((done.returncode, done.stdout), (2, b""), done)
        self.assertIn(b"locks the file", done.stderr)
        timeout = args[-1] if args[-2] == "--lock-timeout" else "5000"
        self.assertIn(b" within %s ms" % {"none": "0"}.get(timeout, timeout).encode(), done.stderr)
        return self.slept()

    def stopped(self, *args, **clock):
        """Starts a bf that stops itself at a time of the clock."""
        process = self.spawn(*args, env=self.clock(**clock))
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]), process)
        return process

    def assert_ends_well(self, process):
        process.send_signal(signal.SIGCONT)
        self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))

    def test_values_that_are_no_time(self):
        for command in LOCKERS:
            for bad in ("", "0", "-1", "+1", "1.5", "5s", " 5", "5 ", "0x10", "None", "FOREVER", "for ever", "nonesuch",
                        "4294967295", "4294967296", "18446744073709551617", "1\n"):
                self.refused(command, *LOCKERS[command], "--lock-timeout=" + bad,
                             says=["--lock-timeout: '", "is not none, forever, or a whole number from 1 to 4294967294"])
            self.refused(command, *LOCKERS[command], "--lock-timeout", says="--lock-timeout needs a value")
        for command in ("contains", "verify", "compare"):
            self.refused(command, "f", "--lock-timeout", "5", says="--lock-timeout")

    def test_values_that_are_one_change_nothing_where_no_process_has_the_file(self):
        for command in LOCKERS:
            for good in ("none", "forever", "1", "4294967294"):
                self.good("create", "f", "--capacity", "100", "--seed", "7", "-q", "--force")
                self.good(command, *LOCKERS[command], "--lock-timeout", good)

    def test_every_command_that_writes_or_replaces_waits_so_long(self):
        self.addCleanup(os.close, self.hold())
        for command in LOCKERS:
            for timeout, milliseconds in (("none", 0), ("1", 1), ("900", 900), ("9000", 9000)):
                with self.subTest(command, timeout=timeout):
                    late = self.waited(command, "--lock-timeout", timeout) - milliseconds * MILLISECOND
                    self.assertTrue(0 <= late < POLL, late)

    def test_an_add_of_a_file_of_keys_waits_once_for_both_ways_to_open(self):  # exclusively first; it once waited twice
        self.addCleanup(os.close, self.hold())
        for timeout, milliseconds in (("none", 0), ("900", 900)):
            late = self.waited_by("add", "f", "--from", "keys", "--lock-timeout", timeout) - milliseconds * MILLISECOND
            self.assertTrue(0 <= late < POLL, late)

    def test_without_a_time_it_is_five_seconds_and_a_minute_where_bf_adds(self):
        self.addCleanup(os.close, self.hold())
        for command in LOCKERS:
            with self.subTest(command):
                late = self.waited(command) - (60 if command == "add" else 5) * SECOND
                self.assertTrue(0 <= late < (6 * SECOND if command == "add" else POLL), late)

    def test_add_says_what_it_waits_for(self):  # it does not call each lock an exclusive writer's
        fd = self.hold()
        process = self.stopped("add", "f", "key", stop_at=5001 * MILLISECOND)
        os.set_blocking(process.stderr.fileno(), False)
        said = process.stderr.read()
        os.close(fd)
        self.assertRegex(said or b"", rb"^bf: waiting for (process \d+ \(\S+\)|another process) to unlock f, up to 60 s\n$")
        self.assert_ends_well(process)

    def test_forever_is_until_the_lock_is_free_after_ten_minutes_too(self):
        for command in LOCKERS:
            with self.subTest(command):
                self.good("create", "f", "--capacity", "100", "--seed", "7", "-q", "--force")
                fd = self.hold()
                process = self.stopped(command, *LOCKERS[command], "--lock-timeout", "forever",
                                       stop_at=600 * SECOND, least_sleep=SECOND)
                os.close(fd)
                self.assert_ends_well(process)
                self.assertLess(self.slept(), 602 * SECOND)


if __name__ == "__main__":
    main()

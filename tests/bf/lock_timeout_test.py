"""bf --lock-timeout: what it takes, and how long each command that writes or replaces waits for another process."""
import fcntl
import os
import struct
import time

from bf_case import BfCase, main

STATE_LOCK = 1 << 62  # FORMAT.md, "Locks"
LOCKERS = {"create": ("f", "--capacity", "10", "--force"), "build": ("f", "--from", "keys", "--force"),
           "add": ("f", "key"), "recover": ("f", "--accept-loss"), "seal": ("g", "f", "--force"),
           "merge": ("f", "g", "--into"), "copy": ("g", "f", "--force"),
           "fold": ("g", "f", "--force", "--to-fpr", "0.5"), "intersect": ("f", "g", "--force"), "clear": ("f", "--force")}
SOON = 4.5  # seconds: less than the five that are waited without a word, and much on a machine that does other things


class LockTimeout(BfCase):
    def setUp(self):
        super().setUp()
        self.write("keys", b"one\ntwo\n")
        for name in ("f", "g"):
            self.good("create", name, "--capacity", "100", "--seed", "7", "-q")

    def hold(self):
        """As a process that replaces the file, and does not come to an end."""
        fd = os.open(self.path("f"), os.O_RDWR)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, STATE_LOCK, 1, 0))
        return fd

    def timed(self, command, timeout):
        begin = time.monotonic()
        done = self.run_bf(command, *LOCKERS[command], "--lock-timeout", timeout)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done)
        self.assertIn(b"locks the file", done.stderr)
        return time.monotonic() - begin

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
        fd = self.hold()
        self.addCleanup(os.close, fd)
        for command in LOCKERS:
            with self.subTest(command):
                self.assertLess(self.timed(command, "none"), SOON)
                waited = self.timed(command, "900")
                self.assertTrue(0.9 <= waited < SOON, waited)

    def test_add_says_what_it_waits_for(self):  # and not that each lock is an exclusive writer's
        fd = self.hold()
        process = self.spawn("add", "f", "key")
        said = process.stderr.readline()
        os.close(fd)
        self.assertRegex(said, rb"f: another process locks the file.* Waiting for up to a minute\n$")
        self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", 0))

    def test_forever_is_until_the_lock_is_free(self):
        for command in LOCKERS:
            with self.subTest(command):
                self.good("create", "f", "--capacity", "100", "--seed", "7", "-q", "--force")
                fd = self.hold()
                process = self.spawn(command, *LOCKERS[command], "--lock-timeout", "forever")
                time.sleep(0.5)
                self.assertIsNone(process.poll())
                os.close(fd)
                self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", 0))


if __name__ == "__main__":
    main()

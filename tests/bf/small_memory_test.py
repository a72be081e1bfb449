"""How much of a file bf reads if the filter does not fit in the memory of its control group."""
import os

from bf_case import BfCase, main

import control_group  # bf_case makes it found

FILE_BYTES = 64 << 20
LIMIT_BYTES = 24 << 20
KEYS = b"".join(b"asked %d\n" % number for number in range(100))
# Pages of 4 KiB are 0.4 MiB of these, and the program's own pages are few. With read-ahead it is all of the file.
MOST_READ = 16 << 20


class SmallMemory(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", "--capacity", "5M", "--max-bytes", str(FILE_BYTES), "--seed", "1", "--layout", "blocked")
        self.good("add", "f", "-q", "--from", "-", input=b"".join(b"%d\n" % number for number in range(1_000_000)))
        self.write("keys", KEYS)

    def bytes_read(self, *command, enter=None):
        control_group.forget(self.path("f"))
        running = self.spawn(*command, preexec_fn=enter)
        running.stdin.close()
        running.stdout.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(running.returncode, (0, 1), running.stderr.read())
        return used.ru_inblock * 512

    def need_a_disk(self):
        if self.bytes_read("contains", "f", "--copy", "a key") < FILE_BYTES // 2:
            self.skipTest(f"{self.dir} is in memory: nothing of a file there is read from a disk")

    def test_a_file_that_does_not_fit_is_read_in_small_pages(self):
        self.need_a_disk()
        enter = control_group.limited(self, LIMIT_BYTES)
        for command in (["contains", "f", "--count"], ["add", "f", "-q"]):
            with self.subTest(command):
                self.assertLess(self.bytes_read(*command, "--from", self.path("keys"), enter=enter), MOST_READ)

    def test_small_pages_can_be_asked_for(self):
        self.need_a_disk()
        for command in (["contains", "f", "--count"], ["add", "f", "-q"]):
            with self.subTest(command):
                self.assertLess(self.bytes_read(*command, "--small-pages", "--from", self.path("keys")), MOST_READ)


if __name__ == "__main__":
    main()

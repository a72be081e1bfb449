"""bf in a pipe, at a terminal, and when it is interrupted."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import unittest

from bf_case import BF, CLEAN, MORE_THAN_MEMORY, PATIENCE, SURE, BfCase, header, main, preloaded, unread_bytes, waiting


TERMINAL = "the terminal"


def read_all(fd, until=None):
    """Returns what arrives at `fd`, to its end or up to `until`."""
    data = b""
    while until is None or until not in data:
        if not select.select([fd], [], [], PATIENCE)[0]:
            raise AssertionError(f"nothing came after {data[-200:]}")
        try:
            chunk = os.read(fd, 1 << 16)
        except OSError:  # the other end of the terminal is closed
            break
        if not chunk:
            break
        data += chunk
    return data


class Pipes(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "one")

    def test_a_slow_pipe_is_answered_as_it_goes(self):
        asking = self.spawn("contains", "f")
        for keys, answers in [(b"one\n", b"maybe\tone\n"), (b"two\none\n", b"absent\ttwo\nmaybe\tone\n"),
                              (b"\n", b"absent\t\n")]:
            os.write(asking.stdin.fileno(), keys)
            self.assertEqual(read_all(asking.stdout.fileno(), until=answers), answers)
        os.write(asking.stdin.fileno(), b"on")
        self.wait_until_it_reads(asking)
        self.assertEqual(unread_bytes(asking.stdout.fileno()), 0)
        os.write(asking.stdin.fileno(), b"e\n")
        self.assertEqual(read_all(asking.stdout.fileno(), until=b"\n"), b"maybe\tone\n")

    def test_exactly_one_batch_is_answered_at_once(self):
        # Once, a read that exactly filled a batch was answered, but printed only with the next batch.
        for count in [4095, 4096, 4097, 8192]:
            asking = self.spawn("contains", "f", "--absent")
            os.write(asking.stdin.fileno(), b"x\n" * count)
            expected = b"x\n" * count
            self.assertEqual(read_all(asking.stdout.fileno(), until=expected), expected)

    def test_it_works_as_a_filter_between_two_programs(self):
        shell = f"printf 'one\\ntwo\\nthree\\n' | '{BF}' contains f --absent | tr a-z A-Z"
        done = subprocess.run(["sh", "-c", shell], cwd=self.dir, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.stderr), (b"TWO\nTHREE\n", b""))

    def test_a_closed_pipe_ends_quietly(self):
        keys = self.write("keys", b"some key\n" * 300000)
        for disposition in [signal.SIG_DFL, signal.SIG_IGN]:
            asking = self.spawn("contains", "f", "--from", keys, restore_signals=False,
                                preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))
            os.read(asking.stdout.fileno(), 10)
            asking.stdout.close()
            self.assertEqual(asking.wait(timeout=PATIENCE), -signal.SIGPIPE)
            self.assertEqual(asking.stderr.read(), b"")

    def test_a_closed_standard_error_does_not_stop_an_add(self):
        adding = self.spawn("add", "f")
        adding.stderr.close()
        os.write(adding.stdin.fileno(), b"cr\r\nlast\r\n")
        adding.stdin.close()
        self.assertEqual(adding.wait(timeout=PATIENCE), 0)
        self.assertEqual(header(self.path("f"))["state"], CLEAN)
        self.good("contains", "f", "last")

    def test_a_full_disk_under_standard_output_is_an_error(self):
        commands = [["contains", "f", "one"], ["contains", "f", "--count", "one"], ["add", "f", "two"],
                    ["create", "g", "--capacity", "9"], ["build", "h", "--from", "keys"], ["--help"], ["--version"],
                    ["contains", "--help"], ["contains", "f", "--from", "keys"]]
        self.write("keys", b"key\n" * 100000)
        for command in commands:
            self.assert_complaint(self.into_full(*command), says=["standard output: ", "No space left on device. Free some space, or use another disk."])
        self.assertIn(b"What is done: h: built from 100,000 keys", self.into_full("build", "h", "--force", "--from", "keys"))
        self.good("contains", "f", "two")  # it was added all the same
        self.good("create", "c", "-q", "--layout", "counting", "--capacity", "9")
        self.good("add", "c", "-q", "one", "two")
        self.assert_complaint(self.into_full("remove", "c", "one"),
                              says=["What is done: c: 1 key removed", "Do not remove these again."])
        self.assertEqual(self.good("count", "c", "one", "two"), b"0\tone\n1\ttwo\n")

    def into_full(self, *args):
        """Returns bf's complaint when its output goes to a full disk."""
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BF, *args], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, args)
        return done.stderr

    def test_a_closed_standard_output_never_becomes_the_filter(self):
        # With descriptor 1 free, open() would give it to the filter, and the line about success would go into it.
        before = header(self.path("f"))
        done = subprocess.run(["sh", "-c", f"exec '{BF}' add f two >&-"], cwd=self.dir, stderr=subprocess.PIPE,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assert_complaint(done.stderr, says="standard output: cannot write: Bad file descriptor. It is closed: give it a file (> FILE) or a pipe. What is done: ")
        self.assertEqual(header(self.path("f")), dict(before, keys_added=2))
        done = subprocess.run(["sh", "-c", f"exec '{BF}' add f three >&- 2>&- <&-"], cwd=self.dir, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.good("contains", "f", "two", "three")
        done = subprocess.run(["sh", "-c", f"exec '{BF}' contains f <&-"], cwd=self.dir, stderr=subprocess.PIPE,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assert_complaint(done.stderr, says="standard input: cannot read the keys: Bad file descriptor. It is closed: give it a file (< FILE) or a pipe, or name a file (--from PATH).")

    def test_descriptors_that_do_not_block_are_waited_for(self):
        reader, writer = os.pipe2(os.O_NONBLOCK)
        asking = self.spawn("contains", "f", stdin=reader)
        os.close(reader)
        for key in (b"one", b"one"):
            self.wait_until_it_polls(asking)
            os.write(writer, key + b"\n")
            self.assertEqual(read_all(asking.stdout.fileno(), until=b"\n"), b"maybe\tone\n")
        os.close(writer)
        self.assertEqual(asking.wait(timeout=PATIENCE), 0)

    def test_an_output_that_does_not_block_gets_everything(self):
        keys = self.write("keys", b"some key\n" * 100000)
        reader, writer = os.pipe2(os.O_NONBLOCK)
        asking = self.spawn("contains", "f", "--absent", "--from", keys, stdout=writer)
        os.close(writer)
        self.wait_until_it_polls(asking)
        got = read_all(reader)
        os.close(reader)
        self.assertEqual((got, asking.wait(timeout=PATIENCE)), (b"some key\n" * 100000, 1))


@unittest.skipUnless("VIRTUAL_CLOCK_MODULE" in os.environ, "VIRTUAL_CLOCK_MODULE is not set to the library to preload")
class Terminal(BfCase):
    MOMENTS = (0, 999, 1000, 1199, 1200)  # in milliseconds

    def setUp(self):
        super().setUp()
        self.env = preloaded("VIRTUAL_CLOCK_MODULE", VIRTUAL_CLOCK_FILE=self.path("clock"), NO_COLOR="1")

    def set_clock(self, milliseconds):
        """Sets bf's clock (tests/support/virtual_clock.h). bf must be asleep."""
        file = os.open(self.path("clock"), os.O_WRONLY | os.O_CREAT)
        os.pwrite(file, struct.pack("=Q", milliseconds * 1_000_000), 0)
        os.close(file)

    def spawn_at_a_terminal(self, *command, **options):
        """Starts a bf whose standard error is a terminal. Returns bf and the other end."""
        self.set_clock(0)
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        if options.get("stdout") == TERMINAL:
            options["stdout"] = other
        process = self.spawn(*command, stderr=other, env=self.env, **options)
        os.close(other)
        return process, terminal

    def feed(self, process):
        """Sends ten keys at each of these moments."""
        for milliseconds in self.MOMENTS:
            self.wait_until_it_reads(process)
            self.set_clock(milliseconds)
            os.write(process.stdin.fileno(), b"".join(b"%d-%d\n" % (milliseconds, i) for i in range(10)))
        self.wait_until_it_reads(process)

    def commands(self):
        self.good("create", "f", "-q", "--capacity", "20k")
        return [["add", "f"], ["build", "new", "--from", "-", "--force"], ["contains", "f"]]

    def test_progress_shows_on_a_terminal_after_a_second_five_times_a_second_and_goes_away(self):
        for command, word in zip(self.commands(), (b"adding", b"reading", b"asking")):
            process, terminal = self.spawn_at_a_terminal(*command, stdout=subprocess.DEVNULL)
            self.feed(process)
            process.stdin.close()
            lines = b"".join(b"\r\x1b[K%s standard input: %d keys, %d keys/s" % (word, keys, rate) for keys, rate in ((30, 30), (50, 42)))
            self.assertEqual(read_all(terminal), lines + b"\r\x1b[K", command)
            self.assertEqual(process.wait(timeout=PATIENCE), 0, command)

    def test_a_user_at_a_terminal_who_gave_no_keys_is_told_that_bf_waits_for_them(self):
        self.good("create", "f", "-q", "--capacity", "20k")
        for options in ([], ["--binary", "-0"]):
            keyboard, stdin = pty.openpty()
            self.addCleanup(os.close, keyboard)
            process, terminal = self.spawn_at_a_terminal("contains", "f", *options, stdin=stdin, stdout=subprocess.DEVNULL)
            os.close(stdin)
            self.assertEqual(read_all(terminal, until=b"\n"), b"bf: reading keys from the terminal, until Ctrl-D\r\n")
            os.write(keyboard, b"\x04")
            self.assertEqual(process.wait(timeout=PATIENCE), 2)
            self.assertEqual(read_all(terminal), b"bf: standard input: has no keys, so nothing was asked.\r\n")
        process, terminal = self.spawn_at_a_terminal("contains", "f", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        said = b"bf: standard input: has no keys, so nothing was asked.\r\n"
        self.assertEqual((read_all(terminal), process.wait(timeout=PATIENCE)), (said, 2))

    def test_progress_through_a_file_has_a_percentage_a_rate_and_the_time_that_is_left(self):
        self.good("create", "f", "-q", *SURE)
        keys = self.write("keys", b"some key\n" * 500000)
        asking, terminal = self.spawn_at_a_terminal("contains", "f", "--absent", "--from", keys)
        self.wait_until_it_writes(asking, asking.stdout.fileno())
        self.set_clock(10_000_000)
        answers = asking.stdout.read()
        self.assertEqual((asking.wait(timeout=PATIENCE), len(answers)), (1, 9 * 500000))
        said = read_all(terminal)
        shown = re.fullmatch(rb"\r\x1b\[Kasking \S+/keys: ([0-9,]+) keys, (\d+) %, ([0-9,]+) keys/s, (\d+:\d\d:\d\d) left\r\x1b\[K", said)
        self.assertIsNotNone(shown, said)
        asked, rate = (int(shown[i].replace(b",", b"")) for i in (1, 3))
        seconds = 0
        for part in shown[4].split(b":"):
            seconds = seconds * 60 + int(part)
        self.assertLess(abs(rate - asked / 10000), 1)
        most, least = (10000 * (100 - share) / share for share in (int(shown[2]), int(shown[2]) + 1.1))  # a percentage is rounded
        self.assertTrue(least - 1 < seconds < most + 1, said)

    def test_a_pipe_sees_no_progress(self):
        for command in self.commands():
            self.set_clock(0)
            process = self.spawn(*command, stdout=subprocess.DEVNULL, env=self.env)
            self.feed(process)
            self.assertEqual(process.communicate(timeout=PATIENCE)[1], b"", command)

    def test_short_work_shows_no_progress(self):
        process, terminal = self.spawn_at_a_terminal("build", "f", "--from", "-")
        process.communicate(b"a\nb\n", timeout=PATIENCE)
        self.assertEqual((process.returncode, read_all(terminal)), (0, b""))

    def test_answers_on_the_same_terminal_are_not_mixed_with_progress(self):
        self.good("create", "f", "-q", *SURE)
        asking, terminal = self.spawn_at_a_terminal("contains", "f", stdout=TERMINAL)
        self.feed(asking)
        asking.stdin.close()
        answers = b"".join(b"absent\t%d-%d\r\n" % (at, i) for at in self.MOMENTS for i in range(10))
        self.assertEqual(read_all(terminal), answers)


class Interrupts(BfCase):
    SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

    def wait_for_spool(self, process):
        """Waits until bf keeps digests in a file. Returns the link that names the file."""
        spools = []

        def found():
            for fd in os.listdir(f"/proc/{process.pid}/fd"):
                try:
                    spools.append(os.readlink(f"/proc/{process.pid}/fd/{fd}"))
                except FileNotFoundError:
                    continue
                if spools[-1].startswith(self.path("tmp") + "/"):
                    return True
            return False

        self.wait_until(found)
        return spools[-1]

    def test_build_interrupted_while_it_reads_a_pipe_leaves_nothing(self):
        os.mkdir(self.path("tmp"))
        env = dict(os.environ, TMPDIR=self.path("tmp"))
        for number in [*self.SIGNALS, signal.SIGKILL]:
            building = self.spawn("build", "f", "--from", "-", env=env)
            building.stdin.write(MORE_THAN_MEMORY)
            building.stdin.flush()
            self.assertIn("deleted", self.wait_for_spool(building))
            self.assertEqual(os.listdir(self.path("tmp")), [])
            building.send_signal(number)
            self.assertEqual(building.wait(timeout=PATIENCE), -number)
            self.assertEqual((building.stdout.read(), building.stderr.read()), (b"", b""))
            self.assertEqual((self.files(), os.listdir(self.path("tmp"))), (["tmp"], []))

    def test_build_interrupted_while_it_loads_leaves_nothing(self):
        for number in [*self.SIGNALS, signal.SIGKILL]:
            building = self.spawn("build", "f", "--from", "-", "--capacity", "10M")
            os.write(building.stdin.fileno(), b"key\n" * 1000)
            self.wait_until_it_reads(building)
            self.assertEqual(self.files(), [])
            building.send_signal(number)
            self.assertEqual(building.wait(timeout=PATIENCE), -number)
            self.assertEqual((building.stdout.read(), building.stderr.read()), (b"", b""))
            self.assertEqual(self.files(), [])

    def test_an_add_that_is_interrupted_does_not_say_that_keys_were_not_read_when_all_were(self):
        # It said that the rest was not read, and there was none.
        said = set()
        self.write("keys", b"a\nb\n")
        for step in range(1, 60):
            for keys in (["a", "b"], ["--from", "keys"]):
                self.good("create", "f", "--force", "-q", "-n", "100")
                done = self.run_bf("add", "f", *keys, env=preloaded("KILL_LIBRARY", KILL_AT=str(step), KILL_SIGNAL=str(int(signal.SIGTERM))))
                self.assertNotIn(b"the rest was not read", done.stderr)
                if b"2 keys added" in done.stderr:
                    said.add((len(keys[0]), done.stderr.split(b"Interrupted")[1].strip()))
        self.assertEqual(said, {(1, b"after the last key."), (6, b": the rest, if there is any, was not read.")})

    def interrupted_at_each_step(self, *command):
        """Runs `command`, which makes f, with a signal at each of its steps. Yields after each step at which it was already done."""
        before, met = self.files(), set()
        for call, code in self.killed_at_each_step(*command, signals=self.SIGNALS):
            made = os.path.exists(self.path("f"))
            self.assertTrue(made or code != 0, call)
            met.add((made, code != 0))
            if made:
                self.assertEqual(header(self.path("f"))["state"], CLEAN, call)
                yield
                os.unlink(self.path("f"))
            self.assertEqual(self.files(), before, call)
        self.assertEqual(met, {(False, True), (True, True), (True, False)})

    def test_build_interrupted_at_any_moment_leaves_nothing_or_everything(self):
        keys = self.write("keys", b"".join(b"key-%d\n" % i for i in range(20000)))
        for _ in self.interrupted_at_each_step("build", "f", "--from", keys):
            self.assertEqual(self.good("contains", "f", "--count", "--from", keys), b"maybe\t20000\nabsent\t0\n")

    def test_create_interrupted_at_any_moment_leaves_nothing_or_everything(self):
        for _ in self.interrupted_at_each_step("create", "f", "--max-bytes", "1MiB", "--capacity", "100k"):
            self.good("contains", "f", "x", code=1)

    def test_add_interrupted_keeps_its_keys_in_a_clean_file(self):
        for number in self.SIGNALS:
            self.good("create", "f", "-q", "--force", *SURE)
            adding = self.spawn("add", "f")
            os.write(adding.stdin.fileno(), b"first\nhal")
            self.wait_until_it(adding, lambda: header(self.path("f"))["keys_added"] > 0)
            adding.send_signal(number)
            self.assertEqual(adding.wait(timeout=PATIENCE), -number)
            self.assert_complaint(adding.stderr.read(), says=["1 key added", "Interrupted"])
            self.assertEqual(header(self.path("f"))["state"], CLEAN)
            self.assertEqual(self.good("contains", "f", "first", "hal"), b"maybe\tfirst\nabsent\thal\n")

    def test_a_recovery_that_is_interrupted_is_not_over(self):
        # Answering "absent" again, with half of the keys, would be a wrong no.
        self.good("create", "f", "-q", *SURE)
        adding = self.spawn("add", "f")
        os.write(adding.stdin.fileno(), b"lost\n")
        self.wait_until(lambda: header(self.path("f"))["keys_added"] == 1)
        shutil.copyfile(self.path("f"), self.path("unclean"))  # a crash would leave the file so
        adding.communicate(timeout=PATIENCE)
        self.refused("contains", "unclean", "lost", says="bf recover")
        for number in self.SIGNALS:
            recovering = self.spawn("recover", "unclean")
            os.write(recovering.stdin.fileno(), b"first\n")
            self.wait_until_it_reads(recovering)
            recovering.send_signal(number)
            stdout, stderr = recovering.communicate(timeout=PATIENCE)
            self.assertEqual((recovering.returncode, stdout), (-number, b""))
            self.assert_complaint(stderr, says=["unclean: interrupted", "Begin again with all of the keys"])
            self.refused("contains", "unclean", "first", "lost", says="recovery")
        self.good("recover", "unclean", "-q", "first", "lost")
        self.assertEqual(self.good("contains", "unclean", "lost", "x"), b"maybe\tlost\nabsent\tx\n")

    def test_a_second_signal_of_the_same_kind_kills_at_once(self):
        # The end of the input does not end the work: after the last key bf waits for standard output here.
        self.good("create", "f", "-q", *SURE)
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * 4096)
        adding = self.spawn("add", "f", "a key", stdout=writer)
        os.close(writer)
        self.wait_until(lambda: header(self.path("f"))["keys_added"] == 1 and header(self.path("f"))["state"] == CLEAN)
        self.wait_until_it_writes(adding, reader)
        adding.send_signal(signal.SIGTERM)
        self.wait_until_it(adding, lambda: not waiting.has_pending_signals(adding.pid))
        self.wait_until_it_writes(adding, reader)
        adding.send_signal(signal.SIGTERM)
        self.assertEqual(adding.wait(timeout=PATIENCE), -signal.SIGTERM)

    # open(2) of a pipe without a writer began again after the signal: only a second one ended bf, and timeout(1) hung.
    def test_the_first_signal_ends_the_wait_for_a_writer_of_a_named_pipe(self):
        self.good("create", "f", "-q", *SURE)
        os.mkfifo(self.path("pipe"))
        for command in (["add", "f"], ["build", "g"], ["dedup", "f"]):
            for number in self.SIGNALS:
                waits = self.spawn(*command, "--from", "pipe", stdin=subprocess.DEVNULL)
                self.wait_until_it_polls(waits)
                waits.send_signal(number)
                self.assertEqual(waits.wait(timeout=PATIENCE), -number, command)
        self.assertEqual(self.files(), ["f", "pipe"])

    def test_a_named_pipe_is_read_to_its_end_by_a_bf_that_came_before_the_writer(self):
        self.good("create", "f", "-q", *SURE)
        os.mkfifo(self.path("pipe"))
        adds = self.spawn("add", "f", "--from", "pipe", stdin=subprocess.DEVNULL)
        self.wait_until_it_polls(adds)
        with open(self.path("pipe"), "wb", buffering=0) as pipe:
            pipe.write(b"one\n")
            self.wait_until_it(adds, lambda: unread_bytes(pipe.fileno()) == 0)
            pipe.write(b"two\n")
        self.assertEqual(adds.communicate(timeout=PATIENCE), (b"f: 2 keys added (2 of them certainly new)\n", b""))

    def test_an_ignored_signal_stays_ignored(self):
        self.good("create", "f", "-q", *SURE)
        adding = self.spawn("add", "f", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.write(adding.stdin.fileno(), b"first\n")
        self.wait_until_it_reads(adding)
        adding.send_signal(signal.SIGHUP)
        adding.communicate(b"second\n", timeout=PATIENCE)
        self.assertEqual(adding.returncode, 0)
        self.good("contains", "f", "second")


if __name__ == "__main__":
    main()

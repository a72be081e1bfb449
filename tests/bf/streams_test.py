"""bf in a pipe, at a terminal, and when it is interrupted."""
import fcntl
import os
import pty
import select
import shutil
import signal
import subprocess
import time

from bf_case import BF, CLEAN, MORE_THAN_MEMORY, SURE, BfCase, header, main, unread_bytes


def read_for(fd, seconds, until=None):
    """What arrives at `fd` within `seconds`, or up to `until`."""
    data, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and (until is None or until not in data):
        if not select.select([fd], [], [], left)[0]:
            continue
        try:
            chunk = os.read(fd, 1 << 16)
        except OSError:  # the other end of a terminal has gone
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
            self.assertEqual(read_for(asking.stdout.fileno(), 20, until=answers), answers)
        os.write(asking.stdin.fileno(), b"on")
        self.assertEqual(read_for(asking.stdout.fileno(), 0.3), b"")
        os.write(asking.stdin.fileno(), b"e\n")
        self.assertEqual(read_for(asking.stdout.fileno(), 20, until=b"\n"), b"maybe\tone\n")

    def test_exactly_one_batch_is_answered_at_once(self):
        # Once, a read of exactly as many keys as a batch holds was asked, and printed only with the next.
        for count in [4095, 4096, 4097, 8192]:
            asking = self.spawn("contains", "f", "--absent")
            os.write(asking.stdin.fileno(), b"x\n" * count)
            expected = b"x\n" * count
            got = b""
            while len(got) < len(expected):
                chunk = read_for(asking.stdout.fileno(), 20, until=b"\n")
                self.assertNotEqual(chunk, b"", f"{len(got)} of {len(expected)} bytes, then nothing")
                got += chunk
            self.assertEqual(got, expected)

    def test_it_works_as_a_filter_between_two_programs(self):
        shell = f"printf 'one\\ntwo\\nthree\\n' | '{BF}' contains f --absent | tr a-z A-Z"
        done = subprocess.run(["sh", "-c", shell], cwd=self.dir, capture_output=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), (b"TWO\nTHREE\n", b""))

    def test_a_closed_pipe_ends_quietly(self):
        keys = self.write("keys", b"some key\n" * 300000)
        for disposition in [signal.SIG_DFL, signal.SIG_IGN]:
            asking = self.spawn("contains", "f", "--from", keys, restore_signals=False,
                                preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))
            os.read(asking.stdout.fileno(), 10)
            asking.stdout.close()
            self.assertEqual(asking.wait(timeout=60), -signal.SIGPIPE)
            self.assertEqual(asking.stderr.read(), b"")

    def test_a_closed_standard_error_does_not_stop_an_add(self):
        adding = self.spawn("add", "f")
        adding.stderr.close()
        os.write(adding.stdin.fileno(), b"cr\r\nlast\n")
        adding.stdin.close()
        self.assertEqual(adding.wait(timeout=60), 0)
        self.assertEqual(header(self.path("f"))["state"], CLEAN)
        self.good("contains", "f", "last")

    def test_a_full_disk_under_standard_output_is_an_error(self):
        commands = [["contains", "f", "one"], ["contains", "f", "--count", "one"], ["add", "f", "two"],
                    ["create", "g", "--capacity", "9"], ["build", "h", "--from", "keys"], ["--help"], ["--version"],
                    ["contains", "--help"], ["contains", "f", "--from", "keys"]]
        self.write("keys", b"key\n" * 100000)
        for command in commands:
            with open("/dev/full", "wb") as full:
                done = subprocess.run([BF, *command], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 2, command)
            self.assert_complaint(done.stderr, says=["standard output: ", "No space left"])
        self.good("contains", "f", "two")  # was added all the same

    def test_a_closed_standard_output_never_becomes_the_filter(self):
        # With descriptor 1 free, open() would give it to the filter, and the line about success would go into it.
        before = header(self.path("f"))
        done = subprocess.run(["sh", "-c", f"exec '{BF}' add f two >&-"], cwd=self.dir, stderr=subprocess.PIPE,
                              timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assert_complaint(done.stderr, says="standard output: ")
        self.assertEqual(header(self.path("f")), dict(before, keys_added=2))
        done = subprocess.run(["sh", "-c", f"exec '{BF}' add f three >&- 2>&- <&-"], cwd=self.dir, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.good("contains", "f", "two", "three")
        done = subprocess.run(["sh", "-c", f"exec '{BF}' contains f <&-"], cwd=self.dir, stderr=subprocess.PIPE,
                              timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assert_complaint(done.stderr, says="standard input: ")

    def test_descriptors_that_do_not_block_are_waited_for(self):
        asking = self.spawn("contains", "f")
        for pipe in (asking.stdin, asking.stdout):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETFL, fcntl.fcntl(pipe.fileno(), fcntl.F_GETFL) | os.O_NONBLOCK)
        reader, writer = os.pipe2(os.O_NONBLOCK)
        slow = subprocess.Popen([BF, "contains", "f"], cwd=self.dir, stdin=reader, stdout=subprocess.PIPE)
        self.addCleanup(self.reap, slow)
        time.sleep(0.2)
        os.write(writer, b"one\n")
        self.assertEqual(read_for(slow.stdout.fileno(), 20, until=b"\n"), b"maybe\tone\n")
        os.close(writer)
        os.close(reader)
        self.assertEqual(slow.wait(timeout=60), 0)

    def test_an_output_that_does_not_block_gets_everything(self):
        keys = self.write("keys", b"some key\n" * 100000)
        reader, writer = os.pipe2(os.O_NONBLOCK)
        asking = subprocess.Popen([BF, "contains", "f", "--absent", "--from", keys], cwd=self.dir, stdout=writer)
        self.addCleanup(self.reap, asking)
        os.close(writer)
        time.sleep(0.2)
        got = b""
        while chunk := read_for(reader, 20, until=b"\n"):
            got += chunk
        os.close(reader)
        self.assertEqual((got, asking.wait(timeout=60)), (b"some key\n" * 100000, 1))


class Terminal(BfCase):
    def slow_run(self, *args, tty_stderr):
        """Standard error of a run whose input takes two seconds."""
        if tty_stderr:
            terminal, other = pty.openpty()
            process = self.spawn(*args, stderr=other, stdout=subprocess.DEVNULL)
            os.close(other)
        else:
            process = self.spawn(*args, stdout=subprocess.DEVNULL)
            terminal = os.dup(process.stderr.fileno())
        for i in range(10):
            process.stdin.write(b"".join(b"%d-%d\n" % (i, j) for j in range(1200)))
            process.stdin.flush()
            time.sleep(0.2)
        process.stdin.close()
        seen = read_for(terminal, 60)
        os.close(terminal)
        self.assertEqual(process.wait(timeout=60), 0)
        return seen

    def commands(self):
        self.good("create", "f", "-q", "--capacity", "20k")
        return [["add", "f"], ["build", "new", "--from", "-", "--force"], ["contains", "f"]]

    def test_progress_of_long_work_shows_on_a_terminal_and_goes_away(self):
        for command in self.commands():
            seen = self.slow_run(*command, tty_stderr=True)
            self.assertRegex(seen, rb"\r\x1b\[K(adding|reading|asking) standard input: [0-9.,]+ (keys|KiB)", command)
            self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)
            self.assertNotIn(b"\n", seen)

    def test_progress_through_a_file_has_a_percentage(self):
        self.good("create", "f", "-q", *SURE)
        keys = self.write("keys", b"some key\n" * 500000)
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        asking = self.spawn("contains", "f", "--absent", "--from", keys, stderr=other)
        os.close(other)
        time.sleep(1.2)  # its output is full meanwhile
        answers = asking.stdout.read()
        self.assertEqual((asking.wait(timeout=60), len(answers)), (1, 9 * 500000))
        seen = read_for(terminal, 20)
        self.assertRegex(seen, rb"asking \S+/keys: [0-9,]+ keys, \d+ %")
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)

    def test_a_pipe_sees_no_progress(self):
        for command in self.commands():
            self.assertEqual(self.slow_run(*command, tty_stderr=False), b"", command)

    def test_short_work_shows_no_progress(self):
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        done = subprocess.run([BF, "build", "f", "--from", "-"], cwd=self.dir, input=b"a\nb\n",
                              stdout=subprocess.PIPE, stderr=other, timeout=60)
        os.close(other)
        self.assertEqual((done.returncode, read_for(terminal, 1)), (0, b""))

    def test_answers_on_the_same_terminal_are_not_mixed_with_progress(self):
        self.good("create", "f", "-q", *SURE)
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        asking = self.spawn("contains", "f", stdout=other, stderr=other)
        os.close(other)
        for _ in range(8):
            os.write(asking.stdin.fileno(), b"x\n")
            time.sleep(0.2)
        asking.stdin.close()
        self.assertEqual(read_for(terminal, 20), b"absent\tx\r\n" * 8)


class Interrupts(BfCase):
    SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

    def wait_for_spool(self, process):
        """Until bf keeps digests in a file; the link that names it."""
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
            self.assertEqual(building.wait(timeout=60), -number)
            self.assertEqual((building.stdout.read(), building.stderr.read()), (b"", b""))
            self.assertEqual((self.files(), os.listdir(self.path("tmp"))), (["tmp"], []))

    def test_build_interrupted_while_it_loads_leaves_nothing(self):
        for number in [*self.SIGNALS, signal.SIGKILL]:
            building = self.spawn("build", "f", "--from", "-", "--capacity", "10M")
            os.write(building.stdin.fileno(), b"key\n" * 1000)
            time.sleep(0.3)
            self.assertEqual(self.files(), [])
            building.send_signal(number)
            self.assertEqual(building.wait(timeout=60), -number)
            self.assertEqual((building.stdout.read(), building.stderr.read()), (b"", b""))
            self.assertEqual(self.files(), [])

    def interrupted_at_any_moment(self, *command):
        """`command`, which makes f, with a signal at another moment each; yields where it was done before. Both have to
        happen. The moments go round, because on a busy machine a signal can come too late however early it is sent."""
        before, met, begin = self.files(), set(), time.monotonic()
        self.assertEqual(self.spawn(*command).wait(timeout=60), 0)
        whole = time.monotonic() - begin
        os.unlink(self.path("f"))
        for attempt in range(400):
            if attempt >= 40 and len(met) == 2:
                break
            running = self.spawn(*command)
            time.sleep(whole * (attempt % 20) / 15)
            number = self.SIGNALS[attempt % 3]
            running.send_signal(number)
            code = running.wait(timeout=60)
            self.assertIn(code, (0, -number))
            made = os.path.exists(self.path("f"))
            self.assertTrue(made or code != 0)
            met.add(made)
            if made:
                self.assertEqual(header(self.path("f"))["state"], CLEAN)
                yield
                os.unlink(self.path("f"))
            self.assertEqual(self.files(), before)
        self.assertEqual(met, {False, True})

    def test_build_interrupted_at_any_moment_leaves_nothing_or_everything(self):
        keys = self.write("keys", b"".join(b"key-%d\n" % i for i in range(200000)))
        for _ in self.interrupted_at_any_moment("build", "f", "--from", keys):
            self.assertEqual(self.good("contains", "f", "--count", "--from", keys), b"maybe\t200000\nabsent\t0\n")

    def test_create_interrupted_at_any_moment_leaves_nothing_or_everything(self):
        for _ in self.interrupted_at_any_moment("create", "f", "--max-bytes", "256MiB", "--capacity", "100M"):
            self.good("contains", "f", "x", code=1)

    def test_add_interrupted_keeps_its_keys_in_a_clean_file(self):
        for number in self.SIGNALS:
            self.good("create", "f", "-q", "--force", *SURE)
            adding = self.spawn("add", "f")
            os.write(adding.stdin.fileno(), b"first\nhal")
            while header(self.path("f"))["keys_added"] == 0:
                self.assertIsNone(adding.poll())
            adding.send_signal(number)
            self.assertEqual(adding.wait(timeout=60), -number)
            self.assert_complaint(adding.stderr.read(), says=["1 key added", "Interrupted"])
            self.assertEqual(header(self.path("f"))["state"], CLEAN)
            self.assertEqual(self.good("contains", "f", "first", "hal"), b"maybe\tfirst\nabsent\thal\n")

    def test_a_recovery_that_is_interrupted_is_not_over(self):
        # Answering "absent" again, with half of the keys, would be a wrong no.
        self.good("create", "f", "-q", *SURE)
        adding = self.spawn("add", "f")
        os.write(adding.stdin.fileno(), b"lost\n")
        self.wait_until(lambda: header(self.path("f"))["keys_added"] == 1)
        shutil.copyfile(self.path("f"), self.path("unclean"))  # as a crash would leave it
        adding.communicate(timeout=60)
        self.refused("contains", "unclean", "lost", says="bf recover")
        for number in self.SIGNALS:
            recovering = self.spawn("recover", "unclean")
            os.write(recovering.stdin.fileno(), b"first\n")
            self.wait_until(lambda: unread_bytes(recovering.stdin.fileno()) == 0)
            recovering.send_signal(number)
            stdout, stderr = recovering.communicate(timeout=60)
            self.assertEqual((recovering.returncode, stdout), (-number, b""))
            self.assert_complaint(stderr, says=["unclean: interrupted", "Begin again with all of the keys"])
            self.refused("contains", "unclean", "first", "lost", says="recovery")
        self.good("recover", "unclean", "-q", "first", "lost")
        self.assertEqual(self.good("contains", "unclean", "lost", "x"), b"maybe\tlost\nabsent\tx\n")

    def test_a_second_signal_of_the_same_kind_kills_at_once(self):
        # Of the long work after the last key the end of the input is no end: here it waits for standard output.
        self.good("create", "f", "-q", *SURE)
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * 4096)
        adding = self.spawn("add", "f", "a key", stdout=writer)
        os.close(writer)
        self.wait_until(lambda: header(self.path("f"))["keys_added"] == 1 and header(self.path("f"))["state"] == CLEAN)
        time.sleep(0.1)
        adding.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        self.assertIsNone(adding.poll())
        adding.send_signal(signal.SIGTERM)
        self.assertEqual(adding.wait(timeout=20), -signal.SIGTERM)

    def test_an_ignored_signal_stays_ignored(self):
        self.good("create", "f", "-q", *SURE)
        adding = self.spawn("add", "f", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.write(adding.stdin.fileno(), b"first\n")
        while header(self.path("f"))["keys_added"] == 0:
            self.assertIsNone(adding.poll())
        adding.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        adding.communicate(b"second\n", timeout=60)
        self.assertEqual(adding.returncode, 0)
        self.good("contains", "f", "second")


if __name__ == "__main__":
    main()

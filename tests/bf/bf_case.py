"""Shared by the tests of bf: running it, reading a filter's header by FORMAT.md, and the look of an error."""
import array
import fcntl
import itertools
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import programs  # found only now
import waiting
from waiting import PATIENCE

BF = os.environ.get("BF", "bf")
SCALE = int(os.environ.get("KEY_SCALE", "1"))
# A test that stops or kills bf at each of its system calls does so at each third of them in a build for a sanitizer (tools/test).
STEPS_APART = max(1, SCALE // 10)
# A filter made with these answers "absent" for every key that was not added, in every run: the seed is fixed.
SURE = ["--capacity", "2000", "--fpr", "0.0000001", "--seed", "7"]


# More keys of a pipe than bf keeps in memory: it writes a part of their digests to a file (tools/bf/kept_digests.hpp).
MORE_THAN_MEMORY = b"key\n" * ((1 << 20) + 1000)


def header(path):
    """The fields of a filter file that bf's options decide."""
    with open(path, "rb") as file:
        page = file.read(16384)
    assert page[:8] == b"\x89BFS\r\n\x1a\n", page[:8]
    layout, hash_, k, m, n, p, seed = struct.unpack_from("<HHIQQdQ", page, 32)
    records_bytes = struct.unpack_from("<I", page, 112)[0]
    note, at = b"", 128
    while at < 128 + records_bytes:
        kind, _, value_bytes = struct.unpack_from("<HHI", page, at)
        if kind == NOTE:
            note = page[at + 8:at + 8 + value_bytes]
        at += 8 + -(-value_bytes // 8) * 8
    slots = [struct.unpack_from("<QI", page, at) for at in (4096, 8192)]
    added = sum(struct.unpack_from("<Q", page, 12288 + 64 + 64 * i)[0] for i in range(32))
    return {"layout": layout, "hash": hash_, "k": k, "m": m, "n": n, "p": p, "seed": seed, "note": note,
            "keys_added": added, "state": max(slots)[1]}


CLEAN, DIRTY = 1, 2
NOTE = 1  # the type of a record


def heed_signals():
    """Tests that run in the background ignore Ctrl-C, and under nohup they ignore a hangup."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def unread_bytes(pipe):
    """Returns how many bytes that were written into a pipe are still there."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def preloaded(variable, **more):
    """Returns the environment of a bf that loads the library named by this variable. `more` is for that library."""
    return {**os.environ, "LD_PRELOAD": os.environ[variable], "ASAN_OPTIONS": "verify_asan_link_order=0", **more}


def without_warnings(stderr):
    """What bf said besides warnings, which -q does not hide."""
    return b"".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(b"bf: warning: "))


class BfCase(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="bf-test-")
        self.program, self.user = BF, {}
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def spawn(self, *args, **options):
        """A running bf with pipes to everything."""
        for name in ("stdin", "stdout", "stderr"):
            options.setdefault(name, subprocess.PIPE)
        options.setdefault("preexec_fn", heed_signals)
        process = subprocess.Popen([BF, *args], cwd=self.dir, **options)
        self.addCleanup(self.reap, process)
        return process

    @staticmethod
    def reap(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass

    def without_privileges(self):
        """Lets bf run as a user that may not read and write everything. It can reach the folder, and its own program."""
        if os.geteuid() != 0:
            return
        os.chmod(self.dir, 0o755)
        self.program = shutil.copy(BF, self.path("bf"))
        os.chmod(self.program, 0o755)
        self.user = {"user": 65534, "group": 65534, "extra_groups": []}

    def run_bf(self, *args, input=b"", **options):
        options.update(self.user)
        return subprocess.run([self.program, *args], cwd=self.dir, input=input, capture_output=True, timeout=PATIENCE, **options)

    def good(self, *args, code=0, **options):
        """Returns bf's output. bf must end with `code` and complain about nothing. With -q it is a step on the way to what is
        tested, and may warn."""
        done = self.run_bf(*args, **options)
        self.assertEqual((done.returncode, without_warnings(done.stderr) if "-q" in args else done.stderr), (code, b""), done)
        return done.stdout

    def refused(self, *args, says=(), **options):
        """Returns bf's line of complaint. bf must end with 2, say all of `says` in one line, and have no output."""
        done = self.run_bf(*args, **options)
        self.assert_complaint(done.stderr, says)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done)
        return done.stderr

    def assert_warning(self, stderr, says=()):
        """A command that does what it was asked to do."""
        self.assertTrue(stderr.startswith(b"bf: warning: "), stderr)
        self.assert_complaint(stderr.replace(b"warning: ", b"", 1), says)

    def assert_complaint(self, stderr, says=()):
        self.assertTrue(stderr.startswith(b"bf: "), stderr)
        self.assertEqual((stderr.count(b"\n"), stderr[-1:]), (1, b"\n"), stderr)
        self.assertFalse(stderr.startswith((b"bf: bf: ", b"bf: warning: ")), stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words.encode(), stderr)

    def wait_until(self, condition):
        waiting.wait_until(condition)

    def wait_until_it(self, process, condition):
        """Waits for the condition, while the process must not end."""
        self.wait_until(lambda: condition() or self.assertIsNone(process.poll(), "ended"))

    def wait_until_it_reads(self, process):
        """Waits until bf has dealt with all of its standard input, and waits for more."""
        pipe = process.stdin.fileno()
        self.wait_until_it(process, lambda: unread_bytes(pipe) == 0 and any(waiting.sleeps_in(process.pid, call, pipe) for call in ("read", "tee")))

    def wait_until_it_writes(self, process, pipe):
        """Waits until bf waits for room in the pipe, of which this is the other end."""
        self.wait_until_it(process, lambda: waiting.sleeps_in(process.pid, "write", pipe))

    def wait_until_it_polls(self, process):
        self.wait_until_it(process, lambda: waiting.sleeps_in(process.pid, "poll"))

    def wait_until_it_slept(self, process, times):
        """Waits until bf has slept that number of times from now on, as it does while it waits for a lock."""
        before = waiting.times_it_slept(process.pid)
        self.wait_until_it(process, lambda: waiting.times_it_slept(process.pid) >= before + times)

    def stopped_at(self, step, *command):
        """Returns a bf that has stopped before the system call with this number, or None if it has no such call and ended well."""
        process = self.spawn(*command, env=preloaded("KILL_LIBRARY", STOP_AT=str(step)))
        ended = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code != os.CLD_STOPPED
        said = process.stderr.readline()
        if ended:
            self.assertEqual((process.wait(), without_warnings(said)), (0, b""))
            return None
        self.assertEqual(said.count(b"\n"), 1)  # the call's name
        return process

    def stopped_where(self, condition, *command, prepare):
        """Returns a bf that has stopped before the first system call at which the condition is true. Calls `prepare` before each
        attempt, because a killed attempt may have left something."""
        for step in itertools.count(1):
            prepare()
            process = self.stopped_at(step, *command)
            self.assertIsNotNone(process, "it was never so")
            if condition():
                return process
            process.kill()
            process.wait()

    def killed_at_each_step(self, *command, signals):
        """Runs a command with one of the signals before its first system call, before a later one, and so on to the last. Yields
        the call's name after each, or None if the command was over before, and bf's exit code."""
        for step, number in zip(itertools.count(1, STEPS_APART), itertools.cycle(signals)):
            done = self.run_bf(*command, env=preloaded("KILL_LIBRARY", KILL_AT=str(step), KILL_SIGNAL=str(int(number))))
            call = done.stderr.split(b"\n")[0].decode() or None
            self.assertIn(done.returncode, (0, -number) if call else (0,), call)
            yield call, done.returncode
            if call is None:
                return

    def files(self):
        return sorted(os.listdir(self.dir))


def main():
    sys.stderr.flush()
    unittest.main(verbosity=2)

"""Shared by the tests of the adapters in capi/engines. A test is a file NAME_test.py next to this one, with unittest's
cases, which begins with engines.arguments() and ends with engines.main(). Its arguments are PLACES, then unittest's, and:

  --kills=N       the length of its campaign, if it has one: a few kills by default
  --seed=N        the seed of all that it draws: 1, or BFSTORE_SEED, by default. --seed=random draws one. It is printed
  --search        looks at random for the mistakes that a test makes on purpose, and not at the step where they are
  --bench         measures for the engine's README

A test says with needs() which programs, files and modules it uses. If one is not on this machine, the test is skipped, and
names the Debian package. Servers are started by Server, on loopback alone, and end with the test by their own process id.

No verdict depends on a clock: a test waits for a condition, and a bound only ends a test that hangs.
"""

import argparse
import atexit
import contextlib
import glob
import importlib.util
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("support", "bindings")]
from languages import tree_of  # found only now

SKIPPED = 77
PATIENCE = 120  # seconds: on a busy machine a server may need more than 30 to start after a kill


# --- What is on this machine ------------------------------------------------------------------------------------------

def missing(what, package):
    skip(f"{what} is not on this machine. Debian's {package} has it")


def unfetched(what):
    skip(f"{what} is not on this machine. tools/setup.sh fetches it")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def needs(programs=(), files=(), modules=()):
    """Skips the test if anything is missing. Each argument is {name: Debian package}. A file's name is a pattern."""
    found = ((programs, shutil.which), (files, glob.glob), (modules, importlib.util.find_spec))
    for names, find in found:
        for name, package in dict(names).items():
            if not find(name):
                missing(name, package)


# For the tests that build the binding of Python.
PYTHON_HEADER = {sysconfig.get_paths()["include"] + "/Python.h": "python3-dev"}


# --- The command line -------------------------------------------------------------------------------------------------

# The root of the repository, libbfstore.a, libbfstore.so, the C compiler, a folder for what is built.
PLACES = ("root", "archive", "library", "cc", "out")


def seed_of(word):
    return time.time_ns() % 2**32 if word == "random" else int(word)  # clock: a seed


def arguments(**defaults):
    """Returns the tree, and the options of the test: --seed and each of `defaults`, which is a flag if its default is False. The
    arguments that stay in sys.argv are for unittest."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for place in PLACES:
        parser.add_argument(place)
    parser.add_argument("--seed", type=seed_of, default=os.environ.get("BFSTORE_SEED") or "1")
    for name, default in defaults.items():
        how = {"action": "store_true"} if default is False else {"type": type(default), "default": default}
        parser.add_argument("--" + name.replace("_", "-"), **how)
    asked, sys.argv[1:] = parser.parse_known_args()
    print(f"--seed={asked.seed}", flush=True)
    tree = tree_of(pathlib.Path(sys.argv[0]).stem, *(getattr(asked, place) for place in PLACES))
    tree.out.mkdir(parents=True, exist_ok=True)
    return tree, asked


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # a timeout ends the servers, too
    unittest.main(verbosity=2)


# --- Places -----------------------------------------------------------------------------------------------------------

def folder():
    """Returns a new folder, which is removed when the test ends."""
    path = tempfile.mkdtemp(prefix="bfstore-")
    atexit.register(shutil.rmtree, path, True)
    return pathlib.Path(path)


_ports = []


def free_port():
    """Returns a port that no other test takes while this one runs: each holds a name for its port, which ends with its process. The
    port is below those that the kernel gives to connections, one of which could take it before the server does."""
    while True:
        port = random.randrange(10000, 32000)
        mine = socket.socket(socket.AF_UNIX)
        with contextlib.closing(socket.socket()) as taken, contextlib.suppress(OSError):
            mine.bind(f"\0bfstore-port-{port}")
            _ports.append(mine)
            taken.bind(("127.0.0.1", port))
            return port
        if mine not in _ports:
            mine.close()


# --- Waiting ----------------------------------------------------------------------------------------------------------

class Deadline:
    """A bound that only ends a hang. It is reached after a long time, of which a test on a busy machine needs a small part, and
    not before so many looks, for the machine itself may have stood still. Before that stderr says for what the test waits:
    meson may end the test first."""

    LONG = 10  # times the patience that a test needs on a machine of its own
    LOOKS = 100

    def __init__(self, what, seconds=PATIENCE):
        self.what, self.seconds, self.looks, self.has_told = what, seconds, 0, False
        self.begin = time.monotonic()  # clock: bounds a hang

    def check(self):
        """Call this after each look that has found nothing."""
        self.looks += 1
        spent = time.monotonic() - self.begin  # clock: bounds a hang
        if spent > self.LONG * self.seconds and self.looks >= self.LOOKS:
            raise TimeoutError(f"{self.what}: not in {self.looks} looks in {spent:.0f} seconds")
        if spent > self.seconds and not self.has_told:
            self.has_told = True
            print(f"has waited {spent:.0f} seconds for {self.what}, and waits on", file=sys.stderr, flush=True)


def wait_until(ready, what, seconds=PATIENCE):
    deadline = Deadline(what, seconds)
    while not ready():
        deadline.check()
        time.sleep(0.02)  # clock: between two looks


def finished(process, what):
    """Waits for the end of a process, and returns what it said."""
    deadline = Deadline(what)
    while True:
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            try:
                deadline.check()
            except TimeoutError:
                process.kill()
                raise


def run(command, **how):
    """Does what subprocess.run does with captured text, with a Deadline as its bound."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
    out, error = finished(process, command[0])
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def joined(process, what):
    """Waits for a process of multiprocessing, and returns its exit code."""
    wait_until(lambda: process.join(0.1) or process.exitcode is not None, what)
    return process.exitcode


def any_moment(rng, seconds):
    """Lets other processes run, to kill one of them anywhere. Nothing may depend on how far it came."""
    time.sleep(rng.uniform(0, seconds))  # clock: no verdict needs it


class Lives:
    """The length of life of processes that are killed at any moment: at most `shortest` seconds, and more until one has done
    some work, as on a busy machine."""

    def __init__(self, shortest):
        self.shortest = self.longest = shortest

    def wait(self, rng):
        any_moment(rng, self.longest)

    def learn(self, has_worked):
        self.longest = max(self.shortest, self.longest / 2) if has_worked else min(1, self.longest * 2)


def go_on(step, count, done, met):
    """Repeats a campaign's step until `done()` is `count`, and then until met() says that the campaign has met its purpose, up to
    ten times as long. It is a fault if that does not happen."""
    while done() < count or not met() and done() < 10 * count:
        step()
    if not met():
        raise AssertionError(f"not met in {done()} kills")


# --- A process that stops itself --------------------------------------------------------------------------------------

def stop_here():
    """Ends in stopped(pid) in the parent of this process; SIGCONT lets this process go on."""
    os.kill(os.getpid(), signal.SIGSTOP)


def stopped(pid):
    """Waits until a child has called stop_here()."""
    status = os.waitpid(pid, os.WUNTRACED)[1]
    if not os.WIFSTOPPED(status):
        raise AssertionError(f"it ended with {status}, and did not stop")


class Server:
    """A process that serves until it is stopped, or the test ends. Its output is in `log`."""

    def __init__(self, command, ready, log, **how):
        self.log = pathlib.Path(log)
        with open(self.log, "ab") as words:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=words,
                                            stderr=subprocess.STDOUT, **how)
        atexit.register(self.kill)
        wait_until(lambda: self._alive() and ready(), command[0])

    def _alive(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"it ended with {self.process.returncode}: {self.log.read_text('utf-8', 'replace')[-2000:]}")
        return True

    def stop(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
        wait_until(lambda: self.process.poll() is not None, "the end of a server")
        return self.process.returncode

    def kill(self):
        return self.stop(signal.SIGKILL)

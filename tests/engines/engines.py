"""What the tests of the adapters in capi/engines share. A test is a file NAME_test.py beside this one, with unittest's
cases, which ends with engines.main(). Its arguments are in `tree`, and then come unittest's.

Where a program or a module that it needs is not on this machine, the test says so with missing(): it is skipped. Servers
are started by Server, on loopback alone, and end with the test by their own process id.
"""

import atexit
import contextlib
import importlib.util
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("support", "bindings")]
from languages import tree_of  # found only now

SKIPPED = 77
PATIENCE = 120  # seconds: on a busy machine a server may need more than 30 to start after a kill


def missing(what):
    print(f"SKIP: {what} is not on this machine")
    sys.exit(SKIPPED)


def needs(programs=(), modules=()):
    for program in programs:
        if not shutil.which(program):
            missing(program)
    for module in modules:
        if importlib.util.find_spec(module) is None:
            missing(f"Python's {module}")


# Arguments: the root of the repository, libbfstore.a, libbfstore.so, the C compiler, a folder for what is built.
def tree():
    words = [sys.argv.pop(1) for _ in range(5)]
    its = tree_of(pathlib.Path(sys.argv[0]).stem, *words)
    its.out.mkdir(parents=True, exist_ok=True)
    return its


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # a timeout ends the servers, too
    unittest.main(verbosity=2)


def folder():
    """A new one, removed when the test ends."""
    path = tempfile.mkdtemp(prefix="bfstore-")
    atexit.register(shutil.rmtree, path, True)
    return pathlib.Path(path)


def free_port():
    """Below the ports that the kernel gives to connections: one of those could take it before the server does."""
    while True:
        with contextlib.closing(socket.socket()) as taken, contextlib.suppress(OSError):
            port = random.randrange(10000, 32000)
            taken.bind(("127.0.0.1", port))
            return port


def wait_until(ready, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not in {seconds} seconds")
        time.sleep(0.02)


class Server:
    """A process that serves until it is stopped, or the test ends. Its words are in `log`."""

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
        return self.process.wait(PATIENCE)

    def kill(self):
        return self.stop(signal.SIGKILL)

"""Makes one mistake in the protocol after the other, and says which test notices it. A mistake that none notices is a
test that is missing.

    tests/mutants.py BUILD [--seconds N] [--from N] [NAME...]

BUILD is a build directory made with -Dmutants=true. The mistakes ("mutants") are the calls of mutant("...") in src/;
BFSTORE_MUTANT in the environment switches one on, in the test programs and in the processes that they start. With
--seconds it begins with the mutant number --from (modulo their number) and, after one at least, stops when that time is
over. Before that every test has to pass without a mutant. Exit code 1: a mutant survived, or a test failed without one.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
HOOK = re.compile(r'\bmutant\(\s*"([^"]*)"\s*\)')
# The programs that know the protocol.
PROGRAM = re.compile(r"store_\w+_test|rooms_(evidence|lock|state)_test")
SKIPPED = 77
MEMORY = "/dev/shm"  # the tests' files, where that is: what a disk would lose is a model there anyway (disk.hpp)
PATIENCE = 10  # a mutant may make a test so many times slower before that counts as killed, as may
LEAST_SECONDS = 15  # this time


def mutants() -> list:
    found = set()
    for path in sorted(SOURCES.rglob("*.[ch]pp")):
        found.update(HOOK.findall(path.read_text("utf-8")))
    return sorted(found)


class Test:
    def __init__(self, meson: dict) -> None:
        self.name = pathlib.Path(meson["cmd"][0]).name
        self.command = [*meson["cmd"], "--abort-after=1"]
        self.environment = meson["env"]
        self.workdir = meson["workdir"]
        self.seconds = 0.0

    def passes(self, mutant: str, timeout: float) -> bool:
        """Whether it ends well in time. Nothing that it started goes on afterwards, and no file of it stays."""
        with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
            os.chmod(folder, 0o755)  # some tests give up their power over files
            return self.passes_in(folder, mutant, timeout)

    def passes_in(self, folder: str, mutant: str, timeout: float) -> bool:
        environment = {**os.environ, **self.environment, "BFSTORE_MUTANT": mutant, "TMPDIR": folder}
        running = subprocess.Popen(self.command, env=environment, cwd=self.workdir, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            code = running.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        running.wait()
        return code in (0, SKIPPED)


def tests_of(build: pathlib.Path) -> list:
    known = json.loads((build / "meson-info" / "intro-tests.json").read_text("utf-8"))
    found = [Test(test) for test in known if PROGRAM.fullmatch(pathlib.Path(test["cmd"][0]).name)]
    return [test for test in found if pathlib.Path(test.command[0]).exists()]


def control(tests: list) -> list:
    """The tests without a mutant, the quickest first; those that fail end everything."""
    failed = []
    for test in tests:
        begin = time.monotonic()
        if not test.passes("", 600):
            failed.append(test.name)
        test.seconds = time.monotonic() - begin
    if failed:
        sys.exit(f"without a mutant these fail: {', '.join(failed)}")
    return sorted(tests, key=lambda test: test.seconds)


def killer_of(mutant: str, tests: list) -> str:
    """The first test that notices, and is content again without the mutant; empty if none does."""
    for test in tests:
        timeout = max(LEAST_SECONDS, PATIENCE * test.seconds)
        if not test.passes(mutant, timeout) and test.passes("", timeout):
            return test.name
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--from", type=int, default=0, dest="first")
    arguments = parser.parse_intermixed_args()
    known = mutants()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        sys.exit(f"no such mutant: {', '.join(unknown)}")
    chosen = arguments.names or known
    first = arguments.first % len(chosen)
    tests = control(tests_of(arguments.build))
    if not tests:
        sys.exit(f"{arguments.build}: no test program is built there")
    begin = time.monotonic()
    killed = survived = 0
    for mutant in chosen[first:] + chosen[:first]:
        started = time.monotonic()
        if killed + survived > 0 and started - begin > arguments.seconds:
            break
        killer = killer_of(mutant, tests)
        seconds = time.monotonic() - started
        print(f"{mutant}: " + (f"killed by {killer} in {seconds:.1f} s" if killer else "SURVIVED"), flush=True)
        killed, survived = killed + bool(killer), survived + (not killer)
    print(f"{killed} killed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

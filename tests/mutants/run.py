"""Makes one mistake in the protocol after the other, and reports which test notices it. If none notices a mistake, a test
is missing.

    tests/mutants/run.py BUILD [--seconds N] [--from N] [--of SOURCE]... [--write-killers] [NAME...]

BUILD is a build directory made with -Dmutants=true; test programs are built there when they are needed. The mistakes
("mutants") are those of the tables (tables.py); BFSTORE_MUTANT in the environment switches one on, in the test programs
and in the processes that they start. The test that the table names is tried first, and the others only if it does not
notice. --write-killers writes into the tables which test noticed.

--of: the mistakes in the table of that source, and no tests but those that the table names.

--seconds: begins with the mutant number --from (modulo their number), and stops when that time is over, after one mutant at least.
The time does not count what is built. Once it is over, no test is tried but the one that the table names.

With neither of them, and without NAMEs, every test has to pass without a mutant first. Otherwise each test that is needed has to,
when it is first needed. Exit code 1: a mutant survived, or a test failed without one.
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

import tables

# The programs that know the protocol. Those that a table names are tried, too.
PROGRAM = re.compile(r"store_\w+_test|region_lock_test|format_state_test|filter_seeded_test")
# Those that take longest; before them come the others, those of a room below the store first.
LONG = ["store_races_test", "store_waits_test", "store_guard_test", "store_live_word_test", "store_header_bits_test",
        "store_damage_test", "store_kill_test", "store_kill_recovery_test", "store_cut_race_test", "store_power_cut_test",
        "store_real_power_cut_test", "store_every_call_test", "store_storm_test", "store_window_storm_test"]
WORKER = "BFSTORE_WORKER"  # names the program that some tests start
SKIPPED = 77
MEMORY = "/dev/shm"  # the tests' files, where that is: what a disk would lose is a model there anyway (disk.hpp)
PATIENCE = 10  # a mutant may make a test so many times slower before that counts as killed, as may
LEAST_SECONDS = 15  # this time
MOST_SECONDS = 600  # for a test without a mutant


class Test:
    def __init__(self, build: pathlib.Path, meson: dict) -> None:
        self.build = build
        self.name = pathlib.Path(meson["cmd"][0]).name
        self.command = [*meson["cmd"], "--abort-after=1"]
        self.environment = meson["env"]
        self.workdir = meson["workdir"]
        self.seconds = None  # without a mutant; known when it was needed

    def passes(self, mutant: str, timeout: float) -> bool:
        """Whether it ends well in time. Nothing that it started continues afterwards, and no file of it stays."""
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

    def passes_without(self) -> bool:
        """Builds it first, and measures it."""
        compile_programs(self.build, [self.command[0]] + [path for key, path in self.environment.items() if key == WORKER])
        begin = time.monotonic()  # clock: how long it takes without a mutant; one that takes ten times as long counts as killed
        good = self.passes("", MOST_SECONDS)
        self.seconds = time.monotonic() - begin  # clock: as above
        return good

    def notices(self, mutant: str) -> bool:
        """And is content without it, and notices again: not by chance."""
        if self.seconds is None and not self.passes_without():
            sys.exit(f"without a mutant this fails: {self.name}")
        timeout = max(LEAST_SECONDS, PATIENCE * self.seconds)
        return not self.passes(mutant, timeout) and self.passes("", timeout) and not self.passes(mutant, timeout)


compile_seconds = 0.0


def compile_programs(build: pathlib.Path, programs: list) -> None:
    global compile_seconds
    begin = time.monotonic()  # clock: what is built is not counted
    targets = [os.path.relpath(program, build.resolve()) for program in programs]
    done = subprocess.run(["ninja", "-C", str(build), *targets], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-4000:]}\nthis does not build: {' '.join(targets)}")
    compile_seconds += time.monotonic() - begin  # clock: as above


def order(test: Test) -> tuple:
    length = test.seconds if test.seconds is not None else 0.0
    return LONG.index(test.name) if test.name in LONG else -1, test.name.startswith("store_"), length, test.name


def tests_of(build: pathlib.Path, killers: set) -> list:
    known = json.loads((build / "meson-info" / "intro-tests.json").read_text("utf-8"))
    all_tests = [Test(build, test) for test in known]
    unknown = killers - {test.name for test in all_tests}
    if unknown:
        sys.exit(f"a table names a test that there is not: {', '.join(sorted(unknown))}")
    return sorted((test for test in all_tests if PROGRAM.fullmatch(test.name) or test.name in killers), key=order)


def control(tests: list) -> list:
    """The tests, the quickest first; those that fail without a mutant end everything."""
    failed = [test.name for test in tests if not test.passes_without()]
    if failed:
        sys.exit(f"without a mutant these fail: {', '.join(failed)}")
    return sorted(tests, key=lambda test: test.seconds)


def now() -> float:
    """In seconds, of which none are for building."""
    return time.monotonic() - compile_seconds  # clock: when to stop


def killer_of(mutant: str, expected: str, tests: list, until: float, expected_alone: bool) -> str:
    """The first test that notices, beginning with the expected one; empty if none does, or none until then."""
    for test in sorted(tests, key=lambda test: test.name != expected):
        if test.name != expected and (now() > until or (expected and expected_alone)):
            break
        if test.notices(mutant):
            return test.name
    return ""


def write_killer(mutant: str, killer: str, known: list) -> None:
    having = [table for table in known if mutant in table.names()]
    table = next((table for table in having if mutant in table.killers), having[0])
    if table.killers.get(mutant) != killer:
        table.write_killer(mutant, killer)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--of", action="append", default=[])
    parser.add_argument("--write-killers", action="store_true")
    arguments = parser.parse_intermixed_args()
    try:
        known = tables.tables()
    except tables.TableError as error:
        sys.exit(str(error))
    killers = {name: killer for table in known for name, killer in table.killers.items()}
    names = sorted({name for table in known for name in table.names()})
    unknown = sorted(set(arguments.names) - set(names)) + sorted(set(arguments.of) - {table.source for table in known})
    if unknown:
        sys.exit(f"no such mutant, or no table of this source: {', '.join(unknown)}")
    arguments.names += sorted({name for table in known if table.source in arguments.of for name in table.names()})
    chosen = arguments.names or names
    first = arguments.first % len(chosen)
    tests = tests_of(arguments.build, set(killers.values()))
    if not tests:
        sys.exit(f"{arguments.build}: has no tests")
    if arguments.seconds is None and not arguments.names:
        tests = control(tests)
    until = now() + (float("inf") if arguments.seconds is None else arguments.seconds)
    killed = survived = 0
    for mutant in chosen[first:] + chosen[:first]:
        started = now()
        if killed + survived > 0 and started > until:
            break
        killer = killer_of(mutant, killers.get(mutant, ""), tests, until, bool(arguments.of))
        seconds = now() - started
        print(f"{mutant}: " + (f"killed by {killer} in {seconds:.1f} s" if killer else "SURVIVED"), flush=True)
        if killer and arguments.write_killers:
            write_killer(mutant, killer, known)
        killed, survived = killed + bool(killer), survived + (not killer)
    print(f"{killed} killed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Runs tests where a processor is scarce: in a control group that has a tenth of a core, so that a test which computes for
10 ms stalls for the next 90. What is red there and green elsewhere depends on time.

usage: starved.py BUILD RUNS TEST...

BUILD is a build directory of Meson's. TEST is the path of a test's source, as tests/store/file/waits_test.cpp, or a name that
`meson test --list` prints. Each test runs RUNS times. As root, with control groups of version 1 or 2 that have the cpu
controller. The last line is "N passed, N failed, N skipped": a test is one check, which passes if all of its runs do.
"""

import contextlib
import json
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import time

PERIOD, QUOTA = 100_000, 10_000  # microseconds: a tenth of a core
MOST_SECONDS = 1800  # for one run: a test that hangs fails


class Group:
    """A control group of one of the two versions, below the folder where the kernel shows them."""

    def __init__(self, root=pathlib.Path("/sys/fs/cgroup")):
        self.version = 2 if (root / "cgroup.controllers").exists() else 1
        parent = root if self.version == 2 else root / "cpu"
        if not parent.is_dir():
            raise OSError(f"no control groups with the cpu controller below {root}")
        if self.version == 2:
            (parent / "cgroup.subtree_control").write_text("+cpu")
        self.folder = parent / f"bfstore-starved-{os.getpid()}-{secrets.token_hex(4)}"  # process ids are not unique

    def make(self):
        self.folder.mkdir()
        if self.version == 2:
            (self.folder / "cpu.max").write_text(f"{QUOTA} {PERIOD}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(QUOTA))

    def enter(self):
        """Enters the group. For a child, before it becomes another program."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        """Ends the processes in the group, which may be servers of a failed test."""
        if not self.folder.exists():
            return
        while pids := (self.folder / "cgroup.procs").read_text("ascii").split():
            for pid in map(int, pids):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.folder.rmdir()


@contextlib.contextmanager
def starved():
    """Returns the function that a child calls to be starved."""
    group = Group()
    group.make()
    try:
        yield group.enter
    finally:
        group.remove()


def matches(test, wanted):
    """Returns whether meson's test has this source or this name."""
    path = pathlib.PurePath(wanted)
    if path.suffix == ".cpp":
        return any(pathlib.PurePath(word).name == f"{path.parts[1]}_{path.stem}" for word in test["cmd"])
    if path.suffix == ".py":
        return any(word.endswith("/" + wanted) for word in test["cmd"])
    if path.parts[:2] == ("capi", "bindings"):
        return "tests/bindings/run.py" in " ".join(test["cmd"]) and path.parts[2] in test["cmd"]
    return test["name"] == wanted


def run(test, enter, log, build):
    """Returns the exit code, or None if the test did not end in time. Like meson, runs the test in the build
    directory."""
    with subprocess.Popen(test["cmd"], env={**os.environ, **test["env"]}, cwd=test["workdir"] or build,
                          stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, preexec_fn=enter,
                          start_new_session=True) as running:
        try:
            return running.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def check(test, runs, enter, folder):
    """Returns whether all runs passed: a skip did not. The logs of the others stay in the build directory."""
    seconds, bad = [], []
    for number in range(runs):
        path = folder / f"starved-{test['name'].replace('/', '_').replace(' ', '_')[:60]}-{number}.log"
        began = time.monotonic()
        with open(path, "wb") as log:
            code = run(test, enter, log, folder)
        seconds.append(time.monotonic() - began)
        if code == 0:
            path.unlink()
        else:
            bad.append(f"exit code {code}, {path}" if code is not None else f"did not end in {MOST_SECONDS} s, {path}")
    print(f"{test['name']}: {runs - len(bad)} of {runs} green, {min(seconds):.1f} to {max(seconds):.1f} s", flush=True)
    for reason in bad:
        print(f"red: {test['name']}: starved: {reason}", flush=True)
    return not bad


def main():
    if len(sys.argv) < 4 or not sys.argv[2].isdecimal():
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    build, runs, wanted = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    known = json.loads((build / "meson-info" / "intro-tests.json").read_text("utf-8"))
    chosen = {name: [test for test in known if matches(test, name)] for name in wanted}
    if unknown := [name for name, tests in chosen.items() if not tests]:
        print(f"no test in {build}: {', '.join(unknown)}", file=sys.stderr)
        return 2
    with starved() as enter:
        good = [check(test, runs, enter, build) for tests in chosen.values() for test in tests]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed, 0 skipped")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

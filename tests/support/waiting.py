"""Waiting for another process: for the condition that a test needs, and never for a fixed time."""
import os
import platform
import time

# Seconds after which a wait counts as a hang. A slow machine is no fault, and does not need that long.
PATIENCE = 600
# The kernel's numbers of the calls in which programs wait for pipes and locks. On machines without poll() its number is ppoll()'s.
GENERIC = {"read": 63, "write": 64, "tee": 77, "poll": 73, "flock": 32}
NUMBERS = {"x86_64": {"read": 0, "write": 1, "tee": 276, "poll": 7, "flock": 73}, "s390x": {"read": 3, "write": 4, "tee": 308, "poll": 168, "flock": 143},
           "ppc64le": {"read": 3, "write": 4, "tee": 284, "poll": 167, "flock": 143}, "aarch64": GENERIC, "riscv64": GENERIC}


def seconds_kept_waiting():
    """Returns for how many seconds the kernel did other things while this process was ready to run."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:  # a kernel without these numbers
        return 0


def wait_until(condition, patience=PATIENCE):
    end, kept = time.monotonic() + patience, seconds_kept_waiting()  # clock: ends a hang
    while not condition():
        if time.monotonic() > end + seconds_kept_waiting() - kept:  # clock: as above
            raise AssertionError(f"waited for {patience} seconds")
        time.sleep(0.002)


def status_of(pid):
    """Returns {name: text}, as the kernel shows them."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def times_it_slept(pid):
    """Returns how often the process gave the processor away by itself."""
    return int(status_of(pid)["voluntary_ctxt_switches"])


def has_pending_signals(pid):
    """Returns whether the process has a signal with which it has not yet begun to deal."""
    status = status_of(pid)
    return int(status["SigPnd"], 16) != 0 or int(status["ShdPnd"], 16) != 0


def sleeps_in(pid, call, pipe=None):
    """Returns whether the process waits in read() or write() of the pipe, of which this process has an end, or in another call."""
    number = NUMBERS.get(platform.machine(), {}).get(call)
    try:
        looks = [_call_of(pid), _call_of(pid)]
    except OSError:  # the kernel does not tell
        number = None
    if number is None:
        return _rests(pid)
    if looks[0] != looks[1] or looks[0][0] != str(number):
        return False
    return pipe is None or os.path.samestat(os.stat(f"/proc/{pid}/fd/{int(looks[0][1], 16)}"), os.fstat(pipe))


def _call_of(pid):
    """Returns the call in which the process sleeps: its number, its arguments, and more. A process that runs gives one other word."""
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().split()


def _rests(pid):
    """Returns what is known without the call: whether the process sleeps at several looks, and has not run in between."""
    before = None
    for _ in range(10):
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        now = (fields[0], fields[11], fields[12], times_it_slept(pid))
        if fields[0] != "S" or now != (before or now):
            return False
        before = now
        time.sleep(0.02)
    return True

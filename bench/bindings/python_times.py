"""The times of Python, for bench/bindings.py: `python_times.py FOLDER`. Its lines are those of c.c, and of the rivals that
are installed: rbloom and pybloomfiltermmap3, which are asked for the same keys with as many bits."""

import math
import pathlib
import sys
import tempfile
import time

import bfstore

KEY_BYTES, PASSES, BITS_PER_KEY = 16, 5, 10


def best(work):
    """Returns (seconds of CPU time, result of work())."""
    least, result = math.inf, None
    for _ in range(PASSES):
        begin = time.process_time()
        result = work()
        least = min(least, time.process_time() - begin)
    return least, result


def told(layout, way, count, work):
    seconds, maybes = best(work)
    print(layout, way, f"{seconds * 1e9 / count:.3f}", maybes)


def ask_each(container, keys):
    maybes = 0
    for key in keys:
        if key in container:
            maybes += 1
    return maybes


def in_statement(container, keys):
    """Runs `for k in keys: k in f`, and ignores the answers."""
    for key in keys:
        key in container


def empty_loop(keys):
    for _ in keys:
        pass


def rivals(present, folder):
    """Returns (name, a filter that has the present keys) for each rival that is installed."""
    fpr = math.exp(-BITS_PER_KEY * math.log(2) ** 2)
    try:
        import rbloom
        made = rbloom.Bloom(len(present), fpr)
        made.update(present)
        yield "rbloom", made
    except ImportError:
        pass
    try:
        import pybloomfilter
        made = pybloomfilter.BloomFilter(len(present), fpr, str(pathlib.Path(folder) / "rival"))
        made.update(present)
        yield "pybloomfiltermmap3", made
    except ImportError:
        pass


def main():
    folder = pathlib.Path(sys.argv[1])
    column = (folder / "keys").read_bytes()
    keys = [column[at : at + KEY_BYTES] for at in range(0, len(column), KEY_BYTES)]
    count = len(keys)
    print("-", "empty-loop", f"{best(lambda: empty_loop(keys))[0] * 1e9 / count:.3f}", 0)
    for layout in ("blocked", "classic"):
        with bfstore.open(folder / f"{layout}.bf") as opened:
            told(layout, "one", count, lambda: ask_each(opened, keys))
            print(layout, "one-unused", f"{best(lambda: in_statement(opened, keys))[0] * 1e9 / count:.3f}", opened.contains_many(keys).count(1))
            told(layout, "objects", count, lambda: opened.contains_many(keys).count(1))
            told(layout, "column", count, lambda: opened.contains_many(column, width=KEY_BYTES).count(1))
    with tempfile.TemporaryDirectory() as temporary:
        for name, rival in rivals(keys[::2], temporary):
            told("rival", name, count, lambda: ask_each(rival, keys))


main()

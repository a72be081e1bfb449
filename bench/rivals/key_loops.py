"""Loops over keys in C and C++ (key_loops.cpp and its neighbors), compiled now, for programs in Python that time them. And loops in
Python, for filters that have no other."""

import ctypes
import pathlib
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEY_BYTES, FIRST_ABSENT = 16, 1 << 40
FEW = 20_000  # keys that a slow candidate is asked
POINTER, NUMBER, INT, NANOSECONDS = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int64


class Missing(Exception):
    """A candidate cannot run here."""


class Calls:
    """A library of these sources. `functions`: (name without loops_, result, arguments...) for each."""

    def __init__(self, cc, made, sources, functions):
        subprocess.run([*shlex.split(cc), "-O2", "-shared", "-fPIC", f"-I{HERE}", f"-I{ROOT / 'capi'}", *sources, "-o", made], check=True)
        self.library = ctypes.CDLL(made)
        for name, result, *arguments in functions:
            function = getattr(self.library, "loops_" + name)
            function.restype, function.argtypes = result, arguments

    def call(self, name, *arguments):
        result = getattr(self.library, "loops_" + name)(*arguments)
        assert not isinstance(result, int) or result >= 0, name
        return result

    def asked(self, name, filters, keys):
        """Returns what a loop of lookups took, and its answers. `filters`: the arguments before the keys."""
        answers = ctypes.create_string_buffer(len(keys) // KEY_BYTES)
        return self.call(name, *filters, keys, len(answers), answers), answers.raw


class Loops(Calls):
    """Of filters of bfstore, and the keys."""

    def __init__(self, cc, library, folder, others=(), functions=()):
        common = (("make_keys", None, NUMBER, NUMBER, POINTER), ("add", NANOSECONDS, POINTER, POINTER, NUMBER),
                  ("ask", NANOSECONDS, POINTER, INT, POINTER, NUMBER, POINTER),
                  ("ask_many", NANOSECONDS, POINTER, INT, POINTER, NUMBER, POINTER))
        sources = ["-std=c++20", HERE / "key_loops.cpp", *others, library, f"-Wl,-rpath,{library.parent}"]
        super().__init__(cc, folder / "loops.so", sources, (*common, *functions))

    def keys(self, first, count):
        made = ctypes.create_string_buffer(count * KEY_BYTES)
        self.call("make_keys", first, count, made)
        return made.raw


def each(keys):
    return [keys[at:at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]


class Filters:
    """A candidate that is one or two filters of bfstore: keys are added to the first one of `filters`, and each is asked."""

    def add(self, keys, _first):
        return self.loops.call("add", self.filters[0], keys, len(keys) // KEY_BYTES)

    def ask(self, keys):
        return self.loops.asked("ask", (self.filters, len(self.filters)), keys)

    def ask_many(self, keys):
        return self.loops.asked("ask_many", (self.filters, len(self.filters)), keys)


class Timed:
    """A candidate whose loop is in Python: adder() and asker() return functions of a key."""
    ask_many = None

    def add(self, keys, first):
        keys, add = each(keys), self.adder(first)
        began = time.process_time_ns()
        for key in keys:
            add(key)
        return time.process_time_ns() - began

    def ask(self, keys):
        keys, contains = each(keys), self.asker()
        began = time.process_time_ns()
        answers = [contains(key) for key in keys]
        return time.process_time_ns() - began, bytes(answers)

    def close(self):
        pass

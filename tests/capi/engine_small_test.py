"""The small example engine (capi/examples/engine_small.c) makes no wrong no when it is killed between each two steps. Copies of it
that leave out a step do, and that is noticed.

Arguments: the engine, the library of kill_at.c, its C source, the folder of bfstore.h, the shared library, the sanitizers
(none), a C compiler.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ENGINE, KILL_AT, SOURCE, INCLUDE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:6])
CC = [sys.argv[7], *([] if sys.argv[6] == "none" else ["-fsanitize=" + sys.argv[6]])]
if len(CC) > 1 and "clang" in CC[0]:
    CC += ["-fsanitize-link-c++-runtime", "-Wl,--no-as-needed", "-lstdc++"]  # the library needs what a C program lacks
del sys.argv[1:]
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
MOST_CALLS = 200


class WrongNo(AssertionError):
    pass


def run(engine, folder, *words, **environment):
    """(standard output, True if it was killed)."""
    done = subprocess.run([engine, folder, *words], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "ASAN_OPTIONS": "verify_asan_link_order=0", "LD_PRELOAD": KILL_AT, **environment})
    killed = done.returncode == -signal.SIGKILL
    assert killed or done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout, killed


def keys_in(log):
    """The rows of the whole lines, after the epoch."""
    text = pathlib.Path(log).read_text("ascii") if os.path.exists(log) else ""
    return text.split("\n")[1:-1]


def check(engine, folder):
    keys = keys_in(os.path.join(folder, "log"))
    answers = run(engine, folder, "get", *keys, "nothing")[0].splitlines()
    wrong = [line for line in answers[:-1] if not line.endswith(": there")]
    if wrong or len(answers) != len(keys) + 1:
        raise WrongNo(f"{wrong or answers}")
    assert answers[-1].startswith("nothing: absent"), answers


def kill_before_each_call(engine, folder):
    """Kills it before its first call, before its second one and so on, until it comes to its end. Returns the number of kills."""
    acknowledged = []
    for number in range(1, MOST_CALLS):
        new = [f"{number}.{i}" for i in range(3)]
        out, killed = run(engine, folder, "put", *new, KILL_AT=str(number))
        acknowledged += out.split()
        check(engine, folder)
        if not set(acknowledged) <= set(keys_in(os.path.join(folder, "log"))):
            raise WrongNo("an acknowledged row is not in the log")
        if not killed:
            return number - 1
    raise AssertionError("it was killed again and again")


class Engine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def copy(self, old, new):
        """The engine with one text of its source replaced."""
        text = pathlib.Path(SOURCE).read_text("utf-8")
        self.assertEqual(text.count(old), 1, old)
        source, program = os.path.join(self.folder, "copy.c"), os.path.join(self.folder, "copy")
        pathlib.Path(source).write_text(text.replace(old, new), "utf-8")
        subprocess.run([*CC, "-std=c99", "-w", "-I", INCLUDE, source, LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o", program],
                       check=True, timeout=600)
        os.mkdir(os.path.join(self.folder, "rows"))
        return program, os.path.join(self.folder, "rows")

    def test_no_acknowledged_row_is_called_absent(self):
        self.assertGreater(kill_before_each_call(ENGINE, self.folder), 10)

    def test_a_log_that_was_cut_and_one_that_began_anew_lose_no_row(self):
        run(ENGINE, self.folder, "put", "a", "b", "c")
        log = pathlib.Path(self.folder, "log")
        log.write_text(log.read_text("ascii").replace("c\n", "x"), "ascii")
        check(ENGINE, self.folder)
        log.unlink()
        run(ENGINE, self.folder, "put", "d")
        check(ENGINE, self.folder)

    def test_what_fails_is_said_with_its_reason(self):
        os.mkdir(os.path.join(self.folder, "filter.bf"))
        for folder, words, said in (("none", ["get", "a"], "the log cannot be opened: No such file or directory"),
                                    ("", ["get", "a"], f"the filter cannot be opened: {self.folder}/filter.bf: a directory"),
                                    ("", ["get"], "usage: engine_small FOLDER put|get KEY...")):
            done = subprocess.run([ENGINE, os.path.join(self.folder, folder).rstrip("/"), *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertTrue(done.stderr.startswith("engine_small: " + said), done.stderr)

    def test_rows_that_are_not_added_again_are_noticed(self):
        self.assertRaises(WrongNo, kill_before_each_call, *self.copy("each_row(log, (long)mark, add, filter)", "(long)end"))

    def test_a_mark_above_the_rows_is_noticed(self):
        self.assertRaises(WrongNo, kill_before_each_call, *self.copy("{OWNER, (uint64_t)at, number, 0, 0}", "{OWNER, (uint64_t)at + 4, number, 0, 0}"))

    def test_an_epoch_that_stays_is_noticed(self):
        program, folder = self.copy("const uint64_t number = strtoull(epoch, NULL, 10);", "const uint64_t number = 1;")
        run(program, folder, "put", "a", "b", "c", "d")
        os.unlink(os.path.join(folder, "log"))
        # A process of another program appended rows, more than the old mark says, before the engine was started again.
        pathlib.Path(folder, "log").write_text("00000000000000000007\n" + "".join(f"row{i}\n" for i in range(9)), "ascii")
        self.assertRaises(WrongNo, check, program, folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)

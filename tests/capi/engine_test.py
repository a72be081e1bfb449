"""The example engine (capi/examples/engine.c) makes no wrong no: killed between each two steps, with a filter from a backup,
with a log that began anew, next to other processes. Then a copy of it leaves out each step in turn, and that is noticed.

Arguments: the engine, the library of kill_at.c, its C source, the folder of bfstore.h, the shared library, the
sanitizers (none), a C compiler.
"""
import contextlib
import functools
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import waiting  # found only now

ENGINE, KILL_AT, SOURCE, INCLUDE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:6])
CC = [sys.argv[7], *([] if sys.argv[6] == "none" else ["-fsanitize=" + sys.argv[6]])]
if len(CC) > 1 and "clang" in CC[0]:
    CC += ["-fsanitize-link-c++-runtime", "-Wl,--no-as-needed", "-lstdc++"]  # the library needs what a C program lacks
del sys.argv[1:]
HEADER, RECORD = struct.Struct("<QQQQ16sQ"), struct.Struct("<QBBB24s29s")
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# Engines are killed before each third call, from the first one on, in a shortened run, and before each ninth with a sanitizer.
SHORTENED = os.environ.get("KEY_SCALE", "1") != "1"
EVERY = (3 if SHORTENED else 1) * (3 if len(CC) > 1 else 1)
STEPS = {"bfs_open", "bfs_get_mark", "bfs_add", "bfs_sync", "bfs_close", "pwrite", "fdatasync", "flock"}


class WrongNo(AssertionError):
    pass


class Folder:
    """A folder with an engine's log and filter."""

    def __init__(self, path, engine):
        self.path, self.engine = path, engine
        os.mkdir(path)

    def file(self, name):
        return os.path.join(self.path, name)

    def copy(self, path):
        other = Folder(path, self.engine)
        for name in os.listdir(self.path):
            shutil.copy(self.file(name), other.file(name))
        return other

    def spawn(self, *command, **environment):
        env = {**os.environ, **environment, "ASAN_OPTIONS": "verify_asan_link_order=0", "LD_PRELOAD": KILL_AT}
        return subprocess.Popen([self.engine, self.path, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=env)

    def run(self, *command, lines="", **environment):
        """Returns standard output, the call before which it was killed or "", and the exit code."""
        process = self.spawn(*command, **environment)
        out, err = process.communicate(lines, timeout=600)
        killed = process.returncode == -signal.SIGKILL
        assert killed or process.returncode in (0, 1), (command, process.returncode, err)
        return out, err.strip() if killed else "", process.returncode

    def rows(self, visible_alone=True):
        """Returns {key: newest value} of the log."""
        if not os.path.exists(self.file("rows.log")):
            return {}
        with open(self.file("rows.log"), "rb") as file:
            data = file.read()
        if len(data) < HEADER.size:
            return {}
        visible = HEADER.unpack_from(data)[2]
        rows = {}
        for at in range(HEADER.size, len(data) - RECORD.size + 1, RECORD.size):
            _, kind, key_bytes, value_bytes, key, value = RECORD.unpack_from(data, at)
            if kind == 1 and (at < visible or not visible_alone):
                rows[key[:key_bytes].decode()] = value[:value_bytes].decode()
        return rows

    def header(self):
        with open(self.file("rows.log"), "rb") as file:
            return HEADER.unpack(file.read(HEADER.size))

    def epoch(self):
        return self.header()[1]

    def filter_is_compared(self):
        """Returns whether the path has the file that a writer compared last: its file_id is in its first page."""
        with open(self.file("rows.bf"), "rb") as file:
            return self.header()[4] in file.read(4096)

    def check(self, acknowledged=(), reader=None):
        """Checks that every visible row is found, and that every acknowledged row is visible."""
        rows = self.rows()
        if not set(acknowledged) <= set(rows):
            raise WrongNo(f"acknowledged and not visible: {set(acknowledged) - set(rows)}")
        if not rows:
            return
        expected = [f"{key} = {value}" for key, value in rows.items()]
        said = self.run("answer", lines="".join(key + "\n" for key in rows))[0].splitlines()
        if said != expected:
            raise WrongNo(f"{said} instead of {expected}")
        for key, wanted in zip(rows, expected) if reader else ():
            reader.stdin.write(key + "\n")
            reader.stdin.flush()
            if (said := reader.stdout.readline().strip()) != wanted:
                raise WrongNo(f"a reader that was there before says {said} instead of {wanted}")

    def check_then_write_and_check(self, acknowledged=(), reader=None):
        self.check(acknowledged, reader)
        self.run("put", "later", "1")
        self.check((*acknowledged, "later"), reader)
        self.run("put", "last", "2")
        self.check((*acknowledged, "later", "last"), reader)


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines_of(*keys):
    return "".join(f"{key} {key}-value\n" for key in keys)


def put(writer, key):
    """Puts a row by a "load" that continues."""
    writer.stdin.write(lines_of(key))
    writer.stdin.flush()
    assert writer.stdout.readline() == key + "\n"


SAVE = """
#include <bfstore_sets.h>
int main(int argc, char** argv) {
  bfs_filter* filter;
  if (argc != 3 || bfs_open(argv[1], BFS_READ, NULL, &filter, NULL) != BFS_OK) return 1;
  return bfs_copy(filter, argv[2], 0, NULL, NULL) != BFS_OK || bfs_close(filter, NULL) != BFS_OK;
}
"""


def build(program, text):
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([*CC, "-std=c99", "-I", INCLUDE, program + ".c", LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY),
                    "-o", program], check=True)
    return program


@functools.lru_cache(maxsize=None)
def saver():
    folder = tempfile.TemporaryDirectory(prefix="bfstore-save-")
    unittest.addModuleCleanup(folder.cleanup)
    return build(os.path.join(folder.name, "save"), SAVE)


def save(path, new_path):
    """Calls bfs_copy, as a backup program does."""
    subprocess.run([saver(), path, new_path], check=True, timeout=600)


class Scenes:
    """Folders in every state, for one engine; and the commands on them, which are killed before each of their calls."""

    def __init__(self, root, engine, every):
        self.root, self.engine, self.every, self.number = root, engine, every, 0
        self.names_of_steps = set()
        self.some = self.folder()
        self.some.run("load", lines=lines_of("a", "b"))

    def folder(self):
        self.number += 1
        return Folder(os.path.join(self.root, str(self.number)), self.engine)

    def copy(self, folder):
        self.number += 1
        return folder.copy(os.path.join(self.root, str(self.number)))

    def in_use(self):
        """Makes a copy of a filter in use, which is unclean, with a log that is ahead of its mark."""
        folder = self.copy(self.some)
        with ended(folder.spawn("load")) as writer:
            put(writer, "c")
            put(writer, "d")
            return self.copy(folder)

    def older_filter(self):
        """Makes a filter that was saved when the engine was closed, and put back next to a log with more rows."""
        folder = self.copy(self.some)
        folder.run("load", lines=lines_of("c", "d"))
        os.rename(self.copy(self.some).file("rows.bf"), folder.file("rows.bf"))
        return folder

    def saved_filter(self):
        """Makes a filter that was saved while a writer had it open, with the mark of the one in use, and put back after more rows."""
        folder = self.copy(self.some)
        with ended(folder.spawn("load")) as writer:
            put(writer, "c")
            save(folder.file("rows.bf"), folder.file("saved.bf"))
            put(writer, "d")
            writer.communicate()
        os.rename(folder.file("saved.bf"), folder.file("rows.bf"))
        return folder

    def older_log(self):
        """Makes a log that was saved, and put back next to a filter with a higher mark."""
        folder = self.copy(self.some)
        folder.run("load", lines=lines_of(*(f"lost-{i}" for i in range(10))))
        os.rename(self.copy(self.some).file("rows.log"), folder.file("rows.log"))
        return folder

    def restarted_log(self):
        """Makes a log that began anew and is longer now than the old one, with the old log's filter from a backup."""
        folder = self.copy(self.some)
        folder.run("load", lines=lines_of(*["a"] * 5))
        older = self.copy(folder)
        folder.run("compact")
        folder.run("load", lines=lines_of(*(f"new-{i}" for i in range(7))))
        os.rename(older.file("rows.bf"), folder.file("rows.bf"))
        return folder

    def damaged_filter(self):
        folder = self.copy(self.some)
        with open(folder.file("rows.bf"), "r+b") as file:
            file.truncate(5000)
        return folder

    def no_filter(self):
        folder = self.copy(self.some)
        os.unlink(folder.file("rows.bf"))
        return folder

    def killed_at_each_step(self, made, *command, lines="", least=10):
        """Returns how often it was killed."""
        template = made()
        template.check()
        for number in range(1, 1000, self.every):
            folder = self.copy(template)
            with ended(folder.spawn("answer")) if folder.rows() else contextlib.nullcontext() as reader:
                if reader:
                    folder.check((), reader)
                said, name, _ = folder.run(*command, lines=lines, KILL_AT=str(number))
                self.names_of_steps.add(name.removesuffix("64"))
                try:
                    folder.check_then_write_and_check(said.split() if command[0] == "load" else (), reader)
                except WrongNo as wrong:
                    raise WrongNo(f"{command} of {made.__name__}, killed before call {number} ({name}): {wrong}") from None
            shutil.rmtree(folder.path)
            if not name:
                assert number > least, f"only {number} steps"
                return number - 1
        raise AssertionError("it never ends")

    # A process that has the filter open puts a row after another one has died in putting one.
    def beside_a_writer_that_goes_on(self):
        for number in range(1, 1000, self.every):
            folder = self.copy(self.some)
            with ended(folder.spawn("load")) as writer:
                writer.stdin.write(lines_of("before"))
                writer.stdin.flush()
                assert writer.stdout.readline() == "before\n"
                name = folder.run("put", "dead", "1", KILL_AT=str(number))[1]
                said, err = writer.communicate(lines_of("after", "after-that"))
                assert writer.returncode == 0, (name, number, err)
                try:
                    folder.check(["before", *said.split()])
                except WrongNo as wrong:
                    raise WrongNo(f"another one was killed before call {number} ({name}): {wrong}") from None
            shutil.rmtree(folder.path)
            if not name:
                assert number > 10
                return

    @staticmethod
    def is_done_or_waits(writer, slept):
        """Returns whether the writer is done, or waits: for the builder in flock(), or by asking repeatedly for a lock of the library's."""
        return (select.select([writer.stdout], [], [], 0)[0] or waiting.sleeps_in(writer.pid, "flock")
                or waiting.times_it_slept(writer.pid) > slept + 5)

    # A writer that has the old filter open puts rows while another process is stopped at each step of a rebuild.
    def while_a_filter_is_rebuilt(self):
        for number in range(1, 1000, self.every):
            folder = self.copy(self.some)
            with ended(folder.spawn("load")) as writer:
                writer.stdin.write(lines_of("before"))
                writer.stdin.flush()
                assert writer.stdout.readline() == "before\n"
                with ended(folder.spawn("rebuild", STOP_AT=str(number))) as builder:
                    stopped = os.WIFSTOPPED(os.waitpid(builder.pid, os.WUNTRACED)[1])
                    slept = waiting.times_it_slept(writer.pid)
                    writer.stdin.write(lines_of("one", "two"))
                    writer.stdin.flush()
                    waiting.wait_until(lambda: self.is_done_or_waits(writer, slept))
                    builder.send_signal(signal.SIGCONT)
                    builder.wait()
                    said = [writer.stdout.readline().strip() for _ in range(2)]
                try:
                    folder.check(["before", *said])
                except WrongNo as wrong:
                    raise WrongNo(f"a rebuild was stopped before call {number}: {wrong}") from None
            shutil.rmtree(folder.path)
            if not stopped:
                assert number > 10
                return


class Case(unittest.TestCase):
    def check_steps(self, scenes, *more):
        if EVERY == 1:
            self.assertLessEqual(STEPS | set(more), scenes.names_of_steps)

    def scenes(self, engine=ENGINE, every=EVERY):
        root = tempfile.TemporaryDirectory(prefix="bfstore-engine-", dir=MEMORY)
        self.addCleanup(root.cleanup)
        return Scenes(root.name, engine, every)


class Engine(Case):
    def test_it_is_killed_before_each_call_while_it_puts_rows(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.folder, "load", lines=lines_of("x", "y"))
        scenes.killed_at_each_step(lambda: scenes.some, "load", lines=lines_of("x", "a"))
        self.check_steps(scenes, "bfs_create", "bfs_publish", "linkat")

    def test_it_is_killed_before_each_call_while_it_recovers_a_filter_that_was_in_use(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.in_use, "load", lines=lines_of("x"))
        self.check_steps(scenes, "bfs_finish_recovery")

    def test_a_filter_from_a_backup_beside_a_newer_log(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.older_filter, "load", lines=lines_of("x"))

    def test_a_filter_that_was_saved_in_use_is_put_back_beside_a_newer_log(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.saved_filter, "load", lines=lines_of("x"))

    # The file that the writer has open is then in no folder. Keys that it adds there would be lost to every later reader.
    def test_a_saved_filter_is_put_back_under_a_writer_that_goes_on(self):
        folder = self.scenes().folder()
        with ended(folder.spawn("load")) as writer:
            put(writer, "c")
            with ended(folder.spawn("answer")) as reader:
                folder.check(["c"], reader)
                save(folder.file("rows.bf"), folder.file("saved.bf"))
                put(writer, "d")
                os.rename(folder.file("saved.bf"), folder.file("rows.bf"))
                folder.check(["c", "d"], reader)
                self.assertFalse(folder.filter_is_compared())
                put(writer, "e")
                self.assertTrue(folder.filter_is_compared(), "the writer fills a file that is in no folder")
                folder.check(["c", "d", "e"], reader)
        folder.check_then_write_and_check(["c", "d", "e"])

    def test_a_filter_that_was_rebuilt_is_trusted_at_once(self):
        scenes = self.scenes()
        folder = scenes.copy(scenes.some)
        before = folder.header()[4]
        folder.run("rebuild")
        self.assertNotEqual(folder.header()[4], before)
        self.assertTrue(folder.filter_is_compared())

    def test_a_log_from_a_backup_beside_a_newer_filter(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.older_log, "load", lines=lines_of("x", "y"))

    def test_a_log_from_a_backup_under_a_writer_that_goes_on_is_another_log(self):
        scenes = self.scenes()
        folder = scenes.copy(scenes.some)
        with ended(folder.spawn("load")) as writer:
            for key in ("lost-1", "lost-2"):
                writer.stdin.write(lines_of(key))
                writer.stdin.flush()
                self.assertEqual(writer.stdout.readline(), key + "\n")
            before = folder.epoch()
            os.rename(scenes.copy(scenes.some).file("rows.log"), folder.file("rows.log"))
            self.assertEqual(folder.epoch(), before)
            said = writer.communicate(lines_of("x"))[0]
        self.assertNotEqual(folder.epoch(), before, "its positions are given a second time")
        folder.check_then_write_and_check([said.strip()])
        self.assertEqual(list(folder.rows()), ["a", "b", "x", "later", "last"])

    def test_a_log_that_began_anew_beside_the_filter_of_the_one_before(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.restarted_log, "load", lines=lines_of("x"))

    def test_a_filter_that_is_damaged_or_gone_is_made_again(self):
        scenes = self.scenes()
        scenes.killed_at_each_step(scenes.damaged_filter, "load", lines=lines_of("x"))
        scenes.killed_at_each_step(scenes.no_filter, "load", lines=lines_of("x"))

    def test_it_is_killed_before_each_call_while_it_syncs_rebuilds_and_compacts(self):
        scenes = self.scenes()
        for command in ("sync", "rebuild", "compact"):
            scenes.killed_at_each_step(lambda: scenes.some, command)
        self.check_steps(scenes, "bfs_supersede", "bfs_publish", "rename")

    def test_a_writer_goes_on_beside_one_that_is_killed(self):
        self.scenes().beside_a_writer_that_goes_on()

    def test_rows_are_put_while_a_filter_is_rebuilt(self):
        self.scenes().while_a_filter_is_rebuilt()


APPEND = "  append(engine->log, end, &row);"
ADD = "  end = add_from(engine, engine->filter, engine->header.visible);"
# The steps that are left out: the text in engine.c, its replacement, and the scene that shows the wrong no.
MISTAKES = {
    "a row is visible before its key is added": (
        APPEND, APPEND + "\n  engine->header.visible = end + sizeof record;\n  write_header(engine->log, &engine->header);",
        lambda scenes: scenes.killed_at_each_step(lambda: scenes.some, "load", lines=lines_of("x"))),
    "nothing is compared at an open": (
        "  if (add_from(engine, engine->filter, mark == 0 ? sizeof(struct header) : mark) == 0) return 0;", "  (void)mark;",
        lambda scenes: scenes.killed_at_each_step(lambda: scenes.some, "load", lines=lines_of("x"))),
    "a mark is above a key that was not added": (
        APPEND, APPEND + "\n  sync_up_to(engine->filter, engine->header.epoch, end + sizeof record, NULL);",
        lambda scenes: scenes.killed_at_each_step(lambda: scenes.some, "load", lines=lines_of("x"))),
    "a log that begins anew keeps its epoch": (
        "  return number > old ? number : old + 1;", "  (void)number;\n  return old != 0 ? old : 1;",
        lambda scenes: scenes.killed_at_each_step(scenes.restarted_log, "load", lines=lines_of("x"))),
    "readers trust any filter": (
        "  if (is_compared(engine)) return;", "  return;",
        lambda scenes: scenes.killed_at_each_step(scenes.older_filter, "load", lines=lines_of("x"))),
    "readers trust the mark alone": (
        "         memcmp(facts.file_id, header->filter_id, sizeof facts.file_id) == 0;", "         1;",
        lambda scenes: scenes.killed_at_each_step(scenes.saved_filter, "load", lines=lines_of("x"))),
    "readers trust the file_id alone": (
        "  return bfs_get_mark(engine->filter, OWNER, header->epoch) >= header->compared &&", "  return",
        lambda scenes: scenes.killed_at_each_step(scenes.older_filter, "load", lines=lines_of("x"))),
    "rows of a dead process become visible without their keys": (
        ADD, ADD.replace("engine->header.visible", "end"), lambda scenes: scenes.beside_a_writer_that_goes_on()),
    "the mark of a rebuilt filter is above what was added before it superseded the old one": (
        "  if (at != 0) at = add_from(engine, fresh, at);",
        "  struct record record;\n  while (at != 0 && read_record(engine->log, at, &record)) at += sizeof record;", lambda scenes: scenes.while_a_filter_is_rebuilt()),
}


class Mistakes(Case):
    def built(self, folder, old, new):
        with open(SOURCE, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1, old)
        return build(os.path.join(folder, "engine"), text.replace(old, new))

    def test_each_step_that_is_left_out_makes_a_wrong_no(self):
        # Without a sanitizer, under which each of a scene's many programs starts slowly. The scenes notice mistakes as well without it.
        for mistake, (old, new, scene) in MISTAKES.items() if CC[1:] == [] else []:
            with self.subTest(mistake), tempfile.TemporaryDirectory(prefix="bfstore-mistake-") as folder:
                scenes = self.scenes(self.built(folder, old, new), every=1)
                with self.assertRaises(WrongNo):
                    scene(scenes)


if __name__ == "__main__":
    unittest.main(verbosity=2)

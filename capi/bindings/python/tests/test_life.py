"""Handles: closed in use, used after close, leaked to the collector, forked, pickled; and which thread waits for
which."""

import array
import copy
import ctypes
import faulthandler
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import warnings

import arrow
import bfstore
from case import JAYBIRD, Case


class Closed(Case):
    def test_every_method_of_a_closed_filter_raises(self):
        made, other = self.create(), self.create(self.folder / "other")
        made.close()
        made.close()
        self.assertTrue(made.closed)
        arguments = {"sync": (), "get_mark": (1, 1), "copy": (self.folder / "x",), "fold": (self.folder / "x", 0.5), "seal": (self.folder / "x",), "merge": (other,), "compare": (other,), "import_bits": (b"",),
                     "export_foreign": ("raw",)}
        keywords = {name: {"order": "big"} for name in ("import_bits", "export_bits", "export_foreign")}
        numbers = ("drop_owner", "finish_recovery", "contains_digest", "add_digest")
        texts = ("contains", "add", "remove", "count", "digest")
        digests = ("add_digests", "remove_digests", "contains_digests", "select_digests", "count_digests")
        lists = ("update", "add_many", "remove_many", "contains_many", "count_many", "select", "digest_many", *digests)
        safe = {"close", "abandon", "closed", "created", "name", "health"}
        called = 0
        for name in dir(made):
            if name.startswith("_") or name in safe:
                continue
            given = arguments.get(name, (1,) if name in numbers else ("a",) if name in texts else ([1],) if name in lists else ())
            with self.subTest(name), self.assertRaises(bfstore.ClosedError):
                getattr(made, name)(*given, **keywords.get(name, {}))
            called += 1
        self.assertGreater(called, 30)
        with self.assertRaises(bfstore.ClosedError):
            "a" in made
        with self.assertRaises(bfstore.ClosedError), made:
            pass
        for call in (lambda: other.merge(made), lambda: other.compare(made)):
            with self.assertRaises(bfstore.ClosedError):
                call()
        self.assertEqual(made.health, "shut")
        self.assertIn("closed", repr(made))
        other.add("is still open")

    def test_a_closed_filter_is_synced_and_clean(self):
        with self.create() as made:
            made.add("a")
        with self.open(no_write=True) as reader:
            self.assertIn("a", reader)

    def test_with_closes_after_an_error(self):
        with self.assertRaises(ZeroDivisionError), self.create() as made:
            1 // 0
        self.assertTrue(made.closed)


class Collected(Case):
    def test_a_filter_that_is_not_closed_warns_and_loses_nothing(self):
        made = bfstore.create(self.path, capacity=100, exclusive=True)
        made.add("a")
        with self.assertWarnsRegex(ResourceWarning, "filter.bf: what was added is not synced$"):
            del made
            gc.collect()
        reader = bfstore.open(self.path)
        with self.assertWarnsRegex(ResourceWarning, "filter.bf$"):  # nothing was added
            del reader
            gc.collect()
        with self.open(self.path, "r+", exclusive=True, lock_timeout=0) as again:  # the first handle's locks are gone
            self.assertIn("a", again)

    def test_only_what_a_sync_would_make_durable_is_told_as_unsynced(self):
        def published():
            made = bfstore.create(self.path, capacity=10, unpublished=True, replace=True)
            made.add("a")
            made.publish()
            return made

        calls = {"build": lambda: bfstore.build(self.path, ["a"], replace=True),
                 "static": lambda: bfstore.build(self.path, ["a"], layout="static", replace=True),
                 "in parts": lambda: bfstore.build(self.path, (str(key) for key in range(9)), capacity=10, replace=True),
                 "publish": published,
                 "load": lambda: bfstore.load(self.path.read_bytes(), "r+")}
        for name, call in calls.items():
            with self.subTest(name), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                call()
                gc.collect()
                self.assertEqual([str(one.message) for one in told],
                                 [f"unclosed filter {'the loaded filter' if name == 'load' else self.path}"])

    def test_the_warning_as_an_error_is_only_told(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told = []
            hook, sys.unraisablehook = sys.unraisablehook, lambda what: told.append(what.exc_type)
            try:
                made = bfstore.create(self.path, capacity=100)
                del made
                gc.collect()
            finally:
                sys.unraisablehook = hook
        self.assertEqual(told, [ResourceWarning])

    def test_handles_do_not_leak_memory_or_descriptors(self):
        self.create().close()
        before = len(os.listdir("/proc/self/fd"))
        types = sys.getrefcount(bfstore.Filter)
        for _ in range(100):
            with bfstore.open(self.path) as opened:
                opened.contains_many(["a", 5, bytearray(b"x")])
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertLess(abs(sys.getrefcount(bfstore.Filter) - types), 20)

    def test_no_call_leaks_objects(self):
        made, other = self.create(), self.create(self.folder / "other", like=self.path)
        column, numbers = arrow.text([b"a", None]), array.array("q", range(99))
        foreign = self.folder / "foreign"
        foreign.write_bytes(JAYBIRD)

        def refused(call):
            with self.assertRaises((TypeError, ValueError, OverflowError, OSError, bfstore.Error)):
                call()

        def call_everything():
            made.contains_many([b"a", "b", 5, bytearray(b"x")])
            made.select(numbers), made.digest_many(numbers), made.contains_digests([1, 2])
            made.contains_many(arrow.Chunks([column, column]))
            made.merge(other), made.compare(other), made.stats(fill=True), made.marks(), made.note, made.seeds
            made.update(["a"], numbers), made.count, made.export_foreign("raw", order="big") if made.layout == "classic" else None
            bfstore.build(self.folder / "built", [b"a", 5], replace=True).close()
            bfstore.build(self.folder / "built", iter("ab"), 5, replace=True, seed=1, note=b"n").close()
            bfstore.build(self.folder / "built", arrow.Chunks([column, column]), replace=True).close()
            bfstore.open(self.folder / "built", "r").close(), bfstore.open(self.path, "a").close()
            bfstore.load(made.dump()).close(), bfstore.open(self.path).close(), bfstore.plan(capacity=5)
            bfstore.bare_build(bfstore.bare_bytes(10, 10.0), [b"a"])
            refused(lambda: made.add_many([b"a", "b", 5, None]))
            refused(lambda: made.add_many([5, 2**70]))
            refused(lambda: None in made)
            refused(lambda: made.contains_many(arrow.Chunks([column], failure=5)))
            refused(lambda: made.add_digests(memoryview(bytes(80))[::2]))
            refused(lambda: made.merge(1))
            refused(lambda: bfstore.wrap(bytes(100)))
            refused(lambda: bfstore.open(self.folder / "none"))
            refused(lambda: bfstore.open(self.path, offset=-1))
            refused(lambda: bfstore.intersect([made, None], self.folder / "none"))
            bfstore.open_foreign(foreign, "jaybird", member=1).close(), bfstore.recognize_foreign(foreign), bfstore.contains_any([made, other], "a")
            bfstore.which([made, other], 5)
            refused(lambda: bfstore.open_foreign(foreign, "jaybird", column="id"))
            refused(lambda: bfstore.contains_any([made, None], "a"))
            refused(lambda: bfstore.which([made, other], 1.5))
            refused(lambda: bfstore.verify(self.path))
            refused(lambda: made.seal("a\0b"))
            refused(lambda: made.dump(bare=True))
            refused(lambda: bfstore.build(self.folder / "none", [b"a", None]))
            refused(lambda: bfstore.build(self.folder / "none", [b"a"], hash="external"))
            refused(lambda: bfstore.create(self.folder / "none", 5, file_id=b"short"))
            refused(lambda: bfstore.format(bytearray(64), capacity=5, seeds=[2**70]))
            refused(lambda: bfstore.inspect_foreign(b"", "raw", order="big", num_bits=2**70))
        growths = []
        # An object lost in one of the calls makes each growth at least 60. The memory that the interpreter keeps for
        # later grows more slowly each time: 650, 290, 150, 90, 50, ...
        while len(growths) < 30 and not (growths and growths[-1] < 40):
            gc.collect()
            before = sys.getallocatedblocks()
            for _ in range(60):
                call_everything()
            gc.collect()
            growths.append(sys.getallocatedblocks() - before)
        self.assertLess(growths[-1], 40, growths)

    def test_a_failed_open_gives_back_its_buffer(self):
        for none in (bytearray(), array.array("B"), memoryview(bytearray(64))[64:], (ctypes.c_char * 0)()):
            with self.assertRaises(bfstore.InvalidError):
                bfstore.format(none, capacity=5)
        memory = bytearray(128)
        for call in (bfstore.wrap, bfstore.load, lambda buffer: bfstore.format(buffer, capacity=10**6)):
            with self.assertRaises(bfstore.Error):
                call(memory)
            memory.append(0)  # BufferError if it were still exported


class Copied(Case):
    def test_pickle_and_copy_are_refused_with_words(self):
        made = self.create()
        for call in (pickle.dumps, copy.copy, copy.deepcopy, lambda one: pickle.dumps(one, 0)):
            with self.assertRaisesRegex(TypeError, "neither pickled nor copied"):
                call(made)


class Threads(Case):
    def test_the_gil_is_free_in_a_batch(self):
        made = self.create(capacity=100_000)
        keys = memoryview(bytes(8 * 3_000_000)).cast("q")
        ticks, done = [0], threading.Event()

        def tick():
            while not done.is_set():
                ticks[0] += 1
                time.sleep(0.0001)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # no thread is asked to release the GIL, so only releases by the calls count
        self.addCleanup(sys.setswitchinterval, interval)
        thread = threading.Thread(target=tick)
        thread.start()
        before = after = 0
        for _ in range(2000):  # a busy machine may not run the thread for a while
            before = ticks[0]
            made.contains_many(keys)
            after = ticks[0]
            if after > before:
                break
        done.set()
        thread.join()
        self.assertGreater(after, before)

    def check_close_in_use(self, made, ask):
        """Threads look up keys without end; another thread closes. Each thread gets answers, "maybe" or ClosedError,
        and nothing crashes."""
        begun, failed = threading.Semaphore(0), []

        def work():
            try:
                while True:
                    begun.release()
                    ask(made)
            except bfstore.ClosedError:
                pass
            except BaseException as error:
                failed.append(error)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            begun.acquire()
        made.close()
        for thread in threads:
            thread.join(600)
            self.assertFalse(thread.is_alive())
        self.assertEqual(failed, [])
        self.assertTrue(made.closed)

    def test_close_while_other_threads_are_in_batches(self):
        present = memoryview(b"".join(i.to_bytes(8, "little") for i in range(20_000))).cast("q")
        for round_ in range(5):
            path = self.folder / f"{round_}"
            made = self.create(path, capacity=50_000, exclusive=round_ % 2 == 0)
            made.add_many(present)

            def ask(one):
                answers = one.contains_many(present)
                self.assertTrue(all(answers), "a wrong no while the filter was closed")
                one.add_many(present)
            self.check_close_in_use(made, ask)
            with self.open(path, no_write=True) as again:  # clean
                self.assertTrue(all(again.contains_many(present)))

    def test_close_while_other_threads_ask_several_filters(self):
        with self.create() as made:
            made.add("a")
        other = self.open()
        for ask in (bfstore.contains_any, bfstore.which):
            def check(one, ask=ask):
                self.assertTrue(ask([other, one], "a"), "a wrong no while the filter was closed")
            self.check_close_in_use(self.open(follow=True), check)  # such a lookup lets other threads run

    def test_close_of_a_buffer_while_other_threads_are_in_batches(self):
        memory = bytearray(bfstore.required_bytes(capacity=50_000) + 64)
        start = -ctypes.addressof((ctypes.c_char * len(memory)).from_buffer(memory)) % 64
        gc.collect()
        made = bfstore.format(memoryview(memory)[start:], capacity=50_000)
        self.check_close_in_use(made, lambda one: one.add_many(range(5_000)))
        gc.collect()
        memory.append(0)  # no thread uses the memory any more

    def test_publish_refuses_a_handle_in_use(self):
        made = self.create(unpublished=True, capacity=1000)
        keys = memoryview(bytes(8 * 2_000_000)).cast("q")
        start = threading.Event()
        thread = threading.Thread(target=lambda: (start.set(), made.contains_many(keys)))
        thread.start()
        start.wait()
        refused = 0
        while thread.is_alive() and not refused:
            try:
                made.publish()
                break
            except ValueError:
                refused += 1
        thread.join()
        self.assertTrue(refused or os.path.exists(self.path))


class Forked(Case):
    def test_a_child_asks_and_closes_and_may_not_add(self):
        made = self.create(capacity=1000)
        made.add("a")

        def child():
            assert "a" in made and "b" not in made
            for call in (lambda: made.add("b"), lambda: made.add_many(["b"]), lambda: made.sync()):
                try:
                    call()
                except bfstore.ForkedError as error:
                    assert error.code_name == "BFS_EFORKED"
                else:
                    raise AssertionError("no error")
            try:
                made.close()
            except bfstore.ForkedError:
                pass
            with bfstore.open(self.path, "r+") as own:
                own.add("of the child")
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join(600)
        self.assertEqual(process.exitcode, 0)
        self.assertIn("of the child", made)
        self.assertTrue(made.add("b"))


class Signals(Case):
    def test_a_truncated_file_is_doubt_with_the_handlers_of_faulthandler(self):
        program = f"""
            import bfstore, faulthandler, os
            faulthandler.enable()
            filter = bfstore.create({str(self.path)!r}, capacity=10_000_000)
            filter.close()
            filter = bfstore.open({str(self.path)!r}, guard=True)
            os.truncate({str(self.path)!r}, 20_000)
            assert all(filter.contains_many(range(1000)))
            assert filter.health in ("fault", "lost"), filter.health
            filter.abandon()
            print("alive")
        """
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "alive\n"), done.stderr)

    def test_faulthandler_still_tells_the_faults_of_others(self):
        program = f"""
            import bfstore, faulthandler, os, signal
            faulthandler.enable()
            bfstore.create({str(self.path)!r}, capacity=10).close()
            bfstore.open({str(self.path)!r}, guard=True).close()
            os.kill(os.getpid(), signal.SIGBUS)
        """
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, -signal.SIGBUS)
        self.assertIn("Fatal Python error: Bus error", done.stderr)


class Words(unittest.TestCase):
    def test_everything_public_has_a_docstring(self):
        for name in bfstore.__all__:
            thing = getattr(bfstore, name)
            self.assertTrue(thing.__doc__, name)
        for name in dir(bfstore.Filter):
            if not name.startswith("_"):
                self.assertTrue(getattr(bfstore.Filter, name).__doc__, name)

    def test_all_names_everything_public(self):
        modules = {"dataclasses", "datetime", "io", "math", "operator", "os", "re", "struct", "sys"}
        self.assertEqual({name for name in vars(bfstore) if not name.startswith("_")} - modules, set(bfstore.__all__))


if __name__ == "__main__":
    faulthandler.enable()
    unittest.main(verbosity=2)

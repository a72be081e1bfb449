"""How long the C ABI waits for a lock that another process holds, and the error after that.

Arguments: the shared library, capi/bfstore.h. Runs with the clock of tests/support/virtual_clock.h.
"""
import ctypes
import os
import unittest

from support import CODES, LIBRARY, Case, bfs

CLOCK = ctypes.CDLL(None)  # by LD_PRELOAD
CLOCK.virtual_clock_slept.restype = ctypes.c_uint64
DEED = ctypes.CFUNCTYPE(None)
CLOCK.virtual_clock_call_at.argtypes = [ctypes.c_uint64, DEED]
CLOCK.virtual_clock_sleeps_last.argtypes = [ctypes.c_uint64]
MILLISECOND, SECOND = 10**6, 10**9
POLL = MILLISECOND // 2


class Waiting(Case):
    """Cases with a child that has superseded the file, and neither publishes nor ends."""

    def setUp(self):
        super().setUp()
        self.close(self.create())
        self.child = 0
        self.addCleanup(self.let_go)
        self.hold()

    def hold(self):
        if self.child:
            return
        ready, told = os.pipe()
        done, self.done = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            try:
                os.close(self.done)
                flags = bfs.UNPUBLISHED | bfs.REPLACE
                handle = bfs.create(LIBRARY, self.path, flags, capacity=10)
                assert LIBRARY.bfs_supersede(handle, None) == 0
                os.write(told, b"x")
                os.read(done, 1)
                assert LIBRARY.bfs_close(handle, None) == 0
                os._exit(0)
            finally:
                os._exit(1)
        os.close(told)
        os.close(done)
        self.assertEqual(os.read(ready, 1), b"x")
        os.close(ready)

    def let_go(self):
        if self.child:
            child, self.child = self.child, 0
            os.close(self.done)
            self.assertEqual(os.waitpid(child, 0)[1], 0)

    def assert_busy(self, call):
        """Checks that the call ends with BFS_EBUSY and the name of the holder."""
        with self.assertRaises(bfs.CodeError) as refused:
            call()
        self.assertEqual(refused.exception.code, CODES["BFS_EBUSY"], refused.exception.message)
        self.assertIn(b"%d" % self.child, refused.exception.message)
        self.assertIn(self.path, refused.exception.message)

    def assert_waits(self, milliseconds, call):
        """Checks that the call is busy after this time, or less than a poll later."""
        CLOCK.virtual_clock_start()
        self.addCleanup(CLOCK.virtual_clock_stop)
        self.assert_busy(call)
        late = CLOCK.virtual_clock_slept() - milliseconds * MILLISECOND
        self.assertTrue(0 <= late < POLL, late)

    def openers(self, timeout):
        yield lambda: bfs.open_path(LIBRARY, self.path, bfs.WRITE, lock_timeout_ms=timeout)
        yield lambda: bfs.open_path(LIBRARY, self.path, bfs.EXCLUSIVE, lock_timeout_ms=timeout)
        yield lambda: bfs.create(LIBRARY, self.path, bfs.REPLACE, capacity=10, lock_timeout_ms=timeout)
        yield lambda: bfs.open_or_create(LIBRARY, self.path, capacity=10, lock_timeout_ms=timeout)[0]

    def test_no_wait_is_busy_at_once_and_a_time_is_kept(self):
        for timeout, milliseconds in ((bfs.LOCK_NO_WAIT, 0), (1, 1), (700, 700), (9000, 9000)):
            for call in self.openers(timeout):
                with self.subTest(timeout=timeout):
                    self.assert_waits(milliseconds, call)

    def test_without_a_time_it_is_five_seconds(self):
        self.assert_waits(5000, lambda: bfs.open_path(LIBRARY, self.path, bfs.WRITE))
        for call in self.openers(0):
            self.assert_waits(5000, call)

    def test_for_ever_is_until_the_lock_is_free_after_ten_minutes_too(self):
        for number in range(4):
            with self.subTest(number):
                self.hold()
                call = list(self.openers(bfs.LOCK_FOREVER))[number]
                CLOCK.virtual_clock_start()
                self.addCleanup(CLOCK.virtual_clock_stop)
                CLOCK.virtual_clock_sleeps_last(SECOND)
                let_go = DEED(self.let_go)
                CLOCK.virtual_clock_call_at(600 * SECOND, let_go)
                self.close(call())
                self.assertEqual(self.child, 0)
                self.assertTrue(600 * SECOND <= CLOCK.virtual_clock_slept() <= 601 * SECOND)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""How long the C ABI waits for a lock that another process holds, and the error after that.

Arguments: the shared library, capi/bfstore.h.
"""
import os
import time
import unittest

from support import CODES, LIBRARY, Case, bfs
SOON = 4.5  # seconds: less than the five that are waited without a word, and much on a machine that does other things


class Waiting(Case):
    """For a child that has superseded the file, and neither publishes nor goes away."""

    def setUp(self):
        super().setUp()
        self.close(self.create())
        ready, told = os.pipe()
        done, self.done = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            try:
                os.close(self.done)
                flags = bfs.OPTION_UNPUBLISHED | bfs.OPTION_REPLACE
                handle = bfs.call(LIBRARY.bfs_create, self.path, bfs.options(capacity=10, flags=flags))
                assert LIBRARY.bfs_supersede(handle, None) == 0
                os.write(told, b"x")
                os.read(done, 1)
                assert LIBRARY.bfs_close(handle, None) == 0
                os._exit(0)
            finally:
                os._exit(1)
        os.close(told)
        os.close(done)
        self.addCleanup(self.let_go)
        self.assertEqual(os.read(ready, 1), b"x")
        os.close(ready)

    def let_go(self):
        if self.child:
            os.close(self.done)
            self.assertEqual(os.waitpid(self.child, 0)[1], 0)
            self.child = 0

    def waits(self, call):
        """How long a call takes that ends with BFS_EBUSY and the name of the holder."""
        begin = time.monotonic()
        with self.assertRaises(bfs.CodeError) as refused:
            call()
        self.assertEqual(refused.exception.code, CODES["BFS_EBUSY"], refused.exception.message)
        self.assertIn(b"%d" % self.child, refused.exception.message)
        self.assertIn(self.path, refused.exception.message)
        return time.monotonic() - begin

    def openers(self, timeout):
        replace = bfs.options(capacity=10, flags=bfs.OPTION_REPLACE, lock_timeout_ms=timeout)
        yield lambda: bfs.open_with(LIBRARY, self.path, bfs.WRITE, lock_timeout_ms=timeout)
        yield lambda: bfs.open_with(LIBRARY, self.path, bfs.EXCLUSIVE, lock_timeout_ms=timeout)
        yield lambda: bfs.call(LIBRARY.bfs_create, self.path, replace)

    def test_no_wait_is_busy_at_once_and_a_time_is_kept(self):
        for call in self.openers(bfs.LOCK_NO_WAIT):
            self.assertLess(self.waits(call), SOON)
        for call in self.openers(700):
            waited = self.waits(call)
            self.assertTrue(0.7 <= waited < SOON, waited)

    def test_without_a_time_it_is_five_seconds(self):
        waited = self.waits(lambda: bfs.call(LIBRARY.bfs_open, self.path, bfs.WRITE))
        self.assertTrue(5 <= waited < 30, waited)

    def test_for_ever_is_longer_than_that(self):
        child = os.fork()
        if child == 0:
            try:
                os.close(self.done)
                bfs.open_with(LIBRARY, self.path, bfs.WRITE, lock_timeout_ms=bfs.LOCK_FOREVER)
                os._exit(0)
            finally:
                os._exit(1)
        time.sleep(6)
        self.assertEqual(os.waitpid(child, os.WNOHANG), (0, 0), "it did not wait")
        self.let_go()
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

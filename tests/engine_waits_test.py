"""The bound of engines.wait_until() ends a hang, says what was waited for, and is not reached by a test on a busy machine."""
import contextlib
import io
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "engines"))
import engines


class Clock:
    """A clock that each pause between two looks sets forward by `step` seconds."""

    def __init__(self, step):
        self.now, self.step = 0, step

    def monotonic(self):  # clock: this one
        return self.now

    def sleep(self, _):
        self.now += self.step


class Deadlines(unittest.TestCase):
    def wait(self, clock, ready=lambda: False):
        """Waits with this clock. Returns the number of looks, the error, and what was said before it."""
        looks, said = [], io.StringIO()

        def look():
            looks.append(clock.now)
            return ready()
        with mock.patch.object(engines, "time", clock), contextlib.redirect_stderr(said):
            try:
                engines.wait_until(look, "the moon")
            except TimeoutError as error:
                return len(looks), str(error), said.getvalue()
        return len(looks), None, said.getvalue()

    def test_a_hang_ends_and_names_what_was_waited_for(self):
        looks, error, said = self.wait(Clock(1))
        self.assertEqual(error, f"the moon: not in {looks} looks in 1201 seconds")
        self.assertEqual(said, "has waited 121 seconds for the moon, and waits on\n")

    def test_a_clock_that_jumps_is_no_hang(self):
        """A machine stood still between two looks."""
        looks, error, _ = self.wait(Clock(10_000))
        self.assertEqual(looks, engines.Deadline.LOOKS)
        self.assertIn("the moon", error)
        clock = Clock(10_000)
        self.assertEqual(self.wait(clock, lambda: clock.now > 500_000)[1], None)

    def test_many_quick_looks_are_no_hang(self):
        """A process that gets no processor needs time, however often this one looks."""
        clock = Clock(0.02)
        looks, error, _ = self.wait(clock, lambda: clock.now > 1000)
        self.assertEqual((looks > 40_000, error), (True, None))

    def test_what_comes_soon_is_not_talked_about(self):
        clock = Clock(1)
        self.assertEqual(self.wait(clock, lambda: clock.now == 100), (101, None, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)

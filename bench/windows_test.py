"""windows_rivals.py runs, each candidate keeps keys for as long as it promises in simulated time, and a candidate that does not is
found out. Nothing is timed.

Arguments: windows_rivals.py, the build directory, the compiler.
"""
import importlib.util
import subprocess
import sys
import types
import unittest

PROGRAM, BUILD, CC = sys.argv[1:4]
del sys.argv[1:]


class Rivals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", BUILD, "--cc", CC, "--quick"], capture_output=True, text=True, timeout=250, check=False)
        assert done.returncode == 0, done.stderr
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()[2:]]
        cls.rows, cls.left_out = {cells[0]: cells[1:] for cells in lines}, done.stderr

    def keeps(self, name, most, rate=1.2):
        """Checks the row whose name begins so: ages are counted by hundredths of a window."""
        self.assertIn(name, " ".join(self.rows))
        bits, *times, fpr, least, up_to, lost = next(row for its_name, row in self.rows.items() if its_name.startswith(name))
        self.assertEqual((len(times), float(least), lost), (3, 1.0, "0.0%"))
        self.assertGreater(float(bits.replace(",", "")), 9)
        self.assertLessEqual(float(fpr.strip("%")), rate)
        self.assertAlmostEqual(float(up_to), most, delta=0.0151)

    def test_filters_keep_their_keys_for_an_epoch_more_at_most(self):
        for name, most in (("`window`", 8 / 7), ("`window-4`", 4 / 3), ("`window-2`", 2), ("two `blocked` filters in turn", 2)):
            with self.subTest(name):
                self.keeps(name, most)

    def test_an_age_partitioned_filter_keeps_a_tenth_of_its_keys_for_some_epochs_more(self):
        # Half of the keys find the bit of the slice that is gone in the slice next to the others; a quarter twice, and so on.
        self.keeps("age-partitioned, k = 8, l = 7", 11 / 7)
        self.keeps("age-partitioned, k = 10, l = 24", 28 / 24)

    def test_dictionaries_are_exact(self):
        self.keeps("`OrderedDict`", 1, rate=0)

    def test_redis_is_exact(self):
        if "redis-server is not installed" in self.left_out:
            self.skipTest("redis-server is not installed")
        self.keeps("Redis, `SETEX`", 1, rate=0)


class Checks(unittest.TestCase):
    def test_a_candidate_that_forgets_or_has_another_rate_ends_the_run(self):
        spec = importlib.util.spec_from_file_location("windows_rivals", PROGRAM)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        good = {"lost": 0, "youngest": 1.0, "fpr": 0.01}
        one = types.SimpleNamespace(name="one", exact=False, promises=True)
        program.check(good, one)
        for bad in ({"lost": 0.001}, {"youngest": 0.99}, {"fpr": 0.013}):
            with self.assertRaises(SystemExit) as ended:
                program.check({**good, **bad}, one)
            self.assertRegex(str(ended.exception), r"^one: (0\.\d\d% of the window's keys|a rate of 1\.30%)")
        with self.assertRaises(SystemExit):
            program.check(good, types.SimpleNamespace(name="exact", exact=True, promises=True))
        program.check({**good, "lost": 0.2}, types.SimpleNamespace(name="published", exact=False, promises=False))


if __name__ == "__main__":
    unittest.main(verbosity=2)

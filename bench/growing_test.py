"""growing_rivals.py runs, each candidate has every key and the rate that it promises in the sizes that are expected, and a candidate that
has not is found out. Nothing is timed.

Arguments: growing_rivals.py, the build directory, the compiler.
"""
import importlib.util
import pathlib
import struct
import subprocess
import sys
import unittest

PROGRAM, BUILD, CC = sys.argv[1:4]
del sys.argv[1:]
BLOCKED, FOLDED, GROWING = "`blocked` of the right size", "`blocked` for the most, then folded", "`growing`"
REDISBLOOM, PYTHON, VALKEY = "RedisBloom", "pybloom-live, a loop in Python", "valkey-bloom, computed"


def program():
    spec = importlib.util.spec_from_file_location("growing_rivals", PROGRAM)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def rows(table):
    """{name: a list of numbers for each column, None for "-"}"""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    number = lambda text: None if text == "-" else float(text.replace(",", ""))
    return {name: [[number(text) for text in cell.split(" / ")] for cell in cells] for name, *cells in lines}


class Rivals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", BUILD, "--cc", CC, "--quick"], capture_output=True, text=True, timeout=250, check=False)
        assert done.returncode == 0, done.stderr
        table, slices = done.stdout.split("\n\n")
        cls.rows, cls.slices, cls.left_out = rows(table), rows(slices), done.stderr

    def bits_and_rates(self, name, how_many=4):
        """The numbers for 1, 10, 100 and 1000 times the first keys. Those beyond the capacity are none."""
        bits, *times, rates = self.rows[name]
        self.assertEqual(len(times), 3)
        for numbers in (bits, rates):
            self.assertEqual(len(numbers), 4)
            self.assertEqual([one is not None for one in numbers], [True] * how_many + [False] * (4 - how_many))
        return bits[:how_many], rates[:how_many]

    def has_rates(self, name, between, how_many=4):
        least, most = between
        for rate in self.bits_and_rates(name, how_many)[1]:
            self.assertTrue(least <= rate <= most, (name, rate))

    def test_filters_that_know_their_number_of_keys_have_their_rate_and_ten_bits_a_key(self):
        self.has_rates(BLOCKED, (0.9, 1.1))
        self.has_rates(FOLDED, (0.5, 1.1))
        for name in (BLOCKED, FOLDED):
            for bits in self.bits_and_rates(name)[0]:
                self.assertTrue(9.5 <= bits <= 13, (name, bits))

    def test_a_filter_that_grows_has_its_slices_and_no_more_than_its_rate(self):
        # 1,000 keys fill the first slice exactly.
        for name, how_many, slices in ((GROWING, 4, [1, 2, 3, 4]), ("`growing`, factor 4", 3, [1, 3, 5]), ("`growing`, factor 2", 2, [1, 4])):
            with self.subTest(name):
                self.has_rates(name, (0.15, 1.1), how_many)
                self.assertEqual(self.slices[name][0], slices + [None] * (4 - how_many))

    def test_chains_of_other_programs_have_the_rate_that_their_formulas_tell(self):
        # RedisBloom's filters share the rate. The first one of valkey-bloom has all of it.
        self.has_rates(VALKEY, (1, 2))
        self.assertEqual(self.bits_and_rates(VALKEY)[0][0], 9.6)
        linked = REDISBLOOM not in self.left_out
        self.has_rates(REDISBLOOM if linked else REDISBLOOM + ", computed", (0.45, 1.1))
        if not linked:
            self.assertIn("names its folder", self.left_out)
            self.assertNotIn(REDISBLOOM, self.rows)

    def test_a_chain_of_python_has_the_rates_of_its_filters(self):
        if "pybloom-live of PyPI" in self.left_out:
            self.skipTest("pybloom-live is not installed")
        self.has_rates(PYTHON, (0.5, 3.5), 2)


class Checks(unittest.TestCase):
    def test_a_candidate_with_a_wrong_no_or_another_rate_ends_the_run(self):
        rivals = program()
        good, one = {"wrong_noes": 0, "differ": False, "fpr": 0.01}, rivals.Row("one", None)
        rivals.check(one, good)
        for bad, says in (({"wrong_noes": 3}, "one: a wrong no for 3 keys"), ({"fpr": 0.013}, "one: a rate of 1.30%"),
                          ({"differ": True}, "one: one by one and many at once differ")):
            with self.assertRaises(SystemExit) as ended:
                rivals.check(one, {**good, **bad})
            self.assertEqual(str(ended.exception), says)
        above = rivals.Row("above its rate", None, keeps_rate=False)
        rivals.check(above, {**good, "fpr": 0.02})
        with self.assertRaises(SystemExit):
            rivals.check(above, {**good, "wrong_noes": 1})

    def test_the_formula_of_redisbloom_s_sizes_is_that_of_its_dump(self):
        """BF.RESERVE 0.01 50 with 1,000 keys, by RedisBloom's own code: five filters."""
        head, link = struct.Struct("<QIII"), struct.Struct("<QQQddIQB")
        dump = (pathlib.Path(PROGRAM).parent.parent / "tests" / "data" / "foreign" / "redisbloom.five-links.dump").read_bytes()
        dumped = [link.unpack_from(dump, head.size + number * link.size) for number in range(5)]
        has = [(bits, probes) for _bytes, bits, _keys, _fpr, _bits_a_key, probes, *_ in dumped]
        self.assertEqual([program().redisbloom_shape(50 * 2**number, number) for number in range(5)], has)


if __name__ == "__main__":
    unittest.main(verbosity=2)

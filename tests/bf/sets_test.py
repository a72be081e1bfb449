"""bf intersect, bf compare and bf clear: the common keys of filters, and a filter without its keys."""
import json
import os
import re
import stat

from bf_case import BfCase, PATIENCE, SURE, header, main

COUNT = 1200
KEYS = [b"key %d" % i for i in range(COUNT)]


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


class SetsCase(BfCase):
    def make(self, name, keys, *options):
        self.good("create", name, "-q", *(options or SURE))
        if keys:
            self.good("add", name, "-q", input=lines(keys))

    def maybe(self, name, keys):
        done = self.run_bf("contains", name, "--count", input=lines(keys))
        self.assertEqual(done.stderr, b"")
        return int(done.stdout.split()[1])


class Intersect(SetsCase):
    def test_the_keys_of_all_filters_are_in_it_and_others_are_not(self):
        self.make("a", KEYS[:800])
        self.make("b", KEYS[400:])
        self.make("c", KEYS[200:600])
        said = self.good("intersect", "ab", "a", "b")
        self.assertRegex(said, rb"^ab: has the keys that are in all of 2 filters, and is as full as with \d+ keys: its "
                               rb"false-positive rate is [\d.e-]+ now; room for 2,000 keys at a false-positive rate of 1e-07")
        self.assertEqual((self.maybe("ab", KEYS[400:800]), self.maybe("ab", KEYS[:400] + KEYS[800:])), (400, 0))
        self.assertEqual(self.good("intersect", "abc", "a", "b", "c", "-q", "--mode", "640"), b"")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("abc")).st_mode), 0o640)
        self.assertEqual(self.maybe("abc", KEYS), 200)
        for make in (("intersect", "ab", "a"), ("join", "ab", "a"), ("copy", "a", "ab"), ("fold", "a", "ab", "--to-fpr", "0.1"), ("seal", "a", "ab")):
            self.refused(*make, says="ab: exists already. Replace it (--force; if it has keys that the new one lacks, --accept-loss, too), or choose another name.")
        self.refused("intersect", "ab", "a", "c", "-q", "--force", says="ab: may have keys that c lacks")
        self.good("intersect", "ab", "a", "c", "-q", "--force", "--accept-loss")
        self.assertEqual(self.maybe("ab", KEYS), 400)

    def test_a_fold_in_vain_says_so(self):
        self.good("create", "odd", "-q", "--bits", str(512 * 13), "--probes", "7")
        self.good("add", "odd", "-q", input=b"".join(b"%d\n" % i for i in range(400)))
        self.assertIn(b"; not smaller: no size that divides that of odd keeps this rate", self.good("fold", "odd", "same", "--to-fpr", "0.02"))
        self.good("create", "even", "-q", "--bits", str(512 * 64), "--probes", "7")
        self.assertNotIn(b"not smaller", self.good("fold", "even", "half", "--to-fpr", "0.02"))

    def test_a_larger_filter_is_folded(self):
        shape = ["--layout", "classic", "--seed", "1", "--probes", "7", "--bits"]
        self.make("small", KEYS[:800], *shape, "60000")
        self.make("large", KEYS[400:], *shape, "180000")
        self.good("intersect", "both", "large", "small", "-q")
        self.assertEqual(header(self.path("both"))["m"], 60000)
        self.assertEqual(self.maybe("both", KEYS[400:800]), 400)

    def test_what_cannot_be_is_named_and_nothing_is_made(self):
        self.make("a", KEYS)
        self.make("b", KEYS, *SURE[:-1], "8")
        self.refused("intersect", "out", "a", "b", says=("b and a", "seed 8 and 7", "--like"))
        self.refused("intersect", "out", "a", "none", says="none: no such file")
        self.refused("intersect", "out", says="IN")
        self.refused("intersect", "a", "a", "a", "--force", says="a: is the file that would be copied")
        self.assertEqual(self.files(), ["a", "b"])
        self.assertEqual(self.maybe("a", KEYS), COUNT)


class Compare(SetsCase):
    def compare(self, *args, code=1):
        return json.loads(self.good("compare", *args, "--json", code=code))

    def test_the_numbers_of_keys_are_there_with_their_intervals(self):
        self.make("a", KEYS[:800])
        self.make("b", KEYS[400:])
        text = self.good("compare", "a", "b", code=1).decode()
        self.assertIn("shape: the same\n", text)
        self.assertRegex(text, r"(?m)^keys of a: about [78]\d\d \([78]\d\d to 8\d\d\)$")
        self.assertRegex(text, r"(?m)^keys of both: about [34]\d\d \(3\d\d to 4\d\d\)$")
        self.assertRegex(text, r"(?m)^Jaccard: about 0.3\d* \(0.3\d* to 0.3\d*\)$")
        self.assertIn("bits: each has some that the other lacks\n", text)
        found = self.compare("a", "b")
        self.assertEqual((found["a"], found["b"], found["differ"], found["comparable"]), ("a", "b", [], True))
        self.assertEqual((found["equal"], found["a_in_b"], found["b_in_a"], found["some_in_both"]), (False, False, False, True))
        for name, truth in (("keys_a", 800), ("keys_b", 800), ("keys_either", 1200), ("keys_both", 400), ("jaccard", 1 / 3)):
            with self.subTest(name):
                # Twice the interval: this is one pair, and must not fail by chance.
                spread = found[name]["high"] - found[name]["low"]
                self.assertLess(abs(found[name]["estimate"] - truth), spread + 1)
                self.assertLess(spread, truth / 5)

    def test_a_narrow_interval_has_enough_digits_that_its_ends_differ(self):
        self.good("create", "a", "-q", "--bits", "32Mi", "--probes", "1", "--seed", "1")
        self.good("create", "b", "-q", "--like", "a")
        for name, first in (("a", 1), ("b", 1501)):
            self.good("add", name, "-q", input=b"".join(b"%d\n" % key for key in range(first, first + 2500)))
        text = self.good("compare", "a", "b", code=1).decode()
        low, high = (float(end) for end in re.search(r"(?m)^Jaccard: about 0\.2\d* \((0\.2\d*) to (0\.2\d*)\)$", text).groups())
        self.assertLess(low, high)
        self.assertEqual(f"{low:.3g}", f"{high:.3g}")

    def test_the_exit_code_tells_equal_from_different_and_from_an_error(self):
        self.make("a", KEYS)
        self.good("copy", "a", "same", "-q")
        self.make("part", KEYS[:300])
        self.assertIn(b"bits: equal: both say the same of every key\n", self.good("compare", "a", "same"))
        self.assertTrue(self.compare("a", "same", code=0)["equal"])
        self.assertEqual(self.good("compare", "a", "same", "-q"), b"")
        self.assertEqual(self.good("compare", "a", "part", "-q", code=1), b"")
        self.assertIn(b"bits: every bit of part is in a\n", self.good("compare", "a", "part", code=1))
        self.assertIn(b"bits: every bit of part is in a\n", self.good("compare", "part", "a", code=1))
        self.refused("compare", "a", "none", says="none: no such file. Give the path of a filter.")
        self.refused("compare", "a", ".", says=".: a directory. Give the path of a filter file.")
        self.refused("compare", "a", says="B")
        self.refused("compare", "a", "same", "-q", "--json", says="--json")

    def test_filters_with_counters_are_equal_if_the_counters_are_and_a_key_counts_once(self):
        shape = ["--layout", "counting", "--capacity", "2000", "--seed", "7"]
        self.make("a", KEYS[:800], *shape)
        self.make("b", KEYS[400:], *shape)
        found = self.compare("a", "b")
        for name, truth in (("keys_a", 800), ("keys_b", 800), ("keys_either", 1200), ("keys_both", 400)):
            self.assertAlmostEqual(found[name]["estimate"], truth, delta=40)
        self.good("copy", "a", "same", "-q")
        self.assertIn(b"bits: equal: both say the same of every key\n", self.good("compare", "a", "same"))
        self.good("add", "same", "-q", "key 1")  # once more: no bit changes, but a counter does
        found = self.compare("a", "same")
        self.assertEqual((found["equal"], found["a_in_b"], found["b_in_a"]), (False, True, False))
        self.assertEqual(found["keys_a"], found["keys_b"])
        self.good("remove", "same", "-q", "key 1")
        self.good("compare", "a", "same", "-q")

    def test_parts_of_a_filter_differ_in_their_part(self):
        for number in "01":
            self.good("create", number, "-q", "--capacity", "2000", "--seed", "7", "--part", f"{number}/2")
        self.assertIn("part", self.compare("0", "1")["differ"])
        self.assertTrue(self.good("compare", "0", "1", code=1).startswith(b"differ in: part\n"))

    def test_filters_that_differ_say_in_what(self):
        self.make("a", KEYS[:300])
        self.make("b", KEYS[:300], "--capacity", "3000", "--seed", "8", "--layout", "classic", "--fpr", "0.01")
        text = self.good("compare", "a", "b", code=1).decode()
        self.assertRegex(text, r"^differ in: layout blocked and classic, seed 7 and 8, number of probes \d+ and \d+, "
                               r"number of bits [\d,]+ and [\d,]+\n")
        self.assertIn("keys of both: cannot be told", text)
        found = self.compare("a", "b")
        self.assertEqual(found["differ"], ["layout", "seed", "num_probes", "num_bits"])
        self.assertEqual((found["comparable"], found["equal"], found["keys_both"]), (False, None, None))
        self.assertAlmostEqual(found["keys_b"]["estimate"], 300, delta=20)

    def test_one_with_no_key_of_the_other_and_one_that_is_full(self):
        shape = ["--seed", "7", "--bits", "8192", "--probes", "3"]
        self.make("a", KEYS[:300], *shape)
        self.make("b", KEYS[600:900], *shape)
        self.assertIn(b", which cannot be told from none\n", self.good("compare", "a", "b", code=1))
        self.make("full", [], *shape)
        self.run_bf("add", "full", "-q", input=lines([b"%d" % i for i in range(50000)]))  # warns
        self.assertIn(b" to any number)\n", self.good("compare", "a", "full", code=1))
        self.assertIsNone(self.compare("a", "full")["keys_b"]["high"])

    def test_a_filter_in_use_is_compared_and_one_that_is_filled_is_not(self):
        self.make("a", KEYS)
        self.good("copy", "a", "before", "-q")
        writer = self.spawn("add", "a", "-q")
        self.good("compare", "a", "before")
        writer.communicate(b"later\n", timeout=PATIENCE)
        self.good("compare", "a", "before", "-q", code=1)
        self.good("create", "half", "-q", "--filling", *SURE)
        self.refused("compare", "a", "half", says="Finish the filling (bf finish-filling) first")


class Clear(SetsCase):
    def test_a_cleared_filter_is_the_same_but_for_its_keys(self):
        self.make("f", KEYS, *SURE, "--note", "my words", "--mode", "640")
        before = header(self.path("f"))
        self.refused("clear", "f", says=("f: would lose every key", "--force"))
        self.assertEqual(self.maybe("f", KEYS), COUNT)
        self.assertRegex(self.good("clear", "f", "--force"), rb"^f: cleared, room for 2,000 keys at a false-positive rate of")
        self.assertEqual(self.maybe("f", KEYS), 0)
        after = header(self.path("f"))
        self.assertEqual(after.pop("keys_added"), 0)
        before.pop("keys_added")
        self.assertEqual(after, before)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("f")).st_mode), 0o640)

    def test_a_process_that_has_the_old_file_open_hears_of_it(self):
        self.make("f", KEYS)
        writer = self.spawn("add", "f")
        writer.stdin.write(b"first\n")
        writer.stdin.flush()
        self.wait_until(lambda: self.run_bf("contains", "f", "first").returncode == 0)
        done = self.run_bf("clear", "f", "--force")
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, says="f: a writer had the old file open. Its adds get an error until it opens the path again")
        said, complaint = writer.communicate(b"later\n", timeout=PATIENCE)
        self.assertEqual((writer.returncode, said), (2, b""))
        self.assert_complaint(complaint, "another file replaced this one, or is replacing it")
        self.assertEqual(self.maybe("f", KEYS + [b"first", b"later"]), 0)

    def test_a_sealed_filter_is_not_sealed_any_more(self):
        self.make("f", KEYS)
        self.good("seal", "f", "s", "-q")
        self.assertTrue(self.good("clear", "s", "--force").endswith(b" KiB. It is not sealed any more\n"))
        self.good("add", "s", "-q", "a")

    def test_rows_that_are_left_are_maybe_until_the_filling_is_over(self):
        self.make("f", KEYS)
        self.assertIn(b"It answers maybe until bf finish-filling", self.good("clear", "f", "--force", "--filling"))
        self.refused("contains", "f", "key 1", says="still being filled, so every answer is maybe")
        self.good("add", "f", "-q", "key 1")
        self.good("finish-filling", "f", "-q")
        self.assertEqual(self.maybe("f", KEYS), 1)

    def test_a_filter_that_is_being_filled_stays_so(self):
        # It became an empty filter, which called the keys absent that its builder still had.
        self.good("create", "f", "-q", "-n", "100", "--filling")
        self.refused("clear", "f", "--force", says=["f: is being filled, and empty it would call keys absent", "Give --filling, too"])
        self.good("clear", "f", "--force", "--filling", "-q")
        self.refused("contains", "f", "x", says="still being filled")
        self.good("finish-filling", "f", "-q")
        self.good("clear", "f", "--force", "-q")
        self.good("contains", "f", "x", code=1)

    def test_a_filter_with_a_secret_needs_it_and_keeps_it(self):
        os.chmod(self.write("secret", bytes(range(16))), 0o600)
        self.make("f", [], "--capacity", "100", "--hash", "siphash", "--secret-file", "secret")
        self.good("add", "f", "x", "-q", "--secret-file", "secret")
        self.refused("clear", "f", "--force", says="--secret-file")
        self.good("clear", "f", "--force", "-q", "--secret-file", "secret")
        self.good("add", "f", "y", "-q", "--secret-file", "secret")
        self.assertEqual(self.run_bf("contains", "f", "x", "y", "--secret-file", "secret").stdout, b"absent\tx\nmaybe\ty\n")

    def test_what_cannot_be_is_named(self):
        self.refused("clear", "none", "--force", says="none")
        self.write("text", b"not a filter")
        self.refused("clear", "text", "--force", says="text")
        self.make("f", [])
        os.symlink("f", self.path("link"))
        self.refused("clear", "link", "--force", says="link: a symbolic link")
        self.assertEqual(self.files(), ["f", "link", "text"])


if __name__ == "__main__":
    main()

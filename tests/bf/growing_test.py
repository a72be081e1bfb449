"""Files that grow (--layout growing): what bf says of them while they grow, when they cannot, and of what they do not do."""
import json
import os
import resource

from bf_case import BfCase, main

MOST = 11111  # times the capacity, with slices each 10 times as large as the one before


def numbers(count):
    return b"".join(b"%d\n" % i for i in range(count))


class Growing(BfCase):
    def make(self, name, *arguments):
        return self.good("create", name, "--layout", "growing", "--seed", "7", *arguments).decode()

    def facts(self, name):
        return json.loads(self.run_bf("inspect", "--json", name).stdout)

    def test_a_new_one_says_how_far_it_grows(self):
        self.assertIn("f: created, room for 1,000 keys, grows to 11,111,000, at a false-positive rate of 0.01; growing, ", self.make("f", "-n", "1000"))
        said = self.good("add", "g", "--create", "--layout", "growing", "-n", "1000", "--capacity-at-most", "31k", "x")
        self.assertIn(b"created, room for 1,000 keys, grows to 31,000, at", said)

    def test_the_most_keys_that_may_come_give_the_least_growth_that_reaches_them(self):
        for most, growth, capacity in (("1001", 2, 31000), ("31k", 2, 31000), ("31_001", 3, 121000), ("11_111_000", 10, 11111000), ("69_905_000", 16, 69905000)):
            self.make("f", "-n", "1000", "--capacity-at-most", most, "--force")
            facts = self.facts("f")
            self.assertEqual([facts[key] for key in ("growth", "capacity_at_most", "capacity", "num_slices", "most_slices")], [growth, capacity, 1000, 1, 5], most)
        self.refused("create", "g", "--layout", "growing", "-n", "1000", "--capacity-at-most", "69_905_001",
                     says=("g: a filter for 1000 keys at first grows to at most 69905", "Give a larger capacity, or a smaller --capacity-at-most."))
        # It was made, and "at most" was forgotten.
        self.refused("create", "g", "--layout", "growing", "-n", "1000", "--capacity-at-most", "999",
                     says="g: --capacity-at-most is 999 keys, fewer than the capacity of 1000 keys with which the filter begins. Give a smaller capacity.")
        self.refused("create", "g", "-n", "1000", "--capacity-at-most", "69_905", says="--capacity-at-most was given, and another number")
        self.assertFalse(os.path.exists(self.path("g")))

    def test_nothing_is_said_of_a_full_filter_while_it_grows(self):
        self.make("f", "-n", "10", "--capacity-at-most", "300")
        for count in (10, 11, 29, 31, 300):
            said = self.run_bf("add", "f", "--from", "-", input=numbers(count))
            self.assertEqual((said.returncode, said.stderr), (0, b""), count)
        self.assertEqual((self.facts("f")["num_slices"], self.facts("f")["capacity"]), (5, 310))

    # It was "see bf help fold", which does not take such a file.
    def test_five_full_slices_have_a_warning_and_a_way_out(self):
        self.make("f", "-n", "1000", "--capacity-at-most", "31k")
        held = self.keys_within_promise("f")
        said = self.run_bf("add", "f", "-q", "--from", "-", input=numbers(2 * held))
        self.assertEqual(said.returncode, 0)
        self.assert_warning(said.stderr, says=(f"f: holds more than the {held:,} keys with which it keeps its promised false-positive rate of 0.01. It has all its slices, and "
                                               "grows no more. Make one with a larger --capacity, of all keys, with bf build."))
        self.assertEqual((self.facts("f")["num_slices"], self.facts("f")["overfull"]), (5, True))

    def keys_within_promise(self, name):
        """Returns what five slices hold, as bf plan computes it of the first one."""
        facts = self.facts(name)
        times = facts["capacity_at_most"] // facts["first_capacity"]
        first = json.loads(self.good("plan", "--layout", "growing", "-m", str(facts["num_bits"]), "-k", str(facts["num_probes"]), "-p", "0.01", "--json"))["layouts"][0]["capacity"]
        return max(first, facts["first_capacity"]) * times

    def test_one_that_cannot_grow_is_said_to_have_no_room(self):
        # Nothing told it from one that grew.
        self.make("f", "-n", "1000")
        size = os.path.getsize(self.path("f"))
        # The signal of this limit stays ignored, as Python ignores it.
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), "restore_signals": False}
        said = self.run_bf("add", "f", "-q", "--from", "-", input=numbers(3000), **limited)
        self.assertEqual(said.returncode, 0)
        self.assert_warning(said.stderr, says=("f: has not grown, and holds ", " keys in slices for 1,000, so that its false-positive rate rises. Its next slice needs 16.9 KiB, and "
                                               "this process may write files of ", ": raise that limit (ulimit -f). The next new key tries again."))
        self.assertEqual(self.facts("f")["num_slices"], 1)
        self.assertEqual(self.good("add", "f", "-q", "new"), b"")  # it grows now
        self.assertEqual(self.facts("f")["num_slices"], 2)

    def test_what_it_does_not_do_is_refused_with_its_name_and_a_way_out(self):
        self.make("a", "-n", "1000")
        self.good("create", "b", "-q", "--like", "a")
        self.good("add", "a", "-q", "--from", "-", input=numbers(1500))
        self.good("add", "b", "-q", "y")
        for command, file, says in REFUSED:
            self.refused(*command, says=(file + ": ", *says))
            self.assertFalse(os.path.exists(self.path("new")), command)

    def test_a_copy_has_its_slices_and_grows_on(self):
        self.make("a", "-n", "1000")
        self.good("add", "a", "-q", "--from", "-", input=numbers(5000))
        said = self.good("copy", "a", "b").decode()
        self.assertIn("b: copied, room for 11,000 keys, grows to 11,111,000, at", said)
        self.good("add", "b", "-q", "--from", "-", input=numbers(12000))
        self.assertEqual([self.facts(name)["num_slices"] for name in "ab"], [2, 3])
        self.assertEqual(self.good("contains", "b", "11999", "-q"), b"")

    def test_help_knows_it(self):
        for command, words in (("create", "growing (5 slices)"), ("create", "bf create grows.bf --layout growing --capacity 100k --capacity-at-most 10M"),
                               ("fold", "A filter of the layout growing is not folded: it begins small, and grows while it is used (bf plan --grow-to compares the ways)."),
                               ("add", "of --layout growing: room in all slices")):
            self.assertIn(words, " ".join(self.good("help", command).decode().split()), command)


class Plans(BfCase):
    def test_a_plan_has_the_first_slice_and_says_how_far_it_grows(self):
        text = self.good("plan", "-n", "1M", "-p", "1%", "--layout", "growing").decode()
        self.assertEqual(text.split("\n")[0], "1,000,000 keys at first, at 1 %: 1.7 MiB, growing")
        said = " ".join(text.split())
        self.assertIn("growing begins like this, and grows to 11,111,000,000 keys in ", said)
        self.assertIn("up to 5 slices, each 10 times as large as the one before (--capacity-at-most). p is the rate when all of them are full.", said)
        self.assertIn("  bf create filter.bf --layout growing -n 1_000_000 -p 0.01\n", text)

    def test_json_has_each_slice_and_the_curve_of_the_slices(self):
        plan = json.loads(self.good("plan", "-n", "100k", "-p", "1%", "--layout", "growing", "--json", "--curve"))["layouts"][0]
        self.assertEqual((plan["growth"], [one["capacity"] for one in plan["grown"]]), (10, [100000 * times for times in (1, 11, 111, 1111, MOST)]))
        self.assertEqual(plan["grown"][0], {key: plan[key] for key in ("capacity", "body_bytes", "file_bytes")})
        curve = {point["keys"]: point["fpr"] for point in plan["curve"]}
        # One full slice has about a fifth of the rate of five. The second one begins empty.
        self.assertAlmostEqual(curve[100000] / plan["fpr"], 0.2, delta=0.01)
        self.assertLess(curve[200000], 1.05 * curve[100000])
        blocked = json.loads(self.good("plan", "-n", "100k", "-p", "1%", "--layout", "blocked", "--json"))["layouts"][0]
        self.assertEqual((blocked["growth"], blocked["grown"]), (None, None))

    def test_a_plan_like_a_file_has_its_growth(self):
        self.good("create", "f", "-q", "--layout", "growing", "-n", "1000", "--capacity-at-most", "121k")
        text = self.good("plan", "--like", "f").decode()
        self.assertIn("grows to 121,000 keys", " ".join(text.split()))
        self.assertIn("--layout growing --capacity-at-most 121_000 -m ", text)


# A command, the file that it names, and what it says.
REFUSED = [
    (("seal", "a", "new"), "a", ["grows, so it is not sealed.", "build one for its number of keys and seal that"]),
    (("seal", "a", "new", "--to-fpr", "0.1"), "a", ["grows, so it is not sealed."]),
    (("fold", "a", "new"), "a", ["filters of the layout growing with the hash xxh3 cannot be folded. Build a smaller one from all keys."]),
    (("copy", "a", "new", "--to-fpr", "0.1"), "a", ["cannot be folded. Build a smaller one from all keys."]),
    # "Each has epochs of its own."
    (("merge", "new", "a", "b"), "new", ["filters of the layout growing do not merge. Each has slices of its own: ask them together (bf contains --any)."]),
    (("merge", "a", "b", "--into"), "a", ["filters of the layout growing do not merge. Each has slices of its own: ask them together (bf contains --any)."]),
    (("intersect", "new", "a", "b"), "a", ["filters of the layout growing have no intersection. Build a filter of the keys that all of them have."]),
    (("join", "new", "a", "b"), "a", ["is no part of a filter, but a whole one."]),
    (("compare", "a", "b"), "a", ["filters of the layout growing cannot be compared, for the same keys may have other bits in each of them. Compare lists of their keys."]),
    (("export", "a", "new", "--format", "dcso"), "a", ["the layout growing has bits in an order of its own."]),
    (("delta", "a", "b", "new"), "a", ["filters of the layout growing have no deltas, for a body of them can lose bits, or grow. Send a new file."]),
    (("create", "new", "--layout", "growing", "-n", "9", "--part", "0/4"), "new", ["the layout growing grows as a whole, and has no parts. Use blocked."]),
    (("create", "new", "--layout", "growing", "--capacity-at-most", "9"), "new", ["--capacity-at-most was given without the number of keys to begin with. Give capacity, too."]),
    (("create", "new", "--layout", "growing", "-n", "9", "--hash", "murmur3"), "new", ["which the layout growing does not take. Use the classic layout."]),
    (("remove", "a", "x"), "a", ["removes no keys", "--layout counting"]),
    (("turn", "a"), "a", ["do not expire"]),
    (("verify", "a"), "a", ["not sealed, so it has no checksums."])]


if __name__ == "__main__":
    main()

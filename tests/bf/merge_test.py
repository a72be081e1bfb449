"""bf merge and bf copy: one filter of several, copies of filters in use, and what --force may replace."""
import os
import pathlib
import signal

from bf_case import BfCase, DIRTY, PATIENCE, SURE, header, main

COUNT = 1500
KEYS = [b"key %d" % i for i in range(COUNT)]


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


class Merge(BfCase):
    SHAPE = ["--bits", "1Mi", "--probes", "3", "--seed", "7"]

    def body(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[16384:]

    def make(self, name, keys, *options):
        self.good("create", name, "-q", *(options or ("--like", "like")))
        self.good("add", name, "-q", input=lines(keys))

    def setUp(self):
        super().setUp()
        self.good("create", "like", "-q", *SURE)

    def maybe(self, name, keys=KEYS, **how):
        return int(self.good("contains", name, "--count", input=lines(keys), **how).split()[1])

    def test_parts_of_a_list_become_the_filter_of_the_whole_list(self):
        for number in range(3):
            self.make(f"part{number}", KEYS[number::3])
        self.make("all", KEYS)
        before = [self.body(f"part{number}") for number in range(3)]
        said = self.good("merge", "merged", "part0", "part1", "part2")
        self.assertRegex(said, rb"^merged: has the keys of 3 filters, about 1,\d{3} keys; room for 2,000 keys")
        self.assertEqual(self.body("merged")[:-8], self.body("all")[:-8])  # the end word is the file's own
        self.assertEqual([self.body(f"part{number}") for number in range(3)], before)
        self.assertAlmostEqual(header(self.path("merged"))["keys_added"], COUNT, delta=COUNT // 50)
        self.refused("merge", "merged", "part0", says="--force")
        self.refused("merge", "-q", "--force", "merged", "part0", says="merged: may have keys that the merged filter lacks")
        self.assertEqual(self.good("merge", "-q", "--force", "--accept-loss", "merged", "part0"), b"")
        self.assertEqual(self.maybe("merged"), COUNT // 3)

    def test_a_filter_in_use_gets_the_keys_of_others_and_keeps_its_own(self):
        self.make("into", KEYS[:500])
        self.make("from", KEYS[500:])
        writer = self.spawn("add", "into", "-q")
        writer.stdin.write(b"late\n")
        writer.stdin.flush()
        for _ in range(2):
            self.good("merge", "into", "from", "--into", "-q")
            self.assertRegex(self.good("merge", "into", "from", "--into"), rb"^into: has the keys of from, too, about [0-9,]+ keys in all; room for ")
            self.assertRegex(self.good("merge", "into", "from", "from", "--into"), rb"^into: has the keys of 2 more filters, about ")
            self.assertEqual(self.maybe("into"), COUNT)
        writer.communicate(b"later\n", timeout=PATIENCE)
        self.assertEqual(self.maybe("into", KEYS + [b"late", b"later"]), COUNT + 2)

    def test_a_larger_filter_is_folded_and_the_smallest_gives_the_size(self):
        shape = ["--layout", "classic", "--seed", "1", "--probes", "3", "--bits"]
        self.make("small", KEYS[:100], *shape, "30000")
        self.make("large", KEYS[100:], *shape, "120000")
        self.make("all", KEYS, *shape, "30000")
        self.good("merge", "merged", "large", "small", "-q")
        self.assertEqual(self.body("merged")[:-8], self.body("all")[:-8])
        self.refused("merge", "large", "small", "--into", says=("small", "large", "number of bits 30000 and 120000"))

    def test_too_many_keys_for_the_filter_are_told(self):
        self.make("one", KEYS[:50], "--capacity", "50", "--seed", "7")
        self.make("two", [b"other %d" % i for i in range(50)], "--like", "one")
        done = self.run_bf("merge", "all", "one", "two")
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, "more than the 51 with which it keeps its promise")

    def test_what_does_not_fit_is_named_and_nothing_is_made(self):
        self.make("one", KEYS)
        self.make("two", KEYS, *SURE[:-1], "8")
        self.refused("merge", "out", "one", "two", says=("two and one: differ in seed 8 and 7", "--like", "out was not made."))
        self.refused("merge", "out", "one", "none", says="none: no such file")
        self.refused("merge", "out", says="IN")
        self.refused("merge", "none", "one", "--into", says="none: no such file")
        self.refused("merge", "one", "two", "--into", "--force", says="--force")
        self.refused("merge", "one", "two", says=("one: exists already. Merge into it (--into)", "lose its keys (--force)"))
        self.refused("merge", "out", "", says="IN")
        os.link(self.path("one"), self.path("link"))
        for source in ("one", "link"):
            self.refused("merge", "one", source, "--force", says=("one: is one of the filters", "--into"))
            self.refused("merge", "one", source, "--into", says=("one: is one of the filters", "leave it out"))
        self.assertFalse(os.path.exists(self.path("out")))

    def make_halves(self):
        """Makes the filters one and two, each with every other key."""
        for name, first in (("one", 0), ("two", 1)):
            self.make(name, KEYS[first::2], *self.SHAPE)

    def test_a_merge_that_is_killed_at_any_step_leaves_nothing_or_the_whole_and_can_be_repeated(self):
        self.make_halves()
        met = set()
        for call, _ in self.killed_at_each_step("merge", "out", "one", "two", "-q", signals=[signal.SIGKILL]):
            made = os.path.exists(self.path("out"))
            met.add((made, call is not None))
            self.assertTrue(made or call is not None)
            if made:
                self.assertEqual(self.maybe("out"), COUNT, call)
                os.unlink(self.path("out"))
        self.assertEqual(met, {(False, True), (True, True), (True, False)})
        self.good("merge", "out", "one", "two", "-q")
        self.assertEqual(self.maybe("out"), COUNT)

    def test_a_filter_keeps_its_keys_when_a_merge_into_it_is_killed_at_any_step(self):
        self.make_halves()
        self.make("into", [b"mine"], *self.SHAPE)
        met = set()
        for call, _ in self.killed_at_each_step("merge", "into", "one", "two", "--into", "-q", signals=[signal.SIGKILL]):
            met.add(self.recover_if_it_was_syncing("into"))
            self.good("contains", "into", "mine")
        self.assertEqual(met, {False, True})
        self.assertIsNone(call, "the last one was not killed")
        self.assertEqual(self.maybe("into", KEYS + [b"mine"]), COUNT + 1)

    def recover_if_it_was_syncing(self, name):
        """Recovers the file if a process was killed while it synced. Returns whether it was."""
        asked = self.run_bf("contains", name, "mine")
        if asked.returncode != 2:
            return False
        self.assert_complaint(asked.stderr, says="not closed cleanly")
        self.good("recover", name, "-q", "mine")
        return True


class Copy(BfCase):
    def test_a_filter_in_use_is_copied_and_cp_makes_a_file_that_is_refused(self):
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", input=lines(KEYS))
        writer = self.spawn("add", "f", "-q")
        self.wait_until(lambda: header(self.path("f"))["state"] == DIRTY)
        self.assertRegex(self.good("copy", "f", "g"), rb"^g: copied, room for 2,000 keys")
        with open(self.path("f"), "rb") as file:
            self.write("cp", file.read())
        self.refused("contains", "cp", "x", says="cp")
        self.assertEqual(self.good("contains", "g", "--count", input=lines(KEYS)), b"maybe\t1500\nabsent\t0\n")
        writer.communicate(b"later\n", timeout=PATIENCE)
        self.refused("copy", "f", "g", says="--force")
        for command in (["copy", "f", "f"], ["fold", "f", "f", "--to-fpr", "0.1"]):
            for force in ([], ["--force"]):
                self.refused(*command, *force, says="f: is the source, which stays as it is. Give another name.")
        self.good("copy", "f", "g", "--force", "-q", "--mode", "640")
        self.good("contains", "g", "later")
        self.refused("copy", "none", "h", says="none: no such file")

    def test_a_copy_over_a_filter_that_has_other_keys_needs_a_word_and_a_newer_one_over_its_copy_needs_none(self):
        self.good("create", "f", "-q", *SURE)
        self.good("copy", "f", "old", "-q")
        self.good("add", "f", "-q", "later")
        self.good("copy", "f", "backup", "-q")
        self.good("add", "f", "-q", "last")
        self.good("copy", "f", "backup", "-q", "--force")
        says = ["f: may have keys that old lacks", "--filling", "--accept-loss"]
        self.refused("copy", "old", "f", "--force", says=says)
        self.refused("copy", "old", "f", "--accept-loss", says="--force")
        self.good("contains", "f", "later", "last")
        os.truncate(self.path("f"), os.path.getsize(self.path("f")) - 1)  # nothing can be read of its keys
        self.refused("copy", "old", "f", "--force", says=["f: is no filter file, or damaged (BFS_E", *says[1:]])
        self.good("copy", "backup", "f", "-q", "--force", "--accept-loss")
        self.good("copy", "old", "f", "-q", "--force", "--accept-loss")
        self.good("contains", "f", "later", code=1)

    # It was replaced with a warning: where bf cannot compare, --force meant --accept-loss.
    def test_a_filter_that_cannot_be_compared_is_replaced_with_the_word_alone_unless_it_is_empty(self):
        for name, secret in (("s", b"1" * 32), ("t", b"2" * 32)):
            self.write(name + ".secret", secret)
            os.chmod(self.path(name + ".secret"), 0o600)
        keyed = ["--hash", "siphash", "--secret-file"]
        self.good("create", "old", "-q", "-n", "2000", "--seed", "7")
        self.good("create", "keyed", "-q", "-n", "2000", *keyed, "s.secret")
        self.good("create", "classic", "-q", "-n", "2000", "--seed", "7", "--layout", "classic")
        classic = ["-n", "2000", "--layout", "classic"]
        others = (("has another seed than the new file", "old", ["-n", "2000", "--seed", "8"]),
                  ("has the layout classic, and the new file the layout blocked", "old", [*classic, "--seed", "7"]),
                  ("has the layout window, and the new file the layout blocked", "old", ["-n", "2000", "--seed", "7", "--window", "1h"]),
                  ("has another number of probes than the new file", "old", ["-n", "2000", "--seed", "7", "--bits-per-key", "30"]),
                  ("has a size that is neither a multiple nor a divisor of the new file's", "old", ["-n", "2700", "--seed", "7"]),
                  ("has another hash than the new file", "classic", [*classic, "--hash", "murmur3"]))
        for why, made, shape in others:
            with self.subTest(why):
                self.good("create", "f", "-q", "--force", *shape)
                self.good("copy", made, "f", "--force")  # no key was ever added
                self.good("create", "f", "-q", "--force", *shape)
                self.good("add", "f", "-q", *(b"key %d" % i for i in range(9)))
                self.not_compared("f", why, "copy", made, "f")
        self.good("create", "t", "-q", "-n", "2000", *keyed, "t.secret")
        self.good("copy", "keyed", "t", "--force", "--secret-file", "s.secret")
        self.good("create", "t", "-q", "-n", "2000", "--force", "--hash", "siphash", "--secret-file", "t.secret")
        self.good("add", "t", "-q", "--secret-file", "t.secret", "key")
        self.not_compared("t", "has another secret than the new file", "copy", "keyed", "t", "--secret-file", "s.secret")

    def not_compared(self, replaced, why, *command):
        before = pathlib.Path(self.path(replaced)).read_bytes()
        for quiet in ([], ["-q"]):
            self.refused(*command, "--force", *quiet,
                         says=f"{replaced}: {why}, so bf cannot tell whether keys would be lost. They would be called absent. "
                              "If its keys may go, replace it with --force --accept-loss.")
        self.assertEqual(pathlib.Path(self.path(replaced)).read_bytes(), before)
        self.good(*command, "--force", "--accept-loss", "-q")

    def test_counters_are_compared_and_a_key_that_was_removed_since_is_the_reason(self):
        self.good("create", "c", "-q", "--layout", "counting", *SURE)
        self.good("add", "c", "-q", "a", "b")
        self.good("copy", "c", "backup", "-q")
        self.good("add", "c", "-q", "d")
        self.good("copy", "c", "backup", "--force")
        self.good("remove", "c", "-q", "a")
        self.not_compared("backup", "has counters that the new file lacks, of keys that were removed or of others", "copy", "c", "backup")
        self.good("remove", "backup", "-q", "b", "d")
        self.good("create", "other", "-q", "--layout", "counting", "-n", "3000", "--seed", "8")
        self.good("copy", "other", "backup", "--force")  # it has none left

    def test_a_filter_whose_bits_do_not_show_its_keys_is_replaced_with_the_word_alone(self):
        self.write("keys", lines(KEYS))
        for name in ("list", "newer"):
            self.good("build", name, "-q", "--layout", "static", "--from", "keys")
        self.not_compared("list", "has the layout static, whose bits do not show its keys", "copy", "newer", "list")
        for name in ("list", "newer"):  # the body of a static filter of one key may be zeros
            self.good("build", name, "-q", "--layout", "static", "--seed", "7", "--from", "-", "--force", input=name.encode() + b"\n")
        self.not_compared("list", "has the layout static, whose bits do not show its keys", "copy", "newer", "list")
        self.good("create", "seen", "-q", "--window", "1h", *SURE)
        self.good("copy", "seen", "w", "-q")
        self.good("copy", "seen", "w", "-q", "--force")
        self.good("add", "w", "-q", "a")
        self.not_compared("w", "has the layout window, whose bits do not show its keys", "copy", "seen", "w")

    def test_a_filter_that_may_have_lost_keys_is_not_empty(self):
        self.good("create", "f", "-q", *SURE)
        self.good("create", "other", "-q", "-n", "3000", "--seed", "8", "--filling")
        self.not_compared("other", "has another seed than the new file", "copy", "f", "other")

    def test_an_older_state_answers_maybe_until_it_has_what_came_later(self):
        self.good("create", "f", "-q", *SURE)
        self.good("copy", "f", "old", "-q")
        self.good("add", "f", "-q", "later")
        self.good("copy", "old", "f", "--force", "--filling", "-q")
        self.refused("contains", "f", "later", says="still being filled, so every answer is maybe")
        self.good("add", "f", "-q", "later")
        self.good("finish-filling", "f", "-q")
        self.assertEqual(self.run_bf("contains", "f", "later", "never").stdout, b"maybe\tlater\nabsent\tnever\n")


class Replace(BfCase):
    """What each command with --force does to a file in the way."""
    COMMANDS = (("copy", "old", "f"), ("seal", "old", "f"), ("fold", "old", "f", "--to-fpr", "0.1"), ("merge", "f", "old"),
                ("intersect", "f", "newest", "old"), ("join", "f", "part0", "part1"))
    SHAPE = ["--bits", str(512 * 64), "--probes", "3", "--capacity", "2000", "--seed", "7"]

    def setUp(self):
        super().setUp()
        self.write("keys", lines(KEYS))
        for part in ("0/2", "1/2"):
            self.good("build", "part" + part[0], "--part", part, "--from", "keys", "-q", *self.SHAPE)
        self.good("build", "old", "--from", "keys", "-q", *self.SHAPE)
        self.good("copy", "old", "newest", "-q")
        self.good("add", "newest", "-q", input=lines(b"later %d" % i for i in range(200)))

    def put(self, source):
        """Puts a copy of the file in the way of all commands."""
        with open(self.path(source), "rb") as file:
            self.write("f", file.read())

    def refused_by_each(self, *says):
        before = self.read("f")
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                self.refused(*command, "--force", "-q", says=["f: ", "--filling", "--accept-loss", *says])
                self.assertEqual(self.read("f"), before)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_no_command_replaces_a_filter_by_one_that_lacks_its_keys_without_the_word(self):
        self.good("copy", "newest", "g", "-q")
        self.put("g")
        self.refused_by_each("may have keys that ", " lacks, and they would be called absent")
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                self.put("g")
                self.refused(*command, "--accept-loss", says="--force")
                self.good(*command, "--force", "--accept-loss", "-q")
                self.assertNotEqual(self.read("f"), self.read("g"))
                self.good("copy", "newest", "f", "-q", "--force", "--accept-loss")

    def test_each_part_is_compared_with_its_own_place(self):
        for number in (0, 1):
            with self.subTest(number):
                self.good("copy", f"part{number}", "part", "-q")
                self.good("add", "part", "-q", input=b"".join(b"more %d\n" % i for i in range(100)
                                                             if self.run_bf("add", "part", "more %d" % i, "-q").returncode == 0))
                os.rename(self.path("part"), self.path(f"full{number}"))
                parts = [f"full{number}", f"part{1 - number}"]
                self.good("join", "f", *parts, "-q")
                self.good("join", "f", *parts, "--force")
                self.refused("join", "f", "part0", "part1", "--force", says=f"may have keys that part{number} lacks")
                os.unlink(self.path("f"))

    def test_a_filter_with_fewer_or_the_same_keys_is_replaced_without_a_word(self):
        self.good("create", "empty", "-q", "--like", "old")
        for command in self.COMMANDS:
            for there in ("empty", "old"):
                with self.subTest(command[0], there=there):
                    self.good("copy", there, "f", "-q", "--force", "--accept-loss")
                    self.good(*command, "--force")

    def test_a_fold_is_compared_with_the_filter_that_an_earlier_one_made(self):
        self.good("create", "large", "-q", "--bits", "1Mi", "--probes", "3", "--seed", "7")
        self.good("add", "large", "-q", input=lines(KEYS))
        self.good("copy", "large", "before", "-q")
        self.good("add", "large", "-q", input=lines(b"later %d" % i for i in range(3000)))
        for name in ("large", "before"):
            self.good("fold", name, name + ".small", "--to-fpr", "0.01", "-q")
        self.assertNotEqual(header(self.path("large.small"))["m"], header(self.path("before.small"))["m"])
        self.refused("fold", "before", "large.small", "--to-fpr", "0.01", "--force", says="may have keys that before lacks")
        self.good("fold", "large", "before.small", "--to-fpr", "0.01", "--force")

    def test_no_command_replaces_a_file_that_is_damaged_or_no_filter_without_the_word(self):
        whole = self.read("old")
        damaged = whole[:64] + bytes(8) + whole[72:]
        for what, code in ((damaged, "ECHECKSUM"), (bytes(8192), "E"), (whole[:-1], "E")):
            with self.subTest(code):
                self.write("f", what)
                self.refused_by_each("is no filter file, or damaged (BFS_" + code)
        for what in (b"Z" + whole[1:], lines(KEYS * 3), b"a\n"):
            self.write("f", what)
            for command in self.COMMANDS:
                for accept in ([], ["--accept-loss"]):
                    self.refused(*command, "--force", *accept, says="f: is no filter, and --force replaces filters alone.")
            self.assertEqual(self.read("f"), what)
        for command in self.COMMANDS:
            self.write("f", damaged)
            self.good(*command, "--force", "--accept-loss", "-q")
        self.write("f", damaged)
        self.good("copy", "old", "f", "--filling", "--force", "-q")

    def test_no_command_replaces_another_filter_without_the_word_unless_it_is_empty(self):
        why = "f: has the layout classic, and the new file the layout blocked, so bf cannot tell whether keys would be lost."
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                self.good("create", "f", "-q", "--force", "--bits", "7000", "--probes", "3", "--layout", "classic")
                self.assertEqual(self.run_bf(*command, "--force", "-q").stderr, b"")
                self.good("create", "f", "-q", "--force", "--bits", "7000", "--probes", "3", "--layout", "classic")
                self.good("add", "f", "-q", "key")
                before = self.read("f")
                self.refused(*command, "--force", "-q", says=[why, "--force --accept-loss"])
                self.assertEqual(self.read("f"), before)
                self.good(*command, "--force", "--accept-loss", "-q")
        self.good("create", "f", "-q", "--force", "--part", "0/2", *self.SHAPE)
        self.good("add", "f", "-q", input=b"".join(b"more %d\n" % i for i in range(9)
                                                  if self.run_bf("add", "f", "more %d" % i, "-q").returncode == 0))
        self.refused("copy", "part1", "f", "--force", says="f: is another part than the new file, so bf cannot tell")
        self.refused("join", "f", "part0", "part1", "--force", says="f: is a part, and the new file is a whole filter, so bf cannot tell")

    def test_an_empty_file_is_replaced(self):
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                self.write("f", b"")
                self.assertEqual(self.run_bf(*command, "--force", "-q").stderr, b"")
                self.good("verify" if command[0] == "seal" else "contains", "f", *([] if command[0] == "seal" else ["x", "-q"]),
                          code=0 if command[0] == "seal" else 1)

    def test_a_source_that_gives_no_answers_is_the_reason_of_the_refusal(self):
        self.put("old")
        self.good("create", "unfinished", "-q", "--filling", "--like", "old")
        self.refused("copy", "unfinished", "f", "--force", says="unfinished: not every key was added yet")

    def test_a_seal_over_a_filter_with_a_secret_needs_the_secret_to_compare(self):
        self.write("secret", b"1" * 32)
        os.chmod(self.path("secret"), 0o600)
        secret = ["--secret-file", "secret"]
        self.good("create", "s", "-q", "-n", "100", "--hash", "siphash", *secret)
        self.good("seal", "s", "f", "-q")
        self.refused("seal", "s", "f", "--force", says="--secret-file")
        self.good("seal", "s", "f", "--force", *secret)
        self.good("copy", "s", "t", "-q", *secret)
        self.good("add", "t", "-q", "later", *secret)
        self.refused("seal", "s", "t", "--force", *secret, says="t: may have keys that s lacks")
        self.good("seal", "t", "t", "--force")
        self.good("seal", "s", "t", "--force", "--accept-loss")


class Fold(BfCase):
    SHAPE = ["--probes", "5", "--seed", "7", "--bits"]

    def make(self, name, layout, bits, keys=KEYS):
        self.good("create", name, "-q", "--layout", layout, *self.SHAPE, str(bits))
        self.good("add", name, "-q", input=lines(keys))

    def test_a_filter_that_was_made_too_large_becomes_the_one_of_the_right_size(self):
        for layout, unit in (("blocked", 512), ("classic", 1)):
            with self.subTest(layout=layout):
                self.make("large", layout, 512 * 3000)
                said = self.good("fold", "large", "small", "--to-fpr", "0.01")
                self.assertRegex(said, rb"^small: folded, room for \d,\d{3} keys at a false-positive rate of 0.01; ")
                made = header(self.path("small"))
                self.assertEqual((512 * 3000) % made["m"], 0)
                self.assertEqual(made["m"] % unit, 0)
                self.assertGreaterEqual(made["n"], COUNT)
                self.assertEqual(made["p"], 0.01)
                self.make("right", layout, made["m"])
                with open(self.path("small"), "rb") as small, open(self.path("right"), "rb") as right:
                    self.assertEqual(small.read()[16384:-8], right.read()[16384:-8])
                os.unlink(self.path("right"))
                os.unlink(self.path("large"))
                absent = [b"absent %d" % i for i in range(20000)]
                found = int(self.good("contains", "small", "--count", input=lines(absent)).split()[1])
                self.assertLess(found, 20000 * 0.013)
                # At the next smaller size the rate is higher than that.
                smaller = next(m for m in range(made["m"] - unit, 0, -unit) if (512 * 3000) % m == 0)
                self.make("smaller", layout, smaller)
                found = int(self.good("contains", "smaller", "--count", input=lines(absent)).split()[1])
                os.unlink(self.path("small"))
                self.assertGreater(found, 20000 * 0.009)
                os.unlink(self.path("smaller"))

    def test_a_filter_for_at_most_n_keys_folds_to_its_promised_rate_and_so_do_copy_and_seal(self):
        self.assertIn(b"room for 100,000 keys", self.good("create", "large", "--capacity-at-most", "100k", "--fpr", "0.005", "--seed", "7"))
        self.good("add", "large", "-q", input=lines(KEYS))
        self.assertRegex(self.good("fold", "large", "folded"), rb"^folded: folded, room for \d,\d{3} keys at a false-positive rate of 0.005; ")
        self.assertRegex(self.good("copy", "large", "copied", "--to-fpr", "0.005"), b"^copied: folded, room for ")
        self.assertRegex(self.good("seal", "large", "sealed", "--to-fpr", "0.005"), rb"^sealed: sealed and folded from \d+.\d KiB to \d+.\d KiB\n$")
        folded = header(self.path("folded"))
        self.assertTrue(COUNT <= folded["n"] < COUNT * 1.2, folded)
        with open(self.path("folded"), "rb") as file:
            body = file.read()[16384:16384 + folded["m"] // 8]
        for name in ("copied", "sealed"):
            self.assertEqual((header(self.path(name))["m"], header(self.path(name))["n"]), (folded["m"], folded["n"]))
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read()[16384:16384 + len(body)], body)
        self.good("verify", "sealed")
        self.assertEqual(self.good("seal", "folded", "again", "--to-fpr", "0.005"),
                         b"again: sealed; not smaller: no size that divides that of folded keeps this rate\n")
        self.assertEqual(self.good("seal", "large", "large", "--force", "--to-fpr", "0.005").split()[:2], [b"large:", b"sealed"])
        self.assertEqual(header(self.path("large"))["m"], folded["m"])
        self.assertEqual(self.good("contains", "large", "--count", input=lines(KEYS)), b"maybe\t%d\nabsent\t0\n" % COUNT)

    def test_marks_and_the_count_stay_and_the_filter_merges_with_what_it_is_from(self):
        self.make("large", "blocked", 512 * 4096)
        self.good("fold", "large", "small", "--to-fpr", "0.001", "-q")
        self.assertEqual(header(self.path("small"))["keys_added"], header(self.path("large"))["keys_added"])
        self.good("add", "large", "-q", "later")
        self.good("merge", "small", "large", "--into", "-q")
        self.good("contains", "small", "later")

    def test_what_cannot_be_is_named(self):
        self.make("f", "blocked", 512, KEYS[:60])
        self.refused("fold", "f", "g", "--to-fpr", "0.01", says=("f: its rate", "larger filter"))
        self.make("low", "classic", 20000, KEYS[:60])
        self.refused("fold", "low", "g", "--to-fpr", "1e-20", says=("e-", "already"))  # not 0.000000
        self.good("create", "full", "-q", *self.SHAPE, "512")
        self.run_bf("add", "full", "-q", input=lines(KEYS[:100]))
        self.refused("fold", "full", "g", says=("full: its rate", "larger filter"))  # it is above its promised one
        for rate in ("0", "1", "x"):
            self.refused("fold", "f", "g", "--to-fpr", rate, says="--to-fpr")
        self.assertFalse(os.path.exists(self.path("g")))


if __name__ == "__main__":
    main()

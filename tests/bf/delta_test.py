"""bf delta and bf apply: small files for readers that have an earlier state of a filter."""
import filecmp
import os
import resource
import signal

from bf_case import BfCase, main, preloaded

MONDAY = b"".join(b"monday %d\n" % i for i in range(20000))
TUESDAY = b"".join(b"tuesday %d\n" % i for i in range(200))
SHAPE = ["--capacity", "20300", "--fpr", "0.01", "--seed", "7"]


class Delta(BfCase):
    def make(self, *shape, seal="seal"):
        """Makes the states of two days, monday and tuesday, and the delta between them."""
        self.good("build", "users", "-q", "--from", "-", *(shape or SHAPE), input=MONDAY)
        self.good(seal, "users", "monday", "-q")
        self.good("add", "users", "-q", "--from", "-", input=TUESDAY)
        self.good(seal, "users", "tuesday", "-q")
        os.remove(self.path("users"))
        self.good("delta", "monday", "tuesday", "d", "-q")

    def is_same(self, one, other):
        return filecmp.cmp(self.path(one), self.path(other), shallow=False)

    def test_the_file_that_is_made_is_that_of_the_maker(self):
        for layout in ("blocked", "classic"):
            for seal in ("seal", "copy"):
                with self.subTest(layout=layout, seal=seal):
                    self.make(*SHAPE, "--layout", layout, seal=seal)
                    said = self.good("apply", "monday", "d", "made")
                    self.assertRegex(said, rb"^made: made of monday and \d+ new bits" + (b"; sealed" if seal == "seal" else b"") + b"\n$")
                    self.assertTrue(self.is_same("made", "tuesday"))
                    self.assertLess(os.path.getsize(self.path("d")), 2000)
                    for name in self.files():
                        os.remove(self.path(name))

    def test_a_delta_says_how_many_bits_it_has(self):
        self.make()
        said = self.good("delta", "monday", "tuesday", "e")
        self.assertRegex(said, rb"^e: has \d+ new bits in 1,?\d+ bytes; with monday it makes tuesday \(bf apply\)\n$")
        self.assertTrue(self.is_same("d", "e"))
        self.assertEqual(os.stat(self.path("e")).st_mode & 0o777, 0o600)
        self.good("delta", "monday", "tuesday", "e", "--force", "--mode", "0644", "-q")
        self.assertEqual(os.stat(self.path("e")).st_mode & 0o777, 0o644)

    def test_it_replaces_the_earlier_file_in_its_own_place_and_readers_learn_of_it(self):
        self.make()
        reader = self.spawn("contains", "monday", "--from", "-", "--absent")  # has the file open
        reader.stdin.write(b"never\n" * 5)
        reader.stdin.flush()
        self.wait_until_it_reads(reader)
        self.assertEqual(self.good("apply", "monday", "d", "monday", "-q"), b"")
        self.assertTrue(self.is_same("monday", "tuesday"))
        reader.stdin.write(TUESDAY)
        reader.stdin.close()
        self.assertNotIn(b"tuesday", reader.stdout.read())
        reader.wait()
        self.refused("apply", "monday", "d", "monday", says=("monday: is not the file from which d was made", "send a new file"))

    def test_other_files_than_the_earlier_one_are_replaced_by_force_and_not_if_keys_would_go(self):
        self.make()
        self.refused("apply", "monday", "d", "tuesday", says="--force")
        self.refused("apply", "monday", "d", "tuesday", "--force", says="--accept-loss")
        self.good("copy", "monday", "here", "-q")
        self.good("apply", "monday", "d", "here", "--force", "-q")
        self.assertTrue(self.is_same("here", "tuesday"))
        self.refused("delta", "monday", "tuesday", "d", says="--force")
        self.refused("delta", "monday", "tuesday", "here", "--force", says="here: is no delta, and --force replaces deltas alone. Choose another name, or move it away first (mv).")
        # "Is not a delta. Remove it" was said of a filter of which the delta is made.
        for name in ("monday", "tuesday"):
            self.refused("delta", "monday", "tuesday", name, "--force", says=f"{name}: is one of the two filters, of which the delta is made. Give DELTA another name.")

    def test_filters_without_deltas_are_refused_and_the_message_says_what_to_send(self):
        self.make()
        for layout, more in (("counting", []), ("window", ["--window", "1h"]), ("window-4", ["--window", "1h"]), ("window-2", ["--window", "1h"])):
            self.good("create", "other", "--layout", layout, "--capacity", "20k", *more, "-q")
            self.refused("delta", "other", "tuesday", "e", says=(f"other: filters of the layout {layout} have no deltas", "Send a new file"))
            os.remove(self.path("other"))
        for name in ("other", "more"):
            self.good("build", name, "--layout", "static", "-q", input=name.encode() + b"\n")
        self.refused("delta", "other", "more", "e", says="other: filters of the layout static have no deltas, for one more key may change any of their bits. Send a new file.")
        os.remove(self.path("other"))
        os.remove(self.path("more"))
        for different, shape in (("seed", ["--capacity", "20300", "--seed", "8"]), ("number of bits", ["--capacity", "30k", "--seed", "7"]),
                                 ("hash", ["--capacity", "20300", "--hash", "external"]), ("number of probes", ["--bits", "202752", "--probes", "5", "--seed", "7"]),
                                 ("layout", ["--capacity", "20300", "--seed", "7", "--layout", "classic"])):
            self.good("create", "other", *shape, "-q")
            self.refused("delta", "monday", "other", "e", says=("other: differs from monday in", different, "Send a new file"))
            os.remove(self.path("other"))
        self.refused("delta", "tuesday", "monday", "e", says=("monday: lacks bits of tuesday", "Send a new file"))
        self.refused("delta", "monday", "monday", "e", says=("has the file_id of monday", "bf seal"))
        self.refused("delta", "none", "monday", "e", says="none: no such file")
        self.refused("delta", "monday", "tuesday", "no/e", says="no/e")
        self.refused("delta", "monday", "tuesday", says="DELTA")
        self.assertEqual(self.files(), ["d", "monday", "tuesday"])

    def test_a_file_in_use_is_refused_and_the_message_says_what_to_do(self):
        self.make(seal="copy")
        for name in ("monday", "tuesday"):
            writer = self.spawn("add", name, "--from", "-")
            writer.stdin.write(b"key\n")
            writer.stdin.flush()
            self.wait_until_it_reads(writer)
            self.refused("delta", "monday", "tuesday", "e", says=(f"{name}: open for writing", "bf seal"))
            if name == "monday":
                self.refused("apply", "monday", "d", "made", says="monday: open for writing")
            writer.kill()
            writer.wait()
        self.assertEqual(self.files(), ["d", "monday", "tuesday"])

    def test_a_file_that_has_other_bits_takes_no_delta(self):
        self.make(seal="copy")
        self.good("add", "monday", "another key", "-q")
        for to in ("made", "monday"):
            self.refused("apply", "monday", "d", to, says=("monday: has other bits than the file from which d was made", "Send a new file"))
        self.good("contains", "monday", "another key")
        self.assertEqual(self.files(), ["d", "monday", "tuesday"])

    def test_what_is_not_a_whole_delta_makes_no_file(self):
        self.make()
        with open(self.path("d"), "rb") as file:
            whole = file.read()
        for content, says in ((whole[:-1], "damaged delta: it was cut off"), (whole + b"\n", "goes on after its end"), (whole[:100], "within its header"),
                              (whole[:60] + b"x" + whole[61:], "header does not match"), (whole[:-5] + b"xyz" + whole[-2:], "bits do not match"),
                              (b"", "not a delta"), (MONDAY, "not a delta")):
            self.write("d", content)
            self.refused("apply", "monday", "d", "made", says=("d: ", says))
        self.refused("apply", "monday", "tuesday", "made", says="tuesday: not a delta")
        self.refused("apply", "monday", "none", "made", says="none: no such file. Give the path of a delta.")
        self.assertEqual(self.files(), ["d", "monday", "tuesday"])

    def test_no_secret_is_needed_but_to_compare_the_file_that_is_replaced(self):
        self.write("secret", b"0123456789abcdef0123456789abcdef\n")
        secret = ["--secret-file", "secret"]
        os.chmod(self.path("secret"), 0o600)
        self.good("build", "users", "-q", "--from", "-", "--capacity", "21k", "--hash", "siphash", *secret, input=MONDAY)
        self.good("seal", "users", "monday", "-q")
        self.good("add", "users", "-q", "--from", "-", *secret, input=TUESDAY)
        self.good("seal", "users", "tuesday", "-q")
        self.good("delta", "monday", "tuesday", "d", "-q")
        self.good("apply", "monday", "d", "made", "-q")
        self.assertTrue(self.is_same("made", "tuesday"))
        self.good("copy", "monday", "here", "-q", *secret)
        self.refused("apply", "monday", "d", "here", "--force", says="secret")
        self.good("apply", "monday", "d", "here", "--force", "-q", *secret)

    def test_a_kill_at_each_step_leaves_the_old_file_or_the_new_one(self):
        self.make()
        for name in ("d", "monday"):
            with open(self.path(name), "rb") as file:
                before = file.read()
            command = ["delta", "monday", "tuesday", "d", "--force", "-q"] if name == "d" else ["apply", "monday", "d", "monday", "-q"]
            calls, seen = set(), set()
            for call, _ in self.killed_at_each_step(*command, signals=[signal.SIGKILL]):
                calls.add(call)
                with open(self.path(name), "rb") as file:
                    now = file.read()
                seen.add(now == before or self.without_superseded(now, before))
                if name == "monday":
                    self.good("contains", "monday", "monday 1")
                    self.assertTrue(now[88:104] == before[88:104] or self.is_same("monday", "tuesday"))
                    self.write("monday", before)
                else:
                    self.assertTrue(now == before)
                for other in self.files():
                    if other not in ("d", "monday", "tuesday"):
                        self.assertTrue(other.startswith(".bfs"), other)
                        os.remove(self.path(other))
            self.assertLessEqual({"begin", "renameat"} if "renameat" in calls else {"begin", "renameat2"}, calls)

    @staticmethod
    def without_superseded(now, before):
        """Whether a file differs from what it was in a state of its live word at most."""
        return now[:12288] + now[12296:] == before[:12288] + before[12296:]

    def test_a_full_disk_leaves_the_old_file(self):
        self.make()
        limited = lambda most: lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with open(self.path("monday"), "rb") as file:
            before = file.read()
        for most in (0, 4096, 16384, 30000, len(before) - 1):
            self.refused("apply", "monday", "d", "monday", says="monday: ", preexec_fn=limited(most))
            with open(self.path("monday"), "rb") as file:
                self.assertTrue(file.read() == before)
        for most in (0, 300, os.path.getsize(self.path("d")) - 1):
            self.refused("delta", "monday", "tuesday", "e", says="e: ", preexec_fn=limited(most))
        self.assertEqual(self.files(), ["d", "monday", "tuesday"])
        self.good("apply", "monday", "d", "monday", "-q")


if __name__ == "__main__":
    main()

"""bf remove and bf count take keys out of a counting filter. Every text has the same words for the danger of that."""
import os
import pathlib
import pty
import re
import tty

from bf_case import BfCase, PATIENCE, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTING = ["--capacity", "2000", "--fpr", "0.000001", "--seed", "7", "--layout", "counting"]
DANGER = re.compile(r"To remove a key that was never added.*?cannot detect this\.")
WAYS = re.compile(r"^## When a no can be wrong\n\n.*?\n\n(- .*?)\n\n", re.M | re.S)


def plain(text):
    """Returns the text without the marks of comments and of Markdown, and with single spaces."""
    return " ".join(re.sub(r"^\s*(//|\*|/\*)", "", text, flags=re.M).replace("**", "").split())


class Remove(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *COUNTING)
        self.good("add", "f", "-q", "alice", "bob", "alice", "carol")

    def test_a_key_is_there_until_it_was_removed_as_often_as_it_was_added(self):
        self.assertEqual(self.good("count", "f", "alice", "bob", "zoe"), b"2\talice\n1\tbob\n0\tzoe\n")
        self.assertEqual(self.good("remove", "f", "alice", "zoe"), b"f: 1 key removed, 1 certainly absent; 3 keys left\n")
        self.assertEqual(self.good("remove", "f", "--from", "-", input=b"alice\ncarol\n"),
                         b"f: 2 keys removed, 0 certainly absent; 1 key left\n")
        self.assertEqual(self.good("contains", "f", "alice", "bob", "carol"), b"absent\talice\nmaybe\tbob\nabsent\tcarol\n")
        self.assertEqual(self.good("count", "f", "alice", "zoe", code=1), b"0\talice\n0\tzoe\n")
        self.assertEqual(self.good("add", "f", "dave", "dave"), b"f: 2 keys added (1 of them certainly new)\n")
        self.assertEqual(self.good("count", "f", "bob", "dave"), b"1\tbob\n2\tdave\n")

    def test_a_key_that_was_added_very_often_is_counted_as_15_or_more(self):
        self.good("add", "f", "-q", *["often"] * 40)
        self.assertEqual(self.good("count", "f", "often"), b"15+\toften\n")
        self.good("remove", "f", "-q", *["often"] * 40)
        self.assertEqual(self.good("count", "f", "often"), b"15+\toften\n")

    def test_only_a_counting_filter_removes_and_counts(self):
        self.good("create", "blocked", "-q", "--capacity", "100")
        self.refused("remove", "blocked", "alice", says=["blocked", "--layout counting"])
        self.refused("count", "blocked", "alice", says=["blocked", "--layout counting"])
        self.refused("remove", "none", "alice", says="no such file")
        self.refused("remove", "f", "--from", "f", says="is the filter itself")

    def test_nothing_is_removed_while_a_filter_is_being_filled(self):
        self.good("create", "filling", "-q", "--filling", *COUNTING)
        self.good("add", "filling", "-q", "alice")
        self.refused("remove", "filling", "alice", says="removing stopped after 0 keys")
        self.good("finish-filling", "filling", "-q")
        self.assertEqual(self.good("remove", "filling", "alice"), b"filling: 1 key removed, 0 certainly absent; 0 keys left\n")

    def test_keys_are_not_taken_from_a_list_that_seems_to_be_damaged(self):
        self.good("add", "f", "-q", "al", "alice\r")
        self.refused("remove", "f", "--from", "-", input=b"alice\nbob\r\n", says="some lines end in CR LF")
        self.assertEqual(self.good("count", "f", "alice\r", "alice", "bob"), b"1\talice\r\n2\talice\n1\tbob\n")
        self.refused("remove", "f", "--from", "-", input=b"bob\nal",
                     says=["f: removing stopped after 1 key: standard input: does not end with a newline",
                           "was not removed", "Do not remove these again."])
        self.assertEqual(self.good("count", "f", "al", "bob", "alice"), b"1\tal\n0\tbob\n2\talice\n")
        self.refused("remove", "f", "-0", "--from", "-", input=b"al", says="standard input: does not end with a newline (with -0: a NUL)")
        self.assertEqual(self.good("remove", "f", "-0", "--from", "-", input=b"al\0alice\r\0"),
                         b"f: 2 keys removed, 0 certainly absent; 3 keys left\n")

    def test_a_list_that_cannot_be_read_to_its_end_says_how_many_keys_are_done(self):
        master, terminal = pty.openpty()
        tty.setraw(terminal)
        removing = self.spawn("remove", "f", stdin=master)
        os.close(master)
        os.write(terminal, b"alice\nbob\n")
        self.wait_until(lambda: self.run_bf("count", "f", "bob").stdout == b"0\tbob\n")
        os.close(terminal)  # reading the other end fails now
        complaint = removing.communicate(timeout=PATIENCE)[1]
        self.assertEqual(removing.returncode, 2)
        self.assert_complaint(complaint, ["f: removing stopped after 2 keys", "Do not remove these again."])

    def test_the_danger_is_told_in_the_same_words_everywhere(self):
        told = {name: DANGER.findall(plain((ROOT / name).read_text("utf-8")))
                for name in ("README.md", "capi/PROMISES.md", "capi/guide/sets.md", "capi/bfstore_sets.h", "include/bfstore/filter.hpp")}
        told["bf remove --help"] = DANGER.findall(plain(self.good("remove", "--help").decode()))
        words = told["capi/PROMISES.md"]
        self.assertEqual(len(words), 1)
        self.assertEqual({name: words for name in told}, told)

    def test_readme_has_each_way_to_a_wrong_no_that_the_promises_have(self):
        readme, promises = (WAYS.findall((ROOT / name).read_text("utf-8")) for name in ("README.md", "capi/PROMISES.md"))
        self.assertEqual((len(readme), len(promises)), (1, 1))
        self.assertEqual(plain(readme[0]), plain(promises[0]))
        self.assertRegex((ROOT / "README.md").read_text("utf-8"), r"\[in eight cases\]\(#when-a-no-can-be-wrong\)")
        self.assertEqual(readme[0].count("\n- ") + 1, 8)


if __name__ == "__main__":
    main()

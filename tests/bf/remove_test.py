"""bf remove and bf count take keys out of a counting filter. Every text has the same words for the danger of that."""
import gzip
import os
import pathlib
import pty
import re
import signal
import subprocess
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
    def test_a_key_whose_counters_are_full_stays_and_that_is_said(self):
        self.good("create", "hot", "-q", *COUNTING)
        self.good("add", "hot", "-q", input=b"once\n" + 20 * b"often\n")
        self.assertEqual(self.good("remove", "hot", "once", "often"),
                         b"hot: 1 key removed, 1 stays (a key that may have been added 15 times is never taken out), "
                         b"0 certainly absent; 20 keys left\n")
        self.assertEqual(self.good("count", "hot", "once", "often"), b"0\tonce\n15+\toften\n")
        # "19 keys removed (19 of them stay), 0 keys left" it said, and bf count 15+.
        self.assertEqual(self.good("remove", "hot", *["often"] * 19),
                         b"hot: 0 keys removed, 19 stay (a key that may have been added 15 times is never taken out), "
                         b"0 certainly absent; 19 keys left\n")

    def test_more_removes_than_adds_are_warned_of(self):
        self.good("create", "hot", "-q", *COUNTING)
        self.good("add", "hot", "-q", *["often"] * 20)
        self.good("remove", "hot", "-q", *["often"] * 20)
        for removed, quiet in ((21, []), (22, ["-q"])):
            done = self.run_bf("remove", "hot", *quiet, "often")
            self.assertEqual(done.returncode, 0)
            self.assert_warning(done.stderr, says=f"hot: in all {removed} keys removed of 20 added. A remove of a key that was not added")

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
        self.refused("remove", "f", "--from", "f", says="f: is a bfstore filter, and not a list of keys")
        self.refused("remove", "f", "--from", "f", "--binary", says="is the filter itself")

    def test_nothing_is_removed_while_a_filter_is_being_filled(self):
        self.good("create", "filling", "-q", "--filling", *COUNTING)
        self.good("add", "filling", "-q", "alice")
        self.refused("remove", "filling", "alice", says=["filling: the filter is still being filled", "Nothing was removed."])
        self.good("finish-filling", "filling", "-q")
        self.assertEqual(self.good("remove", "filling", "alice"), b"filling: 1 key removed, 0 certainly absent; 0 keys left\n")

    def test_keys_are_not_taken_from_a_list_that_seems_to_be_damaged(self):
        self.good("add", "f", "-q", "al", "alice\r")
        self.refused("remove", "f", "--from", "-", input=b"alice\nbob\r\n", says="some lines end in CR LF")
        self.assertEqual(self.good("count", "f", "--binary", "alice\r", "alice", "bob"), b"1\talice\r\n2\talice\n1\tbob\n")
        self.refused("remove", "f", "--from", "-", input=b"bob\nal",
                     says=["f: removing stopped after 1 key: standard input: does not end with a newline",
                           "was not removed", "The first 1 of the list are done: never remove them again.",
                           "remove it alone: give bf remove the lines of its standard input from number 2 on, with a newline at the end."])
        self.assertEqual(self.good("count", "f", "al", "bob", "alice"), b"1\tal\n0\tbob\n2\talice\n")
        self.refused("remove", "f", "-0", "--from", "-", input=b"al", says="standard input: does not end with a newline (with -0: a NUL)")
        self.assertEqual(self.good("remove", "f", "-0", "--from", "-", input=b"al\0alice\r\0"),
                         b"f: 2 keys removed, 0 certainly absent; 3 keys left\n")

    def test_a_last_key_that_no_newline_ends_is_removed_by_the_command_that_is_named(self):
        # It was "tail -n +2 nl > REST", which has no newline at its end either.
        for data, options, rest in ((b"alice\nbob", [], "{ tail -n +2 nl; echo; }"), (b"alice\0bob", ["-0"], "{ tail -z -n +2 nl; printf '\\0'; }"),
                                    (b"bob", [], "{ tail -n +1 nl; echo; }"), (gzip.compress(b"alice\nbob"), [], "{ gzip -dc < nl | tail -n +2; echo; }")):
            with self.subTest(rest):
                self.good("create", "f", "-q", "--force", *COUNTING)
                self.good("add", "f", "-q", "alice", "bob")
                self.write("nl", data)
                said = self.refused("remove", "f", *options, "--from", "nl", says=f"If it is whole, remove it alone: {rest} > REST, and then --from REST.").decode()
                self.assertNotIn("Go on", said)
                command = said.split("alone: ")[1].split(", and then")[0]
                subprocess.run(["sh", "-c", command], cwd=self.dir, check=True, timeout=PATIENCE)
                self.assertEqual(self.good("remove", "f", *options, "--from", "REST")[:16], b"f: 1 key removed")
                self.good("contains", "f", "bob", code=1)

    def test_a_list_without_keys_is_an_error(self):
        # The exit code was 0, and a program before it in the pipe may have failed.
        for empty, name in (([], "standard input"), (["--from", "/dev/null"], "/dev/null")):
            for quiet in ([], ["-q"], ["--skip-absent"]):
                self.refused("remove", "f", *empty, *quiet, says=f"{name}: holds no keys, so none were removed from f.")

    def test_a_key_that_was_not_removed_is_said_with_q_too(self):
        done = self.run_bf("remove", "f", "999999", "bob", "-q")
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, says="f: 1 key was certainly absent, and not removed.")
        self.assertEqual(self.run_bf("remove", "f", "999999", "-q", "--skip-absent").stderr, b"")
        self.assertEqual(self.run_bf("remove", "f", "alice", "-q").stderr, b"")

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
        self.assert_complaint(complaint, ["f: removing stopped after 2 keys", "done: never remove them again. No other was removed.",
                                          "standard input from number 3 on"])

    def test_a_remove_that_stops_in_the_middle_names_the_rest_and_never_the_whole_list(self):
        # bf once said "Correct the list ... --skip-absent" there: a user removed the first part twice, and 93 present keys became absent.
        present = [b"key %d" % i for i in range(20000)]
        rest = [b"stranger", b"key 15000"]
        removed = present[:15000]
        for name, end, options, tail in [("my list", b"\n", [], "tail -n +{} 'my list'"), ("-list", b"\n", [], "tail -n +{} ./-list"),
                                         ("it's", b"\0", ["-0"], "tail -z -n +{} 'it'\\''s'"),
                                         ("list.gz", b"\n", [], "gzip -dc < list.gz | tail -n +{}")]:
            with self.subTest(name):
                self.good("create", "many", "-q", "--force", *["30000" if word == "2000" else word for word in COUNTING])
                self.good("add", "many", "-q", input=b"\n".join(present))
                data = end.join(removed + rest) + end
                self.write(name, gzip.compress(data) if name.endswith(".gz") else data)
                said = self.refused("remove", "many", *options, f"--from={name}",
                                    says=["the key 'stranger' (number 15,001) is certainly absent", "No other was removed."])
                self.assertNotIn(b"--skip-absent", said)
                done = int(re.search(rb"The first ([\d,]+) of the list are done: never remove them again", said)[1].replace(b",", b""))
                self.assertGreater(done, 0)
                advice = re.search(r"Go on with the rest alone: (.*) > REST, and then --from REST\.\n", said.decode())[1]
                self.assertEqual(advice, tail.format(done + 1))
                shell = subprocess.run(["sh", "-c", advice + " > rest"], cwd=self.dir, capture_output=True, timeout=PATIENCE)
                self.assertEqual((shell.returncode, shell.stderr), (0, b""))
                left = int(self.good("contains", "many", "--count", input=b"\n".join(present)).split()[1])
                self.assertEqual(left, 20000 - done)
                self.good("remove", "many", *options, "-q", "--skip-absent", "--from", "rest")
                asked = self.good("contains", "many", "--count", input=b"\n".join(present[15001:]))
                self.assertEqual(asked, b"maybe\t4999\nabsent\t0\n")
                asked = self.good("contains", "many", "--count", input=b"\n".join(present[:15001]), code=1)
                self.assertEqual(asked, b"maybe\t0\nabsent\t15001\n")

    def test_an_empty_list_is_no_question(self):
        self.refused("count", "f", input=b"", says="standard input: has no keys, so nothing was asked.")

    def test_a_list_with_a_key_more_often_than_it_was_added_is_refused(self):
        # The keys of one batch were asked before any was removed, so a second remove of one took counters of other keys.
        present = [b"%d" % i for i in range(2000)]
        self.good("create", "many", "-q", "-n", "2000", "--layout", "counting", "--seed", "1")
        self.good("add", "many", "-q", input=b"\n".join(present))
        before = self.good("contains", "many", "--count", input=b"\n".join(present))
        self.refused("remove", "many", input=b"\n".join(present[:500] + present[7:500]) + b"\n",
                     says=["the key '7' (number 501) is in the list more often than it was added", "Nothing was removed."])
        self.assertEqual(self.good("contains", "many", "--count", input=b"\n".join(present)), before)
        self.good("add", "many", "-q", "7")
        self.good("remove", "many", "-q", input=b"7\n7\n")
        self.assertEqual(self.good("count", "many", "7", code=1), b"0\t7\n")

    def test_a_list_whose_first_keys_are_absent_removes_nothing_and_says_so(self):
        self.refused("remove", "f", input=b"bob\nzoe\n",
                     says=["the key 'zoe' (number 2) is certainly absent", "Nothing was removed.", "--skip-absent"])
        self.refused("remove", "f", input=b"bob\nzo\0e\n", says=["is a NUL", "Nothing was removed."])
        self.assertEqual(self.good("count", "f", "bob"), b"1\tbob\n")

    def test_an_interrupted_remove_names_the_rest(self):
        removing = self.spawn("remove", "f")
        removing.stdin.write(b"alice\nbob\n")
        removing.stdin.flush()
        self.wait_until(lambda: self.run_bf("count", "f", "bob").stdout == b"0\tbob\n")
        removing.send_signal(signal.SIGINT)
        self.assertEqual(removing.wait(timeout=PATIENCE), -signal.SIGINT)
        self.assert_complaint(removing.stderr.read(), ["f: 2 keys removed", "Interrupted. The first 2 of the list are done",
                                                       "standard input from number 3 on"])

    def test_a_remove_from_a_file_that_was_replaced_names_what_may_be_removed_from_the_new_one(self):
        removing = self.spawn("remove", "f")
        removing.stdin.write(b"alice\n")
        removing.stdin.flush()
        self.wait_until(lambda: self.run_bf("count", "f", "alice").stdout == b"1\talice\n")
        self.good("clear", "f", "-q", "--force")
        complaint = removing.communicate(b"bob\n", timeout=PATIENCE)[1]
        self.assertEqual(removing.returncode, 2)
        self.assert_complaint(complaint, ["f: removing stopped after 1 key: another file replaced this one", "never remove them again",
                                          "from the new file only if it was built of a list that certainly had these keys."])
        self.assertNotIn(b"Go on", complaint)

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
        self.assertRegex((ROOT / "README.md").read_text("utf-8"), r"\[in nine cases\]\(#when-a-no-can-be-wrong\)")
        self.assertEqual(readme[0].count("\n- ") + 1, 9)


if __name__ == "__main__":
    main()

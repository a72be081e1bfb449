"""The consoles of capi/guide/windows.md, line by line."""
import json
import os
import re
import subprocess
import time

from bf_case import BF, BfCase, PATIENCE, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "capi", "guide", "windows.md")


class Windows(BfCase):
    def consoles(self):
        """Yields each line that is typed, and what it prints."""
        with open(PAGE, encoding="utf-8") as page:
            for text in re.findall(r"```console\n(.*?)```", page.read(), re.S):
                for part in text.split("$ ")[1:]:
                    line, _, output = part.partition("\n")
                    yield line, output

    # It said that no other command ends an epoch, and spoke of the layout window alone.
    def test_help_says_which_commands_end_epochs_and_how_long_they_are(self):
        said = " ".join(self.good("help", "turn").decode().split())
        self.assertIn("Of the other commands only bf dedup does so", said)
        self.assertIn("window-4: 4 epochs, a third each; window-2: 2 epochs, the whole window each", said)

    def test_what_the_page_types_prints_what_it_says(self):
        path = os.path.dirname(os.path.abspath(BF)) + os.pathsep + os.environ["PATH"]
        typed = list(self.consoles())
        for line, output in typed:
            done = subprocess.run(["sh", "-c", line], cwd=self.dir, env={**os.environ, "PATH": path}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, output, ""), line)
        self.assertGreater(len(typed), 8)

    def test_what_a_window_does_not_do_is_refused_with_what_to_do(self):
        # "Give the window", "filters of its layout do not merge": no option and no reason.
        self.good("create", "a", "-q", "--capacity", "10", "--window", "1h")
        self.good("create", "b", "-q", "--like", "a")
        self.refused("create", "c", "--capacity", "10", "--layout", "window", says="Give --window, for how long they are kept, such as 24h.")
        self.refused("create", "c", "--capacity", "10", "--layout", "classic", "--window", "1h", says="Leave --window out, or give --layout window.")
        self.refused("merge", "c", "a", "b", says="filters of the layout window do not merge. Each has epochs of its own: ask them together (bf contains --any).")
        self.refused("compare", "a", "b", says="filters of the layout window cannot be compared")
        self.refused("turn", "c", says="c: no such file. Give the path of a filter.")
        self.refused("dedup", "c", "x", says="or --create of bf add and bf dedup.")
        self.good("add", "a", "-q", "x")
        self.assertEqual(self.good("contains", "b", "--any", "a", "x"), b"maybe\tx\ta\n")

    def test_what_helps_an_overfull_window_is_a_turn_or_a_larger_one(self):
        # "Make a larger one with bf build", which has no keys to build from.
        for window, says in ((["--window", "24h"], "The rate falls as epochs end (bf turn). For so many keys make a larger one (bf create)."),
                             ([], "Make a larger one with bf build; if nobody knows how many keys will come, see bf help fold.")):
            self.good("create", "a", "-q", "--force", "--capacity", "1000", *window)
            done = self.run_bf("add", "a", "-q", "--from", "-", input=b"".join(b"%d\n" % i for i in range(9000)))
            self.assertEqual(done.returncode, 0)
            self.assert_warning(done.stderr, says=says)

    def test_a_window_that_is_built_from_a_list_keeps_its_rate(self):
        # It was made for as many keys as the list has, which were all in one epoch: a rate of 0.43, and a warning.
        keys = b"".join(b"%d\n" % i for i in range(1000))
        self.write("keys", keys)
        for how, times in (([], 7), (["--layout", "window-4"], 3), (["--layout", "window-2"], 1)):
            for source in ("keys", "-"):  # a pipe is read once, and its digests are counted
                said = self.run_bf("build", "f", "--window", "24h", *how, "--from", source, input=keys if source == "-" else b"")
                self.assertEqual((said.returncode, said.stderr), (0, b""))
                self.assertIn(f"room for {1000 * times:,} keys at a false-positive rate of 0.01;".encode(), said.stdout)
                self.assertTrue(said.stdout.endswith(b". --capacity leaves room for more keys\n" if times == 1 else
                                                     b". The keys are in one epoch, so it has room for %d times as many in a window\n" % times), said.stdout)
                facts = json.loads(self.good("inspect", "--json", "f"))
                self.assertEqual((facts["capacity"], facts["fpr"], facts["overfull"]), (1000 * times, 0.01, False))
                self.assertLess(facts["estimated_fpr"], 0.02)
                os.remove(self.path("f"))
        given = self.run_bf("build", "f", "--window", "24h", "-n", "1000", "--from", "keys")
        self.assertIn(b"room for 1,000 keys", given.stdout)
        self.assert_warning(given.stderr, says="For so many keys make a larger one")

    def test_bfinspect_says_since_when_the_epoch_is(self):
        self.good("create", "a", "-q", "--capacity", "10", "--window", "1h")
        self.good("turn", "a", "--now", "-q")
        began = int(json.loads(self.good("inspect", "--json", "a"))["turned_at"]) // 10**9
        self.assertIn(time.strftime("  epoch           1, since %Y-%m-%d %H:%M UTC\n", time.gmtime(began)), self.good("inspect", "a").decode())


if __name__ == "__main__":
    main()

"""The examples of bf's help, as they are written there."""
import os
import re
import subprocess

from bf_case import BF, BfCase, PATIENCE, main, programs

COMMANDS = ["create", "build", "add", "contains", "recover", "seal", "verify", "clear", "plan",
            "delta", "apply", "remove", "turn", "finish-filling", "dedup", "merge", "join", "intersect", "fold", "digest", "count", "help", "copy"]
NEW = ["create", "build", "remove", "turn", "finish-filling", "dedup", "merge", "join", "intersect", "fold", "digest"]  # make all their files
# The files that the examples read, with their contents.
LISTS = {name: name.encode() + b" 1\n" + name.encode() + b" 2\n"
         for name in ("users.txt", "words.txt", "new-users.txt", "urls.txt", "users-since-the-last-mark.txt", "newer.txt", "keys.txt", "list1.txt",
                      "list2.txt", "customers.txt", "readers.txt", "old-users.txt", "events.log", "tuesday.txt")}
for name in ("list1.txt", "list2.txt"):  # enough that each of two parts gets some, whatever the seed
    LISTS[name] = b"".join(b"%s %d\n" % (name.encode(), i) for i in range(100))
LISTS["log"] = b"".join(b"row %d\n" % i for i in range(1, 151))
LISTS["parts.set"] = b"bfstore-set 1\nusers.bf\n"


class Examples(BfCase):
    def examples(self, *command):
        """Returns the lines of one example after another."""
        text = self.good(*command, "--help").decode().replace(" \\\n     ", "")
        found = re.findall(r"^  ((?:N=.*\n  tail |bf |tail ).*)$", text[text.index("\nExample"):], re.M)
        self.assertTrue(found, text)
        return found

    def type(self, line):
        path = os.path.dirname(os.path.abspath(BF)) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["sh", "-c", line], cwd=self.dir, env={**os.environ, "PATH": path}, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), line)
        return done.stdout

    def test_the_main_example_makes_a_filter_and_asks_it(self):
        said = b"".join(self.type(line) for line in self.examples())
        self.assertRegex(said, rb"users\.bf: created, [^\n]*\nusers\.bf: 1 key added [^\n]*\nmaybe\talice\nabsent\tbob\n$")

    def test_the_example_of_every_command_runs(self):
        for command in COMMANDS:
            with self.subTest(command):
                if command == "add" and programs.missing("jq"):
                    self.skipTest(programs.missing("jq"))
                for name in self.files():
                    os.unlink(self.path(name))
                for name, text in LISTS.items():
                    self.write(name, text)
                if command not in NEW:
                    for name in ("users.bf", "seen.bf", "seen-today.bf"):
                        self.good("create", name, "--capacity", "1000", "--seed", "1", "-q", *(["--layout", "counting"] if command == "count" else []))
                        self.good("add", name, "-q", "alice", "urls.txt 1")
                if command == "verify":
                    self.good("seal", "users.bf", "users.sealed.bf", "-q")
                if command == "apply":
                    self.good("copy", "users.bf", "later.bf", "-q")
                    self.good("add", "later.bf", "bob", "-q")
                    self.good("delta", "users.bf", "later.bf", "tuesday.delta", "-q")
                if command == "copy":
                    os.makedirs(self.path("backup"), exist_ok=True)
                if command == "contains":
                    self.good("create", "words.bf", "-q", "--hash", "pybloom-live", "--capacity", "100", "--fpr", "0.01")
                    self.good("add", "words.bf", "-q", "alice")
                    self.good("export", "words.bf", "words.jay", "-q", "--format", "jaybird")
                    for name in ("spam.bf", "phishing.bf", "own.bf"):
                        self.good("create", name, "--capacity", "1000", "--seed", "1", "-q")
                        self.good("add", name, "-q", "mallory@example.org")
                lines = self.examples(command)
                self.assertTrue([line for line in lines if f"bf {command} " in line])
                for line in lines:
                    self.type(line)
                if command == "apply":
                    self.assertEqual(self.good("contains", "users.bf", "alice", "bob"), b"maybe\talice\nmaybe\tbob\n")
                if command == "copy":
                    self.assertEqual(self.good("contains", "users.bf", "alice", "newer.txt 1"), b"maybe\talice\nmaybe\tnewer.txt 1\n")
                if command == "add":
                    self.assertIn(b"mark            150 of owner 0", self.good("inspect", "users.bf"))
                    with open(self.path("log"), "ab") as log:
                        log.write(b"row 151\n")
                    self.assertIn(b"1 key added (1 certainly new); mark 151 stored", self.type(next(line for line in lines if "tail" in line)))
                    self.assertEqual(self.good("contains", "users.bf", "row 101", "row 150"), b"maybe\trow 101\nmaybe\trow 150\n")
                if command == "contains":
                    with open(self.path("new-urls.txt"), "rb") as file:
                        self.assertEqual(file.read(), b"urls.txt 2\n")


if __name__ == "__main__":
    main()

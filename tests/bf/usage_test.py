"""bf's help, version and usage errors."""

from bf_case import BfCase, main

COMMANDS = ["create", "build", "add", "contains", "recover", "seal", "verify", "merge", "copy", "fold",
            "intersect", "compare", "clear", "plan", "import", "export", "finish-filling"]


class Usage(BfCase):
    def test_help_has_an_example_everywhere(self):
        for command in [[], *([name] for name in COMMANDS)]:
            for flag in ["--help", "-h"]:
                text = self.good(*command, flag).decode()
                self.assertIn("Example", text)
                self.assertIn("  bf " + " ".join(command or ["create"]), text)
                self.assertIn("--version", text)
                self.assertLessEqual(max(map(len, text.splitlines())), 130, text)

    def test_the_main_help_lists_the_commands(self):
        text = self.good("--help").decode()
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")

    def test_help_names_every_option_and_what_its_number_means(self):
        text = self.good("create", "--help").decode()
        for option in ["--capacity", "--fpr", "--bits-per-key", "--max-bytes", "--bits", "--probes", "--like",
                       "--layout", "--hash", "--seed", "--secret-file", "--note", "--mode", "--force", "--quiet"]:
            self.assertIn(option, text)
            self.assertIn(option, self.good("build", "--help").decode())
        self.assertIn("64Mi (67,108,864)", text)
        for command in ["create", "build", "add", "recover", "seal", "merge", "copy", "fold", "intersect", "clear"]:
            self.assertIn("--lock-timeout MS", self.good(command, "--help").decode())
        for option in ["--from", "--secret-file", "--maybe", "--absent", "--count", "--null"]:
            self.assertIn(option, self.good("contains", "--help").decode())

    def test_help_says_how_a_copy_is_put_back(self):
        self.assertRegex(self.good("--help").decode(), r"Never put a copy [^.]*\bcp\b[^.]*\.\sRemove the file first")

    def test_help_wins_over_what_is_missing(self):
        self.good("create", "f", "--help")
        self.good("build", "--help", "f")

    def test_version_is_one_line_everywhere(self):
        expected = self.good("--version")
        self.assertRegex(expected, rb"^bf \d+\.\d+\.\d+\n$")
        for command in COMMANDS:
            self.assertEqual(self.good(command, "--version"), expected)

    def test_usage_errors_are_one_line_that_names_the_word(self):
        self.refused(says=["no command", "bf --help"])
        self.refused("frobnicate", says=["'frobnicate' is not a command", "bf --help"])
        self.refused("frobnicate", "f", "--capacity", "9", says="'frobnicate' is not a command")
        self.refused("--frobnicate", says=["--frobnicate", "bf --help"])
        self.refused("", says="'' is not a command")
        self.refused("create", "f", "--frobnicate", "--capacity", "9", says=["--frobnicate", "bf create --help"])
        self.refused("Create", "f", says="'Create' is not a command")
        for command in COMMANDS:
            self.refused(command, says="bf " + command + " --help")
            file = [] if command == "plan" else ["f"]
            self.refused(command, *file, "--frobnicate=1", says=["--frobnicate", "bf " + command + " --help"])
            self.refused(command, *file, "--no\n\x1bwrap", says="--no\\n\\x1bwrap")
        self.refused("plan", "f", "-n", "9", says="'f' is not expected")
        self.refused("add", says="FILE")
        self.refused("contains", "f", "--force", says="--force")
        self.refused("contains", "f", "--maybe=2", says="--maybe takes no value")
        self.refused("create", "f", "--force=false", says="--force takes no value")
        self.refused("create", "f", "--capacity", says="--capacity needs a value")
        self.refused("add", "f", "-z", says="-z")
        self.refused("add", "f", "--from", "a", "--from", "b", says="--from")


if __name__ == "__main__":
    main()

"""README's first screen, as a newcomer would type it: the C program is compiled and run, the shell lines too."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from bfstore_ctypes import LAYOUTS  # found only now

README, C_COMPILER, LIBRARY, BF, BFINSPECT = (pathlib.Path(argument) for argument in sys.argv[1:6])
LIBRARY, BF, BFINSPECT = LIBRARY.resolve(), BF.resolve(), BFINSPECT.resolve()
SANITIZER = sys.argv[6]
HEADER_FOLDER = README.parent / "capi"


def block(language: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"README has {len(blocks)} blocks of {language}, not one"
    return blocks[0]


class FirstScreen(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_in_folder(self, command: list, **more) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True, check=False, **more)

    def test_ten_lines_of_c_say_what_the_comment_says_and_say_it_again(self) -> None:
        (pathlib.Path(self.folder.name) / "x.c").write_text(block("c"), "utf-8")
        flags = [] if SANITIZER == "none" else [f"-fsanitize={SANITIZER}"]
        built = self.run_in_folder(
            [C_COMPILER, "-std=c99", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", *flags, "x.c",
             f"-I{HEADER_FOLDER}", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o", "x"])
        self.assertEqual(built.returncode, 0, built.stderr)
        for _ in ("a new file", "the file of the first run"):
            ran = self.run_in_folder(["./x"])
            self.assertEqual((ran.returncode, ran.stdout), (0, "alice: 1, bob: 0\n"), ran.stderr)

    def test_six_lines_of_shell_do_what_the_comments_say(self) -> None:
        path = os.pathsep.join([str(BF.parent), str(BFINSPECT.parent), os.environ["PATH"]])
        ran = self.run_in_folder(["sh", "-e", "-c", block("sh")], env={**os.environ, "PATH": path})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("maybe\talice\nabsent\tzoe\n3\n", ran.stdout)
        self.assertIn("names.bf", ran.stdout)

    def test_the_lines_about_sets_do_what_the_comments_say(self) -> None:
        section = README.read_text("utf-8").partition("\n## Sets\n")[2].partition("\n## ")[0]
        lines = re.findall(r"^    (.*)$", section, re.MULTILINE)
        self.assertGreater(len(lines), 5)
        path = os.pathsep.join([str(BF.parent), os.environ["PATH"]])
        said = {}
        for line in lines:
            ran = self.run_in_folder(["sh", "-c", line], env={**os.environ, "PATH": path})
            self.assertEqual((ran.returncode, ran.stderr), (1 if "exit code 1" in line else 0, ""), line)
            said[" ".join(line.split()[:2])] = ran.stdout
        self.assertEqual(said["bf contains"], "absent\talice\nmaybe\tbob\nmaybe\tcarol\nabsent\tdave\n")
        self.assertIn("keys of both: about 2 (", said["bf compare"])
        self.assertIn("customers.bf: cleared", said["bf clear"])

    def test_the_table_of_layouts_has_the_sizes_and_rates_of_filters(self) -> None:
        rows = re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\| ([0-9.]+) \| ([0-9.]+) % \|$", README.read_text("utf-8"), re.MULTILINE)
        self.assertEqual([name for name, _, _ in rows], list(LAYOUTS))
        for name, bits_per_key, rate in rows:
            for options, field, digits in ((["--fpr", "0.01"], "bits_per_key", bits_per_key),
                                           (["--bits-per-key", "10"], "p", rate)):
                made = self.run_in_folder([BF, "create", "f", "--force", "--capacity", "1M", "--layout", name, *options])
                self.assertEqual(made.returncode, 0, made.stderr)
                found = json.loads(self.run_in_folder([BFINSPECT, "--json", "f"]).stdout)[field] * (100 if field == "p" else 1)
                self.assertEqual(f"{found:.{len(digits.partition('.')[2])}f}", digits, (name, field))

    def test_the_first_screen_is_short(self) -> None:
        self.assertLessEqual(len(block("sh").splitlines()), 6)
        statements = [line for line in block("c").splitlines() if line.strip() and not line.startswith(("#", "}"))]
        self.assertLessEqual(len(statements), 10)

    def test_every_link_leads_somewhere(self) -> None:
        links = re.findall(r"\]\(([^)#]+)\)", README.read_text("utf-8"))
        self.assertTrue(links)
        for link in links:
            self.assertTrue((README.parent / link).exists(), link)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

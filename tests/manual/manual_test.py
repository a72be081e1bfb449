"""The manual pages: mandoc and man-db take them without a warning, and they have all words of their sources.

Arguments: the folder of the pages, bf, bfinspect, capi/bfstore.h, FORMAT.md, the folder tests/support, the module
read_variables.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGES, BF, BFINSPECT, HEADER, FORMAT, SUPPORT, READ_VARIABLES = (os.path.abspath(one) for one in sys.argv[1:8])
del sys.argv[1:]
sys.path.insert(0, SUPPORT)
import bfstore_header  # found only now
from programs import missing

COMMANDS = re.findall(r"^  ([a-z-]+)  ", subprocess.run([BF, "--help"], capture_output=True, text=True, check=True).stdout.split(
    "\nTopics:")[0], flags=re.MULTILINE)
NAMES = ("bf.1", *[f"bf-{command}.1" for command in COMMANDS], "bfinspect.1", "bfstore.3", "bfstore-format.5")


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True, **more)


def path(name):
    return os.path.join(PAGES, name)


def text(name):
    """Returns the page as man shows it, on a screen that is wide enough for its longest line."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "500", "MAN_KEEP_FORMATTING": ""}
    return run("man", "-l", path(name), env=env).stdout


def sections(page):
    """Returns {title: text}."""
    return dict(re.findall(r"(?ms)^([A-Z][A-Z, ]+)\n(.*?)(?=^[A-Z]|\Z)", page))


def words(some):
    return re.findall(r"[A-Za-z0-9_]+", some)


def options_in_help(*command):
    found = re.findall(r"^  (-\w|--[\w-]+)(?:, (--[\w-]+))?", run(*command, "--help").stdout, flags=re.MULTILINE)
    return [name for names in found for name in names if name]


class Formatters(unittest.TestCase):
    @unittest.skipIf(missing("mandoc"), missing("mandoc"))
    def test_mandoc_warns_of_nothing(self):
        for name in NAMES:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path(name)], capture_output=True, text=True,
                                  timeout=600, check=False)
            self.assertEqual((done.stdout + done.stderr, done.returncode), ("", 0), name)

    @unittest.skipIf(missing("man"), missing("man"))
    def test_man_warns_of_nothing(self):
        for name in NAMES:
            done = run("man", "--warnings", "-l", path(name), env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            self.assertEqual(done.stderr, "", name)


    @unittest.skipIf(missing("man"), missing("man"))
    def test_no_line_is_wider_than_a_terminal_of_80_columns(self):
        # Examples were not broken, and calls of the C example; then formulas and test vectors of FORMAT.md had up to 133 columns.
        for name in NAMES:
            shown = run("man", "-l", path(name), env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}).stdout
            self.assertEqual([line for line in shown.splitlines() if len(line) > 80], [], name)
        lines = text("bfstore.3").split("\nEXAMPLES\n")[1]
        self.assertIn('"quickstart: %s: %s\\n"', lines)


@unittest.skipIf(missing("man"), missing("man"))
class Contents(unittest.TestCase):
    def test_each_command_has_a_page_with_every_option_of_its_help(self):
        self.assertGreater(len(COMMANDS), 20)
        self.assertEqual({name for name in os.listdir(PAGES) if name.startswith("bf-")}, {f"bf-{one}.1" for one in COMMANDS})
        for command in COMMANDS:
            page = text(f"bf-{command}.1")
            self.assertRegex(page, rf"(?m)^ +bf-{command} - \S", command)
            for option in options_in_help(BF, command):
                self.assertRegex(page, rf"(?m)^ +(-\w, |--\w+, )?{re.escape(option)}\b", command)

    def test_bf_1_has_every_command_in_its_group(self):
        _, commands = text("bf.1").split("\nCOMMANDS\n")
        self.assertEqual(re.findall(r"^       ([a-z-]+)(?:  |\n| [A-Z])", commands.split("\nOPTIONS\n")[0], re.M), COMMANDS)

    def test_bf_1_names_the_page_of_each_command_and_the_topics(self):
        page = sections(text("bf.1"))
        self.assertEqual(re.findall(r"bf-([a-z-]+)\(1\)", page["SEE ALSO"]), COMMANDS)
        self.assertEqual(re.findall(r"(?m)^       ([a-z-]+)(?:  |$| [A-Z])", page["TOPICS"]), ["exit", "keys", "formats", "key-forms"])

    def test_bfinspect_1_has_every_option(self):
        page = text("bfinspect.1")
        options = options_in_help(BFINSPECT)
        self.assertIn("--json", options)
        for option in options:
            self.assertIn(option, words_and_dashes(page))

    def test_programs_pages_have_every_word_of_their_help(self):
        pages = {"bf.1": [BF], "bfinspect.1": [BFINSPECT], **{f"bf-{command}.1": [BF, command] for command in COMMANDS}}
        for name, command in pages.items():
            told = re.sub(r"(?m)^(Arguments|Usage|Exit codes):", "", run(*command, "--help").stdout)
            self.assertFalse(set(words(told.lower())) - set(words(text(name).lower())), command)

    def test_examples_and_exit_codes_have_sections_of_their_own(self):
        # They were paragraphs of the description, where no reader of manual pages looks for them.
        for name in ("bf.1", "bfinspect.1", *[f"bf-{command}.1" for command in COMMANDS]):
            page = text(name)
            self.assertNotRegex(page, r"Examples?:|Exit (codes?|status):", name)
            self.assertRegex(sections(page)["EXAMPLES"], r"(?m)^ +bf(inspect)?\b", name)
            self.assertRegex(sections(page)["EXIT STATUS"], r"(?m)^ +0 +\w", name)
        self.assertRegex(sections(text("bf-contains.1"))["EXIT STATUS"], r"(?m)^       1 +all are certainly absent")
        self.assertRegex(sections(text("bfinspect.1"))["EXIT STATUS"], r"(?m)^       3 +bad usage")
        self.assertRegex(sections(text("bf.1"))["EXIT STATUS"], r"(?m)^       1 +contains, count, compare and verify: ")

    def test_arguments_have_a_section_of_their_own(self):
        for name in ("bfinspect.1", *[f"bf-{command}.1" for command in COMMANDS if command != "help"]):
            page = sections(text(name))
            arguments = re.findall(r"(?m)^       ([A-Z]+)\b", page.get("ARGUMENTS", ""))
            told = run(*([BFINSPECT] if name == "bfinspect.1" else [BF, name[3:-2]]), "--help").stdout
            listed = re.search(r"(?m)^Arguments:\n((?:  .*\n)*)", told)
            self.assertEqual(arguments, re.findall(r"(?m)^  ([A-Z]+)\b", listed[1]) if listed else [], name)
            self.assertNotRegex(page["OPTIONS"], r"(?m)^       [A-Z]+\b", name)
        self.assertIn("FILE", sections(text("bf-seal.1"))["ARGUMENTS"])

    def test_options_are_in_the_groups_of_the_help(self):
        for command in COMMANDS:
            groups = re.findall(r"(?m)^   (\S.*)$", sections(text(f"bf-{command}.1"))["OPTIONS"])
            self.assertNotEqual(groups[:1], ["Options"], command)  # "OPTIONS", and "Options" below it
            told = run(BF, command, "--help").stdout
            wanted = [one for one in re.findall(r"(?m)(?<=\n\n)([A-Z][A-Za-z, ]*):$", told) if one not in ("Arguments", "Examples", "Exit codes")]
            self.assertEqual(groups, wanted[1:] if wanted[0] == "Options" else wanted, command)

    def test_the_environment_and_the_files_are_those_that_the_programs_read(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        sources = {folder: "".join(one.read_text("utf-8") for one in sorted(root.joinpath(folder).rglob("*.[ch]pp")))
                   for folder in ("src", "tools/common", "tools/description", "tools/bf", "tools/bfinspect")}
        for program in ("bf", "bfinspect"):
            page, read = sections(text(f"{program}.1")), "".join(
                sources[folder] for folder in ("src", "tools/common", "tools/description", f"tools/{program}"))
            named = set(re.findall(r"(?m)^       ([A-Z_]{4,})\b", page["ENVIRONMENT"]))
            self.assertEqual(named, set(re.findall(r"(?:getenv|environment)\(\"([A-Z_]+)\"\)", read)), program)
            for file in re.findall(r"/proc/[\w/]+", page["FILES"]):
                self.assertIn(file.split("/")[-1], read, program)

    # Each command that reads another variable than those of help and colors, or reads none. A list in a pipe is kept in
    # TMPDIR if it is long, and if the pipe is empty.
    RUNS = (("plan", "-n 10", None), ("create", "empty -n 100 --seed 7", None), ("build", "f --from keys -n 100 --seed 7", None),
            ("build", "long --from -", b"".join(b"%d\n" % key for key in range(1100000))), ("add", "f 10", None),
            ("create", "counts -n 100 --layout counting", None), ("add", "counts 1", None), ("remove", "counts 1", None), ("count", "counts 1", None),
            ("clear", "counts --force", None), ("create", "window -n 100 --window 1h", None), ("turn", "window", None), ("create", "filled -n 10 --filling", None),
            ("finish-filling", "filled", None), ("contains", "f 1", None), ("dedup", "f --from keys", None), ("inspect", "f", None),
            ("compare", "f empty", None), ("merge", "both f empty", None), ("intersect", "common f empty", None), ("create", "p0 -n 10 --seed 1 --part 0/2", None),
            ("create", "p1 -n 10 --seed 1 --part 1/2", None), ("join", "whole p0 p1", None), ("fold", "f small --to-fpr 0.5", None),
            ("digest", "f --from keys", None), ("copy", "f copied", None), ("seal", "f new", None), ("seal", "empty old", None), ("delta", "old new d", None),
            ("apply", "old d applied", None), ("verify", "new", None), ("recover", "f --no-keys", None), ("recover", "empty --from -", b""),
            ("import", "bits imported --order little --hash murmur3 --bits 512 --probes 3", None), ("export", "imported exported --order little", None), ("help", "add", None))

    def test_the_environment_on_the_page_of_a_command_is_what_it_reads(self):
        # The pages of commands had no such section.
        read = {command: {"COLUMNS", "NO_COLOR", "TERM"} for command in COMMANDS}
        with tempfile.TemporaryDirectory(prefix="bfstore-manual-") as folder:
            pathlib.Path(folder, "keys").write_bytes(b"1\n2\n3\n")
            pathlib.Path(folder, "bits").write_bytes(bytes(64))
            names = pathlib.Path(folder, "names")
            for command, words, keys in self.RUNS:
                names.write_bytes(b"")
                done = subprocess.run([BF, command, *words.split()], cwd=folder, input=keys, capture_output=True, timeout=600, check=False,
                                      env={**os.environ, "LD_PRELOAD": READ_VARIABLES, "READ_VARIABLES": str(names)})
                self.assertIn(done.returncode, (2,) if keys == b"" else (0, 1), (command, words, done.stderr))
                read[command] |= set(names.read_text("utf-8").split()) & {"COLUMNS", "NO_COLOR", "TERM", "TMPDIR", "BFSTORE_FORCE_ISA"}
        for command in COMMANDS:
            named = set(re.findall(r"(?m)^       ([A-Z_]{4,})\b", sections(text(f"bf-{command}.1"))["ENVIRONMENT"]))
            self.assertEqual(named, read[command], command)
        self.assertEqual({command for command, _, _ in self.RUNS}, set(COMMANDS))

    def test_bfstore_3_has_structs_flags_and_an_example(self):
        page = text("bfstore.3")
        header = "".join(pathlib.Path(one).read_text("utf-8") for one in bfstore_header.installed(HEADER))
        for title, names in (("STRUCTS", re.findall(r"typedef struct (bfs_\w+) \{", header)), ("FLAGS", bfstore_header.flags(HEADER))):
            self.assertGreater(len(names), 10)
            for name in names:
                self.assertRegex(sections(page)[title], rf"(?m)^ +{name}\b", title)
        for word in ("int main", "bfs_open", "bfs_add", "bfs_contains", "bfs_close", "pkg-config"):
            self.assertIn(word, sections(page)["EXAMPLES"])
        self.assertNotRegex(page, r"(?m)^ +/\*.* \* ")

    def test_bfstore_3_has_each_function_under_its_own_heading(self):
        # bfs_layout_name was under "The rare flags".
        below = dict(re.findall(r"(?ms)^   (\w[^\n]*)\n(.*?)(?=^   \w|^\w)", sections(text("bfstore.3"))["FUNCTIONS"] + "\nEND"))
        self.assertIn("bfs_layout_name(", below["Names of layouts and hashes"])
        self.assertFalse([title for title in below if "flags" in title])

    def test_every_item_of_the_overview_has_a_bullet(self):
        about = sections(text("bfstore.3"))["DESCRIPTION"]
        for word in ("Results", "Structs", "Keys", "Threads", "A function"):
            self.assertRegex(about, rf"(?m)^       \S  {word}\b")
        self.assertRegex(about, r"(?m)^       Status: ")

    def test_bfstore_3_has_every_function_with_a_sentence_and_every_code(self):
        page = text("bfstore.3")
        functions = bfstore_header.functions(HEADER)
        self.assertGreater(len(functions), 50)
        for name in functions:
            self.assertRegex(page, rf"(?m)^       .*\b{name}\(.*\);\n(       \S.*;\n)*              \S.*\.$", name)
        for name in bfstore_header.codes(HEADER):
            self.assertRegex(page, rf"(?m)^       {name}\b *(\n +)?\S", name)

    def test_bfstore_format_5_has_every_word_of_its_document(self):
        with open(FORMAT, encoding="utf-8") as file:
            document = file.read()
        heads = re.compile(r"^\|.*\|\n\|[-|]+\|\n", re.M)  # a table that becomes a list has other heads
        wanted = collections.Counter(word.lower() for word in words(heads.sub("", document)))
        whole = re.sub(r"([0-9a-f]{64})\n +(?=[0-9a-f]+\n)", r"\1", text("bfstore-format.5"))  # bytes in hex on two lines
        found = collections.Counter(word.lower() for word in words(whole))
        self.assertGreater(sum(wanted.values()), 5000)
        self.assertFalse(wanted - found)

    def test_the_demo_makes_pages_that_are_there_and_shows_how_to_read_them(self):
        demo = pathlib.Path(__file__).resolve().parents[2].joinpath("tools", "demo").read_text("utf-8")
        made, = re.findall(r"pages=\(tools/manual/\{(.*?)\}\)", demo)
        shown, others = re.search(r"man -l \S+/tools/manual/([\w.]+)(\"\n.*)", demo).groups()
        self.assertIn(shown, made.split(","))
        for name in [*made.split(","), *re.findall(r"[\w-]+\.[135]\b", others)]:
            self.assertIn(name, NAMES)

    def test_no_mark_of_markdown_is_left(self):
        page = text("bfstore-format.5")
        self.assertNotIn("**", page)
        self.assertNotIn("`", page)
        self.assertNotRegex(page, r"(?m)^ *\|")


def words_and_dashes(page):
    return re.findall(r"--?[\w-]+", page)


if __name__ == "__main__":
    unittest.main(verbosity=2)

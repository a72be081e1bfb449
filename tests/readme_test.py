"""README and the guide, as a newcomer types them: the C program is compiled and run, the shell lines too, and tables are compared."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from bfstore_ctypes import BUILT_LAYOUTS, LASTING_LAYOUTS, LAYOUTS  # found only now

README, C_COMPILER, LIBRARY, BF, BFINSPECT = (pathlib.Path(argument) for argument in sys.argv[1:6])
LIBRARY, BF, BFINSPECT = LIBRARY.resolve(), BF.resolve(), BFINSPECT.resolve()
SANITIZER = sys.argv[6]
HEADER_FOLDER = README.parent / "capi"
GUIDE = HEADER_FOLDER / "guide"
PAGES = [README, *sorted(GUIDE.glob("*.md")), README.parent / "src" / "ARCHITECTURE.md", README.parent / "CONTRIBUTING.md",
         README.parent / "CHANGELOG.md", README.parent / "SECURITY.md"]
# The files that the page "Filters of other programs" asks, and files of those programs.
FOREIGN_FILES = {
    "hashlookup-full.bloom": "dcso.one-percent.bloom", "users.guava": "guava.long.bloom", "wallet.bip37": "bip37.tweak-0.bloom",
    "users.dump": "redisbloom.one-link.dump", "chain.dump": "redisbloom.five-links.dump", "ids.json": "bits_and_blooms.one-percent.json",
    "table.filter": "leveldb.ten-bits.filter", "sst.filter": "rocksdb.ten-bits.filter", "sales.parquet": "parquet.arrow.parquet",
    "words.libbloom": "libbloom.one-percent.bloom", "words.pybloom": "pybloomfilter.capacity-1000.bloom",
    "words.rbloom": "rbloom.text.bloom", "words.bytes": "java_bytes.power-of-two.bytes", "grown.jay": "jaybird.scalable-2.bloom"}


def block(language: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"README has {len(blocks)} blocks of {language}, not one"
    return blocks[0]


def indented_lines(page: str, section: str) -> list:
    """Returns the lines to type of a section of the guide."""
    text = (GUIDE / page).read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^    (.*)$", text, re.MULTILINE)


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
            self.assertEqual((ran.returncode, ran.stdout), (0, "alice: 1, zoe: 0\n"), ran.stderr)

    def test_six_lines_of_shell_do_what_the_comments_say(self) -> None:
        path = os.pathsep.join([str(BF.parent), str(BFINSPECT.parent), os.environ["PATH"]])
        ran = self.run_in_folder(["sh", "-e", "-c", block("sh")], env={**os.environ, "PATH": path})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("maybe\talice\nabsent\tzoe\n", ran.stdout)
        self.assertIn("names.bf", ran.stdout)
        (answer, hash_set), = re.findall(r"^bf plan .*# (.*) \(a hash set of the keys: (.*)\)$", block("sh"), re.MULTILINE)
        self.assertTrue(ran.stdout.startswith(f"{answer}, blocked\n"), ran.stdout[:200])
        self.assertRegex(ran.stdout, rf"\na hash set of the keys +{re.escape(hash_set)} ")

    def test_the_lines_about_sets_do_what_the_comments_say(self) -> None:
        lines = indented_lines("sets.md", "In a shell")
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

    def test_the_lines_about_parts_make_one_filter_of_all_lists(self) -> None:
        for number, key in enumerate(("alice", "bob", "carol")):  # enough other keys that every part has some
            keys = [key, *(f"{key} {i}" for i in range(50))]
            (pathlib.Path(self.folder.name) / f"list.{number}").write_text("\n".join(keys) + "\n", "utf-8")
        text = (GUIDE / "sets.md").read_text("utf-8").partition("\n## Parts")[2].partition("\n### ")[0]
        blocks = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
        said = {block: self.typed(block) for block in blocks}
        self.assertEqual({block: ran.stderr for block, ran in said.items() if ran.returncode != 0}, {})
        self.assertEqual(said[blocks[-1]].stdout, "maybe\talice\nmaybe\tbob\n")
        steps = blocks[0].splitlines()
        self.assertEqual([re.sub(r" *#.*", "", line).endswith(" &&") for line in steps], [True] * (len(steps) - 1) + [False])
        self.assertEqual(self.typed("bf contains all.bf carol zoe").stdout, "maybe\tcarol\nabsent\tzoe\n")

    def test_the_lines_about_operating_work_one_after_the_other(self) -> None:
        text = (GUIDE / "operating.md").read_text("utf-8").partition("\n## Memory")[0]
        lines = re.findall(r"^    (.*)$", text, re.MULTILINE)
        self.assertGreater(len(lines), 10)
        self.assertEqual([(line, ran.stderr) for line in lines for ran in [self.typed(line)] if ran.returncode != 0], [])
        self.assertEqual(self.typed("bf contains users.bf 1000 1100").stdout, "maybe\t1000\nmaybe\t1100\n")

    def typed(self, line: str) -> subprocess.CompletedProcess:
        """Runs a line of the guide, for which BFSTORE is the path of the clone."""
        path = os.pathsep.join([str(BF.parent), str(BFINSPECT.parent), os.environ["PATH"]])
        return self.run_in_folder(["sh", "-c", line], env={**os.environ, "PATH": path, "BFSTORE": str(README.parent.resolve())})

    def test_the_guide_shows_what_its_commands_print(self) -> None:
        """Each page in a folder of its own. A line "..." stands for lines that are left out. A script begins with its name.
        bf/shipping_test.py types the page whose consoles have times of day and a command that fails."""
        scripts = re.compile("^```sh\n(#!/bin/sh\n# ([^\n]*)\n.*?)^```", re.MULTILINE | re.DOTALL)
        blocks = re.compile("^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
        shown = {page: "".join(blocks.findall(page.read_text("utf-8"))) for page in GUIDE.glob("*.md") if page.name != "shipping.md"}
        self.assertTrue(shown[GUIDE / "start.md"] and shown[GUIDE / "foreign.md"])
        for page in filter(shown.get, shown):
            self.setUp()
            for text, name in scripts.findall(page.read_text("utf-8")):
                script = pathlib.Path(self.folder.name) / name
                script.parent.mkdir(exist_ok=True)
                script.write_text(text, "utf-8")
            for line, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown[page], re.MULTILINE):
                ran = self.typed(line)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""), f"{page.name}: {line}")
                pattern = re.escape(output).replace(re.escape("...\n"), r"(?:.*\n)*?")
                self.assertRegex(ran.stdout, f"^{pattern}$", f"{page.name}: {line}")

    def test_the_lines_about_each_format_work_with_files_of_these_programs(self) -> None:
        folder = pathlib.Path(self.folder.name)
        for name, original in FOREIGN_FILES.items():
            (folder / name).write_bytes((README.parent / "tests" / "data" / "foreign" / original).read_bytes())
        (folder / "words.txt").write_text("alice\nbob\n", "utf-8")
        for options, form in (("--hash murmur3 --bits 124 --probes 4", "words.bits --order big"),
                              ("--hash pybloom-live --capacity 1000 --fpr 0.001", "words.jay --format jaybird")):
            ran = self.typed(f"bf create f {options} --force -q && bf add f -q --from words.txt && bf export f {form} -q")
            self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = indented_lines("foreign.md", "Formats")
        said = {line: self.typed(line) for line in lines}
        self.assertGreater(len(lines), 15)
        self.assertEqual({line: ran.stderr for line, ran in said.items() if ran.returncode > 1}, {})  # 1: absent
        answers = "".join(ran.stdout for line, ran in said.items() if line.startswith("bf contains"))
        # The keys of CIRCL's list, of a wallet and of rbloom's file: these files have others.
        self.assertEqual(re.findall("^absent\t(.*)", answers, re.MULTILINE), ["3f64c98f22da277a07cab248c44c56eedb796a81", "0102ff", "alice"])

    def bf(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.run_in_folder([BF, *arguments])

    def made(self, name: str, *options: str, built: bool = False) -> dict:
        """Makes a filter, empty or built of one key, and returns its facts."""
        pathlib.Path(self.folder.name, "keys").write_text("key\n", "utf-8")
        made = self.bf(*(["build", name, "--from", "keys"] if built else ["create", name]), "--force", "-q", *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(self.run_in_folder([BFINSPECT, "--json", name]).stdout)

    def abilities(self, *options: str, built: bool) -> dict:
        """Returns what commands do with a small filter that is made with these options: tried, and not read from a table."""
        self.made("one", "--capacity", "1000", "--fpr", "0.01", *options, built=built)
        self.made("other", "--like", "one", built=built)
        commands = {"remove": ["one", "absent"], "merge": ["merged", "one", "other", "--force"],
                    "fold": ["one", "folded", "--to-fpr", "0.1", "--force"],
                    "intersect": ["both", "one", "other", "--force"]}
        ended = {name: self.bf(name, *arguments).returncode for name, arguments in commands.items()}
        self.assertLessEqual(set(ended.values()), {0, 2})  # done, or refused
        return {name: "yes" if code == 0 else "no" for name, code in ended.items()}

    def test_the_table_of_layouts_says_what_bf_plans_makes_and_does(self) -> None:
        section = (GUIDE / "layouts.md").read_text("utf-8").partition("\n## Layouts\n")[2].partition("\n\n#")[0]
        header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")]
                            for line in section.splitlines() if line.startswith("|")]
        self.assertEqual(sorted(LAYOUTS, key=LAYOUTS.get), list(dict.fromkeys(row[0].strip("`").split()[0] for row in rows)))
        size = ["--capacity", "1M", "--fpr", "0.01"]
        plans = [json.loads(self.bf("plan", "--json", *size, *layout).stdout)["layouts"]
                 for layout in ([], *(["--layout", name] for name in LAYOUTS if name not in LASTING_LAYOUTS))]
        planned = {plan["layout"]: plan for layouts in plans for plan in layouts}
        for name, _, bits_per_key, cache_lines, *abilities in rows:
            layout, *hash_ = name.strip("`").split()
            window = ["--window", "24h"] if layout.startswith("window") else []
            built = layout in BUILT_LAYOUTS
            with self.subTest(name):
                self.assertEqual(f"{self.made('f', '--layout', layout, *hash_, *window, *size, built=built)['bits_per_key']:.2f}", bits_per_key)
                self.assertEqual(f"{planned[layout]['bits_per_key']:.2f}", bits_per_key)
                self.assertEqual(f"{planned[layout]['cache_lines']:.0f}", cache_lines)
                claimed = dict(zip(header[4:], abilities))
                self.assertEqual(claimed, self.abilities("--layout", layout, *hash_, *window, built=built))
                if not hash_:  # a plan knows no hash
                    can = planned[layout]["can"]
                    self.assertEqual(claimed, {what: "yes" if can[what] else "no" for what in claimed})

    def test_the_table_of_rates_says_what_bf_plans(self) -> None:
        rows = re.findall(r"^\| ([0-9.]+) \| ([0-9.]+) \| ([^|]+) \| ([^|]+) \|$", (GUIDE / "size.md").read_text("utf-8"), re.MULTILINE)
        self.assertEqual(len(rows), 4)
        for rate, bits_per_key, bits, file in rows:
            plan, = json.loads(self.bf("plan", "--json", "-n", "1M", "-p", rate, "--layout", "blocked").stdout)["layouts"]
            said = [f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.1f} KiB" for size in (plan["body_bytes"], plan["file_bytes"])]
            self.assertEqual((f"{plan['bits_per_key']:.3g}", *said), (f"{float(bits_per_key):.3g}", bits, file), rate)

    def test_the_lines_about_a_filter_that_is_too_large_do_what_the_comments_say(self) -> None:
        lines = indented_lines("size.md", "Nobody knows how many keys will come")
        self.assertGreater(len(lines), 3)
        for line in lines:
            ran = self.typed(line)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
            for room, size in re.findall(r"# room for ([0-9,]+) keys, in ([0-9]+) [KM]iB", line):
                self.assertRegex(ran.stdout, rf"room for {room} keys .*, {size}\.0 [KM]iB", line)

    def test_the_order_of_arguments_in_the_page_of_layouts_is_that_of_bf(self) -> None:
        section = (GUIDE / "layouts.md").read_text("utf-8").partition("\n## Layouts\n")[2].partition("\n## ")[0]
        commands = [command for line in re.findall(r"^- .*", section, re.MULTILINE) for command in re.findall("`(bf [^`]+)`", line)]
        self.assertGreater(len(commands), 6)
        for command in commands:
            usage = " ".join(self.bf(command.split()[1], "--help").stdout.split())
            self.assertIn(f"Usage: {command} ", usage)

    def test_the_first_screen_is_short(self) -> None:
        self.assertLessEqual(len(block("sh").splitlines()), 6)
        statements = [line for line in block("c").splitlines() if line.strip() and not line.startswith(("#", "}"))]
        self.assertLessEqual(len(statements), 10)

    def test_the_line_that_compiles_the_program_is_directly_below_it(self) -> None:
        self.assertRegex(README.read_text("utf-8"), r"(?s)```c\n(?:(?!```).)*```\n`cc x\.c \$\(pkg-config --cflags --libs bfstore\) -o x && \./x`")

    def test_the_demo_ends_with_the_commands_that_compile_c_and_cpp(self) -> None:
        demo = (README.parent / "tools" / "demo").read_text("utf-8")
        for command in ("cc x.c $(pkg-config --cflags --libs bfstore)", "c++ -std=c++20 x.cpp $(pkg-config --cflags --libs bfstore-cpp)"):
            self.assertIn(command, README.read_text("utf-8"))
            self.assertIn(f"{command} -o x && ./x`", README.read_text("utf-8"))
            self.assertIn(f"say '  {command} -o x && ./x", demo)

    def test_the_exports_of_the_demo_keep_the_values_that_the_user_has(self) -> None:
        # PKG_CONFIG_PATH and LD_LIBRARY_PATH were replaced.
        says = re.findall(r"(?m)^say .*export .*$", (README.parent / "tools" / "demo").read_text("utf-8"))
        script = "say() { echo \"$1\"; }; root=/r; build=b\n" + "\n".join(says)
        printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
        show = printed + 'echo "$PATH $PKG_CONFIG_PATH $LD_LIBRARY_PATH $BFSTORE"'
        for own, after in (({}, ""), ({"PKG_CONFIG_PATH": "/own", "LD_LIBRARY_PATH": "/own"}, ":/own")):
            shown = subprocess.run(["bash", "-c", show], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", **own}).stdout
            self.assertEqual(shown, f"/r/b/tools/bf:/r/b/tools/bfinspect:/usr/bin:/bin /r/b/meson-uninstalled{after} /r/b/capi{after} /r\n")

    def test_readme_is_read_in_some_minutes(self) -> None:
        self.assertLessEqual(len(README.read_text("utf-8").splitlines()), 150)

    def test_every_link_leads_somewhere(self) -> None:
        for page in PAGES:
            links = re.findall(r"\]\((?!https:)([^)#]+)\)", page.read_text("utf-8"))
            for link in links:
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")

    def test_every_page_of_the_guide_is_in_readme(self) -> None:
        for page in GUIDE.glob("*.md"):
            self.assertIn(f"(capi/guide/{page.name})", README.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

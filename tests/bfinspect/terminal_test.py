"""bfinspect's command line, and its page in a terminal, wide and narrow, with color and without."""
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import unicodedata
import unittest

from inspector import BFINSPECT, DIRTY, Bytes, InspectorCase, without_colour

GLYPHS = "●─│█·"


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Terminal(InspectorCase):
    def seen(self, path, width=80, code=0, **environment):
        """Returns the lines that a terminal of this width gets."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "NO_COLOR"))}
        clean.update({"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **environment})
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        process = subprocess.Popen([BFINSPECT, path], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=clean)
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:  # EIO: the other side is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), code, output)
        return output.decode().replace("\r\n", "\n").splitlines()

    def filters(self):
        """Makes a file of each verdict, with long and wide text in it."""
        good = self.make("--capacity", "100000", "--note", "日本語のメモ " * 12 + "x" * 120, name="good " + "g" * 70,
                         keys=range(2000))
        unclean = Bytes(good).slots(DIRTY, marks=[(2**64 - 1, 2**64 - 1)]).seal().write(self.path("unclean"))
        broken = Bytes(good).put(36, "II", 0, 0).write(self.path("broken"))
        stranger = Bytes(good)
        stranger.data = bytearray(b"text " * 10)
        return ((good, 0), (unclean, 1), (broken, 2), (stranger.write(self.path("stranger")), 2))

    def test_no_line_is_wider_than_the_terminal(self):
        for path, code in self.filters():
            for width in (24, 40, 60, 80, 100, 132, 300):
                for line in map(without_colour, self.seen(path, width, code)):
                    self.assertLessEqual(columns(line), min(width, 100), (path, width, line))

    def test_nothing_is_lost_on_a_narrow_terminal(self):
        for path, code in self.filters():
            def words(width):
                lines = [without_colour(line) for line in self.seen(path, width, code)]
                drawn = [line for line in lines if any(glyph in line for glyph in GLYPHS[1:])]
                return "".join("".join(line.split()) for line in lines if line not in drawn)
            self.assertEqual(words(40), words(100))

    def test_colour_is_for_terminals_that_have_it_and_where_no_color_is_unset(self):
        path = self.make()
        self.assertIn("\x1b[32m", self.seen(path)[0])
        plain = self.text(path, environment={"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
        self.assertNotIn("\x1b", plain)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            lines = self.seen(path, **environment)
            self.assertNotIn("\x1b", "".join(lines))
            self.assertIn("clean", lines[0])

    def test_the_colour_says_how_bad_it_is(self):
        for (path, code), colour in zip(self.filters(), ("\x1b[32m", "\x1b[33m", "\x1b[1;31m", "\x1b[1;31m")):
            self.assertIn(colour, "".join(self.seen(path, 80, code)[:3]))

    def test_blocks_are_drawn_only_where_the_encoding_is_utf_8(self):
        path = self.make("--capacity", "1000", keys=range(900))
        drawn = "\n".join(self.seen(path))
        for glyph in GLYPHS:
            self.assertIn(glyph, drawn)
        for locale in ("C", "POSIX"):
            self.assertTrue("".join(self.seen(path, LC_ALL=locale)).isascii())
        self.assertRegex(self.text(path), r"\[#+[#.|]+\] \d\d\.\d %")

    def test_the_bar_is_as_full_as_the_filter(self):
        for keys, low, high in ((0, 0, 0), (300, 0.1, 0.3), (1000, 0.4, 0.6)):
            path = self.make("--capacity", "1000", name=f"f{keys}", keys=range(keys))
            bar, = [line for line in self.text(path).splitlines() if line.startswith("  [")]
            cells = bar[bar.index("[") + 1:bar.index("]")]
            filled = cells.rfind("#") + 1
            self.assertGreaterEqual(filled, low * len(cells) - 1)
            self.assertLessEqual(filled, high * len(cells) + 1)
            self.assertEqual(cells.count("|"), 1)

    def test_without_a_terminal_the_page_is_80_columns_wide(self):
        for path, code in self.filters():
            page = self.text(path, code=code, environment={"LC_ALL": "C.UTF-8", "COLUMNS": "300"})
            self.assertLessEqual(max(map(columns, page.splitlines())), 80)
            self.assertIn(80, map(columns, page.splitlines()))


class CommandLine(InspectorCase):
    def refused(self, *arguments):
        done = self.run_inspector(*arguments)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertRegex(done.stderr, rb"\Abfinspect: [^\x00-\x1f\x7f-\xff]+[.?] See bfinspect --help\.\n\Z")
        return done.stderr.decode()

    def test_bad_usage_says_what_is_wrong_and_exits_3(self):
        path = self.make()
        self.assertIn("FILE", self.refused())
        self.refused("--json")
        self.assertIn("'--no-such-option' is not expected here. See", self.refused("--no-such-option", path))
        self.assertIn("'--jsno' is not expected here. Did you mean --json?", self.refused("--jsno", path))
        self.assertIn("'--formta=dcso' is not expected here. Did you mean --format?", self.refused(path, "--formta=dcso"))
        self.assertIn("--html takes one file", self.refused(path, path, "--html", "-"))
        self.refused("--json=maybe", path)

    def test_several_files_are_shown_one_after_another_and_the_worst_exit_code_counts(self):
        # It was refused, "for --prometheus alone".
        good, full, text, missing = self.make(name="good"), self.make(name="full", keys=range(3000)), self.path("text"), self.path("none")
        with open(text, "w", encoding="utf-8") as file:
            file.write("alice\n")
        for paths, worst in (([good, good], 0), ([good, full], 1), ([text, good], 2), ([missing, good], 3), ([good, missing], 3)):
            pages = [self.run_inspector(path).stdout for path in paths]
            done = self.run_inspector(*paths)
            self.assertEqual((done.returncode, done.stdout), (worst, b"\n".join(page for page in pages if page)))
            self.assertEqual(done.stderr.count(b"\n"), paths.count(missing))
            done = self.run_inspector("--json", *paths)
            self.assertEqual((done.returncode, [json.loads(line)["path"] for line in done.stdout.splitlines()]), (worst, paths))
            self.assertEqual([json.loads(line) for line in done.stdout.splitlines()],
                             [json.loads(self.run_inspector("--json", path).stdout) for path in paths])
        done = self.run_inspector("--format", "dcso", "--json", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "foreign", "dcso.data.bloom"), good)
        self.assertEqual(done.returncode, 2)

    def test_a_bad_argument_does_not_reach_the_terminal_raw(self):
        self.assertIn(r"\x1b[31m", self.refused("--\x1b[31m\n\xff", "x"))
        self.assertIn(r"\x1b[31m", self.refused("x", "\x1b[31m", "--html", "-"))

    def test_help_has_an_example_and_the_exit_codes(self):
        for option, all_words in (("--help", (b"bfinspect --json", b"FILE", b"--quick", b"Exit codes", b"3  ", b"note_bytes")),
                                  ("-h", (b"Usage: bfinspect ", b"FILE", b"--json", b"--quick", b"-v, --verbose", b"bfinspect --help"))):
            done = self.run_inspector(option)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            for words in all_words:
                self.assertIn(words, done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_a_file_that_an_option_took_is_named(self):
        self.assertIn("FILE is missing: --html took 'names.bf' for the page to make. See bfinspect --help.", self.refused("--html", "names.bf"))
        self.assertIn("FILE is missing: --output took 'names.bf' for the file of the metrics to make.", self.refused("--prometheus", "--output", "names.bf"))
        self.assertIn("FILE is missing: the filter file. See", self.refused("--json"))
        self.assertIn("bfinspect: --html needs a value. See", self.refused("names.bf", "--html"))
        self.assertFalse(os.path.exists("names.bf"))

    def test_version_is_the_library_s(self):
        ours, theirs = self.run_inspector("--version"), subprocess.run(
            [os.environ["BF"], "--version"], capture_output=True, check=True)
        self.assertRegex(ours.stdout, rb"\Abfinspect \d+\.\d+\.\d+\n\Z")
        self.assertEqual(ours.stdout.split()[-1], theirs.stdout.split()[-1])
        self.assertEqual(ours.returncode, 0)

    def test_options_may_stand_behind_the_file(self):
        path = self.make()
        self.assertTrue(self.run_inspector(path, "--json", "--quick").stdout.startswith(b"{"))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = self.run_inspector(self.make(), stdout=full)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"standard output", done.stderr)

    def test_a_closed_pipe_ends_quietly_with_the_verdict(self):
        for path, code in ((self.make(), 0), ("/dev/null", 2)):
            reading, writing = os.pipe()
            os.close(reading)
            with open(writing, "wb") as pipe:
                done = self.run_inspector(path, stdout=pipe)
            self.assertEqual((done.returncode, done.stderr), (code, b""))

    def test_the_locale_changes_no_number(self):
        path = self.make("--capacity", "30000", keys=range(100))
        other = {"LC_ALL": "", "LC_NUMERIC": "de_DE.UTF-8", "LC_CTYPE": "C", "LANGUAGE": "de"}
        self.text(path)  # this reads the whole file into the page cache
        for arguments in ((), ("--json",)):
            self.assertEqual(self.text(path, *arguments), self.text(path, *arguments, environment=other))


if __name__ == "__main__":
    unittest.main(verbosity=2)

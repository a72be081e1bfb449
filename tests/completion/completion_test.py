"""The completions of bf and bfinspect in the real shells: bash and zsh at a terminal, fish by `complete -C`.

Arguments: the folder of the completions, bf, bfinspect.
"""

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from programs import missing  # found only now
from waiting import wait_until

COMPLETIONS, BF, BFINSPECT = (os.path.abspath(one) for one in sys.argv[1:4])
del sys.argv[1:]

# A line, and the completion of its last word; None: no shell has a word for this place. filters.bf is a file.
CASES = (
    ("bf cr", "create"), ("bf finish", "finish-filling"), ("bf --vers", "--version"), ("bf filt", None),
    ("bf create --any", "--any-filesystem"), ("bf create filt", "filters.bf"),
    ("bf create new.bf --capacity 10 --layout cl", "classic"), ("bf create new.bf --layout=cl", "classic"),
    ("bf build new.bf --hash java-p", "java-polynomial"), ("bf build new.bf --hash siphash --secret-file filt", "filters.bf"),
    ("bf create new.bf --like=filt", "filters.bf"), ("bf create new.bf --capacity filt", None),
    ("bf create new.bf --capacity 5 filt", None), ("bf import bits filt", "filters.bf"),
    ("bf import bits f.bf --order li", "little"), ("bf import bits f.bf --format libb", "libbloom"),
    ("bf contains f.jay --format libb", "libbloom"), ("bf contains f.bf --key-form utf", "utf16le"),
    ("bf contains filt", "filters.bf"), ("bf contains filters.bf filt", None), ("bf contains filters.bf --from filt", "filters.bf"),
    ("bf contains --secret-file k filt", "filters.bf"), ("bf contains filters.bf -- --may", None),
    ("bf merge out.bf in.bf in2.bf filt", "filters.bf"), ("bf verify filters.bf filt", None),
    ("bf add f.bf --lock-timeout fore", "forever"), ("bf add f.bf --cre", "--create"),
    ("bf add f.bf --create --layout cl", "classic"), ("bf add f.bf --create --like filt", "filters.bf"),
    ("bf plan --layout cou", "counting"),
    ("bf plan --js", "--json"),
    ("bf inspect --js", "--json"), ("bf inspect filt", "filters.bf"), ("bf help finish", "finish-filling"),
    ("bf verify --js", None), ("bf count create --nu", "--null"),
    ("bfinspect --format libb", "libbloom"), ("bfinspect --format jaybird filt", "filters.bf"),
    ("bfinspect --qu", "--quick"), ("bfinspect filt", "filters.bf"), ("bfinspect --json filt", "filters.bf"),
    ("bfinspect --prom", "--prometheus"), ("bfinspect --prometheus a.bf filt", "filters.bf"), ("bfinspect filters.bf --html filt", "filters.bf"),
    ("bfinspect --prometheus a.bf --output filt", "filters.bf"),
    # Filters come before other files, of which keps.txt is one.
    ("bf contains kep", "kept.bf"), ("bf merge kep", "kept.bf"), ("bf create new.bf --like kep", "kept.bf"), ("bfinspect kep", "kept.bf"),
    ("bf contains note", "notes.txt"), ("bf contains f.bf --from keps", "keps.txt"), ("bf contains fol", "folder"),
)


def commands():
    told = subprocess.run([BF, "--help"], capture_output=True, text=True, check=True, timeout=600).stdout
    return re.findall(r"^  ([a-z-]+)  ", told.split("\nTopics:")[0], flags=re.MULTILINE)


def options_in_help(*command):
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, timeout=600).stdout
    found = re.findall(r"^  (-\w|--[\w-]+)(?:, (--[\w-]+))?", told, flags=re.MULTILINE)
    return {name for names in found for name in names if name}


class Terminal:
    """A shell at a terminal, in a folder with one file. Its key Ctrl-X Ctrl-P writes the line to a file, and clears it."""

    def __init__(self, command, setup, folder):
        self.shown = os.path.join(folder, "shown")
        env = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb", "LC_ALL": "C.UTF-8", "SHOWN": self.shown}
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(os.path.join(folder, "files"))
            os.execvpe(command[0], command, env)
        self.send(setup + '\nprintf ready > "$SHOWN"\n')
        self.said()

    def send(self, text):
        os.write(self.terminal, text.encode())

    def said(self):
        """Returns what the shell wrote into the file, and removes the file."""
        def is_there():
            while select.select([self.terminal], [], [], 0)[0]:
                os.read(self.terminal, 65536)  # otherwise the shell would wait for this read
            return os.path.exists(self.shown) and os.path.getsize(self.shown) > 0

        wait_until(is_there)
        with open(self.shown, encoding="utf-8") as file:
            text = file.read()
        os.remove(self.shown)
        return text

    def completed(self, line):
        self.send(line + "\t\x18\x10")
        return self.said()

    def end(self):
        os.close(self.terminal)  # this hangs up
        os.waitpid(self.child, 0)


class Shell:
    """The cases that all shells must pass. `folder` has the folder files, which has two filters."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-completion-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "files"))
        os.mkdir(os.path.join(self.folder, "files", "folder"))
        for name in ("filters.bf", "kept.bf", "keps.txt", "notes.txt"):
            with open(os.path.join(self.folder, "files", name), "w", encoding="utf-8"):
                pass

    def check_cases(self, completed):
        for line, word in CASES:
            with self.subTest(line):
                expected = line if word is None else re.sub(r"[^ =]*$", word, line, count=1)
                self.assertEqual(completed(line).rstrip(" =/"), expected)


@unittest.skipIf(missing("bash"), missing("bash"))
class Bash(Shell, unittest.TestCase):
    SETUP = ("bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\n"
             "shown() { printf '%s' \"$READLINE_LINE\" > \"$SHOWN\"; READLINE_LINE=; READLINE_POINT=0; }\n"
             "bind -x '\"\\C-x\\C-p\": shown'\n" + f"source {COMPLETIONS}/bf; source {COMPLETIONS}/bfinspect")

    def test_at_a_terminal(self):
        terminal = Terminal(["bash", "--noprofile", "--norc", "-i"], self.SETUP, self.folder)
        self.addCleanup(terminal.end)
        self.check_cases(terminal.completed)

    def test_each_command_offers_the_options_of_its_help(self):
        ask = f"source {COMPLETIONS}/bf; for command; do COMP_WORDS=(bf $command -) COMP_CWORD=2; _bf; echo ${{COMPREPLY[@]}}; done"
        names = commands()
        self.assertGreater(len(names), 10)
        told = subprocess.run(["bash", "--noprofile", "--norc", "-c", ask, "bash", *names], capture_output=True, text=True,
                              check=True, timeout=600).stdout.splitlines()
        self.assertEqual({name: set(line.split()) for name, line in zip(names, told)},
                         {name: options_in_help(BF, name) for name in names})

    def test_it_is_what_bash_calls(self):
        told = subprocess.run(["bash", "--noprofile", "--norc", "-c",
                               f"source {COMPLETIONS}/bf; source {COMPLETIONS}/bfinspect; complete -p bf bfinspect"],
                              capture_output=True, text=True, check=True, timeout=600).stdout
        self.assertEqual(told, "complete -F _bf bf\ncomplete -F _bfinspect bfinspect\n")


@unittest.skipIf(missing("zsh"), missing("zsh"))
class Zsh(Shell, unittest.TestCase):
    def test_at_a_terminal(self):
        setup = (f"unsetopt zle_bracketed_paste; fpath=({COMPLETIONS} $fpath); autoload -U compinit\n"
                 "compinit -u -D; setopt no_list_beep no_beep no_auto_list; LISTMAX=9999\n"
                 "shown() { print -rn -- $BUFFER > $SHOWN; BUFFER= }; zle -N shown; bindkey '^X^P' shown")
        terminal = Terminal(["zsh", "-f", "-i"], setup, self.folder)
        self.addCleanup(terminal.end)
        self.check_cases(terminal.completed)

    def test_each_command_has_the_options_of_its_help(self):
        with open(os.path.join(COMPLETIONS, "_bf"), encoding="utf-8") as file:
            text = file.read()
        for name in commands():
            part = re.search(rf"^    {name}\)\n(.*?);;", text, flags=re.M | re.S)[1]
            self.assertEqual({option.rstrip("=+") for option in re.findall(r"^ +'(?:\(.*?\)|\*)(-[\w=+-]+)\[", part, flags=re.M)},
                             options_in_help(BF, name), name)


@unittest.skipIf(missing("fish"), missing("fish"))
class Fish(Shell, unittest.TestCase):
    def offered(self, lines):
        """Returns {line: the words that fish offers}."""
        ask = f"source {COMPLETIONS}/bf.fish; source {COMPLETIONS}/bfinspect.fish; " + (
            "for line in $argv; echo \">$line\"; complete -C $line; end")
        env = {**os.environ, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "XDG_DATA_HOME": self.folder,
               "LC_ALL": "C.UTF-8"}
        told = subprocess.run(["fish", "--no-config", "-c", ask, *lines], capture_output=True, text=True, check=True, timeout=600,
                              env=env, cwd=os.path.join(self.folder, "files"))
        found = {}
        for line in told.stdout.splitlines():
            if line.startswith(">"):
                words = found.setdefault(line[1:], [])
            else:
                words.append(line.split("\t")[0])
        return found

    def test_it_offers_the_word_alone(self):
        offered = self.offered([line for line, _ in CASES])
        for line, word in CASES:
            with self.subTest(line):
                # fish offers all files: filters come first.
                options = [one.rpartition("=")[2].rstrip("/") for one in offered[line]]
                self.assertEqual(options[:1] if "kep" in line else options, [] if word is None else [word])

    def test_each_layout_has_its_own_description(self):
        ask = f"source {COMPLETIONS}/bf.fish; complete -C 'bf create f --layout '"
        told = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True, timeout=600,
                              env={**os.environ, "HOME": self.folder, "LC_ALL": "C.UTF-8"}).stdout
        words = dict(line.split("\t") for line in told.splitlines())
        self.assertEqual(list(words), ["blocked", "classic", "counting", "static", "window", "window-4", "window-2", "growing"])
        self.assertEqual((len(set(words.values())), words["window-2"], words["growing"]), (8, "2 epochs", "5 slices"))

    def test_each_command_offers_the_options_of_its_help(self):
        names = commands()
        offered = self.offered([f"bf {name} -" for name in names])
        for name in names:
            self.assertEqual(set(offered[f"bf {name} -"]), options_in_help(BF, name), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The command line of a program, from its own description, in the form that the completions need."""

import json
import os
import re
import subprocess
import sys


FILTERS = {"FILE", "A", "B", "IN", "OUT", "SMALLER", "COPY", "SEALED"}


class Option:
    def __init__(self, described):
        self.names = described["names"]
        self.takes_value = bool(described["value"])
        self.kind = described["value"]  # as in the help: N, PATH
        self.path = described["path"]
        # A path of a filter: shells prefer *.bf there.
        self.filter = self.path and (self.names[0] in FILTERS or self.kind == "OTHER")
        self.words = described["words"]
        self.many = described["many"]
        self.help = described["help"]


class Command:
    """A command of the program, or the program itself, whose name is then ""."""

    def __init__(self, described, name):
        self.name = name
        self.help = described["help"]
        self.options = [Option(one) for one in described["options"] if not one["positional"]]
        self.places = [Option(one) for one in described["options"] if one["positional"]]
        self.commands = [Command(one, one["name"]) for one in described["commands"]]

    @property
    def names(self):
        return [name for option in self.options for name in option.names]


def program():
    """Returns (name, Command) of the program that is the script's first argument."""
    run = subprocess.run([os.path.abspath(sys.argv[1]), "--describe"], check=True, capture_output=True, text=True)
    described = json.loads(run.stdout)
    return described["name"], Command(described, "")


def word_helps(top):
    """Returns {(name of an option, word): help} of the words that the help of that option explains: "blocked (the default), ..."."""
    return {(name, word): found[1]
            for command in top.commands for option in command.options for name in option.names for word in option.words
            if (found := re.search(rf"(?<![\w-]){re.escape(word)} \(([^()]*)\)", option.help))}


def with_values(top):
    """Returns the names of the options that have a value. That must not depend on the command: the shells skip values
    when they count words."""
    commands = [top, *top.commands]
    with_value = {name for command in commands for one in command.options if one.takes_value for name in one.names}
    without = {name for command in commands for one in command.options if not one.takes_value for name in one.names}
    if with_value & without:
        sys.exit(f"{sys.argv[1]}: with a value in one command, and without in another: {sorted(with_value & without)}")
    return sorted(with_value)


def write(lines):
    """Writes the file that is the script's second argument."""
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")

"""Makes the manual page of bf or bfinspect from the program's own description of its command line.

Arguments: the program, the page to write.
"""

import json
import os
import re
import subprocess
import sys

import roff

PURPOSE = {"bf": "make, fill and ask Bloom filters that any number of processes share",
           "bfinspect": "show all facts about a bfstore filter file"}
EVERYWHERE = ("-h", "--help", "--version")


def paragraphs(text):
    """Formats the help: an indented line is an example; other lines are running text."""
    rows = []
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        rows.append(".PP")
        for indented, lines in grouped(paragraph.split("\n")):
            rows += roff.verbatim("\n".join(one[2:] for one in lines)) if indented else [
                roff.line(roff.escaped(" ".join(lines)))]
    return rows


def grouped(lines):
    groups = []
    for one in lines:
        indented = one.startswith("  ")
        if not groups or groups[-1][0] != indented:
            groups.append((indented, []))
        groups[-1][1].append(one)
    return groups


def synopsis(usage):
    """Returns the usage unchanged, since its columns show which parts belong to a line."""
    return [".nf", *[roff.escaped(row) for row in usage.rstrip("\n").split("\n")], ".fi"]


def option_rows(option):
    value = option["value"]
    names = ", ".join(r"\fB" + roff.escaped(name) + r"\fR" for name in option["names"])
    if option["positional"]:
        names = r"\fI" + roff.escaped(option["names"][0]) + r"\fR" + (" ..." if option["many"] else "")
    if value:
        names += r" \fI" + roff.escaped(value) + r"\fR"
    return [".TP", names, roff.line(roff.escaped(option["help"]))]


def option_list(options, everywhere):
    """Returns the options, positional arguments first. Options of every command are listed once."""
    chosen = [one for one in options if (one["names"][-1] in EVERYWHERE) == everywhere]
    return [row for one in sorted(chosen, key=lambda one: not one["positional"]) for row in option_rows(one)]


def command_rows(command):
    return [f".SS {roff.escaped(command['name'])}", *synopsis(command["usage"]), ".PP",
            roff.line(roff.escaped(command["help"] + ".")), *option_list(command["options"], False),
            *paragraphs(command["footer"])]


def command_groups(commands):
    """Returns the names of the commands, by their purpose."""
    groups = {}
    for command in commands:
        groups.setdefault(command["group"], []).append(r"\fB" + roff.escaped(command["name"]) + r"\fR")
    return [row for title, names in groups.items() for row in (".TP 30", roff.escaped(title), ", ".join(names))]


def page(program):
    other = "bfinspect" if program["name"] == "bf" else "bf"
    rows = [*roff.heading(program["name"].upper(), 1, program["version"], f"what {program['name']} says of itself"),
            ".SH NAME", f"{program['name']} \\- {PURPOSE[program['name']]}", ".SH SYNOPSIS", *synopsis(program["usage"]),
            ".SH DESCRIPTION", *paragraphs(program["help"])[1:]]
    if program["commands"]:
        rows += [*command_groups(program["commands"]), *paragraphs(program["footer"])]
    rows += [".SH OPTIONS", *option_list(program["options"], False), *option_list(program["options"], True)]
    if program["commands"]:
        rows += [".SH COMMANDS", *[row for command in program["commands"] for row in command_rows(command)]]
    else:
        rows += [".SH NOTES", *paragraphs(program["footer"])[1:]]
    return rows + roff.see_also((other, 1), ("bfstore", 3), ("bfstore-format", 5))


if __name__ == "__main__":
    described = subprocess.run([os.path.abspath(sys.argv[1]), "--describe"], check=True, capture_output=True, text=True).stdout
    roff.write(sys.argv[2], page(json.loads(described)))

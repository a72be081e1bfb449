"""Makes the manual pages of bf, each of its commands, or bfinspect from the program's own description of its command line.

Arguments: the program, the pages to write: that of the program and those of all its commands.
"""

import json
import os
import re
import subprocess
import sys

import roff

PURPOSE = {"bf": "make, fill and ask Bloom filters that any number of processes share",
           "bfinspect": "show all facts about a bfstore filter file"}


# What the programs read, and where. A test looks for each variable in their sources.
ENVIRONMENT = {
    "COLUMNS": (("bf", "bfinspect"), "The width of help, from 40 to 100, instead of that of the terminal, or 80."),
    "NO_COLOR": (("bf", "bfinspect"), "If it is set and not empty, nothing is colored, unless --color=always is given."),
    "TERM": (("bf", "bfinspect"), "If it is not set, empty, or dumb, nothing is colored, unless --color=always is given."),
    "TMPDIR": (("bf",), "The folder, instead of /tmp, of the files without a name that keep keys of a pipe that are read twice."),
    "BFSTORE_FORCE_ISA": (("bf", "bfinspect"), "The machine code to use: scalar, avx2, avx512 or neon. Without it, the fastest one "
                                               "that this CPU can run. All give the same answers."),
}
# The variables that not every command of bf reads. A test runs each command, and sees what it asks for.
COMMANDS_THAT_READ = {
    "TMPDIR": lambda command: command in ("build", "recover"),
    "BFSTORE_FORCE_ISA": lambda command: command not in ("plan", "help", "inspect", "verify"),  # these ask no filter for keys
}
FILES = {
    "/proc/sys/kernel/random/boot_id": (("bf", "bfinspect"), "tells whether the machine was started again since a file was open"),
    "/proc/PID/fd, /proc/PID/maps": (("bfinspect",), "tell the processes that have the file open"),
}


def table_rows(title, table, program):
    rows = [row for name, (readers, about) in table.items() if program in readers
            for row in (".TP", rf"\fB{roff.escaped(name)}\fR", roff.line(roff.escaped(about)))]
    return [f".SH {title}", *rows]


def environment_of(program, command):
    """Returns the rows of ENVIRONMENT that the command reads."""
    return {name: row for name, row in ENVIRONMENT.items() if program in row[0] and COMMANDS_THAT_READ.get(name, bool)(command)}


def exit_rows(codes):
    return [".SH EXIT STATUS", *[row for one in codes for row in (".TP", one["code"], roff.line(roff.escaped(one["about"])))]]


def example_rows(examples):
    return [".SH EXAMPLES", *paragraphs(examples)[1:]] if examples else []


def paragraphs(text):
    """Formats the help: an indented line is an example; other lines are running text."""
    rows = []
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        rows.append(".PP")
        for indented, lines in grouped(paragraph.split("\n")):
            rows += roff.verbatim("\n".join(row for one in lines for row in roff.broken(one[2:]))) if indented else [
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


def argument_list(options):
    rows = [row for one in options if one["positional"] for row in option_rows(one)]
    return [".SH ARGUMENTS", *rows] if rows else []


def option_list(options):
    """Returns the groups of options, as the help has them. The first needs no title "Options" below that of the section."""
    rows, last = [], "Options"
    for one in options:
        if one["positional"]:
            continue
        if one["group"] != last:
            rows.append(f".SS {roff.escaped(one['group'])}")
        last = one["group"]
        rows += option_rows(one)
    return rows


def command_list(commands):
    """Returns what each command does, by its purpose."""
    groups = {}
    for command in commands:
        groups.setdefault(command["group"], []).append(command)
    rows = []
    for title, members in groups.items():
        rows.append(f".SS {roff.escaped(title)}")
        for command in members:
            rows += [".TP", rf"\fB{roff.escaped(command['name'])}\fR", roff.line(roff.escaped(command["help"] + "."))]
    return rows


def topic_rows(program):
    rows = [row for one in program["topics"] for row in (".TP", rf"\fB{roff.escaped(one['name'])}\fR", roff.line(roff.escaped(one["about"])))]
    return [".SH TOPICS", rf"\fB{program['name']} help\fR \fITOPIC\fR explains:", *rows] if rows else []


def head(name, purpose, version, described, program):
    return [*roff.heading(name.upper(), 1, version, f"what {program} says of itself"),
            ".SH NAME", f"{roff.escaped(name)} \\- {roff.escaped(purpose)}", ".SH SYNOPSIS", *synopsis(described["usage"])]


def last_sections(described, *between):
    return [*argument_list(described["options"]), ".SH OPTIONS", *option_list(described["options"]), *exit_rows(described["exit_codes"]), *between, *example_rows(described["examples"])]


def program_page(program):
    name = program["name"]
    rows = [*head(name, PURPOSE[name], program["version"], program, name),
            ".SH DESCRIPTION", *paragraphs(program["help"])[1:], *paragraphs(program["about"])]
    if program["commands"]:
        rows += [".SH COMMANDS", "Each command has a page of its own:", f".BR {name}\\-\\fICOMMAND\\fR (1).", *command_list(program["commands"])]
    commands = [(f"{name}-{command['name']}", 1) for command in program["commands"]]
    surroundings = [*table_rows("ENVIRONMENT", ENVIRONMENT, name), *table_rows("FILES", FILES, name)]
    return rows + last_sections(program, *surroundings) + topic_rows(program) + roff.see_also(*commands, ("bfinspect" if name == "bf" else "bf", 1), ("bfstore", 3), ("bfstore-format", 5))


def command_page(program, command):
    name = f"{program['name']}-{command['name']}"
    rows = head(name, command["help"][0].lower() + command["help"][1:], program["version"], command, program["name"])
    rows += [".SH DESCRIPTION", roff.line(roff.escaped(command["help"] + ".")), *(paragraphs(command["about"]) if command["about"] else [])]
    surroundings = table_rows("ENVIRONMENT", environment_of(program["name"], command["name"]), program["name"])
    return rows + last_sections(command, *surroundings) + roff.see_also((program["name"], 1), ("bfinspect", 1), ("bfstore-format", 5))


def main(path, *pages):
    described = json.loads(subprocess.run([os.path.abspath(path), "--describe"], check=True, capture_output=True, text=True).stdout)
    made = {f"{described['name']}.1": program_page(described)}
    for command in described["commands"]:
        made[f"{described['name']}-{command['name']}.1"] = command_page(described, command)
    asked = {os.path.basename(page) for page in pages}
    if asked != set(made):
        sys.exit(f"{path} has other commands than the list in tools/manual/meson.build: {sorted(asked ^ set(made))}")
    for page in pages:
        roff.write(page, made[os.path.basename(page)])


if __name__ == "__main__":
    main(*sys.argv[1:])

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
EVERYWHERE = ("-h", "--help", "--version")


EXAMPLE = re.compile(r"Examples?:\s*?(?=\n| )")
EXIT_TABLE = re.compile(r"Exit status:\n(?=  \d)")
EXIT_CODE = re.compile(r"Exit\s+code:\s+")
EXIT_SENTENCE = re.compile(EXIT_CODE.pattern + r"(?P<codes>.*?\.)(?=\s|$)", re.DOTALL)


def split_footer(text, whole=False):
    """Returns the paragraphs of the description, those about the exit code, and the examples, each without its head.

    whole: a paragraph that begins with "Exit code:" is about nothing else; otherwise its first sentence is."""
    about, codes, examples = [], [], []
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        if EXAMPLE.match(paragraph):
            example = EXAMPLE.sub("", paragraph, count=1).strip("\n")
            said = example.lstrip(" ")
            examples.append(example if example.startswith("  ") else said[:1].upper() + said[1:])
        elif EXIT_TABLE.match(paragraph):
            codes.append(EXIT_TABLE.sub("", paragraph))
        elif whole and EXIT_CODE.match(paragraph):
            codes.append(EXIT_CODE.sub("", paragraph, count=1))
        else:
            codes += [one["codes"] for one in EXIT_SENTENCE.finditer(paragraph)]
            about.append(EXIT_SENTENCE.sub("", paragraph))
    return [one for one in about if one.strip()], codes, examples


def exit_rows(codes):
    """Returns the table of exit codes as a list, and sentences as they are."""
    rows = [".SH EXIT STATUS"]
    for one in codes:
        lines = re.sub(r"\n {3,}", " ", one).split("\n")
        table = [re.fullmatch(r"  (\d+)  (.*)", row) for row in lines]
        rows += [row for entry in table for row in (".TP", entry[1], roff.line(roff.escaped(entry[2])))] if all(table) else [
            roff.line(roff.escaped(" ".join(lines)))]
    return rows


def example_rows(examples):
    return [".SH EXAMPLES", *[row for one in examples for row in paragraphs(one)][1:]] if examples else []


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


def head(name, purpose, version, described, program):
    return [*roff.heading(name.upper(), 1, version, f"what {program} says of itself"),
            ".SH NAME", f"{roff.escaped(name)} \\- {roff.escaped(purpose)}", ".SH SYNOPSIS", *synopsis(described["usage"])]


def program_page(program):
    name = program["name"]
    about, codes, examples = split_footer(program["footer"], whole=True)
    rows = [*head(name, PURPOSE[name], program["version"], program, name),
            ".SH DESCRIPTION", *paragraphs(program["help"])[1:], *paragraphs("\n\n".join(about))]
    if program["commands"]:
        rows += [".SH COMMANDS", "Each command has a page of its own:", f".BR {name}\\-\\fICOMMAND\\fR (1).", *command_list(program["commands"])]
    rows += [".SH OPTIONS", *option_list(program["options"], False), *option_list(program["options"], True)]
    rows += exit_rows(codes) + example_rows(examples)
    return rows + roff.see_also(("bfinspect" if name == "bf" else "bf", 1), ("bfstore", 3), ("bfstore-format", 5))


def command_page(program, command):
    name = f"{program['name']}-{command['name']}"
    about, codes, examples = split_footer(command["footer"])
    codes = codes or split_footer(program["footer"])[1][:1]
    rows = head(name, command["help"][0].lower() + command["help"][1:], program["version"], command, program["name"])
    rows += [".SH DESCRIPTION", roff.line(roff.escaped(command["help"] + ".")), *(paragraphs("\n\n".join(about)) if about else []),
             ".SH OPTIONS", *option_list(command["options"], False), *option_list(command["options"], True)]
    rows += exit_rows(codes) + example_rows(examples)
    return rows + roff.see_also((program["name"], 1), ("bfinspect", 1), ("bfstore-format", 5))


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

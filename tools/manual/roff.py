"""The common part of all manual pages: makes man(7) from text, which both groff and mandoc can set."""

import datetime
import os
import re
import time


def escaped(text):
    """Returns text as roff prints it. A dash before an option stays one that a shell accepts."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<!\w)-|-(?!\w)|-(?=-)", r"\\-", text)
    return text.replace("~", "\\(ti").replace("^", "\\(ha").replace("`", "\\(ga").replace("'", "\\(aq")


def line(text):
    """Returns one line of text: roff would treat a dot at its beginning as a request."""
    text = " ".join(text.split())
    return "\\&" + text if text.startswith((".", "'")) else text


def marked(text):
    """Returns text with the marks of Markdown in FORMAT.md: `code`, **strong** and *emphasis*."""
    out = []
    for part in re.split(r"(`[^`]+`|\*\*[^*]+\*\*|(?<![\w*])\*(?=[^\s*])[^*]*[^\s*]\*(?![\w*])|(?<![\w*])\*[^\s*]\*(?![\w*]))",
                         text):
        if len(part) > 2 and part[0] == part[-1] == "`":
            out.append(r"\fB" + escaped(part[1:-1]) + r"\fR")
        elif len(part) > 4 and part.startswith("**") and part.endswith("**"):
            out.append(r"\fB" + escaped(part[2:-2]) + r"\fR")
        elif len(part) > 2 and part[0] == part[-1] == "*":
            out.append(r"\fI" + escaped(part[1:-1]) + r"\fR")
        else:
            out.append(escaped(part))
    return "".join(out)


VERBATIM_COLUMNS = 68  # of a terminal with 80, less what indents a block
PIECE = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^)]*\)|[^\s"'])+""")  # a quoted blank ends none


def broken(line, columns=VERBATIM_COLUMNS, end=" \\", deeper="    "):
    """Returns a line of a program in lines that fit, which end with `end`, but for the last one. Nothing quoted is broken."""
    if len(line) <= columns:
        return [line]
    indent = line[:len(line) - len(line.lstrip())]
    rows, row = [], ""
    for piece in PIECE.findall(line):
        if row and len(row) + 1 + len(piece) + len(end) > columns:
            rows.append(row + end)
            row = indent + deeper + piece
        else:
            row = f"{row} {piece}" if row else indent + piece
    return [*rows, row]


def verbatim(text):
    """Returns lines that stay unchanged."""
    rows = ["\\&" + row if row.startswith((".", "'")) else row for row in escaped(text).split("\n")]
    return [".RS 4", ".nf", *rows, ".fi", ".RE"]


def heading(name, section, version, about):
    """Returns a page's first lines. The date is that of the build, or the one that distributions give for reproducible
    builds."""
    day = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), datetime.timezone.utc).date()
    return ["'\\\" t", f".\\\" Made from {about}. Change that instead.",
            f'.TH {escaped(name)} {section} "{day}" "bfstore {version}" "bfstore"', ".ad l", ".nh",
            ".if n .pl 10000v"]  # a terminal has no pages: groff warns of a table's cell that meets the end of one


def see_also(*pages):
    rows = [f".BR {name} ({section}){',' if i + 1 < len(pages) else ''}" for i, (name, section) in enumerate(pages)]
    return [".SH SEE ALSO", *[row.replace("-", "\\-") for row in rows]]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")

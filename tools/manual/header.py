"""Makes bfstore(3) from the comments of capi/bfstore.h and the headers next to it: the overview, one sentence for each
function, and the codes.

Arguments: the headers, bfstore.h first, the version, the page to write.
"""

import pathlib
import re
import sys

import roff

COMMENT = r"/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/"
SECTION = re.compile(r"/\* --- (?P<title>.+?) -{3,}")
# A comment, and the declarations directly after it, which it documents.
DECLARED = re.compile(COMMENT + r"\n(?P<declarations>(?:BFS_API[^;]*;\n)+)")
CODE = re.compile(r"#define (BFS_OK|BFS_E[A-Z]+) +(?:0|\(-\d+\))[ \t]*(?:/\* (.*?) \*/)?\n")


def text_of(comment):
    """Returns a comment without the stars at the beginnings of lines. Empty lines separate paragraphs."""
    return "\n".join(re.sub(r"^ ?\*? ?", "", one).rstrip() for one in comment.split("\n")).strip()


def first_sentence(text):
    """Returns the text up to a full stop before a capital, a digit or the end, but not after an abbreviation or in
    parentheses."""
    text = " ".join(text.split())
    for stop in re.finditer(r"\.(?= +[A-Z0-9*(]|$)", text):
        sentence = text[:stop.end()]
        if sentence.count("(") == sentence.count(")"):
            return sentence
    return text


def overview(text):
    """Returns paragraphs, tables, whose lines are indented, and lists, whose items begin with a dash."""
    rows = []
    for paragraph in re.split(r"\n\n+", text):
        lead, *items = re.split(r"(?:^|\n)- ", paragraph)
        words = [line for line in lead.split("\n") if not line.startswith("  ")]
        table = [line.strip() for line in lead.split("\n") if line.startswith("  ")]
        if "".join(words):
            rows += [".PP", roff.line(roff.marked("\n".join(words)))]
        if table:
            rows += roff.verbatim("\n".join(table))
        for item in items:
            name, _, rest = item.partition(": ")
            rows += [".TP 7", r"\fB" + roff.escaped(" ".join(name.split())) + r"\fR", roff.line(roff.marked(rest))] if (
                rest and len(name) < 30) else [".IP \\(bu 3", roff.line(roff.marked(item))]
    return rows


def prototype(declaration):
    words = re.sub(r"\bBFS_(API|CHECK)\b", "", declaration)
    words = " ".join(words.split())
    return re.sub(r"\b(bfs_\w+)(?=\()", lambda name: r"\fB" + name[1] + r"\fR", roff.escaped(words))


def function_rows(match):
    declarations = [one + ";" for one in match["declarations"].split(";\n") if one.strip()]
    rows = [row for i, one in enumerate(declarations) for row in ([".TP"] if i == 0 else [".TQ"]) + [prototype(one)]]
    return rows + [roff.line(roff.marked(first_sentence(text_of(match["comment"]))))]


def functions(header):
    """Returns the functions under the titles of the header's sections, if a section has one."""
    titles = [(one.end(), one["title"]) for one in SECTION.finditer(header)]
    rows, last = [], None
    for match in DECLARED.finditer(header):
        title = [title for begin, title in titles if begin < match.end()][-1]
        rows += [] if title == last else [f".SS {roff.escaped(title)}"]
        rows += function_rows(match)
        last = title
    return rows


def codes(header):
    rows = []
    for name, about in CODE.findall(header):
        rows += [".TP", rf"\fB{name}\fR", roff.line(roff.escaped(about or "success"))]
    return rows


def page(header, version):
    about = text_of(re.match(COMMENT, header)["comment"])
    title, _, rest = about.partition("\n\n")
    purpose = title.partition(": ")[2].rstrip(".")
    return [*roff.heading("BFSTORE", 3, version, "capi/bfstore.h"), ".SH NAME",
            "bfstore \\- " + roff.line(roff.escaped(purpose)), ".SH LIBRARY", "libbfstore (\\-lbfstore)", ".SH SYNOPSIS",
            *roff.verbatim("#include <bfstore.h>\n\ncc x.c $(pkg-config --cflags --libs bfstore)"), ".SH DESCRIPTION",
            *overview(rest)[1:], ".SH FUNCTIONS",
            "The header has, at each function, what it promises, the codes that it returns, and what it waits for.",
            *functions(header), ".SH ERRORS", *codes(header), *roff.see_also(("bf", 1), ("bfinspect", 1), ("bfstore-format", 5))]


if __name__ == "__main__":
    *headers, version, out = sys.argv[1:]
    roff.write(out, page("".join(pathlib.Path(one).read_text("utf-8") for one in headers), version))

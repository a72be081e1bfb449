"""Makes bfstore(3) from the comments of capi/bfstore.h and the headers next to it: the overview, one sentence for each
function, the structs, flags, numbers and codes, and an example.

Arguments: the headers, bfstore.h first, the example, the version, the page to write.
"""

import pathlib
import re
import sys
import textwrap

import roff

COMMENT = r"/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/"
SECTION = re.compile(r"/\* --- (?P<title>.+?) -{3,}")
# A comment, and the declarations directly after it, which it documents.
DECLARED = re.compile(COMMENT + r"\n(?P<declarations>(?:BFS_API[^;]*;\n)+)")
STRUCT = re.compile(r"typedef struct (?P<name>bfs_\w+) \{.*?\n\} (?P=name);", re.DOTALL)
FLAG = re.compile(r"#define (BFS_\w+) +0x[0-9a-f]+ull\s*" + COMMENT)
NUMBER = re.compile(r"#define (BFS_(?:LAYOUT|HASH|KEYS)_\w+) +(\d+) *" + COMMENT)
LINE = re.compile(r"(?P<indent> *)(?P<code>.*?) *(?:/\*(?P<comment>.*)\*/)?")
COLUMNS = roff.VERBATIM_COLUMNS
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
    rows = []  # each item of a list with a bullet, and its name, if it has one, in bold
    for paragraph in re.split(r"\n\n+|\n(?=Status:)", text):
        lead, *items = re.split(r"(?:^|\n)- ", paragraph)
        words = [line for line in lead.split("\n") if not line.startswith("  ")]
        table = [line.strip() for line in lead.split("\n") if line.startswith("  ")]
        if "".join(words):
            rows += [".PP", roff.line(roff.marked("\n".join(words)))]
        for name, _, about in (one.partition("  ") for one in table):
            rows += [".TP", rf"\fB{roff.escaped(name)}\fR", roff.line(roff.marked(about))]
        for item in items:
            name, _, rest = item.partition(": ")
            named = rest and len(name) < 30
            rows += [".IP \\(bu 3", r"\fB" + roff.escaped(" ".join(name.split())) + r":\fR " + roff.line(roff.marked(rest))
                     if named else roff.line(roff.marked(item))]
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


def narrow(code):
    """Returns lines of C of which none is wider than a terminal because of its comment: that stands above it then."""
    joined = re.sub(COMMENT, lambda comment: " ".join(re.sub(r"\n *\*", "\n", comment[0]).split()), code)
    return [row for line in joined.split("\n") for row in ([line] if len(line) <= COLUMNS else apart(line))]


def apart(line):
    """Returns a long line with its comment above it."""
    parts = LINE.fullmatch(line)
    indent, statement, comment = parts["indent"], parts["code"], parts["comment"]
    above = wrapped(f"/* {comment.strip()} */", indent, "   ") if comment else []
    return above + (roff.broken(indent + statement, COLUMNS, end="") if statement else [])


def wrapped(text, indent, deeper):
    return textwrap.wrap(text, COLUMNS, initial_indent=indent, subsequent_indent=indent + deeper, break_on_hyphens=False)


def structs(header):
    return [row for match in STRUCT.finditer(header) for row in [f".SS {match['name']}", *roff.verbatim("\n".join(narrow(match[0])))]]


def flags(header):
    rows = []
    for match in FLAG.finditer(header):
        about = text_of(match["comment"])
        rows += [".TP", rf"\fB{match[1]}\fR", roff.line(roff.marked(about if about.startswith("bfs_") else about[0].upper() + about[1:]))]
    return rows


def numbers(header):
    rows = []
    for match in NUMBER.finditer(header):
        rows += [".TP", rf"\fB{match[1]}\fR ({match[2]})", roff.line(roff.marked(text_of(match["comment"])))]
    return rows


def codes(header):
    rows = []
    for name, about in CODE.findall(header):
        rows += [".TP", rf"\fB{name}\fR", roff.line(roff.escaped(about or "success"))]
    return rows


def example_rows(example):
    """Returns what the program's first comment says, the command that builds it, and the program."""
    about = re.match(COMMENT, example)
    purpose, _, build = text_of(about["comment"]).partition("\n\n")
    return [".SH EXAMPLES", roff.line(roff.marked(purpose)), ".PP", *roff.verbatim("\n".join(roff.broken(build.strip()))), ".PP",
            *roff.verbatim("\n".join(narrow(example[about.end():].strip())))]


def page(header, example, version):
    about = text_of(re.match(COMMENT, header)["comment"])
    title, _, rest = about.partition("\n\n")
    purpose = title.partition(": ")[2].rstrip(".")
    return [*roff.heading("BFSTORE", 3, version, "capi/bfstore.h"), ".SH NAME",
            "bfstore \\- " + roff.line(roff.escaped(purpose)), ".SH LIBRARY", "libbfstore (\\-lbfstore)", ".SH SYNOPSIS",
            *roff.verbatim("#include <bfstore.h>\n\ncc x.c $(pkg-config --cflags --libs bfstore)"), ".SH DESCRIPTION",
            *overview(rest)[1:], ".SH FUNCTIONS",
            "The header has, at each function, what it promises, the codes that it returns, and what it waits for.",
            *functions(header), ".SH STRUCTS", *structs(header),
            ".SH FLAGS", "A flag has one meaning in every function. One that a function does not take is BFS_EINVAL.", *flags(header),
            ".SH LAYOUTS, HASHES AND KINDS OF KEYS", *numbers(header), ".SH ERRORS", *codes(header),
            *example_rows(example), *roff.see_also(("bf", 1), ("bfinspect", 1), ("bfstore-format", 5))]


if __name__ == "__main__":
    *headers, example, version, out = sys.argv[1:]
    header = "".join(pathlib.Path(one).read_text("utf-8") for one in headers)
    roff.write(out, page(header, pathlib.Path(example).read_text("utf-8"), version))

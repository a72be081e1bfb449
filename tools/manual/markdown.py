"""Makes bfstore-format(5) from src/format/FORMAT.md: supports the parts of Markdown that this document uses.

Arguments: FORMAT.md, the version, the page to write.
"""

import re
import sys

import roff

PAGE, GAP = 72, 3  # characters: a page's width less its indentation, and the gap between two columns
ITEM = re.compile(r"(?P<indent> *)(?P<mark>-|\d+\.) +(?=\S)")


def blocks(lines):
    """Returns (kind, lines) of blocks without an empty line: heading, table, code, item or text."""
    found = []
    for one in lines:
        kind = kind_of(one, found[-1][0] if found else "empty")
        if kind == "empty" or kind in ("heading", "item") or not found or found[-1][0] != kind:
            found.append((kind, [one]))
        else:
            found[-1][1].append(one)
    return [block for block in found if block[0] != "empty"]


def kind_of(one, before):
    if not one.strip():
        return "empty"
    if one.startswith("#"):
        return "heading"
    if one.startswith("|"):
        return "table"
    if ITEM.match(one) and before not in ("text", "code"):
        return "item"
    if before == "item":
        return "item"  # the item's next line
    return "code" if one.startswith("    ") and before != "text" else "text"


def joined_items(found):
    """Joins the lines after an item's first one to the item."""
    joined = []
    for kind, lines in found:
        if kind == "item" and not ITEM.match(lines[0]):
            joined[-1][1].extend(lines)
        else:
            joined.append((kind, list(lines)))
    return joined


def heading_rows(lines):
    marks, _, title = lines[0].partition(" ")
    if marks == "##":
        return [".SH " + roff.marked(title.upper())]
    if marks == "###":
        return [".SS " + roff.marked(title)]
    return [".PP", "\\fB" + roff.escaped(title) + "\\fR"]


def item_rows(lines):
    begin = ITEM.match(lines[0])
    text = roff.line(roff.marked(" ".join([lines[0][begin.end():], *lines[1:]])))
    mark = "\\(bu" if begin["mark"] == "-" else begin["mark"]
    rows = [f'.IP "{mark}" 4', text]
    return [".RS 4", *rows, ".RE"] if begin["indent"] else rows


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def plain(cell):
    return cell.replace("`", "").replace("**", "")


def widths(rows):
    """Returns the widths of the columns in characters, or None if the longest words are wider than a page."""
    columns = list(zip(*rows))
    least = [max(len(word) for cell in column for word in (plain(cell).split() or [""])) for column in columns]
    most = [max(len(plain(cell)) for cell in column) for column in columns]
    room = PAGE - GAP * len(columns) - sum(least)
    if room < 0:
        return None
    wanted = sum(most) - sum(least)
    return [low + min(high - low, (high - low) * room // max(wanted, 1)) for low, high in zip(least, most)]


def listed(head, body):
    """Returns a table that is too wide for a page, as an item for each row."""
    rows = []
    for first, *rest in body:
        rows += [".TP", r"\fB" + roff.marked(first) + r"\fR"]
        said = [f"{title}: {cell}" if title else cell for title, cell in zip(head[1:], rest)]
        rows += [row for one in said for row in (roff.line(roff.marked(one)), ".br")][:-1]
    return rows


def table_rows(lines):
    """Returns the rows of a table. A cell that is longer than its column becomes a block of text."""
    head, *body = [cells(row) for row in [lines[0], *lines[2:]]]
    body = [row + [""] * (len(head) - len(row)) for row in body]
    columns = widths([head, *body])
    if columns is None:
        return listed(head, body)
    rows = [".PP", ".TS", "tab(@);"] + [" ".join(f"{letter}w({width}n)" for width in columns) + end
                                        for letter, end in (("lb", ""), ("l", "."))]
    for row in [head, *body]:
        rows.append("@".join(f"T{{\n{roff.line(roff.marked(cell))}\nT}}" if len(plain(cell)) > width else roff.marked(cell)
                             for cell, width in zip(row, columns)))
    return [*rows, ".TE"]


def narrow(line):
    """Returns a line of code in lines that fit on a terminal. It continues farther to the right: below the text after its
    first gap, if that is on the left."""
    columns, hex_digits = roff.VERBATIM_COLUMNS, 64
    if len(line) <= columns:
        return [line]
    if re.fullmatch(r"[0-9a-f]+", line):
        return [" " * (4 if at else 0) + line[at:at + hex_digits] for at in range(0, len(line), hex_digits)]
    gap = re.match(r" *\S.*?(?: *= | {2,})", line)
    deeper = gap.end() if gap and gap.end() <= columns // 3 else 4
    rows, row = [], ""
    for piece in re.findall(r" *[^ ]+", line):
        if row and len(row) + len(piece) > columns:
            rows.append(row)
            row = " " * deeper + piece.lstrip()
        else:
            row += piece
    return [*rows, row]


def rows_of(kind, lines):
    if kind == "heading":
        return heading_rows(lines)
    if kind == "table":
        return table_rows(lines)
    if kind == "code":
        return [".PP", *roff.verbatim("\n".join(row for one in lines for row in narrow(one[4:])))]
    if kind == "item":
        return item_rows(lines)
    return [".PP", roff.line(roff.marked(" ".join(lines)))]


def page(text, version):
    title, *lines = text.split("\n")
    rows = [*roff.heading("BFSTORE-FORMAT", 5, version, "src/format/FORMAT.md"), ".SH NAME",
            "bfstore\\-format \\- " + roff.escaped(title.removeprefix("# The ")), ".SH DESCRIPTION"]
    first = True
    for kind, block in joined_items(blocks(lines)):
        made = rows_of(kind, block)
        rows += made[1:] if first and made[0] == ".PP" else made
        first = kind == "heading"
    return rows + roff.see_also(("bf", 1), ("bfinspect", 1), ("bfstore", 3))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        roff.write(sys.argv[3], page(file.read(), sys.argv[2]))

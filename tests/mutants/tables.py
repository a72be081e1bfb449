"""The tables of seeded mistakes ("mutants"): which text of a source becomes which other one.

The table of src/store/file/sync.cpp is tests/mutants/store/sync.cpp.table. It has entries, and between them names with the
test program that notices the mistake; blank lines and lines that begin with # say nothing.

    <<<<
      slot.sequence = slots.newest()->sequence + 1;
    ====
      slot.sequence = slots.newest()->sequence + (mutant("sequence_stays") ? 0 : 1);
    >>>>
    sequence_stays: killed by store_dirty_clean_test

The old text consists of whole lines, and is found exactly once in the source; no two entries of a table overlap. A name
is one mistake, wherever it is.
"""

import pathlib
import re
import typing

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parent.parent / "src"
SUFFIX = ".table"
BEGIN, BECOMES, END = "<<<<", "====", ">>>>"
NAME = re.compile(r'\bmutant\("(\w+)"\)')
KILLER = re.compile(r"(\w+): killed by (\w+)")


class TableError(Exception):
    """Its text names the table, and the entry by its line."""


class Entry(typing.NamedTuple):
    line: int  # of its first mark
    last_line: int
    old: str
    new: str

    def names(self) -> list:
        return NAME.findall(self.new)


class Table:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.source = path.relative_to(FOLDER).as_posix()[:-len(SUFFIX)]  # relative to src/
        self.entries = []
        self.killers = {}
        self._read()

    def _error(self, line: int, problem: str) -> TableError:
        return TableError(f"{self.path}:{line}: {problem}")

    def _read(self) -> None:
        old, new, part, begin = [], [], None, 0
        for number, line in enumerate(self.path.read_text("utf-8").splitlines(), 1):
            if line == BEGIN and part is None:
                old, new, begin = [], [], number
                part = old
            elif line == BECOMES and part is old and begin:
                part = new
            elif line == END and part is new and begin:
                self._add(Entry(begin, number, *("".join(text + "\n" for text in lines) for lines in (old, new))))
                part, begin = None, 0
            elif part is not None:
                part.append(line)
            elif KILLER.fullmatch(line):
                name, killer = KILLER.fullmatch(line).groups()
                self.killers[name] = killer
            elif line.strip() and not line.startswith("#"):
                raise self._error(number, f"neither an entry nor a killer nor a comment: {line}")
        if part is not None:
            raise self._error(begin, "this entry does not end")

    def _add(self, entry: Entry) -> None:
        if not entry.old:
            raise self._error(entry.line, "this entry has no old text")
        if len(entry.names()) != entry.new.count("mutant("):
            raise self._error(entry.line, 'write mutant("name") on one line, with letters, digits and _ in the name')
        if not entry.names():
            raise self._error(entry.line, "this entry's new text has no mutant")
        self.entries.append(entry)

    def names(self) -> set:
        return {name for entry in self.entries for name in entry.names()}

    def applied(self) -> str:
        """The source with all mistakes in it."""
        path = SOURCES / self.source
        if not path.is_file():
            raise self._error(1, f"there is no {path}")
        text = path.read_text("utf-8")
        places = []
        for entry in self.entries:
            found = [match.start() for match in re.finditer("^" + re.escape(entry.old), text, re.MULTILINE)]
            if len(found) != 1:
                raise self._error(entry.line, f"the old text of this entry ({', '.join(dict.fromkeys(entry.names()))}) is "
                                              f"found {len(found)} times in {path}, not once:\n{entry.old}")
            places.append((found[0], entry))
        end = len(text)
        for begin, entry in sorted(places, reverse=True):
            if begin + len(entry.old) > end:
                raise self._error(entry.line, "the old text of this entry overlaps that of another one")
            text = text[:begin] + entry.new + text[begin + len(entry.old):]
            end = begin
        unknown = set(self.killers) - self.names()
        if unknown:
            raise self._error(1, f"killed, but in no entry: {', '.join(sorted(unknown))}")
        return text

    def write_killer(self, name: str, killer: str) -> None:
        """Below the first entry with that name, or where another killer of it was written."""
        lines = self.path.read_text("utf-8").splitlines()
        text = f"{name}: killed by {killer}"
        for number, line in enumerate(lines):
            if KILLER.fullmatch(line) and KILLER.fullmatch(line)[1] == name:
                lines[number] = text
                break
        else:
            lines.insert(next(entry.last_line for entry in self.entries if name in entry.names()), text)
        self.path.write_text("\n".join(lines) + "\n", "utf-8")
        self.__init__(self.path)


def tables() -> list:
    return [Table(path) for path in sorted(FOLDER.rglob("*" + SUFFIX))]

"""Which codes a function of the C ABI may return, as its comment lists them: one by one, by the groups of bfstore_codes.h, or as
another function. As a program: the same as a table for C++ (listed_codes.hpp), of the headers of bfstore.h, which is the first
argument."""
import pathlib
import re
import sys

import bfstore_header

PROTOTYPE = re.compile(r"BFS_API[^;(]*?\b(?P<name>bfs_\w+)\s*\((?P<arguments>[^;]*)\);")
PIECE = re.compile(r"/\*(?P<comment>.*?)\*/|" + PROTOTYPE.pattern, re.S)
GROUP = re.compile(r"/\* Group \"(\w+)\"(.*?)(?=/\* Group \"|\Z)", re.S)
GROUP_OF_LISTS = re.compile(r"\"Group (\w+)\" below: ([^.\"]*?)\.(?:\s|$)")
LIST = re.compile(r"\b(?:Codes|and codes): ([^.]*)\.")


class Unreadable(Exception):
    """A list that is not understood: it is never skipped."""


def _text(comment):
    return " ".join(re.sub(r"\n \*", " ", comment).split())


def _comments(header):
    """Yields (function, whether it takes a bfs_error, comment before it), in the order of the header. Functions that follow
    each other share a comment."""
    comment = ""
    for piece in PIECE.finditer(header):
        if piece["name"]:
            yield piece["name"], "bfs_error*" in piece["arguments"], comment
        else:
            comment = _text(piece["comment"])


class _Lists:
    """Reads lists, of a header after the headers that it includes."""

    def __init__(self, numbers, codes_header):
        self.numbers = numbers
        self.groups = {name: {numbers[code] for code in re.findall(r"#define (BFS_E\w+) \(-", defines)}
                       for name, defines in GROUP.findall(codes_header)}
        self.functions = {}

    def of(self, listed):
        """The codes of "EREADONLY, as bfs_add, system (EBUSY: ...), state"."""
        found, plain = set(), listed
        while "(" in plain:
            plain = re.sub(r"\s*\([^()]*\)", "", plain)
        for item in re.split(r"[,;] (?:and )?| and ", plain):
            found |= self._item(item.strip(), listed)
        return found

    def _item(self, item, listed):
        words = item.removeprefix("group ").removeprefix("the ")
        other = re.fullmatch(r"(?:as|of `like` what) (bfs_\w+)(?: returns)?", item)
        if other and other[1] in self.functions:
            return self.functions[other[1]]
        if words in self.groups:
            return self.groups[words]
        if "BFS_" + words in self.numbers:
            return {self.numbers["BFS_" + words]}
        if re.fullmatch(r"EINVAL for a \w+", item):
            return set()
        raise Unreadable(f"{item!r} in the codes {listed!r}")

    def add_header(self, text):
        for name, words in GROUP_OF_LISTS.findall(_text(text)):
            self.groups[name] = self.of(words)
        for name, takes_error, comment in _comments(text):
            found = {self.numbers["BFS_EINVAL"]} | ({self.numbers["BFS_EINTERNAL"]} if takes_error else set())
            for listed in LIST.findall(comment):
                found |= self.of(listed)
            self.functions[name] = set() if "Never below 0." in comment else found


def of(path):
    """{function: set of codes}. BFS_EINVAL is in every set, and BFS_EINTERNAL in that of a function with a bfs_error, but for a
    function that is never below 0."""
    paths = bfstore_header.installed(path)
    texts = [pathlib.Path(one).read_text("utf-8") for one in paths]
    lists = _Lists(bfstore_header.codes(path), texts[0])
    for text in texts:
        lists.add_header(text)
    return lists.functions


def groups(path):
    """{name: set of codes}, as bfstore_codes.h has them."""
    codes_header = bfstore_header.installed(path)[0]
    return _Lists(bfstore_header.codes(path), pathlib.Path(codes_header).read_text("utf-8")).groups


def main():
    for name, codes in sorted(of(sys.argv[1]).items()):
        print(f'{{"{name}", {{{", ".join(map(str, sorted(codes, reverse=True)))}}}}},')


if __name__ == "__main__":
    main()

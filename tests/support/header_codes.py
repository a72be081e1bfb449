"""Which codes a function of the C ABI may return, as its comment lists them. As a program: the same as a table for
C++ (listed_codes.hpp), of the headers of bfstore.h, which is the first argument."""
import pathlib
import re
import sys

import bfstore_header

PROTOTYPE = re.compile(r"BFS_API[^;(]*?\b(?P<name>bfs_\w+)\s*\((?P<arguments>[^;]*)\);")
PIECE = re.compile(r"/\*(?P<comment>.*?)\*/|" + PROTOTYPE.pattern, re.S)
MENTION = re.compile(r"\b(?P<code>E[A-Z]{3,})\b|(?P<all>every malformed code)|(?P<same>\bbfs_[a-z_]+\b)")


def _comments(header):
    """(function, whether it takes a bfs_error, comment before it), in the order of the header. Functions that follow
    each other share a comment."""
    comment, used = "", False
    for piece in PIECE.finditer(header):
        if piece["name"]:
            used = True
            yield piece["name"], "bfs_error*" in piece["arguments"], comment
        else:
            comment, used = (comment + " " if not used else "") + piece["comment"], False


def of(path):
    """{function: set of codes}, of the functions whose comment lists codes. BFS_EINTERNAL is in every set of a function
    with a bfs_error."""
    header = "".join(pathlib.Path(one).read_text("utf-8") for one in bfstore_header.installed(path))
    numbers = bfstore_header.codes(path)
    malformed = {number for number in numbers.values() if -300 < number <= -200}
    listed = {}
    for name, takes_error, comment in _comments(header):
        text = re.sub(r"\s*\n \*\s*", " ", comment)
        lists = re.split(r"\b(?:Codes|and codes):", text)
        if len(lists) == 1:
            continue
        found = {numbers["BFS_EINTERNAL"]} if takes_error else set()
        for mention in MENTION.finditer(" ".join(lists[1:])):
            if mention["code"]:
                found.add(numbers["BFS_" + mention["code"]])
            elif mention["all"]:
                found |= malformed
            else:
                found |= listed[mention["same"]]
        listed[name] = found
    return listed


def main():
    for name, codes in sorted(of(sys.argv[1]).items()):
        print(f'{{"{name}", {{{", ".join(map(str, sorted(codes, reverse=True)))}}}}},')


if __name__ == "__main__":
    main()

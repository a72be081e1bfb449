"""Go: the codes and sets of bits as constants with the header's words, in gofmt's form. cgo reads all other
declarations from the header itself; the reader without cgo has the numbers of the codes."""

import itertools
import json
import re

import words

# The type of a group of constants, the prefix of their names in C, and its replacement in Go.
GROUPS = (("Code", "BFS_", ""), ("Abilities", "BFS_CAN_", "Can"), ("Differences", "BFS_DIFFERS_", "Differs"))
WORDS = {"Code": "The codes. Code.Error says in a sentence what each means.", "Abilities": "The abilities.",
         "Differences": "The differences."}


def camel(name):
    return re.sub(r"(?:^|_)(\w)([^_]*)", lambda word: word[1].upper() + word[2].lower(), name)


def in_go(words):
    """The header's words with Go's names: "bfs_error.rule" is Error.Rule."""
    return re.sub(r"\bbfs_(\w+)(?:\.(\w+))?", lambda name: ".".join(camel(part) for part in name.groups() if part), words)


def block(words, rows):
    """Yields a block. rows: (name, "type = value", comment). Comments are aligned if the lines above and below have
    one, too."""
    width = max(len(name) for name, _, _ in rows)
    yield from (f"// {words}", "const (")
    for has_comment, run in itertools.groupby(rows, key=lambda row: bool(row[2])):
        run = list(run)
        value_width = max(len(value) for _, value, _ in run) if has_comment else 0
        yield from (f"\t{name:{width}} {value:{value_width}}" + f" // {comment}" * has_comment for name, value, comment in run)
    yield ")"


def group(abi, kind, prefix, go_prefix):
    for one in abi.constants:
        if one.value < 0 if kind == "Code" else one.name.startswith(prefix):
            name = one.name.removeprefix(prefix)
            yield go_prefix + (camel(name) if go_prefix else name), f"{kind} = C.{one.name}", in_go(one.words)


def files(abi, mark):
    lines = [f"// {mark}", "", "package bfstore", "", '// #include "bridge.h"', 'import "C"']
    for kind, prefix, go_prefix in GROUPS:
        lines += ["", *block(WORDS[kind], list(group(abi, kind, prefix, go_prefix)))]
    yield "capi/bindings/go/constants.go", "\n".join(lines) + "\n"

    codes = [one for one in abi.constants if one.value < 0]
    width = max(len(f"c{one.name[4:]}:") for one in codes)
    lines = [f"// {mark}", "", "package reader", "",
             *block("The codes of bfstore_codes.h.", [(f"c{one.name[4:]}", f"int32 = {one.value}", "") for one in codes]),
             "", "// Their names.", "var names = map[int32]string{",
             *(f'\t{f"c{one.name[4:]}:":{width}} "{one.name}",' for one in codes), "}"]
    yield "capi/bindings/go/reader/codes.go", "\n".join(lines) + "\n"

    lines = [f"// {mark}", "", "package bfstore", "", "// The words of the library and those of Go: see tools/abigen/words.py."]
    for name, comment, pairs in words.tables(abi, "go"):
        lines += ["", f"// {comment}", f"var wordsOf{name.title()} = [][2]string{{",
                  *(f"\t{{{json.dumps(theirs)}, {json.dumps(own)}}}," for theirs, own in pairs), "}"]
    yield "capi/bindings/go/words.go", "\n".join(lines) + "\n"

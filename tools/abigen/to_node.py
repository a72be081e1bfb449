"""Node.js: lib/abi.js, from which koffi makes the functions and struct.js the structs; lib/words.js for messages."""

import json
import textwrap

import words as message_words

KINDS = {"uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64", "size_t": "u64", "double": "f64"}

TYPES = """
/** A number: so many bytes. bfs_...: a struct in the struct.
 * @typedef {"u32" | "i32" | "u64" | "f64" | "pointer" | `bfs_${string}` | number} Kind */
/** @typedef {{offset: number, kind: Kind}} Field */
/** @typedef {{name: string, bytes: number, fields: Readonly<Record<string, Field>>}} Layout */
"""

PARAMETERS = """
/* Handles go as uint64_t: koffi takes a number there, which is faster than the BigInt of a pointer. So does a single key, whose
 * address is taken once for many calls. "buffer" is a typed array, or null. Each struct goes as the buffer of its bytes. */
const HANDLE = "uint64_t";
const ADDRESS = "uint64_t";
const BUFFER = "void *";
"""


def field(one):
    kind = one.bytes if one.count else '"pointer"' if one.type.is_pointer else f'"{KINDS.get(one.type.base, one.type.base)}"'
    return f"      {one.name}: {{offset: {one.offset}, kind: {kind}}},"


def struct(one):
    yield f"  {one.name}: {{"
    yield f'    name: "{one.name}",'
    yield f"    bytes: {one.bytes},"
    yield "    fields: {"
    yield from map(field, one.fields)
    yield "    },\n  },"


def parameter(one):
    if one.type.is_handle:
        return "HANDLE"
    if one.name == "key":
        return "ADDRESS"
    return "BUFFER" if one.type.is_pointer else f'"{one.type.base}"'


def constants(abi):
    """BFS has those that a JavaScript number has exactly, so that all of them are of one type."""
    large = [one for one in abi.constants if abs(one.value) >= 2**53]
    yield "export const BFS = Object.freeze({"
    yield from (f"  {one.name.removeprefix('BFS_')}: {one.written}," for one in abi.constants if one not in large)
    yield from ("});", "", "/** The numbers that only a bigint has exactly. */", "export const BFS_LARGE = Object.freeze({")
    yield from (f"  {one.name.removeprefix('BFS_')}: {one.written}n," for one in large)
    yield "});"


def code_names(abi):
    words = " | ".join(f'"{one.name}"' for one in abi.constants if one.value < 0)
    yield textwrap.fill(f"/** The name of a code. @typedef {{{words}}} CodeName */", 120, subsequent_indent=" * ")


def function(one):
    result = "str" if one.result.is_pointer_to("char") else one.result.base
    words = ", ".join([f'"{result}"', *map(parameter, one.parameters)])
    return textwrap.fill(f"  {one.name}: [{words}],", 120, subsequent_indent="    ")


def files(abi, mark):
    lines = [f"/* {mark} */", *constants(abi), "", *code_names(abi), TYPES, "/** @type {Readonly<Record<string, Layout>>} */", "export const STRUCTS = {"]
    lines += [line for one in abi.structs for line in struct(one)]
    lines += ["};", PARAMETERS, "/** The result, then the parameters. @type {Readonly<Record<string, [string, ...string[]]>>} */"]
    lines += ["export const FUNCTIONS = {", *map(function, abi.functions), "};"]
    yield "capi/bindings/node/lib/abi.js", "\n".join(lines) + "\n"

    lines = [f"/* {mark} */", "/* The words of the library and those of this package: see tools/abigen/words.py. */"]
    for name, comment, pairs in message_words.tables(abi, "node"):
        lines += ["", f"/** {comment} @type {{readonly (readonly [string, string])[]}} */", f"export const {name} = [",
                  *(f"  [{json.dumps(theirs)}, {json.dumps(own)}]," for theirs, own in pairs), "];"]
    yield "capi/bindings/node/lib/words.js", "\n".join(lines) + "\n"

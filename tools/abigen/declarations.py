"""What the headers of the C ABI declare, read from their text: constants, structs with the places of their fields, functions.

The headers use a small part of C. Where the reader finds anything else it fails and shows the place: it never skips a
declaration. The places of fields are those of 64-bit machines, the only ones that bfstore runs on; layout_checks.cpp compares
them with the compiler's.
"""

import dataclasses
import pathlib
import re

CAPI = pathlib.Path(__file__).resolve().parents[2] / "capi"
BYTES = {"char": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8}
POINTER_BYTES = 8


class Unreadable(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Type:
    base: str  # "uint32_t", "void", "bfs_filter"
    points_to_const: tuple = ()  # for each star, from the left: whether what it points to is const

    @property
    def is_pointer(self):
        return bool(self.points_to_const)

    @property
    def is_handle(self):
        return self.base == "bfs_filter" and len(self.points_to_const) == 1

    def is_pointer_to(self, *bases):
        return self.base in bases and len(self.points_to_const) == 1


@dataclasses.dataclass(frozen=True)
class Constant:
    name: str
    written: str  # "0x10", "-1": the number as C has it, without suffix and parentheses
    bits: int  # of the type for which it is meant: 64 for flags
    words: str  # the comment on its line

    @property
    def value(self):
        return int(self.written, 0)

    @property
    def is_code(self):
        return self.value < 0 or self.name == "BFS_OK"


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    type: Type
    count: int  # of the elements of an array; 0 for no array
    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple
    bytes: int
    alignment: int

    @property
    def says_its_size(self):
        return self.fields[0].name == "struct_bytes"


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    type: Type


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple


@dataclasses.dataclass
class Abi:
    constants: list = dataclasses.field(default_factory=list)
    handles: list = dataclasses.field(default_factory=list)  # names of structs without fields
    structs: list = dataclasses.field(default_factory=list)
    functions: list = dataclasses.field(default_factory=list)


def headers(folder=CAPI):
    """In an order in which each includes those before it. bfstore_reader.h is none of the C ABI: no library has its functions."""
    order = ("codes", "", "engine", "sets", "memory", "interop")
    found = {path.stem.removeprefix("bfstore").lstrip("_"): path for path in pathlib.Path(folder).glob("bfstore*.h")}
    found.pop("reader", None)
    if set(found) != set(order):
        raise Unreadable(f"{folder}: the headers are {sorted(found)}, and not {sorted(order)}")
    return [found[name] for name in order]


def read(paths=None):
    abi = Abi()
    for path in paths or headers():
        text = pathlib.Path(path).read_text(encoding="utf-8")
        abi.constants += _constants(text, path)
        _read_declarations(_declarations(text), abi, path)
    known = {*BYTES, "void", *abi.handles, *(one.name for one in abi.structs)}
    for kind in (kind for one in abi.functions for kind in (one.result, *(each.type for each in one.parameters))):
        if kind.base not in known:
            raise Unreadable(f"{kind.base}: no such type")
    return abi


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


# --- Constants --------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"#define (BFS_\w+)[ \t]+(?:(-?(?:0x[0-9a-f]+|\d+))(u|ull)?|\((-\d+)\))[ \t]*(?:/\*((?:[^*]|\*(?!/))*)\*/)?[ \t]*$", re.M)
# Of the compiler, of a call (BFS_IS_...), and the initial values of structs.
NO_NUMBER = re.compile(r"#define (BFSTORE\w*_H|BFS_API|BFS_CHECK|BFS_IS_\w+\(|BFS_\w+_INIT)\b")


def _constants(text, path):
    found = []
    for define in re.finditer(r"^#define .*$", text, re.M):
        number = NUMBER.match(text, define.start())
        if number:
            name, written, suffix, negative, words = number.groups()
            found.append(Constant(name, written or negative, 64 if suffix == "ull" else 32, " ".join((words or "").split())))
        elif not NO_NUMBER.match(define[0]):
            raise Unreadable(f"{path}: not a number: {define[0]}")
    return found


# --- Declarations -----------------------------------------------------------------------------------------------------

DECLARATIONS = (
    re.compile(r"typedef struct (?P<handle>\w+) (?P=handle) ?;"),
    re.compile(r"struct (?P<later>\w+) ?;"),  # of a header that comes later
    re.compile(r"typedef struct (?P<struct>\w+) ?\{(?P<fields>[^{}]*)\} ?(?P=struct) ?;"),
    re.compile(r"BFS_API (?:BFS_CHECK )?(?P<result>[\w *]+?) ?\b(?P<function>bfs_\w+)\((?P<parameters>[\w *,]*)\) ?;"),
    re.compile(r"static inline [^{};]*(?P<body>\{)"),  # of the header alone: no library has it
)


def _declarations(text):
    """Without comments and what is for the preprocessor or for C++ alone, with single spaces."""
    text = re.sub(r"\\\n", " ", without_comments(text))
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text, flags=re.S | re.M)
    return " ".join(re.sub(r"^#.*$", "", text, flags=re.M).split())


def _read_declarations(text, abi, path):
    at = 0
    while at < len(text):
        found = next(filter(None, (one.match(text, at) for one in DECLARATIONS)), None)
        if found is None:
            raise Unreadable(f"{path}: cannot read: {text[at:at + 100]}")
        said, at = found.groupdict(), found.end()
        if "handle" in said:
            abi.handles.append(said["handle"])
        elif "later" in said:
            pass
        elif "struct" in said:
            abi.structs.append(_struct(said["struct"], said["fields"], abi.structs))
        elif "function" in said:
            listed = [] if said["parameters"] == "void" else said["parameters"].split(",")
            abi.functions.append(Function(said["function"], _type(said["result"]), tuple(Parameter(*_named(one)) for one in listed)))
        else:
            at = _end_of_block(text, at)
        at += text[at:at + 1] == " "


def _end_of_block(text, at):
    """The place after the brace that closes the one before `at`."""
    depth = 1
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _named(declared):
    """(name, type) of "const char* path"."""
    kind, name = re.fullmatch(r"\s*(.*?[ *])(\w+)\s*", declared).groups()
    return name, _type(kind)


def _type(text):
    """Of "const bfs_filter* const*"."""
    words = text.replace("*", " * ").replace("struct ", "").split()
    is_const = words[0] == "const"
    base, stars, words = words[is_const], [], words[is_const + 1:]
    for word in words:
        if word == "*":
            stars.append(is_const)
            is_const = False
        elif word == "const":
            is_const = True
        else:
            raise Unreadable(f"not a type: {text}")
    return Type(base, tuple(stars))


def _one_by_one(text):
    """ "uint32_t layout, hash;" declares two. """
    for declared in filter(str.strip, text.split(";")):
        first, *others = declared.split(",")
        kind = re.match(r"\s*(.*[ *])\w+", first)[1]
        if others and "*" in declared:  # in C the star belongs to one of them
            raise Unreadable(f"not one pointer: {declared}")
        yield first
        yield from (kind + other for other in others)


def _struct(name, text, structs):
    sizes = {**{base: (size, size) for base, size in BYTES.items()},
             **{one.name: (one.bytes, one.alignment) for one in structs}}
    fields, end, widest = [], 0, 1
    for declared in _one_by_one(text):
        plain, count = re.fullmatch(r"([^\[]*)(?:\[(\d+)\])?\s*", declared).groups()
        field, kind = _named(plain)
        if not kind.is_pointer and kind.base not in sizes:
            raise Unreadable(f"{name}.{field}: {kind.base} has no size")
        size, alignment = (POINTER_BYTES, POINTER_BYTES) if kind.is_pointer else sizes[kind.base]
        offset = (end + alignment - 1) // alignment * alignment
        end = offset + size * int(count or 1)
        widest = max(widest, alignment)
        fields.append(Field(field, kind, int(count or 0), offset, end - offset))
    return Struct(name, tuple(fields), (end + widest - 1) // widest * widest, widest)

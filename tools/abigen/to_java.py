"""Java: the numbers, the structs, and the functions, for both back ends, and the words of messages.

An address, a size and 64 bits are a long. A function that only reads `const void*` and has no bfs_error also takes
byte[]: it is short, so it may get an array of the heap.
"""

import json
import re
import textwrap

import words

TYPES = {"int32_t": "int", "uint32_t": "int", "double": "double", "void": "void"}
LAYOUTS = {"int": "JAVA_INT", "long": "JAVA_LONG", "double": "JAVA_DOUBLE", "byte[]": "ADDRESS", "void": "null"}
TOGETHER = "\N{NO-BREAK SPACE}"  # in a line that may be broken
FOLDER = "capi/bindings/java/{}/dev/bfstore/{}.java"


class Call:
    """A method in Java."""

    def __init__(self, function, on_heap=False):
        self.name, self.on_heap = function.name, on_heap
        self.result = type_of(function.result)
        self.parameters = [("byte[]" if on_heap and is_bytes(one) else type_of(one.type), camel(one.name)) for one in function.parameters]

    @property
    def signature(self):
        return f"{self.result} {self.name}({', '.join(map(TOGETHER.join, self.parameters))})"

    @property
    def handle(self):
        return self.name.removeprefix("bfs_").upper() + "_ON_HEAP" * self.on_heap


def type_of(kind):
    return "long" if kind.is_pointer else TYPES.get(kind.base, "long")


def is_bytes(parameter):
    return parameter.type.is_pointer_to("void") and parameter.type.points_to_const == (True,)


def camel(name):
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def calls(abi):
    for one in abi.functions:
        yield Call(one)
        if any(map(is_bytes, one.parameters)) and not any(each.name == "error" for each in one.parameters):
            yield Call(one, on_heap=True)


def wrapped(line):
    lines = textwrap.fill(line, 120, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
    return lines.replace(TOGETHER, " ")


def constant(one):
    if one.bits == 64:
        written = one.written if one.value < 2**63 else f"{one.value:#x}"
        return f"  static final long {one.name[4:]} = {written}L;"
    return f"  static final int {one.name[4:]} = " + (f"(int) {one.written}L;" if one.value >= 2**31 else f"{one.written};")


def struct(one):
    rows = [f'  static final Struct {one.name.removeprefix("bfs_").upper()} = new Struct("{one.name}", {one.bytes})']
    rows += [f'      .field("{field.name}", {field.offset}, {field.bytes})' for field in one.fields]
    return "\n".join(rows) + ";\n"


def handle(call):
    kind = "critical" if call.on_heap else "handle"
    words = ", ".join([f'"{call.name}"', LAYOUTS[call.result], *(LAYOUTS[one] for one, _ in call.parameters)])
    return wrapped(f"private static final MethodHandle {call.handle} = Downcall.{kind}({words});")


def ffm_method(call):
    words = ", ".join(f"MemorySegment.ofArray({name})" if kind == "byte[]" else name for kind, name in call.parameters)
    result = "" if call.result == "void" else f"return ({call.result}) "
    return "\n".join(["\n  @Override", wrapped(f"public {call.signature}{TOGETHER}{{"), "    try {",
                      f"      {result}{call.handle}.invokeExact({words});",
                      "    } catch (Throwable unexpected) {", "      throw Downcall.failed(unexpected);", "    }", "  }"])


def source(mark, imports, words, declared, rows):
    head = [f"// {mark}", "package dev.bfstore;", ""]
    return "\n".join([*head, *imports, *[""] * bool(imports), f"/** {words} */", f"{declared} {{", *rows, "}"]) + "\n"


def files(abi, mark):
    made = list(calls(abi))
    yield FOLDER.format("src", "Abi"), source(
        mark, [], "The numbers of the C headers, under their names without BFS_.", "final class Abi",
        [*map(constant, abi.constants), "", "  private Abi() {}"])
    yield FOLDER.format("src", "Structs"), source(
        mark, [], "The offsets of the fields in the structs of the C headers.", "final class Structs",
        [*map(struct, abi.structs), "  private Structs() {}"])
    yield FOLDER.format("src", "Calls"), source(
        mark, [], "The functions of the C headers. An address, a size and a u64 are a long, and a byte[] is on the heap.",
        "interface Calls", [wrapped(f"{one.signature};") for one in made])
    yield FOLDER.format("src", "JnaCalls"), source(
        mark, [], "The functions as native methods, to which JNA's direct mapping binds them.",
        "abstract class JnaCalls implements Library", [wrapped(f"@Override public native {one.signature};") for one in made])
    imports = [f"import static java.lang.foreign.ValueLayout.{one};" for one in sorted({*LAYOUTS.values()} - {"null"})]
    imports += ["", "import java.lang.foreign.MemorySegment;", "import java.lang.invoke.MethodHandle;"]
    yield FOLDER.format("src22", "FfmCalls"), source(
        mark, imports, "The functions by java.lang.foreign. Only a handle that is constant is compiled into its caller.",
        "abstract class FfmCalls implements Library", [*map(handle, made), *map(ffm_method, made)])
    rows = []
    for name, comment, pairs in words.tables(abi, "java"):
        rows += [f"  /** {comment} */", f"  static final String[][] {name} = {{",
                 *(f"    {{{json.dumps(theirs)}, {json.dumps(own)}}}," for theirs, own in pairs), "  };", ""]
    yield FOLDER.format("src", "WordPairs"), source(
        mark, [], "The words of the library and those of Java: see tools/abigen/words.py.", "final class WordPairs",
        [*rows, "  private WordPairs() {}"])

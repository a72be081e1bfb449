"""Python: tables of the numbers and of the structs that are dicts there, which the C compiler fills with offsets; and the words
of messages."""

import words

# The extension fills in bfs_error and bfs_keys itself; the smaller ones are tuples.
DICTS = ("bfs_options", "bfs_plan_request", "bfs_plan_result", "bfs_statistics",
         "bfs_comparison", "bfs_foreign")
KINDS = {"int32_t": "INT32", "uint32_t": "UINT32", "uint64_t": "UINT64", "double": "DOUBLE", "bfs_interval": "INTERVAL"}
# A pointer's or an array's kind, and the form of the name of the field with its length.
POINTERS = {"char": ("PATH", None), "void": ("BYTES", "{}_bytes"), "uint32_t": ("SEEDS", "num_{}")}
ARRAYS = {"char": ("TEXT", None), "uint8_t": ("ID", "{}_bytes"), "uint32_t": ("SEEDS_IN", "num_{}"), "double": ("DOUBLES", None)}
BYTES_AT = {"uint8_t": "16"}  # behind a pointer to one thing: file_id is an array of 16


def row(struct, field):
    """(kind, the C expression of the field's fourth column, the name of its length or None)."""
    if not field.type.is_pointer and not field.count:
        return KINDS[field.type.base], "0", None
    kind, form = (POINTERS if field.type.is_pointer else ARRAYS).get(field.type.base, ("AT", None))
    if kind == "AT":
        return kind, BYTES_AT.get(field.type.base, f"sizeof({field.type.base})"), None
    length = form and form.format(field.name)
    if length in {one.name for one in struct.fields}:
        return {"ID": "BYTES_IN"}.get(kind, kind), f"offsetof({struct.name}, {length})", length
    return kind, str(field.count), None


def rows(struct):
    found = {field.name: row(struct, field) for field in struct.fields}
    for name in ("struct_bytes", "reserved", *[length for _, _, length in found.values()]):
        found.pop(name, None)
    for name, (kind, fourth, _) in found.items():
        yield f'    {{"{name}", {kind}, offsetof({struct.name}, {name}), {fourth}}},'


def number(one):
    """A row of the name, whether the number is signed, and its 64 bits: BFS_IF_DUE needs all of them, and codes are negative."""
    cast = "(uint64_t)" if one.is_code else ""
    return f'    {{"{one.name.removeprefix("BFS_")}", {int(one.is_code)}, {cast}{one.name}}},'


def files(abi, mark):
    lines = [f"/* {mark} */", "/* clang-format off */", "static const Number numbers[] = {"]
    lines += [*map(number, abi.constants), "};"]
    for struct in abi.structs:
        if struct.name in DICTS:
            lines += ["", f"static const Field {struct.name}_fields[] = {{", *rows(struct), "    {NULL, END, 0, 0},", "};"]
    yield "capi/bindings/python/bfstore/_abi.h", "\n".join(lines) + "\n"

    lines = [f"# {mark}", '"""The words of the library and those of Python: see tools/abigen/words.py."""']
    for name, comment, pairs in words.tables(abi, "python"):
        lines += ["", f"# {comment}", f"{name}: dict[str, str] = {{", *(f"    {theirs!r}: {own!r}," for theirs, own in pairs), "}"]
    yield "capi/bindings/python/bfstore/_words.py", "\n".join(lines) + "\n"

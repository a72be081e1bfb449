"""Python: tables of the numbers, and of the structs that are dicts in Python, whose offsets the C compiler fills in."""

# The extension fills in bfs_error and bfs_keys itself; the smaller ones are tuples.
DICTS = ("bfs_options", "bfs_open_options", "bfs_copy_options", "bfs_plan_request", "bfs_plan_result", "bfs_statistics",
         "bfs_comparison", "bfs_foreign")
KINDS = {"int32_t": "INT32", "uint32_t": "UINT32", "uint64_t": "UINT64", "double": "DOUBLE", "bfs_interval": "INTERVAL"}
ARRAYS = {"char": "TEXT", "uint8_t": "ID"}
# A pointer's kind, and the field with the length of its target.
POINTERS = {"char": ("PATH", None), "void": ("BYTES", "{}_bytes"), "uint32_t": ("SEEDS", "num_{}")}


def rows(struct):
    lengths = {"struct_bytes", "reserved"}
    for field in struct.fields:
        if field.name in lengths:
            continue
        kind, length = POINTERS[field.type.base] if field.type.is_pointer else ((ARRAYS if field.count else KINDS)[field.type.base], None)
        place = "0"
        if length:
            lengths.add(length.format(field.name))
            place = f"offsetof({struct.name}, {length.format(field.name)})"
        yield f'    {{"{field.name}", {kind}, offsetof({struct.name}, {field.name}), {place}}},'


def files(abi, mark):
    lines = [f"/* {mark} */", "/* clang-format off */", "static const Number numbers[] = {"]
    lines += [f'    {{"{one.name.removeprefix("BFS_")}", {one.name}}},' for one in abi.constants] + ["};"]
    for struct in abi.structs:
        if struct.name in DICTS:
            lines += ["", f"static const Field {struct.name}_fields[] = {{", *rows(struct), "    {NULL, END, 0, 0},", "};"]
    yield "capi/bindings/python/bfstore/_abi.h", "\n".join(lines) + "\n"

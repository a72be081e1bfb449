"""C and C++: the checks of the layout of structs by the library's compiler, and the list of exported symbols."""

import re

from declarations import CAPI, headers


def checks(struct):
    yield ""
    yield from (f"static_assert(offsetof({struct.name}, {field.name}) == {field.offset});" for field in struct.fields)
    yield f"static_assert(sizeof({struct.name}) == {struct.bytes});"


def nodes(abi, text):
    """Returns {node: its functions}. A function keeps the node that it has in the text; a new one gets the header's
    version."""
    version = {one.name.removeprefix("BFS_VERSION_"): one.value for one in abi.constants if one.name.startswith("BFS_VERSION_")}
    now = f"BFSTORE_{version['MAJOR']}.{version['MINOR']}"
    had = {name: node for node, body in re.findall(r"^(BFSTORE_[\d.]+) \{(.*?)\n\}", text, re.S | re.M) for name in re.findall(r"\bbfs_\w+", body)}
    found = {node: [] for node in dict.fromkeys([*had.values(), now])}
    for name in sorted(one.name for one in abi.functions):
        found[had.get(name, now)].append(name)
    return {node: names for node, names in found.items() if names}


def version_script(abi, text):
    before = ""
    for node, names in nodes(abi, text).items():
        yield from (f"{node} {{", "  global:", *(f"    {name};" for name in names))
        if not before:
            yield "  local: *;"
        yield f"}}{before};"
        before = f" {node}"


def files(abi, mark):
    lines = [f"// {mark}", "// A change here breaks every program that was built before.",
             *sorted(f'#include "{path.name}"' for path in headers()), "", "#include <cstddef>"]
    lines += [line for struct in abi.structs for line in checks(struct)]
    yield "capi/layout_checks.cpp", "\n".join(lines) + "\n"

    path = CAPI / "bfstore.map"
    lines = [f"# {mark}", "# Every function of the C ABI, under the minor release that brought it."]
    lines += version_script(abi, path.read_text(encoding="utf-8"))
    yield "capi/bfstore.map", "\n".join(lines) + "\n"

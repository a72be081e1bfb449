"""Which room may include which: fails on an include that breaks the rules of the rooms.

base <- hash, layout, region <- format <- store/file <- store/home <- store/ask <- store/derive <- capi, tools, bench
layout <- sizing <- store/file <- store/plan <- store/derive; format, hash, layout, sizing <- bare
hash, layout, sizing <- interop <- store/derive: foreign formats see neither files nor handles
hash, layout and region never include each other; tools and bindings see only public headers. In a folder of C no sources need each
other in a circle.
"""

import graphlib
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
PUBLIC = {"public"}
LOW = {"base"} | PUBLIC
BELOW_STORE = LOW | {"hash", "sizing", "layout", "region", "format"}
ROOMS = {
    "include": PUBLIC,
    "src/base": LOW,
    "src/hash": LOW | {"hash"},
    "src/sizing": LOW | {"layout", "sizing"},
    "src/layout": LOW | {"layout"},
    "src/region": LOW | {"region"},
    "src/format": LOW | {"hash", "sizing", "layout", "region", "format"},
    "src/bare": LOW | {"hash", "sizing", "layout", "format"},
    "src/interop": LOW | {"hash", "sizing", "layout", "interop"},
    "src/store/file": BELOW_STORE | {"store/file"},
    "src/store/home": BELOW_STORE | {"store/file", "store/home"},
    "src/store/ask": BELOW_STORE | {"store/file", "store/home", "store/ask"},
    "src/store/plan": BELOW_STORE | {"store/file", "store/plan"},
    "src/store/derive": BELOW_STORE | {"interop", "store/file", "store/home", "store/ask", "store/plan", "store/derive"},
    "capi": PUBLIC | {"abi"},
    "tools": PUBLIC | {"abi"},
    "tools/bfinspect": PUBLIC | {"format"},
    "bench": PUBLIC | {"abi"},
}
# Libraries that only one room may see.
KEPT = {"xxhash.h": ("src/hash/hash.hpp",), "boost/": ("src/region/", "bench/rivals/rival_boost.cpp")}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(root: pathlib.Path) -> list:
    found = []
    for folder in ("include", "src", "capi", "tools", "bench"):
        found += [path for ending in ("hpp", "cpp", "h", "c") for path in (root / folder).rglob(f"*.{ending}")]
    return sorted(found)


def room_of(path: str) -> str:
    return max((room for room in ROOMS if path.startswith(room + "/")), key=len)


def target_of(name: str, path: pathlib.Path) -> str:
    """Returns the room that an include leads to; empty for the standard library, libraries and the file's own folder."""
    if name.startswith("bfstore/"):
        return "public"
    if name in ("bfstore.h", "bfstore_codes.h", "bfstore_engine.h", "bfstore_interop.h", "bfstore_memory.h", "bfstore_sets.h"):
        return "abi"
    room = name.rpartition("/")[0]
    return room if f"src/{room}" in ROOMS else ""


def broken_rules(path: str, text: str) -> list:
    allowed = ROOMS[room_of(path)]
    broken = []
    for name in INCLUDE.findall(text):
        target = target_of(name, pathlib.Path(path))
        if target and target not in allowed:
            broken.append(f"{path} includes {name}: {room_of(path)} may not see {target}")
        for kept, where in KEPT.items():
            if (name == kept or (kept.endswith("/") and name.startswith(kept))) and not path.startswith(where):
                broken.append(f"{path} includes {name}, which only {' and '.join(where)} may")
        if ".." in name:
            broken.append(f"{path} includes {name}: name the room, not the way to it")
    return broken


# Declarations in a header: of functions, and of a class's members.
FUNCTION = re.compile(r"^(?!using|template|extern|constexpr|inline|[#/}])[\w\[][^;{}()=]*?[ &*](\w+)\([^;{}]*\)(?: noexcept)?;",
                      re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (?:\w+::)*(\w+)[^;{]*\{(.*?)^\};", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^  (?!using|friend|return|explicit|//)[\w\[][^;{}()=]*?[ &*](\w+)\([^;{}]*\)(?: const)?(?: noexcept)?;",
                    re.MULTILINE)


def implemented_elsewhere(header: pathlib.Path) -> list:
    """Returns what a header declares, and neither it nor the source of its name implements."""
    text, source = header.read_text("utf-8"), header.with_suffix(".cpp")
    own = text + (source.read_text("utf-8") if source.exists() else "")
    outside = CLASS.sub("", text)
    found = [name for name in FUNCTION.findall(outside)
             if not re.search(rf"^[^\s/][^;{{}}]*?\b{name}\([^;]*?\{{", own, re.MULTILINE)]
    for of, members in CLASS.findall(text):
        found += [f"{of}::{name}" for name in MEMBER.findall(members) if name != of and f"{of}::{name}(" not in own]
    return found


# C: one header of a folder may declare what many sources implement. Only the names tell which source needs which.
C_FOLDERS = sorted({path.parent for path in (ROOT / "capi").rglob("*.c")})
NO_CODE = re.compile(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"', re.DOTALL)
C_FUNCTION = re.compile(r"^(?!static )\w[\w *]*?\b(\w+)\([^;{}]*\) \{", re.MULTILINE)
NAME = re.compile(r"(?<![.>\w])[a-z]\w*")


def circle_in(folder: pathlib.Path) -> list:
    """Returns a circle of sources, each of which names a function of the next one; empty if there is none."""
    texts = {path.name: NO_CODE.sub("", path.read_text("utf-8")) for path in folder.glob("*.c")}
    owner = {function: source for source, text in texts.items() for function in C_FUNCTION.findall(text)}
    needs = {source: {owner.get(name, source) for name in NAME.findall(text)} - {source} for source, text in texts.items()}
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


class Layering(unittest.TestCase):
    maxDiff = None

    def test_no_header_declares_what_another_file_implements(self) -> None:
        headers = sorted((ROOT / "src").rglob("*.hpp"))
        self.assertGreater(len(headers), 20)
        elsewhere = {str(header.relative_to(ROOT)): found for header in headers if (found := implemented_elsewhere(header))}
        self.assertEqual(elsewhere, {})

    def test_no_include_breaks_the_rules(self) -> None:
        files = sources(ROOT)
        self.assertGreater(len(files), 20)
        broken = []
        for file in files:
            broken += broken_rules(str(file.relative_to(ROOT)), file.read_text("utf-8"))
        self.assertEqual(broken, [])

    def test_no_sources_of_c_need_each_other_in_a_circle(self) -> None:
        self.assertGreater(len(C_FOLDERS), 3)
        self.assertEqual({str(folder.relative_to(ROOT)): circle for folder in C_FOLDERS if (circle := circle_in(folder))}, {})

    def test_a_circle_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.c").write_text("int a(void) { return b(); }\n", "utf-8")
            (folder / "b.c").write_text("int b(void) { return 1; } /* a() */\nstatic int c(void) {\n}\n", "utf-8")
            self.assertEqual(circle_in(folder), [])
            (folder / "b.c").write_text("int b(void) { return 1; }\nstatic const table x[] = {{\"a\", a}};\n", "utf-8")
            self.assertEqual(len(circle_in(folder)), 3)

    def test_an_implementation_elsewhere_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "a.hpp"
            header.write_text("int here(int a);\nint elsewhere(int a) noexcept;\nint called();\n"
                              "inline int inlined() { return 1; }\n"
                              "class Kind {\n  int one() const;\n  [[nodiscard]] int two(\n      int a) const noexcept;\n"
                              "  int three() { return 3; }\n};\n", "utf-8")
            header.with_suffix(".cpp").write_text("int here(int a) {\n  if (called()) {\n  }\n}\n"
                                                  "int Kind::one() const {\n}\n", "utf-8")
            self.assertEqual(implemented_elsewhere(header), ["elsewhere", "called", "Kind::two"])

    def test_a_broken_rule_is_found(self) -> None:
        for path, include in [("src/layout/x.cpp", '"hash/hash.hpp"'), ("src/hash/x.cpp", '"layout/layout.hpp"'),
                              ("tools/bf/x.cpp", '"store/home/ask.hpp"'), ("src/store/file/x.cpp", '"store/home/home.hpp"'), ("src/format/x.cpp", '"store/file/session.hpp"'),
                              ("src/store/ask/x.cpp", "<xxhash.h>"), ("src/interop/x.cpp", '"store/home/ask.hpp"'),
                              ("src/interop/x.cpp", '"region/file.hpp"'), ("src/store/ask/x.cpp", '"interop/interop.hpp"'), ("src/layout/x.cpp", "<boost/interprocess/file_mapping.hpp>"),
                              ("include/bfstore/x.hpp", '"base/fail.hpp"'), ("src/base/x.cpp", '"../hash/hash.hpp"')]:
            self.assertTrue(broken_rules(path, f"#include {include}\n"), f"{path} {include}")
        self.assertEqual(broken_rules("tools/bfinspect/x.cpp", '#include "format/identity.hpp"\n'), [])

    def test_only_words_has_atomics_on_filter_bits(self) -> None:
        files = [*(ROOT / "src/layout").glob("*.[ch]pp"), *(ROOT / "include/bfstore/layout").glob("*.hpp")]
        self.assertIn("words.hpp", [file.name for file in files])
        for file in sorted(files):
            if file.name != "words.hpp":
                self.assertNotRegex(file.read_text("utf-8"), r"std::atomic|__atomic", file.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

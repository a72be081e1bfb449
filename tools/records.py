#!/usr/bin/python3
"""What campaigns have shown, and of which contents of the tree. CI leaves out the parts that a record covers.

usage: records.py check PART               prints the record that covers PART as it is now. Exit code 1: why none does
       records.py hash PART                prints the hash of what it depends on, for `write`
       records.py write PART HASH LENGTH SEED
                                           records that a campaign of that length, which began with that hash, found nothing
       records.py uncovered PREFIX         prints the parts of that kind (engine/, mistakes/, starved/) that no record covers
       records.py oldest PREFIX            prints all parts of that kind, those first that no record covers, then by date
       records.py engines                  prints the names of the engines, each with the least length, in the order of oldest
       records.py knows PART               exit code 0 if there is such a part
       records.py list                     prints all parts with what covers them

The records are tests/records.tsv: part, hash, length, seed and date, separated by tabs. The hash is that of the files
that the part depends on, and of the tests' headers and modules that these use, their names included: a record covers the
tree as long as none of them has changed. In C and C++ comments, blank lines and the names of doctest's cases may change,
since they decide nothing. A record whose length is below the part's least one covers nothing.
"""

import datetime
import hashlib
import pathlib
import re
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "mutants")]
import clocks  # needs the path above
import tables

RECORDS = pathlib.Path("tests/records.tsv")
# The library, and its build files.
HOW_IT_IS_BUILT = ["meson*", "src/meson.build", "capi/meson.build", "tools/setup.sh"]
LIBRARY = ["include/**/*.hpp", "src/**/*.[chi]*", "capi/*.[ch]*", "capi/bfstore.map", *HOW_IT_IS_BUILT]
# The common part of the programs that must find seeded mistakes.
CPP_SUPPORT = ["tests/support/*.c", "tests/support/*.cpp",
               *(f"tests/store/{name}.cpp" for name in ("support", "processes", "keys", "key_calls", "disk", "mounts", "faults", "calls", "main",
                                                        "worker", "worker_remote", "worker_loops", "loop_disk", "full_disk"))]
# Each engine with its adapter and its tests.
ENGINES = {name: [f"capi/engines/{name}/**/*", f"tests/engines/{name}_*"]
           for name in ("rocksdb", "leveldb", "sqlite", "postgresql", "redis", "nginx", "scrapy")}
OF_PYTHON = ["capi/bindings/python/**/*.[pcht]*", "tests/bindings/python.py"]
ENGINES["dask"] = ["capi/examples/dask_parts.py", "capi/examples/spread.py", "tests/engines/dask*", *OF_PYTHON]
ENGINES["scrapy"] += ["tests/engines/debian_urls.py", "tests/engines/scrapy.lock", *OF_PYTHON]
ENGINES["redis"] += ["tests/engines/valkey.lock"]
# An adapter reaches the library through the C ABI, whose behaviour other tests hold. Two adapters stand for all: they run again
# when the library changes.
for name in ("sqlite", "leveldb"):
    ENGINES[name] += LIBRARY
OF_ENGINES = ["capi/*.h", "tests/engines/engines.py", "tests/engines/campaign.py", "tests/engines/meson.build",
              "tests/bindings/languages.py"]
# The kills of a campaign, or an engine's equivalent: Dask builds filters, each of which takes some seconds.
LEAST_KILLS = {**dict.fromkeys(ENGINES, 500), "dask": 20}
STARVED_RUNS = 20
C_AND_CPP = re.compile(r".*\.([ch](pp)?|inc)")
# A comment, a number (which may have quotes in it) or a literal, whichever begins first.
COMMENT_OR_LITERAL = re.compile(r'''(?P<comment>/\*.*?\*/|//[^\n]*)|\b[0-9][\w.']*|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|'''
                                r'''"(?:\\.|[^"\\])*"|''' r"'(?:\\.|[^'\\])*'", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
CASE_NAME = re.compile(r'''(\b(?:TEST_CASE|TEST_CASE_TEMPLATE|SUBCASE)\()(?:\s*"(?:\\.|[^"\\])*")+''')


class Part(NamedTuple):
    """A part of the tests that takes long, or needs much that must be installed, and depends on few files."""

    paths: list  # patterns of the files that decide what it finds
    least: int  # the least length, in the part's unit: see tools/campaign


class Record(NamedTuple):
    part: str
    hash: str
    length: int
    seed: str
    date: str


def mistakes(table, killers):
    """Returns the part for the mistakes of one source: the source, the table, and the tests that any table names as
    finding them."""
    programs = {killers[name] for name in table.names() if name in killers}
    tests = sorted(program.replace("_", "/**/", 1) + ".cpp" for program in programs)
    return Part([f"src/{table.source}", f"tests/mutants/{table.source}.table", "tests/mutants/*.[ph]*", "tests/mutants/meson.build",
                 *CPP_SUPPORT, *(f"tests/{test}" for test in tests)], 1)


def parts():
    """Returns {name: Part}. A new part needs a row here and one in tools/campaign."""
    known = tables.tables()
    killers = {name: killer for table in known for name, killer in table.killers.items()}
    return {
        "emulated": Part([*LIBRARY, "tests/store/byte_order*", "tests/format/ask.c", "tests/layout/neon_test.py", "tests/layout/kernels_test.cpp",
                          "tests/layout/meson.build", "tests/store/meson.build"], 1),
        "model": Part(["tests/model/*"], 1),
        "deep": Part(["tests/model/*"], 1),
        "demo": Part([*LIBRARY, "tools/demo", "tools/demo_rows/*", "tools/bfinspect/*", "tools/common/*", "tools/description/*", "tools/meson.build"], 1),
        "bench": Part([*LIBRARY, "bench/**/*", "tools/bench", "tools/bf/*", "tools/common/*", "tests/bindings/*.py", "capi/examples/quickstart.py"], 1),
        **{f"engine/{name}": Part([*OF_ENGINES, *paths], LEAST_KILLS[name]) for name, paths in ENGINES.items()},
        **{f"mistakes/{table.source}": mistakes(table, killers) for table in known},
        **{f"starved/{path}": Part([path, *subjects, *CPP_SUPPORT], STARVED_RUNS) for path, subjects in clocks.judges(ROOT).items()},
    }


def code_of(text):
    """Returns C or C++ code without the parts that decide nothing."""
    code = COMMENT_OR_LITERAL.sub(lambda found: " " if found["comment"] else found[0], text)
    return "\n".join(line.rstrip() for line in CASE_NAME.sub(r"\1", code).splitlines() if line.strip())


def contents_of(path):
    return code_of(path.read_text("utf-8")).encode() if C_AND_CPP.fullmatch(path.name) else path.read_bytes()


def used_by(file, tests):
    """Returns where the tests' headers, or modules, could be that a file names."""
    if C_AND_CPP.fullmatch(file.name):
        folders = (file.parent, tests, tests / "support", tests / "store")
        return [folder / name for name in INCLUDE.findall(file.read_text("utf-8")) for folder in folders]
    if file.suffix == ".py":
        folders = (file.parent, tests, tests / "support", tests / "bindings", tests / "mutants")
        names = [name.strip() for found in IMPORT.findall(file.read_text("utf-8")) for name in found.split(",")]
        return [folder / f"{name}.py" for name in names for folder in folders]
    return []


def with_used(root, files):
    """Returns the files and the tests' headers and modules that they use, directly or not."""
    tests = root / "tests"
    found, waiting = set(), [root / file for file in files]
    while waiting:
        file = waiting.pop().resolve()
        if file in found or not file.is_file():
            continue
        found.add(file)
        waiting += [used for used in used_by(file, tests) if tests in used.resolve().parents]
    return {file.relative_to(root) for file in found}


def hash_of(root, paths):
    root = root.resolve()
    files = with_used(root, {path.relative_to(root) for pattern in paths for path in root.glob(pattern) if path.is_file()})
    digest = hashlib.sha256()
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        digest.update(f"{path.as_posix()}\0{hashlib.sha256(contents_of(root / path)).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def read_records(root):
    """Returns {part: Record}."""
    path = root / RECORDS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {row[0]: Record(row[0], row[1], int(row[2]), *row[3:]) for row in rows}


def write_record(root, record):
    """Writes a record, but keeps a longer one of the same files."""
    records = read_records(root)
    old = records.get(record.part)
    if old is None or old.hash != record.hash or old.length <= record.length:
        records[record.part] = record
    rows = ["\t".join(map(str, records[part])) for part in sorted(records)]
    (root / RECORDS).write_text("# part, hash, length, seed, date: tools/records.py\n" + "\n".join(rows) + "\n", "utf-8")


def why_not(root, name, part):
    """Returns why no record covers the part in its present state; empty if one does."""
    record = read_records(root).get(name)
    if record is None:
        return "no campaign is recorded"
    if record.length < part.least:
        return f"the campaign of {record.date} had length {record.length}, and {part.least} is the least"
    if record.hash != hash_of(root, part.paths):
        return f"what it depends on has changed since the campaign of {record.date}"
    return ""


def oldest_first(root, known):
    records = read_records(root)
    return sorted(known, key=lambda name: "" if why_not(root, name, known[name]) else records[name].date)


def described(record):
    return f"covered by the campaign of {record.date}: length {record.length}, seed {record.seed}"


def main(arguments, root=ROOT):
    known = parts()
    match arguments:
        case ["check", name] if name in known:
            reason = why_not(root, name, known[name])
            print(f"{name}: " + (reason or described(read_records(root)[name])))
            return 1 if reason else 0
        case ["hash", name] if name in known:
            print(hash_of(root, known[name].paths))
            return 0
        case ["write", name, begun_with, length, seed] if name in known:
            if hash_of(root, known[name].paths) != begun_with:
                print(f"{name}: not recorded, since what it depends on has changed during the campaign", file=sys.stderr)
                return 1
            write_record(root, Record(name, begun_with, int(length), seed, str(datetime.date.today())))
            return 0
        case ["uncovered", prefix]:
            print("".join(f"{name}\n" for name, part in known.items() if name.startswith(prefix) and why_not(root, name, part)), end="")
            return 0
        case ["oldest", prefix]:
            print("\n".join(oldest_first(root, {name: part for name, part in known.items() if name.startswith(prefix)})))
            return 0
        case ["knows", name]:
            return 0 if name in known else 1
        case ["engines"]:
            oldest = oldest_first(root, {name: part for name, part in known.items() if name.startswith("engine/")})
            print("\n".join(f"{name} {LEAST_KILLS[name]}" for name in (path.removeprefix("engine/") for path in oldest)))
            return 0
        case ["list"]:
            records = read_records(root)
            for name, part in known.items():
                print(f"{name}: {why_not(root, name, part) or described(records[name])}")
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/python3
"""What campaigns have shown, and of which contents of the tree. CI leaves out the parts that a record covers.

usage: records.py check PART               prints the record that covers PART as it is now. Exit code 1: why none does
       records.py write PART LENGTH SEED   records that a campaign of that length, which has just ended, found nothing
       records.py uncovered PREFIX         prints the parts of that kind (engine/, mistakes/, starved/) that no record covers
       records.py oldest PREFIX            prints all parts of that kind, those first that no record covers, then by date
       records.py engines                  prints the names of the engines, each with the least length
       records.py knows PART               exit code 0 if there is such a part
       records.py list                     prints all parts with what covers them

The records are tests/records.tsv: part, hash, length, seed and date, separated by tabs. The hash is that of the files
that the part depends on, their names included: a record covers the tree as long as none of them is another one. A record
whose length is below the part's least one covers nothing.
"""

import datetime
import hashlib
import pathlib
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "mutants")]
import clocks  # found only now
import tables

RECORDS = pathlib.Path("tests/records.tsv")
# The library, whatever calls it.
LIBRARY = ["include/**/*.hpp", "src/**/*.[ch]pp", "capi/*.cpp", "capi/*.hpp", "capi/bfstore.h"]
# Each with its adapter and what tests it.
ENGINES = {name: [f"capi/engines/{name}/**/*", f"tests/engines/{name}_*"]
           for name in ("rocksdb", "leveldb", "sqlite", "postgresql", "redis", "nginx", "scrapy")}
ENGINES["dask"] = ["capi/examples/dask_parts.py", "tests/engines/dask*"]
ENGINES["redis"] += ["tests/engines/valkey.lock"]
# Kills of a campaign, or what an engine has instead: Dask builds filters, each of which takes some seconds.
LEAST_KILLS = {**dict.fromkeys(ENGINES, 500), "dask": 20}
STARVED_RUNS = 20


class Part(NamedTuple):
    """A part of the tests that takes long, or needs much that must be installed, and depends on few files."""

    paths: list  # patterns of the files that decide what it finds
    least: int  # in its own unit: tools/campaign says which


class Record(NamedTuple):
    part: str
    hash: str
    length: int
    seed: str
    date: str


def mistakes(table):
    """Those of one source: the source, the table, and the tests that the table names."""
    tests = sorted({killer.removesuffix("_test").replace("_", "/", 1) + "_test.cpp" for killer in table.killers.values()})
    return Part([f"src/{table.source}", f"tests/mutants/{table.source}.table", "tests/mutants/*.py",
                 *(f"tests/{test}" for test in tests)], 1)


def parts():
    """{name: Part}. A new part is a row here and one in tools/campaign."""
    return {
        "emulated": Part([*LIBRARY, "tests/store/byte_order*", "tests/layout/neon_test.py", "tests/layout/kernels_test.cpp"], 1),
        "model": Part(["tests/model/*"], 1),
        "demo": Part([*LIBRARY, "tools/demo", "tools/demo_rows/*", "tools/setup.sh", "meson.build", "*/meson.build", "tools/*/meson.build"], 1),
        "bench": Part(["include/**/*.hpp", "capi/bfstore.h", "bench/**/*", "tools/bench", "tools/setup.sh"], 1),
        **{f"engine/{name}": Part([*LIBRARY, *paths, "tests/engines/engines.py"], LEAST_KILLS[name]) for name, paths in ENGINES.items()},
        **{f"mistakes/{table.source}": mistakes(table) for table in tables.tables()},
        **{f"starved/{path}": Part([path, *subjects], STARVED_RUNS) for path, subjects in clocks.judges(ROOT).items()},
    }


def hash_of(root, paths):
    files = {path.relative_to(root) for pattern in paths for path in root.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        digest.update(f"{path.as_posix()}\0{hashlib.sha256((root / path).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def read_records(root):
    """{part: Record}"""
    path = root / RECORDS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {row[0]: Record(row[0], row[1], int(row[2]), *row[3:]) for row in rows}


def write_record(root, record):
    records = {**read_records(root), record.part: record}
    rows = ["\t".join(map(str, records[part])) for part in sorted(records)]
    (root / RECORDS).write_text("# part, hash, length, seed, date: tools/records.py\n" + "\n".join(rows) + "\n", "utf-8")


def why_not(root, name, part):
    """Why no record covers the part as it is; empty if one does."""
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
        case ["write", name, length, seed] if name in known:
            write_record(root, Record(name, hash_of(root, known[name].paths), int(length), seed, str(datetime.date.today())))
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
            print("\n".join(f"{name} {least}" for name, least in LEAST_KILLS.items()))
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

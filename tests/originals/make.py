#!/usr/bin/env python3
"""make.py [--to FOLDER] [--compare] [FORMAT...]: makes files of other programs with those programs themselves.

They are in tests/data/foreign, or in the folder, and their lines are in its files.tsv. With --compare it fails if a file
or a line is not the one of tests/data/foreign. What a program needs is installed in build-deps/originals. To the standard
error it writes the nanoseconds of a lookup of an absent key: "time", the file and the number.

Libraries in C and C++ are those of the system (Debian: libleveldb-dev, librocksdb-dev). No registry has libbloom 2: the
variable LIBBLOOM names a folder with its source, and REDISBLOOM a clone of RedisBloom. Without a FORMAT all are made but
those two, if their variable is not set.
"""

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEPS = ROOT / "build-deps" / "originals"
KEPT = ROOT / "tests" / "data" / "foreign"
to = KEPT
COLUMNS = (
    "file format order options prefix keys false_positives fold false_positives_of_10000 fold_of_10000 original form"
).split()


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, **more)


def output_of(*command):
    return run(*command, to, stdout=subprocess.PIPE).stdout


def python(program, *packages):
    folder = DEPS / "python"
    if not folder.exists():
        venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", *packages)
    return output_of(folder / "bin" / "python", "-B", HERE / program)


def compiled(compiler, program, *arguments):
    made = DEPS / Path(program).stem
    run(*os.environ.get(*compiler).split(), "-O2", "-I", HERE, HERE / program, "-o", made, *arguments)
    return output_of(made)


def c(program, *arguments):
    return compiled(("CC", "gcc"), program, *arguments)


def cpp(program, *arguments):
    return compiled(("CXX", "g++"), program, *arguments)


def java(program, *options, jar=""):
    classes = DEPS / Path(program).stem
    run("javac", "-cp", jar, "-d", classes, HERE / program)
    return output_of("java", *options, "-cp", f"{classes}{os.pathsep}{jar}", "Originals")


def guava(version="33.4.8-jre"):
    jar = DEPS / f"guava-{version}.jar"
    if not jar.exists():
        run("mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
            f"-Dartifact=com.google.guava:guava:{version}", f"-DoutputDirectory={DEPS}")  # fmt: skip
    return java("guava_files.java", f"-Dguava={version}", jar=jar)


def go(program):
    shutil.copy(HERE / "go" / "go.mod", DEPS)
    options = "-mod=mod", "-buildvcs=false", f"-modfile={DEPS / 'go.mod'}"
    run("go", "build", *options, "-o", DEPS / program, f"./{program}", cwd=HERE / "go")
    return output_of(DEPS / program)


def libbloom():
    source = Path(os.environ[SOURCES["libbloom"]])
    numbers = [f"-DBLOOM_VERSION{name}={value}" for name, value in (("", "2.0"), ("_MAJOR", 2), ("_MINOR", 0))]
    murmur = source / "murmur2"
    return c("libbloom_files.c", *numbers, "-w", "-I", source, "-I", murmur, source / "bloom.c",
             murmur / "MurmurHash2.c", "-lm")  # fmt: skip


def redisbloom():
    source = Path(os.environ[SOURCES["redisbloom"]]).resolve()
    commit = run("git", "-C", source, "rev-parse", "--short=12", "HEAD", stdout=subprocess.PIPE).stdout.strip()
    folders = [HERE / "redis", source / "src", source / "deps", source / "deps" / "murmur2"]
    return c("redisbloom_files.c", "-w", f'-DREDISBLOOM="RedisBloom {commit}"',
             *(f"-I{folder}" for folder in folders), source / "src" / "sb.c", source / "deps" / "bloom" / "bloom.c",
             source / "deps" / "murmur2" / "MurmurHash2.c", "-lm")  # fmt: skip


FORMATS = {
    "bip37": lambda: python("bip37_files.py", "python-bitcoinlib"),
    "bits-and-blooms": lambda: go("bits_and_blooms_files"),
    "dcso": lambda: go("dcso_files"),
    "guava": guava,
    "java-bytes": lambda: java("java_bytes_files.java"),
    "jaybird": lambda: python("jaybird_files.py", "pybloom-live"),
    "leveldb": lambda: cpp("leveldb_files.cpp", "-lleveldb"),
    "libbloom": libbloom,
    "parquet": lambda: python("parquet_files.py", "duckdb", "pyarrow", "xxhash"),
    "pybloomfilter": lambda: python("pybloomfilter_files.py", "pybloomfiltermmap3"),
    "rbloom": lambda: python("rbloom_files.py", "rbloom"),
    "redisbloom": redisbloom,
    "rocksdb": lambda: cpp("rocksdb_files.cpp", "-lrocksdb"),
}


SOURCES = {"libbloom": "LIBBLOOM", "redisbloom": "REDISBLOOM"}


def rows_of(text):
    return [line.split("\t") for line in text.splitlines()]


def note(made):
    table = to / "files.tsv"
    others = rows_of(table.read_text("utf-8"))[1:] if table.exists() else []
    files = {row[0] for row in made}
    rows = sorted([row for row in others if row[0] not in files] + made)
    table.write_text("".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]), "utf-8")


def differences(made):
    """The version of an original may be another one."""
    version = COLUMNS.index("original")
    kept = {row[0]: row for row in rows_of((KEPT / "files.tsv").read_text("utf-8"))}
    for row in made:
        name = row[0]
        if name not in kept:
            yield f"{name}: is not kept"
        elif [*row[:version], *row[version + 1:]] != [*kept[name][:version], *kept[name][version + 1:]]:
            yield f"{name}: the line is {row}, and {kept[name]} is kept"
        elif (to / name).read_bytes() != (KEPT / name).read_bytes():
            yield f"{name}: the file is another one"


def main():
    global to
    parser = argparse.ArgumentParser(usage="make.py [--to FOLDER] [--compare] [FORMAT...]")
    parser.add_argument("--to", type=Path, default=KEPT)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    asked = parser.parse_args()
    formats = asked.formats or [name for name in FORMATS if name not in SOURCES or SOURCES[name] in os.environ]
    if not set(formats) <= set(FORMATS):
        parser.error(f"the formats are {', '.join(FORMATS)}")
    to = asked.to
    for folder in (DEPS, to):
        folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name in formats:
        made = rows_of(FORMATS[name]())
        note(made)
        wrong += differences(made) if asked.compare else []
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()

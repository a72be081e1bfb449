#!/usr/bin/env python3
"""make.py FORMAT...: makes the files of other programs in tests/data/foreign, with those programs themselves.

Installs what a program needs in build-deps/originals, and replaces the format's lines in tests/data/foreign/files.tsv.
Libraries in C and C++ are those of the system (Debian: libleveldb-dev, librocksdb-dev). No registry has libbloom 2: the
variable LIBBLOOM names a folder with its source, and REDISBLOOM a clone of RedisBloom.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEPS = ROOT / "build-deps" / "originals"
OUT = ROOT / "tests" / "data" / "foreign"
TABLE = OUT / "files.tsv"
COLUMNS = (
    "file format order options prefix keys false_positives fold false_positives_of_10000 fold_of_10000 original form"
).split()


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, **more)


def output_of(*command):
    return run(*command, OUT, stdout=subprocess.PIPE).stdout


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
    source = Path(os.environ["LIBBLOOM"])
    numbers = [f"-DBLOOM_VERSION{name}={value}" for name, value in (("", "2.0"), ("_MAJOR", 2), ("_MINOR", 0))]
    murmur = source / "murmur2"
    return c("libbloom_files.c", *numbers, "-w", "-I", source, "-I", murmur, source / "bloom.c",
             murmur / "MurmurHash2.c", "-lm")  # fmt: skip


def redisbloom():
    source = Path(os.environ["REDISBLOOM"]).resolve()
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


def rows_of(text):
    return [line.split("\t") for line in text.splitlines()]


def main():
    if not sys.argv[1:] or not set(sys.argv[1:]) <= set(FORMATS):
        sys.exit(f"usage: {sys.argv[0]} FORMAT...; the formats are {', '.join(sorted(FORMATS))}")
    for folder in (DEPS, OUT):
        folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:]:
        made = rows_of(FORMATS[name]())
        kept = rows_of(TABLE.read_text())[1:] if TABLE.exists() else []
        files = {row[0] for row in made}
        rows = sorted([row for row in kept if row[0] not in files] + made)
        TABLE.write_text("".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a lookup costs in each language: the bindings beside C and beside the filters that programs in that language use.

    bench/bindings.py --build build-release [--keys N] [--rounds N] [--json FILE] [LANGUAGE...]

Each round runs every language once, C first; a number is the least of all rounds: CPU nanoseconds a key, for keys of 16
bytes, half of them present, 10 bits each. Every answer is checked: a language whose number of maybes is not that of C is an
error, and so is a rival that misses a key. Rivals are built with 10 bits a key, and their rate of false positives is told.
LANGUAGES are those of tests/bindings/languages.py that have a program here; it says what that language does for a way:

    one        key by key, each a value of the language's own, in its own loop
    objects    the same values as one batch
    column     one buffer that holds all keys, without copying it
"""

import argparse
import importlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "bench" / "bindings"
sys.path.insert(0, str(ROOT / "tests" / "bindings"))
import languages  # found only now
from programs import find, path


def programs(arguments, folder):
    """Returns {language: (command, environment)}, C first."""
    build = pathlib.Path(arguments.build).resolve()
    archive, library = build / "capi" / "libbfstore.a", (build / "capi" / "libbfstore.so").resolve()
    out = build / "tests" / "bindings"  # the tests build the bindings there, too
    c = folder / "c"
    subprocess.run([*shlex.split(arguments.cc), "-O2", f"-I{ROOT / 'capi'}", ROOT / "bench" / "bindings" / "c.c", library,
                    f"-Wl,-rpath,{library.parent}", "-o", c], check=True)
    found = {"c": ([str(c), "time"], None)}
    for language in arguments.languages or languages.LANGUAGES:
        module = importlib.import_module(language)
        if not hasattr(module, "times"):
            print(f"{language}: no program times it", file=sys.stderr)
            continue
        try:
            where = (language, ROOT, archive, library, arguments.cc, out)
            binding, environment = languages.prepared(*where)
            found[language] = (module.times(languages.tree_of(*where), binding), environment)
        except languages.Missing as missing:
            print(f"{language}: left out, {missing}", file=sys.stderr)
    return found


# --- Filters that programs in that language use today. Python's are in its own program. -------------------------------------

def rival_of_go(folder, out):
    shutil.copytree(HERE / "rivals" / "go", out, dirs_exist_ok=True)
    environment = {"HOME": str(out), "GOCACHE": str(out / "cache"), "GOMODCACHE": str(folder), "GOENV": "off", "GOPROXY": "off",
                   "GOFLAGS": "-mod=readonly -modcacherw", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    subprocess.run([find("go"), "build", "-o", "rival", "."], cwd=out, env={**os.environ, **environment}, check=True)
    return [str(out / "rival")]


def rival_of_java(folder, out):
    jars = os.pathsep.join(str(jar) for jar in sorted(folder.glob("*.jar")))
    subprocess.run([find("javac"), "-cp", jars, "-d", out, HERE / "rivals" / "java" / "Rival.java"], check=True)
    return [find("java"), "-cp", os.pathsep.join([jars, str(out)]), "Rival"]


def rival_of_node(folder, out):
    return [find("node"), str(HERE / "rivals" / "node" / "rival.mjs"), str(folder / "node_modules")]


def rival_of_rust(folder, out):
    shutil.copytree(HERE / "rivals" / "rust", folder / "package", dirs_exist_ok=True)  # next to its lock file
    cargo = importlib.import_module("rust").toolchain()["cargo"]
    environment = {"PATH": path(cargo), "HOME": str(out), "CARGO_HOME": str(folder), "CARGO_TARGET_DIR": str(out),
                   "RUSTC": str(folder / "toolchain" / "rustc"), "RUSTC_BOOTSTRAP": "1"}  # see fetch_crates in tools/setup.sh
    subprocess.run([cargo, "-Z", "sparse-registry", "build", "--quiet", "--release", "--offline", "--locked", "--manifest-path",
                    folder / "package" / "Cargo.toml"], env={**os.environ, **environment}, check=True)
    return [str(out / "release" / "rival")]


RIVALS = {"go": rival_of_go, "java": rival_of_java, "node": rival_of_node, "rust": rival_of_rust}


def with_rivals(found, build):
    """Returns `found`, with the rival of each language after it, if tools/bench fetched it."""
    both = {}
    for language, program in found.items():
        both[language] = program
        fetched = ROOT / "build-deps" / "rivals" / language
        if language in RIVALS and (fetched / "complete").exists():
            out = build / "bench" / "rivals" / language
            out.mkdir(parents=True, exist_ok=True)
            try:
                both[f"{language}, a rival"] = (RIVALS[language](fetched, out), None)
            except languages.Missing as missing:
                print(f"{language}: its rival is left out, {missing}", file=sys.stderr)
        elif language in RIVALS:
            print(f"{language}: its rival is left out: tools/bench fetches it", file=sys.stderr)
    return both


def run_once(command, environment, folder):
    """Returns {(layout, way): (nanoseconds, maybes)}."""
    done = subprocess.run([*command, str(folder)], env=environment, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in done.splitlines()]
    return {(layout, way): (float(nanoseconds), int(maybes)) for layout, way, nanoseconds, maybes in rows}


def measured(found, folder, rounds):
    """Returns {language: {(layout, way): (least nanoseconds, maybes)}}."""
    best = {language: {} for language in found}
    for _ in range(rounds):
        for language, (command, environment) in found.items():
            for row, (nanoseconds, maybes) in run_once(command, environment, folder).items():
                before = best[language].get(row, (nanoseconds, maybes))
                if before[1] != maybes and row[0] != "rival":  # rbloom: another seed in each process
                    sys.exit(f"{language} {row}: {maybes} maybes, and {before[1]} in another round")
                best[language][row] = (min(before[0], nanoseconds), max(before[1], maybes))
    return best


def check(best, count):
    """Checks that no binding and no rival has a wrong no."""
    for language, rows in best.items():
        for (layout, way), (_, maybes) in rows.items():
            if layout == "rival" and not count // 2 <= maybes <= count * 0.52:
                sys.exit(f"{language}: {way} finds {maybes} of {count // 2} keys")
            if layout in ("blocked", "classic") and maybes != best["c"][layout, "one"][1]:
                sys.exit(f"{language} {layout} {way}: {maybes} maybes, and C has {best['c'][layout, 'one'][1]}")


def as_table(best, count):
    lines = ["| Language | Filter | Way | ns a key | x C, same way | False positives |", "|---|---|---|---|---|---|"]
    for language, rows in best.items():
        for (layout, way), (nanoseconds, maybes) in rows.items():
            same = best["c"].get((layout, way if way in ("objects", "column") else "one"))
            ratio = f"{nanoseconds / same[0]:.2f}" if same and layout != "-" else ""
            rate = f"{(maybes - count // 2) / (count - count // 2):.4f}" if layout != "-" else ""
            lines.append(f"| {language} | {layout} | {way} | {nanoseconds:.1f} | {ratio} | {rate} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--build", required=True, help="a directory that meson built")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--json")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    arguments = parser.parse_args()
    if not (pathlib.Path(arguments.build) / "capi" / "libbfstore.a").is_file():
        parser.error(f"--build: {arguments.build} has no capi/libbfstore.a: build it first (tools/test makes build-release)")
    if arguments.keys < 1000 or arguments.rounds < 1:
        parser.error("--keys is at least 1000, and --rounds at least 1")
    for language in set(arguments.languages) - set(languages.LANGUAGES):
        parser.error(f"unknown language: {language}. Give {', '.join(languages.LANGUAGES)}")
    with tempfile.TemporaryDirectory(prefix="bfstore-bindings-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        folder = pathlib.Path(folder)
        found = with_rivals(programs(arguments, folder), pathlib.Path(arguments.build).resolve())
        subprocess.run([found["c"][0][0], "make", folder, str(arguments.keys)], check=True)
        best = measured(found, folder, arguments.rounds)
    check(best, arguments.keys)
    print(as_table(best, arguments.keys))
    if arguments.json:
        rows = [{"language": language, "filter": layout, "way": way, "ns": nanoseconds, "maybes": maybes}
                for language, of in best.items() for (layout, way), (nanoseconds, maybes) in of.items()]
        pathlib.Path(arguments.json).write_text(json.dumps({"keys": arguments.keys, "rows": rows}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

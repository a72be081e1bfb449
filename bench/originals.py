"""Lookups of absent keys in the small files of tests/originals, by the programs that made them and by bfstore. Prints one table.

    python3 -B bench/originals.py --build BUILD [FORMAT...]

BUILD is a build directory with capi/libbfstore.so. The originals run in their own languages, one key after the other, with keys
that are made before. bfstore is asked by a program in C: the imported file and the file in place, one by one and with 10,000 keys
in one call. Each number is the least of many rounds, in nanoseconds. Whether the answers are equal, tests/interop says.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMATS = ["bits-and-blooms", "dcso", "guava", "java-bytes", "pybloomfilter", "rbloom"]
# What the bytes do not say. rbloom's other file has another hash than that of its documentation.
HASHES = {"rbloom": "BFS_HASH_RBLOOM"}
LEFT_OUT = {"rbloom.pickle.bloom", "guava.integer.bloom", "guava.long.bloom", "guava.chars.bloom", "guava32.chars.bloom"}


def number_of(constant):
    header = (ROOT / "capi" / "bfstore_interop.h").read_text("utf-8")
    return re.search(rf"{constant} (\d+)", header)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("formats", nargs="*", default=FORMATS)
    asked = parser.parse_args()
    library = asked.build.resolve() / "capi"
    with tempfile.TemporaryDirectory(prefix="bfstore-originals-") as name:
        folder = pathlib.Path(name)
        subprocess.run(["gcc", "-O2", "-std=c11", "-D_GNU_SOURCE", "-I", ROOT / "capi", ROOT / "bench" / "originals.c", "-o", folder / "ours",
                        f"-L{library}", f"-Wl,-rpath,{library}", "-lbfstore"], check=True)
        made = subprocess.run([sys.executable, "-B", ROOT / "tests" / "originals" / "make.py", "--to", folder, "--compare", *asked.formats],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
        times = {line.split("\t")[1]: float(line.split("\t")[2]) for line in made.stderr.splitlines() if "time\t" in line}
        formats = {line.split("\t")[0]: line.split("\t")[1] for line in (folder / "files.tsv").read_text("utf-8").splitlines()}
        print("| file | original | imported | in place | many, imported | many, in place | original / imported |\n|---|---|---|---|---|---|---|")
        for file, original in times.items():
            if file in LEFT_OUT or file.endswith(".json"):
                continue
            hash_number = number_of(HASHES[formats[file]]) if formats[file] in HASHES else "0"
            ours = subprocess.run([folder / "ours", folder / file, formats[file], hash_number, folder / "imported.bf"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout.split()
            print(f"| {file} | {original:.0f} | {' | '.join(f'{float(one):.0f}' for one in ours)} | {original / float(ours[0]):.1f} x |", flush=True)


if __name__ == "__main__":
    main()

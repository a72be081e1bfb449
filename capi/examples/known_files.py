"""Which of these files are known? A list of known files, as CIRCL's hashlookup publishes one, is asked where it is.

    python3 known_files.py check hashlookup-full.bloom FILE...    prints the files that are certainly not on the list
    python3 known_files.py build mine.bloom FILE...               makes such a list, which DCSO's bloom reads, too

A key is the SHA-1 of a file in upper-case hexadecimal. The list is mapped, so that any number of processes share one copy of it, and
each has its first answer at once, whatever the size.
"""
import hashlib
import pathlib
import sys

import bfstore


def sha1_of(path):
    return hashlib.sha1(pathlib.Path(path).read_bytes()).hexdigest().upper()


def build(path, files):
    digests = {sha1_of(file) for file in files}
    with bfstore.build(path + ".bf", digests, fpr=0.0001, hash="dcso", replace=True) as known:
        pathlib.Path(path).write_bytes(known.export_foreign("dcso"))


def check(path, files):
    with bfstore.open_foreign(path, "dcso") as known:
        for file, maybe in zip(files, known.contains_many([sha1_of(file) for file in files])):
            if not maybe:
                print(file)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, path, *files = sys.argv[1:]
    build(path, files) if command == "build" else check(path, files)

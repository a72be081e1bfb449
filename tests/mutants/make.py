"""Writes the sources with the seeded mistakes in them, as the tables (tables.py) say.

    tests/mutants/make.py --list          prints the sources that have a table, relative to src/
    tests/mutants/make.py OUTPUT [FILE...]

The copy of src/store/file/sync.cpp is OUTPUT/store/sync.cpp; a copy that is as it was is not written again, and one that has
no table any more goes. The FILEs are read anyhow: meson runs this again when one of its arguments changes.
"""

import pathlib
import sys

import tables


def write(output: pathlib.Path) -> None:
    copies = {output / table.source: table.applied() for table in tables.tables()}
    for path in output.rglob("*"):
        if path.suffix in (".cpp", ".hpp", ".inc") and path not in copies:
            path.unlink()
    for path, text in copies.items():
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        if sys.argv[1] == "--list":
            print("\n".join(table.source for table in tables.tables()))
        else:
            write(pathlib.Path(sys.argv[1]))
    except tables.TableError as error:
        sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The sources know nothing of seeded mistakes, and none can be switched on in the library, unless it was built for that.

tests/mutants/tables.py describes them. Arguments: "true" if the library was built with mutants, the libraries.
"""

import pathlib
import re
import sys
import unittest

import tables

ROOT = tables.SOURCES.parent
BUILT_WITH, LIBRARIES = sys.argv[1] == "true", sys.argv[2:]
SWITCH = b"BFSTORE_MUTANT"


def names() -> set:
    return {name for table in tables.tables() for name in table.names()}


class NoMutants(unittest.TestCase):
    def test_no_source_has_mutants(self) -> None:
        sources = [path for path in (ROOT / "src").rglob("*") if path.is_file()]
        self.assertGreater(len(sources), 50)
        for path in sources:
            self.assertNotRegex(path.read_text("utf-8"), re.compile("mutant", re.IGNORECASE), path)

    def test_every_table_fits_its_source(self) -> None:
        self.assertGreaterEqual(len(names()), 30)
        for table in tables.tables():
            self.assertNotEqual(table.applied(), (tables.SOURCES / table.source).read_text("utf-8"))

    def test_the_library_has_the_switch_only_if_it_was_built_for_that(self) -> None:
        for library in LIBRARIES:
            self.assertEqual(SWITCH in pathlib.Path(library).read_bytes(), BUILT_WITH, library)

    def test_the_library_has_the_names_of_mistakes_only_if_it_was_built_for_that(self) -> None:
        for library in LIBRARIES:
            code = pathlib.Path(library).read_bytes()
            there = {name for name in names() if name.encode() + b"\0" in code}
            self.assertEqual(there, names() if BUILT_WITH else set(), library)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

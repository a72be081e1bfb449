"""No mistake can be switched on in the library, unless it was built for that (tests/mutants.py).

Arguments: src/, "true" if it was built with mutants, the libraries.
"""

import pathlib
import re
import sys
import unittest

SOURCES, BUILT_WITH, LIBRARIES = pathlib.Path(sys.argv[1]), sys.argv[2] == "true", sys.argv[3:]
SWITCH = b"BFSTORE_MUTANT"


def names() -> set:
    return {name for path in SOURCES.rglob("*.[ch]pp") for name in re.findall(r'\bmutant\("(\w+)"\)', path.read_text("utf-8"))}


class NoMutants(unittest.TestCase):
    def test_the_library_has_the_switch_only_if_it_was_built_for_that(self) -> None:
        for library in LIBRARIES:
            self.assertEqual(SWITCH in pathlib.Path(library).read_bytes(), BUILT_WITH, library)

    def test_the_library_has_the_names_of_mistakes_only_if_it_was_built_for_that(self) -> None:
        self.assertGreaterEqual(len(names()), 30)
        for library in LIBRARIES:
            code = pathlib.Path(library).read_bytes()
            there = {name for name in names() if name.encode() in code}
            self.assertEqual(bool(there), BUILT_WITH, f"{library}: {sorted(there)[:5]}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

"""Every test that PROMISES.md names is there, and every code and flag too. (That each of them ran, tools/sum_tests.py sees.)
Arguments: PROMISES.md, bfstore.h, the folder of the tests."""
import pathlib
import re
import sys
import unittest

HEADER, TESTS = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
sys.path.insert(0, str(TESTS / "support"))
from written import all_cases  # found only now

TEXT = pathlib.Path(sys.argv[1]).read_text()


class Promises(unittest.TestCase):
    def test_every_named_test_is_there(self):
        known = {name.rpartition(".")[2] if file.endswith(".py") else name for file, name in all_cases(TESTS)}
        rows = [row for row in TEXT.splitlines() if row.startswith("| ") and not row.startswith("| What happens")]
        named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[3])]
        self.assertGreater(len(named), 20)
        self.assertEqual([name for name in named if name not in known], [])

    def test_every_name_of_the_abi_is_in_its_header(self):
        names = set(re.findall(r"\bbfs_[a-z_]+|\bBFS_[A-Z_]+", TEXT))
        header = HEADER.read_text()
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", header)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

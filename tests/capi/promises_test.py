"""PROMISES.md and tests/promises.md agree: each event has tests, and each of them exists. Each code and flag that PROMISES.md
names exists, too. (tools/sum_tests.py checks that each test ran.)

Arguments: PROMISES.md, bfstore.h, the folder of the tests."""
import pathlib
import re
import sys
import unittest

HEADER, TESTS = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
sys.path.insert(0, str(TESTS / "support"))
import bfstore_header  # found only now
from written import all_cases

TEXT = pathlib.Path(sys.argv[1]).read_text()
COLUMNS = "| Event | Readers see | Writers get | You do |"


def events() -> list:
    tables = [part.partition("\n\n")[0] for part in TEXT.split(COLUMNS + "\n")[1:]]
    return [[cell.strip() for cell in row.strip("|").split("|")] for table in tables for row in table.splitlines()[1:]]


def groups() -> list:
    """The headings of the tables."""
    return re.findall("^### (.+)\n\n" + re.escape(COLUMNS) + "$", TEXT, re.MULTILINE)


def tests_of_events() -> dict:
    sections = (TESTS / "promises.md").read_text().split("\n## ")[1:]
    return {section.partition("\n")[0]: re.findall(r"^- `([^`]+)`$", section, re.MULTILINE) for section in sections}


class Promises(unittest.TestCase):
    def test_every_event_says_what_happens_and_what_to_do(self):
        self.assertGreater(len(events()), 20)
        self.assertEqual([row for row in events() if len(row) != 4 or not all(row)], [])

    def test_the_links_to_the_groups_lead_to_their_headings(self):
        self.assertEqual(len(groups()), TEXT.count(COLUMNS))
        links = re.findall(r"\]\(#([a-z-]+)\)", TEXT)
        self.assertEqual(links, [re.sub("[^a-z -]", "", group.lower()).replace(" ", "-") for group in groups()])

    def test_every_event_has_its_tests(self):
        self.assertEqual(list(tests_of_events()), [row[0] for row in events()])
        self.assertEqual([event for event, tests in tests_of_events().items() if not tests], [])

    def test_every_named_test_is_there(self):
        known = {name.rpartition(".")[2] if file.endswith(".py") else name for file, name in all_cases(TESTS)}
        named = [name for tests in tests_of_events().values() for name in tests]
        self.assertGreater(len(named), 20)
        self.assertEqual([name for name in named if name not in known], [])

    def test_every_name_of_the_abi_is_in_its_header(self):
        names = set(re.findall(r"\bbfs_[a-z_]+|\bBFS_[A-Z_]+", TEXT))
        header = "".join(pathlib.Path(one).read_text() for one in bfstore_header.installed(HEADER))
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", header)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

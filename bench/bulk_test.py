"""bfbulk runs, its assertions about answers hold, and bulk_table.py makes a whole table of what it wrote. Nothing is timed.

Arguments: bfbulk, bulk_table.py."""
import os
import subprocess
import sys
import tempfile
import unittest

BFBULK, TABLE = sys.argv[1:3]
del sys.argv[1:]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)


class Bulk(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bfstore-bulk-")
        self.addCleanup(folder.cleanup)
        self.json = os.path.join(folder.name, "bulk.json")

    def test_a_bulk_run_makes_a_whole_table(self) -> None:
        done = run(BFBULK, "--bytes", "1048576", "--digests", "3145729", "--small-pages", "--repetitions", "1", "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = run(sys.executable, "-B", TABLE, self.json)
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        number = r"[\d.]+"
        for digests in ("3,145,727", "3,145,728", "3,145,729"):
            self.assertRegex(table.stdout,
                             rf"\| 1,048,576 \| 4 KiB \| {digests} \| contains, blocked \| {number} \| {number} \| {number} \|")
        self.assertRegex(table.stdout, rf"\| 3,145,729 \| add, blocked-alone \| {number} \| {number} \| {number} \|")

    def test_wrong_arguments_of_bfbulk_are_named(self) -> None:
        for arguments, code, words in [(["--digests", "12"], 2, "12"), (["--quik"], 2, "--quik"), (["--bytes", str(1 << 39)], 1, "memory"),
                                       (["--json", "/no/such.json"], 1, "/no/such.json")]:
            with self.subTest(arguments):
                done = run(BFBULK, *(["--json", self.json] if "--json" not in arguments else []), *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_bulk_table_of_nothing_is_an_error(self) -> None:
        for text in ("", "{}", '{"context": {}, "benchmarks": []}'):
            with self.subTest(text):
                with open(self.json, "w", encoding="utf-8") as file:
                    file.write(text)
                table = run(sys.executable, "-B", TABLE, self.json)
                self.assertEqual((table.returncode, table.stdout), (1, ""))
                self.assertIn(self.json, table.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

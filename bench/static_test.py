"""bfstatic runs, its assertions about answers hold, and static_table.py makes a whole table of what it wrote. Nothing is
timed. Arguments: bfstatic, static_table.py."""
import os
import subprocess
import sys
import tempfile
import unittest

BFSTATIC, TABLE = sys.argv[1:3]
del sys.argv[1:]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)


class Static(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bfstore-static-")
        self.addCleanup(folder.cleanup)
        self.json = os.path.join(folder.name, "static.json")

    def test_it_runs_and_the_table_is_whole(self) -> None:
        done = run(BFSTATIC, "--keys", "20000", "--repetitions", "1", "--benchmark_min_time=0.001", "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = run(sys.executable, "-B", TABLE, self.json)
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        for subject in ("blocked", "static-7", "static-10"):
            self.assertRegex(table.stdout, rf"\| {subject} \| [\d.]+ \| [\d.]+ % \| [\d.]+ \| [\d.]+ \([\d.]+\) \|")

    def test_a_table_of_nothing_is_an_error(self) -> None:
        for text in ("", "{}", '{"benchmarks": []}'):
            with self.subTest(text):
                with open(self.json, "w", encoding="utf-8") as file:
                    file.write(text)
                table = run(sys.executable, "-B", TABLE, self.json)
                self.assertEqual((table.returncode, table.stdout), (1, ""))
                self.assertIn(self.json, table.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

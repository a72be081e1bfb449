"""bfbench runs, its assertions about answers hold, and table.py makes a whole table of what it wrote. Nothing is timed.

Arguments: bfbench, table.py, python_rivals.py, libbfstore.so; the last is empty where Python cannot load it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BFBENCH, TABLE, PYTHON_RIVALS, LIBRARY = sys.argv[1:5]
del sys.argv[1:]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


class Smoke(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bfstore-bench-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json = os.path.join(folder.name, "smoke.json")

    def test_it_runs_and_the_table_is_whole(self) -> None:
        done = run(BFBENCH, "--smoke", "--folder", self.folder, "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["smoke.json"], "files were left behind")
        with open(self.json, encoding="utf-8") as file:
            names = {row["run_name"] for row in json.load(file)["benchmarks"]}
        table = run(sys.executable, "-B", TABLE, self.json)
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        for memory in ("file", "heap"):
            for subject in ("blocked", "blocked-abi", "classic", "limit"):
                for way in ("plain",) if subject == "limit" else ("single", "branchy", "many"):
                    self.assertIn(f"100000/10/{memory}/{subject}/contains/{way}/digests/mixed/manual_time", names)
            for subject in ("blocked", "blocked-abi"):
                self.assertIn(f"100000/10/{memory}/{subject}/contains/single/keys/mixed/manual_time", names)
        for memory in ("file", "heap"):
            for subject in ("counting", "counting-abi"):
                for way in ("single", "branchy", "many"):
                    self.assertIn(f"100000/40/{memory}/{subject}/contains/{way}/digests/mixed/manual_time", names)
            for operation, present in (("add", "absent"), ("remove", "present")):
                for way in ("single", "many"):
                    self.assertIn(f"100000/40/{memory}/counting/{operation}/{way}/digests/{present}/manual_time", names)
        self.assertIn("100000/40/heap/std-set/remove/single/digests/present/manual_time", names)
        self.assertFalse([name for name in names if "/counting/again/" in name], "added twice is in it twice")
        cell = r"[\d.e+]+ \([\d.]+(, [\d.]+)?\)"  # nanoseconds, times the limit, times the best rival
        ratios = re.findall(rf"\| +\| blocked \| {cell} \| {cell} \|", table.stdout)
        self.assertEqual(len(ratios), 16, table.stdout)
        self.assertRegex(table.stdout, rf"\| remove, many at once, digests \| limit \|")
        self.assertRegex(table.stdout, rf"\| +\| counting \| {cell} \| {cell} \|")
        for subject in ("limit-call", "blocked-plt"):
            way = "plain" if subject == "limit-call" else "single"
            self.assertIn(f"100000/10/heap/{subject}/contains/{way}/digests/mixed/manual_time", names)
        for subject in ("blocked-plt", "blocked-plt-twice"):
            self.assertIn(f"100000/10/heap/{subject}/contains/single/keys-16/mixed/manual_time", names)
        self.assertIn("100000/10/heap/blocked-alone-abi/add/single/digests/absent/manual_time", names)
        self.assertRegex(table.stdout, r"\| 100,000 \| blocked \| 10\.00 \| 0\.\d+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|")
        self.assertRegex(table.stdout, rf"\| std-set \|  \| {cell} \|")
        self.assertRegex(table.stdout, r"\| contains, many at once, digests, mixed \| limit \| [\d.]+")

    if LIBRARY:  # without a sanitizer, which Python cannot load
        def test_python_and_the_summary_join_the_table(self) -> None:
            python, summary = os.path.join(self.folder, "python.json"), os.path.join(self.folder, "summary.json")
            done = run(sys.executable, "-B", PYTHON_RIVALS, "--library", LIBRARY, "--keys", "2000", "20000000",
                       "--repetitions", "1", "--json", python)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(run(BFBENCH, "--smoke", "--folder", self.folder, "--json", self.json).returncode, 0)
            table = run(sys.executable, "-B", TABLE, self.json, "--python", python, "--summary", summary)
            self.assertEqual((table.returncode, table.stderr), (0, ""))
            self.assertRegex(table.stdout, r"\| bfstore \(ctypes\) \| 2,000 \| 10 \|( [\d.e+]+ \|){8}  \|")
            self.assertRegex(table.stdout, r"\| bfstore counting \(ctypes\) \| 2,000 \| 10 \|( [\d.e+]+ \|){9}")
            self.assertRegex(table.stdout, r"\| bfstore murmur3 \(ctypes\) \| 2,000 \| 10 \|( [\d.e+]+ \|){8}  \|")
            self.assertRegex(table.stdout, r"\| 20,000,000 keys \| .*not measured: a Python loop")
            with open(summary, encoding="utf-8") as file:
                whole = json.load(file)
            ours = [row for row in whole["rows"] if (row["subject"], row["way"]) == ("blocked", "branchy")]
            self.assertEqual(len(ours), 6)
            self.assertTrue(all(row["ns"] > 0 and row["times_limit"] > 0 for row in ours))
            self.assertEqual(whole["python"]["rows"][0]["num_keys"], 2000)

    def test_wrong_arguments_are_named(self) -> None:
        for arguments, code, words in [(["--keys", "99999"], 2, "99999"), (["--quik"], 2, "--quik"), (["12"], 2, "12"),
                                       (["--smoke", "--library", "/no/lib.so"], 1, "/no/lib.so"),
                                       (["--smoke", "--folder", "/no/such"], 1, "/no/such"),
                                       (["--smoke", "--json", "/no/such.json"], 1, "/no/such.json")]:
            with self.subTest(arguments):
                done = run(BFBENCH, *(["--json", self.json] if "--json" not in arguments else []), *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_table_of_nothing_is_an_error(self) -> None:
        for text in ("", "{}", '{"context": {}, "benchmarks": []}'):
            with self.subTest(text), open(self.json, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                table = run(sys.executable, "-B", TABLE, self.json)
                self.assertEqual((table.returncode, table.stdout), (1, ""))
                self.assertIn(self.json, table.stderr)


if __name__ == "__main__":
    unittest.main()

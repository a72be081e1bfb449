"""aims.py makes the table of aims of results files: figures, verdicts, and the reason where a run has no figure.

Argument: aims.py. The files are written here, and nothing is timed.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

AIMS = sys.argv.pop(1)


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", AIMS, *command], capture_output=True, text=True, timeout=60, check=False)


def benchmark(name: str, nanoseconds: float, **facts: float) -> dict:
    """A row of Google Benchmark's, of ten keys."""
    return {"run_name": f"{name}/manual_time", "run_type": "iteration", "real_time": 10 * nanoseconds, "num_keys": 10.0, **facts}


def row_of_filter(rest: str, *times: float, num_keys: int = 100_000) -> list:
    return [benchmark(f"{num_keys}/10/heap/{rest}", one) for one in times]


class Aims(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bfstore-aims-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name: str, rows: list, **context: str) -> str:
        """Writes results, and returns how the names of the run's files begin."""
        machine = {"bfstore": "1", "compiler": "2", "cpu": "C", "num_cpus": 2, "machine": "M", "kernel": "K", "filesystem": "ext4",
                   "load_avg": [0.5], **context}
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            json.dump({"context": machine, "benchmarks": rows}, file)
        return os.path.join(self.folder, name.split("-")[0])

    def rows(self, *arguments: str) -> dict:
        """Returns {aim: (part, figure, wanted, verdict)}."""
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("|")]
        self.assertEqual(len({line[1] for line in lines}), len(lines), "two rows have one name")
        return {aim: (part, *rest) for part, aim, *rest in lines[2:]}

    def test_an_aim_has_the_ratio_of_medians_its_spread_and_a_verdict(self) -> None:
        prefix = self.write("a-raw.json", row_of_filter("blocked-inline/contains/single/digests/mixed", 1.0, 4.0, 1.5) +
                            row_of_filter("rocksdb-avx2/contains/single/digests/mixed", 2.0, 2.0, 2.5), inlined_for="AVX2")
        rows = self.rows(prefix)
        self.assertEqual(rows["a lookup inlined, 100,000 keys, built for AVX2: times RocksDB's test for AVX2"],
                         ("1", "0.75 (0.4 to 2) x", "at most 1.05 x", "reached, within the spread"))

    def test_keys_that_expire_are_compared_with_those_that_do_not(self) -> None:
        def windows(name: str, seconds: float) -> dict:
            return {**benchmark(f"windows/{name}/iterations:1", 1.0), "real_time": seconds * 1e9, "bits_per_key": 25.7}

        prefix = self.write("a-system.json", [windows("add/blocked", 2.0), windows("add/window", 1.0), windows("ask/window", 1.0),
                                              windows("turn/window", 3.0), windows("write/window", 2.0)])
        rows = self.rows(prefix)
        self.assertEqual(rows["window, adding next to other writers, one by one: times blocked"], ("7", "0.5 x", "at most 1.3 x", "reached"))
        self.assertEqual(rows["window, a turn: times writing and syncing as many bytes"], ("7", "1.5 x", "at most 1.3 x", "**not reached**"))
        self.assertEqual(rows["window: bits for a key of the window, at 1 %"], ("7", "25.7 bits", "at most 26 bits", "reached"))
        self.assertIn("not measured here", rows["window, many lookups in one call: times blocked"][3])

    def test_threads_are_compared_with_one(self) -> None:
        def threads(team: int, *seconds: float) -> list:
            return [{**benchmark(f"threads/add/{team}/iterations:1", 1.0), "real_time": one * 1e9} for one in seconds]

        prefix = self.write("a-system.json", threads(1, 8.0, 9.0, 8.5) + threads(2, 5.0))
        name = "adding many digests exclusively in one call, 2 threads: times as fast as one"
        self.assertEqual(self.rows(prefix)[name], ("5", "1.7 (1.6 to 1.8) x", "at least 1.6 x", "reached"))
        self.write("a-system.json", threads(1, 8.0))
        self.assertEqual([one[3] for aim, one in self.rows(prefix).items() if "1 threads" in aim],
                         ["not measured here: files and processes were not measured"])

    def test_an_aim_that_is_missed_says_so(self) -> None:
        prefix = self.write("a-raw.json", row_of_filter("blocked-alone/add/single/digests/absent", 27.0, 28.0, 29.0) +
                            row_of_filter("blocked-alone-abi/add/single/digests/absent", 33.0))
        rows = self.rows(prefix)
        self.assertEqual(rows["adding exclusively, one by one, 100,000 keys"], ("5", "28 (27 to 29) ns", "at most 5 ns", "**not reached**"))
        self.assertEqual(rows["bfs_add_digest, exclusively, 100,000 keys: ns more than C++"],
                         ("5", "5 (4 to 6) ns", "at most 3 ns", "**not reached**"))

    def test_rivals_that_add_are_named_and_the_faster_of_boost_is_compared(self) -> None:
        many = 100_000_000
        prefix = self.write("a-raw.json", row_of_filter("blocked-alone/add/single/digests/absent", 15.0, num_keys=many) +
                            row_of_filter("boost-fast32x8-equal/add/single/digests/absent", 12.0, num_keys=many) +
                            row_of_filter("boost-fast64x8-equal/add/single/digests/absent", 10.0, num_keys=many) +
                            row_of_filter("rocksdb-avx2/add/single/digests/absent", 45.0, 47.0, num_keys=many))
        self.assertEqual(self.rows(prefix)["adding exclusively, one by one, 100,000,000 keys: times Boost.Bloom, at equal rates"],
                         ("5", "1.5 x; Boost.Bloom 10 ns, RocksDB 46 (45 to 47) ns", "at most 1.3 x", "**not reached**"))

    def test_adding_in_one_call_is_as_fast_as_its_faster_way(self) -> None:
        many = 100_000_000
        prefix = self.write("a-raw.json", row_of_filter("blocked-alone/add/many/digests/absent", 9.0, num_keys=many) +
                            row_of_filter("blocked-alone/add/sorted/digests/absent", 12.0, num_keys=many))
        before = self.write("old-raw.json", row_of_filter("blocked-alone/add/many/digests/absent", 18.0, num_keys=many))
        name = "adding 100,000,000 digests exclusively in one call, 2 MiB pages: times 2d8dbac"
        self.assertTrue(self.rows(prefix, "--before", before)[name][1].startswith("0.5 x; 9 ns a key;"))

    def test_the_least_that_is_wanted_is_compared_the_other_way_round(self) -> None:
        def times(way: str, *nanoseconds: float) -> list:
            return [benchmark(f"128000000/10000000/huge/blocked/contains/{way}/digests/mixed", one) for one in nanoseconds]
        prefix = self.write("a-bulk-10.json", times("many", 11.0) + times("sorted", 8.0))
        name = "10,000,000 digests, 128,000,000 bytes, 2 MiB pages: sorted, times as fast as they come"
        self.assertEqual(self.rows(prefix)[name], ("3", "1.38 x", "at least 1.3 x", "reached"))
        self.write("a-bulk-10.json", times("many", 10.0) + times("sorted", 8.0))
        self.assertEqual(self.rows(prefix)[name], ("3", "1.25 x", "at least 1.3 x", "**not reached**"))

    def test_a_rival_of_large_batches_is_the_fastest_one(self) -> None:
        place = "128000000/10000000/huge"
        prefix = self.write("a-bulk-10.json", [benchmark(f"{place}/blocked/contains/sorted/digests/mixed", 8.0),
                                               benchmark(f"{place}/boost-fast32x8-equal/contains/many/digests/mixed", 12.0),
                                               benchmark(f"{place}/boost-fast64x8-equal/contains/many/digests/mixed", 10.0),
                                               benchmark(f"{place}/boost-fast64x8-equal/contains/sorted/digests/mixed", 1.0)])
        name = "10,000,000 digests, 128,000,000 bytes, 2 MiB pages: times as fast as Boost.Bloom's call, at equal rates"
        self.assertEqual(self.rows(prefix)[name][1:], ("1.25 x", "at least 1.3 x", "**not reached**"))

    def test_what_the_run_lacks_is_not_measured_and_has_a_reason(self) -> None:
        rows = self.rows(self.write("a-raw.json", row_of_filter("blocked-inline/contains/single/digests/mixed", 1.0)))
        for aim, (_, figure, wanted, verdict) in rows.items():
            self.assertRegex(verdict, "^not measured here: .", aim)
            self.assertTrue(wanted, aim)
        self.assertEqual({part for part, *_ in rows.values()}, set("1234567"))
        self.assertIn("no filter of 100,000,000 keys",
                      rows["adding exclusively, one by one, 100,000,000 keys: times Boost.Bloom, at equal rates"][3])
        self.assertIn("RocksDB's was not measured",
                      next(one[3] for aim, one in rows.items() if aim.startswith("a lookup inlined, 100,000 keys") and "RocksDB" in aim))

    def test_an_older_commit_is_compared_only_by_its_own_results_on_this_machine(self) -> None:
        ours = row_of_filter("blocked-inline/contains/single/digests/mixed", 1.5)
        prefix = self.write("a-raw.json", ours, inlined_for="AVX-512")
        name = "a lookup inlined, 100,000 keys, built for AVX-512: times 2d8dbac"
        _, figure, _, verdict = self.rows(prefix)[name]
        self.assertEqual(figure, "1.5 ns a key; 2.05 ns at 2d8dbac on another machine")
        self.assertIn("no results of 2d8dbac on this machine", verdict)
        before = self.write("old-raw.json", row_of_filter("blocked-inline/contains/single/digests/mixed", 2.0))
        self.assertEqual(self.rows(prefix, "--before", before)[name],
                         ("1", "0.75 x; 1.5 ns a key; 2.05 ns at 2d8dbac on another machine", "at most 0.8 x", "reached"))

    def test_building_is_compared_for_equal_numbers_of_lines(self) -> None:
        def text(lines: float, cpu: float) -> list:
            made = benchmark("text/bf build/iterations:1", 1.0, cpu_seconds=cpu)
            return [{**made, "num_keys": lines}]
        prefix, name = self.write("a-system.json", text(1e6, 0.03)), "bf build, 1,000,000 lines: times 2d8dbac"
        before = self.write("old-system.json", text(1e6, 0.05))
        self.assertTrue(self.rows(prefix, "--before", before)[name][1].startswith("0.03 s of CPU a million lines; 0.6 x;"))
        self.write("old-system.json", text(1e7, 0.5))
        self.assertRegex(self.rows(prefix, "--before", before)[name][3], "^not measured here")

    def test_a_file_that_is_larger_than_memory_has_to_be_that_large(self) -> None:
        def limited(work: str, seconds: float, file_bytes: float) -> dict:
            return {**benchmark(f"limited/{work}/iterations:1", 1.0, file_bytes=file_bytes), "real_time": seconds * 1e9}
        name = "10,000,000 keys, a file of 4 GB, 1 GB of memory: times `cat FILE`"
        prefix = self.write("a-system.json", [limited("cat", 3.0, 4e9), limited("batch, sorted", 6.0, 4e9)])
        self.assertEqual(self.rows(prefix)[name], ("4", "2 x", "at most 1.2 x", "**not reached**"))
        self.write("a-system.json", [limited("few keys, one by one", 9.0, 4e9), limited("few keys, one batch", 2.0, 4e9)])
        few = [one for aim, one in self.rows(prefix).items() if aim.startswith("10,000 keys, the same file")]
        self.assertEqual(few, [("4", "4.5 x", "at least 3 x", "reached")])
        self.write("a-system.json", [limited("cat", 3.0, 1e9), limited("batch, sorted", 6.0, 1e9)])
        self.assertEqual(self.rows(prefix)[name][3], "not measured here: this run has no such file")
        failed = {**limited("cat", 0, 4e9), "error_occurred": True, "error_message": "no control groups"}
        self.write("a-system.json", [failed, limited("batch, sorted", 6.0, 4e9)])
        self.assertEqual(self.rows(prefix)[name][3], "not measured here: no control groups")

    def test_a_language_is_compared_with_its_fastest_rival(self) -> None:
        def one(language: str, kind: str, way: str, nanoseconds: float) -> dict:
            return {"language": language, "filter": kind, "way": way, "ns": nanoseconds, "maybes": 1}
        with open(os.path.join(self.folder, "a-languages.json"), "w", encoding="utf-8") as file:
            json.dump({"keys": 10, "rows": [one("go", "blocked", "one", 54.0), one("go", "blocked", "one-reader", 30.0),
                                            one("go", "blocked", "column", 5.0), one("go", "classic", "one", 1.0),
                                            one("go, a rival", "rival", "slow", 90.0), one("go, a rival", "rival", "quick", 45.0)]}, file)
        rows = self.rows(os.path.join(self.folder, "a"))
        self.assertEqual(rows["go, one by one: times as fast as quick, asked one by one"], ("6", "1.5 x", "at least 1.3 x", "reached"))
        self.assertEqual(rows["go, in bulk: times as fast as quick, asked one by one"][1], "9 x")
        self.assertIn("the language was not measured", rows["rust, in bulk: times as fast as its favourite, asked one by one"][3])

    def test_aims_of_nothing_are_an_error(self) -> None:
        prefix = os.path.join(self.folder, "a")
        for text in (None, "", "{}"):
            with self.subTest(text):
                if text is not None:
                    with open(f"{prefix}-raw.json", "w", encoding="utf-8") as file:
                        file.write(text)
                done = run(prefix)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(prefix, done.stderr)
                whole = self.write("b-raw.json", row_of_filter("blocked/add/single/digests/absent", 1.0))
                done = run(whole, "--before", prefix)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(prefix, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

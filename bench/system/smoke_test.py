"""bfsystem runs, its assertions about answers hold, its facts are possible, and system_table.py makes whole tables.

Arguments: bfsystem, system_table.py, the build's sanitizers or "none". No time is looked at.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BFSYSTEM, TABLE, SANITIZERS = sys.argv[1:4]
del sys.argv[1:]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


class Smoke(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bfstore-system-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json = os.path.join(folder.name, "smoke.json")

    def rows(self) -> dict:
        with open(self.json, encoding="utf-8") as file:
            return {row["run_name"].split("/iterations:")[0]: row for row in json.load(file)["benchmarks"]}

    def table(self) -> str:
        made = run(sys.executable, "-B", TABLE, self.json)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return made.stdout

    def test_it_runs_and_the_tables_are_whole(self) -> None:
        done = run(BFSYSTEM, "--smoke", "--folder", self.folder, "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["smoke.json"], "files were left behind")
        rows = self.rows()
        wanted = [f"processes/{work}/{team}" for work in ("add", "contains", "both") for team in (1, 2, 4)]
        wanted += [f"sharing/{team}" for team in (1, 2, 4)]
        wanted += ["opening/67108864/in memory", "opening/67108864/cold"]
        wanted += ["cold/one byte/default", "cold/one byte/MADV_RANDOM"]
        wanted += ["cold/blocked/default", "cold/classic/default", "sync/written/default", "sync/read/default"]
        wanted += [f"text/{name}" for name in ("wc -l", "sort -u", "bf build", "bf build --capacity",
                                               "bf build of a pipe", "bf add", "bf contains")]
        wanted += ["threads/add/1"]
        wanted += [f"windows/{work}/{kind}" for work in ("add", "ask", "ask many")
                   for kind in ("blocked", "window", "window-4", "window-2", "two in turn")]
        wanted += ["windows/turn/window", "windows/write/window"]
        wanted += ["limited/cat", "limited/batch, sorted", "limited/few keys, one batch", "limited/few keys, one by one"]  # or a line that says why not: a control group takes rights
        wanted += [f"sets/{name}" for name in ("cat of 1 file", "cat of 2 files", "copy", "fold", "merge of 2",
                                               "merge into")]
        self.assertLessEqual(set(wanted), set(rows))
        table = self.table()
        # In memory alone (tmpfs) there are no cold files; the line says so.
        for words in (r"\| add and ask in turn \| 4 \|", r"\| 64 MiB, in memory \|", r"\| blocked,? default \|",
                      r"\| written, default \|", r"\| bf build --capacity \|", r"\| a turn \| window-4 \|", r"\| merge of 2 \|", r"\| batch, sorted \|"):
            self.assertRegex(table, words)
        self.check_facts({name: row for name, row in rows.items() if not row.get("error_occurred")})

    def check_facts(self, rows: dict) -> None:
        """Checks facts that do not depend on time."""
        for name, row in rows.items():
            self.assertGreater(row["real_time"], 0, name)
        if (sharing := rows.get("sharing/4")) is not None:
            self.assertLessEqual(sharing["pss_bytes"], sharing["rss_bytes"] / 4 * 1.1, "more than one copy in memory")
        # A sanitizer's own memory has page faults too.
        if (blocked := rows.get("cold/blocked/default")) is not None and SANITIZERS == "none":
            self.assertLessEqual(blocked["faults_median"], 1, "a cold lookup took more than one page fault")
        if (sync := rows.get("sync/read/default")) is not None:
            self.assertGreater(sync["dirtied_bytes"], 0)

    def test_what_can_not_be_measured_is_a_row_that_says_why(self) -> None:
        done = run(BFSYSTEM, "--smoke", "--folder", self.folder, "--json", self.json, "--bf", "",
                   "--benchmark_filter=text/(wc -l|bf add)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.table(), r"\| bf add \| not measured: bf was not built")

    def test_a_measurement_that_fails_is_an_error(self) -> None:
        done = run(BFSYSTEM, "--smoke", "--folder", self.folder, "--json", self.json, "--bf", "/bin/false",
                   "--benchmark_filter=text/bf add")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/bin/false", done.stderr)

    def test_wrong_arguments_are_named(self) -> None:
        for arguments, code, words in [(["--quik"], 2, "--quik"), (["12"], 2, "12"),
                                       (["--smoke", "--folder", "/no/such"], 1, "/no/such"),
                                       (["--smoke", "--json", "/no/such.json"], 1, "/no/such.json")]:
            with self.subTest(arguments):
                done = run(BFSYSTEM, *(["--json", self.json] if "--json" not in arguments else []), *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_table_of_nothing_is_an_error(self) -> None:
        for text in ("", "{}", '{"context": {}, "benchmarks": []}'):
            with self.subTest(text), open(self.json, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                made = run(sys.executable, "-B", TABLE, self.json)
                self.assertEqual((made.returncode, made.stdout), (1, ""))
                self.assertIn(self.json, made.stderr)


if __name__ == "__main__":
    unittest.main()

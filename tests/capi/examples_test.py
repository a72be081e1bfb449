"""The programs of capi/examples run, and print what their comments promise.

Arguments: the shared library, capi/examples/, then the programs built from its C and C++ files.
"""
import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY, FOLDER = (os.path.abspath(path) for path in sys.argv[1:3])
PROGRAMS = {os.path.basename(path).removeprefix("example_"): os.path.abspath(path) for path in sys.argv[3:]}
del sys.argv[1:]
QUICKSTART = "ada: maybe present\ndonald: certainly absent\nbarbara: maybe present\nniklaus: certainly absent\n"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, *command, status=0, text=None):
        env = {**os.environ, "BFSTORE_LIBRARY": LIBRARY}
        if command[0] != sys.executable:  # LD_PRELOAD is for Python; a program has its own sanitizer
            env.pop("LD_PRELOAD", None)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600, env=env, input=text)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_every_example_is_tried_here(self):
        sources = {name.removesuffix(".c").replace(".", "_") for name in os.listdir(FOLDER) if name.endswith((".c", ".cpp"))}
        self.assertEqual(sources, set(PROGRAMS))
        scripts = sorted(name for name in os.listdir(FOLDER) if name.endswith(".py"))
        self.assertEqual(scripts, ["cache_penetration.py", "crawler.py", "dask_parts.py", "known_files.py", "light_client.py", "quickstart.py",
                                   "spam_list.py", "spark_parts.py", "spread.py", "unseen_articles.py"])
        others = sorted(name for name in os.listdir(FOLDER) if not name.endswith((".c", ".cpp", ".py")))
        self.assertEqual(others, ["GuavaToFile.java", "eve_alerts.go", "parquet_files.rs", "user_names.mjs"])
        # Those that use a language's package run in tests/bindings, Dask's in tests/engines, and Spark's by hand.
        for name in scripts:
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                compile(file.read(), name, "exec")

    def test_quickstart_in_c(self):
        self.assertEqual(self.run_program(PROGRAMS["quickstart"]), QUICKSTART)
        self.assertEqual(os.listdir(self.folder), ["seen.bf"])
        self.assertEqual(self.run_program(PROGRAMS["quickstart"]), QUICKSTART, "the file is there already")
        with open(os.path.join(self.folder, "seen.bf"), "wb"):
            pass  # not a filter, and no file is replaced
        self.assertIn("seen.bf", self.run_program(PROGRAMS["quickstart"], status=1))

    def test_quickstart_in_c_plus_plus(self):
        for made, new in (("made", "4"), ("opened", "0")):
            self.assertEqual(self.run_program(PROGRAMS["quickstart_cpp"]), f"seen.bf: {made}\n{new} of 4 keys were certainly new\n"
                             "ada: maybe\ndonald: certainly not\nbarbara: maybe\nniklaus: certainly not\n")

    def test_quickstart_in_python(self):
        script = os.path.join(FOLDER, "quickstart.py")
        for _ in range(2):  # the file may be there
            self.assertEqual(self.run_program(sys.executable, "-B", script), QUICKSTART)
            self.assertEqual(os.listdir(self.folder), ["seen.bf"])
        with open(os.path.join(self.folder, "seen.bf"), "wb"):
            pass
        self.assertIn("seen.bf", self.run_program(sys.executable, "-B", script, status=1))

    def test_quickstart_in_python_in_four_processes_at_the_same_moment(self):
        waits = "import ctypes, runpy, sys; sys.stdin.read(); runpy.run_path(sys.argv.pop(1), run_name='__main__')"
        command = [sys.executable, "-B", "-c", waits, os.path.join(FOLDER, "quickstart.py")]
        for number in range(40):
            gate, open_gate = os.pipe()
            running = [subprocess.Popen([*command, f"{number}.bf"], cwd=self.folder, stdin=gate, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "BFSTORE_LIBRARY": LIBRARY}) for _ in range(4)]
            os.close(gate)
            os.close(open_gate)  # all of them read the end of the file now
            for one in running:
                self.assertEqual((*one.communicate(timeout=600), one.returncode), (QUICKSTART, "", 0))
        self.assertEqual(len(os.listdir(self.folder)), 40)

    def test_a_spell_checker_prints_the_words_that_are_in_no_dictionary(self):
        words = "".join(f"{word}\n" for word in ("Apple", "banana", "don't", "na\u00efve", "x" * 64))
        self.assertEqual(self.run_program(PROGRAMS["spell_check"], "build", "words.bf", text=words), "")
        text = "An apple, 'BANANA'; bannana don't -- naive na\u00efve' " + "x" * 100
        self.assertEqual(self.run_program(PROGRAMS["spell_check"], "words.bf", text=text), "an\nbannana\nnaive\n")
        self.assertIn("other.bf", self.run_program(PROGRAMS["spell_check"], "other.bf", status=2))

    def test_batch(self):
        for _ in ("a new file", "the file of the first run"):
            self.assertEqual(self.run_program(PROGRAMS["batch"], "some.bf"),
                             "ids: 200000 asked, 100000 of 100000 present ones found, "
                             "at most 1 % of the others are false positives\nstrings: 4 of 4 may be present\n")
        self.assertEqual(os.listdir(self.folder), ["some.bf"])

    def test_engine(self):
        def engine(*command, **more):
            return self.run_program(PROGRAMS["engine"], self.folder, *command, **more)
        self.assertEqual(engine("put", "ada", "1815") + engine("put", "grace", "1906") + engine("put", "ada", "countess"), "")
        self.assertEqual(engine("get", "ada"), "countess\n")
        self.assertEqual(engine("get", "niklaus", status=1), "")
        for command in ("sync", "rebuild", "compact"):
            self.assertEqual(engine(command), "")
            self.assertEqual(engine("get", "ada") + engine("get", "grace"), "countess\n1906\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["rows.bf", "rows.log"])
        self.assertIn("too long", engine("put", "k" * 25, "", status=2))

    def test_embedded(self):
        self.assertEqual(self.run_program(PROGRAMS["embedded"]), "banana: maybe present\ndurian: certainly absent\n")
        with open(os.path.join(self.folder, "table.sst"), "rb") as file:
            self.assertEqual(file.read(13), b"my own format")


if __name__ == "__main__":
    unittest.main(verbosity=2)

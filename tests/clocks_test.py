"""tests/clocks.py: which uses of a clock it finds, which it leaves out, and in which files it looks."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CLOCKS = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(CLOCKS.parent))
import clocks  # found only now

EACH = {".cpp": "const auto begin = std::chrono::steady_clock::now();", ".c": "clock_gettime(CLOCK_MONOTONIC, &now);",
        ".py": "begin = time.monotonic()", ".rs": "let begin = Instant::now();", ".java": "long begin = System.nanoTime();",
        ".js": "const begin = performance.now();", ".ts": "const begin = Date.now();", ".go": "begin := time.Now()"}


def comment(suffix, words):
    return ("# " if suffix == ".py" else "// ") + words


class Clocks(unittest.TestCase):
    def test_each_language_has_clocks_that_are_found(self):
        for suffix, use in EACH.items():
            with self.subTest(suffix):
                self.assertEqual(clocks.uses("\n" + use + "\n", suffix), [2])
        for use in ("t = time.time()", "t = time.time_ns()", "t = perf_counter()", "t = time.perf_counter()",
                    "t = monotonic()", "t = datetime.now()"):
            with self.subTest(use):
                self.assertEqual(clocks.uses(use, ".py"), [1])
        for use, suffix in (("if time.Since(begin) > limit {", ".go"), ("using Clock = std::chrono::system_clock;", ".hpp")):
            with self.subTest(use):
                self.assertEqual(clocks.uses(use, suffix), [1])

    def test_a_reason_on_the_line_or_on_the_line_before_it_exempts_a_use(self):
        for suffix, use in EACH.items():
            with self.subTest(suffix):
                reason = comment(suffix, "clock: measured for a report")
                for text in (f"{use}  {reason}\n", f"{reason}\n{use}\n"):
                    self.assertEqual(clocks.uses(text, suffix), [])
                self.assertEqual(clocks.uses(f"{reason}\n\n{use}\n", suffix), [3], "too far away")
                self.assertEqual(clocks.uses(f"{use}\n{reason}\n", suffix), [1], "after it")
                self.assertEqual(clocks.uses(f"{use}  {comment(suffix, 'clock:')}\n", suffix), [1], "no reason")
                self.assertEqual(clocks.uses(f"{use}  {reason}\ncode\n{use}\n", suffix), [3], "of another use")

    def test_words_about_clocks_are_no_uses(self):
        for suffix, use in EACH.items():
            with self.subTest(suffix):
                self.assertEqual(clocks.uses(comment(suffix, use) + f'\nprint("{use}")\n', suffix), [])
        self.assertEqual(clocks.uses('"""\ntime.time()\n"""\n', ".py"), [])
        self.assertEqual(clocks.uses("/* clock_gettime\n clock_gettime */ clock_gettime(a, b);\n", ".c"), [2])
        for text, suffix in (('x("//", steady_clock::now());', ".cpp"), ("x('\\'', steady_clock::now(), 'x');", ".cpp"),
                             ("x(10'000, steady_clock::now(), 40'000);", ".cpp"), ("x('//', Date.now());", ".js"),
                             ("x('#', time.time())", ".py")):
            with self.subTest(text):
                self.assertEqual(clocks.uses(text, suffix), [1])

    def test_other_times_are_no_clocks(self):
        for text, suffix in (("std::this_thread::sleep_for(10ms);", ".cpp"), ("time.sleep(1)", ".py"),
                             ("runtime.time()", ".py"), ("time.process_time()", ".py"), ("time.Sleep(d)", ".go"),
                             ("self.monotonic_clock", ".py"), ("VirtualClock clock;", ".cpp")):
            with self.subTest(text):
                self.assertEqual(clocks.uses(text, suffix), [])

    def test_tests_of_every_language_are_looked_at_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            tests = ["capi/bindings/go/life_test.go", "capi/bindings/java/tests/dev/LifeTest.java",
                     "capi/bindings/node/tests/life.test.js", "capi/bindings/rust/bfstore/tests/life.rs",
                     "tests/bf/streams_test.py", "tests/store/support.cpp"]
            for name in tests + ["src/a.cpp", "capi/bindings/go/life.go", "tests/README.md",
                                 "capi/bindings/node/tests/node_modules/x/test.js"]:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(EACH.get(path.suffix, "Date.now()") + "\n", "utf-8")
            self.assertEqual(clocks.tests_with_clocks(root), tests)
            printed = subprocess.run([sys.executable, "-B", CLOCKS, root], stdout=subprocess.PIPE, check=True, text=True)
            self.assertEqual(printed.stdout.splitlines(), tests)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""tools/sum_tests.py counts cases as passed, failed or skipped, and a case that did not run as a failure."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SUM_TESTS = pathlib.Path(sys.argv[1])
DOCTEST_END = "[doctest] test cases: {0} | {1} passed | {2} failed | {3} skipped\n"
UNITTEST_END = "\n----\nRan {} tests in 0.1s\n\n{}\n"

CARGO = """test a ... ok
test b ... ignored, no disk
test c ... ignored
test result: {0}. {1} passed; {2} failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.04s
"""
GO = """=== RUN   TestA
=== RUN   TestA/sub
--- PASS: TestA (0.00s)
    --- PASS: TestA/sub (0.00s)
=== RUN   TestB
    x_test.go:4: no disk
--- SKIP: TestB (0.00s)
=== RUN   TestC
--- {}: TestC (0.00s)
=== RUN   TestD
--- SKIP: TestD (0.00s)
"""
NODE_TAP = "ok 1 - one\nok 2 - two # SKIP no disk\n1..4\n"
NODE_SPEC = "\u2714 one (1.5ms)\n\ufe63 two (0.2ms) # no disk\n"
NODE_END = "{0} tests 4\n{0} suites 0\n{0} pass 2\n{0} fail {1}\n{0} cancelled {2}\n{0} skipped 1\n{0} todo 0\n{0} duration_ms 663.8\n"
JUNIT = """\u2502     \u251c\u2500 b() \u21b7 no disk
\x1b[36m\u2502     \u251c\u2500\x1b[0m \x1b[33mc()\x1b[0m \x1b[33m\u25a0\x1b[0m \x1b[31mAssumption failed: no net\x1b[0m
|   +-- M [S] all off
[         1 containers skipped    ]
[         5 containers successful ]
[         0 containers failed     ]
[         6 tests found           ]
[         2 tests skipped         ]
[         4 tests started         ]
[         1 tests aborted         ]
[         2 tests successful      ]
[         {} tests failed          ]
"""


def program(stdout="", stderr="", result="OK", command=("./program",)):
    return {"name": "some test", "result": result, "returncode": 0, "stdout": stdout, "stderr": stderr,
            "command": list(command)}


class Sum(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tests = pathlib.Path(self.folder.name) / "tests"
        self.tests.mkdir()

    def sum(self, *programs, options=()):
        """Returns the exit code, the last line, and the lines before it."""
        log = pathlib.Path(self.folder.name) / "testlog.json"
        log.write_text("".join(json.dumps(one) + "\n" for one in programs), "utf-8")
        done = subprocess.run([sys.executable, "-B", SUM_TESTS, log, *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        *before, last = done.stdout.splitlines()
        return done.returncode, last, "\n".join(before)

    def test_cases_are_counted_and_not_programs(self):
        self.assertEqual(self.sum(program(DOCTEST_END.format(7, 7, 0, 0)), program("", UNITTEST_END.format(3, "OK")), program()),
                         (0, "11 passed, 0 failed, 0 skipped", ""))

    def test_a_failure_is_shown_and_is_an_error(self):
        code, last, shown = self.sum(program("the reason\n" + DOCTEST_END.format(7, 5, 2, 0), result="FAIL"), program())
        self.assertEqual((code, last), (1, "6 passed, 2 failed, 0 skipped"))
        self.assertIn("the reason", shown)
        self.assertEqual(self.sum(program("", UNITTEST_END.format(5, "FAILED (failures=1, errors=1)"), "FAIL"))[:2],
                         (1, "3 passed, 2 failed, 0 skipped"))
        self.assertEqual(self.sum(program(DOCTEST_END.format(7, 7, 0, 0), result="TIMEOUT"))[:2],
                         (1, "7 passed, 1 failed, 0 skipped"))

    def test_no_test_is_an_error(self):
        self.assertEqual(self.sum(), (1, "0 passed, 0 failed, 0 skipped", "no test was run"))
        self.assertEqual(self.sum(program(DOCTEST_END.format(0, 0, 0, 0)))[:2], (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_skipped_case_is_no_passed_one(self):
        done = "SKIPPED: a case (no disk)\nSKIPPED: a case (no disk)\nSKIPPED: another (no (real) disk)\n"
        code, last, shown = self.sum(program(done + DOCTEST_END.format(7, 7, 0, 0)))
        self.assertEqual((code, last), (0, "5 passed, 0 failed, 2 skipped"))
        self.assertEqual(shown, "skipped: some test: no disk\nskipped: some test: no (real) disk")
        skipped = "test_a (__main__.A.test_a)\nIts words. ... skipped 'no disk'\n" + UNITTEST_END.format(3, "OK (skipped=1)")
        self.assertEqual(self.sum(program("", skipped)),
                         (0, "2 passed, 0 failed, 1 skipped", "skipped: some test: no disk"))
        self.assertEqual(self.sum(program("SKIP: no disk\n", result="SKIP"), program())[:2],
                         (0, "1 passed, 0 failed, 1 skipped"))

    def skips(self, *reasons):
        return "".join(f"skipped: some test: {reason}\n" for reason in reasons).rstrip("\n")

    def test_the_tests_of_cargo_are_summed_over_its_programs(self):
        shown = self.skips("no disk", "no disk", "no reason given", "no reason given")
        self.assertEqual(self.sum(program(CARGO.format("ok", 3, 0) + CARGO.format("ok", 4, 0))),
                         (0, "7 passed, 0 failed, 4 skipped", shown))
        self.assertEqual(self.sum(program(CARGO.format("FAILED", 3, 1) + CARGO.format("ok", 4, 0), result="FAIL"))[:2],
                         (1, "7 passed, 1 failed, 4 skipped"))
        self.assertEqual(self.sum(program(CARGO.format("ok", 0, 0).replace("2 ignored", "0 ignored")))[:2],
                         (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_part_of_a_test_of_cargo_is_no_skip_if_that_test_ran(self):
        part = CARGO.replace("no disk", "run by {0}").format("a", 3, 0).replace("result: a", "result: ok")
        self.assertEqual(self.sum(program(part)), (0, "3 passed, 0 failed, 1 skipped", self.skips("no reason given")))
        part = part.replace("run by a", "run by d")
        self.assertEqual(self.sum(program(part)), (0, "3 passed, 0 failed, 2 skipped", self.skips("run by d", "no reason given")))

    def test_the_tests_of_go_are_counted_without_their_subtests(self):
        self.assertEqual(self.sum(program(GO.format("PASS") + "ok  \tx\t0.1s\n")),
                         (0, "2 passed, 0 failed, 2 skipped", self.skips("no disk", "no reason given")))
        self.assertEqual(self.sum(program(GO.format("FAIL") + "FAIL\n", result="FAIL"))[:2], (1, "1 passed, 1 failed, 2 skipped"))

    def test_the_tests_of_node_are_counted_in_both_its_forms(self):
        for before, sign in ((NODE_TAP, "#"), (NODE_SPEC, "\u2139")):
            self.assertEqual(self.sum(program(before + NODE_END.format(sign, 0, 0))),
                             (0, "2 passed, 0 failed, 1 skipped", self.skips("no disk")))
            self.assertEqual(self.sum(program(before + NODE_END.format(sign, 1, 1), result="FAIL"))[:2],
                             (1, "2 passed, 2 failed, 1 skipped"))

    def test_the_tests_of_junit_are_summed_over_its_runs(self):
        reasons = ["no disk", "Assumption failed: no net", "all off"]
        self.assertEqual(self.sum(program(JUNIT.format(0))), (0, "2 passed, 0 failed, 3 skipped", self.skips(*reasons)))
        self.assertEqual(self.sum(program(JUNIT.format(0) + JUNIT.format(1), result="FAIL"))[:2],
                         (1, "4 passed, 1 failed, 6 skipped"))

    def test_the_runner_that_speaks_last_is_the_program(self):
        cargo, unittest_end = CARGO.format("ok", 3, 0), UNITTEST_END.format(5, "OK")
        self.assertEqual(self.sum(program(cargo, unittest_end))[:2], (0, "5 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.sum(program(unittest_end, cargo))[:2], (0, "3 passed, 0 failed, 2 skipped"))

    def test_cases_that_doctest_leaves_out_are_skipped_unless_a_filter_runs_them_elsewhere(self):
        end = DOCTEST_END.format(5, 5, 0, 2)
        self.assertEqual(self.sum(program(end))[:2], (0, "5 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.sum(program(end), options=["--no-skips"])[0], 1)
        self.assertEqual(self.sum(program(end, command=["./program", "--test-case=some*"])), (0, "5 passed, 0 failed, 0 skipped", ""))

    def test_with_no_skips_only_the_processor_excuses(self):
        lacks = "SKIP: needs instruction set avx512 which this CPU lacks\n"
        self.assertEqual(self.sum(program(lacks, result="SKIP"), options=["--no-skips"])[0], 0)
        for one in (program("SKIP: no disk\n", result="SKIP"),
                    program("SKIPPED: a case (no disk)\n" + DOCTEST_END.format(2, 2, 0, 0)),
                    program("", "test_a (__main__.A.test_a) ... skipped 'no disk'\n" + UNITTEST_END.format(2, "OK (skipped=1)"))):
            code, _, shown = self.sum(one, options=["--no-skips"])
            self.assertEqual(code, 1)
            self.assertIn("no disk (not allowed here)", shown)

    def write_tests(self):
        (self.tests / "x_test.cpp").write_text('TEST_CASE("one edge") {}\nTEST_CASE("another edge") {}\n', "utf-8")
        (self.tests / "y_test.py").write_text("class A:\n  def test_a(self): pass\n  def test_b(self): pass\n", "utf-8")

    def test_a_case_that_is_written_and_not_seen_is_a_failure(self):
        self.write_tests()
        all_of = ["--all-of", self.tests]
        python = ["python3", "-B", "/somewhere/y_test.py", "/an/argument"]
        cases = ["PASSED: one edge\n", "SKIPPED: another edge (no disk)\n", "test_a (__main__.A.test_a) ... a child's words\nok\n",
                 "test_b (__main__.A.test_b)\nIts words. ... skipped 'no disk'\n"]
        missing = ["x_test.cpp: one edge", "x_test.cpp: another edge", "y_test.py: A.test_a", "y_test.py: A.test_b"]

        def run(left_out, *more):
            shown = [text for text in cases if text != left_out]
            return self.sum(program("".join(text for text in shown if text[0] != "t")),
                            program("", "".join(text for text in shown if text[0] == "t"), command=python), *more, options=all_of)

        self.assertEqual(run(""), (0, "2 passed, 0 failed, 0 skipped", ""))
        for text, name in zip(cases, missing):
            code, last, shown = run(text)
            self.assertEqual((code, last, shown), (1, "2 passed, 1 failed, 0 skipped", f"neither passed nor skipped: {name}"))
            # The case may be in a program that was skipped as a whole.
            self.assertEqual(run(text, program("SKIP: no disk\n", result="SKIP"))[0], 0)

    def test_cases_that_are_left_to_campaigns_are_skipped_and_not_missed(self):
        self.write_tests()
        elsewhere = self.tests / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "z_test.cpp").write_text('TEST_CASE("a third edge") {}\n', "utf-8")
        both = program("PASSED: one edge\nPASSED: another edge\n")
        (self.tests / "y_test.py").unlink()
        self.assertEqual(self.sum(both, options=["--all-of", self.tests])[0], 1)
        for number, (name, text) in enumerate({
                "a.rs": "#[test]\n#[cfg(unix)]\nfn one() {}\n#[test] fn two() {}\nfn none() {}", "ATest.java": "  @Test\n  void one() {}\n  void none() {}",
                "a_test.go": "func TestOne(t *testing.T) {\n}\nfunc none() {}", "a.test.js": "test('one', () => {});\ntested();"}.items()):
            bindings = self.tests / f"bindings{number}"
            bindings.mkdir()
            (bindings / name).write_text(text, "utf-8")
            places = [elsewhere, bindings]
            self.assertEqual(self.sum(both, options=["--left-out", *places])[1], f"1 passed, 0 failed, {3 if name == 'a.rs' else 2} skipped", name)
            shutil.rmtree(bindings)
        for places in ([elsewhere], [elsewhere / "z_test.cpp"]):
            self.assertEqual(self.sum(both, options=["--all-of", self.tests, "--no-skips", "--left-out", *places])[:2],
                             (0, "1 passed, 0 failed, 1 skipped"))

    def test_programs_that_did_less_are_named(self):
        one, other = program(), program()
        one["name"], other["name"] = "bfstore:store+shortened / a long one", "bfstore:store / a short one"
        self.assertEqual(self.sum(one, other, options=["--shortened"])[2],
                         "1 of 2 programs did a tenth of their work (tools/test --full does all of it): a long one")

    def reds(self, stdout="", stderr="", result="FAIL"):
        shown = self.sum(program(stdout, stderr, result))[2]
        return [line.removeprefix("red: some test: ") for line in shown.splitlines() if line.startswith("red: ")]

    def test_each_failed_case_has_a_line_with_its_reason(self):
        doctest = ("=" * 79 + "\nx_test.cpp:3:\nTEST CASE:  one edge\n\nx_test.cpp:7: ERROR: CHECK( a == b ) is NOT correct!\n"
                   "  values: CHECK( 1 == 2 )\n\nPASSED: another edge\n" + "=" * 79 + "\nx_test.cpp:9:\nTEST CASE:  a third edge\n\n"
                   "x_test.cpp:12: FATAL ERROR: it is gone\n\n" + DOCTEST_END.format(3, 1, 2, 0))
        self.assertEqual(self.reds(doctest), ["one edge: x_test.cpp:7: CHECK( 1 == 2 )", "a third edge: x_test.cpp:12: it is gone"])
        unittest_end = ("test_a (__main__.A.test_a) ... FAIL\n\n" + "=" * 70 + "\nFAIL: test_a (__main__.A.test_a)\nIts words.\n" + "-" * 70 +
                        "\nTraceback (most recent call last):\n  File \"y.py\", line 3, in test_a\n    f()\nAssertionError: 1 != 2 : of 3\n"
                        + UNITTEST_END.format(1, "FAILED (failures=1)"))
        self.assertEqual(self.reds("", unittest_end), ["test_a: AssertionError: 1 != 2 : of 3"])
        self.assertEqual(self.reds("---- a::b stdout ----\nthread 'b' panicked at x.rs:3:\nno\n\nfailures:\n" + CARGO.format("FAILED", 3, 1)),
                         ["a::b: thread 'b' panicked at x.rs:3:"])
        for go in ("--- FAIL: TestC (0.00s)\n    x_test.go:4: 1, not 2\nFAIL\n",
                   "=== RUN   TestB\n    other words\n--- PASS: TestB (0.00s)\n=== RUN   TestC\n    x_test.go:4: 1, not 2\n--- FAIL: TestC (0.00s)\n"):
            self.assertEqual(self.reds(go), ["TestC: x_test.go:4: 1, not 2"])
        node = "not ok 1 - one\n  ---\n  duration_ms: 1.93\n  error: |-\n    they differ\n  ...\nok 2 - two\n"
        self.assertEqual(self.reds(node), ["one: they differ"])
        junit = "  JUnit Jupiter:LifeTest:ends()\n    MethodSource [className = 'x']\n    => java.lang.AssertionError: no\n"
        self.assertEqual(self.reds(junit), ["LifeTest:ends(): java.lang.AssertionError: no"])

    def test_a_program_with_many_failed_cases_leaves_room_for_others(self):
        words = "".join(f"---- {case} stdout ----\nno\n\n" for case in "aabcdefgh") + "failures:\n" + CARGO.format("FAILED", 3, 9)
        self.assertEqual(self.reds(words), [*(f"{case}: no" for case in "abcdef"), "and 2 more"])

    def test_a_program_that_names_no_case_has_its_last_words_for_a_reason(self):
        self.assertEqual(self.reds("begun\nSegmentation fault\n\n"), ["FAIL, exit code 0: Segmentation fault"])
        self.assertEqual(self.reds("SUMMARY: AddressSanitizer: heap-use-after-free x.cpp:3\n==1==ABORTING\n"),
                         ["FAIL, exit code 0: SUMMARY: AddressSanitizer: heap-use-after-free x.cpp:3"])
        # After a timeout the words about a case are not the reason.
        self.assertEqual(self.reds("--- FAIL: TestC (0.00s)\n    x.go:4: no\nthe end\n", result="TIMEOUT"), ["TIMEOUT, exit code 0: the end"])

    def test_a_case_that_failed_counts_once(self):
        self.write_tests()
        (self.tests / "y_test.py").unlink()
        red = "TEST CASE:  another edge\n\nx_test.cpp:7: ERROR: CHECK( a ) is NOT correct!\n  values: CHECK( 0 )\n\n"
        code, last, _ = self.sum(program("PASSED: one edge\n" + red + DOCTEST_END.format(2, 1, 1, 0), result="FAIL"),
                                 options=["--all-of", self.tests])
        self.assertEqual((code, last), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_case_that_failed_or_is_one_of_another_file_is_not_seen(self):
        self.write_tests()
        both = "PASSED: one edge\nPASSED: another edge\n"
        for file, text in (("z_test.py", "test_a (__main__.A.test_a) ... ok\ntest_b (__main__.A.test_b) ... ok\n"),
                           ("y_test.py", "test_a (__main__.A.test_a) ... ok\ntest_b (__main__.A.test_b) ... FAIL\n")):
            code, _, shown = self.sum(program(both), program("", text, command=[file]), options=["--all-of", self.tests])
            self.assertEqual(code, 1)
            self.assertIn("y_test.py: A.test_b", shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

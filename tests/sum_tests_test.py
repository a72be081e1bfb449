"""tools/sum_tests.py counts test cases, and what could not run is never counted as passed. Argument: tools/sum_tests.py."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SUM_TESTS = sys.argv.pop(1)
CPU = "needs instruction set avx512 which this CPU lacks"


def doctest(passed, failed=0, skipped=0, said=""):
    return said + (f"[doctest] test cases: {passed + failed:4} | {passed:4} passed | {failed} failed | {skipped} skipped\n"
                   "[doctest] Status: SUCCESS!\n")


def program(output="", result="OK", command=("test",)):
    return {"name": "a program", "result": result, "stdout": output, "command": list(command), "returncode": 0}


class Sum(unittest.TestCase):
    def check(self, line, good, *programs, options=()):
        with tempfile.TemporaryDirectory(prefix="bfstore-sum-") as folder:
            log = os.path.join(folder, "testlog.json")
            with open(log, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in programs)
            ran = subprocess.run([sys.executable, "-B", SUM_TESTS, log, *options], capture_output=True, text=True)
        self.assertEqual(ran.stdout.splitlines()[-1], line, ran.stdout + ran.stderr)
        self.assertEqual(ran.returncode == 0, good, ran.stdout)
        return ran.stdout

    def test_cases_are_counted_and_a_program_without_cases_is_one(self):
        self.check("8 passed, 0 failed, 0 skipped", True, program(doctest(4)), program("done\n"),
                   program("Ran 3 tests in 0.1s\n\nOK\n"))

    def test_a_case_that_skips_in_a_program_whose_others_passed_is_skipped_and_not_passed(self):
        log = program(doctest(4, said="SKIP: no disk here\n"))
        self.assertIn("no disk here", self.check("3 passed, 0 failed, 1 skipped", True, log))
        self.assertIn("(not allowed here)", self.check("3 passed, 0 failed, 1 skipped", False, log, options=["--no-skips"]))

    def test_a_program_that_skips_as_a_whole_is_one_skip(self):
        log = program("SKIP: nothing can be mounted here\n", "SKIP")
        self.check("1 passed, 0 failed, 1 skipped", True, program(), log)
        self.check("1 passed, 0 failed, 1 skipped", False, program(), log, options=["--no-skips"])
        self.check("0 passed, 0 failed, 1 skipped", False, program("", "SKIP"), options=["--no-skips"])

    def test_what_the_cpu_lacks_may_be_skipped_everywhere_and_no_other_reason(self):
        self.check("1 passed, 0 failed, 1 skipped", True, program(), program(f"SKIP: {CPU}\n", "SKIP"), options=["--no-skips"])
        self.check("1 passed, 0 failed, 1 skipped", False, program(), program(f"SKIP: {CPU}, and no disk\n", "SKIP"),
                   options=["--no-skips"])

    def test_what_unittest_and_doctest_skip_themselves_is_skipped(self):
        self.check("2 passed, 0 failed, 1 skipped", False, options=["--no-skips"], *[
            program("test_x (m.T) ... skipped 'no qemu'\n\nRan 3 tests in 0.1s\n\nOK (skipped=1)\n")])
        self.check("4 passed, 0 failed, 2 skipped", False, program(doctest(4, skipped=2)), options=["--no-skips"])
        self.check("4 passed, 0 failed, 0 skipped", True, program(doctest(4, skipped=2), command=["t", "--test-case=x*"]),
                   options=["--no-skips"])

    def test_failures_count_and_a_program_that_ended_badly_is_at_least_one(self):
        self.check("3 passed, 2 failed, 0 skipped", False, program(doctest(3, failed=2), "FAIL"))
        self.check("0 passed, 1 failed, 0 skipped", False, program("", "TIMEOUT"))
        self.check("4 passed, 1 failed, 0 skipped", False, program(doctest(4), "FAIL"))

    def test_no_test_at_all_is_no_success(self):
        self.assertIn("no test was run", self.check("0 passed, 0 failed, 0 skipped", False))
        self.check("0 passed, 1 failed, 0 skipped", False, program(doctest(0)))


if __name__ == "__main__":
    unittest.main()

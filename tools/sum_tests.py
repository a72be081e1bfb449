#!/usr/bin/python3
"""Adds up what a `meson test` run did, counting real test cases and not programs.

usage: sum_tests.py TESTLOG [--no-skips] [--all-of FOLDER]

TESTLOG is meson-logs/testlog.json. A program that prints doctest's or unittest's closing line counts as that many
tests, any other as one. Failed programs' output and the reason of every skip are printed; the last line is
"N passed, N failed, N skipped". A doctest case that cannot run here prints a line "SKIPPED: its name (reason)" and
returns; a whole program that cannot run prints "SKIP: reason" and exits with 77.

--all-of: every case that is written in the tests of that folder must have run and passed, or have been skipped. One that
is not in the log was hidden by another one, left out by a filter, or is in a program that no meson.build names. Names
are seen in the lines of tests/support/passed.cpp and of `unittest -v`.

Exit code 0 if all is well; 1 if anything failed or did not run, if nothing ran at all, or, with --no-skips, if something
was skipped for a reason that is not in ALLOWED_SKIPS.
"""

import argparse
import json
import pathlib
import re
import sys
from collections import namedtuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from written import all_cases  # found only now

ALLOWED_SKIPS = [re.compile(r"needs instruction set \S+ which this CPU lacks")]

DOCTEST = re.compile(r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed(?: \| +(\d+) skipped)?", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in [^\n]*\n\n(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", re.M)
SKIP_LINE = re.compile(r"^SKIP: *(.*)$", re.M)
DOCTEST_PASSED = re.compile(r"^PASSED: (.*)$", re.M)
DOCTEST_SKIPPED = re.compile(r"^SKIPPED: (.*?) \((.*)\)$", re.M)
# The name, perhaps words of its own and of programs that it started, and the end, before another name comes.
UNITTEST_CASE = re.compile(r"^test_\w+ \(\w+\.(\w+\.\w+)\)(?:(?!^test_\w+ \()[\s\S])*?(?:\.\.\. |^)(?:ok$|skipped ['\"])", re.M)
UNITTEST_SKIP = re.compile(r"\.\.\. skipped (['\"])(.*)\1$", re.M)
# Cases that a filter on the command line left out are run elsewhere: doctest calls them skipped too.
DOCTEST_FILTER = re.compile(r"^--?(dt-)?(ts|tc|sf|tse|tce|sfe|test-suite|test-case|source-file)(-exclude)?=")

Outcome = namedtuple("Outcome", "passed failed skip_reasons")
NO_REASON = "no reason given"


def doctest_outcome(match, output, command):
    ran, failed, left_out = int(match[1]), int(match[3]), int(match[4] or 0)
    reasons = list(dict(DOCTEST_SKIPPED.findall(output)).values()) + SKIP_LINE.findall(output)
    if left_out and not any(DOCTEST_FILTER.match(word) for word in command):
        reasons += [NO_REASON + " (doctest::skip)"] * left_out
        ran += left_out
    if ran == 0:
        return Outcome(0, 1, [])
    return Outcome(max(0, ran - failed - len(reasons)), failed, reasons)


def unittest_outcome(match, output):
    ran = int(match[1])
    counts = {name: int(number) for name, number in re.findall(r"([a-z ]+)=(\d+)", match[3] or "")}
    counts = {name.strip(): number for name, number in counts.items()}
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
    skipped = counts.get("skipped", 0)
    reasons = [reason for _, reason in UNITTEST_SKIP.findall(output)] or SKIP_LINE.findall(output)
    reasons = (reasons + [NO_REASON] * skipped)[:skipped]
    if ran == 0 and not skipped:
        failed = max(failed, 1)
    return Outcome(max(0, ran - failed - skipped), failed, reasons)


def last_match(pattern, text):
    match = None
    for match in pattern.finditer(text):
        pass
    return match


def printed_outcome(output, command):
    """What the program itself says, by the last closing line in its output; None if it has none."""
    doctest, unittest = last_match(DOCTEST, output), last_match(UNITTEST, output)
    if unittest and not (doctest and doctest.start() > unittest.start()):
        return unittest_outcome(unittest, output)
    return doctest_outcome(doctest, output, command) if doctest else None


def outcome_of(test, output):
    """What one program counts as. Meson's word is final where the program's own is better than that."""
    result = test["result"]
    if result == "SKIP":
        return Outcome(0, 0, SKIP_LINE.findall(output)[:1] or [NO_REASON])
    good = result in ("OK", "EXPECTEDFAIL")
    outcome = printed_outcome(output, test["command"]) or Outcome(int(good), int(not good), [])
    if not good and outcome.failed == 0:
        return outcome._replace(failed=1)
    return outcome


def cases_seen(test, output):
    """(file, case) of those that passed or were skipped. No two doctest cases have one name, so that of these the name
    is enough: no file."""
    files = [pathlib.Path(word).name for word in test["command"] if word.endswith(".py")]
    seen = {(file, name) for file in files for name in UNITTEST_CASE.findall(output)}
    skipped = [name for name, _ in DOCTEST_SKIPPED.findall(output)]
    return seen | {(None, name) for name in DOCTEST_PASSED.findall(output) + skipped}


def cases_not_seen(folder, seen):
    return sorted(f"{file}: {name}" for file, name in all_cases(folder) if not {(file, name), (None, name)} & seen)


def read_log(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def print_failure(test, output):
    print(f"--- failed: {test['name']} ({test['result']}, exit code {test.get('returncode')})")
    print(output.rstrip("\n"))
    print(f"--- end of {test['name']}")


def main():
    parser = argparse.ArgumentParser(usage="sum_tests.py TESTLOG [--no-skips] [--all-of FOLDER]")
    parser.add_argument("testlog")
    parser.add_argument("--no-skips", action="store_true")
    parser.add_argument("--all-of", metavar="FOLDER")
    arguments = parser.parse_args()

    log = read_log(arguments.testlog)
    passed, failed, skips, seen = 0, 0, [], set()
    for test in log:
        output = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
        outcome = outcome_of(test, output)
        passed += outcome.passed
        failed += outcome.failed
        skips += [(test["name"], reason) for reason in outcome.skip_reasons]
        seen |= cases_seen(test, output)
        if outcome.failed:
            print_failure(test, output)

    # What a program that was skipped as a whole would have run is not known; it is a failure of its own with --no-skips.
    if arguments.all_of and (arguments.no_skips or not any(test["result"] == "SKIP" for test in log)):
        missing = cases_not_seen(arguments.all_of, seen)
        failed += len(missing)
        print("".join(f"neither passed nor skipped: {case}\n" for case in missing), end="")

    good = failed == 0
    for name, reason in skips:
        allowed = not arguments.no_skips or any(pattern.fullmatch(reason) for pattern in ALLOWED_SKIPS)
        print(f"skipped: {name}: {reason}" + ("" if allowed else " (not allowed here)"))
        good = good and allowed
    if passed + failed + len(skips) == 0:
        print("no test was run")
        good = False
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 0 if good else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(main())

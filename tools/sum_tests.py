#!/usr/bin/python3
"""Adds up the results of a `meson test` run. Counts real test cases, not programs.

usage: sum_tests.py TESTLOG [--no-skips] [--all-of FOLDER] [--left-out PATH...] [--shortened]

TESTLOG is meson-logs/testlog.json. A program that prints the closing lines of doctest, unittest, cargo test, go test
-v, node --test or JUnit's console counts as that many tests, any other as one. Prints the output of failed programs and
the reason of every skip; the last line is "N passed, N failed, N skipped". A doctest case that cannot run here prints a
line "SKIPPED: its name (reason)" and returns; a whole program that cannot run prints "SKIP: reason" and exits with 77.

--all-of: every case in the tests of that folder must have run and passed, or have been skipped. A case that is not in
the log was hidden by another one, left out by a filter, or is in a program that no meson.build names. Names come from
the lines of tests/support/passed.cpp and of `unittest -v`. --left-out: the cases of these files and folders count as
skipped, since tools/campaign runs them. --shortened: prints the programs that do more in the campaigns.

For each failed case a line "red: PROGRAM: CASE: REASON", which goes to the end of a longer log (tools/stages.sh).

Exit code 0 if all tests passed; 1 if any test failed or did not run, if no test ran, or, with --no-skips, if a test was
skipped for a reason that is not in ALLOWED_SKIPS.
"""

import argparse
import json
import pathlib
import re
import sys
from collections import Counter, namedtuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from reasons import last_words, reasons_in  # needs the path above
from written import all_cases

LEFT_OUT = "left to tools/campaign"
MOST_REDS = 6  # for one program
ALLOWED_SKIPS = [re.compile(r"needs instruction set \S+ which this CPU lacks"), re.compile(r"this CPU has \S+, "), re.compile(LEFT_OUT)]
ROOT = pathlib.Path(__file__).resolve().parent.parent

DOCTEST = re.compile(r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed(?: \| +(\d+) skipped)?", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in [^\n]*\n\n(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", re.M)
CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M)
CARGO_SKIP = re.compile(r"^test .* \.\.\. ignored, (.*)$", re.M)
CARGO_RAN = re.compile(r"\btest (?:\S*::)?(\w+) \.\.\. (?!ignored)")  # perhaps after a part's output
CARGO_PART = re.compile(r"run by (\w+)$")
# One line for each test, and no sum. Lines that begin with blanks belong to subtests, which are counted with their
# test.
GO = re.compile(r"^--- (PASS|FAIL|SKIP): \S+ \(", re.M)
GO_SKIP = re.compile(r"^ +\S+\.go:\d+: (.*)\n--- SKIP: ", re.M)
NODE = re.compile(r"^(?:#|\u2139) (pass|fail|cancelled|skipped|todo) (\d+)$", re.M)
NODE_SKIP = re.compile(r"^ *(?:ok \d+ - .* # SKIP|\ufe63 .* #) (.*)$", re.M)
JUNIT = re.compile(r"^\[ +(\d+) tests (skipped|aborted|successful|failed) +\]$", re.M)
# The signs of JUnit's two themes, for disabled tests and for an assumption that does not hold.
JUNIT_SKIP = re.compile(r"(?:\u21b7|\[S\]|\u25a0|\[A\]) (.*)$", re.M)
COLOUR = re.compile(r"\x1b\[[\d;]*m")
SKIP_LINE = re.compile(r"^SKIP: *(.*)$", re.M)
DOCTEST_PASSED = re.compile(r"^PASSED: (.*)$", re.M)
DOCTEST_SKIPPED = re.compile(r"^SKIPPED: (.*?) \((.*)\)$", re.M)
# The name, perhaps words of the test and of programs that it started, and the end, before another name comes.
UNITTEST_CASE = re.compile(r"^test_\w+ \(\w+\.(\w+\.\w+)\)(?:(?!^test_\w+ \()[\s\S])*?(?:\.\.\. |^)(?:ok$|skipped ['\"])", re.M)
# Their own lines name them again, each with a reason (print_reds).
DOCTEST_FAILED = re.compile(r"^TEST CASE: +(.*)$", re.M)
UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): test_\w+ \(\w+\.(\w+\.\w+)\)", re.M)
UNITTEST_SKIP = re.compile(r"\.\.\. skipped (['\"])(.*)\1$", re.M)
# Cases that a filter on the command line left out run elsewhere: doctest also calls them skipped.
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


def counted(passed, failed, skipped, reasons):
    """Returns an outcome with a reason for each skip; if no test ran, that is a failure."""
    if passed + failed + skipped == 0:
        failed = 1
    return Outcome(passed, failed, (reasons + [NO_REASON] * skipped)[:skipped])


def unittest_outcome(match, output, _):
    ran = int(match[1])
    counts = {name: int(number) for name, number in re.findall(r"([a-z ]+)=(\d+)", match[3] or "")}
    counts = {name.strip(): number for name, number in counts.items()}
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
    skipped = counts.get("skipped", 0)
    reasons = [reason for _, reason in UNITTEST_SKIP.findall(output)] or SKIP_LINE.findall(output)
    return counted(max(0, ran - failed - skipped), failed, skipped, reasons)


def sums(pairs):
    """Returns {name: sum of its numbers}: a runner that ran several programs has printed a number for each."""
    made = Counter()
    for name, number in pairs:
        made[name] += int(number)
    return made


def cargo_outcome(_, output, __):
    """Counts an ignored test that is "run by" another one, in a process of its own, as a part of that one."""
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*CARGO.findall(output)))
    run = set(CARGO_RAN.findall(output))
    parts = [reason for reason in CARGO_SKIP.findall(output) if (part := CARGO_PART.match(reason)) and part[1] in run]
    skips = [reason for reason in CARGO_SKIP.findall(output) if reason not in parts]
    return counted(passed, failed, ignored - len(parts), skips)


def go_outcome(_, output, __):
    words = GO.findall(output)
    return counted(words.count("PASS"), words.count("FAIL"), words.count("SKIP"), GO_SKIP.findall(output))


def node_outcome(_, output, __):
    counts = sums(NODE.findall(output))
    return counted(counts["pass"], counts["fail"] + counts["cancelled"], counts["skipped"] + counts["todo"], NODE_SKIP.findall(output))


def junit_outcome(_, output, __):
    counts = sums((name, number) for number, name in JUNIT.findall(output))
    return counted(counts["successful"], counts["failed"], counts["skipped"] + counts["aborted"], JUNIT_SKIP.findall(output))


RUNNERS = {DOCTEST: doctest_outcome, UNITTEST: unittest_outcome, CARGO: cargo_outcome, GO: go_outcome, NODE: node_outcome,
           JUNIT: junit_outcome}


def last_match(pattern, text):
    match = None
    for match in pattern.finditer(text):
        pass
    return match


def printed_outcome(output, command):
    """Returns the program's own result, from the runner whose line is the last one in its output; None without such a
    line."""
    output = COLOUR.sub("", output)
    matches = [match for match in (last_match(pattern, output) for pattern in RUNNERS) if match]
    if not matches:
        return None
    last = max(matches, key=lambda match: match.start())
    return RUNNERS[last.re](last, output, command)


def outcome_of(test, output):
    """Returns what one program counts as. Meson's result counts if the program's own is better."""
    result = test["result"]
    if result == "SKIP":
        return Outcome(0, 0, SKIP_LINE.findall(output)[:1] or [NO_REASON])
    good = result in ("OK", "EXPECTEDFAIL")
    outcome = printed_outcome(output, test["command"]) or Outcome(int(good), int(not good), [])
    if not good and outcome.failed == 0:
        return outcome._replace(failed=1)
    return outcome


def cases_seen(test, output):
    """Returns (file, case) of those that passed, were skipped, or failed, which is reported elsewhere. No two doctest
    cases have the same name, so their name suffices: no file."""
    files = [pathlib.Path(word).name for word in test["command"] if word.endswith(".py")]
    seen = {(file, name) for file in files for name in UNITTEST_CASE.findall(output)}
    skipped = [name for name, _ in DOCTEST_SKIPPED.findall(output)]
    failed = [name.strip() for name in DOCTEST_FAILED.findall(output)]
    seen |= {(file, name) for file in files for name in UNITTEST_FAILED.findall(output)}
    return seen | {(None, name) for name in DOCTEST_PASSED.findall(output) + skipped + failed}


def cases_not_seen(folder, left_out, seen):
    wanted = all_cases(ROOT / folder) - left_out
    return sorted(f"{file}: {name}" for file, name in wanted if not {(file, name), (None, name)} & seen)


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


def print_reds(test, output):
    """Prints each failed case with its first reason, in one line that names the program; of a program with many only
    the first few, so that those of others are seen, too."""
    output = COLOUR.sub("", output)
    ended = f"{test['result']}, exit code {test.get('returncode')}"
    found = {} if test["result"] == "TIMEOUT" else dict(reversed(reasons_in(output)))
    lines = [f"{case}: {reason}" for case, reason in reversed(found.items())] or [f"{ended}: {last_words(output)}"]
    if (more := len(lines) - MOST_REDS) > 0:
        lines[MOST_REDS:] = [f"and {more} more"]
    for line in lines:
        print(" ".join(f"red: {test['name']}: {line}".split())[:400])


def print_shortened(log):
    """Prints the programs of meson's suite `shortened`, which do less if the build's option key_scale is larger. Meson
    writes the suites of a test before its name: "bfstore:store+shortened / a name"."""
    suites_and_names = [test["name"].partition(" / ") for test in log]
    names = [name for suites, _, name in suites_and_names if "shortened" in re.split("[:+]", suites)]
    if names:
        print(f"{len(names)} of {len(log)} programs did a tenth of their work (tools/test --full does all of it): {'; '.join(names)}")


def main():
    parser = argparse.ArgumentParser(usage="sum_tests.py TESTLOG [--no-skips] [--all-of FOLDER] [--left-out PATH...] [--shortened]")
    parser.add_argument("testlog")
    parser.add_argument("--no-skips", action="store_true")
    parser.add_argument("--shortened", action="store_true")
    parser.add_argument("--all-of", metavar="FOLDER")
    parser.add_argument("--left-out", metavar="PATH", nargs="+", default=[])
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
            print_reds(test, output)

    left_out = {case for path in arguments.left_out for case in all_cases(ROOT / path)}
    skips += [(file + ": " + name, LEFT_OUT) for file, name in sorted(left_out)]

    # It is not known which tests a wholly skipped program would have run; with --no-skips it is itself a failure.
    if arguments.all_of and (arguments.no_skips or not any(test["result"] == "SKIP" for test in log)):
        missing = cases_not_seen(arguments.all_of, left_out, seen)
        failed += len(missing)
        print("".join(f"neither passed nor skipped: {case}\n" for case in missing), end="")

    good = failed == 0
    for name, reason in (skip for skip in skips if skip[1] != LEFT_OUT):
        allowed = not arguments.no_skips or any(pattern.fullmatch(reason) for pattern in ALLOWED_SKIPS)
        print(f"skipped: {name}: {reason}" + ("" if allowed else " (not allowed here)"))
        good = good and allowed
    if left_out:
        print(f"{len(left_out)} cases are {LEFT_OUT}: {' '.join(arguments.left_out)}")
    if arguments.shortened:
        print_shortened(log)
    if passed + failed + len(skips) == 0:
        print("no test was run")
        good = False
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 0 if good else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(main())

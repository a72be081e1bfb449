"""Why the cases of a test program failed, each in one line, as the program's own runner says it (tools/sum_tests.py)."""
import re

# doctest names the case above its failed assertions; the last line shows what the values were.
DOCTEST_CASE = re.compile(r"^TEST CASE: +(.*)\n((?:(?!^TEST CASE: |^={20})[\s\S])*)", re.M)
DOCTEST_ERROR = re.compile(r"^(\S+:\d+): (?:FATAL )?ERROR: (.*)\n(?: +values: (.*))?", re.M)
# unittest: a title, a line of dashes, and a traceback whose last line that is not indented is the error.
UNITTEST = re.compile(r"^(?:FAIL|ERROR): (.*)\n(?:(?!-{20}).*\n)?-{20,}\n([\s\S]*?)(?=\n={20,}\n|\n-{20,}\nRan |\Z)", re.M)
UNITTEST_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|Exit|Interrupt|Expired)\b.*", re.M)
CARGO = re.compile(r"^---- (\S+) stdout ----\n([\s\S]*?)(?=\n---- |\nfailures:|\Z)", re.M)
GO = re.compile(r"^--- FAIL: (\S+) .*\n((?: +.*\n)*)", re.M)
NODE = re.compile(r"^ *not ok \d+ - (.*)\n([\s\S]*?)(?=^ *(?:not )?ok \d|\Z)", re.M)
JUNIT = re.compile(r"^ *(?:JUnit Jupiter|MethodSource)[^\n]*\n *=> (.*)", re.M)


def first_words(text):
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip() and line.strip() != "---"), "")


def of_doctest(output):
    for case, body in DOCTEST_CASE.findall(output):
        for place, check, values in DOCTEST_ERROR.findall(body)[:1]:
            yield case.strip(), f"{place}: {values or check}"


def of_unittest(output):
    for case, traceback in UNITTEST.findall(output):
        errors = UNITTEST_ERROR.findall(traceback)
        yield case.split(" ")[0], errors[-1] if errors else first_words(traceback)


def of_others(output):
    for pattern in (CARGO, GO, NODE):
        for case, body in pattern.findall(output):
            yield case, first_words(body)
    for reason in JUNIT.findall(output):
        yield "", reason


def reasons_in(output):
    """[(case, reason)] of the failed cases; what no runner says ends with the program's last words."""
    found = [*of_doctest(output), *of_unittest(output), *of_others(output)]
    if found:
        return found
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return [("", lines[-1])] if lines else []

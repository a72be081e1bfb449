"""Why the cases of a test program failed, each in one line, as the program's own runner says it (tools/sum_tests.py)."""
import re

# doctest names the case above its failed assertions. Then come the values, or the words of a CHECK_MESSAGE.
DOCTEST_CASE = re.compile(r"^TEST CASE: +(.*)\n((?:(?!^TEST CASE: |^={20})[\s\S])*)", re.M)
DOCTEST_ERROR = re.compile(r"^(\S+:\d+): (?:FATAL )?ERROR: (.*)\n(?: +(?:values|logged): (.*))?", re.M)
# unittest: a title, perhaps the case's own words, a line of dashes, and a traceback.
UNITTEST = re.compile(r"^(?:FAIL|ERROR): (.*)\n(?:(?!-{20}).*\n)?-{20,}\n([\s\S]*?)(?=\n={20,}\n|\n-{20,}\nRan |\Z)", re.M)
CARGO = re.compile(r"^---- (\S+) stdout ----\n([\s\S]*?)(?=\n---- |\nfailures:|\Z)", re.M)
# With -v the words of a Go test come before its result; without, after it.
GO_RUN = re.compile(r"^=== RUN   (\S+)\n((?:(?!^=== RUN   |^--- )[\s\S])*)(?=^--- FAIL: \1 )", re.M)
GO = re.compile(r"^--- FAIL: (\S+) .*\n((?: +(?!--- ).*\n)*)", re.M)
NODE = re.compile(r"^ *not ok \d+ - (.*)\n([\s\S]*?)(?=^ *(?:not )?ok \d|\Z)", re.M)
NODE_ERROR = re.compile(r"^ *error: (?:\|-\n *)?(.*)", re.M)
JUNIT = re.compile(r"^ *JUnit Jupiter:(\S+)[^\n]*\n(?: *MethodSource[^\n]*\n)? *=> (.*)", re.M)
SANITIZER = re.compile(r"^(?:SUMMARY: \w*Sanitizer.*|.*: runtime error: .*)", re.M)


def first_words(text):
    """Returns the first line with words."""
    return next((line.strip() for line in text.splitlines() if line.strip() and line.strip() != "---"), "")


def of_traceback(text):
    """Returns the traceback's first line without a blank before it, after the last line that names a place."""
    after = re.split(r'^  File "[^\n]*\n', text, flags=re.M)[-1]
    return first_words("\n".join(line for line in after.splitlines() if not line.startswith(" ")))


def of_doctest(output):
    for case, body in DOCTEST_CASE.findall(output):
        for place, check, values in DOCTEST_ERROR.findall(body)[:1]:
            yield case.strip(), f"{place}: {values or check}"


def of_unittest(output):
    for title, traceback in UNITTEST.findall(output):
        case, _, rest = title.partition(" ")
        yield case + "".join(re.findall(r" \[.*\]$", rest)), of_traceback(traceback)


def of_go(output):
    before = {case: first_words(body) for case, body in GO_RUN.findall(output)}
    for case, body in GO.findall(output):
        yield case, before.get(case) or first_words(body)


def of_others(output):
    for case, body in CARGO.findall(output):
        yield case, first_words(body)
    for case, body in NODE.findall(output):
        error = NODE_ERROR.search(body)
        yield case, error[1] if error else first_words(body)
    yield from JUNIT.findall(output)


def last_words(output):
    """Returns the words of a program that dies, or its last line."""
    found = SANITIZER.search(output)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return found[0] if found else lines[-1] if lines else ""


def reasons_in(output):
    """Returns [(case, reason)] of the failed cases that a runner names."""
    return [*of_doctest(output), *of_unittest(output), *of_go(output), *of_others(output)]

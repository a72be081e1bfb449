"""The tests whose verdict compares a clock: a slow machine may make them red.

    tests/clocks.py [ROOT]

Prints the path of each, relative to the project's root, sorted. Such a test has to pass on a machine that gives it a tenth
of a core. A use of a clock that decides no verdict is not counted if a comment on its line, or on the line before it,
says so with the reason: `clock: REASON`. Reasons are that it measures for a report, that it feeds a seed, or that it ends
a test that hangs and the time in which the process did not run is subtracted. A clock of CPU time is no such clock.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOCKS = re.compile(r"""
    \b(?: steady_clock | system_clock | high_resolution_clock | clock_gettime | gettimeofday | std::time\(
        | time\.(?: monotonic | time | perf_counter )(?: _ns )?\b
        | (?<!\.)(?: monotonic | perf_counter )(?: _ns )?\(
        | datetime\.(?: now | utcnow )\b
        | (?: Instant | SystemTime )::now
        | System\.(?: nanoTime | currentTimeMillis )
        | Date\.now | performance\.now | process\.hrtime
        | time\.(?: Now | Since | Until )\b )""", re.VERBOSE)
REASON = re.compile(r"\bclock: *\w")
# Comments, and strings, which may have the signs of comments in them.
QUOTED, SINGLE_QUOTED = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"
CHARACTER = r"'(?:\\.|[^'\\\n])'"  # and no more, for a number may be 10'000
COMMENTS = r"//[^\n]*|/\*.*?\*/"
C_LIKE = re.compile(f"{QUOTED}|{CHARACTER}|{COMMENTS}", re.DOTALL)
JAVASCRIPT = re.compile(f"{QUOTED}|{SINGLE_QUOTED}|{COMMENTS}", re.DOTALL)
PYTHON = re.compile(rf'''""".*?"""|{"'" * 3}.*?{"'" * 3}|{QUOTED}|{SINGLE_QUOTED}|\#[^\n]*''', re.DOTALL)
SYNTAX = {".py": PYTHON, **dict.fromkeys((".js", ".mjs", ".ts"), JAVASCRIPT),
          **dict.fromkeys((".c", ".cpp", ".h", ".hpp", ".go", ".java", ".rs"), C_LIKE)}
BINDINGS = pathlib.PurePath("capi", "bindings")
NOT_OURS = {"node_modules", "target", "__pycache__"}


def without_words(text, syntax):
    """Returns the code without comments and strings, with as many lines."""
    return syntax.sub(lambda found: "\n" * found[0].count("\n"), text)


def uses(text, suffix):
    """Returns the numbers of the lines that use a clock and give no reason."""
    lines = text.split("\n")
    code = without_words(text, SYNTAX[suffix]).split("\n")
    return [number for number, line in enumerate(code, 1)
            if CLOCKS.search(line) and not any(map(REASON.search, lines[max(number - 2, 0):number]))]


def is_test(path):
    """Returns whether this is a test: a path relative to the root, in tests/ or among the bindings."""
    if path.suffix not in SYNTAX or NOT_OURS & set(path.parts):
        return False
    return path.parts[0] == "tests" or any("test" in part.lower() for part in path.relative_to(BINDINGS).parts)


def tests_with_clocks(root):
    sources = [path for folder in ("tests", BINDINGS) for path in (root / folder).rglob("*") if path.is_file()]
    paths = [path.relative_to(root) for path in sources]
    return sorted(str(path) for path in paths
                  if is_test(path) and uses((root / path).read_text("utf-8"), path.suffix))


# The sources that the tests of a folder test.
SUBJECTS = {"store": ["src/store/**/*", "src/region/*"], "region": ["src/region/*"], "capi": ["capi/bfstore.cpp"], "bf": ["tools/bf/*"],
            "bfinspect": ["tools/bfinspect/*"], "engines": ["capi/engines/*/*"]}


def judges(root):
    """Returns {path: patterns of what it tests} of the tests whose verdict compares a clock."""
    folders = {name: pathlib.PurePath(name).parts for name in tests_with_clocks(root)}
    return {name: SUBJECTS.get(parts[1], []) if parts[0] == "tests" else ["/".join(parts[:3]) + "/**/*"] for name, parts in folders.items()}


if __name__ == "__main__":
    for name in tests_with_clocks(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT):
        print(name)

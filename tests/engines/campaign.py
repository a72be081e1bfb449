"""The tests of one engine at the length of a campaign (tools/campaign engines).

Arguments: the build directory, the engine, the number of kills, the seed. Exit code 0 if all passed: a skip is a failure here.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
# A line by which a program says that it left out a part of itself: unittest -v, and tests/support/skip.hpp.
LEFT_OUT = re.compile(r"^.* \.\.\. skipped .*$|^SKIP(?:PED)?: .*$", re.M)


def tests_of(build, engine):
    known = json.loads((build / "meson-info" / "intro-tests.json").read_text("utf-8"))
    return [test for test in known if any(suite.endswith(":engine-" + engine) for suite in test["suite"])]


def passes(test, options, build):
    print(f"{test['name']}: {' '.join(options)}", flush=True)
    with subprocess.Popen([*test["cmd"], *options], env={**os.environ, **test["env"]}, cwd=test["workdir"] or build, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as running:
        left_out = ""
        for line in running.stdout:
            print(line, end="", flush=True)
            left_out = left_out or "".join(LEFT_OUT.findall(line))
    code = running.returncode
    if code == 0 and not left_out:
        return True
    print(f"red: {test['name']}: {' '.join(options)}: " + (f"exit code {code}" if code not in (0, SKIPPED) else left_out or "skipped"))
    return False


def main():
    build, engine, kills, seed = sys.argv[1:]
    tests = tests_of(pathlib.Path(build), engine)
    if not tests:
        sys.exit(f"{build} has no tests of the engine {engine}")
    return 0 if all([passes(test, [f"--kills={kills}", f"--seed={seed}"], build) for test in tests]) else 1


if __name__ == "__main__":
    sys.exit(main())

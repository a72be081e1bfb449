"""The tests of one engine at the length of a campaign (tools/campaign engines).

Arguments: the build directory, the engine, the number of kills, the seed. Exit code 0 if all passed: a skip is a failure here.
"""
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def tests_of(build, engine):
    known = json.loads((build / "meson-info" / "intro-tests.json").read_text("utf-8"))
    return [test for test in known if any(suite.endswith(":engine-" + engine) for suite in test["suite"])]


def passes(test, options):
    print(f"{test['name']}: {' '.join(options)}", flush=True)
    done = subprocess.run([*test["cmd"], *options], env={**os.environ, **test["env"]}, cwd=test["workdir"], stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        print(f"red: {test['name']}: {' '.join(options)}: " + ("skipped" if done.returncode == SKIPPED else f"exit code {done.returncode}"))
    return done.returncode == 0


def main():
    build, engine, kills, seed = sys.argv[1:]
    tests = tests_of(pathlib.Path(build), engine)
    if not tests:
        sys.exit(f"{build} has no tests of the engine {engine}")
    return 0 if all([passes(test, [f"--kills={kills}", f"--seed={seed}"]) for test in tests]) else 1


if __name__ == "__main__":
    sys.exit(main())

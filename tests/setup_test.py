"""tools/setup.sh: a build shows its steps on a terminal, in place, and one a minute elsewhere, with an estimate of the
time that is left. The log has everything. tools/demo says what can be tried while the rest is built.

Argument: the repository's root.
"""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(sys.argv.pop(1)).resolve() / "tools" / "setup.sh"
STEPS = "rule step\n  command = {}\n  description = a step to $out\nbuild one: step\nbuild two: step one\nbuild three: step two\n"
UNITY = STEPS.replace("three", "unity")
STATUS = "\r\033[K[{}/3] "
CLEARED = "\r\033[K"


class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-setup-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, step="touch $out", between=1000000, before=1000000, steps=STEPS):
        (self.folder / "build.ninja").write_text(steps.format(step), "utf-8")
        return ["bash", "-c", f'source "$1" && root=$2 && seconds_between_steps={between} && seconds_before_estimate={before} && compile .',
                "setup_test", str(SETUP), str(self.folder)]

    def log(self):
        return (self.folder / "build.log").read_text("utf-8")

    def run_on_terminal(self, command):
        """Returns the exit code, and what the terminal showed."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvp(command[0], command)
        said = b""
        try:
            while part := os.read(terminal, 4096):
                said += part
        except OSError:
            pass  # the end, for a terminal
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode()

    def test_a_terminal_sees_the_number_of_each_step_in_place(self):
        self.assertEqual(self.run_on_terminal(self.command()), (0, "".join(STATUS.format(step) for step in (1, 2, 3)) + CLEARED))
        self.assertIn("[3/3] a step to three\n", self.log())

    def test_a_pipe_gets_a_line_when_it_is_time(self):
        done = subprocess.run(self.command(between=0), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[1/3]\n[2/3]\n[3/3]\n", ""))
        self.assertIn("[3/3] a step to three\n", self.log())

    def test_a_pipe_gets_nothing_before_it_is_time(self):
        done = subprocess.run(self.command(), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("[3/3] a step to three\n", self.log())

    # README's first command compiled for minutes, and did not say for how many.
    def test_a_terminal_sees_the_share_of_the_work_and_the_time_that_is_left(self):
        code, said = self.run_on_terminal(self.command(before=0, steps=UNITY))
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\[1/3\] 5 %, (less than a minute|about \d+ min) left .*\[2/3\] 11 %, .* left .*\[3/3\] 100 %, less than a minute left ")

    def test_the_time_that_is_left_is_that_of_the_work_that_is_done(self):
        for numbers, words in (("60 1 4", "about 3 min left"), ("61 1 2", "about 2 min left"), ("60 1 2", "about 1 min left"),
                               ("59 1 2", "less than a minute left"), ("500 7 7", "less than a minute left")):
            done = subprocess.run(["bash", "-c", f'source "$1" && time_left {numbers}', "setup_test", str(SETUP)], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, words + "\n", numbers)

    def test_a_build_that_has_nothing_to_do_says_nothing(self):
        self.assertEqual(self.run_on_terminal(self.command())[0], 0)
        self.assertEqual(self.run_on_terminal(self.command(before=0)), (0, CLEARED))

    def test_a_step_that_fails_is_shown_in_both(self):
        code, said = self.run_on_terminal(self.command("echo 'x.cpp:1: error: words' && false"))
        self.assertEqual(code, 1)
        self.assertIn("x.cpp:1: error: words", said)
        done = subprocess.run(self.command("echo 'x.cpp:1: error: words' && false"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("x.cpp:1: error: words", done.stderr)


class Demo(unittest.TestCase):
    """tools/demo, with a setup.sh that builds nothing."""
    STUB = ('root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)\nsay() { printf "%s\\n" "$*"; }\ninstall_packages() { :; }\n'
            'configure() { :; }\nlibrary_files() { say lib; }\ncompile() { say "compile $*"; }\n')

    def test_bf_is_built_first_and_can_be_tried_while_the_rest_is_built(self):
        with tempfile.TemporaryDirectory(prefix="bfstore-demo-") as folder:
            root = pathlib.Path(folder).resolve()
            rows = root / "build-release/tools/demo_rows/demo_rows"
            rows.parent.mkdir(parents=True)
            rows.write_text("#!/bin/sh\necho rows\n", "utf-8")
            rows.chmod(0o755)
            (root / "tools").mkdir()
            (root / "tools/setup.sh").write_text(self.STUB, "utf-8")
            shutil.copy(SETUP.with_name("demo"), root / "tools/demo")
            done = subprocess.run([root / "tools/demo"], capture_output=True, text=True, check=True)
            said = [line for line in done.stdout.splitlines() if re.match("compile |rows$|To try in another shell", line)]
            self.assertEqual(said[0], "compile build-release tools/bf/bf")
            self.assertEqual(said[1], f"To try in another shell, while the rest is built and run:  {root}/build-release/tools/bf/bf plan -n 10M -p 1%")
            self.assertIn("tools/demo_rows/demo_rows", said[2])
            self.assertEqual(said[3:], ["rows"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

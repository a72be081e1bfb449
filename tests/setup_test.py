"""tools/setup.sh: a build shows its steps on a terminal, in place, and one a minute elsewhere. The log has everything.

Argument: the repository's root.
"""

import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(sys.argv.pop(1)).resolve() / "tools" / "setup.sh"
STEPS = "rule step\n  command = {}\n  description = a step to $out\nbuild one: step\nbuild two: step one\nbuild three: step two\n"
STATUS = "\r\033[K[{}/3] "
CLEARED = "\r\033[K"


class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-setup-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, step="touch $out", between=1000000):
        (self.folder / "build.ninja").write_text(STEPS.format(step), "utf-8")
        return ["bash", "-c", f'source "$1" && root=$2 && seconds_between_steps={between} && compile .', "setup_test", str(SETUP),
                str(self.folder)]

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

    def test_a_step_that_fails_is_shown_in_both(self):
        code, said = self.run_on_terminal(self.command("echo 'x.cpp:1: error: words' && false"))
        self.assertEqual(code, 1)
        self.assertIn("x.cpp:1: error: words", said)
        done = subprocess.run(self.command("echo 'x.cpp:1: error: words' && false"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("x.cpp:1: error: words", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

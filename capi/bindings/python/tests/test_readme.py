"""README's example does what its comments say: alone, again, and in several processes at the same moment."""

import os
import re
import subprocess
import sys
import traceback
import unittest

import bfstore
from case import HERE, Case

PROGRAM, = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
PRINTS = "True False\n[1, 0]\n"


def wait_at(gate, ready):
    """Returns when the parent closes its end of the gate."""
    os.write(ready, b".")
    os.read(gate, 1)


def run_in_child(code, folder, output, gate, ready):
    """Runs a program in this new process, and never returns."""
    status = 1
    try:
        os.chdir(folder)
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(1, 2)
        wait_at(gate, ready)
        exec(code, {"__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def run_at_once(code, folder, count):
    """Runs a program in `count` processes that begin at one moment, and returns (exit status, output) of each."""
    (gate, open_gate), (is_ready, ready) = os.pipe(), os.pipe()
    outputs = [folder.parent / f"{folder.name}-{number}.txt" for number in range(count)]
    sys.stdout.flush()
    children = []
    for output in outputs:
        child = os.fork()
        if child == 0:
            os.close(open_gate)
            run_in_child(code, folder, output, gate, ready)
        children.append(child)
    os.close(ready)
    for _ in children:
        os.read(is_ready, 1)  # returns also where a child has ended
    os.close(open_gate)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(gate)
    os.close(is_ready)
    return [(status, output.read_text("utf-8")) for status, output in zip(statuses, outputs)]


class Readme(Case):
    def test_the_example_runs_and_runs_again(self):
        for _ in range(2):
            done = subprocess.run([sys.executable, "-B", "-c", PROGRAM], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.stderr), (PRINTS, ""))
        self.assertEqual(os.listdir(self.folder), ["users.bf"])

    def test_four_processes_run_the_example_at_the_same_moment(self):
        code = compile(PROGRAM, "README.md", "exec")
        for round_ in range(40):
            folder = self.folder / str(round_)
            folder.mkdir()
            self.assertEqual(run_at_once(code, folder, 4), [(0, PRINTS)] * 4)
            self.assertEqual(os.listdir(folder), ["users.bf"])

    def test_one_of_several_processes_makes_the_file(self):
        code = compile('import bfstore\nwith bfstore.open("one.bf", "a", capacity=1000) as one: print(one.created)', "created", "exec")
        for round_ in range(10):
            folder = self.folder / str(round_)
            folder.mkdir()
            told = run_at_once(code, folder, 4)
            self.assertEqual(sorted(told), [(0, "False\n")] * 3 + [(0, "True\n")])
            with bfstore.open(folder / "one.bf") as one:
                self.assertEqual(one.capacity, 1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)

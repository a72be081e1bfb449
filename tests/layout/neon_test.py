"""The NEON kernels, built by a cross compiler and run by an emulator: they answer as the scalar code does, and their
loops prefetch.

Arguments: the project's root, how many digests.
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from programs import missing  # found only now

ROOT, DIGESTS = sys.argv[1], sys.argv[2]
CROSS, EMULATOR = "aarch64-linux-gnu-", "qemu-aarch64"
SOURCES = ["tests/layout/kernels_test.cpp", "src/base/error.cpp",
           *sorted(str(path.relative_to(ROOT)) for path in pathlib.Path(ROOT, "src/layout").glob("*.cpp"))]


class Neon(unittest.TestCase):
    def setUp(self) -> None:
        if platform.machine() == "aarch64":
            self.skipTest("this CPU has NEON, and the kernel is tested without an emulator")
        without = missing(CROSS + "g++", CROSS + "objdump", EMULATOR)
        if without:
            self.skipTest(without)

    def test_they_answer_as_scalar_and_prefetch(self) -> None:
        with tempfile.TemporaryDirectory(prefix="bfstore-neon-") as folder:
            program = os.path.join(folder, "kernels_test")
            subprocess.run([CROSS + "g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-D_GNU_SOURCE",
                            '-DBFSTORE_VERSION="0"', "-Iinclude", "-Isrc", *SOURCES, "-o", program], cwd=ROOT, check=True)
            code = subprocess.run([CROSS + "objdump", "-dC", program], check=True, capture_output=True, text=True).stdout
            # The compiler may keep the loops for few and for many probes in one function.
            loops = re.findall(r"^\w+ <[^\n]*\(anonymous namespace\)::(?:ask|change_all|contains_step|change_step)\b[^\n]*>:\n"
                               r"(.*?)\n\n", code, re.M | re.S)
            loops = [loop for loop in loops if "tbl" in loop]
            # Blocked: to ask, to add exclusively, and to add shared. Counting looks before it removes, and not before it adds.
            self.assertGreaterEqual(len(loops), 6)
            for loop in loops:  # one before the loop over the digests, and one in it
                self.assertGreaterEqual(loop.count("prfm"), 2)
            run = subprocess.run([EMULATOR, program, "neon", DIGESTS], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            for layout in ("blocked", "counting"):
                self.assertIn(f"{layout}, neon: {DIGESTS}", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

"""The shared library exports the functions of its headers and nothing else, and needs only the C and C++ run time.

Arguments: the shared library, capi/bfstore.h.
"""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_header

HEADER, LIBRARY = sys.argv.pop(2), sys.argv.pop(1)
RUN_TIME = re.compile(r"(libc|libstdc\+\+|libm|libgcc_s|ld-linux[\w.-]*|libpthread)\.so\.\d+")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Exports(unittest.TestCase):
    dynamic = output("readelf", "--wide", "-d", LIBRARY)

    def test_the_exported_symbols_are_the_functions_of_the_header(self):
        lines = [line.split() for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        functions = {name.partition("@")[0] for _, kind, name in lines if kind == "T"}
        declared = bfstore_header.functions(HEADER)
        self.assertEqual(len(set(declared)), len(declared))
        self.assertEqual(functions, set(declared))
        others = [name for _, kind, name in lines if kind != "T"]
        self.assertEqual(others, ["BFSTORE_0.1"], "only the name of the symbols' version")

    def test_every_exported_symbol_has_the_version_of_its_release(self):
        for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines():
            name = line.split()[-1]
            self.assertTrue(name == "BFSTORE_0.1" or name.endswith("@@BFSTORE_0.1"), name)

    def test_dlclose_keeps_the_library(self):
        self.assertRegex(self.dynamic, r"\(FLAGS_1\).*NODELETE")

    def test_soname(self):
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", self.dynamic), ["libbfstore.so.0"])

    def test_nothing_is_needed_but_the_run_time(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic)
        self.assertIn("libc.so.6", needed)
        foreign = [name for name in needed if not RUN_TIME.fullmatch(name)]
        if [name for name in foreign if re.match(r"lib(asan|ubsan|tsan)\.", name)]:
            self.skipTest("built with sanitizers")
        self.assertEqual(foreign, [])

    def test_no_path_of_the_build_is_in_the_library(self):
        self.assertNotRegex(self.dynamic, r"\((RPATH|RUNPATH)\)")

    def test_no_stack_or_text_may_be_changed_and_run(self):
        self.assertNotIn("(TEXTREL)", self.dynamic)
        stack = re.search(r"GNU_STACK.*", output("readelf", "--wide", "-l", LIBRARY)).group()
        self.assertNotIn("E", stack.split("0x")[-2].split()[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)

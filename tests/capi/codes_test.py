"""Every BFS_E code of the headers has a text of its own and is in a group, and the C++ enum has the same codes under the same
names, but for the rules of the format's bytes: in C these are one code, and bfs_error.rule.

Arguments: the shared library, capi/bfstore.h, the program built from dump_codes.cpp, include/bfstore/error.hpp.
"""
import ctypes
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import bfstore_header
import header_codes

ERROR_HPP, DUMP, HEADER = sys.argv.pop(4), sys.argv.pop(3), sys.argv.pop(2)
LIBRARY = bfs.load(sys.argv.pop(1))
# LD_PRELOAD is for Python; a program has its own sanitizer.
PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


class Codes(unittest.TestCase):
    codes = bfstore_header.codes(HEADER)

    def test_every_code_has_a_text_of_its_own(self):
        texts = {name: LIBRARY.bfs_strerror(code).decode("ascii") for name, code in self.codes.items()}
        self.assertEqual(len(set(texts.values())), len(texts), "two codes share a text")
        unknown = LIBRARY.bfs_strerror(-9999).decode("ascii")
        for name, text in texts.items():
            with self.subTest(name):
                self.assertNotEqual(text, unknown)
                self.assertRegex(text, r"^\w.{6,118}[^.\s]$", "one sentence without a full stop, for use after a colon")

    def test_a_reader_that_adds_is_told_what_to_do(self):
        self.assertEqual(LIBRARY.bfs_strerror(self.codes["BFS_EREADONLY"]), b"the filter was opened for reading; open it for writing")

    def test_numbers_that_are_no_code_have_a_general_text(self):
        numbers = set(range(-200, 3)) - set(self.codes.values())
        texts = {LIBRARY.bfs_strerror(number) for number in [*numbers, 2**31 - 1, -2**31]}
        self.assertEqual(len(texts), 1)
        self.assertTrue(texts.pop())

    def test_no_number_is_used_twice_and_the_numbers_are_the_ones_that_were_published(self):
        self.assertEqual(len(set(self.codes.values())), len(self.codes))
        self.assertEqual(self.codes["BFS_OK"], 0)
        self.assertTrue(all(value < 0 for name, value in self.codes.items() if name != "BFS_OK"))

    # bfstore_ctypes compares every result with the list, in all tests; store/every_call_test does under faults.
    def test_every_function_that_can_fail_lists_its_codes(self):
        can_fail = {name for name, (result, _) in bfs.SIGNATURES.items() if result in (ctypes.c_int32, ctypes.c_int64)}
        self.assertEqual({name for name in can_fail if not bfs.LISTED[name]}, {"bfs_bare_contains", "bfs_bare_contains_digest"})
        for name, codes in bfs.LISTED.items():
            self.assertLessEqual(codes, set(self.codes.values()), name)

    def test_every_code_but_those_of_every_function_is_in_one_group(self):
        groups = header_codes.groups(HEADER)
        self.assertEqual(set(groups), {"system", "handle", "shape", "state", "malformed"})
        grouped = sorted(code for group in groups.values() for code in group)
        everywhere = {self.codes[name] for name in ("BFS_OK", "BFS_EINVAL", "BFS_EINTERNAL")}
        self.assertEqual(grouped, sorted(set(self.codes.values()) - everywhere))
        self.assertEqual(groups["state"], {code for code in self.codes.values() if -200 < code <= -100})
        self.assertEqual(groups["malformed"], {code for code in self.codes.values() if code <= -200})

    def test_the_c_plus_plus_table_has_the_same_codes_names_and_texts(self):
        lines = subprocess.run([DUMP], check=True, capture_output=True, text=True, env=PLAIN).stdout.splitlines()
        rows = [line.split("\t") for line in lines]
        self.assertEqual({name for _, name, _ in rows if name not in self.codes}, {*bfs.RULES, "BFS_ELAYOUT", "BFS_EHASH"})
        self.assertEqual(set(self.codes) - {name for _, name, _ in rows}, {"BFS_EMALFORMED"})
        for number, name, text in rows:
            if name in self.codes:
                self.assertEqual(text, LIBRARY.bfs_strerror(self.codes[name]).decode("ascii"), name)
            if int(number) > -200:
                self.assertEqual(int(number), self.codes[name])

    def test_the_c_plus_plus_enum_has_a_member_for_every_code_and_every_rule(self):
        with open(ERROR_HPP, encoding="utf-8") as file:
            members = list(map(int, re.findall(r"\bk\w+\s*=\s*(-?\d+),", file.read())))
        self.assertEqual(sorted(one for one in members if one > -200),
                         sorted(code for code in self.codes.values() if code > -200))
        self.assertEqual(sorted(one for one in members if one <= -200), list(range(-219, -199)))
        self.assertTrue(set(bfs.RULES.values()) <= {-200 - one for one in members})


if __name__ == "__main__":
    unittest.main(verbosity=2)

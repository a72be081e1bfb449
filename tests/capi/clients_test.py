"""The C99 and the C++ client of the C ABI: both pass, and both really call every function of every header.

Arguments: capi/bfstore.h, then pairs of a client's program and its source.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_header

HEADER, CLIENTS = sys.argv[1], list(zip(sys.argv[2::2], sys.argv[3::2]))
del sys.argv[1:]


class Clients(unittest.TestCase):
    def test_both_clients_pass(self):
        for program, _ in CLIENTS:
            with self.subTest(program), tempfile.TemporaryDirectory(prefix="bfstore-client-") as folder:
                done = subprocess.run([program, folder], capture_output=True, text=True, timeout=600)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                checks = int(re.search(r"client: (\d+) checks passed", done.stdout).group(1))
                self.assertGreater(checks, 80)

    def test_both_clients_call_every_function_of_the_header(self):
        declared = set(bfstore_header.functions(HEADER))
        self.assertGreaterEqual(len(declared), 28)
        for _, source in CLIENTS:
            with self.subTest(source), open(source, encoding="utf-8") as file:
                called = set(re.findall(r"\b(bfs_\w+)\s*\(", bfstore_header.without_comments(file.read())))
                self.assertEqual(declared - called, set(), "never called")

    def test_the_clients_take_the_functions_from_the_shared_library(self):
        declared = set(bfstore_header.functions(HEADER))
        for program, _ in CLIENTS:
            with self.subTest(program):
                symbols = subprocess.check_output(["nm", "-D", "--undefined-only", program], text=True)
                self.assertEqual(declared - set(re.findall(r"\bbfs_\w+", symbols)), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)

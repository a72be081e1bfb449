"""Each header of the C ABI compiles alone and without a warning, as C99, C11 and every C++ since C++11, by gcc and by clang;
and the headers stay small enough to be read.

Arguments: capi/bfstore.h.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_header

HEADER = sys.argv.pop(1)
WARNINGS = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wconversion"]
C = ["-x", "c", "-Wstrict-prototypes", "-Wc++-compat"]
CPP = ["-x", "c++", "-Wold-style-cast"]


def found(*names):
    return next((name for name in names if shutil.which(name)), None)


class Header(unittest.TestCase):
    def check(self, compiler, language, standard):
        for header in bfstore_header.installed(HEADER):
            self.check_header(header, compiler, language, standard)

    def check_header(self, header, compiler, language, standard):
        include = f'#include "{os.path.basename(header)}"\n'
        with tempfile.TemporaryDirectory(prefix="bfstore-header-") as folder:
            source = os.path.join(folder, "twice")
            with open(source, "w", encoding="utf-8") as file:
                file.write(include + include + "int main(void) { return BFS_OK; }\n")
            command = [compiler, *language, f"-std={standard}", *WARNINGS, "-I" + os.path.dirname(HEADER)]
            command += ["-fsyntax-only", source]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), " ".join(command))

    def test_gcc(self):
        gcc, gpp = found("gcc", "cc"), found("g++", "c++")
        if not gcc or not gpp:
            self.skipTest("gcc or g++: not on this machine. Debian's packages: gcc g++")
        self.try_all(gcc, gpp)

    def test_clang(self):
        clang, clangpp = found("clang-14", "clang"), found("clang++-14", "clang++")
        if not clang or not clangpp:
            self.skipTest("clang: not on this machine. Debian's package: clang-14")
        self.try_all(clang, clangpp)

    def try_all(self, c, cpp):
        for standard in ("c99", "c11", "gnu17"):
            with self.subTest(compiler=c, standard=standard):
                self.check(c, C, standard)
        for standard in ("c++11", "c++17", "c++20"):
            with self.subTest(compiler=cpp, standard=standard):
                self.check(cpp, CPP, standard)

    def test_it_includes_nothing_but_the_standard_integers_and_sizes(self):
        includes = {os.path.basename(header): re.findall(r"^#include (.*)$", self.text(header), re.M)
                    for header in bfstore_header.installed(HEADER)}
        self.assertEqual(includes, {
            "bfstore_codes.h": ["<stddef.h>", "<stdint.h>"], "bfstore.h": ["<bfstore_codes.h>"],
            "bfstore_engine.h": ["<bfstore.h>"], "bfstore_sets.h": ["<bfstore_engine.h>"],
            "bfstore_memory.h": ["<bfstore_sets.h>"], "bfstore_interop.h": ["<bfstore_sets.h>"]})

    def test_the_headers_are_small_enough_to_be_read(self):
        self.assertLessEqual(len(self.text(HEADER).splitlines()), 200, "bfstore.h is what a program needs, on two sheets")
        interop = [one for one in bfstore_header.installed(HEADER) if one.endswith("_interop.h")]
        text = bfstore_header.without_comments("".join(map(self.text, interop)))
        functions = [name for name in bfstore_header.functions(HEADER) if not re.search(rf"\b{name}\(", text)]
        self.assertLessEqual(len(functions), 53, functions)
        self.assertGreater(len(functions), 40)
        for header in bfstore_header.installed(HEADER):
            self.assertLessEqual(max(map(len, self.text(header).splitlines())), 120, header)

    def test_each_flag_has_one_bit_and_one_name(self):
        flags = bfstore_header.flags(HEADER)
        self.assertGreater(len(flags), 20)
        self.assertEqual({name: number.bit_count() for name, number in flags.items()}, dict.fromkeys(flags, 1))
        self.assertEqual(len(set(flags.values())), len(flags))

    def test_every_declaration_is_marked_for_export(self):
        for header in bfstore_header.installed(HEADER):
            text = bfstore_header.without_comments(self.text(header))
            declared = re.findall(r"^(?!static)(?=\S).*?\b(bfs_\w+)\s*\([^;{]*;", text, re.M)
            self.assertEqual(declared, [name for name in bfstore_header.functions(HEADER) if re.search(rf"\b{name}\(", text)])

    def text(self, header):
        with open(header, encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main(verbosity=2)

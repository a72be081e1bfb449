"""C programs of musl use the library that zig compiled for musl. tools/cross --tests runs this: CI has no zig.

Arguments: the repository's root, the build directory, zig's C compiler for musl.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, CAPI, ZIG_CC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "capi", sys.argv[3]
VERSION = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text("utf-8"), re.MULTILINE)[1]
del sys.argv[1:]


class MuslClients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-musl-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_good(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def client(self, *compiler_and_library):
        """Builds the client that calls every function of the header and makes some of the calls fail. Returns its path."""
        compiler, *library = compiler_and_library
        self.run_good(compiler, "-std=c99", "-D_GNU_SOURCE", f'-DEXPECTED_VERSION="{VERSION}"', f"-I{ROOT / 'capi'}",
                      ROOT / "tests" / "capi" / "client_c99.c", *library, "-lm", "-pthread", "-o", self.folder / "client")
        return self.folder / "client"

    def check_client(self, client):
        (self.folder / "files").mkdir()
        checks = re.search(r"client: (\d+) checks passed", self.run_good(client, self.folder / "files"))
        self.assertGreater(int(checks[1]), 80)

    def test_a_program_of_musl_gcc_uses_the_shared_library(self):
        client = self.client("musl-gcc", CAPI / f"libbfstore.so.{VERSION}", f"-Wl,-rpath,{CAPI}")
        self.assertIn("ld-musl-", self.run_good("readelf", "-lW", client))
        self.check_client(client)

    def test_the_shared_library_needs_musl_alone(self):
        dynamic = self.run_good("readelf", "-dW", CAPI / f"libbfstore.so.{VERSION}")
        self.assertEqual(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic), ["libc.so"])

    def test_a_static_program_needs_no_library(self):
        client = self.client(ZIG_CC, CAPI / "libbfstore.a", "-lc++")
        self.assertNotIn("NEEDED", self.run_good("readelf", "-dW", client))
        self.check_client(client)


if __name__ == "__main__":
    unittest.main(verbosity=2)

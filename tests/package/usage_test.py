"""tools/package: its arguments, Python's rows, and its words about rows that it leaves out.

Arguments: the repository's root, libbfstore.a in its build directory.
"""

import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import unittest
import zipfile

PACKAGE = os.path.join(sys.argv[1], "tools", "package")
BUILD = pathlib.Path(sys.argv[2]).resolve().parents[1]
del sys.argv[1:]
HEADERS = pathlib.Path(sysconfig.get_path("include"), "Python.h")
NOTICE = "/xxhash-license.txt"


def run(*arguments, **more):
    done = subprocess.run([PACKAGE, *arguments], capture_output=True, text=True, timeout=600, check=False, **more)
    return done.returncode, done.stdout, done.stderr


class Usage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-package-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path_without(self, *names):
        """Returns a PATH with the programs of /usr/bin and /bin, except these."""
        kept = os.path.join(self.folder, "bin")
        os.mkdir(kept)
        for folder in ("/bin", "/usr/bin"):
            for name in os.listdir(folder):
                if name not in names and not os.path.lexists(os.path.join(kept, name)):
                    os.symlink(os.path.join(folder, name), os.path.join(kept, name))
        return {**os.environ, "PATH": kept}

    def test_help_names_every_option_and_row(self):
        code, out, _ = run("--help")
        self.assertEqual(code, 0)
        for word in ("--to", "--in", "debian", "wheel", "sdist", "crates", "go", "jar", "npm", "manylinux", "musllinux", "maven", "--everywhere", "--processor"):
            self.assertIn(word, out)

    def test_wrong_arguments_are_refused_by_name(self):
        for arguments, word in ((["rpm"], "'rpm'"), (["--fast"], "--fast"), (["--to"], "--to needs a value"),
                                (["--in", self.folder, "wheel"], "libbfstore.a")):
            code, _, error = run(*arguments, cwd=self.folder)
            self.assertNotEqual(code, 0, arguments)
            self.assertIn(word, error)

    @unittest.skipUnless(HEADERS.is_file(), "the headers of Python are not installed. Debian's package: python3-dev")
    def test_it_makes_the_rows_that_were_named_and_lists_the_files(self):
        code, out, error = run("--in", str(BUILD), "--to", self.folder + "/new/folder", "wheel", "sdist")
        self.assertEqual(code, 0, error)
        files = sorted(os.listdir(self.folder + "/new/folder"))
        self.assertEqual([name.rsplit(".", 1)[1] for name in files], ["whl", "gz"])
        self.assertEqual([line.split()[0] for line in out.splitlines()], files)
        self.assertEqual(error, f"making wheel ...\nmaking sdist ...\nin {os.path.realpath(self.folder)}/new/folder:\n")
        notice = [name for name in self.names_in(pathlib.Path(self.folder, "new", "folder", files[0])) if name.endswith(NOTICE)]
        self.assertEqual(len(notice), 1, "what is compiled from xxHash's header goes with its license")

    def test_the_packages_of_other_languages_have_their_sources_and_libraries(self):
        code, out, error = run("--in", str(BUILD), "--to", self.folder, "crates", "go", "jar", "npm")
        left_out = re.findall("^left out: .*", out, re.MULTILINE)
        if left_out:  # a program is not on this machine, or was not fetched
            self.skipTest("; ".join(left_out))
        self.assertEqual(code, 0, out + error)
        files = {re.sub(r"-[0-9]+\.[0-9]+\.[0-9]+", "", path.name): path for path in pathlib.Path(self.folder).iterdir()}
        self.assertEqual(sorted(files), ["bfstore-go.zip", "bfstore-javadoc.jar", "bfstore-sources.jar", "bfstore-sys.crate", "bfstore.crate",
                                         "bfstore.jar", "bfstore.pom", "bfstore.tgz"])
        names = {kind: self.names_in(path) for kind, path in files.items() if kind != "bfstore.pom"}
        for kind, part in (("bfstore-go.zip", "bfstore/reader/reader.go"), ("bfstore-sys.crate", "/vendor/capi/bfstore.h"),
                           ("bfstore.crate", "/src/lib.rs"), ("bfstore.jar", "/libbfstore.so"), ("bfstore.jar", "Filter.class"),
                           ("bfstore-sources.jar", "dev/bfstore/Filter.java"), ("bfstore-javadoc.jar", "dev/bfstore/Filter.html"),
                           ("bfstore.tgz", "/libbfstore.so"), ("bfstore.tgz", "types/index.d.ts"), ("bfstore.jar", NOTICE),
                           ("bfstore.tgz", NOTICE)):
            self.assertTrue([name for name in names[kind] if re.sub("@v[0-9.]+", "", name).endswith(part)], (kind, part))

        pom = files["bfstore.pom"].read_text("utf-8")
        self.assertIn("<artifactId>jna</artifactId>", pom)
        self.assertNotRegex(pom, "<optional>|<scope>", "Java 17 needs JNA, which Maven then brings")
        # Go refuses a module with any other name in it.
        self.assertEqual([name for name in names["bfstore-go.zip"] if not re.match(r"bfstore\.example/bfstore@v[0-9.]+/.*[^/]$", name)], [])

    def names_in(self, path):
        if path.suffix in (".zip", ".jar", ".whl"):
            with zipfile.ZipFile(path) as packed:
                return packed.namelist()
        with tarfile.open(path) as packed:
            return packed.getnames()

    @unittest.skipUnless(HEADERS.is_file(), "the headers of Python are not installed. Debian's package: python3-dev")
    def test_a_row_that_cannot_be_made_here_is_left_out_with_its_reason(self):
        env = self.path_without("dpkg-query", "cargo", "javac", "npm")
        code, out, _ = run("--in", str(BUILD), "--to", self.folder + "/all", env=env)
        self.assertEqual(code, 0)
        self.assertIn("left out: debian: missing: this is not Debian", out)
        for row, program in (("crates", "cargo"), ("jar", "javac"), ("npm", "npm")):
            self.assertRegex(out, rf"left out: {row}: missing: (\S+ )*{program}\b")  # node may be missing, too
        self.assertEqual(len(os.listdir(self.folder + "/all")), 3)
        code, out, _ = run("--in", str(BUILD), "--to", self.folder + "/one", "debian", env=env)
        self.assertEqual((code, out), (1, "left out: debian: missing: this is not Debian\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

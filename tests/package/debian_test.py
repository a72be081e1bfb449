"""The Debian packages are made of this build, judged by lintian, unpacked by dpkg into an empty root, used there, and removed.

Arguments: the repository's root, the build directory, the C compiler.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CC = sys.argv[1:4]
del sys.argv[1:]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import bfstore_header  # found only now
from programs import missing

NAMES = ("libbfstore0", "libbfstore-dev", "bfstore-tools", "python3-bfstore")
TOOLS = ("dpkg-buildpackage", "dh", "dh_python3", "lintian", "man", "pkg-config")
# A test's build lacks a distribution's flags, which tools/package without --in has. And a compiler that stores a text piece
# by piece leaves words in the program that lack letters.
OF_THE_BUILD = "hardening-no-bindnow,hardening-no-fortify-functions,spelling-error-in-binary"


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def version():
    with open(os.path.join(SOURCE, "meson.build"), encoding="utf-8") as file:
        return re.search(r"^  version: '([^']+)'", file.read(), re.M)[1]


@unittest.skipIf(missing(*TOOLS), missing(*TOOLS))
class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-debian-")
        cls.addClassCleanup(folder.cleanup)
        cls.work = folder.name
        cls.packages = os.path.join(cls.work, "packages")
        run(os.path.join(SOURCE, "tools", "package"), "--in", BUILD, "--to", cls.packages, "debian")
        cls.root = os.path.join(cls.work, "root")
        os.makedirs(os.path.join(cls.root, "var", "lib", "dpkg", "updates"))
        for name in ("status", "available"):
            with open(os.path.join(cls.root, "var", "lib", "dpkg", name), "w", encoding="utf-8"):
                pass
        # Unpacked and not configured: the maintainer's scripts need a whole system.
        cls.dpkg("--unpack", *map(cls.package, NAMES))
        cls.libraries, = glob.glob(cls.root + "/usr/lib/*-linux-gnu*")

    @classmethod
    def dpkg(cls, *arguments):
        return run("dpkg", "--root=" + cls.root, "--force-not-root", "--force-depends", "--log=" + cls.work + "/dpkg.log", *arguments)

    @classmethod
    def package(cls, name):
        path, = glob.glob(os.path.join(cls.packages, name + "_*.deb"))
        return path

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.package(package), name).strip()

    def test_there_are_four_packages_of_the_version_of_meson_build(self):
        self.assertEqual({os.path.basename(path).split("_")[0] for path in glob.glob(self.packages + "/*.deb")}, set(NAMES))
        for name in NAMES:
            self.assertEqual(self.field(name, "Version"), version())
        self.assertEqual(self.field("libbfstore-dev", "Depends"), f"libbfstore0 (= {version()})")
        self.assertIn("python3 (>= 3.11)", self.field("python3-bfstore", "Depends"))

    def test_lintian_says_nothing(self):
        changes, = glob.glob(self.packages + "/*.changes")
        done = subprocess.run(["lintian", "--allow-root", "--display-info", "--show-overrides", "--suppress-tags", OF_THE_BUILD, changes],
                              capture_output=True, text=True, timeout=600, check=False)
        told = [line for line in done.stdout.splitlines() if re.match("[A-Z]: ", line)]
        self.assertEqual((told, done.returncode), ([], 0), done.stderr)

    def test_a_program_that_is_linked_with_it_depends_on_this_minor_release(self):
        symbols = run("dpkg-deb", "-I", self.package("libbfstore0"), "symbols")
        self.assertEqual(set(re.findall(r"^ (bfs_\w+)@", symbols, re.M)),
                         set(bfstore_header.functions(os.path.join(SOURCE, "capi", "bfstore.h"))))
        major, minor, _ = map(int, version().split("."))
        if major == 0:
            self.assertIn(f"#MINVER#, libbfstore0 (<< 0.{minor + 1}~)", symbols)

    def test_a_c_program_is_compiled_and_runs(self):
        env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": self.root, "PKG_CONFIG_LIBDIR": self.libraries + "/pkgconfig",
               "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "bfstore", env=env))
        program = os.path.join(self.work, "quickstart")
        run(CC, os.path.join(SOURCE, "capi", "examples", "quickstart.c"), *flags, "-o", program)
        self.assertIn("libbfstore.so.0", run("readelf", "-dW", program))
        out = run(program, program + ".bf", env={**os.environ, "LD_LIBRARY_PATH": self.libraries})
        self.assertEqual(out.splitlines()[:2], ["ada: maybe present", "donald: certainly absent"])

    def test_the_commands_and_their_pages_are_there(self):
        bf, path = self.root + "/usr/bin/bf", os.path.join(self.work, "users.bf")
        run(bf, "create", path, "--capacity", "10", "-q", "--any-filesystem")
        run(bf, "add", path, "alice", "-q", "--any-filesystem")
        self.assertEqual(run(bf, "contains", path, "alice", "bob", "--any-filesystem"), "maybe\talice\nabsent\tbob\n")
        self.assertIn("clean", run(self.root + "/usr/bin/bfinspect", path))
        for section, page in ((1, "bf"), (1, "bfinspect"), (3, "bfstore"), (5, "bfstore-format")):
            shown = run("man", "-M", self.root + "/usr/share/man", str(section), page, env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertIn(f"{page.upper()}({section})", shown)

    def test_each_shell_finds_the_completions_where_debian_has_them(self):
        for name in ("bash-completion/completions/bf", "fish/vendor_completions.d/bf.fish", "zsh/vendor-completions/_bf"):
            self.assertTrue(os.path.isfile(self.root + "/usr/share/" + name), name)

    def test_python_imports_the_module(self):
        program = ("import bfstore, importlib.metadata, sys\n"
                   "with bfstore.create(sys.argv[1], capacity=10) as f: f.add('x'); print('x' in f, 'y' in f, bfstore.__file__)\n"
                   "print(importlib.metadata.version('bfstore'))")
        folder = self.root + "/usr/lib/python3/dist-packages"
        out = run("/usr/bin/python3", "-B", "-c", program, os.path.join(self.work, "python.bf"),
                  env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual(out, f"True False {folder}/bfstore/__init__.py\n{version()}\n")

    def test_removed_packages_leave_nothing(self):
        root = os.path.join(self.work, "removed")
        shutil.copytree(self.root, root, symlinks=True)
        run("dpkg", "--root=" + root, "--force-not-root", "--force-depends", "--log=" + self.work + "/dpkg.log", "--purge", *NAMES)
        left = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
                if "/var/lib/dpkg/" not in os.path.join(folder, name)]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""`meson install` into an empty directory, and then what a user does: cc x.c $(pkg-config --cflags --libs bfstore).

Arguments: the build directory, the repository's root, the C compiler, the C++ compiler.
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

BUILD, SOURCE, CC, CXX = sys.argv[1:5]
del sys.argv[1:]
EXAMPLE = os.path.join(SOURCE, "capi", "examples", "quickstart.c")
CPP_PROGRAM = """
#include <bfstore/bfstore.hpp>
#include <cstdio>
int main(int, char** argv) {
  bfstore::Options options;
  options.capacity = 1000;
  auto made = bfstore::Filter::create(argv[1], options);
  if (!made) {
    std::fprintf(stderr, "%s\\n", made.error().message.c_str());
    return 1;
  }
  bfstore::Filter filter = std::move(made).value();
  if (!filter.add("in C++").ok() || !filter.contains("in C++") || filter.contains("not")) return 2;
  if (!filter.close().ok() || !bfstore::Filter::open(argv[1], bfstore::OpenMode::kRead)) return 3;
  std::printf("bfstore %s\\n", bfstore::version());
}
"""


CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(bfstore 0.1 REQUIRED)
add_executable(in_c EXAMPLE)
target_link_libraries(in_c bfstore::bfstore)
add_executable(in_cpp program.cpp)
target_link_libraries(in_cpp bfstore::cpp)
"""


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.work, cls.root = folder.name, os.path.join(folder.name, "root")
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.root)
        cls.pc, = glob.glob(cls.root + "/**/bfstore.pc", recursive=True)
        cls.libraries = os.path.dirname(os.path.dirname(cls.pc))

    def pkg_config(self, *arguments, name="bfstore"):
        # The system's own directories are not to be left out: they are below the root here.
        env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": self.root, "PKG_CONFIG_LIBDIR": os.path.dirname(self.pc),
               "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
        env.pop("PKG_CONFIG_PATH", None)
        return shlex.split(run("pkg-config", *arguments, name, env=env))

    def with_archive(self):
        """As pkg-config --static has it, but with the system's own libraries shared."""
        flags = self.pkg_config("--static", "--cflags", "--libs")
        return ["-l:libbfstore.a" if flag == "-lbfstore" else flag for flag in flags]

    def built(self, name, *command):
        program = os.path.join(self.work, name)
        run(*command, "-o", program)
        return program

    def needed(self, program):
        return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", program))

    def check_quickstart(self, program, **more):
        out = run(program, program + ".bf", **more)
        self.assertEqual(out.splitlines()[:2], ["ada: maybe present", "donald: certainly absent"])

    def test_everything_is_in_place(self):
        installed = {os.path.relpath(os.path.join(folder, name), self.root)
                     for folder, _, names in os.walk(self.root) for name in names}
        headers = [os.path.relpath(os.path.join(folder, name), SOURCE)
                   for folder, _, names in os.walk(os.path.join(SOURCE, "include")) for name in names]
        self.assertGreaterEqual(len(headers), 10)
        for name in ["include/bfstore.h", *headers]:
            self.assertTrue(any(path.endswith("/" + name) for path in installed), name)
        names = {os.path.basename(path) for path in installed}
        self.assertLessEqual({"libbfstore.so", "libbfstore.so.0", "libbfstore.a", "bfstore.pc"}, names)
        plain, versioned = (os.path.realpath(self.libraries + name) for name in ("/libbfstore.so", "/libbfstore.so.0"))
        self.assertEqual(plain, versioned)

    def test_a_c_program_with_the_shared_library(self):
        program = self.built("shared", CC, EXAMPLE, *self.pkg_config("--cflags", "--libs"))
        self.assertIn("libbfstore.so.0", self.needed(program))
        self.check_quickstart(program, env={**os.environ, "LD_LIBRARY_PATH": self.libraries})

    def test_a_c_program_that_is_static_altogether(self):
        program = self.built("static", CC, "-static", EXAMPLE, *self.pkg_config("--static", "--cflags", "--libs"))
        self.assertEqual(self.needed(program), [])
        self.check_quickstart(program)

    def test_a_c_program_with_the_static_library_and_the_system_s_shared_ones(self):
        program = self.built("archive", CC, EXAMPLE, *self.with_archive())
        self.assertFalse([name for name in self.needed(program) if "bfstore" in name])
        self.check_quickstart(program)

    def test_a_c_plus_plus_program_with_the_static_library(self):
        source = os.path.join(self.work, "program.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(CPP_PROGRAM)
        program = self.built("cpp", CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", source,
                             *self.pkg_config("--cflags", "--libs", name="bfstore-cpp"))
        version, = self.pkg_config("--modversion")
        self.assertEqual(run(program, program + ".bf"), f"bfstore {version}\n")

    def test_a_cmake_project_finds_both_libraries_wherever_they_were_moved(self):
        project = os.path.join(self.work, "cmake")
        moved = os.path.join(self.work, "moved")
        shutil.copytree(self.root, moved, symlinks=True)
        os.mkdir(project)
        with open(os.path.join(project, "program.cpp"), "w", encoding="utf-8") as file:
            file.write(CPP_PROGRAM)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CMAKE_PROJECT.replace("EXAMPLE", EXAMPLE))
        build = os.path.join(project, "build")
        config = os.path.relpath(os.path.join(self.libraries, "cmake", "bfstore"), self.root)
        run("cmake", "-S", project, "-B", build, "-DCMAKE_C_COMPILER=" + CC, "-DCMAKE_CXX_COMPILER=" + CXX,
            "-Dbfstore_DIR=" + os.path.join(moved, config))
        run("cmake", "--build", build)
        self.check_quickstart(os.path.join(build, "in_c"))
        program = os.path.join(build, "in_cpp")
        self.assertIn("bfstore ", run(program, program + ".bf"))
        self.assertFalse([name for name in self.needed(program) if "bfstore" in name])
        self.assertIn("libbfstore.so.0", self.needed(os.path.join(build, "in_c")))

    def test_what_is_installed_does_not_name_the_directories_of_the_build(self):
        with open(self.pc, encoding="utf-8") as file:
            text = file.read()
        for path in (BUILD, SOURCE):
            self.assertNotIn(path, text)
        self.assertNotIn("boost", text.lower(), "a header-only dependency is no matter of the user's")


if __name__ == "__main__":
    unittest.main(verbosity=2)

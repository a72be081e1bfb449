"""`meson install` into an empty directory, and then what a user does: cc x.c $(pkg-config --cflags --libs bfstore), a
CMake project, and a Meson project with bfstore installed or as a subproject. In C and in C++.

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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from programs import missing  # found only now

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
# A C++ program with the C ABI.
ABI_PROGRAM = """
#include <bfstore.h>
#include <cstdio>
int main(int, char** argv) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.capacity = 1000;
  bfs_filter* filter = nullptr;
  if (bfs_create(argv[1], 0, &options, &filter, nullptr) != BFS_OK || bfs_add(filter, "C", 1) != 1) return 1;
  if (bfs_contains(filter, "C", 1) != 1 || bfs_contains(filter, "D", 1) != 0) return 2;
  if (bfs_close(filter, nullptr) != BFS_OK) return 3;
  std::printf("bfstore %s\\n", bfs_version());
}
"""
PROGRAMS = {"program.cpp": CPP_PROGRAM, "abi.cpp": ABI_PROGRAM}

CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(bfstore 0.1 REQUIRED)
add_executable(in_c EXAMPLE)
target_link_libraries(in_c bfstore::bfstore)
add_executable(abi_in_cpp abi.cpp)
target_link_libraries(abi_in_cpp bfstore::bfstore)
add_executable(in_cpp program.cpp)
target_link_libraries(in_cpp bfstore::cpp)
"""

CMAKE_PROJECT_IN_C = """
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(bfstore 0.1 REQUIRED)
add_executable(in_c EXAMPLE)
target_link_libraries(in_c bfstore::bfstore)
"""

MESON_PROJECT = """
project('user', 'c', 'cpp', default_options: ['cpp_std=c++20', 'warning_level=2', 'werror=true'])
# A subproject of this name takes the place of a bfstore that is not installed.
bfstore = dependency('bfstore', fallback: 'bfstore', default_options: ['tools=false'])
bfstore_cpp = dependency('bfstore-cpp', fallback: 'bfstore', default_options: ['tools=false'])
executable('in_c', 'quickstart.c', dependencies: bfstore)
executable('abi_in_cpp', 'abi.cpp', dependencies: bfstore)
executable('in_cpp', 'program.cpp', dependencies: bfstore_cpp)
"""
LIBRARY_PARTS = ("capi", "include", "src", "meson.build", "meson_options.txt")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Uninstalled(unittest.TestCase):
    """The build directory's own pkg-config files once had paths of an installation that did not exist."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-uninstalled-")
        self.addCleanup(folder.cleanup)
        self.work = folder.name
        self.environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled")}
        for name in ("PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"):
            self.environment.pop(name, None)

    def flags(self, *words):
        return shlex.split(run("pkg-config", *words, env=self.environment))

    def built(self, compiler, *words):
        program = os.path.join(self.work, "program")
        run(*compiler, *words, "-o", program, cwd=self.work)
        return program

    def source(self, name):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAMS[name])
        return path

    def test_each_folder_that_pkg_config_names_is_there(self):
        for name in ("bfstore", "bfstore-cpp"):
            folders = [flag[2:] for flag in self.flags("--cflags", "--libs", name) if flag.startswith(("-I", "-L"))]
            self.assertGreaterEqual(len(folders), 2)
            self.assertEqual([folder for folder in folders if not os.path.isdir(folder)], [])

    def test_a_c_program_is_built_with_the_library_of_the_build_directory(self):
        program = self.built([CC], EXAMPLE, *self.flags("--cflags", "--libs", "bfstore"))
        loaded = run("ldd", program, env={**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "capi")})
        self.assertIn(os.path.join(BUILD, "capi", "libbfstore.so.0"), loaded)
        out = run(program, program + ".bf", env={**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "capi")})
        self.assertEqual(out.splitlines()[:2], ["ada: maybe present", "donald: certainly absent"])

    def test_a_c_program_is_built_with_the_archive(self):
        flags = ["-l:libbfstore.a" if flag == "-lbfstore" else flag for flag in self.flags("--static", "--cflags", "--libs", "bfstore")]
        program = self.built([CC], EXAMPLE, *flags)
        self.assertEqual(run(program, program + ".bf").splitlines()[0], "ada: maybe present")

    def test_c_plus_plus_programs_are_built(self):
        for name, package in (("program.cpp", "bfstore-cpp"), ("abi.cpp", "bfstore-cpp")):
            program = self.built([CXX, "-std=c++20"], self.source(name), *self.flags("--cflags", "--libs", package))
            self.assertRegex(run(program, program + ".bf"), r"^bfstore \d")
            os.unlink(program + ".bf")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.work, cls.root = folder.name, os.path.join(folder.name, "root")
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.root)
        cls.pc, = glob.glob(cls.root + "/**/bfstore.pc", recursive=True)
        cls.libraries = os.path.dirname(os.path.dirname(cls.pc))

    def environment(self):
        # pkg-config must keep the system's own directories, which are below the root here.
        env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": self.root, "PKG_CONFIG_LIBDIR": os.path.dirname(self.pc),
               "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1", "CC": CC, "CXX": CXX}
        env.pop("PKG_CONFIG_PATH", None)
        return env

    def pkg_config(self, *arguments, name="bfstore"):
        return shlex.split(run("pkg-config", *arguments, name, env=self.environment()))

    def with_archive(self):
        """Returns the flags of pkg-config --static, but with the system's own libraries shared."""
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
        of_c = ["include/" + name for name in os.listdir(os.path.join(SOURCE, "capi")) if name.endswith(".h")]
        self.assertEqual(len(of_c), 7)
        for name in [*of_c, *headers]:
            self.assertTrue(any(path.endswith("/" + name) for path in installed), name)
        names = {os.path.basename(path) for path in installed}
        self.assertLessEqual({"libbfstore.so", "libbfstore.so.0", "libbfstore.a", "bfstore.pc"}, names)
        shared = {"man/man1/bf.1", "man/man1/bfinspect.1", "man/man3/bfstore.3", "man/man5/bfstore-format.5",
                  "bash-completion/completions/bf", "bash-completion/completions/bfinspect", "zsh/site-functions/_bf",
                  "zsh/site-functions/_bfinspect", "fish/vendor_completions.d/bf.fish",
                  "fish/vendor_completions.d/bfinspect.fish"}
        found = {path.partition("/share/")[2] for path in installed if "/share/" in path}
        of_commands = {name for name in found if name.startswith("man/man1/bf-")}
        self.assertIn("man/man1/bf-contains.1", of_commands)
        self.assertEqual(found - of_commands, shared)
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
        self.check_version(program)

    def test_a_c_plus_plus_program_with_the_shared_library(self):
        source = os.path.join(self.work, "abi.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ABI_PROGRAM)
        program = self.built("abi", CXX, "-std=c++11", "-Wall", "-Wextra", "-Werror", source,
                             *self.pkg_config("--cflags", "--libs"))
        self.assertIn("libbfstore.so.0", self.needed(program))
        self.check_version(program, env={**os.environ, "LD_LIBRARY_PATH": self.libraries})

    def check_version(self, program, **more):
        version, = self.pkg_config("--modversion")
        self.assertEqual(run(program, program + ".bf", **more), f"bfstore {version}\n")

    def project(self, name, file_name, text):
        project = os.path.join(self.work, name)
        os.mkdir(project)
        for file, content in {**PROGRAMS, file_name: text}.items():
            with open(os.path.join(project, file), "w", encoding="utf-8") as out:
                out.write(content)
        shutil.copy(EXAMPLE, project)
        return project, os.path.join(project, "build")

    def cmake(self, name, text, moved):
        if missing("cmake"):
            self.skipTest(missing("cmake"))
        project, build = self.project(name, "CMakeLists.txt", text.replace("EXAMPLE", EXAMPLE))
        config = os.path.relpath(os.path.join(self.libraries, "cmake", "bfstore"), self.root)
        run("cmake", "-G", "Ninja", "-S", project, "-B", build, "-Dbfstore_DIR=" + os.path.join(moved, config), env=self.environment())
        run("cmake", "--build", build)
        return build

    def check_both_kinds(self, build, **more):
        """Checks that the C ABI is in the shared library, and the C++ API in the static one."""
        self.check_quickstart(os.path.join(build, "in_c"), **more)
        self.check_version(os.path.join(build, "abi_in_cpp"), **more)
        self.check_version(os.path.join(build, "in_cpp"))
        for name in ("in_c", "abi_in_cpp"):
            self.assertIn("libbfstore.so.0", self.needed(os.path.join(build, name)))
        self.assertFalse([name for name in self.needed(os.path.join(build, "in_cpp")) if "bfstore" in name])

    def test_a_cmake_project_finds_both_libraries_wherever_they_were_moved(self):
        moved = os.path.join(self.work, "moved")
        shutil.copytree(self.root, moved, symlinks=True)
        self.check_both_kinds(self.cmake("cmake", CMAKE_PROJECT, moved))

    def test_a_cmake_project_that_knows_no_c_plus_plus_finds_the_shared_library(self):
        build = self.cmake("cmake_c", CMAKE_PROJECT_IN_C, self.root)
        self.check_quickstart(os.path.join(build, "in_c"))

    def test_a_meson_project_finds_both_libraries(self):
        project, build = self.project("meson", "meson.build", MESON_PROJECT)
        run("meson", "setup", "--wrap-mode=nofallback", build, project, env=self.environment())
        run("ninja", "-C", build)
        self.check_both_kinds(build, env={**os.environ, "LD_LIBRARY_PATH": self.libraries})

    def test_a_meson_project_has_bfstore_as_a_subproject(self):
        # The library comes from this build, because compiling it again takes a minute. The test runs the commands that Meson
        # made for the programs.
        project, build = self.project("subproject", "meson.build", MESON_PROJECT)
        bfstore = os.path.join(project, "subprojects", "bfstore")
        os.makedirs(bfstore)
        for part in LIBRARY_PARTS:
            copy = shutil.copytree if os.path.isdir(os.path.join(SOURCE, part)) else shutil.copy
            copy(os.path.join(SOURCE, part), os.path.join(bfstore, part))
        run("meson", "setup", "--wrap-mode=forcefallback", build, project, env={**os.environ, "CC": CC, "CXX": CXX})
        archive = os.path.join("capi", "libbfstore.a")
        os.makedirs(os.path.join(build, "subprojects", "bfstore", "capi"), exist_ok=True)
        shutil.copy(os.path.join(BUILD, archive), os.path.join(build, "subprojects", "bfstore", archive))
        names = ("in_c", "abi_in_cpp", "in_cpp")
        commands = run("ninja", "-C", build, "-t", "commands", *names).splitlines()
        mine = [one for one in commands if re.search(rf" -o ({'|'.join(names)})(\.p/\S+)?( |$)", one)]
        self.assertEqual(len(mine), 2 * len(names))
        for command in mine:
            run("sh", "-c", command, cwd=build)
        self.check_quickstart(os.path.join(build, "in_c"))
        for name in names[1:]:
            self.check_version(os.path.join(build, name))
        self.assertFalse([name for program in names for name in self.needed(os.path.join(build, program))
                          if "bfstore" in name])

    def test_what_is_installed_does_not_name_the_directories_of_the_build(self):
        with open(self.pc, encoding="utf-8") as file:
            text = file.read()
        for path in (BUILD, SOURCE):
            self.assertNotIn(path, text)
        self.assertNotIn("boost", text.lower(), "a header-only dependency is no matter of the user's")


if __name__ == "__main__":
    unittest.main(verbosity=2)

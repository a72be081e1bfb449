"""Installs each binding as its README says, in an empty folder, from a clone, without this project's variables, and runs the README's
example there. The commands are those of the READMEs: the blocks of the section Install, with the path of the clone in BFSTORE.
The clone stays clean.

Arguments: those of languages.tree_of() without the language. The clone's build directory is then the one that is tested, and no network
is used. Or: --network and the root of the repository. Then the clone builds the library itself, packages come from the network, and
the rest is done, too: Maven, and the commands that run the tests of each language.
"""

import json
import os
import pathlib
import platform
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import languages
import programs
import rust
from languages import Missing

NETWORK = sys.argv[1] == "--network"
TREE = None if NETWORK else languages.tree_of("install", *sys.argv[1:6])
ROOT = pathlib.Path(sys.argv[2] if NETWORK else sys.argv[1]).resolve()
del sys.argv[1:]
BINDINGS = ROOT / "capi" / "bindings"
PARTS = ("capi", "include", "src", "LICENSE", "meson.build", "meson_options.txt")  # of the clone
OTHER_PARTS = ("tests", "tools", "bench")
CLONE = "$BFSTORE"  # in the READMEs
LEFT_OUT = "left to tools/campaign"
PLACE = tempfile.TemporaryDirectory(prefix="bfstore-install-")
CLONED = pathlib.Path(PLACE.name).resolve() / "clone"
FENCES = {"python": "python", "rust": "rust,no_run", "java": "java", "go": "go", "node": "js"}
# Variables of users and of this project that change what the commands do.
SETTINGS = re.compile("BFSTORE|CGO|GO|CARGO|RUST|npm|PIP_(?!CERT)|PYTHON|JAVA|MAVEN|PKG_CONFIG|VIRTUAL_ENV|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS")
# The files that have a language's names, and names in the READMEs that are those of the language.
SOURCES = {"python": (("py", "pyi", "c"), "."), "rust": (("rs", "toml"), "."), "java": (("java",), "."), "go": (("go",), "."),
           "node": (("js",), "lib")}
OTHERS_NAMES = {"help", "mjs", "MAVEN_OPTS", "no_std", "PATH", "OpenJDK", "require", "terminate", "TypeScript", "BFSTORE", "dev",
                "tidy", "DataCloneError", "npmrc", "vendor", "repositories", "mavenLocal", "dependencies", "implementation"}  # the last four: Gradle's


def readme(language):
    return (BINDINGS / language / "README.md").read_text("utf-8")


def block(language, fence):
    """Returns the first block of this language in the README."""
    return re.search(rf"^```{fence}\n(.*?)^```", readme(language), re.MULTILINE | re.DOTALL)[1]


def commands(language):
    """Returns the lines that install, a list of those that run the example in a special way, and the lines that run the tests."""
    section = readme(language).partition("\n## Install\n")[2]
    install, *runs, tests = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return install, runs, tests


def copy(parts, to):
    """Copies parts of the repository."""
    to.mkdir()
    for name in parts:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to)


def state():
    """Returns {(path, size, time)} of the clone's files, without those that .gitignore names."""
    files = [path for part in CLONED.iterdir() if not part.name.startswith("build-") for path in [part, *part.rglob("*")]]
    return {(str(path), path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in files if path.is_file() and "__pycache__" not in path.parts}


def setUpModule():
    """Makes the clone, as it is after README's first command: tools/demo also builds the library."""
    unittest.addModuleCleanup(PLACE.cleanup)
    copy(PARTS + (OTHER_PARTS if NETWORK else ()), CLONED)
    if NETWORK:
        subprocess.run(["bash", "-c", "source tools/setup.sh && build_library"], cwd=CLONED, check=True)
    else:
        (CLONED / "build-release").symlink_to(TREE.archive.parents[1])


class Stranger(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-stranger-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name).resolve()
        self.folder = self.home / "empty"
        self.folder.mkdir()

    def environment(self, *tools, **more):
        """The library is not to be compiled anew: the first meson fails."""
        self.write("../first/meson", "#!/bin/sh\necho the library is compiled >&2\nexit 1\n")
        (self.home / "first" / "meson").chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not SETTINGS.match(name)}
        return {**kept, "HOME": str(self.home), "PATH": f"{self.home / 'first'}:{programs.path(*tools)}", **more}

    def found(self, *names):
        try:
            return [programs.find(*name) for name in names]
        except Missing as missing:
            self.skipTest(str(missing))

    def run_lines(self, lines, environment):
        """Runs lines of a shell, and returns what they print."""
        done = subprocess.run(["sh", "-ec", lines], cwd=self.folder, env={**environment, "BFSTORE": str(CLONED)}, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, f"{lines}\n{done.stdout}{done.stderr}")
        return done.stdout

    def need_headers(self):
        if not pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file():
            self.skipTest("the headers of Python are not installed. Debian's package: python3-dev")

    def fetched(self, name, fetcher):
        try:
            return TREE.fetched(name, fetcher)
        except Missing as missing:
            self.skipTest(str(missing))

    def install(self, language, environment):
        self.leaves_the_clone_clean(commands(language)[0], environment)

    def leaves_the_clone_clean(self, lines, environment):
        before = state()
        self.run_lines(lines, environment)
        self.assertEqual(state() ^ before, set(), "files of the clone have changed")

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")


class Install(Stranger):
    def test_python_is_installed_by_readme_s_commands(self):
        self.need_headers()
        environment = self.environment(sys.executable, PIP_NO_INDEX="1")
        self.install("python", environment)
        self.write("one.py", block("python", FENCES["python"]))
        self.assertEqual(self.run_lines("venv/bin/python one.py", environment), "True False\n[1, 0]\n")

    def test_rust_is_installed_by_readme_s_commands(self):
        try:
            tools = rust.toolchain()
        except Missing as missing:
            self.skipTest(str(missing))
        environment = self.environment(*tools.values(), CARGO_HOME=str(self.home / "cargo"), CARGO_NET_OFFLINE="true")
        self.run_lines("cargo init -q --vcs none --name program", environment)
        self.install("rust", environment)
        self.write("src/main.rs", block("rust", FENCES["rust"]))
        self.assertEqual(self.run_lines("cargo run -q", environment), "true false\n[true, false]\n")
        static, = commands("rust")[1]
        self.run_lines(static, environment)
        program = f"target/{platform.machine()}-unknown-linux-gnu/debug/program"
        self.assertNotIn("(NEEDED)", self.run_lines(f"readelf -dW {program}", environment))
        self.assertEqual(self.run_lines(f"./{program}", environment), "true false\n[true, false]\n")

    def test_go_is_installed_by_readme_s_commands(self):
        go = self.found(("go", "1.19"))[0]
        more = {"GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"}
        if not NETWORK:
            modules = self.fetched("go-modules", "fetch_go_packages")
            more.update(GOPROXY="off", GOSUMDB="off", GOMODCACHE=str(modules), GOCACHE=str(TREE.out.parent / "go" / "cache"))
        environment = self.environment(go, **more)
        self.install("go", environment)
        one, plain = re.findall("^```go\n(.*?)^```", readme("go"), re.MULTILINE | re.DOTALL)
        self.write("main.go", one)
        self.assertEqual(self.run_lines("go run .", environment), "true false [true false]\n")
        self.write("main.go", plain)  # the reader's modules have their sums
        self.assertEqual(self.run_lines("go run .", environment), "true <nil>\nfalse <nil>\n")
        vendored, static = commands("go")[1]
        self.write("main.go", one)
        self.run_lines(static, environment)
        self.assertNotIn("(NEEDED)", self.run_lines("readelf -dW program", environment))
        self.assertEqual(self.run_lines("./program", environment), "true false [true false]\n")
        (self.folder / "program").unlink()
        self.run_lines(vendored, environment)
        self.assertEqual(self.run_lines("./program", environment), "true false [true false]\n")

    def test_node_is_installed_by_readme_s_commands(self):
        tools = self.found(("node", "18"), ("npm",))
        more = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false"}
        if not NETWORK:
            more["npm_config_offline"] = "true"
        environment = self.environment(*tools, **more)
        if not NETWORK:  # npm finds koffi installed
            modules = self.fetched("node", "fetch_node_packages") / "node_modules"
            native = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
            folders = f"'{modules}/koffi' '{modules}/@koromix/koffi-linux-{native}'"
            self.run_lines(f"npm pack --silent --ignore-scripts {folders} && npm install --silent --ignore-scripts ./*.tgz", environment)
        self.install("node", environment)
        self.write("one.mjs", block("node", FENCES["node"]))
        self.assertEqual(self.run_lines("node one.mjs", environment), "true false\nUint8Array(2) [ 1, 0 ]\n")
        package = self.folder / "node_modules" / "bfstore"
        self.assertTrue((package / json.loads((package / "package.json").read_text("utf-8"))["types"]).is_file())
        self.write("other/package.json", '{"name": "other", "version": "1.0.0"}')
        for later in ("npm install", "npm install ./other"):  # npm would put a link in the place of the copy
            self.run_lines(f"{later} --ignore-scripts", environment)
            self.assertFalse(package.is_symlink(), later)
            self.assertEqual(self.run_lines("node one.mjs", environment), "true false\nUint8Array(2) [ 1, 0 ]\n")

    def test_node_says_what_to_do_where_no_library_is(self):
        tools = self.found(("node", "18"))
        if NETWORK:
            self.skipTest("done by the tests without a network")
        modules = self.fetched("node", "fetch_node_packages") / "node_modules"
        shutil.copytree(BINDINGS / "node", self.folder / "bfstore", ignore=shutil.ignore_patterns("node_modules"))
        (self.folder / "bfstore" / "node_modules").symlink_to(modules)
        nothing = self.folder / "nothing"
        nothing.mkdir()
        (nothing / "libbfstore.so.0").touch()  # no library, and found before one that is installed, perhaps for a moment by another test

        def said(package):
            return subprocess.run([*tools, f"{package}/lib/index.js"], cwd=self.folder, env=self.environment(*tools, LD_LIBRARY_PATH=str(nothing)),
                                  check=False, capture_output=True, text=True).stderr

        words = "cannot be loaded: install bfstore (ninja -C build install && ldconfig), or run ./tools/demo in the clone"
        self.assertIn(f"{words} from which npm has installed this package\n", said("bfstore"))
        self.write("app/node_modules/.package-lock.json",  # as npm notes it
                   json.dumps({"packages": {"node_modules/bfstore": {"resolved": "file:../clone/capi/bindings/node"}}}))
        (self.folder / "bfstore").rename(self.folder / "app" / "node_modules" / "bfstore")
        self.assertIn(f"{words}, which makes {self.folder.resolve()}/clone/build-release/capi/libbfstore.so.0\n", said("app/node_modules/bfstore"))

    def test_java_is_installed_by_readme_s_commands(self):
        if not NETWORK:
            self.skipTest(LEFT_OUT)
        tools = self.found(("javac", "17"), ("java", "17"), ("mvn",))
        environment = self.environment(*tools, MAVEN_OPTS=f"-Duser.home={self.home}")
        self.install("java", environment)
        self.write("pom.xml", block("java", "xml"))
        self.write("src/main/java/Example.java", block("java", FENCES["java"]))
        with_maven, without_maven = commands("java")[1]
        for lines in (with_maven, without_maven):
            said = self.run_lines(lines, environment)
            self.assertEqual(re.sub(r"\x1b\[\d*m", "", said), "true false\n[true, false]\n")
            (self.folder / "users.bf").unlink()

    def test_the_second_command_runs_the_tests_of_each_language(self):
        if not NETWORK:
            self.skipTest(LEFT_OUT)
        for language in languages.LANGUAGES:
            with self.subTest(language):
                path = os.environ.get("BFSTORE_USER_PATH", os.environ["PATH"])
                self.leaves_the_clone_clean(commands(language)[-1], self.environment(PATH=path))


class PythonFindsTheLibrary(Stranger):
    """The build backend, without pip, in a clone without a build directory."""

    def setUp(self):
        super().setUp()
        if NETWORK:
            self.skipTest("done by the tests without a network")
        copy(("capi", "LICENSE", "meson.build"), self.home / "clone")
        self.package = self.home / "clone" / "capi" / "bindings" / "python"

    def command(self):
        return [sys.executable, "-B", "-c", "import backend, sys; backend.build_wheel(sys.argv[1])", str(self.folder)]

    def build(self, environment):
        return subprocess.run(self.command(), cwd=self.package, env=environment, check=False, capture_output=True, text=True)

    def test_it_takes_an_installed_library_of_the_same_version_alone(self):
        self.need_headers()
        installed = self.home / "installed" / "lib"
        (installed / "pkgconfig").mkdir(parents=True)
        (installed / "libbfstore.a").symlink_to(TREE.archive)
        facts = (TREE.archive.parents[1] / "meson-private" / "bfstore.pc").read_text("utf-8")
        facts = re.sub("^libdir=.*", f"libdir={installed}", facts, flags=re.MULTILINE)
        older = re.sub("^Version: .*", "Version: 0.0.9", facts, flags=re.MULTILINE)
        for words, taken in ((older, False), (facts, True)):
            (installed / "pkgconfig" / "bfstore.pc").write_text(words, "utf-8")
            done = self.build(self.environment(PKG_CONFIG_LIBDIR=str(installed / "pkgconfig")))
            self.assertEqual(f"bfstore: links {installed}/libbfstore.a" in done.stderr, taken, done.stderr)
            self.assertEqual(done.returncode == 0, taken, done.stderr)
        self.assertEqual(len(list(self.folder.glob("*.whl"))), 1)

    def test_it_says_that_it_compiles_also_at_the_terminal_of_pip_s_user(self):
        environment = self.environment(PKG_CONFIG_LIBDIR=str(self.home))
        words = "is neither built in a clone nor installed. Compiling it takes"
        self.assertIn(words, self.build(environment).stderr)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.package)
            with open(os.devnull, "w", encoding="utf-8") as nothing:  # as pip does with both without -v
                done = subprocess.run(self.command(), env=environment, check=False, stdout=nothing, stderr=nothing)
            os._exit(done.returncode)
        said = b""
        try:
            while part := os.read(terminal, 4096):
                said += part
        except OSError:
            pass  # the end, for a terminal
        os.close(terminal)
        os.waitpid(child, 0)
        self.assertIn(words, said.decode())


class Readmes(unittest.TestCase):
    def test_names_in_readmes_are_those_of_the_code(self):
        for language, (kinds, folder) in SOURCES.items():
            files = [path for kind in kinds for path in (BINDINGS / language / folder).rglob(f"*.{kind}")]
            code = set(re.findall(r"\w+", " ".join(path.read_text("utf-8") for path in files)))
            words = re.sub(r"^```.*?^```", "", readme(language), flags=re.MULTILINE | re.DOTALL)
            named = " ".join(name for name in re.findall("`([^`]+)`", words) if not re.search("/| install", name))
            named += " " + " ".join(re.findall(r"\b(?:BFS_\w+|[a-z]+[A-Z]\w+|[A-Z]\w*[a-z][A-Z]\w*)\b", re.sub("`[^`]+`", "", words)))
            self.assertEqual(set(re.findall(r"[A-Za-z]\w+", named)) - code - OTHERS_NAMES, set(), language)

    def test_the_tables_have_the_commands_of_the_readmes(self):
        for page in (ROOT / "README.md", BINDINGS / "README.md", ROOT / "capi" / "guide" / "start.md"):
            for language in languages.LANGUAGES:
                for line in commands(language)[0].replace("venv/bin/", "").splitlines():
                    if line != "python3 -m venv venv":
                        self.assertIn(f"`{line}`", page.read_text("utf-8"), page)

    def test_every_language_has_its_tests_by_one_command(self):
        for language in languages.LANGUAGES:
            self.assertEqual(commands(language)[-1], f"{CLONE}/tools/test --language {language}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

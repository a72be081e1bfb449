"""The programs of capi/examples that use a language's package: each does what its first lines promise, also when it runs again.

Arguments: those of languages.tree_of() without the language.
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import languages

TREE_ARGUMENTS = sys.argv[1:6]
del sys.argv[1:6]
EXAMPLES = pathlib.Path(TREE_ARGUMENTS[0]) / "capi" / "examples"
FOREIGN = pathlib.Path(TREE_ARGUMENTS[0]) / "tests" / "data" / "foreign"


def prepared(language):
    """Returns the environment of a language's programs, or skips the test."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return languages.prepared(language, *TREE_ARGUMENTS)
        except languages.Missing as missing:
            raise unittest.SkipTest(f"{language}: {missing}") from missing


def out_of(language):
    return pathlib.Path(TREE_ARGUMENTS[4]).resolve() / language


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ran(self, command, environment):
        return subprocess.run([str(word) for word in command], cwd=self.folder, env=environment, check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def run_it(self, command, environment):
        done = self.ran(command, environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def fails(self, command, environment, reason, says=""):
        done = self.ran(command, environment)
        self.assertEqual((done.returncode, done.stdout), (1, says))
        self.assertRegex(done.stderr, reason)


class Python(Examples):
    @classmethod
    def setUpClass(cls):
        cls.environment = prepared("python")[1]

    def says(self, name, *arguments):
        return self.run_it([sys.executable, "-B", EXAMPLES / name, *arguments], self.environment)

    def test_a_program_without_arguments_says_how_it_is_called(self):
        for name in ("cache_penetration.py", "crawler.py", "known_files.py", "light_client.py", "spam_list.py", "unseen_articles.py"):
            self.fails([sys.executable, "-B", EXAMPLES / name], self.environment, rf'\A[^"\n]+\n\n    python3 {name} ')

    def test_a_crawler_visits_each_page_once_whoever_crawls_beside_it(self):
        for page, links in (("a", "bc"), ("b", "cd"), ("c", "a"), ("d", "")):
            text = "".join(f'<a href="{link}.html">{link}</a>' for link in links)
            (self.folder / f"{page}.html").write_text(f"<html>{text}<a name='x'></html>")
        self.assertEqual(sorted(self.says("crawler.py", "seen.bf", "a.html")), ["a.html", "b.html", "c.html", "d.html"])
        self.assertEqual(self.says("crawler.py", "seen.bf", "a.html", "d.html"), [])

    def test_absent_rows_reach_no_database(self):
        for _ in range(2):
            found, wrong, queries = (int(words.split()[0]) for words in self.says("cache_penetration.py", "shop.db")[0].split(", "))
            self.assertEqual((found, wrong), (1000, 0))
            self.assertLess(queries, 1000 + 300)  # a hundred false positives are expected of 100,000 at most

    def test_no_article_is_recommended_twice(self):
        self.assertEqual(self.says("unseen_articles.py", "read.bf", "ada", "x", "y"), ["x", "y"])
        self.assertEqual(self.says("unseen_articles.py", "read.bf", "ada", "y", "z", "x"), ["z"])
        self.assertEqual(self.says("unseen_articles.py", "read.bf", "bob", "y"), ["y"])

    def test_every_spammer_is_caught_and_no_good_sender_that_was_known(self):
        spammers = [f"spam{i}@example.org" for i in range(2000)]
        good = [f"friend{i}@example.org" for i in range(2000)]
        (self.folder / "spammers").write_text("\n".join(spammers))
        (self.folder / "good").write_text("\n".join([*good, spammers[7].upper()]))
        self.assertRegex(self.says("spam_list.py", "build", "spam.bf", "spammers", "good")[0], "^[1-9][0-9]* of 2000 good senders")
        self.assertEqual(self.says("spam_list.py", "check", "spam.bf", *good, *spammers),
                         [f"{one}: good" for one in good] + [f"{one}: spam" for one in spammers])


    def test_files_that_are_not_on_a_list_are_named(self):
        for name in ("a", "b", "c"):
            (self.folder / name).write_text(name)
        for _ in range(2):
            self.assertEqual(self.says("known_files.py", "build", "known.bloom", "a", "c"), [])
            self.assertEqual(self.says("known_files.py", "check", "known.bloom", "a", "b", "c"), ["b"])

    def test_a_node_finds_the_scripts_that_a_client_watches(self):
        mine, others = [f"76a914{i:040x}88ac" for i in range(20)], [f"a914{i:040x}87" for i in range(500)]
        for _ in range(2):
            self.assertEqual(self.says("light_client.py", "watch", "filterload", *mine), [])
            self.assertEqual(self.says("light_client.py", "match", "filterload", *mine), mine)
            self.assertLess(len(self.says("light_client.py", "match", "filterload", *others)), 50)


class Node(Examples):
    @classmethod
    def setUpClass(cls):
        cls.binding, cls.environment = prepared("node")

    def test_a_name_is_taken_once(self):
        (self.folder / "node_modules").mkdir()
        (self.folder / "node_modules" / "bfstore").symlink_to(self.binding.folder)
        program = self.folder / "user_names.mjs"
        program.write_text((EXAMPLES / program.name).read_text("utf-8"), "utf-8")
        says = lambda *names: self.run_it([self.binding.agree[0], program, "names.bf", *names], self.environment)
        self.assertEqual(says("Ada", "grace"), ["Ada: free, and now yours", "grace: free, and now yours"])
        self.assertEqual(says("ada", "Zo\u00eb"), ["ada: perhaps taken", "Zo\u00eb: free, and now yours"])
        self.assertEqual(says("ZOE\u0308"), ["ZOE\u0308: perhaps taken"])
        self.fails([self.binding.agree[0], program], self.environment, r"\Ausage: node user_names.mjs names.bf NAME...\n\Z")


class Java(Examples):
    # The program is compiled once. `java GuavaToFile.java`, of its first lines, compiles it for each run, which takes a second.
    @classmethod
    def setUpClass(cls):
        binding, cls.environment = prepared("java")
        folder = tempfile.TemporaryDirectory(prefix="bfstore-examples-")
        cls.addClassCleanup(folder.cleanup)
        *java, classpath, _ = binding.agree
        javac = pathlib.Path(java[0]).with_name("javac")
        subprocess.run([javac, "-Xlint:all", "-Werror", "-cp", classpath, "-d", folder.name, EXAMPLES / "GuavaToFile.java"], check=True)
        cls.program = [*java, f"{folder.name}{os.pathsep}{classpath}", "GuavaToFile"]

    def says(self, *words):
        return self.run_it([*self.program, *words], self.environment)

    def test_a_filter_of_guava_becomes_a_file_that_takes_keys_and_goes_back(self):
        guava, known = FOREIGN / "guava.utf8.bloom", [f"key-{i}" for i in range(1000)]
        self.assertEqual(self.says("import", guava, "seen.bf", *known), [])
        self.assertEqual(self.says("export", "seen.bf", "copy.guava"), [])
        self.assertEqual((self.folder / "copy.guava").read_bytes(), guava.read_bytes())
        self.assertEqual(self.says("add", "seen.bf", *known, "new"), ["new"])
        self.assertRegex(self.says("import", guava, "seen.bf", "key-7")[0], "^seen.bf: exists")
        self.assertEqual(self.says("add", "seen.bf", "new"), [])

    def test_a_filter_of_another_funnel_makes_no_file(self):
        self.fails([*self.program, "import", FOREIGN / "guava.chars.bloom", "seen.bf", "key-7"], self.environment, "funnel")
        self.fails([*self.program, "import", FOREIGN / "guava.chars.bloom", "seen.bf"], self.environment, "KNOWN")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.fails([*self.program, "add", "seen.bf", "key-7"], self.environment, "seen.bf: no such file")


class Go(Examples):
    @classmethod
    def setUpClass(cls):
        binding, cls.environment = prepared("go")
        cls.program = out_of("go") / "eve_alerts"
        subprocess.run([binding.tests[0], "build", "-trimpath", "-o", cls.program, EXAMPLES / "eve_alerts.go"],
                       cwd=binding.folder, env=cls.environment, check=True)

    def test_events_that_name_a_listed_domain_are_alerts_also_after_the_list_was_replaced(self):
        events = [{"dns": {"rrname": "key-7"}}, {"dns": {"queries": [{"rrname": "other.example"}, {"rrname": "www.KEY-8"}]}},
                  {"tls": {"sni": "a.b.key-9"}}, {"http": {"hostname": "key-10"}}]
        quiet = [{"dns": {"rrname": "key-7.example"}}, {"tls": {"sni": "akey-7"}}, {"flow": {"pkts": 3}}]
        original = (FOREIGN / "dcso.one-percent.bloom").read_bytes()
        (self.folder / "list").write_bytes(original)
        for _ in range(2):
            done = subprocess.run([self.program, "list"], cwd=self.folder, env=self.environment, check=True, capture_output=True, text=True,
                                  input="".join(json.dumps(event) + "\n" for event in events + quiet) + '{"dns":')
            self.assertRegex(done.stderr, '^[^\\n]*unexpected end of JSON input in: {"dns":\\n$')
            self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], events)
        running = subprocess.Popen([self.program, "list"], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        with running:
            def ask(*questions):
                running.stdin.write("".join(json.dumps(event) + "\n" for event in questions))
                running.stdin.flush()
            ask(events[0])
            self.assertEqual(json.loads(running.stdout.readline()), events[0])
            (self.folder / "new").write_bytes(original[:48] + bytes(len(original) - 48))  # no key
            (self.folder / "new").rename(self.folder / "list")
            ask(*events)
            running.stdin.close()
            self.assertEqual(running.stdout.read(), "")
        self.assertEqual(running.returncode, 0)

    def test_a_file_that_is_no_list_is_an_error(self):
        (self.folder / "list").write_text("evil.example\n")
        self.fails([self.program, "list"], self.environment, "list: ")


class Rust(Examples):
    @classmethod
    def setUpClass(cls):
        binding, cls.environment = prepared("rust")
        manifest = out_of("rust") / "example" / "Cargo.toml"
        languages.renew(manifest, f"""[package]
name = "parquet_files"
version = "0.0.0"
edition = "2021"
[[bin]]
name = "parquet_files"
path = "{EXAMPLES.resolve()}/parquet_files.rs"
[dependencies]
bfstore = {{ path = "{EXAMPLES.resolve().parent}/bindings/rust/bfstore" }}
[profile.dev]
debug = 1 # as in the binding's own package, whose build is used
""".encode())
        subprocess.run([binding.tests[0], "build", "--quiet", "--offline", "--manifest-path", manifest], env=cls.environment,
                       check=True)
        cls.program = pathlib.Path(cls.environment["CARGO_TARGET_DIR"]) / "debug" / "parquet_files"

    def test_files_that_have_the_value_are_named_and_hardly_any_others(self):
        files = [str(FOREIGN / name) for name in ("parquet.arrow.parquet", "parquet.duckdb.parquet")]
        says = lambda *words: self.run_it([self.program, *words, *files], self.environment)
        for i in range(0, 1000, 100):
            self.assertEqual(says("text", "k", f"key-{i}"), files)
        for _ in range(2):
            self.assertLess(sum(len(says("text", "k", f"absent-{i}")) for i in range(50)), 5)

    def test_integers_are_asked_as_the_column_has_them(self):
        says = lambda number: self.run_it([self.program, "int64", "n", number, FOREIGN / "parquet.duckdb.parquet"], self.environment)
        self.assertEqual([len(says(number)) for number in range(0, 1000, 100)], [1] * 10)
        self.assertLess(sum(len(says(number)) for number in range(-50, 0)), 5)

    def test_a_file_that_cannot_be_asked_is_named_with_the_reason(self):
        (self.folder / "cut").write_bytes((FOREIGN / "parquet.arrow.parquet").read_bytes()[:-1])
        self.fails([self.program, "text", "k", "absent", "cut"], self.environment, "cut: is not a file of Parquet", says="cut\n")
        self.fails([self.program, "int64", "k", "absent", "cut"], self.environment, "int64 absent: invalid digit")
        self.fails([self.program, "text", "k"], self.environment, "usage")


if __name__ == "__main__":
    unittest.main(verbosity=2)

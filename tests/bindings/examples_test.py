"""The programs of capi/examples that use a language's package: each does what its first lines promise, also when it runs again.

Arguments: those of languages.tree_of() without the language.
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

import languages

TREE_ARGUMENTS = sys.argv[1:6]
del sys.argv[1:6]
EXAMPLES = pathlib.Path(TREE_ARGUMENTS[0]) / "capi" / "examples"


def prepared(language):
    """Returns the environment of a language's programs, or skips the test."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return languages.prepared(language, *TREE_ARGUMENTS)
        except languages.Missing as missing:
            raise unittest.SkipTest(f"{language}: {missing}") from missing


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, command, environment):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=environment, check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()


class Python(Examples):
    @classmethod
    def setUpClass(cls):
        cls.environment = prepared("python")[1]

    def says(self, name, *arguments):
        return self.run_it([sys.executable, "-B", EXAMPLES / name, *arguments], self.environment)

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


if __name__ == "__main__":
    unittest.main(verbosity=2)

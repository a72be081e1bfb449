"""The page "Start" of the guide: the README of that language's binding has the lines of each snippet, in the same
order, perhaps with more between them. The tests of the binding run that README. The page "Time windows" has a loop in each
language, and the tests of the binding have its lines.

Argument: the root of the repository.
"""

import pathlib
import re
import sys
import unittest

import languages

ROOT = pathlib.Path(sys.argv.pop(1))
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCES = {"python": "python", "rust": "rust", "java": "java", "go": "go", "js": "node"}


def lines(block):
    """Returns the lines without comments and indentation."""
    stripped = [re.sub(r"\s*(//|#).*$", "", line).strip() for line in block.splitlines()]
    return [line for line in stripped if line]


def snippets():
    section = re.search(r"^## In a program\n(.*?)^## ", (ROOT / "capi/guide/start.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)[1]
    return {FENCES[fence]: lines(block) for fence, block in BLOCK.findall(section)}


class InYourLanguage(unittest.TestCase):
    def test_every_language_with_a_package_has_a_snippet_of_four_lines(self):
        self.assertEqual(set(snippets()), set(languages.LANGUAGES))
        for language, snippet in snippets().items():
            self.assertEqual(len(snippet), 4, language)

    def test_each_snippet_is_in_the_example_of_that_language(self):
        for language, snippet in snippets().items():
            with self.subTest(language):
                text = (ROOT / "capi" / "bindings" / language / "README.md").read_text("utf-8")
                rest = iter(lines(BLOCK.search(text)[2]))
                self.assertEqual([line for line in snippet if line not in rest], [])  # `in` continues where the last line was found

    def test_each_readme_says_what_a_replaced_file_and_another_capacity_mean(self):
        for language in languages.LANGUAGES:
            text = " ".join((ROOT / "capi" / "bindings" / language / "README.md").read_text("utf-8").split())
            for words in (r"\*\*A file that is replaced\*\*: `[^`]*follow[^`]*` continues with the new one", r"make it with `[^`]*\blike\b",
                          r"with another capacity opens an existing (file|one) as it is: look at its `capacity"):
                self.assertRegex(text, f"(?i){words}", language)

    def test_each_readme_says_how_to_open_a_file_that_may_be_cut(self):
        for language in languages.LANGUAGES:
            text = (ROOT / "capi" / "bindings" / language / "README.md").read_text("utf-8")
            self.assertRegex(text, r"(?i)`[^`]*\bguard\b[^`]*`", language)

    def test_each_readme_names_the_error_of_a_wrong_secret(self):
        kinds = {"python": "`bfstore.SecretError`", "rust": "`Error::Secret`", "java": "`BfstoreException.SecretException`",
                 "go": "`bfstore.ESECRET`", "node": '"BFS_ESECRET"'}
        self.assertEqual(set(kinds), set(languages.LANGUAGES))
        for language, kind in kinds.items():
            text = " ".join((ROOT / "capi" / "bindings" / language / "README.md").read_text("utf-8").split())
            self.assertRegex(text, rf"\*\*Keys that strangers choose\*\*: [^*]*A missing or wrong one is [^.]*{re.escape(kind)}\.", language)


class Windows(unittest.TestCase):
    """capi/guide/windows.md"""

    TESTS = {"python": "tests/test_files.py", "rust": "bfstore/tests/windows.rs", "java": "tests/dev/bfstore/WindowsTest.java",
             "go": "windows_test.go", "node": "tests/files.test.js"}

    def test_each_loop_is_in_the_tests_of_that_language(self):
        section = (ROOT / "capi/guide/windows.md").read_text("utf-8").split("\n## In a program\n")[1]
        loops = {FENCES[fence]: lines(block) for fence, block in BLOCK.findall(section) if fence in FENCES}
        self.assertEqual(set(loops), set(self.TESTS))
        for language, loop in loops.items():
            with self.subTest(language):
                text = re.sub(r"\s", "", (ROOT / "capi/bindings" / language / self.TESTS[language]).read_text("utf-8"))
                for line in loop:
                    self.assertIn(re.sub(r"\s", "", line), text)
                    text = text.split(re.sub(r"\s", "", line), 1)[1]


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The page "Start" of the guide: the README of that language's binding has the lines of each snippet, in the same
order, perhaps with more between them. The tests of the binding run that README.

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


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""No test hides another: nothing is defined twice in one scope of a Python file, and no two doctest cases have one name.

The second of two classes with one name replaces the first one, whose tests then never run. Argument: the project's root.
"""

import ast
import collections
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tests" / "support"))
from written import doctest_cases  # found only now

FOLDERS = [ROOT / name for name in ("tests", "tools", "bench", "capi")]
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def is_setter(node):
    """Returns whether this is the second half of a property, which has the name of the first one."""
    return any(isinstance(one, ast.Attribute) and one.attr in ("setter", "deleter") for one in node.decorator_list)


def defined_twice(source):
    """Returns "line: name" of everything that is defined a second time in its scope."""
    found = []
    for scope in ast.walk(ast.parse(source)):
        names = set()
        body = getattr(scope, "body", None)
        for node in body if isinstance(body, list) else []:
            if not isinstance(node, DEFINITIONS) or is_setter(node):
                continue
            if node.name in names:
                found.append(f"{node.lineno}: {node.name}")
            names.add(node.name)
    return found


def files(pattern):
    return [path for folder in FOLDERS for path in sorted(folder.rglob(pattern))]


class Names(unittest.TestCase):
    def test_nothing_is_defined_twice_in_a_scope(self):
        self.assertGreater(len(files("*.py")), 40)
        self.assertEqual([f"{path}:{what}" for path in files("*.py") for what in defined_twice(path.read_text("utf-8"))], [])

    def test_a_class_a_function_and_a_method_that_come_twice_are_found(self):
        self.assertEqual(defined_twice("class A: pass\nclass B: pass\nclass A: pass\n"), ["3: A"])
        self.assertEqual(defined_twice("def f(): pass\nif True:\n  def g(): pass\n  def g(): pass\ndef f(): pass\n"),
                         ["5: f", "4: g"])
        self.assertEqual(defined_twice("class A:\n  def f(self): pass\n  def f(self): pass\n"), ["3: f"])
        self.assertEqual(defined_twice("class A:\n  def f(self): pass\n  @f.setter\n  def f(self, to): pass\n"), [])

    def test_no_two_doctest_cases_have_one_name(self):
        counts = collections.Counter(name for path in files("*.cpp") for name in doctest_cases(path))
        self.assertGreater(len(counts), 400)
        self.assertEqual([name for name, count in counts.items() if count > 1], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

"""The test cases that are written in a folder. They have to run (tools/sum_tests.py), and promises may name them."""
import ast
import pathlib
import re

TEST_CASE = re.compile(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)"')


def doctest_cases(path):
    """Returns the names, in order; one that is written twice comes twice."""
    return TEST_CASE.findall(pathlib.Path(path).read_text("utf-8"))


def unittest_cases(path):
    """Returns Class.test_name of each, as `unittest -v` prints them."""
    tree = ast.parse(pathlib.Path(path).read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [f"{one.name}.{node.name}" for one in classes for node in one.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def cases_by(pattern):
    """Returns a function of a path that returns the names, in order."""
    names = re.compile(pattern, re.MULTILINE)
    return lambda path: names.findall(pathlib.Path(path).read_text("utf-8"))


# In the other languages one line suffices, since these names only say how many there are.
CASES_IN = {".cpp": doctest_cases, ".py": unittest_cases, ".rs": cases_by(r"#\[test\]\s+(?:#\[.*\]\s+)*fn (\w+)"),
            ".java": cases_by(r"@(?:Parameterized)?Test\s+(?:@.*\s+)*void (\w+)"), ".go": cases_by(r"^func (Test\w+)\("),
            ".js": cases_by(r"""^test\((?:"|'|`)(.*?)(?:"|'|`),""")}


def all_cases(place):
    """Returns a set of (name of the file, name of the case) of a folder or a file, without check_*.py, which only campaigns run."""
    place = pathlib.Path(place)
    files = [place] if place.is_file() else [path for path in place.rglob("*") if not path.name.startswith("check_")]
    return {(path.name, name) for path in files for name in CASES_IN.get(path.suffix, lambda _: [])(path)}

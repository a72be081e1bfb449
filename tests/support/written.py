"""The test cases that are written in a folder: what has to run (tools/sum_tests.py), and what a promise may name."""
import ast
import pathlib
import re

TEST_CASE = re.compile(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)"')


def doctest_cases(path):
    """The names, in order; one that is written twice comes twice."""
    return TEST_CASE.findall(pathlib.Path(path).read_text("utf-8"))


def unittest_cases(path):
    """Class.test_name of each, as `unittest -v` prints them."""
    tree = ast.parse(pathlib.Path(path).read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [f"{one.name}.{node.name}" for one in classes for node in one.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def all_cases(folder):
    """A set of (name of the file, name of the case). What a campaign alone runs is in files check_*.py."""
    folder = pathlib.Path(folder)
    found = {(path.name, name) for path in folder.rglob("*.cpp") for name in doctest_cases(path)}
    python = [path for path in folder.rglob("*.py") if not path.name.startswith("check_")]
    return found | {(path.name, name) for path in python for name in unittest_cases(path)}

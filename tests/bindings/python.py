"""Python: the extension is built from the tree with the package's own build backend."""

import os
import pathlib
import sys
import sysconfig

import languages


def build(tree):
    folder = tree.bindings / "python"
    sys.path.insert(0, str(folder))
    import backend  # found only now

    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").is_file():
        raise languages.Missing("the headers of Python are not installed. Debian's package: python3-dev")
    sources = sorted(path for path in backend.PACKAGE.iterdir() if path.is_file())
    languages.once(tree.out / "recipe", [tree.cc, sys.executable], [tree.archive, folder / "backend.py", *sources],
                   lambda: backend.assemble(tree.archive, list(tree.cc), tree.out))
    python = [sys.executable, "-B", "-X", "dev"]
    packages = tree.root / "build-deps" / "tests-venv" / "packages"  # tools/setup.sh makes it
    return languages.Binding(tests=[*python, "-m", "unittest", "discover", "-v", "-s", str(folder / "tests")],
                             agree=[*python, str(folder / "tests" / "agree.py")], environment={"PYTHONPATH": os.pathsep.join([str(tree.out), str(packages)])})


def times(tree, binding):
    """Returns the command that bench/bindings.py runs."""
    rivals = tree.root / "build-deps" / "venv" / "bin" / "python"  # tools/bench makes it
    python = str(rivals) if rivals.exists() else sys.executable
    return [python, "-B", str(tree.root / "bench" / "bindings" / "python_times.py")]

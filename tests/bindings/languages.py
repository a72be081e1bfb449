"""The languages of the bindings' tests. Each has a file next to this one, with

    def build(tree): ...

It builds the binding from the tree, without a network (tools/setup.sh has fetched all that it needs), and returns a Binding.
It is called again for each test, and may use the files in tree.out from the last time.
If it raises Missing, the language's tests are skipped: a program was not found (see programs.py), or tools/setup.sh did not fetch
something. Several tests build one language, one after the other, and the first may run its build while the next one builds: a
file that is right is not touched.
"""

import dataclasses
import fcntl
import hashlib
import importlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bfstore_header  # found only now
import programs
from programs import Missing

# In the order of reports. Each has a file of its name here and a folder of its name in capi/bindings.
LANGUAGES = ("python", "rust", "java", "go", "node")

# The interface of a language's program `agree`, by which the tests of all languages at once speak to it. A key is the
# text PREFIX and a decimal number from 0 on: "ruby-0", "ruby-1". Exit code 0, or 1 with the error on standard error.
#
#   agree create PATH CAPACITY        makes a file with one false positive in a hundred, and the default layout
#   agree add PATH PREFIX COUNT       adds the even keys one by one and the odd ones as one batch
#   agree ask PATH PREFIX COUNT       prints COUNT characters, 1 for maybe and 0 for no; asks one by one and as a batch, and
#                                     fails if these differ
#   agree fail PATH                   opens PATH for reading, which fails, and prints the code, errno and name of the class
#                                     of the error: "-6 2 NotFoundError"


@dataclasses.dataclass(frozen=True)
class Tree:
    root: pathlib.Path  # of the repository
    archive: pathlib.Path  # libbfstore.a
    library: pathlib.Path  # libbfstore.so.VERSION, in a folder with its other names
    cc: tuple  # the words of the C compiler's command
    out: pathlib.Path  # this language's own folder, which is kept between the tests of a build

    @property
    def bindings(self):
        return self.root / "capi" / "bindings"

    def fetched(self, name, fetcher):
        """Returns the folder of build-deps that a function of tools/setup.sh has filled from the network. No test uses a network."""
        folder = self.root / "build-deps" / name
        if not (folder / "complete").is_file():
            raise Missing(f"build-deps/{name} was not fetched: {fetcher} of tools/setup.sh fetches it")
        return folder


def tree_of(name, root, archive, library, compiler, out):
    """Returns the Tree for words of a command line; `out` is the folder that has those of all languages."""
    return Tree(pathlib.Path(root), pathlib.Path(archive).resolve(), pathlib.Path(library).resolve(),
                tuple(shlex.split(compiler)), pathlib.Path(out).resolve() / name)


@dataclasses.dataclass(frozen=True)
class Binding:
    tests: list  # the command that runs the binding's own tests, in its own runner
    agree: list  # the command's beginning, see above
    environment: dict = dataclasses.field(default_factory=dict)  # of both commands, in addition to every language's
    folder: pathlib.Path = None  # in which `tests` runs


def shared_environment(tree):
    """Returns the environment of every language's tests: the library in both forms, and the names and numbers of the ABI."""
    return {"BFSTORE_ARCHIVE": str(tree.archive), "BFSTORE_LIBRARY": str(tree.library),
            "BFSTORE_ABI": str(tree.out / "abi.json"), "CC": shlex.join(tree.cc)}


def abi(tree):
    """Returns {"constants": {name: number}, "functions": [name]}."""
    header = tree.root / "capi" / "bfstore.h"
    return {"constants": bfstore_header.constants(header), "functions": bfstore_header.functions(header)}


def renew(path, data):
    """Gives the file these bytes in one step, unless it has them, because another test may be reading it."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    new.rename(path)


def renew_link(link, target):
    if not link.is_symlink() or link.readlink() != target:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def once(stamp, words, files, make):
    """Calls make(), unless it was called for these words and contents of files; `stamp` remembers that."""
    digest = hashlib.sha256(repr(words).encode())
    for file in files:
        digest.update(f"{file}\0".encode() + file.read_bytes())
    if stamp.is_file() and stamp.read_text("utf-8") == digest.hexdigest():
        return
    stamp.unlink(missing_ok=True)
    make()
    stamp.write_text(digest.hexdigest(), encoding="utf-8")


def prepared(language, root, archive, library, compiler, out):
    """Returns (Binding, its whole environment). Two tests that prepare one language at a time do it one after the other."""
    tree = tree_of(language, root, archive, library, compiler, out)
    tree.out.mkdir(parents=True, exist_ok=True)
    with open(tree.out / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        renew(tree.out / "abi.json", json.dumps(abi(tree), indent=1).encode())
        binding = importlib.import_module(language).build(tree)
    return binding, {**os.environ, **shared_environment(tree), **binding.environment}

"""The samples in capi/bindings/samples: built and run with the commands that their README tells its readers."""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import languages

ROW = re.compile(r"^\| ([^|]+) \| \[[^]]+\]\(([^)]+)\) \| [^|]+ \| (?:`([^`]+)`)? ?\| `([^`]+)` \|$", re.MULTILINE)
# What a sample needs besides the programs that it is built and run with, and how to ask whether it is there.
LIBRARIES = {
    "perl": ("FFI::Platypus", ["perl", "-MFFI::Platypus", "-e1"]),
    "php": ("PHP's FFI", ["php", "-r", "exit(extension_loaded('ffi') ? 0 : 1);"]),
    "ruby": ("Ruby's ffi", ["ruby", "-rffi", "-e1"]),
}


@dataclasses.dataclass(frozen=True)
class Sample:
    language: str
    file: str
    build: str  # a command, or nothing
    run: str  # a command's beginning


def all_samples(root):
    folder = pathlib.Path(root) / "capi" / "bindings" / "samples"
    return [Sample(*row) for row in ROW.findall((folder / "README.md").read_text("utf-8"))]


def need(sample):
    for command in filter(None, (sample.build, sample.run)):
        program = shlex.split(command)[0]
        if not program.startswith("./") and not shutil.which(program):
            raise languages.Missing(f"{program} is not on this machine")
        library, question = LIBRARIES.get(program, (None, None))
        if library and subprocess.run(question, capture_output=True, check=False).returncode != 0:
            raise languages.Missing(f"{library} is not on this machine")


def build(tree, sample):
    """(the beginning of its command, the folder in which it runs, its environment)."""
    need(sample)
    folder = tree.out / sample.file.replace(".", "_")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(tree.bindings / "samples" / sample.file, folder)
    beside = str(tree.library.parent)  # where a program's linker and loader find libbfstore.so
    environment = {"LIBRARY_PATH": beside, "LD_LIBRARY_PATH": beside, "HOME": str(folder)}
    if sample.build:
        subprocess.run(shlex.split(sample.build), cwd=folder, env={**os.environ, **environment}, check=True)
    return shlex.split(sample.run), folder, environment

"""The samples in capi/bindings/samples: built and run with the commands that their README tells its readers. For the tests
of all languages at once, a program in samples/ beside this file uses the sample itself, as a program that copied it would."""

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
# The commands that build `agree` beside the sample, and the beginning of the one that runs it. Fortran's modules have no file of
# their own: of the two main programs, the linker takes that of agree.f90.
AGREE = {
    "bf.cs": (["mcs -unsafe -main:Agree agree.cs bf.cs"], "mono agree.exe"),
    "bf.lua": ([], "luajit agree.lua"),
    "bf.php": ([], "php agree.php"),
    "bf.pl": ([], "perl agree.pl"),
    "bf.rb": ([], "ruby agree.rb"),
    "bfs.f90": (["gfortran -c bfs.f90", "gfortran -z muldefs agree.f90 bfs.o -lbfstore -o agree"], "./agree"),
}


@dataclasses.dataclass(frozen=True)
class Sample:
    language: str
    file: str
    build: str  # a command, or nothing
    run: str  # a command


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


def environment(tree, folder):
    beside = str(tree.library.parent)  # where a program's linker and loader find libbfstore.so
    return {"LIBRARY_PATH": beside, "LD_LIBRARY_PATH": beside, "HOME": str(folder)}


def build(tree, sample):
    """(the beginning of `agree`, which uses the sample; the folder in which it and the sample are; its environment)."""
    need(sample)
    folder = tree.out / sample.file.replace(".", "_")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(tree.bindings / "samples" / sample.file, folder)
    shutil.copy(pathlib.Path(__file__).parent / "samples" / f"agree{pathlib.Path(sample.file).suffix}", folder)
    builds, run = AGREE[sample.file]
    for command in builds:
        subprocess.run(shlex.split(command), cwd=folder, env={**os.environ, **environment(tree, folder)}, check=True)
    return shlex.split(run), folder, environment(tree, folder)

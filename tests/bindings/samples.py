"""The samples in capi/bindings/samples: built and run with the commands that their README tells its readers. For the tests
of all languages at once, a program in samples/ next to this file uses the sample itself, as a program that copied it would."""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import languages
import programs

ROW = re.compile(r"^\| ([^|]+) \| \[[^]]+\]\(([^)]+)\) \| [^|]+ \| (?:`([^`]+)`)? ?\| `([^`]+)` \|$", re.MULTILINE)
# The libraries of a sample, in addition to the programs that build and run it: Debian's package, and how to ask whether it is there.
LIBRARIES = {
    "mcs": ("System.Core", "libmono-system-core4.0-cil", ["-r:System.Core.dll", "one.cs"]),
    "perl": ("FFI::Platypus", "libffi-platypus-perl", ["-MFFI::Platypus", "-e1"]),
    "php": ("PHP's FFI", "php-cli", ["-r", "exit(extension_loaded('ffi') ? 0 : 1);"]),
    "ruby": ("Ruby's ffi", "ruby-ffi", ["-rffi", "-e1"]),
}
# The commands that build `agree` next to the sample, and the beginning of the one that runs it. Fortran's modules have no file of
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


def tools(sample):
    """Returns the paths of the programs that build and run it."""
    words = [shlex.split(command)[0] for command in (sample.build, sample.run) if command]
    return [programs.find(word) for word in words if not word.startswith("./")]


def need(sample):
    for program in tools(sample):
        library, package, question = LIBRARIES.get(os.path.basename(program), (None, None, None))
        if library and not is_there(program, question):
            raise languages.Missing(f"{library} is not on this machine. Debian's package: {package}")


def is_there(program, question):
    with tempfile.TemporaryDirectory(prefix="bfstore-sample-") as folder:
        (pathlib.Path(folder) / "one.cs").write_text("class One { static void Main() {} }\n", encoding="utf-8")
        return subprocess.run([program, *question], cwd=folder, capture_output=True, check=False).returncode == 0


def environment(tree, sample, folder):
    beside = str(tree.library.parent)  # a program's linker and loader find libbfstore.so there
    return {"PATH": programs.path(*tools(sample)), "LIBRARY_PATH": beside, "LD_LIBRARY_PATH": beside, "HOME": str(folder)}


def build(tree, sample):
    """Returns (the beginning of `agree`, which uses the sample; the folder in which it and the sample are; its environment)."""
    need(sample)
    folder = tree.out / sample.file.replace(".", "_")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(tree.bindings / "samples" / sample.file, folder)
    shutil.copy(pathlib.Path(__file__).parent / "samples" / f"agree{pathlib.Path(sample.file).suffix}", folder)
    builds, run = AGREE[sample.file]
    for command in builds:
        subprocess.run(shlex.split(command), cwd=folder, env={**os.environ, **environment(tree, sample, folder)}, check=True)
    program, *words = shlex.split(run)
    return [program if program.startswith("./") else programs.find(program), *words], folder, environment(tree, sample, folder)

"""Checks that a wheel for many Linux systems keeps the promise of its tag (PEP 600, PEP 656). tools/package runs it for each wheel.

usage: check_wheel.py WHEEL...

A manylinux_2_17 wheel needs no symbol of a later glibc, and no library but glibc's. A musllinux wheel needs musl alone. Both
are for the processor of the tag, show nothing but the module's entry, and have the notice of xxHash. A wheel for this machine
is also installed into an empty environment, without a network, and used. One for ARM64 and glibc is unpacked and used by the
Python of fetch_arm64_python (tools/setup.sh) in qemu, if that is there.
"""

import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSION = "bfstore/_bfstore.abi3.so"
TAG = re.compile(r"-cp311-abi3-(manylinux_2_(\d+)|musllinux_1_\d+)_(x86_64|aarch64)\.whl$")
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MUSL = {"libc.so"}
ARM64 = ROOT / "build-deps" / "arm64"
PROGRAM = """
import bfstore, sys
with bfstore.create(sys.argv[1], capacity=1000) as f:
    f.add_many([b"key %d" % i for i in range(1000)])
with bfstore.open(sys.argv[1]) as f:
    print(all(f.contains_many([b"key %d" % i for i in range(1000)])), sum(b"no %d" % i in f for i in range(1000)) < 100)
try:
    bfstore.open(sys.argv[1] + ".absent")
except FileNotFoundError:
    print("absent")
"""
SAID = "True True\nabsent\n"


class Broken(Exception):
    """A promise that a wheel does not keep."""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Broken(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def require(holds, sentence):
    if not holds:
        raise Broken(sentence)


def check_needs(extension, glibc_minor):
    """Checks the libraries, and the versions of glibc's symbols, of which it prints the newest."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-dW", extension)))
    others = needed - (GLIBC if glibc_minor else MUSL)
    require(needed and not others, f"needs {sorted(others) or 'no C library'}")
    versions = {int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-VW", extension))}
    require(max(versions, default=0) <= int(glibc_minor or 0), f"needs GLIBC_2.{max(versions, default=0)}")
    return f"GLIBC_2.{max(versions)}" if versions else "no version"


def visible_of(library):
    """Returns the symbols that a library defines for others."""
    symbols = [line.split() for line in run("readelf", "--dyn-syms", "-W", library).splitlines()]
    return {words[7] for words in symbols if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND"}


def check_extension(extension, processor):
    header = run("readelf", "-hW", extension)
    require(MACHINES[processor] in header, f"is not for {processor}:\n{header}")
    visible = visible_of(extension)
    require(visible - {"Name"} == {"PyInit__bfstore"}, f"shows {sorted(visible)[:20]}")


def use_in_qemu(wheel, folder):
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "unpacked")
    said = run("qemu-aarch64", "-L", ARM64 / "root", ARM64 / "root" / "usr" / "bin" / "python3.11", "-I", "-B", "-c",
               "import sys; sys.path.insert(0, sys.argv[2])\n" + PROGRAM, folder / "file.bf", folder / "unpacked")
    require(said == SAID, f"said {said!r}")


def install_and_use(wheel, folder):
    run("/usr/bin/python3", "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "install", "--no-index", wheel)
    said = run(python, "-I", "-c", PROGRAM, folder / "file.bf")
    require(said == SAID, f"said {said!r}")


def use(wheel, tag, folder):
    """Uses the wheel if this machine can, and returns what was done."""
    if tag[2] and tag[3] == platform.machine() and platform.libc_ver()[0] == "glibc":
        install_and_use(wheel, folder)
        return "installed and used"
    if tag[2] and tag[3] == "aarch64" and (ARM64 / "complete").exists():
        use_in_qemu(wheel, folder)
        return "used in qemu"
    return "not used: it is not for this machine"


def check(wheel):
    tag = TAG.search(wheel.name)
    require(tag, "has no tag of many Linux systems")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as packed:
        folder = pathlib.Path(folder)
        notices = [packed.read(name) for name in packed.namelist() if name.endswith("/licenses/xxhash-license.txt")]
        require(notices == [(ROOT / "capi" / "xxhash-license.txt").read_bytes()], "has no notice of xxHash")
        metadata = next(name for name in packed.namelist() if name.endswith(".dist-info/WHEEL"))
        require(f"Tag: cp311-abi3-{tag[1]}_{tag[3]}\n" in packed.read(metadata).decode(), "has another tag within")
        extension = folder / packed.extract(EXTENSION, folder)
        newest = check_needs(extension, tag[2])
        check_extension(extension, tag[3])
        done = use(wheel, tag, folder)
    print(f"{wheel.name}: needs {newest}, {done}")


def main(check_one):
    for package in map(pathlib.Path, sys.argv[1:]):
        try:
            check_one(package)
        except Broken as broken:
            sys.exit(f"{package.name}: {broken}")


if __name__ == "__main__":
    main(check)

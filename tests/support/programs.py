"""Where the programs of other languages are: go, cargo, node and so on.

They are looked for in PATH, then in BFSTORE_USER_PATH (the PATH of the user, where tools/setup.sh has set PATH to Debian's own),
then where their own installers put them. The first one that works is taken: it answers when it is asked for its version, which is
not too old. A program of one toolchain goes with those beside it: `find` is for one, and `path` makes a PATH for all.

    python3 programs.py NAME [OLDEST]     prints the path, or says why there is none and ends with 1
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys

USUAL_FOLDERS = ("/usr/local/go/bin", "~/.cargo/bin")
ASKED = {"go": "version", "java": "-version", "javac": "-version", "luajit": "-v"}  # the others understand --version
PATIENCE = 120  # seconds until a program that says nothing counts as one that does not work


# Debian's packages of programs that have other names.
PACKAGES = {"go": "golang-go", "javac": "openjdk-17-jdk-headless", "java": "openjdk-17-jre-headless", "node": "nodejs", "mvn": "maven",
            "mcs": "mono-mcs", "mono": "mono-runtime", "php": "php-cli", "dpkg-deb": "dpkg", "dpkg-buildpackage": "dpkg-dev", "man": "man-db",
            "readelf": "binutils", "objdump": "binutils", "nm": "binutils", "strip": "binutils", "dh": "debhelper", "dh_python3": "dh-python",
            "unshare": "util-linux", "ninja": "ninja-build", "qemu-aarch64": "qemu-user", "qemu-s390x": "qemu-user",
            "aarch64-linux-gnu-g++-12": "g++-aarch64-linux-gnu", "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
            "s390x-linux-gnu-g++": "g++-s390x-linux-gnu", "pkg-config": "pkg-config"}


class Missing(Exception):
    """An error that says what is not on this machine, and which folders were searched."""


def folders():
    """Returns the folders, each once, in the order of the search."""
    named = [folder for variable in ("PATH", "BFSTORE_USER_PATH") for folder in os.environ.get(variable, "").split(os.pathsep)]
    return list(dict.fromkeys(filter(None, [*named, *map(os.path.expanduser, USUAL_FOLDERS)])))


def numbers(version):
    return tuple(map(int, version.split(".")))


def objection(program, oldest):
    """Returns why the program cannot be used, or None."""
    command = [program, ASKED.get(os.path.basename(program), "--version")]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not work ({error})"
    if done.returncode != 0:
        return f"{program} does not work ({' '.join(done.stdout.split())[:200]})"
    version = re.search(r"\d+(\.\d+)+|\d+", done.stdout)
    if oldest and version and numbers(version[0]) < numbers(oldest):
        return f"{program} is of version {version[0]}, and {oldest} is needed"
    return None


@functools.lru_cache(maxsize=None)
def find(name, oldest=None):
    """Returns the path of the program, of this version or a later one."""
    objections = []
    for folder in folders():
        program = shutil.which(name, path=folder)
        if program is None:
            continue
        reason = objection(program, oldest)
        if reason is None:
            return program
        objections.append(reason)
    looked = "; ".join(objections) or f"{name} is not on this machine (Debian's package {package(name)} has it)"
    raise Missing(f"{looked}. Looked in {os.pathsep.join(folders())}")


def package(name):
    return PACKAGES.get(name, name)


def missing(*names):
    """Returns the programs that are not in PATH, as a sentence for a skipped test; nothing if all of them are."""
    without = [name for name in names if not shutil.which(name)]
    if not without:
        return ""
    packages = " ".join(dict.fromkeys(map(package, without)))
    return f"{', '.join(without)}: not on this machine. Debian's packages: {packages}"


def skip(words):
    """Ends this test program as skipped, for meson."""
    print(f"SKIP: {words}")
    sys.exit(77)


def need_module(name, package):
    """Skips a test program of which no test runs without this Python module."""
    if importlib.util.find_spec(name) is None:
        skip(f"the Python module {name} is not installed. Debian's package: {package}")


def path(*programs):
    """Returns a PATH in which each of these programs is found by its name, followed by PATH."""
    found = os.environ.get("PATH", os.defpath)
    for program in reversed(programs):
        folder, name = os.path.split(program)
        if shutil.which(name, path=found) != program:
            found = folder + os.pathsep + found
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        print(find(*sys.argv[1:]))
    except Missing as missing:
        sys.exit(str(missing))


if __name__ == "__main__":
    main()

"""Go: the package is compiled with cgo, with a copy of the archive's folder in which pkg-config finds nothing else."""

import os
import shlex
import shutil
import subprocess

import languages

BUILD_DEPS = "build-deps/go-modules"  # where tools/setup.sh puts the modules that the reader needs


def environment(tree):
    """Of every go command: nothing of the user's, and nothing from a network."""
    out = tree.out
    return {"HOME": str(out), "GOPATH": str(out / "path"), "GOCACHE": str(out / "cache"), "GOENV": "off", "GOWORK": "off",
            "GOMODCACHE": str(tree.root / BUILD_DEPS), "GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local",
            "GOFLAGS": "-modcacherw", "CGO_ENABLED": "1",
            # One word: go tries whether a compiler makes programs without -pie, which the race detector wants, with that alone.
            "CC": tree.cc[-1],
            "CGO_CFLAGS": "-O2 -g " + shlex.quote(f"-I{tree.root / 'capi'}"), "CGO_LDFLAGS": shlex.quote(f"-L{out / 'lib'}"),
            "PKG_CONFIG_PATH": str(out / "pkgconfig")}


def prepare(tree):
    """What the linker and pkg-config find: the library under its usual names."""
    for folder, name, target in (("lib", "libbfstore.a", tree.archive), ("shared", "libbfstore.so", tree.library),
                                 ("shared", "libbfstore.so.0", tree.library)):
        link = tree.out / folder / name
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    (tree.out / "pkgconfig").mkdir(exist_ok=True)
    (tree.out / "pkgconfig" / "bfstore.pc").write_text(
        f"Name: bfstore\nDescription: of this build\nVersion: 0\nCflags: -I{tree.root / 'capi'}\nLibs: -L{tree.out / 'shared'} -lbfstore\n",
        encoding="utf-8")


def build(tree):
    go = shutil.which("go")
    if go is None:
        raise languages.Missing("go is not on this machine")
    if not (tree.root / BUILD_DEPS / "complete").is_file():
        raise languages.Missing("the modules that the package reader needs were not fetched")
    folder, env = tree.bindings / "go", environment(tree)
    prepare(tree)
    agree = tree.out / "agree"
    subprocess.run([go, "build", "-trimpath", "-tags", "bfstore_static", "-o", agree, "./tests/agree"], cwd=folder, check=True,
                   env={**os.environ, **env})
    env["BFSTORE_SHARED"] = str(tree.out / "shared")
    tests = [go, "test", "-v", "-race", "-vet=all", "-count=1", "-tags", "bfstore_static", "./..."]
    return languages.Binding(tests=tests, agree=[str(agree)], environment=env, folder=folder)


def times(tree, binding):
    """The command that bench/bindings.py runs."""
    program = tree.out / "times"
    subprocess.run(["go", "build", "-trimpath", "-tags", "bfstore_static", "-o", program, "./tests/times"], cwd=binding.folder,
                   check=True, env={**os.environ, **binding.environment})
    return [str(program)]

"""Go: the package is compiled with cgo, with a copy of the archive's folder in which pkg-config finds nothing else."""

import os
import shlex
import subprocess

import languages
import programs

OLDEST = "1.19"  # go.mod


def environment(tree, go, modules):
    """Returns the environment of every go command: without the user's settings, and without a network."""
    out = tree.out
    return {"PATH": programs.path(go), "GOROOT": "", "HOME": str(out), "GOPATH": str(out / "path"), "GOCACHE": str(out / "cache"), "GOENV": "off", "GOWORK": "off",
            "GOMODCACHE": str(modules), "GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local",
            "GOFLAGS": "-modcacherw", "CGO_ENABLED": "1",
            # One word: go tries whether a compiler makes programs without -pie, which the race detector wants, with that alone.
            "CC": tree.cc[-1],
            "CGO_CFLAGS": "-O2 -g " + shlex.quote(f"-I{tree.root / 'capi'}"), "CGO_LDFLAGS": shlex.quote(f"-L{out / 'lib'}"),
            "PKG_CONFIG_PATH": str(out / "pkgconfig")}


def prepare(tree):
    """Makes the library's usual names, for the linker and pkg-config."""
    for folder, name, target in (("lib", "libbfstore.a", tree.archive), ("shared", "libbfstore.so", tree.library),
                                 ("shared", "libbfstore.so.0", tree.library)):
        languages.renew_link(tree.out / folder / name, target)
    text = f"Name: bfstore\nDescription: of this build\nVersion: 0\nCflags: -I{tree.root / 'capi'}\nLibs: -L{tree.out / 'shared'} -lbfstore\n"
    languages.renew(tree.out / "pkgconfig" / "bfstore.pc", text.encode())


def build(tree):
    go = programs.find("go", OLDEST)
    folder, env = tree.bindings / "go", environment(tree, go, tree.fetched("go-modules", "fetch_go_packages"))
    prepare(tree)
    agree = tree.out / "agree"
    subprocess.run([go, "build", "-trimpath", "-o", agree, "./tests/agree"], cwd=folder, check=True,
                   env={**os.environ, **env})
    env["BFSTORE_SHARED"] = str(tree.out / "shared")
    tests = [go, "test", "-v", "-race", "-vet=all", "-count=1", "-timeout", "60m", "./..."]
    return languages.Binding(tests=tests, agree=[str(agree)], environment=env, folder=folder)


def times(tree, binding):
    """Returns the command that bench/bindings.py runs."""
    program = tree.out / "times"
    subprocess.run([programs.find("go", OLDEST), "build", "-trimpath", "-o", program, "./tests/times"], cwd=binding.folder,
                   check=True, env={**os.environ, **binding.environment})
    return [str(program)]

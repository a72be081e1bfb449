"""Rust: both crates are built by cargo from the tree, without a network: they need no other crate."""

import json
import os
import pathlib
import shutil
import subprocess

import languages
import programs

OLDEST = "1.63"  # Cargo.toml
TOOLS = ("cargo", "rustc", "rustdoc")


def toolchain():
    """Returns the programs, {name: path}, all of one toolchain. If cargo is rustup's, they are the programs that rustup's run."""
    beside = os.path.dirname(programs.find("cargo", OLDEST))
    rustc = shutil.which("rustc", path=beside) or programs.find("rustc", OLDEST)
    root = subprocess.run([rustc, "--print", "sysroot"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    for folder in (pathlib.Path(root) / "bin", beside):
        found = {name: shutil.which(name, path=folder) for name in TOOLS}
        if all(found.values()):
            return found
    raise languages.Missing(f"{root} and {beside} have not all of {', '.join(TOOLS)}")


def _built(options, environment, name):
    """Returns the path of a program, which only cargo knows."""
    built = subprocess.run([toolchain()["cargo"], "build", *options, "--message-format=json"], check=True, stdout=subprocess.PIPE, text=True,
                           env={**os.environ, **environment})
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(message["executable"] for message in messages
                if message["reason"] == "compiler-artifact" and message["target"]["name"] == name)


def _options(tree):
    return ["--manifest-path", str(tree.bindings / "rust" / "Cargo.toml"), "--offline", "--locked"]


def build(tree):
    options, tools = _options(tree), toolchain()
    environment = {"PATH": programs.path(*tools.values()), "RUSTC": tools["rustc"], "RUSTDOC": tools["rustdoc"],
                   "RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": "", "CARGO_HOME": str(tree.out / "cargo-home"), "CARGO_TARGET_DIR": str(tree.out / "target"),
                   "RUSTFLAGS": "-Dwarnings", "RUSTDOCFLAGS": "-Dwarnings", "BFSTORE_ARCHIVE": str(tree.archive)}
    return languages.Binding(tests=[tools["cargo"], "test", *options], environment=environment,
                             agree=[_built([*options, "--test", "agree"], environment, "agree")])


def times(tree, binding):
    """Returns the command that bench/bindings.py runs."""
    return [_built([*_options(tree), "--release", "--example", "times"], binding.environment, "times")]

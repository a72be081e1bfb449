"""Rust: both crates are built by cargo from the tree, without a network: they need no other crate."""

import json
import os
import subprocess

import languages


def _built(options, environment, name):
    """The path of a program: cargo alone knows it."""
    built = subprocess.run(["cargo", "build", *options, "--message-format=json"], check=True, stdout=subprocess.PIPE, text=True,
                           env={**os.environ, **environment})
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(message["executable"] for message in messages
                if message["reason"] == "compiler-artifact" and message["target"]["name"] == name)


def _options(tree):
    return ["--manifest-path", str(tree.bindings / "rust" / "Cargo.toml"), "--offline", "--locked"]


def build(tree):
    options = _options(tree)
    environment = {"CARGO_HOME": str(tree.out / "cargo-home"), "CARGO_TARGET_DIR": str(tree.out / "target"),
                   "RUSTFLAGS": "-Dwarnings", "RUSTDOCFLAGS": "-Dwarnings", "BFSTORE_ARCHIVE": str(tree.archive)}
    return languages.Binding(tests=["cargo", "test", *options], environment=environment,
                             agree=[_built([*options, "--test", "agree"], environment, "agree")])


def times(tree, binding):
    """The command that bench/bindings.py runs."""
    return [_built([*_options(tree), "--release", "--example", "times"], binding.environment, "times")]

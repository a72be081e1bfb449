"""Rust: both crates are built by cargo from the tree, without a network: they need no other crate."""

import json
import os
import subprocess

import languages


def _agree(options, environment):
    """The path of the program `agree`: cargo alone knows its name."""
    built = subprocess.run(["cargo", "build", *options, "--test", "agree", "--message-format=json"], check=True,
                           stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(message["executable"] for message in messages
                if message["reason"] == "compiler-artifact" and message["target"]["name"] == "agree")


def build(tree):
    options = ["--manifest-path", str(tree.bindings / "rust" / "Cargo.toml"), "--offline", "--locked"]
    environment = {"CARGO_HOME": str(tree.out / "cargo-home"), "CARGO_TARGET_DIR": str(tree.out / "target"),
                   "RUSTFLAGS": "-Dwarnings", "RUSTDOCFLAGS": "-Dwarnings", "BFSTORE_ARCHIVE": str(tree.archive)}
    return languages.Binding(tests=["cargo", "test", *options], agree=[_agree(options, environment)], environment=environment)

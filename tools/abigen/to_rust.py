"""Rust: the module abi of the crate bfstore-sys, and the words of messages, in rustfmt's form."""

import json

import words

WIDTH = 120  # rustfmt.toml
TYPES = {"int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "size_t": "usize", "double": "f64",
         "uint8_t": "u8", "char": "c_char", "void": "c_void"}

HANDLE = """
/// A handle: only its address is known.
#[repr(C)]
pub struct {name} {{
    _opaque: [u8; 0],
    // Neither Send nor Sync nor Unpin: a wrapper that is says so.
    _neither: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
}}"""

DEFAULT = """
/// Zeros, and the struct's own size, as BFS_..._INIT.
impl Default for {name} {{
    fn default() -> Self {{
        // SAFETY: integers, floats, arrays of them, and raw pointers: all of them may be zero.
        Self {{ struct_bytes: size_of::<Self>() as u32, ..unsafe {{ zeroed() }} }}
    }}
}}"""


def type_of(kind):
    text = TYPES.get(kind.base, kind.base)
    for is_const in kind.points_to_const:
        text = ("*const " if is_const else "*mut ") + text
    return text


def constant(one):
    kind = "i32" if one.is_code else f"u{one.bits}"
    return f"pub const {one.name}: {kind} = {one.written};"


def struct(one):
    yield f"\n#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {one.name} {{"
    for field in one.fields:
        kind = type_of(field.type)
        yield f"    pub {field.name}: " + (f"[{kind}; {field.count}]" if field.count else kind) + ","
    yield "}"
    yield f"const _: () = assert!(size_of::<{one.name}>() == {one.bytes});"
    if one.says_its_size:
        yield DEFAULT.format(name=one.name)


def function(one):
    parameters = [f"{parameter.name}: {type_of(parameter.type)}" for parameter in one.parameters]
    result = "" if type_of(one.result) == "c_void" else f" -> {type_of(one.result)}"
    line = f"    pub fn {one.name}({', '.join(parameters)}){result};"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"    pub fn {one.name}(", *(f"        {parameter}," for parameter in parameters), f"    ){result};"])


def pair(theirs, own):
    line = f"    ({theirs}, {own}),"
    return line if len(line) <= WIDTH else f"    (\n        {theirs},\n        {own},\n    ),"


def files(abi, mark):
    lines = [f"// {mark}", "use std::mem::{size_of, zeroed};", "use std::os::raw::{c_char, c_void};", ""]
    lines += [constant(one) for one in abi.constants]
    lines += [HANDLE.format(name=name) for name in abi.handles]
    lines += [line for one in abi.structs for line in struct(one)]
    lines += ["", 'extern "C" {', *map(function, abi.functions), "}"]
    yield "capi/bindings/rust/bfstore-sys/src/abi.rs", "\n".join(lines) + "\n"

    lines = [f"// {mark}", "//! The words of the library and those of Rust: see tools/abigen/words.py."]
    for name, comment, pairs in words.tables(abi, "rust"):
        rows = [pair(json.dumps(theirs), json.dumps(own)) for theirs, own in pairs]
        head = f"pub(crate) const {name}: &[(&str, &str)] = &["
        lines += ["", f"/// {comment}", *([head, *rows, "];"] if rows else [f"{head}];"])]
    yield "capi/bindings/rust/bfstore/src/words.rs", "\n".join(lines) + "\n"

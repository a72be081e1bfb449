/* What abi.js writes down by hand is what the C compiler says: constants, sizes, offsets; and every function is used. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import * as bfstore from "bfstore";
import {BFS, FUNCTIONS, STRUCTS} from "../lib/abi.js";
import * as options from "../lib/options.js";
import {ABI, PACKAGE, ROOT} from "./case.js";

const sources = fs.readdirSync(path.join(PACKAGE, "lib")).filter((name) => name !== "abi.js")
  .map((name) => fs.readFileSync(path.join(PACKAGE, "lib", name), "utf8")).join("\n");
const header = fs.readFileSync(path.join(ROOT, "capi", "bfstore.h"), "utf8").replace(/\/\*[^]*?\*\//g, " ");

test("every constant has the header's number", () => {
  assert.ok(Object.keys(BFS).length > 70);
  for (const [name, number] of Object.entries(BFS)) assert.equal(number, ABI.constants[`BFS_${name}`], name);
});

test("every flag, layout, hash, ability and difference of the header is known, and used", () => {
  const kinds = /^BFS_(OPEN|OPTION|STATS|LAYOUT|HASH|CAN|DIFFERS|BITS)_/;
  const names = Object.keys(ABI.constants).filter((name) => kinds.test(name)).map((name) => name.slice(4));
  assert.ok(names.length > 50);
  assert.deepEqual(names.filter((name) => !(name in BFS)), []);
  assert.deepEqual(names.filter((name) => !new RegExp(`\\bBFS\\.${name}\\b`).test(sources)), []);
});

test("every struct is as long as the header's, and has its fields where they are", () => {
  const unused = ["bfs_key"]; // lists of keys go as a column
  assert.deepEqual(Object.keys(ABI.structs).filter((name) => !(name in STRUCTS)), unused);
  for (const [name, {bytes, fields}] of Object.entries(STRUCTS)) {
    assert.equal(bytes, ABI.structs[name].bytes, name);
    assert.deepEqual(Object.keys(fields), Object.keys(ABI.structs[name].fields), name);
    for (const [field, {offset, kind}] of Object.entries(fields)) {
      const size = typeof kind === "number" ? kind : {u32: 4, i32: 4, u64: 8, f64: 8, pointer: 8, interval: 24}[kind];
      assert.deepEqual([offset, size], ABI.structs[name].fields[field], `${name}.${field}`);
    }
  }
});

/** What a parameter or result of C is to koffi. */
function kindOf(text) {
  const type = text.replace(/\bconst\b/g, " ").trim();
  if (/^bfs_filter\s*\*\s*\w*$/.test(type)) return "uint64_t";
  if (/^char\s*\*\s*$/.test(type)) return "str";
  return type.includes("*") ? "pointer" : type.replace(/\s+\w+$/, "");
}

test("every function has the header's parameters", () => {
  // The others do the same: open_with, wrap_with, add_keys and contains_keys.
  const same = ["bfs_open", "bfs_wrap", "bfs_add_digests", "bfs_contains_digests"];
  assert.deepEqual(ABI.functions.filter((name) => !(name in FUNCTIONS)), same);
  for (const [name, kinds] of Object.entries(FUNCTIONS)) {
    const [, result, parameters] = new RegExp(`BFS_API(?: BFS_CHECK)? ([\\w *]+?)\\s*\\b${name}\\(([^)]*)\\)`).exec(header);
    const said = [result, ...parameters.split(",")].map((text) => kindOf(text)).filter((kind, i) => i === 0 || kind !== "void");
    const known = kinds.map((kind, i) => kind === "void *" || (said[i] === "pointer" && kind === "uint64_t") ? "pointer" : kind);
    assert.deepEqual(known, said, name);
  }
});

test("every function is called", () => {
  assert.deepEqual(Object.keys(FUNCTIONS).filter((name) => !new RegExp(`\\b${name}\\b`).test(sources)), []);
});

test("what waits for a lock or the disk is there twice", () => {
  const text = fs.readFileSync(path.join(ROOT, "capi", "bfstore.h"), "utf8");
  const documented = text.matchAll(/\/\*((?:(?!\*\/)[^])*)\*\/\s*BFS_API(?: BFS_CHECK)? [\w *]+?\b(bfs_\w+)\(/g);
  const none = /\* Waits and codes: as bfs_(add|remove)\./; // which wait for no lock of the file
  const waiting = [...documented].filter(([, words]) => /\* Waits( and codes)?: /.test(words) && !none.test(words)).map(([, , name]) => name);
  assert.ok(waiting.length > 20, waiting.join());
  const said = {bfs_open_with: "open", bfs_shut: "close"}; // close() shuts what is in use
  for (const name of waiting) {
    const one = said[name] ?? name.slice(4).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    for (const each of [one, `${one}Async`])
      assert.equal(typeof (bfstore[each] ?? bfstore.Filter.prototype[each]), "function", `${name}: ${each}`);
  }
});

test("every option of a struct is taken", () => {
  const own = ["struct_bytes", "reserved", "flags", "key_bytes", "note_bytes", "num_seeds"]; // set with another field
  for (const [struct, taken] of [["bfs_options", "create"], ["bfs_open_options", "open"], ["bfs_copy_options", "save"], ["bfs_plan_request", "plan"]]) {
    const fields = Object.keys(STRUCTS[struct].fields).filter((name) => !own.includes(name));
    const special = {key: "secret", lock_timeout_ms: "lockTimeout", writeback_check_ms: "writebackCheck", fd: undefined};
    const names = fields.filter((name) => name !== "fd").map((name) => special[name] ?? name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
    assert.deepEqual([...options.TAKEN[taken]].sort(), names.sort(), struct);
  }
});

/* The package uses everything that the headers declare. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import * as bfstore from "bfstore";
import {BFS, FUNCTIONS, STRUCTS} from "../lib/abi.js";
import * as options from "../lib/options.js";
import {PACKAGE, ROOT} from "./case.js";

const sources = fs.readdirSync(path.join(PACKAGE, "lib")).filter((name) => !["abi.js", "words.js"].includes(name))
  .map((name) => fs.readFileSync(path.join(PACKAGE, "lib", name), "utf8")).join("\n");

const headers = fs.readdirSync(path.join(ROOT, "capi")).filter((name) => /^bfstore.*\.h$/.test(name))
  .map((name) => fs.readFileSync(path.join(ROOT, "capi", name), "utf8")).join("\n");

test("every flag of the headers is used", () => {
  const names = [...headers.matchAll(/^#define BFS_(\w+) +0x[0-9a-f]+ull\b/gm)].map(([, name]) => name);
  assert.ok(names.length > 25);
  assert.deepEqual(names.filter((name) => !new RegExp(`\\bBFS\\.${name}\\b`).test(sources)), []);
});

test("every function is called", () => {
  const unused = ["bfs_layout_named", "bfs_hash_named"]; // the numbers of all names are read once
  assert.deepEqual(Object.keys(FUNCTIONS).filter((name) => !new RegExp(`\\b${name}\\b`).test(sources)), unused);
});

test("the types name every layout and hash", () => {
  const text = fs.readFileSync(path.join(PACKAGE, "lib", "options.js"), "utf8");
  for (const [type, names] of [["Layout", options.LAYOUTS], ["Hash", options.HASHES]]) {
    const said = new RegExp(`@typedef \\{([^}]*)\\} ${type}\\b`).exec(text)[1];
    assert.deepEqual(said.match(/[\w-]+/g).sort(), Object.keys(names).sort(), type);
  }
});

test("what waits for a lock or the disk is there twice", () => {
  const documented = headers.matchAll(/\/\*((?:(?!\*\/)[^])*)\*\/\s*BFS_API(?: BFS_CHECK)? [\w *]+?\b(bfs_\w+)\(/g);
  const waiting = [...documented].filter(([, words]) => /\bWaits( and codes)?: /.test(words)).map(([, , name]) => name);
  assert.ok(waiting.length > 18, waiting.join());
  const said = {bfs_shut: "close", bfs_foreign_import: "importForeign", bfs_foreign_export: "exportForeign",
    bfs_foreign_open: "openForeign"}; // close() shuts a filter in use
  for (const name of waiting) {
    const one = said[name] ?? name.slice(4).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    for (const each of [one, `${one}Async`])
      assert.equal(typeof (bfstore[each] ?? bfstore.Filter.prototype[each]), "function", `${name}: ${each}`);
  }
});

test("every option of a struct is taken", () => {
  const own = ["struct_bytes", "reserved", "secret_bytes", "note_bytes", "num_seeds", "fd"]; // set with another field, or for a path
  const names = {lock_timeout_ms: "lockTimeout", writeback_check_ms: "writebackCheck", window_ms: "window"};
  for (const [struct, functions] of [["bfs_options", ["create", "open"]], ["bfs_plan_request", ["plan"]]]) {
    const fields = Object.keys(STRUCTS[struct].fields).filter((name) => !own.includes(name));
    const taken = new Set(functions.flatMap((name) => options.TAKEN[name].fields));
    assert.deepEqual([...taken].sort(), fields.map((name) => names[name] ?? name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())).sort(), struct);
  }
});

test("the types name every code", () => {
  const text = fs.readFileSync(path.join(PACKAGE, "types", "abi.d.ts"), "utf8");
  const [, said] = /type CodeName = ([^;]*);/.exec(text);
  const codes = Object.keys(BFS).filter((name) => BFS[name] < 0).map((name) => `BFS_${name}`);
  assert.deepEqual(said.match(/\w+/g).sort(), codes.sort());
});

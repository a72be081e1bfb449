/* The package uses everything that the headers declare. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import * as bfstore from "bfstore";
import {FUNCTIONS, STRUCTS} from "../lib/abi.js";
import * as options from "../lib/options.js";
import {ABI, PACKAGE, ROOT} from "./case.js";

const sources = fs.readdirSync(path.join(PACKAGE, "lib")).filter((name) => name !== "abi.js")
  .map((name) => fs.readFileSync(path.join(PACKAGE, "lib", name), "utf8")).join("\n");

test("every flag of the headers is used", () => {
  const kinds = /^BFS_(OPEN|OPTION|STATS|BITS)_/;
  const names = Object.keys(ABI.constants).filter((name) => kinds.test(name)).map((name) => name.slice(4));
  assert.ok(names.length > 25);
  assert.deepEqual(names.filter((name) => !new RegExp(`\\bBFS\\.${name}\\b`).test(sources)), []);
});

test("every function is called", () => {
  // These have another form here: open_with, wrap_with, add_keys and contains_keys; and the names of the numbers.
  const same = ["bfs_layout_named", "bfs_hash_named", "bfs_open", "bfs_wrap", "bfs_add_digests", "bfs_contains_digests"];
  assert.deepEqual(Object.keys(FUNCTIONS).filter((name) => !new RegExp(`\\b${name}\\b`).test(sources)), same);
});

test("the types name every layout and hash", () => {
  const text = fs.readFileSync(path.join(PACKAGE, "lib", "options.js"), "utf8");
  for (const [type, names] of [["Layout", options.LAYOUTS], ["Hash", options.HASHES]]) {
    const said = new RegExp(`@typedef \\{([^}]*)\\} ${type}\\b`).exec(text)[1];
    assert.deepEqual(said.match(/[\w-]+/g), Object.keys(names), type);
  }
});

test("what waits for a lock or the disk is there twice", () => {
  const headers = fs.readdirSync(path.join(ROOT, "capi")).filter((name) => /^bfstore.*\.h$/.test(name));
  const text = headers.map((name) => fs.readFileSync(path.join(ROOT, "capi", name), "utf8")).join("\n");
  const documented = text.matchAll(/\/\*((?:(?!\*\/)[^])*)\*\/\s*BFS_API(?: BFS_CHECK)? [\w *]+?\b(bfs_\w+)\(/g);
  const none = /\* Waits and codes: as bfs_(add|remove)\./; // these wait for no lock of the file
  const waiting = [...documented].filter(([, words]) => /\* Waits( and codes)?: /.test(words) && !none.test(words)).map(([, , name]) => name);
  assert.ok(waiting.length > 20, waiting.join());
  const said = { // close() shuts a filter in use
    bfs_open_with: "open", bfs_shut: "close", bfs_foreign_import: "importForeign", bfs_foreign_export: "exportForeign",
  };
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

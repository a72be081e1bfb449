/* README's example does what its comments say, as an ES module and, with the runtime's own require, in CommonJS. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import {PACKAGE, caseOf, run} from "./case.js";

const [, example] = /^```js\n([^]*?)^```/m.exec(fs.readFileSync(path.join(PACKAGE, "README.md"), "utf8"));
const SAID = "true false\nUint8Array(2) [ 1, 0 ]\n";

function installed(t) {
  const {folder, file} = caseOf(t);
  fs.mkdirSync(file("node_modules"));
  fs.symlinkSync(PACKAGE, file("node_modules/bfstore"));
  return folder;
}

test("the example runs", (t) => {
  const done = run(example, [], {cwd: installed(t)});
  assert.deepEqual([done.stdout, done.stderr], [SAID, ""]);
});

test("the example of the package's own comment runs", (t) => {
  const text = fs.readFileSync(path.join(PACKAGE, "lib", "index.js"), "utf8");
  const [, own] = /```js\n([^]*?)```/.exec(text);
  const done = run(own.replace(/^ \* ?/gm, "").replace("users.contains", "console.log(users.contains").replace('"); // true', '")); // true'), [], {cwd: installed(t)});
  assert.deepEqual([done.stdout, done.stderr], ["true\n", ""]);
});

test("the example runs in CommonJS", {skip: !process.features.require_module && "this Node.js cannot require an ES module"}, (t) => {
  const common = example.replace('import * as bfstore from "bfstore"', 'const bfstore = require("bfstore")').replace("await reader.closeAsync()", "reader.close()");
  const folder = installed(t);
  fs.writeFileSync(path.join(folder, "example.cjs"), common);
  const done = run('import "./example.cjs";', [], {cwd: folder});
  assert.equal(done.stdout, SAID, done.stderr);
});

/* README's example does what its comments say, as an ES module and, with the runtime's own require, in CommonJS. */
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import test from "node:test";
import {PACKAGE, caseOf, numbers, run} from "./case.js";

const readme = fs.readFileSync(path.join(PACKAGE, "README.md"), "utf8");
const [, example] = /^```js\n([^]*?)^```/m.exec(readme);
const PROCESSES = 4;
const ROUNDS = 40;
const SAID = "true false\nUint8Array(2) [ 1, 0 ]\n";

function installed(t) {
  const {folder, file} = caseOf(t);
  fs.mkdirSync(file("node_modules"));
  fs.symlinkSync(PACKAGE, file("node_modules/bfstore"));
  return folder;
}

test("the example runs, and once more with the file that is there", (t) => {
  const folder = installed(t);
  for (const _ of numbers(2)) {
    const done = run(example, [], {cwd: folder});
    assert.deepEqual([done.stdout, done.stderr], [SAID, ""]);
  }
});

/* A process that waits for the name of a folder, runs the example in it, and waits for the next one. */
const RUNNER = `
  import readline from "node:readline";
  import "bfstore"; // loaded before the first round
  let round = 0;
  for await (const folder of readline.createInterface({input: process.stdin})) {
    process.chdir(folder);
    await import("./example.mjs?" + round++);
    console.log("done");
  }`;

test("the example runs in four processes at once, where no file is there yet", async (t) => {
  const folder = installed(t);
  fs.writeFileSync(path.join(folder, "example.mjs"), example);
  fs.writeFileSync(path.join(folder, "runner.mjs"), RUNNER);
  const children = numbers(PROCESSES).map(() => spawn(process.execPath, [path.join(folder, "runner.mjs")], {stdio: ["pipe", "pipe", "inherit"]}));
  t.after(() => children.forEach((child) => child.kill()));
  const ended = children.map((child) => once(child, "exit"));
  const said = children.map((child) => readline.createInterface({input: child.stdout})[Symbol.asyncIterator]());
  for (const round of numbers(ROUNDS)) {
    const own = path.join(folder, `round-${round}`);
    fs.mkdirSync(own);
    for (const child of children) child.stdin.write(`${own}\n`);
    for (const lines of said)
      for (const expected of [...SAID.trimEnd().split("\n"), "done"]) assert.equal((await lines.next()).value, expected, `round ${round}`);
    assert.deepEqual(fs.readdirSync(own), ["users.bf"]);
  }
  for (const child of children) child.stdin.end();
  for (const one of ended) assert.deepEqual(await one, [0, null]);
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

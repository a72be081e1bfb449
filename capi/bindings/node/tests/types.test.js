/* The types that users get: tsc --strict accepts a typed use of the package, finds the mistakes in it, and its output
 * for `using` runs. */
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import * as bfstore from "bfstore";
import {PACKAGE, ROOT, caseOf, run} from "./case.js";

test("the types in the source tree are those that tsc makes now", () => {
  const [made, kept] = [path.join(PACKAGE, "types"), path.join(ROOT, "capi", "bindings", "node", "types")];
  const texts = (folder) => fs.readdirSync(folder).sort().map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]);
  assert.ok(texts(made).length > 10);
  assert.ok(JSON.stringify(texts(made)) === JSON.stringify(texts(kept)), `the comments of lib have changed: rm -r ${kept}; cp -r ${made} ${kept}`);
});

test("a typed use is accepted, mistakes are found, and `using` closes", (t) => {
  const {folder, file, path: filter} = caseOf(t);
  fs.mkdirSync(file("node_modules"));
  fs.symlinkSync(PACKAGE, file("node_modules/bfstore"));
  fs.symlinkSync(path.join(PACKAGE, "node_modules", "@types"), file("node_modules/@types"));
  fs.writeFileSync(file("package.json"), '{"type": "module"}');
  fs.copyFileSync(path.join(PACKAGE, "tests", "typed_use.ts"), file("typed_use.ts"));
  const tsc = path.join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
  const done = spawnSync(process.execPath, [tsc, "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,esnext.disposable",
    "--types", "node", "--noUnusedLocals", "typed_use.ts"], {cwd: folder, encoding: "utf8"});
  assert.deepEqual([done.stdout, done.status], ["", 0]);
  // The constructor and the wrong calls of the typed use throw when they run: only the code before them has to run.
  const program = fs.readFileSync(file("typed_use.js"), "utf8").replace(/\/\/ @ts-expect-error: no fractions[^]*(?=return added)/, "");
  fs.writeFileSync(file("typed_use.js"), program);
  const ran = run(`
    import * as bfstore from "bfstore";
    import {use} from "./typed_use.js";
    console.log(await use(process.argv[1]) > 0);
    const opened = bfstore.open(process.argv[1], "r+", {exclusive: true, lockTimeout: 0}); // \`using\` has closed it
    console.log(opened.contains("a"));
    opened.close();`, [filter], {cwd: folder});
  assert.equal(ran.stdout, "true\ntrue\n", ran.stderr);
});

test("everything public is in the types, with words", () => {
  const declared = (name) => fs.readFileSync(path.join(PACKAGE, "types", name), "utf8");
  const texts = ["errors", "files", "filter", "library"].map((name) => declared(`${name}.d.ts`)).join("\n");
  for (const name of Object.keys(bfstore)) {
    assert.match(declared("index.d.ts"), new RegExp(`\\b${name}\\b`));
    assert.match(texts, new RegExp(`\\*/\\s*export (declare )?(const|function|class) ${name}\\b`), name);
  }
  for (const name of Object.getOwnPropertyNames(bfstore.Filter.prototype))
    if (name !== "constructor") assert.match(texts, new RegExp(`\\*/\\s*(get )?${name}\\(`), name);
});

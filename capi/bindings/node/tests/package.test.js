/* The package as npm packs it is installed without a network into an empty folder, used, and removed. */
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import * as bfstore from "bfstore";
import {PACKAGE, caseOf, run} from "./case.js";

const LIBRARY = `prebuilt/linux-${process.arch}/libbfstore.so`;
const PROGRAM = `
  import * as bfstore from "bfstore";
  const made = bfstore.create(process.argv[1], {capacity: 100});
  made.add("alice");
  console.log(made.contains("alice"), made.contains("bob"), bfstore.version);
  made.close();`;

/** Runs npm without this user's settings, and without a network. */
function npm(folder, ...words) {
  const done = spawnSync("npm", [...words, "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
    {cwd: folder, encoding: "utf8", env: {...process.env, HOME: folder}, timeout: 600_000});
  assert.equal(done.status, 0, `npm ${words.join(" ")}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** Packs the packages of folders, and returns the contents of each. */
function pack(to, ...folders) {
  return JSON.parse(npm(to, "pack", ...folders, "--json"))
    .map(({filename, files}) => ({tarball: path.join(to, filename), files: files.map((file) => file.path).sort()}));
}

test("the package is installed, used and removed", {skip: spawnSync("npm", ["--version"]).status !== 0 && "npm is not installed"}, (t) => {
  const {folder, file, path: filter} = caseOf(t);
  const modules = fs.realpathSync(path.join(PACKAGE, "node_modules"));
  const native = `@koromix/koffi-linux-${process.arch}`;
  const packed = pack(folder, PACKAGE, path.join(modules, "koffi"), path.join(modules, native));
  const {tarball, files} = packed[0];
  const sources = ["lib", "types"].flatMap((kind) => fs.readdirSync(path.join(PACKAGE, kind)).map((name) => `${kind}/${name}`));
  assert.deepEqual(files, [...sources, LIBRARY, "LICENSE", "README.md", "package.json"].sort());
  assert.ok(fs.statSync(tarball).size < 3_000_000);

  fs.mkdirSync(file("app"));
  fs.writeFileSync(file("app/package.json"), '{"name": "app", "version": "1.0.0", "private": true}');
  npm(file("app"), "install", ...packed.map((one) => one.tarball));
  const done = run(PROGRAM, [filter], {cwd: file("app")});
  assert.equal(done.stdout, `true false ${bfstore.version}\n`, done.stderr);

  npm(file("app"), "uninstall", "bfstore");
  assert.equal(fs.existsSync(file("app/node_modules/bfstore")), false);
  assert.match(run(PROGRAM, [filter], {cwd: file("app")}).stderr, /Cannot find package 'bfstore'/);
});

test("the library in the package is the one that was built, and needs nothing that a system lacks", () => {
  const read = (name) => fs.readFileSync(name);
  assert.ok(read(path.join(PACKAGE, LIBRARY)).equals(read(process.env.BFSTORE_LIBRARY)));
  const said = spawnSync("readelf", ["-dW", path.join(PACKAGE, LIBRARY)], {encoding: "utf8"}).stdout;
  const needed = [...said.matchAll(/\(NEEDED\).*\[([\w+-]+)\.so/g)].map(([, name]) => name);
  assert.ok(needed.length > 0);
  assert.deepEqual(needed.filter((name) => !["libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64"].includes(name)), []);
});

test("the package, its types and the lock file have one version of everything", () => {
  const [own, lock] = ["package.json", "package-lock.json"].map((name) => JSON.parse(fs.readFileSync(path.join(PACKAGE, name), "utf8")));
  assert.equal(own.version, bfstore.version);
  assert.equal(lock.packages[""].version, bfstore.version);
  for (const [name, version] of Object.entries({...own.dependencies, ...own.devDependencies}))
    assert.equal(lock.packages[`node_modules/${name}`].version, version);
  for (const [name, entry] of Object.entries(lock.packages)) {
    assert.equal("resolved" in entry, false, `${name}: the lock file names no host`);
    if (name !== "") assert.match(entry.integrity, /^sha512-/, name);
  }
});

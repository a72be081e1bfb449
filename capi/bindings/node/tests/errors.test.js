/* Every code is a BfstoreError with words, of the kind of its range, with the errno's name if Node.js has one. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import util from "node:util";
import * as threads from "node:worker_threads";
import * as bfstore from "bfstore";
import {BFS, STRUCTS} from "../lib/abi.js";
import {errorOfStruct} from "../lib/errors.js";
import {Struct} from "../lib/struct.js";
import {ABI, PACKAGE, caseOf, numbers} from "./case.js";

const CODES = Object.entries(ABI.constants).filter(([name, code]) => /^BFS_E[A-Z]/.test(name) && code < 0);
const errorOf = (code, osErrno, message) => new bfstore.BfstoreError(code, osErrno, message);

test("every code is an error of its kind", () => {
  assert.ok(CODES.length > 35);
  for (const [name, code] of CODES) {
    const error = errorOf(code, 2, "words: what to do");
    assert.equal(error.kind, code > -100 ? "call" : code > -200 ? "state" : "malformed", name);
    assert.ok(error instanceof bfstore.BfstoreError && error instanceof Error);
    assert.deepEqual([error.bfsCode, error.bfsName, error.errno, error.message, error.name, error.rule], [code, name, -2, "words: what to do", "BfstoreError", undefined]);
    assert.equal(String(error), "BfstoreError: words: what to do");
    assert.ok(bfstore.strerror(code).length > 5);
    assert.match(error.stack, /^BfstoreError: [^]*errors\.test\.js/);
  }
});

test("a code of a later release has a kind", () => {
  assert.deepEqual([-99, -199, -299, -5000].map((code) => errorOf(code, 0, "").kind), ["call", "state", "malformed", "other"]);
  assert.equal(errorOf(-99, 0, "").code, "BFS_E?");
});

test("the package has one class of errors, as its README says", () => {
  const classes = Object.entries(bfstore).filter(([, one]) => typeof one === "function" && one.prototype instanceof Error);
  assert.deepEqual(classes.map(([name]) => name), ["BfstoreError"]);
});

test("code is the errno's name where that says all", () => {
  for (const [code, osErrno, name] of [[BFS.ENOENT, 2, "ENOENT"], [BFS.ENOENT, 0, "ENOENT"], [BFS.ENOENT, 20, "ENOTDIR"], [BFS.EACCES, 1, "EPERM"],
    [BFS.ESYSTEM, 24, "EMFILE"], [BFS.ESYSTEM, 9999, "BFS_ESYSTEM"], [BFS.ESYMLINK, 40, "ELOOP"], [BFS.EPOISONED, 5, "BFS_EPOISONED"], [BFS.EBUSY, 16, "EBUSY"]])
    assert.equal(errorOf(code, osErrno, "").code, name);
});

test("an error has no property that says nothing", (t) => {
  const {create, file, path} = caseOf(t);
  const properties = (error) => Object.keys(error).sort();
  const always = ["bfsCode", "bfsName", "code", "kind"];
  assert.deepEqual(properties(errorOf(BFS.ELOST, 0, "")), always);
  assert.deepEqual(properties(new bfstore.BfstoreError(BFS.EMALFORMED, 5, "", 7, "x")), [...always, "errno", "path", "rule"].sort());
  assert.doesNotMatch(util.inspect(errorOf(BFS.ELOST, 0, "words")), /errno|rule|path|undefined/);
  const failed = (call) => { try { call(); } catch (error) { return error; } };
  assert.equal(failed(() => bfstore.open(path)).path, path);
  const filter = create();
  assert.equal(failed(() => filter.dump({bare: true})).path, path);
  filter.close();
  assert.equal(failed(() => filter.contains("a")).path, path);
  const reader = bfstore.open(path);
  assert.deepEqual([failed(() => reader.add("a")).path, failed(() => reader.sync()).path], [path, path]);
  reader.close();
  assert.equal(failed(() => bfstore.create(file("x"), {like: file("none")})).path, undefined); // another file is missing
  for (const call of [() => bfstore.load(Buffer.alloc(8)), () => bfstore.plan({}), () => bfstore.open(999_999)])
    assert.equal("path" in failed(call), false, String(call));
  assert.equal(failed(() => bfstore.verify(file("none"))).path, file("none"));
});

test("bytes that are empty are no filter, in the words of the library for an empty file", (t) => {
  const {create} = caseOf(t);
  const bits = create({capacity: undefined, numBits: 64, numProbes: 3, layout: "classic"});
  for (const [call, code, words] of [[() => bfstore.load(new Uint8Array(0)), "BFS_EMALFORMED", /it is empty/],
    [() => bits.importBits(Buffer.alloc(0), "little"), "EINVAL", /has 0 bytes/]])
    assert.throws(call, (error) => error.code === code && words.test(error.message), String(call));
});

test("a number that may not be exact is refused by where the exact ones end", (t) => {
  const filter = caseOf(t).create();
  for (const number of [2 ** 53, -(2 ** 53), 2 ** 60])
    assert.throws(() => filter.add(number), {code: "ERR_OUT_OF_RANGE", message: "a number from 2^53 on, or from -2^53 down, may not be exact: say it as a bigint"});
});

test("a library that cannot be loaded has a code, and words that say what to do", async (t) => {
  const {file} = caseOf(t);
  for (const name of ["lib", "package.json", "prebuilt"]) fs.cpSync(path.join(PACKAGE, name), file(name), {recursive: true});
  fs.symlinkSync(path.join(PACKAGE, "node_modules"), file("node_modules"));
  for (const system of fs.readdirSync(file("prebuilt"))) fs.writeFileSync(file(`prebuilt/${system}/libbfstore.so`), "no library");
  await assert.rejects(import(file("lib/index.js")), (error) => error.code === "ERR_BFSTORE_LIBRARY" && /run \.\/tools\/demo/.test(error.message));
});

test("a filter is not cloned; before Node.js 22.10, which has no way to refuse, the clone is no filter", (t) => {
  const filter = caseOf(t).create();
  if ("markAsUncloneable" in threads) {
    assert.throws(() => structuredClone(filter), {name: "DataCloneError"});
  } else {
    assert.deepEqual(structuredClone(filter), {});
  }
});

test("an error that the library did not fill in still has words", () => {
  assert.match(errorOfStruct(BFS.EUNCLEAN, new Struct("bfs_error"), {name: "users.bf"}).message, /^users\.bf: .*power cut/);
});

test("every struct that goes to the library says its size, so that a call that fails has words", (t) => {
  const sized = Object.values(STRUCTS).filter(({fields}) => "struct_bytes" in fields);
  assert.ok(sized.length > 8);
  for (const {name, bytes} of sized) assert.equal(new Struct(name).number("struct_bytes"), bytes, name);
  const {create, file, folder} = caseOf(t);
  const none = file("none");
  const filter = create({unpublished: true});
  const reader = bfstore.load(create({}, "other").dump());
  const failing = [
    () => bfstore.open(none), () => bfstore.create(`${none}/x`, {capacity: 5}), () => bfstore.plan({}), () => bfstore.requiredBytes({}),
    () => bfstore.format(bfstore.alignedBuffer(8), {capacity: 5}), () => bfstore.wrap(bfstore.alignedBuffer(8)), () => bfstore.load(Buffer.alloc(8)),
    () => bfstore.build(`${none}/x`, ["a"]), () => bfstore.verify(none), () => bfstore.intersect([], file("x")), () => filter.copy(folder),
    () => filter.importBits(Buffer.alloc(1), "big"), () => filter.exportBits("big"), () => filter.dump({bare: true}), () => reader.sync(),
    () => reader.dropOwner(1), () => reader.finishRecovery(1), () => reader.finishFilling(), () => reader.publish(), () => reader.supersede(),
    () => reader.isCurrent(), () => reader.marks(), () => filter.merge(create({seed: 2}, "seed")), () => reader.add("a"),
    () => reader.addMany(["a"]), () => filter.containsMany({data: Buffer.alloc(0), offsets: Int32Array.of(1, 0)}),
    () => bfstore.bareBuild(7, ["a"]), () => bfstore.bareBuildDigests(7, [1n]),
    () => bfstore.inspectForeign(Buffer.alloc(8), "jaybird"), () => bfstore.importForeign(file("x"), Buffer.alloc(8), "jaybird"),
    () => bfstore.openForeign(file("x"), "jaybird"), () => bfstore.recognizeForeign(file("x")), () => filter.exportForeign("jaybird"),
  ];
  for (const call of failing)
    assert.throws(call, (error) => error instanceof bfstore.BfstoreError && error.message.length > 10 && error.bfsCode < 0, String(call));
  reader.close();
});

test("an asynchronous call rejects with the same error", async (t) => {
  const {file} = caseOf(t);
  // One after the other: a promise that is rejected before it is awaited would end the process.
  for (const begin of [() => bfstore.openAsync(file("none")), () => bfstore.verifyAsync(file("none")),
    () => bfstore.openAsync(`${file("none")}/x`, "a", {capacity: 5})])
    await assert.rejects(begin(), {code: "ENOENT", errno: -2, bfsCode: BFS.ENOENT});
  await assert.rejects(bfstore.createAsync(file("x"), {capacity: 5, fpr: 2}), {name: "RangeError", code: "ERR_OUT_OF_RANGE"});
  await assert.rejects(bfstore.createAsync(file("x"), {capcity: 5}), TypeError);
  await assert.rejects(bfstore.openAsync("a\0b"), TypeError);
});

test("files that are there or not", (t) => {
  const {create, folder, path, file} = caseOf(t);
  assert.throws(() => bfstore.open(path), {code: "ENOENT", errno: -2, message: new RegExp(path)});
  create();
  assert.throws(() => create(), {code: "EEXIST", errno: -17, message: new RegExp(path)});
  assert.throws(() => bfstore.open(folder), (error) => error.kind === "malformed" && error.code === "BFS_ENOTREGULAR" && !("rule" in error));
  fs.writeFileSync(file("text"), "no filter ".repeat(9999));
  assert.throws(() => bfstore.open(file("text")), (error) => error.code === "BFS_EMALFORMED" && error.rule > 0 && error.kind === "malformed");
});

test("a second exclusive writer", (t) => {
  const {create, open} = caseOf(t);
  create({exclusive: true});
  assert.throws(() => open("r+", {lockTimeout: 0}), {code: "EBUSY", message: new RegExp(String(process.pid))});
});

test("a reader that adds", (t) => {
  const {create, open, path} = caseOf(t);
  create().close();
  const reader = open();
  for (const call of [() => reader.add("a"), () => reader.addMany(["a"]), () => reader.addDigest(1n), () => reader.sync()])
    assert.throws(call, {code: "BFS_EREADONLY", message: new RegExp(path)});
  assert.throws(() => reader.add("a"), {message: `${path}: the filter was opened for reading; open it for writing (mode "r+")`});
});

test("a full filter", (t) => {
  const full = caseOf(t).create({capacity: 100, limit: true});
  assert.throws(() => numbers(10_000).forEach((i) => full.add(i)), {kind: "state", code: "BFS_EFULL"});
});

test("options have the names of this package in the library's words", (t) => {
  const {create, path, file} = caseOf(t);
  create().close();
  for (const [call, words] of [
    [() => bfstore.create(file("x"), {numBits: 1000}), "only one of numBits and numProbes was given"],
    [() => bfstore.create(file("x"), {}), "Give a capacity, or numBits and numProbes, or a file to be like"],
    [() => bfstore.plan({numBits: 5, maxBytes: 100}), "numBits and maxBytes were given"],
    [() => bfstore.plan({numProbes: 5}), "Give two of capacity, fpr, bitsPerKey, numProbes, and one of numBits and maxBytes."],
    [() => bfstore.create(file("x"), {capacity: 5, fileId: new Uint8Array(16)}), "the fileId is all zeros"],
    [() => bfstore.open(path, "r", {range: {offset: 64}, lockTimeout: 1}), "open with a range: does not take lockTimeout; leave it out"],
    [() => bfstore.open(path, "a", {capacity: 5, threads: 2}), 'open with mode "a": threads goes with exclusive: true'],
  ]) {
    assert.throws(call, (error) => {
      assert.equal(error.code, "EINVAL");
      assert.ok(error.message.includes(words), `${error.message}: ${words}`);
      assert.doesNotMatch(error.message, /bfs_|BFS_|[a-z]_[a-z]/);
      return true;
    });
  }
});

test("an option of another mode says which", (t) => {
  const {path} = caseOf(t);
  for (const [call, words] of [
    [() => bfstore.open(path, "r", {capacity: 5}), 'there is no option "capacity" here: it is for mode "a", which makes the file if there is none'],
    [() => bfstore.open(path, "r+", {fpr: 0.1}), 'there is no option "fpr" here: it is for mode "a", which makes the file if there is none'],
    [() => bfstore.open(path, "r", {replace: true}), 'there is no option "replace" here: it is for create(), which makes a new file'],
    [() => bfstore.open(path, "a", {capacity: 5, follow: true}), 'there is no option "follow" here: it is for the modes "r" and "r+"'],
    [() => bfstore.open(path, "a", {capacity: 5, unpublished: true}), 'there is no option "unpublished" here: it is for create(), which makes a new file'],
    [() => bfstore.create(path, {capacity: 5, recover: true}), 'there is no option "recover" here: it is for open() with mode "a"'],
    [() => bfstore.open(path, "a", {capcity: 5}), 'there is no option "capcity" here. Did you mean capacity?'],
    [() => bfstore.create(path, {locktimeout: 5}), 'there is no option "locktimeout" here. Did you mean lockTimeout?'],
    [() => bfstore.create(path, {qqq: 5}), 'there is no option "qqq" here'],
    [() => bfstore.open(path, {capacity: 5}), 'options are the third argument, after the mode: open(path, "a", {capacity: 1000})'],
    [() => bfstore.create(path, {capacity: 5, note: "hi"}), 'note is a Uint8Array or Buffer, not a string; say Buffer.from(it)'],
    [() => bfstore.create(path, {capacity: 5, hash: "siphash", secret: "topsecret1234567"}), "secret is a Uint8Array or Buffer, not a string; say Buffer.from(it)"],
    [() => bfstore.create(path, {capacity: 5, mode: "0644"}), 'mode is an integer, not "0644"; say 0o644'],
    [() => bfstore.containsAny(caseOf(t).create(), "a"), "filters are a list of them, such as [a, b], not Filter"],
    [() => bfstore.intersect(5, path), "filters are a list of them, such as [a, b], not 5"],
  ]) assert.throws(call, {name: "TypeError", message: words});
  for (const name of ["capacity", "maxBytes", "numBits", "numProbes"])
    for (const wrong of [0, 0n, -1]) assert.throws(() => bfstore.create(path, {[name]: wrong}), {name: "RangeError", message: `${name} is at least 1, not ${wrong}`});
  const filter = caseOf(t).create();
  for (const [name, wrong, says] of [["fpr", [0, -0, 1, 2, -0.1, NaN, Infinity], "fpr is above 0 and below 1, such as 0.01"],
    ["bitsPerKey", [0, -1, NaN, Infinity], "bitsPerKey is above 0, such as 10"], ["window", [0, 0.4, -1, NaN], "window is a number of milliseconds, 1 or more"]])
    for (const value of wrong)
      for (const call of [() => bfstore.create(path, {capacity: 5, [name]: value}), ...name === "window" ? [] : [() => bfstore.plan({capacity: 5, [name]: value})],
        ...name === "fpr" ? [() => filter.copy(path, {fpr: value})] : []])
        assert.throws(call, {name: "RangeError", code: "ERR_OUT_OF_RANGE", message: `${says}, not ${value}`});
  for (const bytes of [0, 15, 17])
    for (const call of [() => bfstore.create(path, {capacity: 5, hash: "siphash", secret: new Uint8Array(bytes)}),
      () => bfstore.open(path, "r", {secret: Buffer.alloc(bytes)})])
      assert.throws(call, {name: "RangeError", code: "ERR_OUT_OF_RANGE", message: `secret has 16 bytes, not ${bytes}`});
});

test("an error of many keys says which key", async (t) => {
  const {create, file} = caseOf(t);
  const filter = create();
  const keys = [...numbers(500), null, "a"];
  for (const call of [() => filter.addMany(keys), () => filter.containsMany(new Set(keys)), () => bfstore.build(file("x"), keys)])
    assert.throws(call, {name: "TypeError", code: "ERR_INVALID_ARG_TYPE", message: /^key 500: a key is a Uint8Array/, stack: /^TypeError: key 500: /});
  function* many() {
    for (let i = 0; i < 300_000; i++) yield i === 270_000 ? 1.5 : i;
  }
  assert.throws(() => bfstore.build(file("x"), many(), {capacity: 1000}), {message: /^key 270000: 1.5 is no key/});
  await assert.rejects(bfstore.buildAsync(file("x"), many(), {capacity: 1000}), {message: /^key 270000: 1.5 is no key/});
  assert.throws(() => filter.addMany(["a", 2n ** 64n]), {name: "RangeError", message: /^key 1: an integer of more than 64 bits/});
  assert.throws(() => filter.addDigests([1n, 5]), {name: "TypeError", message: "digest 1 is a bigint, not 5"});
});

test("a filter as text", (t) => {
  const filter = caseOf(t).create();
  assert.equal(String(filter), `Filter { ${JSON.stringify(filter.name)} }`);
  filter.close();
  assert.equal(`${filter}`, util.inspect(filter));
});

test("the way out has the names of this package", (t) => {
  const {create, open, path, file} = caseOf(t);
  const filter = create();
  filter.add("a");
  fs.copyFileSync(path, file("in use")); // a copy of an open file is unclean
  const reader = open();
  create({hash: "siphash", secret: new Uint8Array(16)}, "secret");
  for (const [call, words] of [
    [() => bfstore.create(file("x"), {layout: "static"}),
      "Build it (build()), or create it unpublished (unpublished: true), add the keys and publish it (publish())."],
    [() => bfstore.open(file("x"), "a", {layout: "static"}), "Build it (build())"],
    [() => bfstore.format(bfstore.alignedBuffer(99_999), {capacity: 5, layout: "static"}), "Build another one from all keys (build())."],
    [() => create({hash: "external"}, "external").add("a"), "(addDigest(), containsDigest() and the like)"],
    [() => bfstore.create(file("x"), {capacity: 5, mode: 0o1777}), "mode has bits outside 0o777. Give one such as 0o640."],
    [() => bfstore.create(file("x"), {capacity: 5, part: 1}), "part 1 of 0 does not exist. Give one from 0 to the number of parts less 1, and the number of parts."],
    [() => bfstore.open(path, "a", {capacity: 5, window: 5}), "is there, and has no window: its keys do not expire."],
    [() => bfstore.open(path, "r+", {exclusive: true}), 'for shared writing (mode "r+" without exclusive: true).'],
    [() => bfstore.create(file("x"), {capacity: 5, layout: "window"}), "Give the window, for how long they are kept (window: 24 * 3_600_000)."],
    [() => bfstore.create(file("x"), {capacity: 5, layout: "classic", window: 5}), 'Give no window (the option window), or a layout that has one (layout: "window").'],
    [() => filter.turn(), "it has no epoch to end. Make a filter with a window (window: 24 * 3_600_000)."],
    [() => bfstore.open(""), "the path is empty. Give one."], [() => bfstore.create("", {capacity: 5}), "the path is empty. Give one."],
    [() => bfstore.create(file("x"), {capacity: 0}), "capacity is at least 1, not 0"],
    [() => bfstore.create(path, {capacity: 5}), 'replace it (replace: true), or open it to add (mode "a")'],
    [() => bfstore.open(file("in use")), 'Recover it (mode "r+" with recover: true)'], [() => bfstore.open(file("in use")), "accept the loss (acceptLoss: true)"],
    [() => bfstore.open(file("none")), 'create it first (mode "a")'], [() => reader.count("a"), 'make it with layout: "counting"'],
    [() => reader.add("b"), 'open it for writing (mode "r+")'], [() => reader.sync(), 'Open it for writing (mode "r+")'],
    [() => bfstore.open(file("secret")), "made with (the option secret)"], [() => bfstore.verify(path), "(copy() with sealed: true)"],
    [() => create({filling: true}, "filling").dump(), "(finishFilling())"], [() => create({seed: 8}, "seeded").merge(filter), "(like)"],
  ]) {
    assert.throws(call, (error) => {
      assert.ok(error.message.includes(words), `${error.message}: ${words}`);
      assert.doesNotMatch(error.message, /bfs_|BFS_|\(bf /);
      return true;
    });
  }
});

test("a column that is wrong says at which offset", (t) => {
  const {create, path} = caseOf(t);
  const filter = create();
  const data = Buffer.from("abc");
  for (const [offsets, words] of [
    [Int32Array.of(0, 4, 5), "offset 1 is 4, and the column has 3 bytes of data"], [Int32Array.of(0, 2, 1), "offset 2 is 1, less than the one before it, 2"],
    [BigInt64Array.of(-1n, 2n), "offset 0 is -1, which is negative"],
  ])
    for (const call of ["addMany", "containsMany", "select", "digestMany"])
      assert.throws(() => filter[call]({data, offsets}), {code: "EINVAL", message: `${path}: ${words}`, path});
});

test("a path keeps its name where it is that of an option", (t) => {
  const {folder} = caseOf(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  for (const name of ["num_bits", "./num_bits", "my num_bits"])
    assert.throws(() => bfstore.create(name, {capacity: 5, fpr: 1e-12}), (error) => error.message.startsWith(`${name}: `), name);
});

test("a long path that is no text is told in words", () => {
  assert.throws(() => bfstore.open(Buffer.concat([Buffer.from("/no/"), Buffer.from([255]), Buffer.from(`/${"ü".repeat(300)}`)])), /\\xFF/);
});

test("paths and options that are none", (t) => {
  const {path, folder} = caseOf(t);
  const sized = {capacity: 5};
  for (const [call, kind] of [
    [() => bfstore.open(path, "w"), TypeError], [() => bfstore.open(path, "toString"), TypeError], [() => bfstore.open(path, "a", {capcity: 5}), TypeError],
    [() => bfstore.open(path, "a", {...sized, replace: true}), TypeError], [() => bfstore.open(path, "a", {...sized, unpublished: true}), TypeError],
    [() => bfstore.open(path, "a", {...sized, private: true}), TypeError], [() => bfstore.open(5, "a", sized), TypeError], [() => bfstore.open(path, "r", {fd: 5}), TypeError],
    [() => bfstore.open(path, "r", {range: {start: 5}}), TypeError], [() => bfstore.open(path, "r", {range: 5}), TypeError], [() => bfstore.open(path, "r", {range: {offset: -1}}), RangeError],
    [() => bfstore.wrap(bfstore.alignedBuffer(64), "a"), TypeError], [() => bfstore.create(path, {...sized, threads: 0}), RangeError],
    [() => bfstore.build(path, ["a"], {exclusive: true}), TypeError], [() => bfstore.build(path, new Set(), {...sized, unpublished: true}), TypeError],
    [() => bfstore.build(path, "text"), TypeError], [() => bfstore.build(path, new Set(["a"]), {...sized, width: 1}), TypeError], [() => bfstore.open(path, "r", {exclusive: true}), TypeError],
    [() => bfstore.open(path, "r", {capacity: 5}), TypeError], [() => bfstore.open(path, "r", {replace: true}), TypeError],
    [() => bfstore.open(path, "r", {guard: 1}), TypeError], [() => bfstore.open(path, "r", {followSymlinks: 0}), TypeError],
    [() => bfstore.open(path, "r", null), TypeError], [() => bfstore.open(path, "r", "guard"), TypeError],
    [() => bfstore.create(path, {capcity: 5}), TypeError], [() => bfstore.create(path, {...sized, flags: 1}), TypeError],
    [() => bfstore.create(path, {...sized, key: Buffer.alloc(16)}), TypeError], [() => bfstore.create(path, {...sized, constructor: true}), TypeError],
    [() => bfstore.create(path, {capacity: -1}), RangeError], [() => bfstore.create(path, {capacity: 1.5}), TypeError],
    [() => bfstore.create(path, {capacity: 2 ** 60}), RangeError], [() => bfstore.create(path, {capacity: "5"}), TypeError],
    [() => bfstore.create(path, {capacity: 2n ** 64n}), RangeError], [() => bfstore.create(path, {...sized, numProbes: 2 ** 32}), RangeError],
    [() => bfstore.create(path, {...sized, fpr: "0.01"}), TypeError], [() => bfstore.create(path, {...sized, layout: "other"}), TypeError],
    [() => bfstore.create(path, {...sized, layout: "toString"}), TypeError], [() => bfstore.create(path, {...sized, hash: "md5"}), TypeError],
    [() => bfstore.create(path, {...sized, fileId: Buffer.alloc(5)}), RangeError], [() => bfstore.create(path, {...sized, note: "text"}), TypeError],
    [() => bfstore.create(path, {...sized, secret: new Uint8Array(0)}), RangeError], [() => bfstore.create(path, {...sized, seeds: []}), RangeError],
    [() => bfstore.open(path, "r", new Map([["guard", true]])), TypeError],
    [() => bfstore.create(path, {...sized, hash: "siphash", secret: 16}), TypeError], [() => bfstore.create(path, {...sized, seeds: [2 ** 32]}), RangeError],
    [() => bfstore.create(path, {...sized, seeds: "12"}), TypeError], [() => bfstore.create(path, {...sized, lockTimeout: -1}), RangeError],
    [() => bfstore.create(path, {...sized, lockTimeout: NaN}), RangeError], [() => bfstore.create(path, {...sized, lockTimeout: 5e9}), RangeError],
    [() => bfstore.create(path, {...sized, writebackCheck: Infinity}), RangeError], [() => bfstore.create(path, {...sized, lockTimeout: "1"}), TypeError],
    [() => bfstore.create("a\0b", sized), TypeError], [() => bfstore.create("a\ud800", sized), TypeError], [() => bfstore.create(Buffer.from("a\0"), sized), TypeError],
    [() => bfstore.create(new URL("https://example.org/x"), sized), TypeError], [() => bfstore.open(null), TypeError], [() => bfstore.open(1.5), TypeError],
    [() => bfstore.open(-1), RangeError], [() => bfstore.plan({...sized, mode: 1}), TypeError], [() => bfstore.load("text"), TypeError],
    [() => bfstore.wrap(Buffer.alloc(999)), TypeError], [() => bfstore.format(Buffer.alloc(999), sized), TypeError], [() => new bfstore.Filter(), TypeError],
    [() => bfstore.strerror("x"), TypeError], [() => bfstore.bareBytes(-1, 8), RangeError], [() => bfstore.bareBytes(1, 8n), TypeError],
  ]) {
    assert.throws(call, kind, String(call));
    assert.throws(call, (error) => kind === RangeError ? error.code === "ERR_OUT_OF_RANGE" : /^ERR_INVALID_/.test(error.code), String(call));
  }
  for (const [call, code] of [
    [() => bfstore.open(5.5), "ERR_INVALID_ARG_TYPE"], [() => bfstore.open({}), "ERR_INVALID_ARG_TYPE"], [() => bfstore.open(path, "w"), "ERR_INVALID_ARG_VALUE"],
    [() => bfstore.create(path, {...sized, layout: "other"}), "ERR_INVALID_ARG_VALUE"], [() => bfstore.create(path, {capcity: 5}), "ERR_INVALID_ARG_VALUE"],
    [() => bfstore.create(path, {capacity: "5"}), "ERR_INVALID_ARG_TYPE"], [() => bfstore.open("a\0b"), "ERR_INVALID_ARG_VALUE"],
  ]) assert.throws(call, (error) => error.code === code && /tests\/errors\.test\.js/.test(error.stack) && !/wrong\.js/.test(error.stack), String(call));
  assert.throws(() => bfstore.create(path, {...sized, fpr: 1e-12}), {code: "BFS_ESIZING"});
  assert.throws(() => bfstore.create(path, {...sized, exclusive: true, threads: 65}), {code: "EINVAL"});
  assert.throws(() => bfstore.open(path, "a", {...sized, threads: 2}), {code: "EINVAL"}); // not exclusive
  assert.deepEqual(fs.readdirSync(folder), []);
});

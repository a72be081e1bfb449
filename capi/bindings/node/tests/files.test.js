/* Files: every option, open or create, builds, marks, recovery, online builds, copies, sets, bits, plans, bare filters. */
import assert from "node:assert/strict";
import {createHash, randomBytes} from "node:crypto";
import fs from "node:fs";
import readline from "node:readline";
import {Readable} from "node:stream";
import test from "node:test";
import {setTimeout} from "node:timers/promises";
import {pathToFileURL} from "node:url";
import * as bfstore from "bfstore";
import {BFS, BFS_LARGE} from "../lib/abi.js";
import {batches} from "../lib/keys.js";
import {TAKEN, given} from "../lib/options.js";
import {caseOf, numbers, run} from "./case.js";

const SECRET = Buffer.from("sixteen bytes...");
const asked = (filter, ...keys) => keys.map((key) => filter.contains(key));

test("what is given is what the filter has", (t) => {
  const {create, path, file} = caseOf(t);
  const fileId = new Uint8Array(numbers(16).map((i) => i + 1));
  const note = Buffer.from("mine\0");
  const made = create({capacity: 5000, fpr: 0.001, layout: "classic", seed: 7, note, fileId, mode: 0o640});
  const facts = made.stats();
  assert.deepEqual([facts.capacity, facts.layout, facts.hash, facts.seed, facts.fileId, facts.health, Buffer.from(facts.note)],
    [5000, "classic", "xxh3", 7n, fileId, "ok", note]);
  assert.ok(Math.abs(facts.fpr - 0.001) < 1e-4);
  assert.deepEqual([made.capacity, made.fpr, made.numBits, made.numProbes], [5000, facts.fpr, facts.numBits, facts.numProbes]);
  assert.equal(fs.statSync(path).mode & 0o777, 0o640 & ~process.umask());
  assert.equal(create({like: path}, "like").stats().numBits, facts.numBits);
  assert.ok(create({maxBytes: 50_000n}, "small").stats().bodyBytes <= 50_000);
  const most = bfstore.create(`${path} most`, {capacityAtMost: 10_000});
  most.copy(`${path} folded`, {fpr: 0.01});
  const folded = bfstore.open(`${path} folded`);
  assert.deepEqual([most.capacity, folded.numBits], [10_000, 512]);
  for (const filter of [most, folded]) filter.close();
  const bits = create({numBits: 1024, numProbes: 3}, "bits");
  assert.deepEqual([bits.numBits, bits.numProbes], [1024, 3]);
  bits.close();
  assert.throws(() => bits.capacity, {code: "BFS_ESHUT"});
  assert.equal(Math.floor(create({bitsPerKey: 16}, "per key").stats().numBits / 10_000), 16);
  assert.equal(create({seed: 2n ** 64n - 1n}, "seed").stats().seed, 2n ** 64n - 1n);
  assert.throws(() => bfstore.create(file("x"), {capacity: 5, mode: 2 ** 32}), RangeError);
});

test("a path in every form", (t) => {
  const {folder, kept, path} = caseOf(t);
  const odd = Buffer.concat([Buffer.from(path), Buffer.from([255, 254])]);
  for (const form of [path, Buffer.from(path), pathToFileURL(path), odd, `${folder}/ü${"x".repeat(99)}`]) {
    const made = kept(bfstore.create(form, {capacity: 5, replace: true}));
    assert.ok(fs.existsSync(form));
    assert.match(made.name, form === odd ? /filter\.bf\ufffd\ufffd$/ : /filter\.bf$|x{99}$/);
    made.close();
    kept(bfstore.open(form)).close();
  }
});

test("open with a makes the file, or adds to the one that is there", async (t) => {
  const {folder, path, file, kept} = caseOf(t);
  const shape = {capacity: 1000, fpr: 0.001, seed: 7n, note: Buffer.from("first")};
  const first = kept(bfstore.open(path, "a", shape));
  assert.deepEqual([first.created, first.add("a"), first.stats().capacity, first.stats().seed], [true, true, 1000, 7n]);
  for (const [mode, later, options] of [["a", false, shape], ["a+", true, {...shape, capacity: 5, note: undefined}], ["a", false, {capacity: 5}], ["a", true, {}]]) {
    const again = kept(later ? await bfstore.openAsync(path, mode, options) : bfstore.open(path, mode, options));
    assert.deepEqual([again.created, ...asked(again, "a", "b"), again.stats().capacity, Buffer.from(again.stats().note).toString()], [false, true, false, 1000, "first"]);
    again.close();
  }
  for (const other of [{seed: 8}, {layout: "classic"}, {part: 0, numParts: 2}])
    assert.throws(() => bfstore.open(path, "a", {capacity: 5, ...other}), {code: "BFS_EMISMATCH"}, JSON.stringify(other));
  assert.throws(() => bfstore.open(path, "a", {exclusive: true, lockTimeout: 0}), {code: "EBUSY"});
  first.close();
  const alone = kept(bfstore.open(path, "a", {exclusive: true}));
  assert.deepEqual([alone.created, alone.add("b")], [false, true]);
  alone.close();
  assert.throws(() => bfstore.open(file("none"), "a"), {code: "EINVAL"}); // without a size none is made
  fs.writeFileSync(file("text"), "no filter");
  assert.throws(() => bfstore.open(file("text"), "a", shape), {kind: "malformed"});
  assert.equal(fs.readFileSync(file("text"), "utf8"), "no filter");
  assert.deepEqual(fs.readdirSync(folder).sort(), ["filter.bf", "text"]);
  const loaded = kept(bfstore.load(fs.readFileSync(path)));
  for (const [made, created] of [[loaded, false], [kept(bfstore.open(path)), false], [kept(bfstore.open(path, "r+")), false], [kept(bfstore.create(file("new"), shape)), true],
    [kept(bfstore.build(file("built"), ["a"])), true], [kept(await bfstore.buildAsync(file("later"), ["a"].values(), {capacity: 1})), true]])
    assert.equal(made.created, created);
});

test("build appears when it is complete", async (t) => {
  const {file, kept} = caseOf(t);
  const keys = numbers(1000).map((i) => `key ${i}`);
  const data = Buffer.concat(numbers(500).map((i) => Buffer.from(String(i).padStart(3, "0"))));
  const offsets = Int32Array.from(numbers(501), (i) => i * 3);
  for (const [i, [form, options, count]] of [[keys, {}, 1000], [new Set(keys), {fpr: 0.001}, 1000], [keys.values(), {}, 1000],
    [data, {width: 3}, 500], [{data, offsets}, {}, 500], [keys, {capacity: 5000}, 5000]].entries()) {
    const again = typeof form.next === "function" ? keys.values() : form;
    for (const built of [kept(bfstore.build(file(`${i}`), form, options)), kept(await bfstore.buildAsync(file(`${i} later`), again, options))]) {
      assert.equal(built.stats().capacity, count);
      assert.ok(built.containsMany(count === 500 ? numbers(500).map((n) => String(n).padStart(3, "0")) : keys).every((answer) => answer === 1));
      assert.throws(() => built.add("late"), {code: "BFS_EREADONLY"});
    }
  }
  assert.equal(kept(bfstore.build(file("none"), [])).contains("a"), false);
  assert.equal(kept(bfstore.build(file("empty"), new Set(), {capacity: 5})).contains("a"), false);
  for (const [none, shape] of [[[], {}], [new Set(), {capacity: 5}]]) {
    assert.throws(() => bfstore.build(file("0"), none, {...shape, replace: true}), {code: "EINVAL"});
    await assert.rejects(bfstore.buildAsync(file("0"), none, {...shape, replace: true}), {code: "EINVAL"});
    kept(await bfstore.buildAsync(file(`new ${shape.capacity}`), none, {...shape, replace: true}));
  }
});

/** Yields the keys one after the other; `seen` is called before each. */
async function* eventually(keys, seen = () => {}) {
  for (const key of keys) {
    await null;
    seen(key);
    yield key;
  }
}

test("keys that have to be awaited are built as they come", async (t) => {
  const {folder, file, kept} = caseOf(t);
  const keys = numbers(1000).map((i) => `key ${i}`);
  for (const [i, options] of [{}, {capacity: 1000}, {numBits: 20_000, numProbes: 5}].entries()) {
    const names = new Set();
    const built = kept(await bfstore.buildAsync(file(`${i}`), eventually(keys, () => fs.readdirSync(folder).forEach((name) => names.add(name))), options));
    assert.equal(names.has(`${i}`), false);
    assert.ok(built.containsMany(keys).every((answer) => answer === 1));
    assert.throws(() => built.add("late"), {code: "BFS_EREADONLY"});
  }
  for (const [name, options] of [["lines", {}], ["as they come", {capacity: 1000}]]) {
    const lines = readline.createInterface({input: Readable.from([keys.join("\n")])});
    assert.ok(kept(await bfstore.buildAsync(file(name), lines, options)).containsMany(keys).every((answer) => answer === 1));
  }
  let ended = 0;
  const closing = {[Symbol.asyncIterator]: () => ({next: () => assert.fail("asked"), return: async () => ({done: true, value: ended++})})};
  await assert.rejects(bfstore.buildAsync(file("lines"), closing, {capacity: 5}), {code: "EEXIST"});
  assert.equal(ended, 1);
  assert.throws(() => bfstore.build(file("no"), eventually(keys)), {name: "TypeError", message: /buildAsync/});
});

test("an iterable that is longer than a part is built part by part", async (t) => {
  const {file, kept} = caseOf(t);
  const count = (1 << 18) + 7;
  const shape = {capacity: count, threads: 2};
  const kind = (filter) => [filter.containsMany(numbers(count)).every((answer) => answer === 1), filter.stats().saturated];
  function* keys() {
    for (let i = 0; i < count; i++) yield i;
  }
  assert.deepEqual([...batches(keys())].map((list) => list.length), [1 << 18, 7]);
  assert.deepEqual(kind(kept(bfstore.build(file("now"), keys(), shape))), [true, false]);
  assert.deepEqual(kind(kept(await bfstore.buildAsync(file("later"), eventually(keys()), shape))), [true, false]);
  const large = Buffer.alloc(1 << 25);
  assert.deepEqual([...batches([large, "a", large, large])].map((list) => list.length), [3, 1]);
});

test("arrays may go once a build has begun", async (t) => {
  const {file, kept} = caseOf(t);
  const before = numbers(32).map((i) => bfstore.buildAsync(file(`${i}`), ["a"])); // at most 32 calls run at once: the others wait
  const integers = BigInt64Array.from(numbers(1000), BigInt);
  const fixed = Buffer.from(new Uint8Array(BigInt64Array.from(integers).buffer));
  const whole = new Uint8Array(fixed);
  const column = {data: new Uint8Array(fixed), offsets: Int32Array.from(numbers(1001), (i) => i * 8), validity: new Uint8Array(125).fill(255)};
  const building = [bfstore.buildAsync(file("integers"), integers), bfstore.buildAsync(file("fixed"), whole, {width: 8}), bfstore.buildAsync(file("column"), column)];
  for (const array of [integers, whole, ...Object.values(column)]) structuredClone(array.buffer, {transfer: [array.buffer]});
  assert.equal(integers.length, 0);
  for (const built of await Promise.all(building)) assert.ok(kept(built).containsMany(numbers(1000)).every((answer) => answer === 1));
  (await Promise.all(before)).forEach(kept);
  for (const gone of [integers, column.data, {...column, data: Buffer.alloc(0)}]) await assert.rejects(bfstore.buildAsync(file("no"), gone), TypeError);
});

test("a build that fails leaves nothing", async (t) => {
  const {folder, path} = caseOf(t);
  for (const options of [{}, {capacity: 5}]) {
    assert.throws(() => bfstore.build(path, ["a", null], options), TypeError);
    assert.throws(() => bfstore.build(path, new Set(["a", null]), options), TypeError);
    for (const keys of [["a", null], new Set(["a", null]), eventually(["a", null])]) await assert.rejects(bfstore.buildAsync(path, keys, options), TypeError);
    const ended = eventually(["a", "b"], (key) => { if (key === "b") throw new SyntaxError("mine"); });
    await assert.rejects(bfstore.buildAsync(path, ended, options), SyntaxError);
  }
  assert.deepEqual(fs.readdirSync(folder), []);
  const links = fs.readdirSync("/proc/self/fd").map((fd) => fs.existsSync(`/proc/self/fd/${fd}`) ? fs.readlinkSync(`/proc/self/fd/${fd}`) : "");
  assert.deepEqual(links.filter((link) => link.startsWith(folder)), []);
});

test("a static filter has the same bytes for one set of keys", async (t) => {
  const {file, kept} = caseOf(t);
  const keys = numbers(5000).map((i) => `${i}`);
  const twice = [...keys, ...keys.slice(0, 1000)];
  const how = {layout: "static", seed: 1, fileId: new Uint8Array(numbers(16))};
  async function* coming() {
    yield* twice;
  }
  const built = [];
  for (const [form, more] of [
    [keys, {}], [keys.slice().reverse(), {}], [twice, {}], [twice.values(), {}], [new Set(twice), {threads: 2}], [twice, {capacity: 5000}],
    [twice.values(), {capacity: 5000}], [new Set(twice), {capacity: 5000, threads: 2}],
  ]) {
    const again = Array.isArray(form) || form instanceof Set ? form : twice.values();
    built.push(kept(bfstore.build(file(`${built.length}`), form, {...how, ...more})));
    built.push(kept(await bfstore.buildAsync(file(`${built.length}`), again, {...how, ...more})));
  }
  for (const more of [{}, {capacity: 5000}]) built.push(kept(await bfstore.buildAsync(file(`${built.length}`), coming(), {...how, ...more})));
  const made = kept(bfstore.create(file(`${built.length}`), {...how, unpublished: true}));
  made.addDigests(made.digestMany(twice));
  made.publish();
  for (const [i, filter] of [...built, made].entries()) {
    const {layout, capacity, keysAdded, health} = filter.stats();
    assert.deepEqual([layout, capacity, keysAdded, health, filter.created], ["static", 5000, 5000, "ok", true], `${i}`);
    assert.equal(filter.select(keys).length, 5000);
    assert.ok(filter.select(numbers(5000).map((key) => `no ${key}`)).length < 100);
    assert.throws(() => filter.add("late"), {code: "BFS_ESEALED"});
    assert.ok(fs.readFileSync(file(`${i}`)).equals(fs.readFileSync(file("0"))), `${i}`);
  }
});

// They were once taken in silence if they came from an iterator, and the rate of the filter was far above the one promised.
test("more keys than the capacity make no file, in whatever form they come", async (t) => {
  const {file, folder, kept} = caseOf(t);
  const keys = numbers(9000).map((i) => `${i}`);
  kept(bfstore.build(file("model"), keys.slice(0, 4000)));
  for (const layout of ["blocked", "classic", "counting"]) {
    for (const shape of [{capacity: 4000, layout}, {numBits: 1 << 20, numProbes: 5, capacity: 4000, layout}, {like: file("model")}]) {
      const full = {code: "BFS_EFULL", message: /no: not built, for there are more keys than its capacity/, path: file("no")};
      for (const form of [keys, new Set(keys)]) {
        assert.throws(() => bfstore.build(file("no"), form, shape), full);
        await assert.rejects(bfstore.buildAsync(file("no"), form, shape), full);
      }
      const naming = {code: "BFS_EFULL", message: /more keys than its capacity, 4000\. Give a greater one/};
      assert.throws(() => bfstore.build(file("no"), new Set(keys), shape), naming);
      await assert.rejects(bfstore.buildAsync(file("no"), (async function* () { yield* keys; })(), shape), naming);
    }
  }
  assert.deepEqual(fs.readdirSync(folder), ["model"]);
  assert.equal(kept(bfstore.build(file("exact"), new Set(keys.slice(0, 4000)), {capacity: 4000})).stats().saturated, false);
  // m and k alone promise no number of keys.
  assert.ok(kept(bfstore.build(file("bits"), new Set(keys), {numBits: 1 << 13, numProbes: 5})).stats().saturated);
});

test("a static filter like a smaller one has room for all keys", async (t) => {
  const {file, kept} = caseOf(t);
  const keys = numbers(5000).map((i) => `${i}`);
  const seed = kept(bfstore.build(file("model"), keys.slice(0, 10), {layout: "static"})).stats().seed;
  for (const [i, form] of [keys, new Set(keys)].entries()) {
    for (const filter of [bfstore.build(file(`${i}`), form, {like: file("model")}), await bfstore.buildAsync(file(`${i}a`), form, {like: file("model")})]) {
      const facts = kept(filter).stats();
      assert.deepEqual([facts.layout, facts.capacity, facts.seed], ["static", 5000, seed]);
      assert.ok(keys.every((key) => filter.contains(key)));
    }
  }
});

test("a static filter of no key, or of too many", async (t) => {
  const {file, folder, kept} = caseOf(t);
  const keys = numbers(5000).map((i) => `${i}`);
  const full = {code: "BFS_EFULL", message: /5000 keys, and its capacity is 4999/};
  for (const form of [keys, new Set(keys)]) {
    assert.throws(() => bfstore.build(file("no"), form, {capacity: 4999, layout: "static"}), full);
    await assert.rejects(bfstore.buildAsync(file("no"), form, {capacity: 4999, layout: "static"}), full);
  }
  assert.deepEqual(fs.readdirSync(folder), []);
  for (const none of [[], new Set()]) {
    const path = file(`none ${Array.isArray(none)}`);
    assert.equal(kept(bfstore.build(path, none, {layout: "static"})).contains("a"), false);
    for (const shape of [{layout: "static"}, {layout: "static", capacity: 5}, {like: path}]) {
      const words = {code: "EINVAL", message: /no key was given, .* remove the file first/};
      assert.throws(() => bfstore.build(path, none, {...shape, replace: true}), words);
      await assert.rejects(bfstore.buildAsync(path, none, {...shape, replace: true}), words);
    }
  }
});

test("a static filter that is not published gathers keys", async (t) => {
  const {create, file, kept, path, open} = caseOf(t);
  assert.throws(() => bfstore.create(path, {layout: "static"}), {code: "BFS_EUNSUPPORTED"});
  const made = kept(bfstore.create(path, {layout: "static", unpublished: true, seed: 1}));
  assert.deepEqual([made.stats().layout, made.health, made.add("a"), made.addMany(["b", "c", "a"]), made.contains("never")], ["static", "filling", false, 0, true]);
  const other = create({}, "other");
  for (const call of [
    () => made.sync({mark: 5, owner: 1}), () => made.sync(), () => made.supersede(), () => made.isCurrent(), () => made.finishFilling(), () => made.remove("a"),
    () => made.count("a"), () => made.merge(other), () => made.turn(),
  ])
    assert.throws(call, {code: "BFS_EUNSUPPORTED"});
  for (const call of [() => made.dump(), () => made.copy(file("copy")), () => other.merge(made), () => other.compare(made)])
    assert.throws(call, {code: "BFS_EFILLING", message: /Publish it first/});
  assert.equal(fs.existsSync(path), false);
  await made.publishAsync();
  assert.deepEqual([made.capacity, made.health, made.isCurrent(), asked(made, "a", "b", "c", "never")], [3, "ok", true, [true, true, true, false]]);
  for (const [call, code, message] of [
    [() => made.add("late"), "BFS_ESEALED", /sealed/], [() => made.merge(made), "BFS_ESEALED", /sealed/], [() => made.remove("a"), "BFS_EUNSUPPORTED", /layout/],
    [() => made.supersede(), "BFS_EUNSUPPORTED", /Build another one/], [() => made.sync({mark: 5, owner: 1}), "BFS_EREADONLY", /reading/],
    [() => made.publish(), "EINVAL", /published already/], [() => open("r+"), "BFS_ESEALED", /build another one/],
    [() => made.copy(file("small"), {fpr: 0.1}), "BFS_EUNSUPPORTED", /Build a smaller one/],
  ])
    assert.throws(call, {code, message});
  made.copy(file("copy"));
  assert.deepEqual(bfstore.verify(file("copy")), []);
});

test("an unpublished file has no name and takes the place of another", async (t) => {
  const {create, open} = caseOf(t);
  create().add("old");
  const reader = open();
  for (const later of [false, true]) {
    const made = create({unpublished: true, replace: true});
    made.add("new");
    if (later) {
      await made.supersedeAsync();
      const published = made.publishAsync();
      assert.equal(made.closed, false);
      assert.throws(() => made.contains("new"), /being published/);
      assert.throws(() => made.close(), /being published/);
      await published;
      assert.equal(await made.isCurrentAsync(), true);
    } else {
      made.supersede();
      made.publish();
    }
    assert.equal(reader.health, "superseded");
    assert.deepEqual([reader.contains("anything"), reader.isCurrent(), made.isCurrent()], [true, false, true]);
    assert.deepEqual(asked(open(), "old", "new"), [false, true]);
  }
});

test("a reader that follows", (t) => {
  const {create, open, path, kept} = caseOf(t);
  const old = create({seed: 1});
  old.add("old");
  old.close();
  const reader = open("r", {follow: true});
  kept(bfstore.build(path, ["new"], {replace: true, seed: 1, capacity: 100}));
  assert.equal(reader.isCurrent(), true);
  assert.deepEqual(asked(reader, "old", "new"), [false, true]);
});

test("a secret", (t) => {
  const {create, open} = caseOf(t);
  const made = create({hash: "siphash", secret: SECRET});
  made.add("a");
  made.close();
  assert.equal(open("r", {secret: SECRET}).contains("a"), true);
  for (const secret of [undefined, Buffer.from("another secret!!")]) assert.throws(() => open("r", {secret}), {code: "BFS_ESECRET"});
});

test("every flag that reads, and those of a writer", (t) => {
  const {create, open} = caseOf(t);
  create().close();
  for (const flags of [{populate: true}, {random: true}, {private: true}, {guard: true}, {strict: true}, {anyFilesystem: true}, {followSymlinks: false},
    {noWrite: true}, {follow: true}, {lockTimeout: Infinity}, {lockTimeout: 0.001}, {private: false}, {guard: undefined}])
    assert.equal(open("r", flags).contains("a"), false, JSON.stringify(flags));
  const writer = open("r+", {exclusive: true, writebackCheck: 0, limit: true});
  assert.equal(writer.add("a"), true);
  assert.throws(() => open("r+", {private: true}), {code: "EINVAL"});
});

test("a symbolic link is refused where that is said", (t) => {
  const {create, open, file, path} = caseOf(t);
  create().close();
  fs.symlinkSync(path, file("link"));
  open("r", {}, "link");
  assert.throws(() => open("r", {followSymlinks: false}, "link"), {kind: "malformed", code: "ELOOP"});
  assert.throws(() => bfstore.verify(file("link"), {followSymlinks: false}), {code: "ELOOP"});
});

test("times are milliseconds", () => {
  const made = (one) => given(one, TAKEN.open).options;
  for (const [time, number] of [[0, BFS.LOCK_NO_WAIT], [Infinity, BFS.LOCK_FOREVER], [1500, 1500], [0.01, 1], [undefined, 0]])
    assert.equal(made({lockTimeout: time}).number("lock_timeout_ms"), number);
  for (const [time, number] of [[0, BFS.WRITEBACK_CHECK_EACH_ADD], [250, 250]])
    assert.equal(made({writebackCheck: time}).number("writeback_check_ms"), number);
});

test("a descriptor", (t) => {
  const {create, path, kept} = caseOf(t);
  const made = create();
  made.add("a");
  made.close();
  const fd = fs.openSync(path);
  const opened = kept(bfstore.open(fd));
  assert.deepEqual(asked(opened, "a", "b"), [true, false]);
  assert.equal(opened.name, `descriptor ${fd}`);
  fs.closeSync(fd);
  assert.throws(() => bfstore.open(fd, "r+"), {code: "EINVAL"});
});

test("a range of a file", (t) => {
  const {create, file, open} = caseOf(t);
  const made = create();
  made.add("a");
  const dumped = made.dump();
  fs.writeFileSync(file("whole"), Buffer.concat([Buffer.alloc(640, "."), dumped, Buffer.from("the rest")]));
  assert.deepEqual(asked(open("r", {range: {offset: 640, bytes: dumped.length}}, "whole"), "a", "b"), [true, false]);
  assert.deepEqual(asked(open("r", {range: {offset: 640n}}, "whole"), "a", "b"), [true, false]);
  assert.throws(() => open("r", {range: {offset: 0}}, "whole"), {kind: "malformed"});
});

test("marks", async (t) => {
  const made = caseOf(t).create();
  made.sync();
  made.sync({owner: 7, epoch: 1, mark: 100});
  await made.syncAsync({owner: 2n ** 64n - 1n, epoch: 2n ** 63n, mark: 5});
  const marks = made.marks().sort((a, b) => Number(a.owner - b.owner));
  assert.deepEqual(marks, [{owner: 7n, mark: 100n, epoch: 1n, recovered: false}, {owner: 2n ** 64n - 1n, mark: 5n, epoch: 2n ** 63n, recovered: false}]);
  assert.deepEqual([made.getMark(7, 1), made.getMark(7, 2), made.getMark(8n, 1n)], [100n, 0n, 0n]);
  made.dropOwner(7);
  await made.dropOwnerAsync(2n ** 64n - 1n);
  assert.deepEqual(made.marks(), []);
  for (const owner of [-1, 2n ** 64n, 2 ** 53]) assert.throws(() => made.sync({owner}), RangeError);
  assert.throws(() => made.sync({owner: "7"}), TypeError);
  assert.throws(() => made.sync({owner: 7, epoc: 1}), TypeError);
  made.sync(marks[0]); // a Mark as it was told
  assert.deepEqual(made.marks(), [marks[0]]);
});

/** Leaves the file as a machine does that went down (FORMAT.md, "State slots"): dirty, in another boot. */
function goDown({path, create}) {
  const data = fs.readFileSync(path);
  const hash = create({seed: create({seed: 0n}, "unseeded").digest(data.subarray(88, 104))}, "xxh3");
  for (const at of [4096, 8192]) {
    data.writeUInt32LE(2, at + 8);
    randomBytes(16).copy(data, at + 16);
    data.writeBigUInt64LE(hash.digest(data.subarray(at, at + 4088)), at + 4088);
  }
  fs.writeFileSync(path, data);
}

test("a recovery", async (t) => {
  for (const later of [false, true]) {
    const made = caseOf(t);
    const before = made.create();
    before.add("before");
    before.sync({owner: 7, epoch: 1, mark: 1});
    before.close();
    goDown(made);
    assert.throws(() => made.open(), {kind: "state", code: "BFS_EUNCLEAN"});
    const recovering = made.open("r+", {recover: true});
    assert.equal(recovering.health, "recovering");
    assert.equal(recovering.contains("anything"), true);
    recovering.add("after");
    assert.equal(later ? await recovering.finishRecoveryAsync(7) : recovering.finishRecovery(7n), true);
    assert.deepEqual(asked(recovering, "before", "after", "anything"), [true, true, false]);
    recovering.close();
    assert.equal(made.open().health, "ok");
  }
});

test("a loss that is accepted", (t) => {
  const made = caseOf(t);
  made.create().close();
  goDown(made);
  assert.equal(made.open("r+", {acceptLoss: true}).health, "ok");
});

test("an online build", async (t) => {
  const {create} = caseOf(t);
  for (const [name, finish] of [["now", (made) => made.finishFilling()], ["later", (made) => made.finishFillingAsync()]]) {
    const made = create({filling: true}, name);
    assert.equal(made.health, "filling");
    assert.equal(made.contains("anything"), true);
    assert.throws(() => made.dump(), {code: "BFS_EFILLING"});
    made.add("a");
    await finish(made);
    assert.deepEqual([made.health, ...asked(made, "a", "anything")], ["ok", true, false]);
  }
});

/** Makes a filter with these keys; all have the same seed. */
function filled({create}, keys, name, options = {}) {
  const made = create({seed: 7, ...options}, name);
  made.addMany(keys);
  return made;
}

test("a key is forgotten when its epoch is the oldest", async (t) => {
  const {create} = caseOf(t);
  assert.equal(BFS_LARGE.IF_DUE, 2n ** 64n - 1n);
  for (const [layout, epochs] of [["window", 8], ["window-4", 4], ["window-2", 2]]) {
    const made = create({layout, window: 86_400_000}, layout);
    made.add("a");
    const facts = made.stats();
    assert.deepEqual([facts.layout, facts.epochs, facts.epoch, facts.window, facts.turnDue, facts.keysOfEpochs], [layout, epochs, 0, 86_400_000, false, undefined]);
    assert.ok(facts.turnedAt > new Date("2023-01-01"));
    assert.deepEqual([made.turn(), await made.turnAsync(), made.turn(undefined), made.stats().epoch], [false, false, false, 0]);
    for (let epoch = 0; epoch < epochs; epoch++) {
      assert.equal(made.contains("a"), true);
      assert.equal(epoch % 2 === 0 ? made.turn(epoch) : await made.turnAsync(BigInt(epoch)), true);
      assert.deepEqual([made.turn(epoch), await made.turnAsync(epoch), made.stats().epoch], [false, false, epoch + 1]);
    }
    assert.equal(made.contains("a"), false);
  }
});

test("the loop of the guide turns", (t) => {
  const {folder} = caseOf(t);
  const done = run(`
    import * as bfstore from "bfstore";
    process.chdir(process.argv[1]);
    const seen = bfstore.open("seen.bf", "a", {capacity: 10_000_000, window: 24 * 3_600_000});
    const turns = setInterval(() => seen.turnAsync().catch(console.error), 60_000);
    clearInterval(turns);
    console.log(await seen.turnAsync());
    seen.close();`, [folder]);
  assert.equal(done.stdout, "false\n", done.stderr);
});

test("an epoch that has lasted for its time ends", async (t) => {
  const made = caseOf(t).create({layout: "window-2", window: 1});
  assert.equal(made.stats().window, 1);
  for (const turn of [() => made.turn(), () => made.turnAsync()]) {
    const {epoch} = made.stats();
    await setTimeout(50);
    assert.equal(made.stats().turnDue, true);
    assert.equal(await turn(), true);
    assert.equal(made.stats().epoch, epoch + 1);
  }
});

test("the keys of each epoch are estimated", (t) => {
  const {create} = caseOf(t);
  const made = create({layout: "window-4", window: 3_600_000});
  made.addMany(numbers(1000));
  made.turn(0);
  made.addMany(numbers(100));
  const [now, before, ...others] = made.stats({fill: true}).keysOfEpochs;
  assert.ok(Math.abs(now - 100) < 10 && Math.abs(before - 1000) < 100, `${now}, ${before}`);
  assert.deepEqual(others, [0, 0]);
  const other = create({}, "other");
  const {epochs, epoch, turnedAt, window, turnDue, keysOfEpochs} = other.stats({fill: true});
  assert.deepEqual([epochs, epoch, turnedAt, window, turnDue, keysOfEpochs], [0, undefined, undefined, undefined, undefined, undefined]);
  assert.throws(() => other.turn(), {code: "BFS_EUNSUPPORTED", message: /do not expire/});
});

test("the window is that of the file, and a turn is a writer's", async (t) => {
  const {create, open, path, file, kept} = caseOf(t);
  const made = create({window: 60_000});
  const again = kept(bfstore.open(path, "a", {capacity: 5, window: 60_000}));
  assert.deepEqual([again.created, again.stats().layout, again.stats().window], [false, "window", 60_000]);
  assert.throws(() => bfstore.open(path, "a", {capacity: 5, window: 60_001}), {code: "BFS_EMISMATCH", message: /window/});
  for (const wrong of [0, -1, NaN, Infinity, 2 ** 60]) assert.throws(() => bfstore.create(file("no"), {capacity: 5, window: wrong}), {name: "RangeError", message: /window/});
  for (const wrong of ["24h", 5n, null]) assert.throws(() => bfstore.create(file("no"), {capacity: 5, window: wrong}), {name: "TypeError", message: /window/});
  for (const wrong of [{layout: "window"}, {layout: "classic", window: 5}])
    assert.throws(() => bfstore.create(file("no"), {capacity: 5, ...wrong}), {code: "EINVAL", message: /window/});
  assert.throws(() => bfstore.requiredBytes({capacity: 5, window: 5}), {code: "BFS_EUNSUPPORTED", message: /Make a file/});
  assert.throws(() => bfstore.openForeign(path, "raw", {window: 5}), {name: "TypeError", message: /window/});
  assert.throws(() => open().turn(), {code: "BFS_EREADONLY"});
  for (const wrong of [-1, 2n ** 64n, 2 ** 60]) assert.throws(() => made.turn(wrong), RangeError);
  for (const wrong of [0.5, "0", null, true]) await assert.rejects(made.turnAsync(wrong), TypeError);
  assert.equal(made.turn(2n ** 63n), false);
  made.close();
  assert.throws(() => made.turn(), {code: "BFS_ESHUT"});
  await assert.rejects(made.turnAsync(), {code: "BFS_ESHUT"});
});

test("copy, dump, load", async (t) => {
  const here = caseOf(t);
  const {file, open, kept} = here;
  const made = filled(here, ["a", "b"], "filter.bf", {note: Buffer.from("note")});
  made.copy(file("saved"), {mode: 0o600});
  await made.copyAsync(file("later"));
  for (const copy of [open("r", {}, "saved"), open("r", {}, "later"), kept(bfstore.load(made.dump())), kept(bfstore.load(await made.dumpAsync(), "r+")),
    kept(bfstore.load(fs.readFileSync(file("saved"))))]) {
    assert.deepEqual([Buffer.from(copy.stats().note).toString(), ...asked(copy, "a", "b", "c")], ["note", true, true, false]);
    assert.equal(copy.compare(made).equal, true);
  }
  assert.throws(() => made.copy(file("saved")), {code: "EEXIST"});
  made.copy(file("saved"), {replace: true, sameFileId: true});
  assert.deepEqual(open("r", {}, "saved").stats().fileId, made.stats().fileId);
  made.copy(file("folded"), {fpr: 0.5});
  assert.ok(open("r", {}, "folded").stats().numBits < made.stats().numBits);
  made.copy(file("filling"), {filling: true});
  assert.equal(open("r", {}, "filling").health, "filling");
});

test("a buffer is formatted and wrapped in place", (t) => {
  const {kept} = caseOf(t);
  const memory = bfstore.alignedBuffer(bfstore.requiredBytes({capacity: 1000}));
  kept(bfstore.format(memory, {capacity: 1000})).add("a");
  const reader = kept(bfstore.wrap(memory));
  kept(bfstore.wrap(memory, "r+")).add("b");
  assert.deepEqual(asked(reader, "a", "b", "c"), [true, true, false]);
  assert.throws(() => reader.add("c"), {code: "BFS_EREADONLY"});
  assert.throws(() => bfstore.wrap(bfstore.alignedBuffer(8192)), {kind: "malformed"});
  assert.throws(() => bfstore.wrap(memory.subarray(1)), {code: "EINVAL"});
  const bare = bfstore.alignedBuffer(bfstore.requiredBytes({numBits: 1024, numProbes: 6, seed: 0, bare: true}));
  kept(bfstore.format(bare, {numBits: 1024, numProbes: 6, seed: 0, bare: true})).add("a");
  assert.deepEqual(asked(kept(bfstore.wrap(bare, "r", {bare: true})), "a", "b"), [true, false]);
});

test("bare dumps", (t) => {
  const {create, kept} = caseOf(t);
  const made = create({seed: 0, numBits: 1024, numProbes: 6});
  made.add("a");
  const bare = made.dump({bare: true});
  assert.deepEqual(asked(kept(bfstore.load(bare, "r", {bare: true})), "a", "b"), [true, false]);
  assert.deepEqual(["a", "b"].map((key) => bfstore.bareContains(bare, key)), [true, false]);
  assert.deepEqual([made.digest("a"), made.digest("b")].map((digest) => bfstore.bareContainsDigest(bare, digest)), [true, false]);
});

test("merge", async (t) => {
  const here = caseOf(t);
  const one = filled(here, ["a"], "one");
  const two = filled(here, ["b"], "two");
  one.merge(two);
  assert.deepEqual(asked(one, "a", "b", "c"), [true, true, false]);
  await two.mergeAsync(one);
  assert.equal((await one.compareAsync(two)).equal, true);
  for (const wrong of ["text", {}, null, {__proto__: one}]) {
    assert.throws(() => two.merge(wrong), TypeError);
    assert.throws(() => two.compare(wrong), TypeError);
    assert.throws(() => bfstore.intersect([one, wrong], here.file("no")), TypeError);
    await assert.rejects(two.mergeAsync(wrong), TypeError);
  }
  assert.throws(() => one.merge(here.create({seed: 8}, "seed")), {code: "BFS_EMISMATCH", message: /seed/});
});

test("compare", (t) => {
  const here = caseOf(t);
  const a = filled(here, numbers(1000), "a");
  const b = filled(here, numbers(1000).map((i) => i + 500), "b");
  const found = a.compare(b);
  assert.deepEqual([found.comparable, found.someInBoth, found.equal, found.aInB, found.bInA, found.differs.size], [true, true, false, false, false, 0]);
  assert.ok(found.keysBoth.low <= 500 && found.keysBoth.high >= 500);
  assert.ok(Math.abs(found.jaccard.estimate - 1 / 3) < 0.05);
  const differs = a.compare(here.create({layout: "classic", seed: 8}, "c")).differs;
  assert.deepEqual(["layout", "seed", "hash"].filter((name) => differs.has(name)), ["layout", "seed"]);
});

test("parts", async (t) => {
  const here = caseOf(t);
  const shape = {capacity: 100, seed: 1n};
  const parts = [bfstore.create(here.file("part0"), {...shape, part: 0, numParts: 2}), await bfstore.createAsync(here.file("part1"), {...shape, part: 1, numParts: 2})];
  const partOf = (filter) => [filter.stats().part, filter.stats().numParts];
  assert.deepEqual(partOf(parts[1]), [1, 2]);
  for (const key of ["a", "b", "c", "d"]) parts[Number(parts[0].digest(key) >> 63n)].add(key);
  assert.throws(() => parts[0].addDigest(2n ** 64n - 1n), {bfsName: "BFS_EPART"});
  assert.throws(() => parts[1].containsDigest(0n), {bfsName: "BFS_EPART"});
  assert.throws(() => bfstore.join([parts[1]], here.file("no")), {bfsName: "BFS_EMISMATCH"});
  assert.throws(() => bfstore.create(here.file("no"), {capacity: 100, part: 2, numParts: 2}), {bfsName: "BFS_EINVAL"});
  assert.throws(() => bfstore.create(here.file("no"), {capacity: 100, part: -1, numParts: 2}), RangeError);
  bfstore.join(parts, here.file("whole"));
  await bfstore.joinAsync(parts, here.file("later"));
  const whole = bfstore.open(here.file("whole"));
  for (const key of ["a", "b", "c", "d"]) assert.ok(whole.contains(key));
  assert.deepEqual(partOf(whole), [0, 1]);
  for (const filter of parts) filter.close();

  fs.writeFileSync(here.file("set"), "bfstore-set 1\npart1\npart0\n");
  for (const set of [bfstore.open(here.file("set"), "r", {guard: true}), await bfstore.openAsync(here.file("set"))]) {
    for (const key of ["a", "b", "c", "d", "e", "f", "g", "h"]) assert.equal(set.contains(key), whole.contains(key));
    assert.throws(() => set.add("e"), {bfsName: "BFS_EREADONLY"});
    set.close();
  }
  whole.close();
  for (const [mode, options] of [["r", {follow: true}], ["r+", {}], ["a", {capacity: 5}]])
    assert.throws(() => bfstore.open(here.file("set"), mode, options), bfstore.BfstoreError);
});

test("intersect", async (t) => {
  const here = caseOf(t);
  const a = filled(here, numbers(1000), "a");
  const b = filled(here, numbers(1000).map((i) => i + 500), "b");
  bfstore.intersect([a, b], here.file("both"));
  await bfstore.intersectAsync(new Set([a, b]), here.file("later"), {filling: false});
  for (const name of ["both", "later"]) assert.deepEqual(asked(here.open("r", {}, name), 0, 600, 1400), [false, true, false]);
  b.close();
  assert.throws(() => bfstore.intersect([a, b], here.file("no")), {code: "BFS_ESHUT"});
  assert.equal(a.contains(5), true);
});

test("a delta makes the later file", async (t) => {
  const here = caseOf(t);
  const {file, open} = here;
  const [before, after, delta, made] = ["before", "after", "delta", "made"].map((name) => file(name));
  const filter = filled(here, ["a"]);
  filter.copy(before, {sealed: true});
  filter.add("b");
  filter.copy(after, {sealed: true});
  filter.close();
  assert.throws(() => bfstore.makeDelta(after, before, delta), {code: "BFS_EMISMATCH"});
  bfstore.makeDelta(before, after, delta, {mode: 0o644});
  assert.throws(() => bfstore.makeDelta(before, after, delta), {code: "EEXIST"});
  await bfstore.makeDeltaAsync(before, after, delta, {replace: true});
  bfstore.applyDelta(before, delta, made);
  assert.deepEqual(fs.readFileSync(made), fs.readFileSync(after));
  await bfstore.applyDeltaAsync(before, delta, before, {replace: true});
  assert.equal(open("r", {}, "before").contains("b"), true);
  assert.throws(() => bfstore.applyDelta(before, delta, made, {replace: true}), {code: "BFS_EMISMATCH"});
  assert.throws(() => bfstore.applyDelta(before, delta, made, {filling: true}), /filling/);
});

test("seal and verify", async (t) => {
  const here = caseOf(t);
  const {file, open, path} = here;
  filled(here, ["a"]).close();
  const sealed = file("sealed");
  const source = open();
  source.copy(sealed, {sealed: true});
  await source.copyAsync(sealed, {sealed: true, replace: true});
  assert.deepEqual(bfstore.verify(sealed), []);
  assert.deepEqual(await bfstore.verifyAsync(sealed), []);
  assert.equal(open("r", {verify: true}, "sealed").contains("a"), true);
  assert.throws(() => open("r+", {}, "sealed"), {code: "BFS_ESEALED"});
  assert.throws(() => bfstore.verify(path), {code: "BFS_ENOTSEALED"});
  const data = fs.readFileSync(sealed);
  data[20_000] ^= 1;
  fs.writeFileSync(sealed, data);
  for (const [found, ...rest] of [bfstore.verify(sealed), await bfstore.verifyAsync(sealed)]) {
    assert.ok(found.offset <= 20_000 && 20_000 < found.offset + found.bytes);
    assert.deepEqual(rest, []);
  }
  assert.throws(() => open("r", {verify: true}, "sealed"), {code: "BFS_EDAMAGED"});
  assert.equal(open("r", {tolerateDamage: true}, "sealed").contains("anything"), true);
});

test("more damaged ranges than are asked for at first", (t) => {
  const {create, open, path} = caseOf(t);
  create({capacity: 20_000_000}).close();
  open().copy(path, {sealed: true, replace: true});
  const fd = fs.openSync(path, "r+");
  for (let at = 1 << 16; at < fs.fstatSync(fd).size - 65536; at += 1 << 17) fs.writeSync(fd, "x", at + 100);
  fs.closeSync(fd);
  const offsets = bfstore.verify(path).map((range) => range.offset);
  assert.ok(offsets.length > 100);
  assert.deepEqual(offsets, [...new Set(offsets)].sort((a, b) => a - b));
});

test("bits of another program", async (t) => {
  const filter = caseOf(t).create({layout: "classic", hash: "murmur3", numBits: 1000, seeds: [5, 2 ** 32 - 1]});
  assert.deepEqual([...filter.stats().seeds], [5, 2 ** 32 - 1]);
  const bits = Buffer.concat([Buffer.alloc(124), Buffer.from([3])]);
  filter.importBits(bits, "little");
  assert.deepEqual(Buffer.from(filter.exportBits("little")), bits);
  assert.deepEqual(Buffer.from(await filter.exportBitsAsync("little")), bits);
  assert.deepEqual(Buffer.from(filter.exportBits("big")), Buffer.concat([Buffer.alloc(124), Buffer.from([0xc0])]));
  assert.equal(filter.stats({fill: true}).setBits, 2);
  assert.throws(() => filter.importBits(bits, "middle"), TypeError);
  assert.throws(() => filter.importBits(Buffer.alloc(0), "big"), {code: "EINVAL"});
});

/* BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "caf\u00e9". */
const JAYBIRD = Buffer.from("fca9f1d24d62503f0a000000000000000f000000000000000a000000000000000300000000000000" +
  "80c21002480200179018000904114892002200", "hex");

test("a file of python-bloomfilter becomes a filter and comes back", async (t) => {
  const {folder, path, file, kept} = caseOf(t);
  assert.deepEqual(bfstore.inspectForeign(JAYBIRD.subarray(0, 40), "jaybird"), {
    layout: "classic", hash: "jaybird", numProbes: 10, numBits: 150, capacity: 10, fpr: 0.001, keys: 3, bytes: JAYBIRD.length, filters: 1, needs: new Set(),
  });
  const made = kept(bfstore.importForeign(path, JAYBIRD, "jaybird"));
  assert.deepEqual(asked(made, "alice", "bob", "caf\u00e9", "carol"), [true, true, true, false]);
  assert.deepEqual(Buffer.from(made.exportForeign("jaybird")), JAYBIRD);
  assert.deepEqual(Buffer.from(await made.exportForeignAsync("jaybird")), JAYBIRD);
  assert.throws(() => made.add("carol"), {code: "BFS_EREADONLY"});
  assert.throws(() => bfstore.importForeign(file("other"), JAYBIRD.subarray(1), "jaybird"), {code: "BFS_EMALFORMED", kind: "malformed"});
  const short = JAYBIRD.subarray(0, -1);
  assert.throws(() => bfstore.importForeign(file("other"), short, "jaybird", {name: "words.jay"}),
    {kind: "malformed", message: /^words\.jay: has 58 bytes/});
  await assert.rejects(bfstore.importForeignAsync(file("other"), short, "jaybird"), {kind: "malformed", message: /^the foreign filter: /});
  assert.deepEqual(fs.readdirSync(folder), ["filter.bf"]);
});

test("foreign bytes may go once the call has begun", async (t) => {
  const {file, kept} = caseOf(t);
  // At most 32 calls run at once: the last one waits, and reads its bytes after they are gone.
  const before = numbers(32).map((i) => bfstore.importForeignAsync(file(`${i}`), JAYBIRD, "jaybird"));
  const data = new Uint8Array(JAYBIRD);
  const last = bfstore.importForeignAsync(file("last"), data, "jaybird");
  structuredClone(data.buffer, {transfer: [data.buffer]});
  const [made] = (await Promise.all([last, ...before])).map(kept);
  assert.deepEqual(asked(made, "alice", "carol"), [true, false]);
  assert.throws(() => bfstore.inspectForeign(data, "jaybird"), {name: "TypeError", message: /transferred/});
});

test("a plain array needs the caller's word", (t) => {
  const {folder, path, kept} = caseOf(t);
  for (const name of ["raw", "jaybird"]) assert.ok(bfstore.foreignFormats().includes(name));
  const bits = Buffer.concat([Buffer.from([0, 0, 0, 0x80]), Buffer.alloc(12)]);
  const words = {order: "big", hash: "murmur3", numBits: 124, numProbes: 4};
  for (const told of [bfstore.inspectForeign(bits, "raw"), bfstore.inspectForeign(bits, "raw", {numBits: undefined, order: "big"})])
    assert.deepEqual([told.needs, told.numBits, told.hash, told.keys, told.bytes],
      [new Set(["size", "order", "hash"]), undefined, undefined, undefined, undefined]);
  const told = bfstore.inspectForeign(new Uint8Array(0), "raw", words);
  assert.deepEqual([told.numBits, told.numProbes, told.hash, told.bytes], [124, 4, "murmur3", 16]);
  for (const [format, wrong, raised] of [
    ["raw", {hash: undefined}, {code: "EINVAL"}], ["raw", {numBits: undefined}, {code: "EINVAL"}], ["raw", {order: undefined}, {code: "EINVAL"}],
    ["raw", {order: "middle"}, TypeError], ["raw", {numBits: 132}, {code: "EINVAL"}], ["pickle", {}, {code: "EINVAL", message: /pickle/}],
    ["raw", {filling: true}, {code: "EINVAL"}], ["raw", {colour: 1}, TypeError], ["raw", {name: 5}, TypeError], ["raw", {name: "a\0b"}, TypeError],
    [5, {}, TypeError]])
    assert.throws(() => bfstore.importForeign(path, bits, format, {...words, ...wrong}), raised, JSON.stringify([format, wrong]));
  assert.throws(() => bfstore.importForeign(path, "bits", "raw", words), TypeError);
  assert.deepEqual(fs.readdirSync(folder), []);
  const made = kept(bfstore.importForeign(path, bits, "raw", {...words, unpublished: true}));
  assert.deepEqual(Buffer.from(made.exportForeign("raw", {order: "big"})), bits);
  assert.equal(made.add("key"), true);
  assert.deepEqual(fs.readdirSync(folder), []);
  made.publish();
  const [little, big] = ["little", "big"].map((order) => made.exportForeign("raw", {order}));
  assert.notDeepEqual(little, big);
  for (const [format, options, raised] of [["raw", {}, {code: "EINVAL"}], ["jaybird", {order: "big"}, {code: "EINVAL"}],
    ["jaybird", {}, {code: "BFS_EUNSUPPORTED"}], ["raw", {order: "big", name: "a"}, TypeError]])
    assert.throws(() => made.exportForeign(format, options), raised, format);
});

test("keys of python-bloomfilter are found", (t) => {
  const {create} = caseOf(t);
  for (const hash of ["jaybird", "pybloom-live"]) {
    const made = create({hash, capacity: 1000, fpr: 0.01, tutorialSizing: true}, hash);
    assert.deepEqual([made.stats().hash, made.stats().numBits, made.stats().numProbes], [hash, 7 * 1370, 7]);
    made.addMany(["foo", "4711"]);
    assert.deepEqual(asked(made, "foo", "4711", "bar", 4711), [true, true, false, false]);
  }
});

test("bare filters", () => {
  const keys = numbers(100).map((i) => `key ${i}`);
  const size = bfstore.bareBytes(100, 10);
  const bare = bfstore.bareBuild(size, keys);
  assert.equal(bare.length, size);
  assert.ok(keys.every((key) => bfstore.bareContains(bare, key)));
  assert.ok(numbers(1000).filter((i) => bfstore.bareContains(bare, `no ${i}`)).length < 100);
  const digests = keys.map((key) => createHash("sha256").update(key).digest().readBigUInt64LE());
  const byDigest = bfstore.bareBuildDigests(size, digests, {hash: "external"});
  assert.ok(digests.every((digest) => bfstore.bareContainsDigest(byDigest, digest)));
  assert.equal(bfstore.bareContainsDigest(byDigest, 5n), false);
  assert.equal(bfstore.bareContains(Buffer.from("no filter"), "a"), true); // doubt
  assert.equal(bfstore.bareContains(Buffer.alloc(0), "a"), true);
  assert.equal(bfstore.bareBytes(0, -1), 0);
  assert.throws(() => bfstore.bareBuild(7, keys), {code: "EINVAL"});
  assert.throws(() => bfstore.bareBuild(size, ["a", null]), TypeError);
  assert.throws(() => bfstore.bareBuild(-1, keys), RangeError);
  assert.equal(bfstore.bareBuild(bfstore.bareBytes(100, 10, {layout: "classic"}), keys, {layout: "classic"}).length > 100, true);
});

test("plans", (t) => {
  const {create, path} = caseOf(t);
  const planned = bfstore.plan({capacity: 1_000_000, fpr: 0.01});
  assert.deepEqual([planned.layout, planned.capacity], ["blocked", 1_000_000]);
  assert.ok(planned.fpr <= 0.01 && planned.abilities.has("merge") && !planned.abilities.has("remove"));
  assert.ok(bfstore.plan({capacity: 5, layout: "counting"}).abilities.has("remove"));
  const built = bfstore.plan({capacity: 1e7, fpr: 0.01, layout: "static"});
  assert.deepEqual([built.layout, [...built.abilities], built.bitsPerKey < 7.3], ["static", ["build"], true]);
  const made = create({numBits: planned.numBits, numProbes: planned.numProbes, capacity: planned.capacity});
  assert.equal(fs.statSync(path).size, planned.fileBytes);
  assert.equal(made.stats().numBits, planned.numBits);
  assert.throws(() => bfstore.plan({}), {code: "EINVAL"});
});

test("stats", async (t) => {
  const here = caseOf(t);
  const made = filled(here, numbers(1000));
  const few = made.stats();
  assert.deepEqual([few.setBits, few.estimatedKeys, few.residentBytes], [undefined, undefined, undefined]);
  assert.deepEqual([few.keysAdded, few.saturated], [1000, false]);
  for (const more of [made.stats({fill: true, memory: true}), await made.statsAsync({fill: true, memory: true})]) {
    assert.ok(more.estimatedKeys.low <= 1000 && more.estimatedKeys.high >= 1000);
    assert.ok(more.residentBytes > 0);
    assert.ok(["avx512", "avx2", "neon", "scalar"].includes(more.isa));
  }
  assert.throws(() => made.stats({all: true}), TypeError);
});

test("a file of another program is asked in place", async (t) => {
  const {kept, file, folder} = caseOf(t);
  const path = file("foreign");
  fs.writeFileSync(path, JAYBIRD);
  fs.writeFileSync(file("text"), "no filter");
  assert.deepEqual([bfstore.recognizeForeign(path), bfstore.recognizeForeign(file("text"), {anyFilesystem: true})], [["jaybird"], []]);
  assert.deepEqual(await bfstore.recognizeForeignAsync(path), ["jaybird"]);
  const own = kept(await bfstore.openForeignAsync(path, "jaybird", {private: true}));
  const shared = kept(bfstore.openForeign(path, "jaybird", {populate: true, random: true, guard: true, anyFilesystem: true}));
  const descriptor = fs.openSync(path);
  const byDescriptor = kept(bfstore.openForeign(descriptor, "jaybird"));
  fs.closeSync(descriptor);
  for (const opened of [own, shared, byDescriptor]) {
    assert.deepEqual(asked(opened, "alice", "bob", "caf\u00e9", "carol"), [true, true, true, false]);
    assert.throws(() => opened.add("carol"), {code: "BFS_EREADONLY"});
    assert.equal(opened.created, false);
  }
  assert.deepEqual([shared.name, byDescriptor.name], [path, `descriptor ${descriptor}`]);
  fs.writeFileSync(path, Buffer.alloc(JAYBIRD.length));
  assert.deepEqual([shared.contains("carol"), own.contains("carol"), shared.health, own.health], [true, false, "lost", "ok"]);
  assert.deepEqual(fs.readdirSync(folder).sort(), ["foreign", "text"]);
});

test("a plain array is asked in place", async (t) => {
  const {kept, file} = caseOf(t);
  const [path, link] = [file("bits"), file("link")];
  const words = {order: "big", hash: "murmur3", numBits: 124, numProbes: 4};
  fs.writeFileSync(path, Buffer.alloc(16));
  fs.symlinkSync(path, link);
  assert.deepEqual(bfstore.recognizeForeign(link), []);
  const opened = kept(bfstore.openForeign(link, "raw", words));
  assert.deepEqual([opened.contains("key"), opened.stats().numBits, opened.stats().hash], [false, 124, "murmur3"]);
  assert.throws(() => bfstore.openForeign(link, "raw", {...words, followSymlinks: false}), {code: "ELOOP"});
  assert.throws(() => bfstore.recognizeForeign(link, {followSymlinks: false}), {code: "ELOOP"});
  for (const [wrong, raised] of [[{hash: undefined}, {code: "EINVAL"}], [{numBits: 132}, {code: "EINVAL"}], [{order: "middle"}, TypeError],
    [{replace: true}, /"replace"/], [{name: "x"}, /"name"/], [{note: new Uint8Array(1)}, /"note"/]])
    assert.throws(() => bfstore.openForeign(path, "raw", {...words, ...wrong}), raised, JSON.stringify(wrong));
  await assert.rejects(bfstore.openForeignAsync(file("none"), "raw", words), {code: "ENOENT"});
  assert.throws(() => bfstore.recognizeForeign(file("none")), {code: "ENOENT"});
  assert.throws(() => bfstore.recognizeForeign(path, {verify: true}), TypeError);
});

test("one filter of a file and a column are named", (t) => {
  const {kept, file, path: to} = caseOf(t);
  const path = file("foreign");
  fs.writeFileSync(path, JAYBIRD);
  const [opens, inspects, imports] = [(form) => bfstore.openForeign(path, "jaybird", form), (form) => bfstore.inspectForeign(JAYBIRD, "jaybird", form),
    (form) => bfstore.importForeign(to, JAYBIRD, "jaybird", form)];
  for (const call of [opens, inspects, imports]) {
    assert.throws(() => call({column: "id"}), {code: "EINVAL", message: /no columns/});
    assert.throws(() => call({column: "a\0b"}), TypeError);
    for (const wrong of [0, -1, 2 ** 32]) assert.throws(() => call({member: wrong}), RangeError);
    assert.throws(() => call({member: "first"}), TypeError);
  }
  for (const call of [opens, imports]) {
    assert.throws(() => call({member: 2}), {code: "EINVAL", message: /no number 2/});
    assert.ok(kept(call({member: 1})).contains("alice"));
  }
});

test("several filters are asked at once", async (t) => {
  const {create, kept, file} = caseOf(t);
  const filters = numbers(100).map((number) => {
    const one = create({seed: number % 2}, `${number}`);
    one.addMany([number, "every"]);
    return one;
  });
  fs.writeFileSync(file("foreign"), JAYBIRD);
  filters.splice(70, 0, kept(bfstore.openForeign(file("foreign"), "jaybird")));
  const others = numbers(101).filter((number) => number !== 70);
  for (const [key, expected] of [["alice", [70]], ["every", others], [Buffer.from("every"), others], ["absent", []], ["absent".repeat(50), []]])
    assert.deepEqual([bfstore.which(filters, key), bfstore.containsAny(filters, key)], [expected, expected.length > 0], String(key));
  for (const number of [0, 63, 64, 99]) assert.ok(bfstore.which(new Set(filters), number).includes(number < 70 ? number : number + 1));
  assert.deepEqual([bfstore.which([], "key"), bfstore.containsAny([], "key")], [[], false]);

  const digests = create({hash: "external"}, "digests");
  const closed = create({}, "closed");
  await closed.closeAsync();
  for (const ask of [bfstore.containsAny, bfstore.which]) {
    assert.throws(() => ask([filters[0], closed], "absent"), {code: "BFS_ESHUT"});
    assert.throws(() => ask([filters[0], digests], "absent"), {code: "BFS_EDIGESTONLY"});
    for (const wrong of [[filters[0], null], [{}], filters[0], {length: 0}, 5, null, "text"]) assert.throws(() => ask(wrong, "absent"), TypeError);
    assert.throws(() => ask(filters, 1.5), TypeError);
    assert.throws(() => ask(filters, null), TypeError);
  }
});

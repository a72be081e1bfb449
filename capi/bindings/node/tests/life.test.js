/* Handles: closed, closed in use, used after close, leaked to the collector, used by workers; and files that are
 * truncated during lookups. */
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import {inspect} from "node:util";
import {Worker} from "node:worker_threads";
import * as bfstore from "bfstore";
import {caseOf, numbers, run} from "./case.js";

/** Returns the files that this process has open. */
const descriptors = () => fs.readdirSync("/proc/self/fd").map((fd) => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "that of the listing";
  }
});

test("every method of a closed filter throws", async (t) => {
  const {create, file} = caseOf(t);
  const made = create();
  const other = create({}, "other");
  made.close();
  made.close();
  await made.closeAsync();
  made.abandon();
  assert.equal(made.closed, true);
  assert.equal(made.health, "shut");
  const safe = ["constructor", "close", "closeAsync", "abandon", "closed", "created", "name", "health", "toString"];
  const words = {
    copy: [file("x")], merge: [other], compare: [other], importBits: [Buffer.alloc(1), "big"], exportBits: ["big"], getMark: [1, 1],
    exportForeign: ["raw", {order: "big"}],
    dropOwner: [1], finishRecovery: [1], sync: [], turn: [], stats: [], dump: [],
  };
  let called = 0;
  for (const name of Object.getOwnPropertyNames(bfstore.Filter.prototype)) {
    if (safe.includes(name)) continue;
    const plain = name.replace(/Async$/, "");
    const given = words[plain] ?? (/Digests$/.test(plain) ? [[1n]] : /Digest$/.test(plain) ? [1n] : /Many$|^select$/.test(plain) ? [["a"]] : ["a"]);
    if (plain === name) assert.throws(() => made[name](...given), {code: "BFS_ESHUT", message: /filter\.bf: the filter was closed/}, name);
    else await assert.rejects(made[name](...given), {code: "BFS_ESHUT"}, name);
    called++;
  }
  assert.ok(called > 40, `${called}`);
  for (const call of [() => other.merge(made), () => other.compare(made)]) assert.throws(call, {code: "BFS_ESHUT"});
  assert.match(inspect(made), /^Filter .*, closed /);
  assert.equal(other.add("is still open"), true);
});

test("a closed filter is synced and clean", async (t) => {
  const {create, open} = caseOf(t);
  for (const close of [(made) => made.close(), (made) => made.closeAsync(), (made) => made[Symbol.dispose](), (made) => made[Symbol.asyncDispose]()]) {
    const made = create({replace: true});
    made.add("a");
    await close(made);
    assert.equal(made.closed, true);
    const reader = open("r", {noWrite: true});
    assert.equal(reader.contains("a"), true);
    reader.close();
  }
});

test("an abandoned filter keeps what was added, and an unpublished one vanishes", (t) => {
  const {create, open, folder} = caseOf(t);
  const made = create({exclusive: true});
  made.add("a");
  made.abandon();
  assert.equal(made.closed, true);
  assert.equal(open("r+", {exclusive: true, lockTimeout: 0}).contains("a"), true);
  create({unpublished: true}, "never").abandon();
  assert.deepEqual(fs.readdirSync(folder), ["filter.bf"]);
});

test("handles do not leak memory or descriptors", async (t) => {
  const {create, path} = caseOf(t);
  create().close();
  (await bfstore.openAsync(path)).close();
  const before = descriptors().length;
  for (const i of numbers(200)) {
    const opened = i % 2 ? bfstore.open(path) : await bfstore.openAsync(path);
    opened.containsMany(["a", 5, Buffer.alloc(9)]);
    i % 3 ? opened.close() : await opened.closeAsync();
  }
  assert.equal(descriptors().length, before);
});

test("a close ends asynchronous calls that are under way, safely", async (t) => {
  const {create, file, open} = caseOf(t);
  for (const [round, close] of [(made) => made.close(), (made) => made.closeAsync(), (made) => made.abandon()].entries()) {
    const made = create({capacity: 1_000_000, exclusive: round === 0}, `${round}`);
    made.addMany(BigInt64Array.from(numbers(1000), BigInt));
    const settled = Promise.allSettled([
      ...numbers(12).flatMap((i) => [made.statsAsync({fill: true}), made.dumpAsync(), made.copyAsync(file(`${round} ${i}`)), made.syncAsync()]),
    ]);
    const closing = close(made);
    assert.equal(made.closed, true);
    assert.throws(() => made.contains("a"), {code: "BFS_ESHUT"});
    await assert.rejects(made.syncAsync(), {code: "BFS_ESHUT"});
    await closing;
    const results = await settled;
    for (const {status, reason} of results)
      if (status === "rejected") assert.ok(reason instanceof bfstore.BfstoreError, String(reason));
    assert.ok(results.some(({status, reason}) => status === "rejected" && reason.code === "BFS_ESHUT"), "no call was ended");
    const reader = open("r", {noWrite: true}, `${round}`);
    assert.ok(reader.containsMany(numbers(1000)).every((answer) => answer === 1));
  }
});

test("a buffer that is closed in use ends with its last call", async (t) => {
  const {file, open} = caseOf(t);
  const options = {capacity: 1_000_000};
  const made = bfstore.format(bfstore.alignedBuffer(bfstore.requiredBytes(options)), options);
  made.add("a");
  const calls = numbers(9).map((i) => made.copyAsync(file(`${i}`)));
  made.close();
  assert.throws(() => made.contains("a"), {code: "BFS_ESHUT"});
  await Promise.all(calls);
  for (const i of numbers(9)) assert.deepEqual(["a", "b"].map((key) => open("r", {}, `${i}`).contains(key)), [true, false]);
});

test("more asynchronous calls than koffi takes at once", async (t) => {
  const {create, path} = caseOf(t);
  create().close();
  const opened = await Promise.all(numbers(600).map(() => bfstore.openAsync(path)));
  assert.deepEqual(opened.map((one) => one.contains("a")), numbers(600).map(() => false));
  await Promise.all(opened.map((one) => one.closeAsync()));
});

test("publish refuses a handle in use", async (t) => {
  const made = caseOf(t).create({unpublished: true, capacity: 1_000_000});
  const busy = made.statsAsync({fill: true});
  assert.throws(() => made.publish(), /needs for itself/);
  await assert.rejects(made.publishAsync(), /needs for itself/);
  await busy;
  made.publish();
});

test("a filter that is not closed warns when it is collected, and loses nothing", (t) => {
  const {path, open} = caseOf(t);
  const done = run(`
    import * as bfstore from "bfstore";
    import fs from "node:fs";
    const path = process.argv[1];
    bfstore.create(path, {capacity: 100, exclusive: true}).add("a");
    const warned = new Promise((resolve) => process.once("warning", resolve));
    const before = fs.readdirSync("/proc/self/fd").length;
    const soon = setInterval(gc, 10);
    const warning = await warned;
    clearInterval(soon);
    console.log(warning.name, warning.code, warning.message.includes(path), fs.readdirSync("/proc/self/fd").length < before);
    const again = bfstore.open(path, "r+", {exclusive: true, lockTimeout: 0}); // the first handle's locks are gone
    console.log(again.contains("a"));
    again.close();`, [path], {flags: ["--expose-gc"]});
  assert.equal(done.stdout, "BfstoreWarning BFSTORE_UNCLOSED true true\ntrue\n", done.stderr);
  assert.equal(open().contains("a"), true);
});

test("only the warning of a filter that takes keys speaks of them", (t) => {
  const {path, create} = caseOf(t);
  create().close();
  const done = run(`
    import * as bfstore from "bfstore";
    const soon = setInterval(gc, 10);
    for (const mode of ["r", "r+"]) {
      const warned = new Promise((resolve) => process.once("warning", resolve));
      bfstore.open(process.argv[1], mode);
      console.log(mode, (await warned).message.includes("not synced"));
    }
    clearInterval(soon);`, [path], {flags: ["--expose-gc"]});
  assert.equal(done.stdout, "r false\nr+ true\n", done.stderr);
});

test("memory of a filter in a buffer lasts as long as the filter", () => {
  const done = run(`
    import * as bfstore from "bfstore";
    const options = {capacity: 2_000_000};
    const made = bfstore.format(bfstore.alignedBuffer(bfstore.requiredBytes(options)), options);
    for (let i = 0; i < 100; i++) made.add(i);
    for (let round = 0; round < 20; round++) {
      gc();
      new Uint8Array(3_000_000).fill(0);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    console.log(made.containsMany(Array.from({length: 100}, (_, i) => i)).every((answer) => answer === 1), made.health);
    made.close();`, [], {flags: ["--expose-gc"]});
  assert.equal(done.stdout, "true ok\n", done.stderr);
});

test("what a struct points to lasts as long as the struct", () => {
  const done = run(`
    import {batchOf, batchOfDigests} from "./lib/keys.js";
    import {TAKEN, given} from "./lib/options.js";
    const seen = [];
    const watched = (array) => { seen.push(new WeakRef(array)); return array; };
    const held = [
      batchOf({data: watched(new Uint8Array(999)), offsets: watched(new Int32Array(9)), validity: watched(new Uint8Array(9))}, {}),
      batchOf(watched(new Uint8Array(999)), {width: 9}), batchOf(watched(new BigInt64Array(99)), {}), batchOfDigests(watched(new BigUint64Array(99))),
      given({note: new Uint8Array(9), seeds: [1, 2], like: "path", secret: new Uint8Array(16), seed: 5, fileId: new Uint8Array(16)}, TAKEN.create).options,
    ];
    held[4].kept.forEach(watched);
    await new Promise((resolve) => setTimeout(resolve, 1)); // a WeakRef keeps its target for the rest of a task
    gc();
    console.log(seen.length, seen.filter((one) => one.deref() === undefined).length, held.length);`, [], {flags: ["--expose-gc"]});
  assert.equal(done.stdout, "12 0 5\n", done.stderr);
});

// --- Workers -------------------------------------------------------------------------------------------------------------

/** @returns {Promise<unknown>}  the worker's last message */
function worker(...words) {
  return new Promise((resolve, reject) => {
    let said;
    const made = new Worker(new URL("worker.js", import.meta.url), {workerData: words});
    made.on("message", (message) => said = message);
    made.once("error", reject);
    made.once("exit", () => resolve(said));
  });
}

test("workers add and ask at once, each through a handle of its own", async (t) => {
  const {create, open, path} = caseOf(t);
  create({capacity: 200_000}).close();
  const names = ["a", "b", "c", "d"];
  assert.deepEqual(await Promise.all(names.map((name) => worker("fill", path, name, 4000))), [0, 0, 0, 0]);
  const opened = open();
  assert.ok(opened.containsMany(names.flatMap((name) => numbers(4000).map((i) => `${name}-${i}`))).every((answer) => answer === 1));
  assert.deepEqual([opened.contains(-1), opened.contains("e-1")], [true, false]);
});

test("workers share a filter in memory", async (t) => {
  const options = {capacity: 1000};
  const memory = bfstore.alignedBuffer(bfstore.requiredBytes(options));
  const made = caseOf(t).kept(bfstore.format(memory, options));
  await worker("wrap", memory);
  assert.deepEqual([made.contains("of the worker"), made.contains("of no worker")], [true, false]);
});

test("a worker that ends without a close leaves no lock and no descriptor", async (t) => {
  const {create, open, path} = caseOf(t);
  create().close();
  await worker("leave", path);
  assert.equal(descriptors().filter((name) => name.includes(path)).length, 0);
  assert.equal(open("r+", {exclusive: true, lockTimeout: 0}).contains("a"), true);
});

test("a filter is not sent to a worker", (t) => {
  const made = caseOf(t).create();
  const copy = structuredClone(made); // an object without the handle
  assert.equal(copy instanceof bfstore.Filter, false);
  assert.throws(() => bfstore.Filter.prototype.contains.call(copy, "a"), TypeError);
});

// --- SIGBUS --------------------------------------------------------------------------------------------------------------

const CUT = `
  import * as bfstore from "bfstore";
  import fs from "node:fs";
  import {spawn, spawnSync} from "node:child_process";
  const path = process.argv[1];
  const keys = Array.from({length: 20000}, (_, i) => i);
  const made = bfstore.create(path, {capacity: 10_000_000});
  made.addMany(keys);
  made.close();
  const opened = bfstore.open(path, "r", {guard: true});
  const cut = () => spawnSync("truncate", ["-s", "20000", path]);`;

test("a file that another process cuts while it is asked is maybe, and no crash", (t) => {
  const {path} = caseOf(t);
  const done = run(`${CUT}
    spawn("sh", ["-c", 'until [ -e "$1.now" ]; do sleep 0.01; done; truncate -s 20000 "$1"', "sh", path]);
    let rounds = 0, wrong = 0;
    for (; opened.health === "ok"; rounds++) {
      if (rounds === 2) fs.writeFileSync(path + ".now", "");
      wrong += keys.filter((key) => !opened.contains(key)).length;
      wrong += opened.containsMany(keys).filter((answer) => answer === 0).length;
    }
    console.log(rounds > 2, wrong, opened.containsMany(keys).every((answer) => answer === 1), opened.contains("anything"), opened.health);
    try { opened.dump(); } catch (error) { console.log(error.code); }
    opened.abandon();
    console.log("alive");`, [path]);
  assert.match(done.stdout, /^true 0 true true (fault|lost)\nBFS_E(FAULT|LOST)\nalive\n$/, done.stderr);
});

test("a cut file is doubt in a call on another thread, too", (t) => {
  const {path} = caseOf(t);
  const done = run(`${CUT}
    const into = bfstore.create(path + ".into", {like: path});
    cut();
    const results = await Promise.allSettled([into.mergeAsync(opened), opened.dumpAsync(), opened.copyAsync(path + ".saved"), into.compareAsync(opened)]);
    console.log(results.map(({status, reason}) => status + " " + (reason?.bfsCode < 0)).join());
    console.log(opened.health, opened.contains("anything"));`, [path]);
  assert.match(done.stdout, /^(rejected true,?){4}\n(fault|lost) true\n$/, done.stderr);
});

test("Node.js's own faults and signals work on with the guard", (t) => {
  const {path} = caseOf(t);
  const trap = `
    const trap = () => {
      // (module (memory 1) (func (export "f") (result i32) i32.const 100000 i32.load))
      const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 102, 0, 0, 10, 11, 1, 9, 0, 65, 160, 141, 6, 40, 2, 0, 11]);
      try { new WebAssembly.Instance(new WebAssembly.Module(code)).exports.f(); } catch (error) { return error.message; }
    };`;
  const own = run(`${CUT}${trap}
    const before = trap();
    let caught = 0;
    process.on("SIGUSR2", () => caught++);
    cut();
    opened.containsMany(keys);
    process.kill(process.pid, "SIGUSR2");
    while (caught === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    console.log(before, trap(), caught);`, [path]);
  assert.equal(own.stdout, "memory access out of bounds memory access out of bounds 1\n", own.stderr);
});

test("a SIGBUS of others does what it did before", (t) => {
  const {path} = caseOf(t);
  const killed = run(`${CUT}
    process.kill(process.pid, "SIGBUS");
    await new Promise((resolve) => setTimeout(resolve, 300_000));`, [path]);
  assert.equal(killed.signal, "SIGBUS");
  const handled = run(`
    process.on("SIGBUS", () => { console.log("handled"); process.exit(); });
    const bfstore = await import("bfstore");
    const made = bfstore.create(process.argv[1], {capacity: 10, guard: true, replace: true});
    process.kill(process.pid, "SIGBUS");
    await new Promise((resolve) => setTimeout(resolve, 300_000));`, [path]);
  assert.equal(handled.stdout, "handled\n", handled.stderr);
});

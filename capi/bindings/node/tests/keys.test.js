/* The bytes of each key: programs in other languages have to agree with this table; and refused keys. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import * as bfstore from "bfstore";
import {ROOT, caseOf} from "./case.js";

const {keys: rows, lists} = JSON.parse(fs.readFileSync(path.join(ROOT, "capi", "bindings", "keys.json"), "utf8"));

const bytesOf = (row) => Buffer.from(row.bytes.repeat(row.times ?? 1), "hex");

/** Returns the row's key, in each form in which JavaScript has it. */
function formsOf(row) {
  if ("utf16" in row) return [String.fromCharCode(...row.utf16.match(/..../g).map((unit) => parseInt(unit, 16)))];
  if ("text" in row) return [row.text.repeat(row.times ?? 1)];
  if ("integer" in row) return Number.isSafeInteger(Number(row.integer)) ? [BigInt(row.integer), Number(row.integer)] : [BigInt(row.integer)];
  const bytes = Buffer.from(row.binary.repeat(row.times ?? 1), "hex");
  return [bytes, new Uint8Array(bytes)];
}

test("every row of the table has its bytes and its digest, or is refused", (t) => {
  const filter = caseOf(t).create({seed: 0});
  assert.ok(rows.length > 25);
  for (const row of rows) {
    for (const key of formsOf(row)) {
      for (const digest of [(one) => filter.digest(one), (one) => filter.digestMany([one])[0], (one) => filter.digestMany(["b", one, "a"])[1]]) {
        const what = JSON.stringify(row).slice(0, 99);
        if ("error" in row) assert.throws(() => digest(key), "utf16" in row ? TypeError : RangeError, what);
        else {
          assert.equal(digest(key).toString(16).padStart(16, "0"), row.xxh3, what);
          assert.equal(digest(bytesOf(row)), digest(key), what);
        }
      }
    }
  }
});

test("every list of the table has its digests and its nulls, or is refused", (t) => {
  const {create} = caseOf(t);
  assert.ok(lists.length > 14);
  for (const [i, row] of lists.entries()) {
    const filter = create({seed: 0}, `${i}`);
    const hex = (text) => Buffer.from(text, "hex");
    const validity = "validity" in row ? {validity: hex(row.validity), validityOffset: row.first} : {};
    const many = "fixed" in row ? [hex(row.fixed), {width: row.width}]
      : [{data: hex(row.column), offsets: Int32Array.from(row.offsets), ...validity}];
    const what = JSON.stringify(row);
    if ("error" in row) {
      assert.throws(() => filter.addMany(...many), {code: "EINVAL"}, what);
      assert.equal(filter.stats({fill: true}).setBits, 0);
      continue;
    }
    const digests = Array.from(filter.digestMany(...many), (digest) => digest.toString(16).padStart(16, "0"));
    assert.deepEqual(digests, row.xxh3, what);
    filter.addMany(...many);
    assert.deepEqual(Array.from(filter.containsMany(...many)), digests.map((digest) => Number(digest !== "0".repeat(16))), what);
    assert.equal(filter.containsDigest(0n), false);
  }
});

test("a key that was added in one form is there in the others, and no other one", (t) => {
  const {create} = caseOf(t);
  for (const [i, row] of rows.filter((one) => !("error" in one)).entries()) {
    const one = create({}, `${i}`);
    const [key] = formsOf(row);
    assert.equal(one.contains(key), false);
    assert.equal(one.add(key), true);
    assert.equal(one.add(bytesOf(row)), false);
    for (const form of [...formsOf(row), bytesOf(row)]) assert.equal(one.has(form), true);
    assert.equal(one.contains(Buffer.concat([bytesOf(row), Buffer.from("?")])), false);
  }
});

test("texts of every length, with and without other scripts, are their UTF-8", (t) => {
  const filter = caseOf(t).create({seed: 0});
  for (const length of [1, 8, 63, 64, 65, 200, 5461, 5462, 16384, 16385, 40000]) {
    for (const letter of ["a", "ü", "中", "😀"]) {
      const text = letter.repeat(length);
      assert.equal(filter.digest(text), filter.digest(Buffer.from(text)), `${letter} ${length}`);
      assert.equal(filter.digestMany([text, "x"])[0], filter.digest(Buffer.from(text)), `${letter} ${length}`);
      assert.throws(() => filter.digest(`${text}\ud800`), /surrogate/);
    }
  }
});

test("what is no key is refused, and nothing is added", (t) => {
  const filter = caseOf(t).create({layout: "counting"});
  const calls = [
    (key) => filter.add(key), (key) => filter.contains(key), (key) => filter.digest(key), (key) => filter.remove(key), (key) => filter.count(key),
    (key) => filter.addMany(["before", key]), (key) => filter.containsMany([key]),
  ];
  const none = [
    undefined, null, true, false, 1.5, NaN, Infinity, {}, [], ["a"], () => 1, Symbol("a"), new Uint16Array(4), new Float64Array(1),
    new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), new Date(), new String("a"), new Set(),
  ];
  for (const key of none) for (const call of calls) assert.throws(() => call(key), TypeError, String(typeof key));
  for (const key of [2 ** 53, -(2 ** 53), 1e300]) for (const call of calls) assert.throws(() => call(key), /say it as a bigint/);
  assert.equal(filter.stats({fill: true}).setBits, 0);
});

test("-0 is 0", (t) => {
  const filter = caseOf(t).create();
  assert.equal(filter.digest(-0), filter.digest(0));
  assert.equal(filter.digest(-0), filter.digest(0n));
});

test("an array whose memory was transferred is no empty key", (t) => {
  const filter = caseOf(t).create();
  const gone = new Uint8Array(100);
  structuredClone(gone, {transfer: [gone.buffer]});
  assert.equal(gone.length, 0);
  filter.add(new Uint8Array(0));
  for (const call of [() => filter.contains(gone), () => filter.add(gone), () => filter.addMany([gone]), () => filter.addMany(gone, {width: 4}),
    () => bfstore.load(gone), () => filter.containsMany({data: gone, offsets: new Int32Array(1)})])
    assert.throws(call, /transferred/);
  const offsets = new BigInt64Array(3);
  structuredClone(offsets, {transfer: [offsets.buffer]});
  assert.throws(() => filter.addMany(offsets), /transferred/);
  assert.throws(() => filter.addMany({data: Buffer.from("a"), offsets}), /transferred/);
});

test("an array that was cut is no empty key", {skip: !("resize" in ArrayBuffer.prototype) && "no buffer can be cut here"}, (t) => {
  const filter = caseOf(t).create();
  const buffer = new ArrayBuffer(8, {maxByteLength: 16});
  const cut = new Uint8Array(buffer, 4, 4);
  assert.equal(filter.add(cut), true);
  buffer.resize(2);
  for (const call of [() => filter.contains(cut), () => filter.containsMany([cut]), () => filter.addMany(cut, {width: 4})]) assert.throws(call, /cut/);
});

test("arrays of another realm are keys", (t) => {
  const filter = caseOf(t).create();
  const other = vm.runInNewContext("({one: Uint8Array.of(97), integers: BigInt64Array.of(5n), offsets: Int32Array.of(0, 1), list: ['a'], digest: BigUint64Array.of(7n)})");
  assert.equal(other.one instanceof Uint8Array, false);
  filter.add(other.one);
  filter.addMany(other.integers);
  filter.addDigests(other.digest);
  assert.deepEqual([filter.contains("a"), filter.contains(5), filter.containsDigest(7n)], [true, true, true]);
  assert.deepEqual([...filter.containsMany({data: other.one, offsets: other.offsets}), ...filter.containsMany(other.list)], [1, 1]);
});

test("a digest is a bigint of 64 bits", (t) => {
  const filter = caseOf(t).create();
  filter.add("alice");
  assert.equal(filter.containsDigest(filter.digest("alice")), true);
  assert.equal(filter.containsDigest(5n), false);
  assert.equal(filter.addDigest(2n ** 64n - 1n), true);
  assert.equal(filter.containsDigest(2n ** 64n - 1n), true);
  for (const wrong of [-1n, 2n ** 64n, 2n ** 65n + 5n]) {
    assert.throws(() => filter.containsDigest(wrong), RangeError);
    assert.throws(() => filter.addDigests([wrong]), RangeError);
  }
  for (const wrong of [1, "1", null]) assert.throws(() => filter.addDigest(wrong), TypeError);
});

test("digests are refused where keys are wanted, and the other way round", (t) => {
  const {create} = caseOf(t);
  const digestsOnly = create({hash: "external"}, "external");
  const keysOnly = create({hash: "murmur3"}, "murmur");
  for (const call of [() => digestsOnly.add("a"), () => digestsOnly.contains("a"), () => digestsOnly.containsMany(["a"])])
    assert.throws(call, {bfsName: "BFS_EDIGESTONLY"});
  for (const call of [() => keysOnly.addDigest(1n), () => keysOnly.containsDigests([1n]), () => keysOnly.digest("a")])
    assert.throws(call, {bfsName: "BFS_EKEYONLY"});
});

test("keys are counted and removed in the counting layout", (t) => {
  const {create} = caseOf(t);
  const counting = create({layout: "counting"});
  for (const key of ["alice", "alice", 5]) counting.add(key);
  assert.deepEqual(["alice", 5, "bob"].map((key) => counting.count(key)), [2, 1, 0]);
  assert.deepEqual([...counting.countMany(["alice", "", 5, "bob"])], [2, 0, 1, 0]);
  assert.deepEqual([...counting.countDigests(["alice", 5].map((key) => counting.digest(key)))], [2, 1]);
  for (let i = 0; i < 20; i++) counting.add("");
  assert.equal(counting.count(""), 15);
  assert.equal(counting.remove("alice"), true);
  assert.equal(counting.contains("alice"), true);
  assert.equal(counting.removeDigests([counting.digest("alice")]), 1);
  assert.equal(counting.contains("alice"), false);
  assert.equal(counting.remove("alice"), false);
  assert.equal(counting.addMany(["a", "b", "c"]), 3);
  assert.equal(counting.removeMany(["a", "b", "never"]), 2);
  assert.equal(counting.removeDigests([counting.digest("c")]), 1);
  assert.deepEqual([...counting.containsMany(["a", "b", "c", 5])], [0, 0, 0, 1]);
  const blocked = create({}, "blocked");
  for (const call of [() => blocked.remove("a"), () => blocked.count("a"), () => blocked.countMany(["a"]), () => blocked.removeMany(["a"])])
    assert.throws(call, {bfsName: "BFS_EUNSUPPORTED"});
});

test("no other array may say another length than it has", (t) => {
  const lying = (Kind, length) => new (class extends Kind { get length() { return 9; } })(length);
  const filter = caseOf(t).create({seed: 0});
  for (const call of [() => bfstore.load(lying(Uint8Array, 4096)), () => filter.containsDigests(lying(BigUint64Array, 1)),
    () => filter.containsMany(lying(Uint8Array, 8), {width: 1}), () => filter.containsMany(lying(BigInt64Array, 2)),
    () => filter.containsMany({data: lying(Uint8Array, 1), offsets: new Int32Array([0, 9])}),
    () => filter.containsMany({data: new Uint8Array(1), offsets: lying(Int32Array, 2)}),
    () => filter.containsMany({data: new Uint8Array(1), offsets: new Int32Array(9), validity: lying(Uint8Array, 1)}),
    () => filter.importBits(lying(Uint8Array, 1), "little"), () => bfstore.bareContains(lying(Uint8Array, 1), "key"),
    () => bfstore.inspectForeign(lying(Uint8Array, 1), "jaybird"), () => bfstore.importForeign("x", lying(Uint8Array, 1), "jaybird")])
    assert.throws(call, {name: "TypeError", message: /that says 9/});
});

test("an array that says another length is a key of its own bytes", (t) => {
  class Liar extends Uint8Array {
    get length() {
      return 9;
    }
  }
  const filter = caseOf(t).create({seed: 0});
  for (const length of [1, 9, 64, 65, 300]) {
    const bytes = new Uint8Array(length).fill(7);
    filter.contains("what was there before");
    assert.equal(filter.digest(new Liar(bytes)), filter.digest(bytes), `${length}`);
    assert.deepEqual(filter.digestMany(["x", new Liar(bytes), "y"]), filter.digestMany(["x", bytes, "y"]), `${length}`);
  }
});

/* Every form of many keys gives the answers of the single calls. */
import assert from "node:assert/strict";
import test from "node:test";
import * as bfstore from "bfstore";
import {batchOf} from "../lib/keys.js";
import {addressOf} from "../lib/library.js";
import {caseOf, numbers} from "./case.js";

const KEYS = ["", "alice", "bob", "Zürich", "a\0b", "\0", "k".repeat(12), "k".repeat(64), "x".repeat(65), "ü".repeat(1000),
  ...numbers(100).map((i) => `key ${i}`)].map((key) => Buffer.from(key));

/** Adds half of the keys one by one; looks up and adds all in the form `keys`. expected: bytes, null for a null. */
function check(filter, keys, expected, width) {
  const of = () => typeof keys === "function" ? keys() : keys;
  expected.filter((key, i) => key !== null && i % 2 === 0).forEach((key) => filter.add(key));
  const answers = expected.map((key) => key !== null && filter.contains(key));
  assert.ok(answers.includes(true) && answers.includes(false));
  assert.deepEqual([...filter.containsMany(of(), width)], answers.map(Number));
  assert.deepEqual([...filter.select(of(), width)], numbers(expected.length).filter((i) => answers[i]));
  assert.deepEqual([...filter.digestMany(of(), width)], expected.map((key) => key === null ? 0n : filter.digest(key)));
  filter.addMany(of(), width);
  for (const key of expected) if (key !== null) assert.equal(filter.contains(key), true);
  assert.equal(filter.containsMany(of(), width).every((answer) => answer === 1), !expected.includes(null));
}

/** An Arrow column: data and offsets. */
function columnOf(keys, Offsets) {
  const data = Buffer.concat(keys.map((key) => key ?? Buffer.alloc(0)));
  const offsets = new Offsets(keys.length + 1);
  const as = Offsets === BigInt64Array ? BigInt : Number;
  keys.reduce((end, key, i) => {
    offsets[i + 1] = as(end + (key?.length ?? 0));
    return end + (key?.length ?? 0);
  }, 0);
  return {data, offsets};
}

test("lists, sets and generators", (t) => {
  const {create} = caseOf(t);
  check(create({}, "list"), KEYS, KEYS);
  check(create({}, "set"), new Set(KEYS), KEYS);
  check(create({}, "generator"), () => (function* () { yield* KEYS; })(), KEYS);
  check(create({}, "text"), KEYS.map((key) => key.toString()), KEYS);
});

test("every kind of key in one list, which outgrows its room", (t) => {
  const eight = (number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(number);
    return bytes;
  };
  const keys = ["text", Buffer.from("bytes"), 5, -1, 2n ** 63n - 1n, -(2 ** 40) - 7, "", "Zürich", new Uint8Array(0), "y".repeat(9999), 7n, 2 ** 53 - 1];
  const expected = [Buffer.from("text"), Buffer.from("bytes"), eight(5n), eight(-1n), eight(2n ** 63n - 1n), eight(-(2n ** 40n) - 7n),
    Buffer.alloc(0), Buffer.from("Zürich"), Buffer.alloc(0), Buffer.from("y".repeat(9999)), eight(7n), eight(2n ** 53n - 1n)];
  const {create} = caseOf(t);
  check(create({}, "one"), keys, expected);
  check(create({}, "many"), [...keys, ...keys], [...expected, ...expected]);
});

test("no keys", (t) => {
  const filter = caseOf(t).create();
  for (const none of [[], new Set(), new BigUint64Array(0), {data: Buffer.alloc(0), offsets: new Int32Array(0)}, {data: Buffer.alloc(0), offsets: new BigInt64Array(1)}]) {
    assert.equal(filter.addMany(none), 0);
    assert.equal(filter.containsMany(none).length, 0);
    assert.equal(filter.select(none).length, 0);
    assert.equal(filter.digestMany(none).length, 0);
  }
  assert.equal(filter.addMany(Buffer.alloc(0), {width: 8}), 0);
  assert.equal(filter.addDigests([]), 0);
});

test("an iterator that gives all keys in one buffer", (t) => {
  const {create, file, kept} = caseOf(t);
  const filter = create();
  function* records() {
    const room = Buffer.alloc(4);
    for (const i of numbers(100)) {
      room.writeInt32LE(i);
      yield room;
    }
  }
  const expected = Buffer.from(Int32Array.from(numbers(100)).buffer);
  filter.addMany(records());
  assert.ok(filter.containsMany(expected, {width: 4}).every((answer) => answer === 1));
  for (const options of [{}, {capacity: 100}])
    assert.ok(kept(bfstore.build(file("built"), records(), {...options, replace: true})).containsMany(expected, {width: 4}).every((answer) => answer === 1));
});

test("a batch says how many were new", (t) => {
  const filter = caseOf(t).create();
  assert.equal(filter.addMany(["a", "b"]), 2);
  assert.equal(filter.addMany(["a", "c"]), 1);
});

test("a key in a list that is none changes nothing", (t) => {
  const filter = caseOf(t).create();
  for (const wrong of [null, 1.5, true, "\ud800", 2n ** 64n, , "x".repeat(99) + "\udfff"])
    assert.throws(() => filter.addMany([...KEYS, wrong]), /key|64 bits/);
  assert.throws(() => filter.addMany(new Array(3)), TypeError);
  assert.equal(filter.stats({fill: true}).setBits, 0);
});

test("what is no batch is refused", (t) => {
  const filter = caseOf(t).create();
  for (const wrong of ["text", 5, 5n, null, undefined, true, {}, {data: Buffer.from("a")}, Buffer.from("bytes"), new Float64Array(1), new Int32Array(1)])
    for (const name of ["addMany", "containsMany", "select", "digestMany"]) assert.throws(() => filter[name](wrong), TypeError);
  for (const wrong of [["a"], new BigInt64Array(1), columnOf(KEYS, Int32Array)]) assert.throws(() => filter.addMany(wrong, {width: 1}), /width/);
  assert.throws(() => filter.addMany((function* () { yield "a"; throw new SyntaxError("mine"); })()), SyntaxError);
  assert.equal(filter.stats({fill: true}).setBits, 0);
});

test("an iterator that closes the filter", (t) => {
  const filter = caseOf(t).create();
  assert.throws(() => filter.addMany((function* () {
    yield "a";
    filter.close();
    yield "b";
  })()), {code: "BFS_ESHUT"});
});

test("keys of one width, with gaps and in shared memory", (t) => {
  const {create} = caseOf(t);
  const keys = numbers(200).map((i) => Buffer.from(`${i}`.padEnd(8, ".")));
  const data = Buffer.concat(keys);
  check(create({}, "buffer"), data, keys, {width: 8});
  check(create({}, "part"), new Uint8Array(Buffer.concat([Buffer.from("..."), data])).subarray(3), keys, {width: 8});
  const shared = new Uint8Array(new SharedArrayBuffer(data.length));
  shared.set(data);
  check(create({}, "shared"), shared, keys, {width: 8});
  check(create({}, "gaps"), data, keys.map((key) => key.subarray(0, 5)).filter((_, i) => i % 2 === 0), {width: 5, stride: 16});
  check(create({}, "end"), data.subarray(0, 16 * 9 + 5), keys.slice(0, 20).map((key) => key.subarray(0, 5)).filter((_, i) => i % 2 === 0), {width: 5, stride: 16});
  const filter = create({}, "wrong");
  for (const wrong of [{width: 7}, {width: -8}, {width: 0}, {width: 8, stride: 4}, {width: 8, stride: 7}, {width: 2 ** 33}, {width: 3, stride: 1599}])
    assert.throws(() => filter.addMany(data, wrong), RangeError, JSON.stringify(wrong));
  for (const wrong of [{}, {width: "8"}, {width: 1.5}, {width: 8n}]) assert.throws(() => filter.addMany(data, wrong), TypeError);
  assert.equal(filter.stats({fill: true}).setBits, 0);
});

test("integers of 64 bits are keys of 8 bytes", (t) => {
  const {create} = caseOf(t);
  const integers = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), ...numbers(100).map((i) => BigInt(i + 100))];
  const expected = integers.map((integer) => Buffer.from(BigInt64Array.of(integer).buffer));
  check(create({}, "signed"), BigInt64Array.from(integers), expected);
  check(create({}, "unsigned"), BigUint64Array.from(integers), expected);
  const filter = create({}, "single");
  filter.addMany(BigInt64Array.from(integers));
  for (const integer of integers) assert.equal(filter.contains(integer), true);
  assert.equal(filter.contains(100), true);
});

test("columns of data and offsets, as Arrow has them", (t) => {
  const {create} = caseOf(t);
  for (const Offsets of [Int32Array, BigInt64Array]) {
    const column = columnOf(KEYS, Offsets);
    check(create({}, Offsets.name), column, KEYS);
    check(create({}, `${Offsets.name} part`), {data: column.data, offsets: column.offsets.subarray(13, 54)}, KEYS.slice(13, 53));
    const shared = new Offsets(new SharedArrayBuffer(column.offsets.byteLength));
    shared.set(column.offsets);
    check(create({}, `${Offsets.name} shared`), {data: column.data, offsets: shared}, KEYS);
    const {keys} = batchOf({data: column.data, offsets: shared}, {}); // a copy: no later change is read
    assert.notEqual(keys.number("offsets"), addressOf(shared));
  }
});

test("nulls of a column are neither added nor present", (t) => {
  const {create} = caseOf(t);
  const keys = KEYS.map((key, i) => i % 5 === 1 ? null : key);
  for (const first of [0, 3, 13]) {
    const validity = new Uint8Array(Math.ceil((keys.length + first) / 8));
    keys.forEach((key, i) => { if (key !== null) validity[(i + first) >> 3] |= 1 << ((i + first) & 7); });
    check(create({}, `${first}`), {...columnOf(keys, Int32Array), validity, validityOffset: first}, keys);
    const filter = create({}, `wrong ${first}`);
    for (const wrong of [{validity: validity.subarray(0, -1)}, {validity, validityOffset: first + 8}, {validity, validityOffset: -1}])
      assert.throws(() => filter.addMany({...columnOf(keys, Int32Array), validityOffset: first, ...wrong}), RangeError);
    assert.throws(() => filter.addMany({...columnOf(keys, Int32Array), validity: [1]}), TypeError);
  }
});

test("an unsound column adds nothing and reads nothing", (t) => {
  const filter = caseOf(t).create();
  const data = Buffer.from("abcde");
  for (const offsets of [[0, 5, 3], [0, 3, -1], [-2, 1, 3], [0, 9], [0, 2 ** 31 - 1]]) {
    assert.throws(() => filter.addMany({data, offsets: Int32Array.from(offsets)}), {code: "EINVAL"});
    assert.throws(() => filter.addMany({data, offsets: BigInt64Array.from(offsets, BigInt)}), {code: "EINVAL"});
    assert.throws(() => filter.containsMany({data, offsets: Int32Array.from(offsets)}), {code: "EINVAL"});
  }
  for (const offsets of [[0, 1], new Uint32Array(2), new Float64Array(2), undefined]) assert.throws(() => filter.addMany({data, offsets}), TypeError);
  for (const wrong of ["abc", [1, 2], undefined]) assert.throws(() => filter.addMany({data: wrong, offsets: new Int32Array(2)}), TypeError);
  assert.equal(filter.stats({fill: true}).setBits, 0);
});

test("digests", (t) => {
  const filter = caseOf(t).create();
  const digests = filter.digestMany(KEYS);
  assert.equal(filter.addDigests(digests.subarray(0, 50)) > 40, true);
  const expected = KEYS.map((key) => Number(filter.contains(key)));
  assert.ok(expected.includes(0));
  for (const form of [digests, [...digests], new Set(digests).values(), BigUint64Array.from(digests).subarray(0)])
    assert.deepEqual([...filter.containsDigests(form)], expected);
  assert.deepEqual([...filter.selectDigests(digests)], numbers(KEYS.length).filter((i) => expected[i]));
  assert.equal(filter.addDigests(digests.subarray(0, 50)), 0);
  for (const wrong of [new BigInt64Array(1), new Uint8Array(8), [1], ["1"], "1", 1n, null]) assert.throws(() => filter.containsDigests(wrong), TypeError);
});

test("a large batch is as its parts", (t) => {
  const filter = caseOf(t).create({capacity: 100_000, exclusive: true, threads: 2});
  const keys = numbers(100_000);
  filter.addMany(keys);
  assert.ok(filter.containsMany(keys).every((answer) => answer === 1));
  assert.ok(filter.containsMany(BigInt64Array.from(keys, BigInt)).every((answer) => answer === 1));
  assert.ok(filter.select(keys.map((key) => key + 1_000_000)).length < 3_000);
});

test("millions of keys that are sorted have the answers of fewer", (t) => {
  const filter = caseOf(t).create({capacity: 40_000_000});
  const digests = BigUint64Array.from({length: 2 ** 21 + 3}, (_, i) => BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n));
  const parts = [digests.subarray(0, digests.length / 2), digests.subarray(digests.length / 2)];
  filter.addDigests(parts[0]);
  const expected = Buffer.concat(parts.map((part) => filter.containsDigests(part)));
  assert.ok(expected.includes(0));
  assert.ok(expected.equals(filter.containsDigests(digests)));
  assert.deepEqual(filter.selectDigests(digests), Uint32Array.from(expected.keys()).filter((i) => expected[i] !== 0));
});

/* The bytes of a key, and the form in which many keys go to the library. */
import {types} from "node:util";
import {BFS} from "./abi.js";
import {addressOf} from "./library.js";
import {Struct, asBytes, checkArray, shown, trueLength, u64, unsigned} from "./struct.js";
import {outOfRange, wrongType, wrongValue} from "./wrong.js";

/** One key. Bytes are themselves. A string is its UTF-8, without normalization (a lone surrogate is an error). An integer of 64
 * bits, as a bigint or as a number that is exact (up to 2^53), is 8 bytes, little-endian; a negative one its two's complement.
 * A number with a fraction is an error: 1 and 1.0 are one value in JavaScript, so that no rule for fractions could keep them apart.
 * @typedef {Uint8Array | string | bigint | number} Key */

/** Text or binary in one piece: key i is data[offsets[i]] .. data[offsets[i + 1]], as in Apache Arrow. `validity` is
 * Arrow's bitmap (key i exists if bit validityOffset + i is 1, the lowest bit of a byte first). A null is not the empty
 * key: it is not added, and its answer is 0. Nothing is copied.
 * @typedef {{data: Uint8Array, offsets: Int32Array | BigInt64Array, validity?: Uint8Array, validityOffset?: number}} Column */

/** Many keys. A BigInt64Array or BigUint64Array (each integer is a key of 8 bytes), a Column, and a Uint8Array (whose
 * keys have the width in the call) are not copied.
 * @typedef {(Iterable<Key> & object) | BigInt64Array | BigUint64Array | Uint8Array | Column} Keys  a string is one key, not many */

/** Many digests. A BigUint64Array is not copied.
 * @typedef {BigUint64Array | Iterable<bigint>} Digests */

/** For keys in a Uint8Array: the bytes of each, and from one to the next (default: width).
 * @typedef {{width?: number, stride?: number}} Width */

/* instanceof would not know the arrays of another realm, such as those of a test runner. */
const {isBigInt64Array, isBigUint64Array, isInt32Array, isUint8Array} = types;

const I64_MIN = -(2n ** 63n);
const U64_END = 2n ** 64n;
const SURROGATE = /\p{Surrogate}/u;
const SHORT = 64; // up to this length a loop over the units is faster than a call
const ROOM = 1 << 14;
const room = Buffer.alloc(ROOM);
const roomNumbers = new DataView(room.buffer, room.byteOffset, ROOM);
const ROOM_ADDRESS = addressOf(room);

/** The key of the current call. `held` keeps its memory.
 * @type {{address: number, bytes: number, held: unknown}} */
export const one = {address: ROOM_ADDRESS, bytes: 0, held: null};

/** Writes a short text without anything beyond ASCII. @param {Uint8Array} to @param {number} at @param {string} text
 * @returns {boolean} */
function writeAscii(to, at, text) {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) return false;
    to[at + i] = unit;
  }
  return true;
}

/** @param {string} text */
function checkText(text) {
  if (SURROGATE.test(text)) throw wrongValue("a lone surrogate in a key: the text is not valid Unicode, and has no UTF-8");
}

/** Writes a text, and returns the bytes written; there is room for three times the units. @param {Buffer} to
 * @param {number} at @param {string} text */
function writeText(to, at, text) {
  if (text.length <= SHORT && writeAscii(to, at, text)) return text.length;
  checkText(text);
  return to.write(text, at, "utf8");
}

/** @param {DataView} to @param {number} at @param {bigint | number} number */
function writeInteger(to, at, number) {
  if (typeof number === "bigint") {
    if (number < I64_MIN || number >= U64_END) throw outOfRange("an integer of more than 64 bits is no key");
    to.setBigUint64(at, BigInt.asUintN(64, number), true);
  } else {
    if (!Number.isSafeInteger(number)) refuseNumber(number);
    to.setInt32(at, number | 0, true);
    to.setInt32(at + 4, Math.floor(number / 2 ** 32), true);
  }
  return 8;
}

/** @param {number} number @returns {never} */
function refuseNumber(number) {
  if (!Number.isInteger(number)) throw wrongType(`${number} is no key: a number has to be an integer`);
  throw outOfRange("a number from 2^53 on, or from -2^53 down, may not be exact: say it as a bigint");
}

/** @param {unknown} key @returns {never} */
function refuse(key) {
  throw wrongType(`a key is a Uint8Array or Buffer, a string, a bigint or an integer, not ${shown(key)}`);
}

/** Fills in `one` for bytes. @param {Uint8Array} key */
function placeBytes(key) {
  const length = trueLength.call(key);
  if (length === 0) checkArray(key);
  one.bytes = length;
  if (length > SHORT) {
    one.address = addressOf(key);
    one.held = key;
    return;
  }
  one.address = ROOM_ADDRESS;
  room.set(key); // 18 ns for 16 bytes; a loop needs 30 to 45
}

/** @param {string} text */
function placeText(text) {
  if (text.length * 3 <= ROOM) {
    one.address = ROOM_ADDRESS;
    one.bytes = writeText(room, 0, text);
    return;
  }
  checkText(text);
  placeBytes(Buffer.from(text, "utf8"));
}

/** Fills in `one`. @param {Key} key */
export function place(key) {
  if (typeof key === "string") placeText(key);
  else if (typeof key === "bigint" || typeof key === "number") {
    one.bytes = writeInteger(roomNumbers, 0, key);
    one.address = ROOM_ADDRESS;
  } else if (isUint8Array(key)) placeBytes(key);
  else refuse(key);
}

/** @param {unknown} digest @returns {bigint} */
export function digestOf(digest) {
  if (typeof digest !== "bigint") throw wrongType(`a digest is a bigint, not ${shown(digest)}`);
  return u64("a digest", digest);
}

// --- Many keys -------------------------------------------------------------------------------------------------------

/** Keys in the form of the library, and their number; of a column what misfit() looks at.
 * @typedef {{keys: Struct, count: number, column?: {bytes: number, offsets: Int32Array | BigInt64Array}}} Batch */

/** @param {number} kind @param {number} count @param {NodeJS.ArrayBufferView} data @returns {Batch} */
function batch(kind, count, data) {
  const keys = new Struct("bfs_keys");
  keys.set("kind", kind);
  keys.set("count", count);
  keys.set("data", data);
  return {keys, count};
}

/** @param {NodeJS.ArrayBufferView} data @param {number} width @param {number} stride @param {number} count */
function fixed(data, width, stride, count) {
  const made = batch(BFS.KEYS_FIXED, count, data);
  made.keys.set("key_bytes", width);
  made.keys.set("stride", stride);
  return made;
}

/** Lends memory in which a lookup of millions of keys sorts them. Without it the answers are the same, and take longer.
 * @param {Batch} made */
export function lendScratch(made) {
  if (made.count < BFS.SCRATCH_LEAST_KEYS) return;
  const bytes = made.count * BFS.SCRATCH_KEY_BYTES + BFS.SCRATCH_MORE_BYTES;
  try {
    made.keys.set("scratch", Buffer.allocUnsafeSlow(bytes));
    made.keys.set("scratch_bytes", bytes);
  } catch {
    // no memory, or more than a buffer has
  }
}

/** @param {Uint8Array} data @param {Width} how */
function fixedOf(data, {width, stride = width}) {
  if (width === undefined) throw wrongValue("many keys in a Uint8Array need their width. One key goes into a list: [key]");
  checkArray(data);
  if (unsigned("width", 2 ** 32, width) < 1) throw outOfRange("width is at least 1");
  const step = unsigned("stride", 2 ** 32, stride);
  if (step < width) throw outOfRange("stride is at least width");
  const count = data.length === 0 ? 0 : Math.floor((data.length + step - width) / step);
  const rest = data.length - count * step;
  if (rest !== 0 && rest !== width - step) throw outOfRange(`${data.length} bytes are not a number of keys of ${step} bytes`);
  return fixed(data, width, step, count);
}

/** @param {NodeJS.TypedArray} numbers */
const isShared = (numbers) => Object.prototype.toString.call(numbers.buffer) === "[object SharedArrayBuffer]";

/** Copies an array that another thread can change: it must stay as the library has checked it.
 * @template {Int32Array | BigInt64Array | Uint8Array} Numbers @param {Numbers} numbers @returns {Numbers} */
function steady(numbers) {
  return isShared(numbers) ? /** @type {Numbers} */ (numbers.slice()) : numbers;
}

/** @param {Batch} made @param {Uint8Array} validity @param {number} first */
function setValidity(made, validity, first) {
  asBytes("validity", validity);
  if (unsigned("validityOffset", 2 ** 53, first) + made.count > validity.length * 8)
    throw outOfRange(`validity has ${validity.length * 8} bits, and not ${first} + ${made.count}`);
  made.keys.set("validity", steady(validity));
  made.keys.set("validity_offset", first);
}

/** @param {Column} column */
function columnOf({data, offsets, validity, validityOffset = 0}) {
  asBytes("data", data);
  const large = isBigInt64Array(offsets);
  if (!large && !isInt32Array(offsets)) throw wrongType(`offsets are an Int32Array or BigInt64Array, not ${shown(offsets)}`);
  checkArray(offsets);
  const some = offsets.length === 0 ? new Int32Array(1) : offsets; // Arrow may have no offsets for no keys
  const made = batch(large && offsets.length > 0 ? BFS.KEYS_COLUMN64 : BFS.KEYS_COLUMN32, some.length - 1, data);
  made.keys.set("data_bytes", data.length);
  made.keys.set("offsets", steady(some));
  made.column = {bytes: data.length, offsets: some};
  if (validity !== undefined) setValidity(made, validity, validityOffset);
  return made;
}

/** Says which offset of a column the library has refused; "" if none is wrong. @param {Batch} batch @returns {string} */
export function misfit({column}) {
  if (column === undefined) return "";
  let before = 0n;
  for (const [i, number] of column.offsets.entries()) {
    const offset = BigInt(number);
    if (offset < before)
      return i === 0 ? `offset 0 is ${offset}, which is negative` : `offset ${i} is ${offset}, less than the one before it, ${before}`;
    if (offset > column.bytes) return `offset ${i} is ${offset}, and the column has ${column.bytes} bytes of data`;
    before = offset;
  }
  return "";
}

/** Returns an upper bound of the bytes of a list's key, before it is written. @param {Key} key */
function mostBytes(key) {
  if (typeof key === "string") return key.length * 3;
  return isUint8Array(key) ? trueLength.call(key) : 8;
}

/** Writes a key, and returns the bytes written. @param {Buffer} to @param {DataView} numbers  the same memory
 * @param {number} at @param {Key} key */
function write(to, numbers, at, key) {
  if (typeof key === "string") return writeText(to, at, key);
  if (isUint8Array(key)) {
    const length = trueLength.call(key);
    if (length === 0) checkArray(key);
    to.set(key, at);
    return length;
  }
  return typeof key === "bigint" || typeof key === "number" ? writeInteger(numbers, at, key) : refuse(key);
}

/** Returns a copy with twice the room, or more if needed. @param {Buffer} from @param {number} used
 * @param {number} bytes */
function larger(from, used, bytes) {
  const to = Buffer.allocUnsafeSlow(Math.max(from.length * 2, used + bytes));
  from.copy(to, 0, 0, used);
  return to;
}

/** The number of the first key of a list that follows others, for messages. @type {WeakMap<readonly Key[], number>} */
const firsts = new WeakMap();

/** Returns an error that says which key of the list it is about. @param {unknown} error @param {readonly Key[]} list @param {number} i */
function ofKey(error, list, i) {
  if (error instanceof Error && "code" in error) {
    error.message = `key ${(firsts.get(list) ?? 0) + i}: ${error.message}`;
    Error.captureStackTrace(error, listOf); // the stack begins with the message
  }
  return error;
}

/** @param {readonly Key[]} list */
function listOf(list) {
  const count = list.length;
  const offsets = new Int32Array(count + 1);
  let data = Buffer.allocUnsafeSlow(Math.max(64, count * 24));
  let numbers = new DataView(data.buffer);
  let end = 0;
  for (let i = 0; i < count; i++) {
    const key = list[i]; // read once: a list may give another key the second time
    const most = mostBytes(key);
    if (end + most > data.length) {
      data = larger(data, end, most);
      numbers = new DataView(data.buffer);
    }
    try {
      end += write(data, numbers, end, key);
    } catch (error) {
      throw ofKey(error, list, i);
    }
    if (end > 0x7fffffff) throw outOfRange("more than 2 GiB of keys in one list: say them in parts, or as a column");
    offsets[i + 1] = end;
  }
  return columnOf({data: data.subarray(0, end), offsets});
}

/** @param {unknown} keys @returns {keys is Iterable<any>} */
export function isIterable(keys) {
  return typeof keys === "object" && keys !== null && Symbol.iterator in keys && !ArrayBuffer.isView(keys);
}

/** @param {unknown} keys @returns {keys is AsyncIterable<Key>} */
export function isAsyncIterable(keys) {
  return typeof keys === "object" && keys !== null && Symbol.asyncIterator in keys;
}

/** Returns a key of an iterator that will be asked for the next one, and may give that in the same memory.
 * @param {Key} key @returns {Key} */
function ownKey(key) {
  if (!isUint8Array(key)) return key;
  if (trueLength.call(key) === 0) checkArray(key);
  return new Uint8Array(key);
}

/** Returns the iterator of keys, which may be asked for later. It is made at once, because a readline interface drops the lines
 * that it reads before that.
 * @param {AsyncIterable<Key>} keys @returns {AsyncIterator<Key> & AsyncIterable<Key>} */
export function begun(keys) {
  const iterator = keys[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(), return: () => iterator.return?.() ?? Promise.resolve({done: true, value: undefined}),
    [Symbol.asyncIterator]() { return this; },
  };
}

/** Returns all keys. @param {AsyncIterable<Key>} keys @returns {Promise<Key[]>} */
export async function arrayOf(keys) {
  const list = [];
  for await (const key of keys) list.push(ownKey(key));
  return list;
}

/* Of an iterable at once: enough for 16 threads of an exclusive writer, and little memory. */
const MOST_KEYS = 1 << 18;
const MOST_BYTES = 1 << 26;

/** A list that is full at some time. */
class Part {
  /** @type {Key[]} */
  keys = [];
  bytes = 0;

  /** Returns whether the list is full. @param {Key} key */
  push(key) {
    this.keys.push(ownKey(key));
    this.bytes += mostBytes(key);
    return this.keys.length >= MOST_KEYS || this.bytes >= MOST_BYTES;
  }
}

/** Returns a part for the keys after those of another one. @param {Part} before */
function partAfter(before) {
  const part = new Part();
  firsts.set(part.keys, (firsts.get(before.keys) ?? 0) + before.keys.length);
  return part;
}

/** Yields the keys in lists. @param {Iterable<Key>} keys @returns {Generator<Key[], void>} */
export function* batches(keys) {
  let part = new Part();
  for (const key of keys) {
    if (!part.push(key)) continue;
    yield part.keys;
    part = partAfter(part);
  }
  yield part.keys;
}

/** Yields the keys in lists. @param {AsyncIterable<Key>} keys @returns {AsyncGenerator<Key[], void>} */
export async function* batchesAsync(keys) {
  let part = new Part();
  for await (const key of keys) {
    if (!part.push(key)) continue;
    yield part.keys;
    part = partAfter(part);
  }
  yield part.keys;
}

/** @param {Keys} keys @param {Width} how @returns {Batch} */
export function batchOf(keys, how) {
  if (isUint8Array(keys)) return fixedOf(keys, how);
  if (how.width !== undefined || how.stride !== undefined) throw wrongValue("width and stride are for keys in a Uint8Array");
  if (isBigInt64Array(keys) || isBigUint64Array(keys)) {
    checkArray(keys);
    return fixed(keys, 8, 8, keys.length);
  }
  if (Array.isArray(keys)) return listOf(keys);
  if (isIterable(keys)) return listOf(Array.from(keys, ownKey)); // first: the iterator may be code that closes the filter
  if (typeof keys === "object" && keys !== null && "offsets" in keys) return columnOf(keys);
  throw wrongType(`many keys are a list or another iterable, a column, or an array of 64-bit integers, not ${shown(keys)}`);
}

/** Returns a copy of an array whose memory may be transferred to another thread.
 * @template {unknown} Numbers @param {Numbers} array @returns {Numbers} */
function lasting(array) {
  const [, Kind] = /** @type {const} */ ([[isUint8Array, Uint8Array], [isInt32Array, Int32Array], [isBigInt64Array, BigInt64Array],
    [isBigUint64Array, BigUint64Array]]).find(([is]) => is(array)) ?? [];
  if (Kind === undefined) return array; // batchOf() refuses it
  const numbers = /** @type {any} */ (array);
  checkArray(numbers);
  return isShared(numbers) ? array : /** @type {any} */ (new Kind(numbers));
}

/** Returns a batch for a call on another thread: its memory stays, whatever the caller does with the arrays.
 * @param {Keys} keys @param {Width} how @returns {Batch} */
export function lastingBatch(keys, how) {
  if (typeof keys !== "object" || keys === null || !("offsets" in keys) || isIterable(keys)) return batchOf(lasting(keys), how);
  const {data, offsets, validity, validityOffset} = keys;
  return batchOf({data: lasting(data), offsets: lasting(offsets), validity: lasting(validity), validityOffset}, how);
}

/** @param {Digests} digests @returns {BigUint64Array} */
export function digestsOf(digests) {
  if (isBigUint64Array(digests)) {
    checkArray(digests);
    return digests;
  }
  if (!isIterable(digests)) throw wrongType(`many digests are a BigUint64Array or a list of bigints, not ${shown(digests)}`);
  const list = Array.from(digests);
  return BigUint64Array.from(list, (digest, i) => {
    if (typeof digest !== "bigint") throw wrongType(`digest ${i} is a bigint, not ${shown(digest)}`);
    return u64(`digest ${i}`, digest);
  });
}

/** @param {Digests} digests @returns {Batch} */
export function batchOfDigests(digests) {
  const array = digestsOf(digests);
  return batch(BFS.KEYS_DIGESTS, array.length, array);
}

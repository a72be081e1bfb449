/* A struct of the ABI in a buffer: its fields by name, at the offsets in abi.js. */
import {types} from "node:util";
import {STRUCTS} from "./abi.js";
import {addressOf} from "./library.js";
import {outOfRange, wrongType, wrongValue} from "./wrong.js";

const U64_END = 2n ** 64n;

/** @param {string} what @param {number} end @param {unknown} value @returns {number} */
export function unsigned(what, end, value) {
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(`${what} is an integer, not ${shown(value)}`);
  if (value < 0 || value >= end) throw outOfRange(`${what} is at least 0 and less than ${end}, not ${value}`);
  return value;
}

/** Returns 64 bits from a bigint, or from a number that is exact. @param {string} what @param {unknown} value
 * @returns {bigint} */
export function u64(what, value) {
  if (typeof value !== "bigint" && !Number.isInteger(value))
    throw wrongType(`${what} is an integer or a bigint, not ${shown(value)}`);
  if (typeof value === "number" && !Number.isSafeInteger(value))
    throw outOfRange(`${what}: a number from 2^53 on may not be exact: say it as a bigint`);
  const exact = BigInt(/** @type {bigint | number} */ (value));
  if (exact < 0n || exact >= U64_END) throw outOfRange(`${what} is at least 0 and less than 2^64, not ${exact}`);
  return exact;
}

/** Returns a value in the words of an error. @param {unknown} value */
export function shown(value) {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (value === null || typeof value !== "object") return String(value);
  return value.constructor?.name ?? "an object";
}

/** Makes a given zero differ from a missing number: the library recognizes it by its sign. @param {number} number */
const given = (number) => (number === 0 ? -0 : number);

/** One struct: zeros, except for its size. */
export class Struct {
  /** @param {string} name @param {Buffer} [bytes]  in an array of structs: the bytes of this one */
  constructor(name, bytes) {
    this.layout = STRUCTS[name];
    this.bytes = bytes ?? Buffer.alloc(this.layout.bytes);
    /** The memory of its pointers. @type {unknown[]} */
    this.kept = [];
    if (bytes === undefined && "struct_bytes" in this.layout.fields) this.bytes.writeUInt32LE(this.layout.bytes, 0);
  }

  /** @param {string} name @param {unknown} value @param {string} [said]  the caller's name of the field */
  set(name, value, said = name) {
    const {offset, kind} = this.layout.fields[name];
    if (kind === "u32") this.bytes.writeUInt32LE(unsigned(said, 2 ** 32, value), offset);
    else if (kind === "i32") this.bytes.writeInt32LE(unsigned(said, 2 ** 31, value), offset);
    else if (kind === "u64") this.bytes.writeBigUInt64LE(u64(said, value), offset);
    else if (kind === "f64") this.bytes.writeDoubleLE(given(asNumber(said, value)), offset);
    else if (kind === "pointer") this.point(offset, /** @type {NodeJS.ArrayBufferView} */ (value));
    else this.bytes.set(asBytes(said, value, Number(kind)), offset);
  }

  /** @private @param {number} offset @param {NodeJS.ArrayBufferView} array */
  point(offset, array) {
    this.kept.push(array);
    this.bytes.writeBigUInt64LE(BigInt(addressOf(array)), offset);
  }

  /** Returns a number; one of 64 bits is exact up to 2^53. @param {string} name @returns {number} */
  number(name) {
    const {offset, kind} = this.layout.fields[name];
    if (kind === "u32") return this.bytes.readUInt32LE(offset);
    if (kind === "i32") return this.bytes.readInt32LE(offset);
    return kind === "f64" ? this.bytes.readDoubleLE(offset) : Number(this.bytes.readBigUInt64LE(offset));
  }

  /** @param {string} name @returns {bigint} */
  bigint(name) {
    return this.bytes.readBigUInt64LE(this.layout.fields[name].offset);
  }

  /** Returns a copy. @param {string} name @returns {Uint8Array} */
  array(name) {
    const {offset, kind} = this.layout.fields[name];
    return new Uint8Array(this.bytes.subarray(offset, offset + Number(kind)));
  }

  /** @param {string} name @returns {string} */
  text(name) {
    const {offset, kind} = this.layout.fields[name];
    const bytes = this.bytes.subarray(offset, offset + Number(kind));
    const end = bytes.indexOf(0);
    return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
  }

  /** Returns the struct in the struct. @param {string} name */
  inner(name) {
    const {offset, kind} = this.layout.fields[name];
    return new Struct(String(kind), this.bytes.subarray(offset, offset + STRUCTS[kind].bytes));
  }
}

/** @param {string} what @param {unknown} value @returns {number} */
function asNumber(what, value) {
  if (typeof value !== "number") throw wrongType(`${what} is a number, not ${shown(value)}`);
  return value;
}

/** @param {string} what @param {unknown} value @param {number} [bytes]  the exact number @returns {Uint8Array} */
export function asBytes(what, value, bytes) {
  if (!types.isUint8Array(value)) {
    // A text may be a secret, and messages go into logs.
    const said = typeof value === "string" ? "a string; say Buffer.from(it)" : shown(value);
    throw wrongType(`${what} is a Uint8Array or Buffer, not ${said}`);
  }
  checkArray(value);
  if (bytes !== undefined && value.length !== bytes) throw outOfRange(`${what} has ${bytes} bytes, not ${value.length}`);
  return value;
}

/** The getter of the engine's own length. A subclass can give another length, which must not be used to read memory. */
export const trueLength = /** @type {() => number} */ (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length")?.get);

/** Refuses an array whose memory was transferred to another thread: it looks as if it were empty. So does an array
 * whose buffer was made smaller.
 * @param {NodeJS.TypedArray} array */
export function checkArray(array) {
  const length = trueLength.call(array);
  if (array.length !== length) throw wrongValue(`an array of ${length} elements that says ${array.length}`);
  if (length !== 0) return;
  if ("resizable" in array.buffer && array.buffer.resizable)
    throw wrongValue("an empty array in a resizable buffer: it may have been cut");
  try {
    new Uint8Array(array.buffer);
  } catch {
    throw wrongValue("the memory of the array is gone: it was transferred");
  }
}

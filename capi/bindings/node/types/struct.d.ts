/** @param {string} what @param {number} end @param {unknown} value @returns {number} */
export function unsigned(what: string, end: number, value: unknown): number;
/** Returns 64 bits from a bigint, or from a number that is exact. @param {string} what @param {unknown} value
 * @returns {bigint} */
export function u64(what: string, value: unknown): bigint;
/** Returns a value in the words of an error. @param {unknown} value */
export function shown(value: unknown): string;
/** @param {string} what @param {unknown} value @param {number} [bytes]  the exact number @returns {Uint8Array} */
export function asBytes(what: string, value: unknown, bytes?: number): Uint8Array;
/** Refuses an array whose memory was transferred to another thread: it looks as if it were empty. So does an array
 * whose buffer was made smaller.
 * @param {NodeJS.TypedArray} array */
export function checkArray(array: NodeJS.TypedArray): void;
/** One struct: zeros, except for its size. */
export class Struct {
    /** @param {string} name @param {Buffer} [bytes]  in an array of structs: the bytes of this one */
    constructor(name: string, bytes?: Buffer);
    layout: import("./abi.js").Layout;
    bytes: Buffer<ArrayBufferLike>;
    /** The memory of its pointers. @type {unknown[]} */
    kept: unknown[];
    /** @param {string} name @param {unknown} value @param {string} [said]  the caller's name of the field */
    set(name: string, value: unknown, said?: string): void;
    /** @private @param {number} offset @param {NodeJS.ArrayBufferView} array */
    private point;
    /** Returns a number; one of 64 bits is exact up to 2^53. @param {string} name @returns {number} */
    number(name: string): number;
    /** @param {string} name @returns {bigint} */
    bigint(name: string): bigint;
    /** Returns a copy. @param {string} name @returns {Uint8Array} */
    array(name: string): Uint8Array;
    /** @param {string} name @returns {string} */
    text(name: string): string;
    /** Returns the struct in the struct. @param {string} name */
    inner(name: string): Struct;
}
/** The getter of the engine's own length. A subclass can give another length, which must not be used to read memory. */
export const trueLength: () => number;

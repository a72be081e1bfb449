/** Fills in `one`. @param {Key} key */
export function place(key: Key): void;
/** @param {unknown} digest @returns {bigint} */
export function digestOf(digest: unknown): bigint;
/** Lends memory in which a lookup of millions of keys sorts them. Without it the answers are the same, and take longer.
 * @param {Batch} made */
export function lendScratch(made: Batch): void;
/** Says which offset of a column the library has refused; "" if none is wrong. @param {Batch} batch @returns {string} */
export function misfit({ column }: Batch): string;
/** @param {unknown} keys @returns {keys is Iterable<any>} */
export function isIterable(keys: unknown): keys is Iterable<any>;
/** @param {unknown} keys @returns {keys is AsyncIterable<Key>} */
export function isAsyncIterable(keys: unknown): keys is AsyncIterable<Key>;
/** Returns the iterator of keys, which may be asked for later. It is made at once, because a readline interface drops the lines
 * that it reads before that.
 * @param {AsyncIterable<Key>} keys @returns {AsyncIterator<Key> & AsyncIterable<Key>} */
export function begun(keys: AsyncIterable<Key>): AsyncIterator<Key> & AsyncIterable<Key>;
/** Returns all keys. @param {AsyncIterable<Key>} keys @returns {Promise<Key[]>} */
export function arrayOf(keys: AsyncIterable<Key>): Promise<Key[]>;
/** Yields the keys in lists. @param {Iterable<Key>} keys @returns {Generator<Key[], void>} */
export function batches(keys: Iterable<Key>): Generator<Key[], void>;
/** Yields the keys in lists. @param {AsyncIterable<Key>} keys @returns {AsyncGenerator<Key[], void>} */
export function batchesAsync(keys: AsyncIterable<Key>): AsyncGenerator<Key[], void>;
/** @param {Keys} keys @param {Width} how @returns {Batch} */
export function batchOf(keys: Keys, how: Width): Batch;
/** Returns a batch for a call on another thread: its memory stays, whatever the caller does with the arrays.
 * @param {Keys} keys @param {Width} how @returns {Batch} */
export function lastingBatch(keys: Keys, how: Width): Batch;
/** @param {Digests} digests @returns {BigUint64Array} */
export function digestsOf(digests: Digests): BigUint64Array;
/** @param {Digests} digests @returns {Batch} */
export function batchOfDigests(digests: Digests): Batch;
/** The key of the current call. `held` keeps its memory.
 * @type {{address: number, bytes: number, held: unknown}} */
export const one: {
    address: number;
    bytes: number;
    held: unknown;
};
/**
 * Keys in the form of the library, and their number; of a column what misfit() looks at.
 */
export type Batch = {
    keys: Struct;
    count: number;
    column?: {
        bytes: number;
        offsets: Int32Array | BigInt64Array;
    };
};
/**
 * One key. Bytes are themselves. A string is its UTF-8, without normalization (a lone surrogate is an error). An integer of 64
 * bits, as a bigint or as a number that is exact (up to 2^53), is 8 bytes, little-endian; a negative one its two's complement.
 * A number with a fraction is an error: 1 and 1.0 are one value in JavaScript, so that no rule for fractions could keep them apart.
 */
export type Key = Uint8Array | string | bigint | number;
/**
 * Text or binary in one piece: key i is data[offsets[i]] .. data[offsets[i + 1]], as in Apache Arrow. `validity` is
 * Arrow's bitmap (key i exists if bit validityOffset + i is 1, the lowest bit of a byte first). A null is not the empty
 * key: it is not added, and its answer is 0. Nothing is copied.
 */
export type Column = {
    data: Uint8Array;
    offsets: Int32Array | BigInt64Array;
    validity?: Uint8Array;
    validityOffset?: number;
};
/**
 * a string is one key, not many
 */
export type Keys = (Iterable<Key> & object) | BigInt64Array | BigUint64Array | Uint8Array | Column;
/**
 * Many digests. A BigUint64Array is not copied.
 */
export type Digests = BigUint64Array | Iterable<bigint>;
/**
 * For keys in a Uint8Array: the bytes of each, and from one to the next (default: width).
 */
export type Width = {
    width?: number;
    stride?: number;
};
import { Struct } from "./struct.js";

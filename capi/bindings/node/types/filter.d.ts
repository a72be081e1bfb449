/** Returns the structs that a call fills in, at most `most`.
 * @template T @param {string} name @param {number} most @param {(room: Buffer) => number} fill
 * @param {(struct: Struct) => T} make
 * @returns {T[]} */
export function structsOf<T>(name: string, most: number, fill: (room: Buffer) => number, make: (struct: Struct) => T): T[];
/** An open filter: create(), open(), build(), format(), wrap() and load() make one.
 *
 * `contains`: false is certain, true is "maybe". A closed filter throws "BFS_ESHUT". Close it with close(), or declare
 * it with `using` or `await using`. A filter that is collected without that warns, and is left as after a killed
 * process: no key that was added is lost, and nothing is synced.
 *
 * A filter belongs to its thread: a worker opens the path again, or a SharedArrayBuffer with wrap().
 *
 * The functions ...Async do the same on another thread, for calls that wait for a lock or the disk. */
export class Filter {
    /** @private @param {symbol} token @param {number} handle @param {import("./errors.js").Subject} subject @param {boolean} created
     * @param {unknown} memory @param {boolean} reads */
    private constructor();
    /** The path as given; for a buffer, a description. @returns {string} */
    get name(): string;
    /** True if the call that returned this filter made its file: create(), build(), importForeign(), and open() with "a"
     * if there was none. @returns {boolean} */
    get created(): boolean;
    /** True if close() was called. @returns {boolean} */
    get closed(): boolean;
    /** "ok", or why every answer is "maybe" now: "poisoned", "lost", "superseded", "recovering", "filling", "fault", "shut".
     * @returns {Health} */
    get health(): Health;
    /** n: the number of distinct keys that the filter is sized for. @returns {number} */
    get capacity(): number;
    /** The false-positive rate that is promised at `capacity` keys. @returns {number} */
    get fpr(): number;
    /** m: the filter's bits (counters of the counting layout). @returns {number} */
    get numBits(): number;
    /** k: the bits of each key. @returns {number} */
    get numProbes(): number;
    /** Closes the filter. The last writer of a file syncs it, and marks it clean. Running asynchronous calls end
     * safely. */
    close(): void;
    /** close() on another thread. @returns {Promise<void>} */
    closeAsync(): Promise<void>;
    /** Closes the filter as if its process had been killed: nothing is synced, and an unpublished file vanishes. */
    abandon(): void;
    /** Returns whether the key may be in the filter. false is certain. @param {Key} key @returns {boolean} */
    contains(key: Key): boolean;
    /** contains(), by the name in Set and Map. @param {Key} key @returns {boolean} */
    has(key: Key): boolean;
    /** Adds a key. Returns true if it was certainly new, false if it may have been present. @param {Key} key
     * @returns {boolean} */
    add(key: Key): boolean;
    /** Removes a key, in the layout "counting". Returns false if it was certainly absent.
     *
     * Remove only keys that were added, each at most as often: any other remove can make the filter answer no for other
     * keys. Never repeat a remove that threw an error. @param {Key} key @returns {boolean} */
    remove(key: Key): boolean;
    /** Returns an upper bound of the key's adds less its removes, in the layout "counting": 0 (a certain no) to 15, which
     * means 15 or more. @param {Key} key @returns {number} */
    count(key: Key): number;
    /** Returns the key's 64-bit digest in this file. @param {Key} key @returns {bigint} */
    digest(key: Key): bigint;
    /** contains() for a key's digest. @param {bigint} digest @returns {boolean} */
    containsDigest(digest: bigint): boolean;
    /** add() for a key's digest. @param {bigint} digest @returns {boolean} */
    addDigest(digest: bigint): boolean;
    /** Adds keys, and returns the number of certainly new ones. After an error some may be in the filter, and none
     * counts as added.
     * @param {Keys} keys @param {Width} [width] @returns {number} */
    addMany(keys: Keys, width?: Width): number;
    /** Removes keys, and returns the number of keys that were not certainly absent. After an error some may have been
     * removed: do not repeat the call. @param {Keys} keys @param {Width} [width] @returns {number} */
    removeMany(keys: Keys, width?: Width): number;
    /** Returns 0 for each key that is certainly absent (or null), otherwise 1. @param {Keys} keys @param {Width} [width]
     * @returns {Uint8Array} */
    containsMany(keys: Keys, width?: Width): Uint8Array;
    /** Returns the count() of each key, 0 for a null. @param {Keys} keys @param {Width} [width] @returns {Uint8Array} */
    countMany(keys: Keys, width?: Width): Uint8Array;
    /** Returns the indexes of the keys that may be present, ascending. @param {Keys} keys @param {Width} [width]
     * @returns {Uint32Array} */
    select(keys: Keys, width?: Width): Uint32Array;
    /** Returns the digests of the keys, 0 for a null. @param {Keys} keys @param {Width} [width]
     * @returns {BigUint64Array} */
    digestMany(keys: Keys, width?: Width): BigUint64Array;
    /** addMany() for digests. @param {Digests} digests @returns {number} */
    addDigests(digests: Digests): number;
    /** removeMany() for digests. @param {Digests} digests @returns {number} */
    removeDigests(digests: Digests): number;
    /** containsMany() for digests. @param {Digests} digests @returns {Uint8Array} */
    containsDigests(digests: Digests): Uint8Array;
    /** countMany() for digests. @param {Digests} digests @returns {Uint8Array} */
    countDigests(digests: Digests): Uint8Array;
    /** select() for digests. @param {Digests} digests @returns {Uint32Array} */
    selectDigests(digests: Digests): Uint32Array;
    /** Makes all adds durable, then stores `mark`, a position in the log `epoch` of `owner`. The caller promises that
     * every key up to the mark has returned from an add. Without arguments it only syncs.
     * @param {SyncOptions} [options] */
    sync(options?: SyncOptions): void;
    /** sync() on another thread. @param {SyncOptions} [options] @returns {Promise<void>} */
    syncAsync(options?: SyncOptions): Promise<void>;
    /** Returns the mark of the owner in this epoch, as of the last sync by any process; 0: add the keys of all rows.
     * @param {number | bigint} owner @param {number | bigint} epoch @returns {bigint} */
    getMark(owner: number | bigint, epoch: number | bigint): bigint;
    /** Returns a Mark for every owner that the filter knows, in no order. @returns {Mark[]} */
    marks(): Mark[];
    /** Forgets an owner of marks, durably. Drop an owner whose rows are gone. @param {number | bigint} owner */
    dropOwner(owner: number | bigint): void;
    /** dropOwner() on another thread. @param {number | bigint} owner @returns {Promise<void>} */
    dropOwnerAsync(owner: number | bigint): Promise<void>;
    /** For a filter that was opened with `recover: true`: the owner has added again all keys after its mark. Returns true
     * if the recovery is over. @param {number | bigint} owner @returns {boolean} */
    finishRecovery(owner: number | bigint): boolean;
    /** finishRecovery() on another thread. @param {number | bigint} owner @returns {Promise<boolean>} */
    finishRecoveryAsync(owner: number | bigint): Promise<boolean>;
    /** Ends an online build (create with `filling: true`): the adds of all keys have returned. */
    finishFilling(): void;
    /** finishFilling() on another thread. @returns {Promise<void>} */
    finishFillingAsync(): Promise<void>;
    /** Ends an epoch, of a filter whose keys expire (create with `window`): forgets the keys of the oldest epoch. Without an
     * argument it ends the epoch if that has lasted for its time; no other call does so. Call it from time to time, in any
     * number of processes: several that call it at once end one epoch. With `fromEpoch`, from stats(), it ends that epoch
     * now, if it is the current one. Returns whether it ended an epoch. It writes the whole file.
     * @param {number | bigint} [fromEpoch] @returns {boolean} */
    turn(fromEpoch?: number | bigint): boolean;
    /** turn() on another thread. @param {number | bigint} [fromEpoch] @returns {Promise<boolean>} */
    turnAsync(fromEpoch?: number | bigint): Promise<boolean>;
    /** Gives a filter that was created with `unpublished: true` its name; from then on it only reads. */
    publish(): void;
    /** publish() on another thread; until it is done, every other call of the filter throws. @returns {Promise<void>} */
    publishAsync(): Promise<void>;
    /** Supersedes the file that has the name now, before publish(): adds by its writers are refused from now on. */
    supersede(): void;
    /** supersede() on another thread. @returns {Promise<void>} */
    supersedeAsync(): Promise<void>;
    /** Returns whether the path still names this file, whole. Asks the file system. @returns {boolean} */
    isCurrent(): boolean;
    /** isCurrent() on another thread. @returns {Promise<boolean>} */
    isCurrentAsync(): Promise<boolean>;
    /** Returns Statistics. `fill` counts the bits, which reads everything; `memory` asks which pages are in memory.
     * @param {{fill?: boolean, memory?: boolean}} [wanted] @returns {Readonly<Statistics>} */
    stats(wanted?: {
        fill?: boolean;
        memory?: boolean;
    }): Readonly<Statistics>;
    /** stats() on another thread. @param {{fill?: boolean, memory?: boolean}} [wanted] @returns {Promise<Readonly<Statistics>>} */
    statsAsync(wanted?: {
        fill?: boolean;
        memory?: boolean;
    }): Promise<Readonly<Statistics>>;
    /** Makes a new file of the filter, complete and durable, while others may add. `sealed`: with checksums, which verify()
     * compares, and never written to again; with `replace` it may replace its own source.
     * @param {Path} path @param {CopyOptions} [options] */
    copy(path: Path, options?: CopyOptions): void;
    /** copy() on another thread. @param {Path} path @param {CopyOptions} [options] @returns {Promise<void>} */
    copyAsync(path: Path, options?: CopyOptions): Promise<void>;
    /** Returns the filter as bytes, for load(): an embedded filter, or the bare form. Marks are not in them.
     * @param {DumpOptions} [options] @returns {Uint8Array} */
    dump(options?: DumpOptions): Uint8Array;
    /** dump() on another thread. @param {DumpOptions} [options] @returns {Promise<Uint8Array>} */
    dumpAsync(options?: DumpOptions): Promise<Uint8Array>;
    /** Adds every key of another filter with the same layout, hash, seed and k. @param {Filter} other */
    merge(other: Filter): void;
    /** merge() on another thread. @param {Filter} other @returns {Promise<void>} */
    mergeAsync(other: Filter): Promise<void>;
    /** Compares this filter (A) with another (B): their differences, and the number of keys that they share.
     * @param {Filter} other @returns {Readonly<Comparison>} */
    compare(other: Filter): Readonly<Comparison>;
    /** compare() on another thread. @param {Filter} other @returns {Promise<Readonly<Comparison>>} */
    compareAsync(other: Filter): Promise<Readonly<Comparison>>;
    /** Takes in the bit array of another program, whose m, k, hash and seeds the filter has. An array does not tell
     * whether these are right: look up keys that are known to be in it before you use the filter.
     * @param {Uint8Array} bits @param {BitOrder} order  the bit of a byte that comes first */
    importBits(bits: Uint8Array, order: BitOrder): void;
    /** Returns the filter's bits as an array for another program. @param {BitOrder} order @returns {Uint8Array} */
    exportBits(order: BitOrder): Uint8Array;
    /** exportBits() on another thread. @param {BitOrder} order @returns {Promise<Uint8Array>} */
    exportBitsAsync(order: BitOrder): Promise<Uint8Array>;
    /** Returns the filter for another program, in one of foreignFormats(). `order` is only for a format that needs it.
     * @param {string} format @param {{order?: BitOrder}} [options] @returns {Uint8Array} */
    exportForeign(format: string, options?: {
        order?: BitOrder;
    }): Uint8Array;
    /** exportForeign() on another thread. @param {string} format @param {{order?: BitOrder}} [options] @returns {Promise<Uint8Array>} */
    exportForeignAsync(format: string, options?: {
        order?: BitOrder;
    }): Promise<Uint8Array>;
    /** The name of the filter, and whether it is closed, for logs. @returns {string} */
    toString(): string;
    /** close(), for `using`. */
    [Symbol.dispose](): void;
    /** closeAsync(), for `await using`. @returns {Promise<void>} */
    [Symbol.asyncDispose](): Promise<void>;
    #private;
}
export function filterOf(handle: number, subject: import("./errors.js").Subject, created: boolean, memory: unknown, reads: boolean): Filter;
export type Key = import("./keys.js").Key;
export type Keys = import("./keys.js").Keys;
export type Digests = import("./keys.js").Digests;
export type Width = import("./keys.js").Width;
export type Batch = import("./keys.js").Batch;
export type Path = import("./options.js").Path;
export type CopyOptions = import("./options.js").CopyOptions;
export type BitOrder = import("./options.js").BitOrder;
export type Mark = import("./results.js").Mark;
export type Health = import("./results.js").Health;
export type Statistics = import("./results.js").Statistics;
export type Comparison = import("./results.js").Comparison;
/**
 * The form of a dump.
 */
export type DumpOptions = {
    bare?: boolean;
    sameFileId?: boolean;
};
/**
 * A position in a log of the owner.
 */
export type SyncOptions = {
    owner?: number | bigint;
    epoch?: number | bigint;
    mark?: number | bigint;
};
export type Call<T> = import("./calls.js").Call<T>;
import { Struct } from "./struct.js";

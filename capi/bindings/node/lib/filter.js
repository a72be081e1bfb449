/* The class Filter: keys one by one and in batches, and operations on the whole filter. */
import {BFS, BFS_LARGE} from "./abi.js";
import {closeLater, closeNow, held, later, now, publishLater, publishNow, stepsLater, stepsNow} from "./calls.js";
import {BfstoreError, errorOfCode} from "./errors.js";
import {batchOf, batchOfDigests, digestOf, lendScratch, misfit, one, place} from "./keys.js";
import {Life, abandon, born, closedError, handleOf} from "./life.js";
import {lib} from "./library.js";
import {ORDERS, TAKEN, formOf, given, numberNamed, pathBytes, plain, setOptions} from "./options.js";
import {comparisonOf, healthOf, markOf, statisticsOf} from "./results.js";
import {Struct, asBytes, shown, u64} from "./struct.js";
import {outOfRange, wrongValue} from "./wrong.js";

/** @typedef {import("./keys.js").Key} Key */
/** @typedef {import("./keys.js").Keys} Keys */
/** @typedef {import("./keys.js").Digests} Digests */
/** @typedef {import("./keys.js").Width} Width */
/** @typedef {import("./keys.js").Batch} Batch */
/** @typedef {import("./options.js").Path} Path */
/** @typedef {import("./options.js").CopyOptions} CopyOptions */
/** @typedef {import("./options.js").BitOrder} BitOrder */
/** @typedef {import("./results.js").Mark} Mark */
/** @typedef {import("./results.js").Health} Health */
/** @typedef {import("./results.js").Statistics} Statistics */
/** @typedef {import("./results.js").Comparison} Comparison */
/** The form of a dump. @typedef {{bare?: boolean, sameFileId?: boolean}} DumpOptions */
/** A position in a log of the owner.
 * @typedef {{owner?: number | bigint, epoch?: number | bigint, mark?: number | bigint}} SyncOptions */
/** @template T @typedef {import("./calls.js").Call<T>} Call */

/* Defined as in the standard if the runtime lacks them (Node.js before 18.18): the code that transpilers make of
 * `using` needs these. */
for (const name of /** @type {const} */ (["dispose", "asyncDispose"]))
  if (!Symbol[name])
    Object.defineProperty(Symbol, name, {value: Symbol(`Symbol.${name}`), writable: false, enumerable: false, configurable: false});

const MAKING = Symbol("a filter is made by open() and its like");
const MOST_OWNERS = 64;
const MOST_SELECTED = 2 ** 32;
const SYNC_OPTIONS = ["owner", "epoch", "mark", "recovered"]; // what a Mark has; the last one says nothing to sync()
const NONE = {};
/* Functions that are called for each key are looked up once. */
const {bfs_add, bfs_contains, bfs_digest, bfs_remove} = lib;

/** @param {number} result @returns {boolean} */
const asBoolean = (result) => result !== 0;
const nothing = () => {};

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
  /** @type {Life} */
  #life;
  /** @type {boolean} */
  #created;

  /** @private @param {symbol} token @param {number} handle @param {import("./errors.js").Subject} subject @param {boolean} created
   * @param {unknown} memory @param {boolean} reads */
  constructor(token, handle, subject, created, memory, reads) {
    if (token !== MAKING) throw wrongValue("a filter is made by open(), create(), build(), format(), wrap() or load()");
    this.#life = new Life(handle, subject, memory, reads);
    this.#created = created;
    born(this, this.#life);
  }

  /** The path as given; for a buffer, a description. @returns {string} */
  get name() {
    return this.#life.name;
  }

  /** True if the call that returned this filter made its file: create(), build(), importForeign(), and open() with "a"
   * if there was none. @returns {boolean} */
  get created() {
    return this.#created;
  }

  /** True if close() was called. @returns {boolean} */
  get closed() {
    return this.#life.handle === 0 && !this.#life.publishing;
  }

  /** "ok", or why every answer is "maybe" now: "poisoned", "lost", "superseded", "recovering", "filling", "fault", "shut".
   * @returns {Health} */
  get health() {
    return healthOf(this.#life.handle === 0 ? BFS.ESHUT : lib.bfs_health(this.#life.handle));
  }

  /** n: the number of distinct keys that the filter is sized for. @returns {number} */
  get capacity() {
    return this.stats().capacity;
  }

  /** The false-positive rate that is promised at `capacity` keys. @returns {number} */
  get fpr() {
    return this.stats().fpr;
  }

  /** m: the filter's bits (counters of the counting layout). @returns {number} */
  get numBits() {
    return this.stats().numBits;
  }

  /** k: the bits of each key. @returns {number} */
  get numProbes() {
    return this.stats().numProbes;
  }

  // --- Closing ---------------------------------------------------------------------------------------------------------

  /** Closes the filter. The last writer of a file syncs it, and marks it clean. Running asynchronous calls end
   * safely. */
  close() {
    closeNow(this);
  }

  /** close() on another thread. @returns {Promise<void>} */
  closeAsync() {
    return closeLater(this);
  }

  /** close(), for `using`. */
  [Symbol.dispose]() {
    closeNow(this);
  }

  /** closeAsync(), for `await using`. @returns {Promise<void>} */
  [Symbol.asyncDispose]() {
    return closeLater(this);
  }

  /** Closes the filter as if its process had been killed: nothing is synced, and an unpublished file vanishes. */
  abandon() {
    if (!abandon(this.#life)) closeNow(this);
  }

  // --- One key ---------------------------------------------------------------------------------------------------------

  /** @param {number} code @returns {never} */
  #fail(code) {
    if (this.#life.handle === 0 || code === BFS.ESHUT) throw closedError(this.#life);
    throw errorOfCode(code, this.#life);
  }

  /** Returns whether the key may be in the filter. false is certain. @param {Key} key @returns {boolean} */
  contains(key) {
    place(key);
    const code = bfs_contains(this.#life.handle, one.address, one.bytes);
    if (code < 0) this.#fail(code);
    return code !== 0;
  }

  /** contains(), by the name in Set and Map. @param {Key} key @returns {boolean} */
  has(key) {
    return this.contains(key);
  }

  /** Adds a key. Returns true if it was certainly new, false if it may have been present. @param {Key} key
   * @returns {boolean} */
  add(key) {
    place(key);
    const code = bfs_add(this.#life.handle, one.address, one.bytes);
    if (code < 0) this.#fail(code);
    return code !== 0;
  }

  /** Removes a key, in the layout "counting". Returns false if it was certainly absent.
   *
   * Remove only keys that were added, each at most as often: any other remove can make the filter answer no for other
   * keys. Never repeat a remove that threw an error. @param {Key} key @returns {boolean} */
  remove(key) {
    place(key);
    const code = bfs_remove(this.#life.handle, one.address, one.bytes);
    if (code < 0) this.#fail(code);
    return code !== 0;
  }

  /** Returns an upper bound of the key's adds less its removes, in the layout "counting": 0 (a certain no) to 15, which
   * means 15 or more. @param {Key} key @returns {number} */
  count(key) {
    return this.countMany([key])[0];
  }

  /** Returns the key's 64-bit digest in this file. @param {Key} key @returns {bigint} */
  digest(key) {
    place(key);
    const digest = new BigUint64Array(1);
    const code = bfs_digest(this.#life.handle, one.address, one.bytes, digest);
    if (code < 0) this.#fail(code);
    return digest[0];
  }

  /** contains() for a key's digest. @param {bigint} digest @returns {boolean} */
  containsDigest(digest) {
    return this.#ofDigest("bfs_contains_digest", digest) !== 0;
  }

  /** add() for a key's digest. @param {bigint} digest @returns {boolean} */
  addDigest(digest) {
    return this.#ofDigest("bfs_add_digest", digest) !== 0;
  }

  /** @param {string} fn @param {bigint} digest @returns {number} */
  #ofDigest(fn, digest) {
    const code = lib[fn](this.#life.handle, digestOf(digest));
    if (code < 0) this.#fail(code);
    return code;
  }

  // --- Many keys -------------------------------------------------------------------------------------------------------

  /** Adds keys, and returns the number of certainly new ones. After an error some may be in the filter, and none
   * counts as added.
   * @param {Keys} keys @param {Width} [width] @returns {number} */
  addMany(keys, width = NONE) {
    return this.#ofKeys("bfs_add_keys", batchOf(keys, width));
  }

  /** Removes keys, and returns the number of keys that were not certainly absent. After an error some may have been
   * removed: do not repeat the call. @param {Keys} keys @param {Width} [width] @returns {number} */
  removeMany(keys, width = NONE) {
    return this.#ofKeys("bfs_remove_keys", batchOf(keys, width));
  }

  /** Returns 0 for each key that is certainly absent (or null), otherwise 1. @param {Keys} keys @param {Width} [width]
   * @returns {Uint8Array} */
  containsMany(keys, width = NONE) {
    return this.#answers("bfs_contains_keys", batchOf(keys, width));
  }

  /** Returns the count() of each key, 0 for a null. @param {Keys} keys @param {Width} [width] @returns {Uint8Array} */
  countMany(keys, width = NONE) {
    return this.#answers("bfs_count_keys", batchOf(keys, width));
  }

  /** Returns the indexes of the keys that may be present, ascending. @param {Keys} keys @param {Width} [width]
   * @returns {Uint32Array} */
  select(keys, width = NONE) {
    return this.#numbers(batchOf(keys, width));
  }

  /** Returns the digests of the keys, 0 for a null. @param {Keys} keys @param {Width} [width]
   * @returns {BigUint64Array} */
  digestMany(keys, width = NONE) {
    const batch = batchOf(keys, width);
    const digests = new BigUint64Array(batch.count);
    this.#ofKeys("bfs_digest_keys", batch, digests);
    return digests;
  }

  /** addMany() for digests. @param {Digests} digests @returns {number} */
  addDigests(digests) {
    return this.#ofKeys("bfs_add_keys", batchOfDigests(digests));
  }

  /** removeMany() for digests. @param {Digests} digests @returns {number} */
  removeDigests(digests) {
    return this.#ofKeys("bfs_remove_keys", batchOfDigests(digests));
  }

  /** containsMany() for digests. @param {Digests} digests @returns {Uint8Array} */
  containsDigests(digests) {
    return this.#answers("bfs_contains_keys", batchOfDigests(digests));
  }

  /** countMany() for digests. @param {Digests} digests @returns {Uint8Array} */
  countDigests(digests) {
    return this.#answers("bfs_count_keys", batchOfDigests(digests));
  }

  /** select() for digests. @param {Digests} digests @returns {Uint32Array} */
  selectDigests(digests) {
    return this.#numbers(batchOfDigests(digests));
  }

  /** @param {string} fn @param {Batch} batch @returns {Uint8Array} */
  #answers(fn, batch) {
    const answers = new Uint8Array(batch.count);
    if (fn === "bfs_contains_keys") lendScratch(batch);
    this.#ofKeys(fn, batch, answers);
    return answers;
  }

  /** @param {Batch} batch @returns {Uint32Array} */
  #numbers(batch) {
    if (batch.count > MOST_SELECTED) throw outOfRange("too many keys for one call");
    const numbers = new Uint32Array(batch.count);
    lendScratch(batch);
    return numbers.subarray(0, this.#ofKeys("bfs_select_keys", batch, numbers));
  }

  /** @param {string} fn @param {Batch} batch @param {NodeJS.ArrayBufferView[]} out @returns {number} */
  #ofKeys(fn, batch, ...out) {
    held.what = batch;
    const done = Number(lib[fn](handleOf(this.#life), batch.keys.bytes, ...out));
    held.what = null;
    const wrong = done === BFS.EINVAL ? misfit(batch) : "";
    if (wrong !== "") throw new BfstoreError(BFS.EINVAL, 0, `${this.#life.name}: ${wrong}`, 0, this.#life.path);
    if (done < 0) this.#fail(done);
    return done;
  }

  // --- Durability ------------------------------------------------------------------------------------------------------

  /** @template T @param {string} fn @param {unknown[]} words @param {(result: number) => T} finish @param {unknown} [kept]
   * @returns {Call<T>} */
  #call(fn, words, finish, kept) {
    return {fn, uses: [this], args: (handle) => [handle, ...words], kept, name: this.#life.name, path: this.#life.path, finish};
  }

  /** @param {SyncOptions} options @returns {Call<void>} */
  #sync(options) {
    const mark = new Struct("bfs_owner_mark");
    for (const [name, value] of Object.entries(plain(options))) {
      if (!SYNC_OPTIONS.includes(name)) throw wrongValue(`there is no option ${shown(name)} here`);
      if (value !== undefined && name !== "recovered") mark.set(name, value);
    }
    return this.#call("bfs_sync", [mark.bytes], nothing, mark);
  }

  /** Makes all adds durable, then stores `mark`, a position in the log `epoch` of `owner`. The caller promises that
   * every key up to the mark has returned from an add. Without arguments it only syncs.
   * @param {SyncOptions} [options] */
  sync(options = NONE) {
    now(this.#sync(options));
  }

  /** sync() on another thread. @param {SyncOptions} [options] @returns {Promise<void>} */
  async syncAsync(options = NONE) {
    return later(this.#sync(options));
  }

  /** Returns the mark of the owner in this epoch, as of the last sync by any process; 0: add the keys of all rows.
   * @param {number | bigint} owner @param {number | bigint} epoch @returns {bigint} */
  getMark(owner, epoch) {
    return BigInt(lib.bfs_get_mark(handleOf(this.#life), u64("owner", owner), u64("epoch", epoch)));
  }

  /** Returns a Mark for every owner that the filter knows, in no order. @returns {Mark[]} */
  marks() {
    return structsOf("bfs_owner_mark", MOST_OWNERS, (room) => now(this.#call("bfs_list_marks", [room, MOST_OWNERS], Number)), markOf);
  }

  /** Forgets an owner of marks, durably. Drop an owner whose rows are gone. @param {number | bigint} owner */
  dropOwner(owner) {
    now(this.#call("bfs_drop_owner", [u64("owner", owner)], nothing));
  }

  /** dropOwner() on another thread. @param {number | bigint} owner @returns {Promise<void>} */
  async dropOwnerAsync(owner) {
    return later(this.#call("bfs_drop_owner", [u64("owner", owner)], nothing));
  }

  /** For a filter that was opened with `recover: true`: the owner has added again all keys after its mark. Returns true
   * if the recovery is over. @param {number | bigint} owner @returns {boolean} */
  finishRecovery(owner) {
    return now(this.#call("bfs_finish_recovery", [u64("owner", owner)], asBoolean));
  }

  /** finishRecovery() on another thread. @param {number | bigint} owner @returns {Promise<boolean>} */
  async finishRecoveryAsync(owner) {
    return later(this.#call("bfs_finish_recovery", [u64("owner", owner)], asBoolean));
  }

  /** Ends an online build (create with `filling: true`): the adds of all keys have returned. */
  finishFilling() {
    now(this.#call("bfs_finish_filling", [], nothing));
  }

  /** finishFilling() on another thread. @returns {Promise<void>} */
  async finishFillingAsync() {
    return later(this.#call("bfs_finish_filling", [], nothing));
  }

  /** @param {number | bigint} fromEpoch @returns {Call<boolean>} */
  #turn(fromEpoch) {
    return this.#call("bfs_turn", [u64("fromEpoch", fromEpoch)], asBoolean);
  }

  /** Ends an epoch, of a filter whose keys expire (create with `window`): forgets the keys of the oldest epoch. Without an
   * argument it ends the epoch if that has lasted for its time; no other call does so. Call it from time to time, in any
   * number of processes: several that call it at once end one epoch. With `fromEpoch`, from stats(), it ends that epoch
   * now, if it is the current one. Returns whether it ended an epoch. It writes the whole file.
   * @param {number | bigint} [fromEpoch] @returns {boolean} */
  turn(fromEpoch = BFS_LARGE.IF_DUE) {
    return now(this.#turn(fromEpoch));
  }

  /** turn() on another thread. @param {number | bigint} [fromEpoch] @returns {Promise<boolean>} */
  async turnAsync(fromEpoch = BFS_LARGE.IF_DUE) {
    return later(this.#turn(fromEpoch));
  }

  /** Gives a filter that was created with `unpublished: true` its name; from then on it only reads. */
  publish() {
    publishNow(this);
  }

  /** publish() on another thread; until it is done, every other call of the filter throws. @returns {Promise<void>} */
  publishAsync() {
    return publishLater(this);
  }

  /** Supersedes the file that has the name now, before publish(): adds by its writers are refused from now on. */
  supersede() {
    now(this.#call("bfs_supersede", [], nothing));
  }

  /** supersede() on another thread. @returns {Promise<void>} */
  async supersedeAsync() {
    return later(this.#call("bfs_supersede", [], nothing));
  }

  /** Returns whether the path still names this file, whole. Asks the file system. @returns {boolean} */
  isCurrent() {
    return now(this.#call("bfs_is_current", [], asBoolean));
  }

  /** isCurrent() on another thread. @returns {Promise<boolean>} */
  async isCurrentAsync() {
    return later(this.#call("bfs_is_current", [], asBoolean));
  }

  // --- Facts -----------------------------------------------------------------------------------------------------------

  /** @param {{fill?: boolean, memory?: boolean}} wanted @returns {Call<Readonly<Statistics>>} */
  #stats(wanted) {
    const facts = new Struct("bfs_statistics");
    const flags = setOptions(null, wanted, TAKEN.stats);
    return this.#call("bfs_stats", [flags, facts.bytes], () => statisticsOf(facts));
  }

  /** Returns Statistics. `fill` counts the bits, which reads everything; `memory` asks which pages are in memory.
   * @param {{fill?: boolean, memory?: boolean}} [wanted] @returns {Readonly<Statistics>} */
  stats(wanted = NONE) {
    return now(this.#stats(wanted));
  }

  /** stats() on another thread. @param {{fill?: boolean, memory?: boolean}} [wanted] @returns {Promise<Readonly<Statistics>>} */
  async statsAsync(wanted = NONE) {
    return later(this.#stats(wanted));
  }

  // --- Other forms, other filters --------------------------------------------------------------------------------------

  /** @param {Path} path @param {CopyOptions} options @returns {Call<void>} */
  #copy(path, options) {
    const {flags, options: how} = given(options, TAKEN.copy);
    return this.#call("bfs_copy", [pathBytes(path), flags, how.bytes], nothing, how);
  }

  /** Makes a new file of the filter, complete and durable, while others may add. `sealed`: with checksums, which verify()
   * compares, and never written to again; with `replace` it may replace its own source.
   * @param {Path} path @param {CopyOptions} [options] */
  copy(path, options = NONE) {
    now(this.#copy(path, options));
  }

  /** copy() on another thread. @param {Path} path @param {CopyOptions} [options] @returns {Promise<void>} */
  async copyAsync(path, options = NONE) {
    return later(this.#copy(path, options));
  }

  /** Yields the calls of a function that returns the number of bytes that it needs, and returns the bytes. A handle
   * that follows its path may need another number at each call.
   * @param {(room: Uint8Array | null, bytes: number) => Call<number>} writing
   * @returns {Generator<Call<number>, Uint8Array, number>} */
  *#written(writing) {
    let bytes = yield writing(null, 0);
    for (let tries = 0; tries < 10; tries++) {
      const room = new Uint8Array(bytes);
      try {
        const written = yield writing(room, bytes);
        return written === bytes ? room : room.slice(0, written);
      } catch (error) {
        const before = bytes;
        bytes = yield writing(null, 0);
        if (bytes <= before) throw error;
      }
    }
    throw errorOfCode(BFS.EBUSY, this.#life);
  }

  /** @param {DumpOptions} options */
  #dump(options) {
    const flags = setOptions(null, options, TAKEN.dump);
    return this.#written((room, bytes) => this.#call("bfs_dump", [room, bytes, flags], Number));
  }

  /** Returns the filter as bytes, for load(): an embedded filter, or the bare form. Marks are not in them.
   * @param {DumpOptions} [options] @returns {Uint8Array} */
  dump(options = NONE) {
    return stepsNow(this.#dump(options));
  }

  /** dump() on another thread. @param {DumpOptions} [options] @returns {Promise<Uint8Array>} */
  async dumpAsync(options = NONE) {
    return stepsLater(this.#dump(options));
  }

  /** @template T @param {string} fn @param {Filter} other @param {Uint8Array[]} more @param {() => T} finish @returns {Call<T>} */
  #with(fn, other, more, finish) {
    return {fn, uses: [this, other], args: (handle, second) => [handle, second, ...more], name: this.#life.name, path: this.#life.path, finish};
  }

  /** Adds every key of another filter with the same layout, hash, seed and k. @param {Filter} other */
  merge(other) {
    now(this.#with("bfs_merge", other, [], nothing));
  }

  /** merge() on another thread. @param {Filter} other @returns {Promise<void>} */
  async mergeAsync(other) {
    return later(this.#with("bfs_merge", other, [], nothing));
  }

  /** @param {Filter} other @returns {Call<Readonly<Comparison>>} */
  #compare(other) {
    const found = new Struct("bfs_comparison");
    return this.#with("bfs_compare", other, [found.bytes], () => comparisonOf(found));
  }

  /** Compares this filter (A) with another (B): their differences, and the number of keys that they share.
   * @param {Filter} other @returns {Readonly<Comparison>} */
  compare(other) {
    return now(this.#compare(other));
  }

  /** compare() on another thread. @param {Filter} other @returns {Promise<Readonly<Comparison>>} */
  async compareAsync(other) {
    return later(this.#compare(other));
  }

  /** Takes in the bit array of another program, whose m, k, hash and seeds the filter has. An array does not tell
   * whether these are right: look up keys that are known to be in it before you use the filter.
   * @param {Uint8Array} bits @param {BitOrder} order  the bit of a byte that comes first */
  importBits(bits, order) {
    asBytes("bits", bits);
    const memory = bits.length === 0 ? Buffer.alloc(1) : bits; // C refuses a null pointer before it looks at the length
    now(this.#call("bfs_import_bits", [memory, bits.length, numberNamed("order", ORDERS, order)], nothing));
  }

  /** @param {BitOrder} order @returns {Call<Uint8Array>} */
  #exportBits(order) {
    const number = numberNamed("order", ORDERS, order);
    const bits = new Uint8Array(Math.ceil(this.stats().numBits / 8));
    return this.#call("bfs_export_bits", [bits, bits.length, number], () => bits);
  }

  /** Returns the filter's bits as an array for another program. @param {BitOrder} order @returns {Uint8Array} */
  exportBits(order) {
    return now(this.#exportBits(order));
  }

  /** exportBits() on another thread. @param {BitOrder} order @returns {Promise<Uint8Array>} */
  async exportBitsAsync(order) {
    return later(this.#exportBits(order));
  }

  /** @param {string} format @param {{order?: BitOrder}} options */
  #exportForeign(format, options) {
    const {order, ...others} = plain(options);
    setOptions(null, others, {fields: [], flags: []});
    const form = formOf(format, {order});
    return this.#written((room, bytes) => this.#call("bfs_foreign_export", [form.bytes, room, bytes], Number, form));
  }

  /** Returns the filter for another program, in one of foreignFormats(). `order` is only for a format that needs it.
   * @param {string} format @param {{order?: BitOrder}} [options] @returns {Uint8Array} */
  exportForeign(format, options = NONE) {
    return stepsNow(this.#exportForeign(format, options));
  }

  /** exportForeign() on another thread. @param {string} format @param {{order?: BitOrder}} [options] @returns {Promise<Uint8Array>} */
  async exportForeignAsync(format, options = NONE) {
    return stepsLater(this.#exportForeign(format, options));
  }

  /** The name of the filter, and whether it is closed, for logs. @returns {string} */
  toString() {
    return `Filter { ${JSON.stringify(this.name)}${this.closed ? ", closed" : ""} }`;
  }

  /** @returns {string} */
  [Symbol.for("nodejs.util.inspect.custom")]() {
    return this.toString();
  }
}

/** Makes a filter, for the functions of files.js. @param {number} handle @param {import("./errors.js").Subject} subject
 * @param {boolean} created @param {unknown} memory  that it is in, if any @param {boolean} reads  takes no keys
 * @returns {Filter} */
// @ts-ignore: to users the constructor is private
export const filterOf = (handle, subject, created, memory, reads) => new Filter(MAKING, handle, subject, created, memory, reads);

/** Returns the structs that a call fills in, at most `most`.
 * @template T @param {string} name @param {number} most @param {(room: Buffer) => number} fill
 * @param {(struct: Struct) => T} make
 * @returns {T[]} */
export function structsOf(name, most, fill, make) {
  const bytes = new Struct(name).layout.bytes;
  const room = Buffer.alloc(bytes * most);
  const count = Math.min(fill(room), most);
  return Array.from({length: count}, (_, i) => make(new Struct(name, room.subarray(i * bytes, (i + 1) * bytes))));
}

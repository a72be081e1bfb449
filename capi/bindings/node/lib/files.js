/* The functions of the package: making and opening filters, sets, plans, bare filters. */
import {BFS} from "./abi.js";
import {held, later, now, stepsLater, stepsNow} from "./calls.js";
import {BfstoreError, errorOfCode} from "./errors.js";
import {filterOf, structsOf} from "./filter.js";
import {arrayOf, batchOf, batchOfDigests, batches, batchesAsync, begun, digestOf, isAsyncIterable, isIterable, lastingBatch, one, place} from "./keys.js";
import {addressOf, lib, pointerOf, textAt} from "./library.js";
import {handleOf, lifeOf} from "./life.js";
import {HASHES, LAYOUTS, TAKEN, formOf, given, linkFlag, modeFlags, numberNamed, pathBytes, plain, setOptions, subjectOf} from "./options.js";
import {foreignOf, planOf, rangeOf} from "./results.js";
import {Struct, asBytes, shown, u64, unsigned} from "./struct.js";
import {wrongType, wrongValue} from "./wrong.js";

/** @typedef {import("./filter.js").Filter} Filter */
/** @typedef {import("./keys.js").Key} Key */
/** @typedef {import("./keys.js").Keys} Keys */
/** @typedef {import("./keys.js").Digests} Digests */
/** @typedef {import("./keys.js").Width} Width */
/** @typedef {import("./keys.js").Batch} Batch */
/** @typedef {import("./options.js").Path} Path */
/** @typedef {import("./options.js").Layout} Layout */
/** @typedef {import("./options.js").CreateOptions} CreateOptions */
/** @typedef {import("./options.js").BuildOptions} BuildOptions */
/** @typedef {import("./options.js").OpenOptions} OpenOptions */
/** @typedef {import("./options.js").OpenOrCreateOptions} OpenOrCreateOptions */
/** @typedef {import("./options.js").Mode} Mode */
/** @typedef {import("./options.js").AnyModeOptions} AnyModeOptions */
/** @typedef {import("./options.js").BufferOptions} BufferOptions */
/** @typedef {import("./options.js").MemoryOptions} MemoryOptions */
/** @typedef {import("./options.js").DeriveOptions} DeriveOptions */
/** @typedef {import("./options.js").DeltaOptions} DeltaOptions */
/** @typedef {import("./options.js").Given} Given */
/** @typedef {import("./options.js").PlanOptions} PlanOptions */
/** @typedef {import("./options.js").ForeignOptions} ForeignOptions */
/** @typedef {import("./options.js").OpenForeignOptions} OpenForeignOptions */
/** @typedef {import("./options.js").RecognizeOptions} RecognizeOptions */
/** @typedef {import("./results.js").Range} Range */
/** @typedef {import("./results.js").Plan} Plan */
/** @typedef {import("./results.js").Foreign} Foreign */
/** @template T @typedef {import("./calls.js").Call<T>} Call */

const NONE = {};
const ALIGNMENT = 64;
const RANGES_AT_FIRST = 100;
const nothing = () => {};

// --- Making and opening ------------------------------------------------------------------------------------------------

/** Makes a call that returns a new handle. @param {string} fn @param {unknown[]} words  before the flags @param {Given} how
 * @param {import("./errors.js").Subject} subject @param {(result: number) => boolean} created  whether the call made the file
 * @param {unknown} [memory]  that the filter is in @param {Batch} [batch]  the keys of the filter @returns {Call<Filter>} */
function making(fn, words, {flags, options}, subject, created, memory, batch) {
  const out = new BigUint64Array(1);
  const keys = batch === undefined ? [] : [batch.keys.bytes];
  const reads = (flags & BFS.READ) !== 0 || fn === "bfs_build" || fn === "bfs_foreign_open";
  return {
    fn, uses: [], args: () => [...words, flags, options.bytes, ...keys, out], kept: [options, memory, batch], ...subject,
    finish: (result) => filterOf(pointerOf(out[0]), subject, created(result), memory, reads),
  };
}

const always = () => true;
const never = () => false;

/** @param {Path} path @param {CreateOptions} options @returns {Call<Filter>} */
const creating = (path, options) => making("bfs_create", [pathBytes(path)], given(options, TAKEN.create), subjectOf(path), always);

/** Makes a new, empty filter file, open for writing. It appears complete and durable, or not at all. Give the size by
 * capacity and fpr (default 0.01), capacity and bitsPerKey, capacity and maxBytes, numBits and numProbes, or like. To
 * continue with a file that is there, use open() with "a".
 * @param {Path} path @param {CreateOptions} options @returns {Filter} */
export function create(path, options) {
  return now(creating(path, options));
}

/** create() on another thread. @param {Path} path @param {CreateOptions} options @returns {Promise<Filter>} */
export async function createAsync(path, options) {
  return later(creating(path, options));
}

/** @param {Path | number} path @param {Mode} mode @param {OpenOptions | OpenOrCreateOptions} options @returns {Call<Filter>} */
function opening(path, mode, options) {
  const {exclusive, followSymlinks = true, ...others} = /** @type {OpenOptions} */ (plain(options));
  const flags = modeFlags(mode, exclusive);
  const makes = (flags & BFS.CREATE) !== 0;
  const how = given(others, makes ? TAKEN.openOrCreate : TAKEN.open, flags | linkFlag(followSymlinks));
  const created = (/** @type {number} */ result) => result === 1;
  if (makes && typeof path === "number") throw wrongValue(`mode ${shown(mode)} is for a path: the file of a descriptor is there`);
  const {bytes, subject} = fileOf(path, how);
  return making("bfs_open", [bytes], how, subject, created);
}

/** Returns the bytes of a path and its name; for a descriptor null, after it is put into the options.
 * @param {Path | number} path @param {Given} how */
function fileOf(path, how) {
  if (typeof path !== "number") return {bytes: pathBytes(path), subject: subjectOf(path)};
  how.options.set("fd", Int32Array.of(unsigned("a descriptor", 2 ** 31, path)));
  return {bytes: null, subject: {name: `descriptor ${path}`}};
}

/** Opens a filter file (or, for reading, the file of a descriptor, as a number). "r" only asks; "r+" also adds,
 * concurrently with other writers.
 *
 * For reading, the path may also name a text file that lists the parts of one filter, which answers for every key then:
 * the line "bfstore-set 1", and then the path of a part in each line, relative to the file's folder. A part that is not
 * listed, or is in doubt, may have each of its keys. A list does not go with `follow`.
 * @overload @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Filter} */
/** Opens a filter file for adding, or makes it if there is none: Filter.created tells which. Any number of processes may
 * do so at once, and one of them makes the file. No file is ever replaced, and no option changes one that is there.
 * @overload @param {Path} path @param {"a" | "a+"} mode @param {OpenOrCreateOptions} [options] @returns {Filter} */
/** Opens a filter file with a mode that the program chooses as it runs, and the options that every mode takes.
 * @overload @param {Path} path @param {Mode} mode @param {AnyModeOptions} [options] @returns {Filter} */
/** @param {Path | number} path @param {Mode} [mode] @param {OpenOptions | OpenOrCreateOptions} [options] @returns {Filter} */
export function open(path, mode = "r", options = NONE) {
  return now(opening(path, mode, options));
}

/** open() on another thread.
 * @overload @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Promise<Filter>} */
/** open() with "a" on another thread.
 * @overload @param {Path} path @param {"a" | "a+"} mode @param {OpenOrCreateOptions} [options] @returns {Promise<Filter>} */
/** open() with a mode that the program chooses as it runs, on another thread.
 * @overload @param {Path} path @param {Mode} mode @param {AnyModeOptions} [options] @returns {Promise<Filter>} */
/** @param {Path | number} path @param {Mode} [mode] @param {OpenOptions | OpenOrCreateOptions} [options]
 * @returns {Promise<Filter>} */
export async function openAsync(path, mode = "r", options = NONE) {
  return later(opening(path, mode, options));
}

// --- Building ------------------------------------------------------------------------------------------------------------

/** @param {Path} path @param {Batch} batch @param {CreateOptions} shape @returns {Call<Filter>} */
const building = (path, batch, shape) =>
  making("bfs_build", [pathBytes(path)], given(shape, TAKEN.build), subjectOf(path), always, undefined, batch);

/** Returns whether the keys come one after the other and the size of the filter is known, or counted by the library, so that they
 * are never all in memory. @param {unknown} keys @param {CreateOptions} shape @returns {keys is Iterable<Key> | AsyncIterable<Key>} */
function isStream(keys, shape) {
  const sized = (shape.capacity ?? shape.capacityAtMost ?? shape.numBits ?? shape.like) !== undefined || shape.layout === "static";
  return sized && !Array.isArray(keys) && (isIterable(keys) || isAsyncIterable(keys));
}

/** Returns the options of a file that gets its keys before its name. @param {CreateOptions} shape @param {Width} width
 * @returns {CreateOptions} */
function unpublished(shape, {width, stride}) {
  if (width !== undefined || stride !== undefined) throw wrongValue("width and stride are for keys in a Uint8Array");
  setOptions(new Struct("bfs_options"), shape, TAKEN.build);
  return {...shape, unpublished: true, exclusive: true};
}

/** Returns whether no key was added: all of a new filter are new. A static one does not look, and its publish() does.
 * @param {number} added @param {Filter} made */
const hasNoKey = (added, made) => added === 0 && made.stats().layout !== "static";

/** Throws if there are more keys than a capacity that was promised, as bfs_build does. @param {Filter} made @param {Path} path
 * @param {CreateOptions} shape */
function checkCapacity(made, path, shape) {
  const {saturated, capacity} = made.stats();
  if (!saturated || (shape.capacity === undefined && shape.numBits !== undefined)) return;
  const subject = subjectOf(path);
  const words = `${subject.name}: not built, for there are more keys than its capacity, ${capacity}. Give a greater one, or none.`;
  throw new BfstoreError(BFS.EFULL, 0, words, 0, subject.path);
}

/** A build as of an empty list, which replaces no file. @param {Filter} made @param {Path} path @param {CreateOptions} shape */
function ofNoKey(made, path, shape) {
  made.abandon();
  return building(path, batchOf([], {}), shape);
}

/** Makes a filter file of these keys, which appears when it is complete, and is open for reading. If no option gives the
 * size, `capacity` is the number of the keys. If one does, an iterable is read part by part: all of its keys need never be in
 * memory at once. So it is for the layout "static", too: its `capacity` is the number of different keys, if no option gives it.
 * More keys than a capacity that is given are the error "BFS_EFULL".
 * @param {Path} path @param {Keys} keys @param {BuildOptions} [options] @returns {Filter} */
export function build(path, keys, options = NONE) {
  const {width, stride, ...shape} = plain(options);
  if (isAsyncIterable(keys)) throw wrongValue("keys that have to be awaited are for buildAsync()");
  if (!isStream(keys, shape)) return now(building(path, batchOf(keys, {width, stride}), shape));
  const made = create(path, unpublished(shape, {width, stride}));
  try {
    let added = 0;
    for (const list of batches(keys)) added += made.addMany(list);
    if (hasNoKey(added, made)) return now(ofNoKey(made, path, shape));
    checkCapacity(made, path, shape);
    made.publish();
  } catch (error) {
    made.abandon();
    throw error;
  }
  return made;
}

/** build() on another thread. The keys may be an async iterable, too: the lines of a readline interface, the rows of a
 * cursor. Those of an iterable are added on this thread, as they come, if an option gives the size.
 * @param {Path} path @param {Keys | AsyncIterable<Key>} keys @param {BuildOptions} [options] @returns {Promise<Filter>} */
export async function buildAsync(path, keys, options = NONE) {
  const {width, stride, ...shape} = plain(options);
  const coming = isAsyncIterable(keys) ? begun(keys) : undefined;
  if (!isStream(keys, shape)) {
    const all = coming === undefined ? keys : await arrayOf(coming);
    return later(building(path, lastingBatch(/** @type {Keys} */ (all), {width, stride}), shape));
  }
  let made;
  try {
    made = await createAsync(path, unpublished(shape, {width, stride}));
  } catch (error) {
    await coming?.return?.();
    throw error;
  }
  try {
    let added = 0;
    for await (const list of coming === undefined ? batches(/** @type {Iterable<Key>} */ (keys)) : batchesAsync(coming))
      added += made.addMany(list);
    if (hasNoKey(added, made)) return await later(ofNoKey(made, path, shape));
    checkCapacity(made, path, shape);
    await made.publishAsync();
  } catch (error) {
    made.abandon();
    throw error;
  }
  return made;
}

// --- Filters of other programs -------------------------------------------------------------------------------------------

/** Returns the names of all formats of other programs' filters that the library knows. capi/bfstore_interop.h describes
 * each. @returns {string[]} */
export function foreignFormats() {
  const names = [];
  for (let name; (name = lib.bfs_foreign_name(names.length)) !== null;) names.push(name);
  return names;
}

/** @param {Path} path @param {RecognizeOptions} options @returns {Generator<Call<number>, string[], number>} */
function* recognizing(path, options) {
  const {followSymlinks = true, ...others} = plain(options);
  const flags = setOptions(null, others, TAKEN.recognize) | linkFlag(followSymlinks);
  const file = pathBytes(path);
  const address = new BigUint64Array(1);
  const names = [];
  for (;;) {
    const index = names.length;
    yield {fn: "bfs_foreign_recognize", uses: [], args: () => [file, flags, index, address], ...subjectOf(path), finish: Number};
    if (address[0] === 0n) return names;
    names.push(textAt(pointerOf(address[0])));
  }
}

/** Returns the names of the foreign formats that all bytes of the file have: none, or several if the bytes do not tell which.
 * A format that needs numBits and numProbes from its caller is never among them.
 * @param {Path} path @param {RecognizeOptions} [options] @returns {string[]} */
export function recognizeForeign(path, options = NONE) {
  return stepsNow(recognizing(path, options));
}

/** recognizeForeign() on another thread. @param {Path} path @param {RecognizeOptions} [options] @returns {Promise<string[]>} */
export async function recognizeForeignAsync(path, options = NONE) {
  return stepsLater(recognizing(path, options));
}

/** @param {Path | number} path @param {string} format @param {OpenForeignOptions} options @returns {Call<Filter>} */
function inPlace(path, format, options) {
  const {order, column, member, followSymlinks = true, ...shape} = plain(options);
  const form = formOf(format, {order, column, member});
  const how = given(shape, TAKEN.foreign, linkFlag(followSymlinks));
  const {bytes, subject} = fileOf(path, how);
  const call = making("bfs_foreign_open", [bytes, form.bytes], how, subject, never);
  return {...call, kept: [call.kept, form]};
}

/** Asks a file of another program (or that of a descriptor, as a number) in place: maps it, and makes no file. The filter
 * only reads. The options give the facts that the bytes lack, as for importForeign(). If the file has several filters, a key
 * is in it if one of them has it.
 *
 * After a change of the file every answer is true, and `health` is "lost". A process that writes through a mapping of its own
 * shows that late or never: with `private` the filter asks a copy of its own.
 * @param {Path | number} path @param {string} format @param {OpenForeignOptions} [options] @returns {Filter} */
export function openForeign(path, format, options = NONE) {
  return now(inPlace(path, format, options));
}

/** openForeign() on another thread.
 * @param {Path | number} path @param {string} format @param {OpenForeignOptions} [options] @returns {Promise<Filter>} */
export async function openForeignAsync(path, format, options = NONE) {
  return later(inPlace(path, format, options));
}

/** Returns the facts in the bytes of another program's filter, without importing it. The first 64 KiB suffice. With
 * options of a filter it describes the filter that importForeign() would make.
 * @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options] @returns {Readonly<Foreign>} */
export function inspectForeign(data, format, options = NONE) {
  const {order, column, member, name, ...shape} = plain(options);
  const form = formOf(format, {order, column, member, name});
  const how = given(shape, TAKEN.create);
  const described = Object.values(shape).some((value) => value !== undefined) ? how.options.bytes : null;
  const found = new Struct("bfs_foreign");
  asBytes("data", data);
  return now({
    fn: "bfs_foreign_inspect", uses: [], args: () => [form.bytes, data, data.length, how.flags, described, found.bytes], kept: [form, how],
    name: name ?? "the foreign filter", finish: () => foreignOf(found),
  });
}

/** @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} options @returns {Call<Filter>} */
function importing(path, data, format, options) {
  const {order, column, member, name, ...shape} = plain(options);
  const form = formOf(format, {order, column, member, name});
  const call = making("bfs_foreign_import", [pathBytes(path), form.bytes, data, data.length], given(shape, TAKEN.create), subjectOf(path), always);
  return {...call, kept: [call.kept, form]};
}

/** Makes a filter file of the bytes of another program's filter, open for reading. It appears complete, or not at all.
 * The options are those of create(), if the bytes do not tell them. If the caller's options are wrong, the filter
 * answers false for keys that it has: so import with `unpublished: true`, look up keys that are known to be in it, and
 * then call publish().
 * @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options]
 * @returns {Filter} */
export function importForeign(path, data, format, options = NONE) {
  return now(importing(path, asBytes("data", data), format, options));
}

/** importForeign() on another thread, with a copy of the bytes, since their memory can be transferred at any time.
 * @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options]
 * @returns {Promise<Filter>} */
export async function importForeignAsync(path, data, format, options = NONE) {
  return later(importing(path, new Uint8Array(asBytes("data", data)), format, options));
}

// --- In memory -----------------------------------------------------------------------------------------------------------

/** Returns memory for format() and wrap(), at a multiple of 64: a Uint8Array in a SharedArrayBuffer, which workers
 * may share.
 * @param {number} bytes @returns {Uint8Array} */
export function alignedBuffer(bytes) {
  const room = new Uint8Array(new SharedArrayBuffer(unsigned("bytes", 2 ** 53, bytes) + ALIGNMENT));
  const start = (ALIGNMENT - addressOf(room) % ALIGNMENT) % ALIGNMENT;
  return room.subarray(start, start + bytes);
}

/** Checks that memory can stay: a filter in memory keeps it, but an ArrayBuffer can be transferred to another thread at
 * any time. @param {unknown} buffer @returns {Uint8Array} */
function lasting(buffer) {
  const bytes = asBytes("buffer", buffer);
  if (Object.prototype.toString.call(bytes.buffer) !== "[object SharedArrayBuffer]")
    throw wrongValue("the buffer of a filter is in a SharedArrayBuffer: see alignedBuffer()");
  return bytes;
}

/** Returns the bytes that format() needs for these options. @param {BufferOptions} options @returns {number} */
export function requiredBytes(options) {
  const {flags, options: how} = given(options, TAKEN.buffer);
  return now({
    fn: "bfs_format", uses: [], args: () => [null, 0, flags, how.bytes, null], kept: how, name: "a filter", finish: Number,
  });
}

/** Makes a new, empty filter in a buffer from alignedBuffer(). @param {Uint8Array} buffer
 * @param {BufferOptions} options
 * @returns {Filter} */
export function format(buffer, options) {
  return now(making("bfs_format", [lasting(buffer), buffer.length], given(options, TAKEN.buffer), {name: "the filter in a buffer"}, never, buffer));
}

/** Returns the call that opens a filter in memory. @param {Uint8Array} bytes @param {"r" | "r+"} mode @param {MemoryOptions} options
 * @param {number} flag @param {string} name @param {unknown} [memory] */
function openingMemory(bytes, mode, options, flag, name, memory) {
  const flags = modeFlags(mode) | flag;
  if (flags & BFS.CREATE) throw wrongValue(`mode is "r" (asks) or "r+" (also adds) in memory, not ${shown(mode)}`);
  const start = bytes.length === 0 ? alignedBuffer(1) : bytes; // C refuses a null pointer before it looks at the length
  return making("bfs_open_memory", [start, bytes.length], given(options, TAKEN.memory, flags), {name}, never, memory);
}

/** Opens the filter in a buffer from alignedBuffer(), in place. @param {Uint8Array} buffer @param {"r" | "r+"} [mode]
 * @param {MemoryOptions} [options] @returns {Filter} */
export function wrap(buffer, mode = "r", options = NONE) {
  return now(openingMemory(lasting(buffer), mode, options, 0, "the filter in a buffer", buffer));
}

/** Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed.
 * @param {Uint8Array} data
 * @param {"r" | "r+"} [mode] @param {MemoryOptions} [options] @returns {Filter} */
export function load(data, mode = "r", options = NONE) {
  return now(openingMemory(asBytes("data", data), mode, options, BFS.PRIVATE, "the loaded filter"));
}

// --- Files ---------------------------------------------------------------------------------------------------------------

/** @param {Path} path @param {{followSymlinks?: boolean}} options @returns {Generator<Call<number>, Range[], number>} */
function* verifying(path, {followSymlinks = true}) {
  const file = pathBytes(path);
  const flags = linkFlag(followSymlinks);
  const bytes = new Struct("bfs_range").layout.bytes;
  for (let most = RANGES_AT_FIRST; ;) {
    const room = Buffer.alloc(bytes * most);
    const capacity = most;
    const found = yield {fn: "bfs_verify", uses: [], args: () => [file, flags, room, capacity], ...subjectOf(path), finish: Number};
    if (found <= most) return structsOf("bfs_range", found, (to) => room.copy(to) && found, rangeOf);
    most = found;
  }
}

/** Returns the damaged ranges of a sealed file, ascending; none if it is unchanged.
 * @param {Path} path @param {{followSymlinks?: boolean}} [options] @returns {Range[]} */
export function verify(path, options = NONE) {
  return stepsNow(verifying(path, options));
}

/** verify() on another thread. @param {Path} path @param {{followSymlinks?: boolean}} [options] @returns {Promise<Range[]>} */
export async function verifyAsync(path, options = NONE) {
  return stepsLater(verifying(path, options));
}

/** @param {Iterable<Filter>} filters @returns {Filter[]} */
function listOfFilters(filters) {
  if (!isIterable(filters)) throw wrongType(`filters are a list of them, such as [a, b], not ${shown(filters)}`);
  return [...filters];
}

/** @param {string} fn @param {Iterable<Filter>} filters @param {Path} path @param {DeriveOptions} options @returns {Call<void>} */
function ofFilters(fn, filters, path, options) {
  const {flags, options: how} = given(options, TAKEN.derive);
  const uses = listOfFilters(filters);
  const to = pathBytes(path);
  return {
    fn, uses, kept: how, ...subjectOf(path), finish: nothing,
    args: (...handles) => [BigUint64Array.from(handles, BigInt), handles.length, to, flags, how.bytes],
  };
}

/** Makes a new file of the keys that each of the filters has.
 * @param {Iterable<Filter>} filters @param {Path} path @param {DeriveOptions} [options] */
export function intersect(filters, path, options = NONE) {
  now(ofFilters("bfs_intersect", filters, path, options));
}

/** intersect() on another thread.
 * @param {Iterable<Filter>} filters @param {Path} path @param {DeriveOptions} [options] @returns {Promise<void>} */
export async function intersectAsync(filters, path, options = NONE) {
  return later(ofFilters("bfs_intersect", filters, path, options));
}

/** Makes a new file of the whole filter. Each of its parts must occur once.
 * @param {Iterable<Filter>} parts @param {Path} path @param {DeriveOptions} [options] */
export function join(parts, path, options = NONE) {
  now(ofFilters("bfs_join", parts, path, options));
}

/** join() on another thread.
 * @param {Iterable<Filter>} parts @param {Path} path @param {DeriveOptions} [options] @returns {Promise<void>} */
export async function joinAsync(parts, path, options = NONE) {
  return later(ofFilters("bfs_join", parts, path, options));
}

/** @param {string} fn @param {Path[]} paths @param {DeltaOptions} options @returns {Call<void>} */
function ofPaths(fn, paths, options) {
  const {flags, options: how} = given(options, TAKEN.delta);
  const files = paths.map((path) => pathBytes(path));
  return {fn, uses: [], kept: how, ...subjectOf(paths[0]), finish: nothing, args: () => [...files, flags, how.bytes]};
}

/** Makes a small file of the bits that the file `after` has and `before` lacks. `after` is `before` with more keys, and both
 * are copies or sealed files of the layout blocked or classic.
 * @param {Path} before @param {Path} after @param {Path} delta @param {DeltaOptions} [options] */
export function makeDelta(before, after, delta, options = NONE) {
  now(ofPaths("bfs_make_delta", [before, after, delta], options));
}

/** makeDelta() on another thread.
 * @param {Path} before @param {Path} after @param {Path} delta @param {DeltaOptions} [options] @returns {Promise<void>} */
export async function makeDeltaAsync(before, after, delta, options = NONE) {
  return later(ofPaths("bfs_make_delta", [before, after, delta], options));
}

/** Makes the file `after` that the delta's maker had, of the file `before` from which the delta was made. With `replace` it may
 * be `before` itself.
 * @param {Path} before @param {Path} delta @param {Path} after @param {DeltaOptions} [options] */
export function applyDelta(before, delta, after, options = NONE) {
  now(ofPaths("bfs_apply_delta", [before, delta, after], options));
}

/** applyDelta() on another thread.
 * @param {Path} before @param {Path} delta @param {Path} after @param {DeltaOptions} [options] @returns {Promise<void>} */
export async function applyDeltaAsync(before, delta, after, options = NONE) {
  return later(ofPaths("bfs_apply_delta", [before, delta, after], options));
}

// --- Any of several ------------------------------------------------------------------------------------------------------

/** Returns how many filters may have the key; without answers at most 1.
 * @param {Iterable<Filter>} filters @param {Key} key @param {(count: number) => Uint8Array | null} answersOf  makes room for the answers */
function askAny(filters, key, answersOf) {
  const lives = listOfFilters(filters).map(lifeOf);
  const answers = answersOf(lives.length);
  place(key);
  const handles = BigUint64Array.from(lives, (life) => BigInt(handleOf(life)));
  const maybes = lib.bfs_contains_any(handles, handles.length, one.address, one.bytes, answers);
  if (maybes < 0) throw errorOfCode(maybes, {name: "one of several filters"});
  return maybes;
}

/** Returns whether any of the filters may have the key: lists from several sources, of this library or of other programs
 * (openForeign()). false is certain, of each of them. The key is hashed once for neighbors with the same hash and the same
 * seed or secret.
 * @param {Iterable<Filter>} filters @param {Key} key @returns {boolean} */
export function containsAny(filters, key) {
  return askAny(filters, key, () => null) !== 0;
}

/** Returns the numbers, from 0 and ascending, of the filters that may have the key. Asks as containsAny().
 * @param {Iterable<Filter>} filters @param {Key} key @returns {number[]} */
export function which(filters, key) {
  let answers = new Uint8Array(0);
  askAny(filters, key, (count) => answers = new Uint8Array(count));
  return Array.from(answers.keys()).filter((i) => answers[i] !== 0);
}

// --- Plans ---------------------------------------------------------------------------------------------------------------

/** Computes the other numbers from the given ones, without making a filter. @param {PlanOptions} options
 * @returns {Readonly<Plan>} */
export function plan(options) {
  const request = new Struct("bfs_plan_request");
  setOptions(request, options, TAKEN.plan);
  const found = new Struct("bfs_plan_result");
  return now({
    fn: "bfs_plan", uses: [], args: () => [request.bytes, found.bytes], name: "a plan", finish: () => planOf(found),
  });
}

// --- Bare filters ----------------------------------------------------------------------------------------------------------

/** Returns false if the bare filter in `data` was certainly built without the key; true for every doubt.
 * @param {Uint8Array} data @param {Key} key @returns {boolean} */
export function bareContains(data, key) {
  place(key);
  return lib.bfs_bare_contains(asBytes("data", data), data.length, one.address, one.bytes) !== 0;
}

/** bareContains() for a key's digest. @param {Uint8Array} data @param {bigint} digest @returns {boolean} */
export function bareContainsDigest(data, digest) {
  return lib.bfs_bare_contains_digest(asBytes("data", data), data.length, digestOf(digest)) !== 0;
}

/** Returns the bytes of a bare filter for this number of keys; 0 if no such filter exists.
 * @param {number | bigint} numKeys @param {number} bitsPerKey @param {{layout?: Layout}} [options] @returns {number} */
export function bareBytes(numKeys, bitsPerKey, {layout = "blocked"} = NONE) {
  if (typeof bitsPerKey !== "number") throw wrongType(`bitsPerKey is a number, not ${shown(bitsPerKey)}`);
  return Number(lib.bfs_bare_bytes(u64("numKeys", numKeys), bitsPerKey, numberNamed("layout", LAYOUTS, layout)));
}

/** @param {number} size @param {Batch} batch @param {Layout} layout @param {string} hash @returns {Uint8Array} */
function builtBare(size, batch, layout, hash) {
  const numbers = [numberNamed("layout", LAYOUTS, layout), numberNamed("hash", HASHES, hash)];
  const made = new Uint8Array(unsigned("size", 2 ** 53, size));
  held.what = batch;
  const code = lib.bfs_bare_build(made, made.length, ...numbers, batch.keys.bytes);
  held.what = null;
  if (code < 0) throw errorOfCode(code, {name: `a bare filter of ${made.length} bytes`});
  return made;
}

/** Returns a bare filter of these keys, exactly `size` bytes long (see bareBytes).
 * @param {number} size @param {Keys} keys @param {Width & {layout?: Layout}} [options] @returns {Uint8Array} */
export function bareBuild(size, keys, {layout = "blocked", ...width} = NONE) {
  return builtBare(size, batchOf(keys, width), layout, "xxh3");
}

/** Returns a bare filter of these digests, exactly `size` bytes long. @param {number} size @param {Digests} digests
 * @param {{layout?: Layout, hash?: "xxh3" | "external"}} [options] @returns {Uint8Array} */
export function bareBuildDigests(size, digests, {layout = "blocked", hash = "xxh3"} = NONE) {
  return builtBare(size, batchOfDigests(digests), layout, hash);
}

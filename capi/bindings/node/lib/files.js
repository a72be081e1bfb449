/* The functions of the package: making and opening filters, seals, sets, plans, bare filters. */
import {BFS} from "./abi.js";
import {held, later, now, stepsLater, stepsNow} from "./calls.js";
import {errorOfCode} from "./errors.js";
import {filterOf, structsOf} from "./filter.js";
import {batchOf, digestOf, digestsOf, one, place} from "./keys.js";
import {addressOf, lib, pointerOf} from "./library.js";
import {
  BUFFER_FLAGS, COPY_FLAGS, CREATE_FLAGS, HASHES, INTERSECT_FLAGS, LAYOUTS, MEMORY_FLAGS, OPEN_FLAGS, SET_FLAGS, TAKEN, formOf, modeFlags,
  nameOf, numberNamed, pathBytes, plain, setOptions, structOf,
} from "./options.js";
import {foreignOf, planOf, rangeOf} from "./results.js";
import {Struct, asBytes, shown, u64, unsigned} from "./struct.js";

/** @typedef {import("./filter.js").Filter} Filter */
/** @typedef {import("./keys.js").Key} Key */
/** @typedef {import("./keys.js").Keys} Keys */
/** @typedef {import("./keys.js").Digests} Digests */
/** @typedef {import("./keys.js").Width} Width */
/** @typedef {import("./options.js").Path} Path */
/** @typedef {import("./options.js").Layout} Layout */
/** @typedef {import("./options.js").CreateOptions} CreateOptions */
/** @typedef {import("./options.js").OpenOptions} OpenOptions */
/** @typedef {import("./options.js").BufferOptions} BufferOptions */
/** @typedef {import("./options.js").MemoryOptions} MemoryOptions */
/** @typedef {import("./options.js").CopyOptions} CopyOptions */
/** @typedef {import("./options.js").IntersectOptions} IntersectOptions */
/** @typedef {import("./options.js").PlanOptions} PlanOptions */
/** @typedef {import("./options.js").ForeignOptions} ForeignOptions */
/** @typedef {import("./results.js").Range} Range */
/** @typedef {import("./results.js").Plan} Plan */
/** @typedef {import("./results.js").Foreign} Foreign */
/** @template T @typedef {import("./calls.js").Call<T>} Call */

const NONE = {};
const ALIGNMENT = 64;
const RANGES_AT_FIRST = 100;
const nothing = () => {};

// --- Making and opening ------------------------------------------------------------------------------------------------

/** Makes a call that returns a new handle. @param {string} fn @param {unknown[]} words @param {Struct} how
 * @param {string} name @param {unknown} [memory] @returns {Call<Filter>} */
function making(fn, words, how, name, memory) {
  const out = new BigUint64Array(1);
  return {
    fn, uses: [], args: () => [...words, how.bytes, out], kept: [how, memory], name,
    finish: () => filterOf(pointerOf(out[0]), name, memory),
  };
}

/** @param {Path} path @param {CreateOptions} options @returns {Call<Filter>} */
const creating = (path, options) =>
  making("bfs_create", [pathBytes(path)], structOf("bfs_options", options, TAKEN.create, CREATE_FLAGS), nameOf(path));

/** @param {Path} path @param {number} part @param {number} numParts @param {CreateOptions} options @returns {Call<Filter>} */
function creatingPart(path, part, numParts, options) {
  for (const number of [part, numParts]) {
    if (!Number.isInteger(number) || number < 0 || number > 0xffffffff) throw new RangeError(`no part: ${part} of ${numParts}`);
  }
  const how = structOf("bfs_options", options, TAKEN.create, CREATE_FLAGS);
  const out = new BigUint64Array(1);
  const to = pathBytes(path);
  return {
    fn: "bfs_create_part", uses: [], args: () => [to, how.bytes, part, numParts, out], kept: how, name: nameOf(path),
    finish: () => filterOf(pointerOf(out[0]), nameOf(path), undefined),
  };
}

/** Makes one part, from 0, of the filter that the options describe: it takes only the keys of this part.
 * @param {Path} path @param {number} part @param {number} numParts @param {CreateOptions} options @returns {Filter} */
export function createPart(path, part, numParts, options) {
  return now(creatingPart(path, part, numParts, options));
}

/** createPart() on another thread.
 * @param {Path} path @param {number} part @param {number} numParts @param {CreateOptions} options @returns {Promise<Filter>} */
export async function createPartAsync(path, part, numParts, options) {
  return later(creatingPart(path, part, numParts, options));
}

/** Makes a new, empty filter file, open for writing. It appears complete and durable, or not at all. Give the size by
 * capacity and fpr (default 0.01), capacity and bitsPerKey, capacity and maxBytes, numBits and numProbes, or like.
 * @param {Path} path @param {CreateOptions} options @returns {Filter} */
export function create(path, options) {
  return now(creating(path, options));
}

/** create() on another thread. @param {Path} path @param {CreateOptions} options @returns {Promise<Filter>} */
export async function createAsync(path, options) {
  return later(creating(path, options));
}

/** @param {Path | number} path @param {"r" | "r+"} mode @param {OpenOptions} options @returns {Call<Filter>} */
function opening(path, mode, options) {
  const {exclusive, followSymlinks = true, ...others} = plain(options);
  if (typeof followSymlinks !== "boolean") throw new TypeError(`followSymlinks is true or false, not ${shown(followSymlinks)}`);
  const flags = modeFlags(mode, exclusive) | (followSymlinks ? 0 : BFS.OPEN_NOFOLLOW);
  const descriptor = typeof path === "number";
  const how = structOf("bfs_open_options", others, TAKEN.open, OPEN_FLAGS, flags | (descriptor ? BFS.OPEN_FD : 0));
  if (descriptor) how.set("fd", path, "a descriptor");
  return making("bfs_open_with", [descriptor ? null : pathBytes(path)], how, descriptor ? `descriptor ${path}` : nameOf(path));
}

/** @param {Path} manifest @param {OpenOptions} options @returns {Call<Filter>} */
function openingSet(manifest, options) {
  const {followSymlinks = true, ...others} = plain(options);
  if (typeof followSymlinks !== "boolean") throw new TypeError(`followSymlinks is true or false, not ${shown(followSymlinks)}`);
  const flags = BFS.OPEN_READ | (followSymlinks ? 0 : BFS.OPEN_NOFOLLOW);
  const how = structOf("bfs_open_options", others, TAKEN.set, SET_FLAGS, flags);
  return making("bfs_open_set", [pathBytes(manifest)], how, nameOf(manifest));
}

/** Opens the parts of one filter that a text file lists, for reading, as one filter that answers for every key. The
 * file begins with the line "bfstore-set 1"; then each line is the path of a part, relative to the file's folder. A
 * part that is not listed, or is in doubt, may have each of its keys. The options are those of open(), except offset,
 * maxBytes and follow.
 * @param {Path} manifest @param {OpenOptions} [options] @returns {Filter} */
export function openSet(manifest, options = NONE) {
  return now(openingSet(manifest, options));
}

/** openSet() on another thread. @param {Path} manifest @param {OpenOptions} [options] @returns {Promise<Filter>} */
export async function openSetAsync(manifest, options = NONE) {
  return later(openingSet(manifest, options));
}

/** Opens a filter file (or, for reading, the file of a descriptor, as a number). "r" only looks up; "r+" also adds,
 * concurrently with other writers.
 * @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Filter} */
export function open(path, mode = "r", options = NONE) {
  return now(opening(path, mode, options));
}

/** open() on another thread.
 * @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Promise<Filter>} */
export async function openAsync(path, mode = "r", options = NONE) {
  return later(opening(path, mode, options));
}

/** Returns the keys of build(), which are read once, and its options for create() and addMany(). @param {Keys} keys
 * @param {CreateOptions & Width} options @returns {{list: Keys, width: Width, shape: CreateOptions}} */
function building(keys, options) {
  const {width, stride, ...shape} = plain(options);
  const sized = shape.capacity ?? shape.numBits ?? shape.like;
  const list = isList(keys) ? Array.from(keys) : keys;
  const capacity = sized === undefined ? Math.max(1, batchOf(list, {width, stride}).count) : shape.capacity;
  return {list, width: {width, stride}, shape: {...shape, capacity, exclusive: true, unpublished: true}};
}

/** Makes a filter file of these keys, which appears when it is complete, and is open for reading. `capacity` is the
 * number of keys, if no option gives the size.
 * @param {Path} path @param {Keys} keys @param {CreateOptions & Width} [options] @returns {Filter} */
export function build(path, keys, options = NONE) {
  const {list, width, shape} = building(keys, options);
  const made = create(path, shape);
  try {
    made.addMany(list, width);
    made.publish();
  } catch (error) {
    made.abandon();
    throw error;
  }
  return made;
}

/** build(), which makes and publishes the file on another thread. It adds the keys on this one.
 * @param {Path} path @param {Keys} keys @param {CreateOptions & Width} [options] @returns {Promise<Filter>} */
export async function buildAsync(path, keys, options = NONE) {
  const {list, width, shape} = building(keys, options);
  const made = await createAsync(path, shape);
  try {
    made.addMany(list, width);
    await made.publishAsync();
  } catch (error) {
    made.abandon();
    throw error;
  }
  return made;
}

/** Returns whether the keys are an iterable that may be readable only once. @param {Keys} keys
 * @returns {keys is Iterable<Key>} */
const isList = (keys) =>
  typeof keys === "object" && keys !== null && Symbol.iterator in keys && !ArrayBuffer.isView(keys) && !Array.isArray(keys);

// --- Filters of other programs -------------------------------------------------------------------------------------------

/** Returns the names of the formats that importForeign() reads and Filter.exportForeign() writes: "raw", "jaybird", and
 * those of a later library.
 *
 * raw: only the bits. The caller describes them by `numBits` and `numProbes` (or `like`), `hash` and its seed or seeds,
 * and `order`.
 *
 * jaybird: the file that BloomFilter.tofile() of python-bloomfilter writes (pybloom, pybloom-live). Small filters need
 * the hash "jaybird", or "pybloom-live" if version 4 of pybloom-live or a later one made them. @returns {string[]} */
export function foreignFormats() {
  const names = [];
  for (let name; (name = lib.bfs_foreign_name(names.length)) !== null;) names.push(name);
  return names;
}

/** Returns the facts in the bytes of another program's filter, without importing it. The first 64 KiB suffice. With
 * options of a filter it describes the filter that importForeign() would make.
 * @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options] @returns {Readonly<Foreign>} */
export function inspectForeign(data, format, options = NONE) {
  const {order, name, ...shape} = plain(options);
  const form = formOf(format, {order, name});
  const given = Object.values(shape).some((value) => value !== undefined);
  const how = given ? structOf("bfs_options", shape, TAKEN.create, CREATE_FLAGS) : null;
  const found = new Struct("bfs_foreign");
  asBytes("data", data);
  return now({
    fn: "bfs_foreign_inspect", uses: [], args: () => [form.bytes, data, data.length, how && how.bytes, found.bytes], kept: [form, how],
    name: name ?? "the foreign filter", finish: () => foreignOf(found),
  });
}

/** @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} options @returns {Call<Filter>} */
function importing(path, data, format, options) {
  const {order, name, ...shape} = plain(options);
  const form = formOf(format, {order, name});
  const how = structOf("bfs_options", shape, TAKEN.create, CREATE_FLAGS);
  const words = [pathBytes(path), form.bytes, data, data.length];
  return {...making("bfs_foreign_import", words, how, nameOf(path)), kept: [how, form]};
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
    throw new TypeError("the buffer of a filter is in a SharedArrayBuffer: see alignedBuffer()");
  return bytes;
}

/** Returns the bytes that format() needs for these options. @param {BufferOptions} options @returns {number} */
export function requiredBytes(options) {
  const how = structOf("bfs_options", options, TAKEN.buffer, BUFFER_FLAGS);
  const bytes = new BigUint64Array(1);
  return now({
    fn: "bfs_required_bytes", uses: [], args: () => [how.bytes, bytes], kept: how, name: "a filter", finish: () => Number(bytes[0]),
  });
}

/** Makes a new, empty filter in a buffer from alignedBuffer(). @param {Uint8Array} buffer
 * @param {BufferOptions} options
 * @returns {Filter} */
export function format(buffer, options) {
  const how = structOf("bfs_options", options, TAKEN.buffer, BUFFER_FLAGS);
  return now(making("bfs_format", [lasting(buffer), buffer.length], how, "the filter in a buffer", buffer));
}

/** @param {"r" | "r+"} mode @param {MemoryOptions} options */
const memoryOptions = (mode, options) =>
  structOf("bfs_open_options", options, TAKEN.memory, MEMORY_FLAGS, modeFlags(mode, false));

/** Opens the filter in a buffer from alignedBuffer(), in place. @param {Uint8Array} buffer @param {"r" | "r+"} [mode]
 * @param {MemoryOptions} [options] @returns {Filter} */
export function wrap(buffer, mode = "r", options = NONE) {
  return now(making("bfs_wrap_with", [lasting(buffer), buffer.length], memoryOptions(mode, options), "the filter in a buffer", buffer));
}

/** Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed.
 * @param {Uint8Array} data
 * @param {"r" | "r+"} [mode] @param {MemoryOptions} [options] @returns {Filter} */
export function load(data, mode = "r", options = NONE) {
  return now(making("bfs_load", [asBytes("data", data), data.length], memoryOptions(mode, options), "the loaded filter"));
}

// --- Files ---------------------------------------------------------------------------------------------------------------

/** @param {Path} source @param {Path} to @param {CopyOptions} options @returns {Call<void>} */
function sealing(source, to, options) {
  const how = structOf("bfs_copy_options", options, TAKEN.copy, COPY_FLAGS);
  const paths = [pathBytes(source), pathBytes(to)];
  return {fn: "bfs_seal", uses: [], args: () => [...paths, how.bytes], kept: how, name: nameOf(source), finish: nothing};
}

/** Makes a sealed copy of a file, with checksums, that is never written to again. With replace, `to` may be `source`.
 * @param {Path} source @param {Path} to @param {CopyOptions} [options] */
export function seal(source, to, options = NONE) {
  now(sealing(source, to, options));
}

/** seal() on another thread. @param {Path} source @param {Path} to @param {CopyOptions} [options] @returns {Promise<void>} */
export async function sealAsync(source, to, options = NONE) {
  return later(sealing(source, to, options));
}

/** @param {Path} path @param {{followSymlinks?: boolean}} options @returns {Generator<Call<number>, Range[], number>} */
function* verifying(path, {followSymlinks = true}) {
  const file = pathBytes(path);
  const flags = followSymlinks ? 0 : BFS.OPEN_NOFOLLOW;
  const bytes = new Struct("bfs_range").layout.bytes;
  for (let most = RANGES_AT_FIRST; ;) {
    const room = Buffer.alloc(bytes * most);
    const capacity = most;
    const found = yield {fn: "bfs_verify", uses: [], args: () => [file, flags, room, capacity], name: nameOf(path), finish: Number};
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

/** @param {string} fn @param {Iterable<Filter>} filters @param {Path} path @param {IntersectOptions} options @returns {Call<void>} */
function ofFilters(fn, filters, path, options) {
  const how = structOf("bfs_copy_options", options, TAKEN.copy, INTERSECT_FLAGS);
  const uses = Array.from(filters);
  const to = pathBytes(path);
  return {
    fn, uses, kept: how, name: nameOf(path), finish: nothing,
    args: (...handles) => [BigUint64Array.from(handles, BigInt), handles.length, to, how.bytes],
  };
}

/** Makes a new file of the keys that each of the filters has.
 * @param {Iterable<Filter>} filters @param {Path} path @param {IntersectOptions} [options] */
export function intersect(filters, path, options = NONE) {
  now(ofFilters("bfs_intersect", filters, path, options));
}

/** intersect() on another thread.
 * @param {Iterable<Filter>} filters @param {Path} path @param {IntersectOptions} [options] @returns {Promise<void>} */
export async function intersectAsync(filters, path, options = NONE) {
  return later(ofFilters("bfs_intersect", filters, path, options));
}

/** Makes a new file of the whole filter. Each of its parts must occur once.
 * @param {Iterable<Filter>} parts @param {Path} path @param {IntersectOptions} [options] */
export function join(parts, path, options = NONE) {
  now(ofFilters("bfs_join", parts, path, options));
}

/** join() on another thread.
 * @param {Iterable<Filter>} parts @param {Path} path @param {IntersectOptions} [options] @returns {Promise<void>} */
export async function joinAsync(parts, path, options = NONE) {
  return later(ofFilters("bfs_join", parts, path, options));
}

/** Computes the other numbers from the given ones, without making a filter. @param {PlanOptions} options
 * @returns {Readonly<Plan>} */
export function plan(options) {
  const request = new Struct("bfs_plan_request");
  setOptions(request, options, TAKEN.plan, {});
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
  if (typeof bitsPerKey !== "number") throw new TypeError(`bitsPerKey is a number, not ${shown(bitsPerKey)}`);
  return Number(lib.bfs_bare_bytes(u64("numKeys", numKeys), bitsPerKey, numberNamed("layout", LAYOUTS, layout)));
}

/** @param {number} code @param {Uint8Array} made @returns {Uint8Array} */
function builtOrThrown(code, made) {
  held.what = null;
  if (code < 0) throw errorOfCode(code, `a bare filter of ${made.length} bytes`);
  return made;
}

/** Returns a bare filter of these keys, exactly `size` bytes long (see bareBytes).
 * @param {number} size @param {Keys} keys @param {Width & {layout?: Layout}} [options] @returns {Uint8Array} */
export function bareBuild(size, keys, {layout = "blocked", ...width} = NONE) {
  const number = numberNamed("layout", LAYOUTS, layout);
  const batch = batchOf(keys, width);
  const made = new Uint8Array(unsigned("size", 2 ** 53, size));
  held.what = batch;
  return builtOrThrown(lib.bfs_bare_build(made, made.length, number, batch.keys.bytes), made);
}

/** Returns a bare filter of these digests, exactly `size` bytes long. @param {number} size @param {Digests} digests
 * @param {{layout?: Layout, hash?: "xxh3" | "external"}} [options] @returns {Uint8Array} */
export function bareBuildDigests(size, digests, {layout = "blocked", hash = "xxh3"} = NONE) {
  const array = digestsOf(digests);
  const made = new Uint8Array(unsigned("size", 2 ** 53, size));
  const numbers = [numberNamed("layout", LAYOUTS, layout), numberNamed("hash", HASHES, hash)];
  return builtOrThrown(lib.bfs_bare_build_digests(made, made.length, ...numbers, array, array.length), made);
}

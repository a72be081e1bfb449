/* Options by their JavaScript names, and the fields and flags of the ABI that they become. */
import {fileURLToPath} from "node:url";
import {types} from "node:util";
import {BFS} from "./abi.js";
import {lib} from "./library.js";
import {Struct, asBytes, shown, u64, unsigned} from "./struct.js";
import {outOfRange, wrongType, wrongValue} from "./wrong.js";

/** A path, in a form of Node.js; bytes if a name is not UTF-8. @typedef {string | Buffer | URL} Path */
/** "counting" can remove keys; "static" is built once, from all keys; the keys of "window", "window-4" and "window-2" expire;
 * "growing" grows from capacity to capacityAtMost keys, in up to 5 slices of one file.
 * @typedef {"blocked" | "classic" | "counting" | "static" | "window" | "window-4" | "window-2" | "growing"} Layout */
/** "siphash" has a secret; "external" takes only digests; from "murmur3" on they are hashes of other programs.
 * @typedef {"xxh3" | "siphash" | "external" | "murmur3" | "murmur3-unsigned" | "java-polynomial" | "jaybird" | "pybloom-live" |
 *   "dcso" | "guava" | "guava-32" | "redisbloom" | "pybloomfilter" | "leveldb" | "rocksdb" |
 *   "parquet" | "bits-and-blooms" | "libbloom" | "rbloom" | "java-bytes"} Hash */
/** The bit of a byte that comes first. @typedef {"little" | "big"} BitOrder */

/** The size of the filter, and the places of its bits.
 * @typedef {object} ShapeOptions
 * @property {number | bigint} [capacity]  n: distinct keys
 * @property {number | bigint} [capacityAtMost]  instead of capacity, if nobody knows it: a number of keys that is surely
 *   enough. copy() with an fpr brings the filter to its size later
 * @property {number} [fpr]  p: the false-positive rate wanted at `capacity` keys (default 0.01)
 * @property {number} [bitsPerKey]  m / n, instead of fpr
 * @property {number | bigint} [maxBytes]  the size of the whole file, instead of fpr
 * @property {number | bigint} [numBits]  m, with numProbes
 * @property {number} [numProbes]  k: 1 to 64
 * @property {Path} [like]  a file with the shape, hash and seed to use
 * @property {Layout} [layout]  default: "blocked"; with a window "window"
 * @property {Hash} [hash]  default: "xxh3"
 * @property {number | bigint} [seed]  default: random
 * @property {readonly number[] | Uint32Array} [seeds]  for a hash that takes a list of them
 * @property {Uint8Array} [secret]  16 bytes, with the hash "siphash": for keys that strangers choose
 * @property {number} [window]  milliseconds for which a key is found after its last add, at least; then it is forgotten,
 *   if the program calls turn() from time to time. `capacity` is the number of keys of one window
 * @property {Uint8Array} [note]  at most 1,024 bytes for the owner
 * @property {Uint8Array} [fileId]  16 bytes; default: random
 * @property {boolean} [tutorialSizing]  m and k of most tutorials, from capacity and fpr
 */

/** Times: waits for locks, and checks for failed writes.
 * @typedef {object} TimeOptions
 * @property {number} [lockTimeout]  milliseconds for each lock: default 5000, 0 does not wait, Infinity. An exclusive
 *   writer is "BFS_EBUSY" at once
 * @property {number} [writebackCheck]  milliseconds between checks whether the kernel failed to write: default 100, 0:
 *   each add
 */

/** Part number `part`, from 0, of `numParts`: it takes only the keys of this part.
 * @typedef {{part?: number, numParts?: number}} PartOptions */

/** @typedef {object} MakingFlags
 * @property {number} [mode]  permission bits, less the umask: default those of the file that is replaced, or 0o600
 * @property {number} [threads]  1 to 64, of an exclusive writer's addMany() and of build()
 * @property {boolean} [populate]  reads the whole file into memory now
 * @property {boolean} [random]  small pages, no read-ahead: larger than memory, or synced often
 * @property {boolean} [guard]  a page that cannot be read is doubt, not SIGBUS
 * @property {boolean} [anyFilesystem]  also a network filesystem or a read-only overlay
 */
/** @typedef {{replace?: boolean}} ReplaceFlags  replaces an existing file, whose users learn of it */
/** @typedef {object} AddingFlags
 * @property {boolean} [exclusive]  the only writer: several times as fast
 * @property {boolean} [limit]  BFS_EFULL at the capacity, asked at every 64th key
 * @property {boolean} [filling]  a new file answers "maybe" until finishFilling()
 */
/** @typedef {{unpublished?: boolean}} PublishFlags  no name until publish() */
/** @typedef {ShapeOptions & PartOptions & TimeOptions & MakingFlags & ReplaceFlags & AddingFlags & PublishFlags} CreateOptions */
/** Options of build(). `width` and `stride` are for keys in a Uint8Array.
 * @typedef {ShapeOptions & PartOptions & TimeOptions & MakingFlags & ReplaceFlags & import("./keys.js").Width} BuildOptions */

/** @typedef {object} OpenFlags
 * @property {boolean} [exclusive]  "r+": the only writer, several times as fast
 * @property {number} [threads]  "r+" and exclusive: 1 to 64, of addMany()
 * @property {boolean} [followSymlinks]  default true; false: a symbolic link is an error
 * @property {Uint8Array} [secret]  for a filter with the hash "siphash": without it, or with another one, "BFS_ESECRET"
 * @property {{offset: number | bigint, bytes?: number | bigint}} [range]  "r": reads an embedded filter that begins at
 *   `offset` in a file of any other format, and has at most so many bytes
 * @property {boolean} [populate]  reads the whole file into memory now
 * @property {boolean} [random]  small pages, no read-ahead
 * @property {boolean} [private]  "r": into memory of this process, for files that others may damage
 * @property {boolean} [guard]  a page that cannot be read is doubt, not SIGBUS
 * @property {boolean} [recover]  "r+": an unclean, poisoned or recovering file, to recover it
 * @property {boolean} [acceptLoss]  "r+": such a file as it is
 * @property {boolean} [strict]  a file whose writer was killed is unclean, too
 * @property {boolean} [anyFilesystem]  also a network filesystem or a read-only overlay
 * @property {boolean} [limit]  "r+": BFS_EFULL at the capacity, asked at every 64th key
 * @property {boolean} [noWrite]  "r": writes nothing at all
 * @property {boolean} [follow]  "r": continues with the file that replaces this one, if that has the same hash and seed (make
 *   it with {like: path}); otherwise every answer stays true, and `health` is "superseded"
 * @property {boolean} [verify]  "r": compares a sealed file with its checksums first
 * @property {boolean} [tolerateDamage]  "r": also compares, and answers "maybe" where the file is damaged
 */
/** @typedef {OpenFlags & TimeOptions} OpenOptions */
/** Options of open() with "a": how the file is made if there is none, and how it is opened. Layout, hash, seed, secret,
 * part and window must be those of a file that is there; its size may be another one.
 * @typedef {ShapeOptions & PartOptions & TimeOptions & MakingFlags & AddingFlags
 *   & Pick<OpenFlags, "recover" | "acceptLoss" | "strict">} OpenOrCreateOptions */
/** "r" asks; "r+" also adds; "a" also makes the file if there is none, and "a+" is the same, since every handle asks.
 * @typedef {"r" | "r+" | "a" | "a+"} Mode */
/** For open() with a mode that the program chooses as it runs: what every mode takes.
 * @typedef {Pick<OpenOptions, keyof OpenOptions & keyof OpenOrCreateOptions>} AnyModeOptions */

/** Options to open a filter in memory. @typedef {{secret?: Uint8Array, bare?: boolean}} MemoryOptions */
/** @typedef {ShapeOptions & {exclusive?: boolean, threads?: number, bare?: boolean}} BufferOptions */

/** Options to make a new file of filters.
 * @typedef {object} DeriveOptions
 * @property {number} [mode]  permission bits, less the umask: default those of the file that is replaced, or 0o600
 * @property {boolean} [replace]  replaces an existing file
 * @property {boolean} [filling]  answers "maybe" until finishFilling()
 * @property {boolean} [anyFilesystem]
 * @property {number} [lockTimeout]  milliseconds for each lock
 */
/** Options of Filter.copy().
 * @typedef {Omit<DeriveOptions, "filling">} DeltaOptions
 *
 * @typedef {DeriveOptions & {sealed?: boolean, sameFileId?: boolean, fpr?: number}} CopyOptions  sealed: with checksums,
 *   and never written to again; fpr: as small as this rate allows */

/** The form of another program's filter.
 * @typedef {object} ForeignForm
 * @property {BitOrder} [order]  for formats that need it (Foreign.needs)
 * @property {string} [column]  its name, for formats that need it
 * @property {number} [member]  the number, from 1, of the only one of several filters that is meant; default: all of them
 * @property {string} [name]  of the bytes, in messages
 */
/** Options to import foreign bytes: the options of create() give the facts that the bytes lack.
 * @typedef {CreateOptions & ForeignForm} ForeignOptions */
/** Options to ask a foreign file in place: those of create() that give the facts that the bytes lack, and those of open().
 * @typedef {Omit<ShapeOptions, "window" | "note" | "fileId"> & Omit<ForeignForm, "name">
 *   & Pick<OpenFlags, "populate" | "random" | "guard" | "private" | "anyFilesystem" | "followSymlinks">} OpenForeignOptions */
/** @typedef {{followSymlinks?: boolean, anyFilesystem?: boolean}} RecognizeOptions */

/** The known numbers of a planned filter.
 * @typedef {Pick<ShapeOptions, "layout" | "capacity" | "fpr" | "bitsPerKey" | "maxBytes" | "numBits" | "numProbes">} PlanOptions */

/** Returns bfstore.h's numbers with this prefix, under the library's names for them.
 * @param {string} prefix @param {(number: number, name: string) => string} nameOf
 * @returns {Readonly<Record<string, number>>} */
export const numbersUnder = (prefix, nameOf) => Object.fromEntries(Object.entries(BFS)
  .filter(([name]) => name.startsWith(prefix)).map(([name, number]) => [nameOf(number, name.slice(prefix.length)), number]));

export const LAYOUTS = numbersUnder("LAYOUT_", (number) => lib.bfs_layout_name(number));
export const HASHES = numbersUnder("HASH_", (number) => lib.bfs_hash_name(number));
/** @type {Readonly<Record<BitOrder, number>>} */
export const ORDERS = {little: BFS.BITS_LITTLE, big: BFS.BITS_BIG};

/** @typedef {Readonly<Record<string, number>>} Flags */
/** Every flag that is an option. @type {Flags} */
const FLAGS = {
  exclusive: BFS.EXCLUSIVE, populate: BFS.POPULATE, random: BFS.RANDOM, private: BFS.PRIVATE, guard: BFS.GUARD, recover: BFS.RECOVER,
  acceptLoss: BFS.ACCEPT_LOSS, strict: BFS.STRICT, anyFilesystem: BFS.ANY_FILESYSTEM, limit: BFS.LIMIT, noWrite: BFS.NO_WRITE,
  follow: BFS.FOLLOW, verify: BFS.VERIFY, tolerateDamage: BFS.TOLERATE_DAMAGE, bare: BFS.BARE, replace: BFS.REPLACE,
  unpublished: BFS.UNPUBLISHED, filling: BFS.FILLING, sealed: BFS.SEALED, sameFileId: BFS.SAME_FILE_ID,
  tutorialSizing: BFS.TUTORIAL_SIZING, fill: BFS.STATS_FILL, memory: BFS.STATS_MEMORY,
};

/** What a function takes: fields of bfs_options, and flags. @typedef {{fields: readonly string[], flags: readonly string[]}} Taken */
const SIZES = ["capacity", "fpr", "bitsPerKey", "maxBytes", "numBits", "numProbes"];
const FORM = [...SIZES, "capacityAtMost", "layout", "like", "hash", "seed", "seeds", "secret"];
const SHAPE = [...FORM, "window", "note", "fileId"];
const MAKING = [...SHAPE, "mode", "lockTimeout", "writebackCheck", "threads", "part", "numParts"];
const MAP_FLAGS = ["populate", "random", "guard"];
const BUILD_FLAGS = [...MAP_FLAGS, "anyFilesystem", "replace", "tutorialSizing"];
const DERIVE_FLAGS = ["replace", "anyFilesystem", "filling"];
/** @type {Readonly<Record<"create" | "build" | "foreign" | "recognize" | "open" | "openOrCreate" | "buffer" | "memory" | "copy" | "derive" | "delta" | "plan" | "dump" | "stats", Taken>>} */
export const TAKEN = {
  create: {fields: MAKING, flags: [...BUILD_FLAGS, "exclusive", "limit", "unpublished", "filling"]},
  foreign: {fields: FORM, flags: [...MAP_FLAGS, "private", "anyFilesystem", "tutorialSizing"]},
  recognize: {fields: [], flags: ["anyFilesystem"]},
  build: {fields: MAKING, flags: BUILD_FLAGS},
  open: {
    fields: ["secret", "lockTimeout", "writebackCheck", "threads", "range"],
    flags: [...MAP_FLAGS, "private", "recover", "acceptLoss", "strict", "anyFilesystem", "limit", "noWrite", "follow", "verify", "tolerateDamage"],
  },
  openOrCreate: {
    fields: MAKING,
    flags: [...MAP_FLAGS, "recover", "acceptLoss", "strict", "anyFilesystem", "limit", "filling", "tutorialSizing"],
  },
  buffer: {fields: [...SHAPE, "threads"], flags: ["exclusive", "bare", "tutorialSizing"]},
  memory: {fields: ["secret"], flags: ["bare"]},
  copy: {fields: ["mode", "lockTimeout", "fpr"], flags: [...DERIVE_FLAGS, "sealed", "sameFileId"]},
  derive: {fields: ["mode", "lockTimeout"], flags: DERIVE_FLAGS},
  delta: {fields: ["mode", "lockTimeout"], flags: ["replace", "anyFilesystem"]},
  plan: {fields: [...SIZES, "layout"], flags: []},
  dump: {fields: [], flags: ["bare", "sameFileId"]},
  stats: {fields: [], flags: ["fill", "memory"]},
};

/** @param {string} what @param {Readonly<Record<string, number>>} names @param {unknown} name @returns {number} */
export function numberNamed(what, names, name) {
  if (typeof name !== "string" || !Object.hasOwn(names, name))
    throw wrongValue(`${what} is one of ${Object.keys(names).join(", ")}, not ${shown(name)}`);
  return names[name];
}

/** Returns the bytes of a path and a NUL. @param {unknown} path @returns {Buffer} */
export function pathBytes(path) {
  const said = path instanceof URL ? fileURLToPath(path) : path;
  if (typeof said === "string") {
    if (/\p{Surrogate}/u.test(said))
      throw wrongValue("a lone surrogate in a path: it is not valid Unicode. Say the path as a Buffer");
  } else if (!types.isUint8Array(said)) throw wrongType(`a path is a string, a Buffer or a file URL, not ${shown(path)}`);
  const bytes = typeof said === "string" ? Buffer.from(`${said}\0`) : Buffer.concat([asBytes("a path", said), Buffer.alloc(1)]);
  if (bytes.indexOf(0) !== bytes.length - 1) throw wrongValue("a path with a NUL");
  return bytes;
}

/** Returns what errors say of a file. @param {Path} path @returns {import("./errors.js").Subject} */
export function subjectOf(path) {
  const name = pathBytes(path).toString("utf8").slice(0, -1);
  return {name, path: name};
}

/** Returns a text of the caller and a NUL. @param {string} what @param {unknown} text @returns {Buffer} */
function textBytes(what, text) {
  if (typeof text !== "string") throw wrongType(`${what} is a string, not ${shown(text)}`);
  if (text.includes("\0")) throw wrongValue(`${what} with a NUL`);
  return Buffer.from(`${text}\0`);
}

/** @param {unknown} format @param {ForeignForm} said @returns {Struct} */
export function formOf(format, {order, name, column, member}) {
  const form = new Struct("bfs_foreign_form");
  form.set("format", textBytes("format", format));
  if (order !== undefined) form.set("order", numberNamed("order", ORDERS, order));
  if (name !== undefined) form.set("name", textBytes("name", name));
  if (column !== undefined) form.set("column", textBytes("column", column));
  if (member !== undefined) {
    if (unsigned("member", 2 ** 32, member) === 0) throw outOfRange("member is the number of a filter, from 1, not 0"); // to the library: all
    form.set("member", member);
  }
  return form;
}

/** Converts a time for the ABI, which has special numbers for 0 and for no limit: its 0 is the default.
 * @param {string} what @param {number} zero @param {number | undefined} infinite @param {unknown} value */
function milliseconds(what, zero, infinite, value) {
  if (typeof value !== "number") throw wrongType(`${what} is a number of milliseconds, not ${shown(value)}`);
  if (value === 0) return zero;
  if (value === Infinity && infinite !== undefined) return infinite;
  if (!(value > 0 && value <= 4e9)) throw outOfRange(`${what} is 0 to 4,000,000,000 milliseconds, not ${value}`);
  return Math.max(1, Math.round(value));
}

/** Returns the milliseconds of a window. To the library 0 is a filter without one. @param {unknown} value @returns {number} */
function windowOf(value) {
  if (typeof value !== "number") throw wrongType(`window is a number of milliseconds, not ${shown(value)}`);
  if (!(value >= 1 && value <= Number.MAX_SAFE_INTEGER)) throw outOfRange(`window is a number of milliseconds, 1 or more, not ${value}`);
  return Math.round(value);
}

/** @param {unknown} seeds @returns {Uint32Array} */
function seedsOf(seeds) {
  if (!Array.isArray(seeds) && !types.isUint32Array(seeds)) throw wrongType(`seeds are a list of numbers, not ${shown(seeds)}`);
  if (seeds.length === 0) throw outOfRange("seeds are at least one number; leave the option out for the usual ones");
  return Uint32Array.from(seeds, (seed) => unsigned("a seed", 2 ** 32, seed));
}

/** @param {unknown} range @returns {Struct} */
function rangeOf(range) {
  const {offset, bytes = 0, ...others} = /** @type {any} */ (plain(/** @type {object} */ (range)));
  for (const name of Object.keys(others)) throw wrongValue(`there is no ${JSON.stringify(name)} in a range`);
  const made = new Struct("bfs_range");
  made.set("offset", offset);
  made.set("bytes", bytes, "bytes of a range");
  return made;
}

/** Conversions of options that are not exactly one field.
 * @type {Record<string, (struct: Struct, value: any) => void>} */
const SETTERS = {
  layout: (struct, value) => struct.set("layout", numberNamed("layout", LAYOUTS, value)),
  hash: (struct, value) => struct.set("hash", numberNamed("hash", HASHES, value)),
  like: (struct, value) => struct.set("like", pathBytes(value)),
  note: (struct, value) => setBytes(struct, "note", "note", "note_bytes", value),
  seed: (struct, value) => struct.set("seed", BigUint64Array.of(u64("seed", value))),
  fileId: (struct, value) => struct.set("file_id", new Uint8Array(asBytes("fileId", value, 16))),
  range: (struct, value) => struct.set("range", rangeOf(value).bytes),
  threads: (struct, value) => {
    if (unsigned("threads", 2 ** 32, value) === 0) throw outOfRange("threads is 1 to 64, not 0"); // to the library: not given
    struct.set("threads", value);
  },
  secret: (struct, value) => setBytes(struct, "secret", "secret", "secret_bytes", asBytes("secret", value, 16)),
  seeds: (struct, value) => {
    const seeds = seedsOf(value);
    struct.set("seeds", seeds);
    struct.set("num_seeds", seeds.length);
  },
  lockTimeout: (struct, value) =>
    struct.set("lock_timeout_ms", milliseconds("lockTimeout", BFS.LOCK_NO_WAIT, BFS.LOCK_FOREVER, value)),
  window: (struct, value) => struct.set("window_ms", windowOf(value)),
  writebackCheck: (struct, value) =>
    struct.set("writeback_check_ms", milliseconds("writebackCheck", BFS.WRITEBACK_CHECK_EACH_ADD, undefined, value)),
};

/** @param {Struct} struct @param {string} what @param {string} pointer @param {string} bytes @param {unknown} value */
function setBytes(struct, what, pointer, bytes, value) {
  const copy = new Uint8Array(asBytes(what, value)); // an asynchronous call reads it later
  struct.set(pointer, copy);
  struct.set(bytes, copy.length);
}

/** Options that are exactly the field of this name. @type {Record<string, string>} */
const PLAIN = {
  mode: "mode", capacity: "capacity", capacityAtMost: "capacity_at_most", fpr: "fpr", bitsPerKey: "bits_per_key", maxBytes: "max_bytes", numBits: "num_bits",
  numProbes: "num_probes", part: "part", numParts: "num_parts",
};

/** Sizes of which the library takes 0 for "not given". */
const SIZES_ABOVE_0 = ["capacity", "capacityAtMost", "maxBytes", "numBits", "numProbes"];

/** @param {Struct} struct @param {string} name @param {unknown} value */
function setOption(struct, name, value) {
  if (SIZES_ABOVE_0.includes(name) && (typeof value === "bigint" || Number.isInteger(value)) && Number(value) < 1)
    throw outOfRange(`${name} is at least 1, not ${value}`);
  if (name === "fpr" && typeof value === "number" && !(value > 0 && value < 1))
    throw outOfRange(`fpr is above 0 and below 1, such as 0.01, not ${value}`);
  if (name === "bitsPerKey" && typeof value === "number" && !(value > 0 && value < Infinity))
    throw outOfRange(`bitsPerKey is above 0, such as 10, not ${value}`);
  if (name === "mode" && typeof value === "string" && /^[0-7]{3,4}$/.test(value))
    throw wrongType(`mode is an integer, not ${shown(value)}; say 0o${value.replace(/^0/, "")}`);
  if (name in SETTERS) SETTERS[name](struct, value);
  else struct.set(PLAIN[name], value, name);
}

/** @param {string} name @param {unknown} value @returns {number} */
function flagOf(name, value) {
  if (typeof value !== "boolean") throw wrongType(`${name} is true or false, not ${shown(value)}`);
  return value ? FLAGS[name] : 0;
}

/** Returns the options if they are own properties of an object: those of a Map, or of a prototype, would be ignored.
 * @template {object} T @param {T} options @returns {T} */
export function plain(options) {
  if (typeof options !== "object" || options === null) throw wrongType(`options are an object, not ${shown(options)}`);
  const prototype = Object.getPrototypeOf(options);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw wrongType(`options are an object with properties of its own, not ${shown(options)}`);
  return options;
}

/** Returns whether two names differ by one or two letters: a letter too many, too few, or another one.
 * @param {string} a @param {string} b */
function isNear(a, b) {
  let row = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
  }
  return row[b.length] <= Math.min(2, a.length / 3);
}

/** Returns the end of a refusal: where the option is taken, if open() takes it with another mode, or create().
 * @param {string} name @param {Taken} taken @returns {string} */
function elsewhere(name, taken) {
  const takes = (/** @type {Taken} */ {fields, flags}) => fields.includes(name) || flags.includes(name);
  if (taken === TAKEN.open) {
    if (takes(TAKEN.openOrCreate)) return ': it is for mode "a", which makes the file if there is none';
    if (takes(TAKEN.create)) return ": it is for create(), which makes a new file";
  }
  if (taken === TAKEN.openOrCreate) {
    if (takes(TAKEN.open)) return ': it is for the modes "r" and "r+"';
    if (takes(TAKEN.create)) return ": it is for create(), which makes a new file";
  }
  if (taken === TAKEN.create && takes(TAKEN.openOrCreate)) return ': it is for open() with mode "a"';
  const near = [...taken.fields, ...taken.flags].find((own) => isNear(own.toLowerCase(), name.toLowerCase()));
  return near === undefined ? "" : `. Did you mean ${near}?`;
}

/** Fills in the fields, and returns the flags. undefined means "not given".
 * @param {Struct | null} struct @param {object} options @param {Taken} taken @returns {number} */
export function setOptions(struct, options, taken) {
  const {fields, flags} = taken;
  let bits = 0;
  for (const [name, value] of Object.entries(plain(options))) {
    if (value === undefined) continue;
    if (flags.includes(name)) bits |= flagOf(name, value);
    else if (struct !== null && fields.includes(name)) setOption(struct, name, value);
    else throw wrongValue(`there is no option ${JSON.stringify(name)} here${elsewhere(name, taken)}`);
  }
  return bits;
}

/** Flags and bfs_options, as a call of the library gets them. @typedef {{flags: number, options: Struct}} Given */

/** @param {object} options @param {Taken} taken @param {number} [more]  flags @returns {Given} */
export function given(options, taken, more = 0) {
  const made = new Struct("bfs_options");
  return {flags: setOptions(made, options, taken) | more, options: made};
}

/** Returns the flag of `followSymlinks`. @param {unknown} follow @returns {number} */
export function linkFlag(follow) {
  if (typeof follow !== "boolean") throw wrongType(`followSymlinks is true or false, not ${shown(follow)}`);
  return follow ? 0 : BFS.NOFOLLOW;
}

const WRITING = {"r+": 0, a: BFS.CREATE, "a+": BFS.CREATE};

/** Returns the flags of a mode. @param {unknown} mode @param {unknown} [exclusive] */
export function modeFlags(mode, exclusive) {
  if (exclusive !== undefined && typeof exclusive !== "boolean")
    throw wrongType(`exclusive is true or false, not ${shown(exclusive)}`);
  if (mode === "r" && exclusive) throw wrongValue('exclusive is for writing: mode "r+" or "a"');
  if (mode === "r") return BFS.READ;
  if (typeof mode === "string" && Object.hasOwn(WRITING, mode))
    return WRITING[/** @type {keyof WRITING} */ (mode)] | (exclusive ? BFS.EXCLUSIVE : BFS.WRITE);
  if (typeof mode === "object" && mode !== null) throw wrongValue('options are the third argument, after the mode: open(path, "a", {capacity: 1000})');
  throw wrongValue(
    `mode is "r" (asks), "r+" (also adds) or "a" (also makes the file if there is none), not ${shown(mode)}. ` +
    "To replace a file, create() it with replace: true");
}

/** Makes a new, empty filter file, open for writing. It appears complete and durable, or not at all. Give the size by
 * capacity and fpr (default 0.01), capacity and bitsPerKey, capacity and maxBytes, numBits and numProbes, or like. To
 * continue with a file that is there, use open() with "a".
 * @param {Path} path @param {CreateOptions} options @returns {Filter} */
export function create(path: Path, options: CreateOptions): Filter;
/** create() on another thread. @param {Path} path @param {CreateOptions} options @returns {Promise<Filter>} */
export function createAsync(path: Path, options: CreateOptions): Promise<Filter>;
/** Opens a filter file (or, for reading, the file of a descriptor, as a number). "r" only asks; "r+" also adds,
 * concurrently with other writers.
 *
 * For reading, the path may also name a text file that lists the parts of one filter, which answers for every key then:
 * the line "bfstore-set 1", and then the path of a part in each line, relative to the file's folder. A part that is not
 * listed, or is in doubt, may have each of its keys. A list does not go with `follow`.
 * @overload @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Filter} */
export function open(path: Path | number, mode?: "r" | "r+" | undefined, options?: import("./options.js").OpenOptions | undefined): Filter;
/** Opens a filter file for adding, or makes it if there is none: Filter.created tells which. Any number of processes may
 * do so at once, and one of them makes the file. No file is ever replaced, and no option changes one that is there.
 * @overload @param {Path} path @param {"a" | "a+"} mode @param {OpenOrCreateOptions} [options] @returns {Filter} */
export function open(path: Path, mode: "a" | "a+", options?: import("./options.js").OpenOrCreateOptions | undefined): Filter;
/** Opens a filter file with a mode that the program chooses as it runs, and the options that every mode takes.
 * @overload @param {Path} path @param {Mode} mode @param {AnyModeOptions} [options] @returns {Filter} */
export function open(path: Path, mode: Mode, options?: import("./options.js").AnyModeOptions | undefined): Filter;
/** open() on another thread.
 * @overload @param {Path | number} path @param {"r" | "r+"} [mode] @param {OpenOptions} [options] @returns {Promise<Filter>} */
export function openAsync(path: Path | number, mode?: "r" | "r+" | undefined, options?: import("./options.js").OpenOptions | undefined): Promise<Filter>;
/** open() with "a" on another thread.
 * @overload @param {Path} path @param {"a" | "a+"} mode @param {OpenOrCreateOptions} [options] @returns {Promise<Filter>} */
export function openAsync(path: Path, mode: "a" | "a+", options?: import("./options.js").OpenOrCreateOptions | undefined): Promise<Filter>;
/** open() with a mode that the program chooses as it runs, on another thread.
 * @overload @param {Path} path @param {Mode} mode @param {AnyModeOptions} [options] @returns {Promise<Filter>} */
export function openAsync(path: Path, mode: Mode, options?: import("./options.js").AnyModeOptions | undefined): Promise<Filter>;
/** Makes a filter file of these keys, which appears when it is complete, and is open for reading. If no option gives the
 * size, `capacity` is the number of the keys. If one does, an iterable is read part by part: all of its keys need never be in
 * memory at once. So it is for the layout "static", too: its `capacity` is the number of different keys, if no option gives it.
 * More keys than a capacity that is given are the error "BFS_EFULL".
 * @param {Path} path @param {Keys} keys @param {BuildOptions} [options] @returns {Filter} */
export function build(path: Path, keys: Keys, options?: BuildOptions): Filter;
/** build() on another thread. The keys may be an async iterable, too: the lines of a readline interface, the rows of a
 * cursor. Those of an iterable are added on this thread, as they come, if an option gives the size.
 * @param {Path} path @param {Keys | AsyncIterable<Key>} keys @param {BuildOptions} [options] @returns {Promise<Filter>} */
export function buildAsync(path: Path, keys: Keys | AsyncIterable<Key>, options?: BuildOptions): Promise<Filter>;
/** Returns the names of all formats of other programs' filters that the library knows. capi/bfstore_interop.h describes
 * each. @returns {string[]} */
export function foreignFormats(): string[];
/** Returns the names of the foreign formats that all bytes of the file have: none, or several if the bytes do not tell which.
 * A format that needs numBits and numProbes from its caller is never among them.
 * @param {Path} path @param {RecognizeOptions} [options] @returns {string[]} */
export function recognizeForeign(path: Path, options?: RecognizeOptions): string[];
/** recognizeForeign() on another thread. @param {Path} path @param {RecognizeOptions} [options] @returns {Promise<string[]>} */
export function recognizeForeignAsync(path: Path, options?: RecognizeOptions): Promise<string[]>;
/** Asks a file of another program (or that of a descriptor, as a number) in place: maps it, and makes no file. The filter
 * only reads. The options give the facts that the bytes lack, as for importForeign(). If the file has several filters, a key
 * is in it if one of them has it.
 *
 * After a change of the file every answer is true, and `health` is "lost". A process that writes through a mapping of its own
 * shows that late or never: with `private` the filter asks a copy of its own.
 * @param {Path | number} path @param {string} format @param {OpenForeignOptions} [options] @returns {Filter} */
export function openForeign(path: Path | number, format: string, options?: OpenForeignOptions): Filter;
/** openForeign() on another thread.
 * @param {Path | number} path @param {string} format @param {OpenForeignOptions} [options] @returns {Promise<Filter>} */
export function openForeignAsync(path: Path | number, format: string, options?: OpenForeignOptions): Promise<Filter>;
/** Returns the facts in the bytes of another program's filter, without importing it. The first 64 KiB suffice. With
 * options of a filter it describes the filter that importForeign() would make.
 * @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options] @returns {Readonly<Foreign>} */
export function inspectForeign(data: Uint8Array, format: string, options?: ForeignOptions): Readonly<Foreign>;
/** Makes a filter file of the bytes of another program's filter, open for reading. It appears complete, or not at all.
 * The options are those of create(), if the bytes do not tell them. If the caller's options are wrong, the filter
 * answers false for keys that it has: so import with `unpublished: true`, look up keys that are known to be in it, and
 * then call publish().
 * @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options]
 * @returns {Filter} */
export function importForeign(path: Path, data: Uint8Array, format: string, options?: ForeignOptions): Filter;
/** importForeign() on another thread, with a copy of the bytes, since their memory can be transferred at any time.
 * @param {Path} path @param {Uint8Array} data @param {string} format @param {ForeignOptions} [options]
 * @returns {Promise<Filter>} */
export function importForeignAsync(path: Path, data: Uint8Array, format: string, options?: ForeignOptions): Promise<Filter>;
/** Returns memory for format() and wrap(), at a multiple of 64: a Uint8Array in a SharedArrayBuffer, which workers
 * may share.
 * @param {number} bytes @returns {Uint8Array} */
export function alignedBuffer(bytes: number): Uint8Array;
/** Returns the bytes that format() needs for these options. @param {BufferOptions} options @returns {number} */
export function requiredBytes(options: BufferOptions): number;
/** Makes a new, empty filter in a buffer from alignedBuffer(). @param {Uint8Array} buffer
 * @param {BufferOptions} options
 * @returns {Filter} */
export function format(buffer: Uint8Array, options: BufferOptions): Filter;
/** Opens the filter in a buffer from alignedBuffer(), in place. @param {Uint8Array} buffer @param {"r" | "r+"} [mode]
 * @param {MemoryOptions} [options] @returns {Filter} */
export function wrap(buffer: Uint8Array, mode?: "r" | "r+", options?: MemoryOptions): Filter;
/** Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed.
 * @param {Uint8Array} data
 * @param {"r" | "r+"} [mode] @param {MemoryOptions} [options] @returns {Filter} */
export function load(data: Uint8Array, mode?: "r" | "r+", options?: MemoryOptions): Filter;
/** Returns the damaged ranges of a sealed file, ascending; none if it is unchanged.
 * @param {Path} path @param {{followSymlinks?: boolean}} [options] @returns {Range[]} */
export function verify(path: Path, options?: {
    followSymlinks?: boolean;
}): Range[];
/** verify() on another thread. @param {Path} path @param {{followSymlinks?: boolean}} [options] @returns {Promise<Range[]>} */
export function verifyAsync(path: Path, options?: {
    followSymlinks?: boolean;
}): Promise<Range[]>;
/** Makes a new file of the keys that each of the filters has.
 * @param {Iterable<Filter>} filters @param {Path} path @param {DeriveOptions} [options] */
export function intersect(filters: Iterable<Filter>, path: Path, options?: DeriveOptions): void;
/** intersect() on another thread.
 * @param {Iterable<Filter>} filters @param {Path} path @param {DeriveOptions} [options] @returns {Promise<void>} */
export function intersectAsync(filters: Iterable<Filter>, path: Path, options?: DeriveOptions): Promise<void>;
/** Makes a new file of the whole filter. Each of its parts must occur once.
 * @param {Iterable<Filter>} parts @param {Path} path @param {DeriveOptions} [options] */
export function join(parts: Iterable<Filter>, path: Path, options?: DeriveOptions): void;
/** join() on another thread.
 * @param {Iterable<Filter>} parts @param {Path} path @param {DeriveOptions} [options] @returns {Promise<void>} */
export function joinAsync(parts: Iterable<Filter>, path: Path, options?: DeriveOptions): Promise<void>;
/** Makes a small file of the bits that the file `after` has and `before` lacks. `after` is `before` with more keys, and both
 * are copies or sealed files of the layout blocked or classic.
 * @param {Path} before @param {Path} after @param {Path} delta @param {DeltaOptions} [options] */
export function makeDelta(before: Path, after: Path, delta: Path, options?: DeltaOptions): void;
/** makeDelta() on another thread.
 * @param {Path} before @param {Path} after @param {Path} delta @param {DeltaOptions} [options] @returns {Promise<void>} */
export function makeDeltaAsync(before: Path, after: Path, delta: Path, options?: DeltaOptions): Promise<void>;
/** Makes the file `after` that the delta's maker had, of the file `before` from which the delta was made. With `replace` it may
 * be `before` itself.
 * @param {Path} before @param {Path} delta @param {Path} after @param {DeltaOptions} [options] */
export function applyDelta(before: Path, delta: Path, after: Path, options?: DeltaOptions): void;
/** applyDelta() on another thread.
 * @param {Path} before @param {Path} delta @param {Path} after @param {DeltaOptions} [options] @returns {Promise<void>} */
export function applyDeltaAsync(before: Path, delta: Path, after: Path, options?: DeltaOptions): Promise<void>;
/** Returns whether any of the filters may have the key: lists from several sources, of this library or of other programs
 * (openForeign()). false is certain, of each of them. The key is hashed once for neighbors with the same hash and the same
 * seed or secret.
 * @param {Iterable<Filter>} filters @param {Key} key @returns {boolean} */
export function containsAny(filters: Iterable<Filter>, key: Key): boolean;
/** Returns the numbers, from 0 and ascending, of the filters that may have the key. Asks as containsAny().
 * @param {Iterable<Filter>} filters @param {Key} key @returns {number[]} */
export function which(filters: Iterable<Filter>, key: Key): number[];
/** Computes the other numbers from the given ones, without making a filter. @param {PlanOptions} options
 * @returns {Readonly<Plan>} */
export function plan(options: PlanOptions): Readonly<Plan>;
/** Returns false if the bare filter in `data` was certainly built without the key; true for every doubt.
 * @param {Uint8Array} data @param {Key} key @returns {boolean} */
export function bareContains(data: Uint8Array, key: Key): boolean;
/** bareContains() for a key's digest. @param {Uint8Array} data @param {bigint} digest @returns {boolean} */
export function bareContainsDigest(data: Uint8Array, digest: bigint): boolean;
/** Returns the bytes of a bare filter for this number of keys; 0 if no such filter exists.
 * @param {number | bigint} numKeys @param {number} bitsPerKey @param {{layout?: Layout}} [options] @returns {number} */
export function bareBytes(numKeys: number | bigint, bitsPerKey: number, { layout }?: {
    layout?: Layout;
}): number;
/** Returns a bare filter of these keys, exactly `size` bytes long (see bareBytes).
 * @param {number} size @param {Keys} keys @param {Width & {layout?: Layout}} [options] @returns {Uint8Array} */
export function bareBuild(size: number, keys: Keys, { layout, ...width }?: Width & {
    layout?: Layout;
}): Uint8Array;
/** Returns a bare filter of these digests, exactly `size` bytes long. @param {number} size @param {Digests} digests
 * @param {{layout?: Layout, hash?: "xxh3" | "external"}} [options] @returns {Uint8Array} */
export function bareBuildDigests(size: number, digests: Digests, { layout, hash }?: {
    layout?: Layout;
    hash?: "xxh3" | "external";
}): Uint8Array;
export type Filter = import("./filter.js").Filter;
export type Key = import("./keys.js").Key;
export type Keys = import("./keys.js").Keys;
export type Digests = import("./keys.js").Digests;
export type Width = import("./keys.js").Width;
export type Batch = import("./keys.js").Batch;
export type Path = import("./options.js").Path;
export type Layout = import("./options.js").Layout;
export type CreateOptions = import("./options.js").CreateOptions;
export type BuildOptions = import("./options.js").BuildOptions;
export type OpenOptions = import("./options.js").OpenOptions;
export type OpenOrCreateOptions = import("./options.js").OpenOrCreateOptions;
export type Mode = import("./options.js").Mode;
export type AnyModeOptions = import("./options.js").AnyModeOptions;
export type BufferOptions = import("./options.js").BufferOptions;
export type MemoryOptions = import("./options.js").MemoryOptions;
export type DeriveOptions = import("./options.js").DeriveOptions;
export type DeltaOptions = import("./options.js").DeltaOptions;
export type Given = import("./options.js").Given;
export type PlanOptions = import("./options.js").PlanOptions;
export type ForeignOptions = import("./options.js").ForeignOptions;
export type OpenForeignOptions = import("./options.js").OpenForeignOptions;
export type RecognizeOptions = import("./options.js").RecognizeOptions;
export type Range = import("./results.js").Range;
export type Plan = import("./results.js").Plan;
export type Foreign = import("./results.js").Foreign;
export type Call<T> = import("./calls.js").Call<T>;

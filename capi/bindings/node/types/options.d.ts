/** @param {string} what @param {Readonly<Record<string, number>>} names @param {unknown} name @returns {number} */
export function numberNamed(what: string, names: Readonly<Record<string, number>>, name: unknown): number;
/** Returns the bytes of a path and a NUL. @param {unknown} path @returns {Buffer} */
export function pathBytes(path: unknown): Buffer;
/** Returns what errors say of a file. @param {Path} path @returns {import("./errors.js").Subject} */
export function subjectOf(path: Path): import("./errors.js").Subject;
/** @param {unknown} format @param {ForeignForm} said @returns {Struct} */
export function formOf(format: unknown, { order, name, column, member }: ForeignForm): Struct;
/** Returns the options if they are own properties of an object: those of a Map, or of a prototype, would be ignored.
 * @template {object} T @param {T} options @returns {T} */
export function plain<T extends object>(options: T): T;
/** Fills in the fields, and returns the flags. undefined means "not given".
 * @param {Struct | null} struct @param {object} options @param {Taken} taken @returns {number} */
export function setOptions(struct: Struct | null, options: object, taken: Taken): number;
/** Flags and bfs_options, as a call of the library gets them. @typedef {{flags: number, options: Struct}} Given */
/** @param {object} options @param {Taken} taken @param {number} [more]  flags @returns {Given} */
export function given(options: object, taken: Taken, more?: number): Given;
/** Returns the flag of `followSymlinks`. @param {unknown} follow @returns {number} */
export function linkFlag(follow: unknown): number;
/** Returns the flags of a mode. @param {unknown} mode @param {unknown} [exclusive] */
export function modeFlags(mode: unknown, exclusive?: unknown): number;
export function numbersUnder(prefix: string, nameOf: (number: number, name: string) => string): Readonly<Record<string, number>>;
export const LAYOUTS: Readonly<Record<string, number>>;
export const HASHES: Readonly<Record<string, number>>;
/** @type {Readonly<Record<BitOrder, number>>} */
export const ORDERS: Readonly<Record<BitOrder, number>>;
/** @type {Readonly<Record<"create" | "build" | "foreign" | "recognize" | "open" | "openOrCreate" | "buffer" | "memory" | "copy" | "derive" | "delta" | "plan" | "dump" | "stats", Taken>>} */
export const TAKEN: Readonly<Record<"create" | "build" | "foreign" | "recognize" | "open" | "openOrCreate" | "buffer" | "memory" | "copy" | "derive" | "delta" | "plan" | "dump" | "stats", Taken>>;
/**
 * Flags and bfs_options, as a call of the library gets them.
 */
export type Given = {
    flags: number;
    options: Struct;
};
/**
 * A path, in a form of Node.js; bytes if a name is not UTF-8.
 */
export type Path = string | Buffer | URL;
/**
 * "counting" can remove keys; "static" is built once, from all keys; the keys of "window", "window-4" and "window-2" expire;
 * "growing" grows from capacity to capacityAtMost keys, in up to 5 slices of one file.
 */
export type Layout = "blocked" | "classic" | "counting" | "static" | "window" | "window-4" | "window-2" | "growing";
/**
 * "siphash" has a secret; "external" takes only digests; from "murmur3" on they are hashes of other programs.
 */
export type Hash = "xxh3" | "siphash" | "external" | "murmur3" | "murmur3-unsigned" | "java-polynomial" | "jaybird" | "pybloom-live" | "dcso" | "guava" | "guava-32" | "redisbloom" | "pybloomfilter" | "leveldb" | "rocksdb" | "parquet" | "bits-and-blooms" | "libbloom" | "rbloom" | "java-bytes";
/**
 * The bit of a byte that comes first.
 */
export type BitOrder = "little" | "big";
/**
 * The size of the filter, and the places of its bits.
 */
export type ShapeOptions = {
    /**
     * n: distinct keys
     */
    capacity?: number | bigint | undefined;
    /**
     * instead of capacity, if nobody knows it: a number of keys that is surely
     * enough. copy() with an fpr brings the filter to its size later
     */
    capacityAtMost?: number | bigint | undefined;
    /**
     * p: the false-positive rate wanted at `capacity` keys (default 0.01)
     */
    fpr?: number | undefined;
    /**
     * m / n, instead of fpr
     */
    bitsPerKey?: number | undefined;
    /**
     * the size of the whole file, instead of fpr
     */
    maxBytes?: number | bigint | undefined;
    /**
     * m, with numProbes
     */
    numBits?: number | bigint | undefined;
    /**
     * k: 1 to 64
     */
    numProbes?: number | undefined;
    /**
     * a file with the shape, hash and seed to use
     */
    like?: Path | undefined;
    /**
     * default: "blocked"; with a window "window"
     */
    layout?: Layout | undefined;
    /**
     * default: "xxh3"
     */
    hash?: Hash | undefined;
    /**
     * default: random
     */
    seed?: number | bigint | undefined;
    /**
     * for a hash that takes a list of them
     */
    seeds?: Uint32Array<ArrayBufferLike> | readonly number[] | undefined;
    /**
     * 16 bytes, with the hash "siphash": for keys that strangers choose
     */
    secret?: Uint8Array<ArrayBufferLike> | undefined;
    /**
     * milliseconds for which a key is found after its last add, at least; then it is forgotten,
     * if the program calls turn() from time to time. `capacity` is the number of keys of one window
     */
    window?: number | undefined;
    /**
     * at most 1,024 bytes for the owner
     */
    note?: Uint8Array<ArrayBufferLike> | undefined;
    /**
     * 16 bytes; default: random
     */
    fileId?: Uint8Array<ArrayBufferLike> | undefined;
    /**
     * m and k of most tutorials, from capacity and fpr
     */
    tutorialSizing?: boolean | undefined;
};
/**
 * Times: waits for locks, and checks for failed writes.
 */
export type TimeOptions = {
    /**
     * milliseconds for each lock: default 5000, 0 does not wait, Infinity. An exclusive
     * writer is "BFS_EBUSY" at once
     */
    lockTimeout?: number | undefined;
    /**
     * milliseconds between checks whether the kernel failed to write: default 100, 0:
     * each add
     */
    writebackCheck?: number | undefined;
};
/**
 * Part number `part`, from 0, of `numParts`: it takes only the keys of this part.
 */
export type PartOptions = {
    part?: number;
    numParts?: number;
};
export type MakingFlags = {
    /**
     * permission bits, less the umask: default those of the file that is replaced, or 0o600
     */
    mode?: number | undefined;
    /**
     * 1 to 64, of an exclusive writer's addMany() and of build()
     */
    threads?: number | undefined;
    /**
     * reads the whole file into memory now
     */
    populate?: boolean | undefined;
    /**
     * small pages, no read-ahead: larger than memory, or synced often
     */
    random?: boolean | undefined;
    /**
     * a page that cannot be read is doubt, not SIGBUS
     */
    guard?: boolean | undefined;
    /**
     * also a network filesystem or a read-only overlay
     */
    anyFilesystem?: boolean | undefined;
};
/**
 * replaces an existing file, whose users learn of it
 */
export type ReplaceFlags = {
    replace?: boolean;
};
export type AddingFlags = {
    /**
     * the only writer: several times as fast
     */
    exclusive?: boolean | undefined;
    /**
     * BFS_EFULL at the capacity, asked at every 64th key
     */
    limit?: boolean | undefined;
    /**
     * a new file answers "maybe" until finishFilling()
     */
    filling?: boolean | undefined;
};
/**
 * no name until publish()
 */
export type PublishFlags = {
    unpublished?: boolean;
};
export type CreateOptions = ShapeOptions & PartOptions & TimeOptions & MakingFlags & ReplaceFlags & AddingFlags & PublishFlags;
/**
 * Options of build(). `width` and `stride` are for keys in a Uint8Array.
 */
export type BuildOptions = ShapeOptions & PartOptions & TimeOptions & MakingFlags & ReplaceFlags & import("./keys.js").Width;
export type OpenFlags = {
    /**
     * "r+": the only writer, several times as fast
     */
    exclusive?: boolean | undefined;
    /**
     * "r+" and exclusive: 1 to 64, of addMany()
     */
    threads?: number | undefined;
    /**
     * default true; false: a symbolic link is an error
     */
    followSymlinks?: boolean | undefined;
    /**
     * for a filter with the hash "siphash": without it, or with another one, "BFS_ESECRET"
     */
    secret?: Uint8Array<ArrayBufferLike> | undefined;
    /**
     * "r": reads an embedded filter that begins at
     * `offset` in a file of any other format, and has at most so many bytes
     */
    range?: {
        offset: number | bigint;
        bytes?: number | bigint;
    } | undefined;
    /**
     * reads the whole file into memory now
     */
    populate?: boolean | undefined;
    /**
     * small pages, no read-ahead
     */
    random?: boolean | undefined;
    /**
     * "r": into memory of this process, for files that others may damage
     */
    private?: boolean | undefined;
    /**
     * a page that cannot be read is doubt, not SIGBUS
     */
    guard?: boolean | undefined;
    /**
     * "r+": an unclean, poisoned or recovering file, to recover it
     */
    recover?: boolean | undefined;
    /**
     * "r+": such a file as it is
     */
    acceptLoss?: boolean | undefined;
    /**
     * a file whose writer was killed is unclean, too
     */
    strict?: boolean | undefined;
    /**
     * also a network filesystem or a read-only overlay
     */
    anyFilesystem?: boolean | undefined;
    /**
     * "r+": BFS_EFULL at the capacity, asked at every 64th key
     */
    limit?: boolean | undefined;
    /**
     * "r": writes nothing at all
     */
    noWrite?: boolean | undefined;
    /**
     * "r": continues with the file that replaces this one, if that has the same hash and seed (make
     * it with {like: path}); otherwise every answer stays true, and `health` is "superseded"
     */
    follow?: boolean | undefined;
    /**
     * "r": compares a sealed file with its checksums first
     */
    verify?: boolean | undefined;
    /**
     * "r": also compares, and answers "maybe" where the file is damaged
     */
    tolerateDamage?: boolean | undefined;
};
export type OpenOptions = OpenFlags & TimeOptions;
/**
 * Options of open() with "a": how the file is made if there is none, and how it is opened. Layout, hash, seed, secret,
 * part and window must be those of a file that is there; its size may be another one.
 */
export type OpenOrCreateOptions = ShapeOptions & PartOptions & TimeOptions & MakingFlags & AddingFlags & Pick<OpenFlags, "recover" | "acceptLoss" | "strict">;
/**
 * "r" asks; "r+" also adds; "a" also makes the file if there is none, and "a+" is the same, since every handle asks.
 */
export type Mode = "r" | "r+" | "a" | "a+";
/**
 * For open() with a mode that the program chooses as it runs: what every mode takes.
 */
export type AnyModeOptions = Pick<OpenOptions, keyof OpenOptions & keyof OpenOrCreateOptions>;
/**
 * Options to open a filter in memory.
 */
export type MemoryOptions = {
    secret?: Uint8Array;
    bare?: boolean;
};
export type BufferOptions = ShapeOptions & {
    exclusive?: boolean;
    threads?: number;
    bare?: boolean;
};
/**
 * Options to make a new file of filters.
 */
export type DeriveOptions = {
    /**
     * permission bits, less the umask: default those of the file that is replaced, or 0o600
     */
    mode?: number | undefined;
    /**
     * replaces an existing file
     */
    replace?: boolean | undefined;
    /**
     * answers "maybe" until finishFilling()
     */
    filling?: boolean | undefined;
    anyFilesystem?: boolean | undefined;
    /**
     * milliseconds for each lock
     */
    lockTimeout?: number | undefined;
};
/**
 * Options of Filter.copy().
 */
export type DeltaOptions = Omit<DeriveOptions, "filling">;
/**
 * sealed: with checksums,
 *  and never written to again; fpr: as small as this rate allows
 */
export type CopyOptions = DeriveOptions & {
    sealed?: boolean;
    sameFileId?: boolean;
    fpr?: number;
};
/**
 * The form of another program's filter.
 */
export type ForeignForm = {
    /**
     * for formats that need it (Foreign.needs)
     */
    order?: BitOrder | undefined;
    /**
     * its name, for formats that need it
     */
    column?: string | undefined;
    /**
     * the number, from 1, of the only one of several filters that is meant; default: all of them
     */
    member?: number | undefined;
    /**
     * of the bytes, in messages
     */
    name?: string | undefined;
};
/**
 * Options to import foreign bytes: the options of create() give the facts that the bytes lack.
 */
export type ForeignOptions = CreateOptions & ForeignForm;
/**
 * Options to ask a foreign file in place: those of create() that give the facts that the bytes lack, and those of open().
 */
export type OpenForeignOptions = Omit<ShapeOptions, "window" | "note" | "fileId"> & Omit<ForeignForm, "name"> & Pick<OpenFlags, "populate" | "random" | "guard" | "private" | "anyFilesystem" | "followSymlinks">;
export type RecognizeOptions = {
    followSymlinks?: boolean;
    anyFilesystem?: boolean;
};
/**
 * The known numbers of a planned filter.
 */
export type PlanOptions = Pick<ShapeOptions, "layout" | "capacity" | "fpr" | "bitsPerKey" | "maxBytes" | "numBits" | "numProbes">;
export type Flags = Readonly<Record<string, number>>;
/**
 * What a function takes: fields of bfs_options, and flags.
 */
export type Taken = {
    fields: readonly string[];
    flags: readonly string[];
};
import { Struct } from "./struct.js";

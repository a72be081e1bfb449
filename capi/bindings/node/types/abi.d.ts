export const BFS: Readonly<{
    VERSION_MAJOR: 0;
    VERSION_MINOR: 1;
    VERSION_PATCH: 0;
    OK: 0;
    EINVAL: -1;
    EINTERNAL: -13;
    ENOMEM: -2;
    ESYSTEM: -3;
    EBUSY: -4;
    EEXIST: -5;
    ENOENT: -6;
    EACCES: -7;
    ENOSPC: -9;
    EFILESYSTEM: -16;
    EREADONLY: -8;
    EOWNERS: -10;
    EDIGESTONLY: -11;
    EUNSUPPORTED: -14;
    EFORKED: -15;
    ESHUT: -18;
    EKEYONLY: -20;
    EPART: -21;
    ESIZING: -12;
    ESECRET: -17;
    EMISMATCH: -19;
    EUNCLEAN: -100;
    EPOISONED: -101;
    ELOST: -102;
    ERECOVERING: -103;
    ESUPERSEDED: -104;
    EFULL: -105;
    EFAULT: -106;
    ESEALED: -107;
    ENOTSEALED: -108;
    EDAMAGED: -109;
    EFILLING: -110;
    ELATER: -111;
    ENOTREGULAR: -200;
    ESYMLINK: -201;
    EMALFORMED: -202;
    EVERSION: -203;
    EFEATURE: -204;
    LAYOUT_BLOCKED: 1;
    LAYOUT_CLASSIC: 2;
    HASH_XXH3: 1;
    HASH_SIPHASH: 3;
    READ: 1;
    WRITE: 2;
    EXCLUSIVE: 4;
    CREATE: 8;
    POPULATE: 16;
    GUARD: 128;
    FOLLOW: 32768;
    REPLACE: 2097152;
    KEYS_POINTERS: 1;
    KEYS_PAIRS: 2;
    STATS_FILL: 16777216;
    LOCK_TIMEOUT_DEFAULT: 0;
    LOCK_NO_WAIT: 4294967294;
    LOCK_FOREVER: 4294967295;
    WRITEBACK_CHECK_DEFAULT: 0;
    WRITEBACK_CHECK_EACH_ADD: 4294967294;
    RANDOM: 32;
    PRIVATE: 64;
    RECOVER: 256;
    ACCEPT_LOSS: 512;
    STRICT: 1024;
    ANY_FILESYSTEM: 2048;
    LIMIT: 4096;
    NOFOLLOW: 8192;
    NO_WRITE: 16384;
    VERIFY: 131072;
    TOLERATE_DAMAGE: 262144;
    UNPUBLISHED: 4194304;
    FILLING: 8388608;
    STATS_MEMORY: 33554432;
    HASH_EXTERNAL: 2;
    KEYS_FIXED: 3;
    KEYS_COLUMN32: 4;
    KEYS_COLUMN64: 5;
    KEYS_DIGESTS: 6;
    SCRATCH_LEAST_KEYS: 3145728;
    SCRATCH_KEY_BYTES: 12;
    SCRATCH_MORE_BYTES: 8388608;
    SEALED: 67108864;
    SAME_FILE_ID: 134217728;
    DIFFERS_LAYOUT: 1;
    DIFFERS_HASH: 2;
    DIFFERS_SEED: 4;
    DIFFERS_SECRET: 8;
    DIFFERS_NUM_PROBES: 16;
    DIFFERS_NUM_BITS: 32;
    DIFFERS_PART: 64;
    LAYOUT_COUNTING: 3;
    LAYOUT_GROWING: 8;
    LAYOUT_WINDOW: 5;
    LAYOUT_WINDOW_4: 6;
    LAYOUT_WINDOW_2: 7;
    LAYOUT_STATIC: 4;
    CAN_ADD: 1;
    CAN_REMOVE: 2;
    CAN_MERGE: 4;
    CAN_FOLD: 8;
    CAN_GROW: 16;
    CAN_EXPIRE: 32;
    CAN_INTERSECT: 64;
    CAN_BUILD: 128;
    BARE: 524288;
    HASH_MURMUR3: 4;
    HASH_MURMUR3_UNSIGNED: 5;
    HASH_JAVA_POLYNOMIAL: 6;
    HASH_JAYBIRD: 7;
    HASH_PYBLOOM_LIVE: 8;
    HASH_DCSO: 9;
    HASH_GUAVA: 10;
    HASH_GUAVA_32: 11;
    HASH_REDISBLOOM: 12;
    HASH_PYBLOOMFILTER: 13;
    HASH_LEVELDB: 14;
    HASH_ROCKSDB: 15;
    HASH_PARQUET: 16;
    HASH_BITS_AND_BLOOMS: 17;
    HASH_LIBBLOOM: 18;
    HASH_RBLOOM: 19;
    HASH_JAVA_BYTES: 20;
    TUTORIAL_SIZING: 268435456;
    BITS_LITTLE: 1;
    BITS_BIG: 2;
    FOREIGN_NEEDS_SIZE: 1;
    FOREIGN_NEEDS_ORDER: 2;
    FOREIGN_NEEDS_HASH: 4;
    FOREIGN_NEEDS_COLUMN: 8;
    FOREIGN_NEEDS_ALL: 16;
}>;
/** The numbers that only a bigint has exactly. */
export const BFS_LARGE: Readonly<{
    IF_DUE: 18446744073709551615n;
}>;
/** The name of a code. @typedef {"BFS_EINVAL" | "BFS_EINTERNAL" | "BFS_ENOMEM" | "BFS_ESYSTEM" | "BFS_EBUSY" |
 * "BFS_EEXIST" | "BFS_ENOENT" | "BFS_EACCES" | "BFS_ENOSPC" | "BFS_EFILESYSTEM" | "BFS_EREADONLY" | "BFS_EOWNERS" |
 * "BFS_EDIGESTONLY" | "BFS_EUNSUPPORTED" | "BFS_EFORKED" | "BFS_ESHUT" | "BFS_EKEYONLY" | "BFS_EPART" | "BFS_ESIZING" |
 * "BFS_ESECRET" | "BFS_EMISMATCH" | "BFS_EUNCLEAN" | "BFS_EPOISONED" | "BFS_ELOST" | "BFS_ERECOVERING" |
 * "BFS_ESUPERSEDED" | "BFS_EFULL" | "BFS_EFAULT" | "BFS_ESEALED" | "BFS_ENOTSEALED" | "BFS_EDAMAGED" | "BFS_EFILLING" |
 * "BFS_ELATER" | "BFS_ENOTREGULAR" | "BFS_ESYMLINK" | "BFS_EMALFORMED" | "BFS_EVERSION" | "BFS_EFEATURE"} CodeName */
/** A number: so many bytes. bfs_...: a struct in the struct.
 * @typedef {"u32" | "i32" | "u64" | "f64" | "pointer" | `bfs_${string}` | number} Kind */
/** @typedef {{offset: number, kind: Kind}} Field */
/** @typedef {{name: string, bytes: number, fields: Readonly<Record<string, Field>>}} Layout */
/** @type {Readonly<Record<string, Layout>>} */
export const STRUCTS: Readonly<Record<string, Layout>>;
/** The result, then the parameters. @type {Readonly<Record<string, [string, ...string[]]>>} */
export const FUNCTIONS: Readonly<Record<string, [string, ...string[]]>>;
/**
 * The name of a code.
 */
export type CodeName = "BFS_EINVAL" | "BFS_EINTERNAL" | "BFS_ENOMEM" | "BFS_ESYSTEM" | "BFS_EBUSY" | "BFS_EEXIST" | "BFS_ENOENT" | "BFS_EACCES" | "BFS_ENOSPC" | "BFS_EFILESYSTEM" | "BFS_EREADONLY" | "BFS_EOWNERS" | "BFS_EDIGESTONLY" | "BFS_EUNSUPPORTED" | "BFS_EFORKED" | "BFS_ESHUT" | "BFS_EKEYONLY" | "BFS_EPART" | "BFS_ESIZING" | "BFS_ESECRET" | "BFS_EMISMATCH" | "BFS_EUNCLEAN" | "BFS_EPOISONED" | "BFS_ELOST" | "BFS_ERECOVERING" | "BFS_ESUPERSEDED" | "BFS_EFULL" | "BFS_EFAULT" | "BFS_ESEALED" | "BFS_ENOTSEALED" | "BFS_EDAMAGED" | "BFS_EFILLING" | "BFS_ELATER" | "BFS_ENOTREGULAR" | "BFS_ESYMLINK" | "BFS_EMALFORMED" | "BFS_EVERSION" | "BFS_EFEATURE";
/**
 * A number: so many bytes. bfs_...: a struct in the struct.
 */
export type Kind = "u32" | "i32" | "u64" | "f64" | "pointer" | `bfs_${string}` | number;
export type Field = {
    offset: number;
    kind: Kind;
};
export type Layout = {
    name: string;
    bytes: number;
    fields: Readonly<Record<string, Field>>;
};

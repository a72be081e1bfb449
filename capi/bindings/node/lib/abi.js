/* What capi/bfstore.h declares, as JavaScript: constants, the fields of structs, the parameters of functions. The tests
 * compare all of it with what the C compiler says. */

export const BFS = Object.freeze({
  VERSION_MAJOR: 0,
  VERSION_MINOR: 1,

  EINVAL: -1,
  ENOMEM: -2,
  ESYSTEM: -3,
  EBUSY: -4,
  EEXIST: -5,
  ENOENT: -6,
  EACCES: -7,
  ENOSPC: -9,
  EINTERNAL: -13,
  ESHUT: -18,
  EUNCLEAN: -100,
  EPOISONED: -101,
  ELOST: -102,
  ERECOVERING: -103,
  ESUPERSEDED: -104,
  EFAULT: -106,
  ESYMLINK: -201,

  LAYOUT_BLOCKED: 1,
  LAYOUT_CLASSIC: 2,
  LAYOUT_COUNTING: 3,
  HASH_XXH3: 1,
  HASH_EXTERNAL: 2,
  HASH_SIPHASH: 3,
  HASH_MURMUR3: 4,
  HASH_MURMUR3_UNSIGNED: 5,
  HASH_JAVA_POLYNOMIAL: 6,
  HASH_JAYBIRD: 7,
  HASH_PYBLOOM_LIVE: 8,

  OPEN_READ: 0x1,
  OPEN_WRITE: 0x2,
  OPEN_EXCLUSIVE: 0x4,
  OPEN_POPULATE: 0x10,
  OPEN_RANDOM: 0x20,
  OPEN_COPY: 0x40,
  OPEN_GUARD: 0x80,
  OPEN_RECOVER: 0x100,
  OPEN_ACCEPT_LOSS: 0x200,
  OPEN_STRICT: 0x400,
  OPEN_ANY_FILESYSTEM: 0x800,
  OPEN_LIMIT: 0x1000,
  OPEN_NOFOLLOW: 0x2000,
  OPEN_NO_WRITE: 0x4000,
  OPEN_FOLLOW: 0x8000,
  OPEN_RANGE: 0x10000,
  OPEN_VERIFY: 0x20000,
  OPEN_TOLERATE_DAMAGE: 0x40000,
  OPEN_BARE: 0x80000,
  OPEN_FD: 0x4000000,
  OPTION_SEED: 0x100000,
  OPTION_REPLACE: 0x200000,
  OPTION_UNPUBLISHED: 0x400000,
  OPTION_FILLING: 0x800000,
  OPTION_FILE_ID: 0x8000000,
  OPTION_TUTORIAL_SIZING: 0x10000000,
  STATS_FILL: 0x1000000,
  STATS_MEMORY: 0x2000000,

  LOCK_NO_WAIT: 4294967294,
  LOCK_FOREVER: 4294967295,
  WRITEBACK_CHECK_EACH_ADD: 4294967294,

  DIFFERS_LAYOUT: 0x1,
  DIFFERS_HASH: 0x2,
  DIFFERS_SEED: 0x4,
  DIFFERS_KEY: 0x8,
  DIFFERS_NUM_PROBES: 0x10,
  DIFFERS_NUM_BITS: 0x20,
  DIFFERS_PART: 0x40,

  KEYS_FIXED: 3,
  KEYS_COLUMN32: 4,
  KEYS_COLUMN64: 5,
  KEYS_DIGESTS: 6,

  CAN_ADD: 0x1,
  CAN_REMOVE: 0x2,
  CAN_MERGE: 0x4,
  CAN_FOLD: 0x8,
  CAN_GROW: 0x10,
  CAN_EXPIRE: 0x20,
  CAN_INTERSECT: 0x40,

  BITS_LITTLE: 1,
  BITS_BIG: 2,
});

/** @typedef {"u32" | "i32" | "u64" | "f64" | "pointer" | "interval" | number} Kind  a number: so many bytes */

/** @type {Readonly<Record<string, Readonly<Record<string, Kind>>>>} */
const FIELDS = {
  bfs_error: {struct_bytes: "u32", code: "i32", os_errno: "i32", reserved: "u32", message: 496},
  bfs_options: {
    struct_bytes: "u32", mode: "u32", flags: "u64", capacity: "u64", fpr: "f64", bits_per_key: "f64", max_bytes: "u64",
    num_bits: "u64", num_probes: "u32", layout: "u32", hash: "u32", reserved: "u32", seed: "u64", like: "pointer",
    note: "pointer", note_bytes: "u64", key: "pointer", key_bytes: "u64", lock_timeout_ms: "u32", writeback_check_ms: "u32",
    file_id: 16, seeds: "pointer", num_seeds: "u64",
  },
  bfs_open_options: {
    struct_bytes: "u32", fd: "i32", flags: "u64", key: "pointer", key_bytes: "u64", offset: "u64", max_bytes: "u64",
    lock_timeout_ms: "u32", writeback_check_ms: "u32",
  },
  bfs_copy_options: {
    struct_bytes: "u32", mode: "u32", flags: "u64", lock_timeout_ms: "u32", reserved: "u32", fpr: "f64",
  },
  bfs_statistics: {
    struct_bytes: "u32", layout: "u32", hash: "u32", num_probes: "u32", num_bits: "u64", capacity: "u64", fpr: "f64",
    seed: "u64", body_bytes: "u64", keys_added: "u64", health: "i32", saturated: "u32", has_fill: "u32", has_memory: "u32",
    set_bits: "u64", fill_ratio: "f64", estimated_keys: "f64", estimated_keys_low: "f64", estimated_keys_high: "f64",
    estimated_fpr: "f64", huge_page_bytes: "u64", resident_bytes: "u64", isa: 16, file_id: 16, keys_removed: "u64",
    counters_at_15: "u64",
  },
  bfs_interval: {estimate: "f64", low: "f64", high: "f64"},
  bfs_comparison: {
    struct_bytes: "u32", differs: "u32", comparable: "u32", equal: "u32", a_in_b: "u32", b_in_a: "u32", some_in_both: "u32",
    reserved: "u32", num_bits: "u64", set_bits_a: "u64", set_bits_b: "u64", set_bits_both: "u64", keys_a: "interval",
    keys_b: "interval", keys_either: "interval", keys_both: "interval", jaccard: "interval",
  },
  bfs_range: {offset: "u64", bytes: "u64"},
  bfs_keys: {
    struct_bytes: "u32", kind: "u32", count: "u64", data: "pointer", data_bytes: "u64", lengths: "pointer",
    offsets: "pointer", key_bytes: "u64", stride: "u64", validity: "pointer", validity_offset: "u64",
  },
  bfs_plan_request: {
    struct_bytes: "u32", layout: "u32", capacity: "u64", fpr: "f64", bits_per_key: "f64", max_bytes: "u64", num_bits: "u64",
    num_probes: "u32", reserved: "u32",
  },
  bfs_plan_result: {
    struct_bytes: "u32", layout: "u32", num_probes: "u32", abilities: "u32", num_bits: "u64", capacity: "u64", fpr: "f64",
    bits_per_key: "f64", body_bytes: "u64", file_bytes: "u64", fill_ratio: "f64", bloom_fpr: "f64", cache_lines: "f64",
    page_faults: "f64",
  },
  bfs_owner_mark: {owner: "u64", mark: "u64", epoch: "u64", recovered: "u32", reserved: "u32"},
};

/** @typedef {{offset: number, kind: Kind}} Field */
/** @typedef {{name: string, bytes: number, fields: Record<string, Field>}} Layout */

const BYTES = {u32: 4, i32: 4, u64: 8, f64: 8, pointer: 8, interval: 24};

/** Where a C compiler puts the fields: each at a multiple of its own size.
 * @param {string} name @param {Readonly<Record<string, Kind>>} kinds @returns {Layout} */
function laidOut(name, kinds) {
  /** @type {Record<string, Field>} */
  const fields = {};
  let end = 0;
  for (const [field, kind] of Object.entries(kinds)) {
    const bytes = typeof kind === "number" ? kind : BYTES[kind];
    const alignment = typeof kind === "number" ? 1 : Math.min(bytes, 8);
    const offset = Math.ceil(end / alignment) * alignment;
    fields[field] = {offset, kind};
    end = offset + bytes;
  }
  const largest = Object.values(kinds).some((kind) => typeof kind === "string" && BYTES[kind] >= 8) ? 8 : 4;
  return {name, bytes: Math.ceil(end / largest) * largest, fields};
}

/** @type {Readonly<Record<string, Layout>>} */
export const STRUCTS = Object.fromEntries(Object.entries(FIELDS).map(([name, kinds]) => [name, laidOut(name, kinds)]));

/* Handles go as uint64_t: koffi takes a number there, which is faster than the BigInt of a pointer. "buffer" is a typed
 * array, or null. Each struct goes as the buffer of its bytes. */
const HANDLE = "uint64_t";
const BUFFER = "void *";
const ADDRESS = "uint64_t";

/** @type {Readonly<Record<string, [string, ...string[]]>>}  the result, then the parameters */
export const FUNCTIONS = {
  bfs_version: ["str"],
  bfs_version_number: ["uint32_t"],
  bfs_strerror: ["str", "int32_t"],
  bfs_code_name: ["str", "int32_t"],
  bfs_plan: ["int32_t", BUFFER, BUFFER, BUFFER],
  bfs_create: ["int32_t", BUFFER, BUFFER, BUFFER, BUFFER],
  bfs_create_part: ["int32_t", BUFFER, BUFFER, "uint32_t", "uint32_t", BUFFER, BUFFER],
  bfs_open_with: ["int32_t", BUFFER, BUFFER, BUFFER, BUFFER],
  bfs_open_set: ["int32_t", BUFFER, BUFFER, BUFFER, BUFFER],
  bfs_required_bytes: ["int32_t", BUFFER, BUFFER, BUFFER],
  bfs_format: ["int32_t", BUFFER, "uint64_t", BUFFER, BUFFER, BUFFER],
  bfs_wrap_with: ["int32_t", BUFFER, "uint64_t", BUFFER, BUFFER, BUFFER],
  bfs_publish: ["int32_t", HANDLE, BUFFER],
  bfs_supersede: ["int32_t", HANDLE, BUFFER],
  bfs_close: ["int32_t", HANDLE, BUFFER],
  bfs_shut: ["int32_t", HANDLE, BUFFER],
  bfs_abandon: ["void", HANDLE],
  bfs_save: ["int32_t", HANDLE, BUFFER, BUFFER, BUFFER],
  bfs_dump: ["int32_t", HANDLE, BUFFER, "uint64_t", "uint64_t", BUFFER, BUFFER],
  bfs_load: ["int32_t", BUFFER, "uint64_t", BUFFER, BUFFER, BUFFER],
  bfs_merge: ["int32_t", HANDLE, HANDLE, BUFFER],
  bfs_join: ["int32_t", BUFFER, "size_t", BUFFER, BUFFER, BUFFER],
  bfs_intersect: ["int32_t", BUFFER, "size_t", BUFFER, BUFFER, BUFFER],
  bfs_compare: ["int32_t", HANDLE, HANDLE, BUFFER, BUFFER],
  bfs_import_bits: ["int32_t", HANDLE, BUFFER, "uint64_t", "uint32_t", BUFFER],
  bfs_export_bits: ["int32_t", HANDLE, BUFFER, "uint64_t", "uint32_t", BUFFER],
  bfs_seal: ["int32_t", BUFFER, BUFFER, BUFFER, BUFFER],
  bfs_verify: ["int64_t", BUFFER, "uint64_t", BUFFER, "size_t", BUFFER],
  bfs_add: ["int32_t", HANDLE, ADDRESS, "size_t"],
  bfs_add_digest: ["int32_t", HANDLE, "uint64_t"],
  bfs_remove: ["int32_t", HANDLE, ADDRESS, "size_t"],
  bfs_remove_digest: ["int32_t", HANDLE, "uint64_t"],
  bfs_count: ["int32_t", HANDLE, ADDRESS, "size_t"],
  bfs_count_digest: ["int32_t", HANDLE, "uint64_t"],
  bfs_contains: ["int32_t", HANDLE, ADDRESS, "size_t"],
  bfs_contains_digest: ["int32_t", HANDLE, "uint64_t"],
  bfs_digest: ["int32_t", HANDLE, ADDRESS, "size_t", BUFFER],
  bfs_add_keys: ["int64_t", HANDLE, BUFFER],
  bfs_remove_keys: ["int64_t", HANDLE, BUFFER],
  bfs_contains_keys: ["int64_t", HANDLE, BUFFER, BUFFER],
  bfs_select_keys: ["int64_t", HANDLE, BUFFER, BUFFER],
  bfs_digest_keys: ["int64_t", HANDLE, BUFFER, BUFFER],
  bfs_use_threads: ["int32_t", HANDLE, "uint32_t", BUFFER],
  bfs_bare_contains: ["int32_t", BUFFER, "uint64_t", ADDRESS, "size_t"],
  bfs_bare_contains_digest: ["int32_t", BUFFER, "uint64_t", "uint64_t"],
  bfs_bare_bytes: ["uint64_t", "uint64_t", "double", "uint32_t"],
  bfs_bare_build: ["int32_t", BUFFER, "uint64_t", "uint32_t", BUFFER],
  bfs_bare_build_digests: ["int32_t", BUFFER, "uint64_t", "uint32_t", "uint32_t", BUFFER, "size_t"],
  bfs_sync: ["int32_t", HANDLE, "uint64_t", "uint64_t", "uint64_t", BUFFER],
  bfs_get_mark: ["uint64_t", HANDLE, "uint64_t", "uint64_t"],
  bfs_list_marks: ["int64_t", HANDLE, BUFFER, "size_t", BUFFER],
  bfs_drop_owner: ["int32_t", HANDLE, "uint64_t", BUFFER],
  bfs_finish_recovery: ["int32_t", HANDLE, "uint64_t", BUFFER],
  bfs_finish_filling: ["int32_t", HANDLE, BUFFER],
  bfs_health: ["int32_t", HANDLE],
  bfs_is_current: ["int32_t", HANDLE, BUFFER],
  bfs_get_part: ["int32_t", HANDLE, BUFFER, BUFFER, BUFFER],
  bfs_get_note: ["int64_t", HANDLE, BUFFER, "size_t", BUFFER],
  bfs_get_seeds: ["int64_t", HANDLE, BUFFER, "size_t", BUFFER],
  bfs_stats: ["int32_t", HANDLE, "uint64_t", BUFFER, BUFFER],
};

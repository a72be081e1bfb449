//! bfstore's C ABI, as it is: constants, structs and functions of `bfstore.h`, with its names. Programs use the crate
//! `bfstore`, which is safe; this one is for other bindings of the kind, and for what is not in `bfstore`.
//!
//! Written by hand, and compared with the header by `bfstore`'s tests: every constant, every offset, every parameter.
//! What each item means, its threads, its errors, and what a crash does, the header says once, for all languages:
//!
//! ```c
#![doc = include_str!("../vendor/capi/bfstore.h")]
//! ```
#![allow(non_camel_case_types)]

use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};

/// A filter: only its address is known.
#[repr(C)]
pub struct bfs_filter {
    _opaque: [u8; 0],
    // Neither Send nor Sync nor Unpin by itself: who wraps it says what it is.
    _neither: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
}

pub const BFS_VERSION_MAJOR: u32 = 0;
pub const BFS_VERSION_MINOR: u32 = 1;
pub const BFS_VERSION_PATCH: u32 = 0;

pub const BFS_OK: i32 = 0;
pub const BFS_EINVAL: i32 = -1;
pub const BFS_ENOMEM: i32 = -2;
pub const BFS_ESYSTEM: i32 = -3;
pub const BFS_EBUSY: i32 = -4;
pub const BFS_EEXIST: i32 = -5;
pub const BFS_ENOENT: i32 = -6;
pub const BFS_EACCES: i32 = -7;
pub const BFS_EREADONLY: i32 = -8;
pub const BFS_ENOSPC: i32 = -9;
pub const BFS_EOWNERS: i32 = -10;
pub const BFS_EDIGESTONLY: i32 = -11;
pub const BFS_ESIZING: i32 = -12;
pub const BFS_EINTERNAL: i32 = -13;
pub const BFS_EUNSUPPORTED: i32 = -14;
pub const BFS_EFORKED: i32 = -15;
pub const BFS_EFILESYSTEM: i32 = -16;
pub const BFS_EKEY: i32 = -17;
pub const BFS_ESHUT: i32 = -18;
pub const BFS_EMISMATCH: i32 = -19;
pub const BFS_EKEYONLY: i32 = -20;
pub const BFS_EPART: i32 = -21;
pub const BFS_EUNCLEAN: i32 = -100;
pub const BFS_EPOISONED: i32 = -101;
pub const BFS_ELOST: i32 = -102;
pub const BFS_ERECOVERING: i32 = -103;
pub const BFS_ESUPERSEDED: i32 = -104;
pub const BFS_EFULL: i32 = -105;
pub const BFS_EFAULT: i32 = -106;
pub const BFS_ESEALED: i32 = -107;
pub const BFS_ENOTSEALED: i32 = -108;
pub const BFS_EDAMAGED: i32 = -109;
pub const BFS_EFILLING: i32 = -110;
pub const BFS_ENOTREGULAR: i32 = -200;
pub const BFS_ESYMLINK: i32 = -201;
pub const BFS_ETOOSHORT: i32 = -202;
pub const BFS_EMAGIC: i32 = -203;
pub const BFS_EVERSION: i32 = -204;
pub const BFS_EFORM: i32 = -205;
pub const BFS_EHEADERSIZE: i32 = -206;
pub const BFS_ECHECKSUM: i32 = -207;
pub const BFS_ERESERVED: i32 = -208;
pub const BFS_EFEATURE: i32 = -209;
pub const BFS_ELAYOUT: i32 = -210;
pub const BFS_EHASH: i32 = -211;
pub const BFS_EPROBES: i32 = -212;
pub const BFS_EBITS: i32 = -213;
pub const BFS_ECAPACITY: i32 = -214;
pub const BFS_EBODY: i32 = -215;
pub const BFS_ERECORD: i32 = -216;
pub const BFS_ECANARY: i32 = -217;
pub const BFS_ESLOTS: i32 = -218;
pub const BFS_ELIVEWORD: i32 = -219;

pub const BFS_LAYOUT_BLOCKED: u32 = 1;
pub const BFS_LAYOUT_CLASSIC: u32 = 2;
pub const BFS_LAYOUT_COUNTING: u32 = 3;

pub const BFS_HASH_XXH3: u32 = 1;
pub const BFS_HASH_EXTERNAL: u32 = 2;
pub const BFS_HASH_SIPHASH: u32 = 3;
pub const BFS_HASH_MURMUR3: u32 = 4;
pub const BFS_HASH_MURMUR3_UNSIGNED: u32 = 5;
pub const BFS_HASH_JAVA_POLYNOMIAL: u32 = 6;
pub const BFS_HASH_JAYBIRD: u32 = 7;
pub const BFS_HASH_PYBLOOM_LIVE: u32 = 8;

pub const BFS_OPEN_READ: u64 = 0x1;
pub const BFS_OPEN_WRITE: u64 = 0x2;
pub const BFS_OPEN_EXCLUSIVE: u64 = 0x4;
pub const BFS_OPEN_POPULATE: u64 = 0x10;
pub const BFS_OPEN_RANDOM: u64 = 0x20;
pub const BFS_OPEN_COPY: u64 = 0x40;
pub const BFS_OPEN_GUARD: u64 = 0x80;
pub const BFS_OPEN_RECOVER: u64 = 0x100;
pub const BFS_OPEN_ACCEPT_LOSS: u64 = 0x200;
pub const BFS_OPEN_STRICT: u64 = 0x400;
pub const BFS_OPEN_ANY_FILESYSTEM: u64 = 0x800;
pub const BFS_OPEN_LIMIT: u64 = 0x1000;
pub const BFS_OPEN_NOFOLLOW: u64 = 0x2000;
pub const BFS_OPEN_NO_WRITE: u64 = 0x4000;
pub const BFS_OPEN_FOLLOW: u64 = 0x8000;
pub const BFS_OPEN_RANGE: u64 = 0x10000;
pub const BFS_OPEN_VERIFY: u64 = 0x20000;
pub const BFS_OPEN_TOLERATE_DAMAGE: u64 = 0x40000;
pub const BFS_OPEN_BARE: u64 = 0x80000;
pub const BFS_OPEN_FD: u64 = 0x4000000;

pub const BFS_OPTION_SEED: u64 = 0x100000;
pub const BFS_OPTION_REPLACE: u64 = 0x200000;
pub const BFS_OPTION_UNPUBLISHED: u64 = 0x400000;
pub const BFS_OPTION_FILE_ID: u64 = 0x8000000;
pub const BFS_OPTION_TUTORIAL_SIZING: u64 = 0x10000000;
pub const BFS_OPTION_FILLING: u64 = 0x800000;

pub const BFS_STATS_FILL: u64 = 0x1000000;
pub const BFS_STATS_MEMORY: u64 = 0x2000000;

pub const BFS_LOCK_TIMEOUT_DEFAULT: u32 = 0;
pub const BFS_LOCK_NO_WAIT: u32 = 4294967294;
pub const BFS_LOCK_FOREVER: u32 = 4294967295;

pub const BFS_WRITEBACK_CHECK_DEFAULT: u32 = 0;
pub const BFS_WRITEBACK_CHECK_EACH_ADD: u32 = 4294967294;

pub const BFS_DIFFERS_LAYOUT: u32 = 0x1;
pub const BFS_DIFFERS_HASH: u32 = 0x2;
pub const BFS_DIFFERS_SEED: u32 = 0x4;
pub const BFS_DIFFERS_KEY: u32 = 0x8;
pub const BFS_DIFFERS_NUM_PROBES: u32 = 0x10;
pub const BFS_DIFFERS_NUM_BITS: u32 = 0x20;
pub const BFS_DIFFERS_PART: u32 = 0x40;

pub const BFS_KEYS_POINTERS: u32 = 1;
pub const BFS_KEYS_PAIRS: u32 = 2;
pub const BFS_KEYS_FIXED: u32 = 3;
pub const BFS_KEYS_COLUMN32: u32 = 4;
pub const BFS_KEYS_COLUMN64: u32 = 5;
pub const BFS_KEYS_DIGESTS: u32 = 6;

pub const BFS_CAN_ADD: u32 = 0x1;
pub const BFS_CAN_REMOVE: u32 = 0x2;
pub const BFS_CAN_MERGE: u32 = 0x4;
pub const BFS_CAN_FOLD: u32 = 0x8;
pub const BFS_CAN_GROW: u32 = 0x10;
pub const BFS_CAN_EXPIRE: u32 = 0x20;
pub const BFS_CAN_INTERSECT: u32 = 0x40;

pub const BFS_BITS_LITTLE: u32 = 1;
pub const BFS_BITS_BIG: u32 = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_error {
    pub struct_bytes: u32,
    pub code: i32,
    pub os_errno: i32,
    pub reserved: u32,
    pub message: [c_char; 496],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_options {
    pub struct_bytes: u32,
    pub mode: u32,
    pub flags: u64,
    pub capacity: u64,
    pub fpr: f64,
    pub bits_per_key: f64,
    pub max_bytes: u64,
    pub num_bits: u64,
    pub num_probes: u32,
    pub layout: u32,
    pub hash: u32,
    pub reserved: u32,
    pub seed: u64,
    pub like: *const c_char,
    pub note: *const c_void,
    pub note_bytes: u64,
    pub key: *const c_void,
    pub key_bytes: u64,
    pub lock_timeout_ms: u32,
    pub writeback_check_ms: u32,
    pub file_id: [u8; 16],
    pub seeds: *const u32,
    pub num_seeds: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_open_options {
    pub struct_bytes: u32,
    pub fd: i32,
    pub flags: u64,
    pub key: *const c_void,
    pub key_bytes: u64,
    pub offset: u64,
    pub max_bytes: u64,
    pub lock_timeout_ms: u32,
    pub writeback_check_ms: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_copy_options {
    pub struct_bytes: u32,
    pub mode: u32,
    pub flags: u64,
    pub lock_timeout_ms: u32,
    pub reserved: u32,
    pub fpr: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_statistics {
    pub struct_bytes: u32,
    pub layout: u32,
    pub hash: u32,
    pub num_probes: u32,
    pub num_bits: u64,
    pub capacity: u64,
    pub fpr: f64,
    pub seed: u64,
    pub body_bytes: u64,
    pub keys_added: u64,
    pub health: i32,
    pub saturated: u32,
    pub has_fill: u32,
    pub has_memory: u32,
    pub set_bits: u64,
    pub fill_ratio: f64,
    pub estimated_keys: f64,
    pub estimated_keys_low: f64,
    pub estimated_keys_high: f64,
    pub estimated_fpr: f64,
    pub huge_page_bytes: u64,
    pub resident_bytes: u64,
    pub isa: [c_char; 16],
    pub file_id: [u8; 16],
    pub keys_removed: u64,
    pub counters_at_15: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_comparison {
    pub struct_bytes: u32,
    pub differs: u32,
    pub comparable: u32,
    pub equal: u32,
    pub a_in_b: u32,
    pub b_in_a: u32,
    pub some_in_both: u32,
    pub reserved: u32,
    pub num_bits: u64,
    pub set_bits_a: u64,
    pub set_bits_b: u64,
    pub set_bits_both: u64,
    pub keys_a: bfs_interval,
    pub keys_b: bfs_interval,
    pub keys_either: bfs_interval,
    pub keys_both: bfs_interval,
    pub jaccard: bfs_interval,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_range {
    pub offset: u64,
    pub bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_key {
    pub data: *const c_void,
    pub bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_keys {
    pub struct_bytes: u32,
    pub kind: u32,
    pub count: u64,
    pub data: *const c_void,
    pub data_bytes: u64,
    pub lengths: *const usize,
    pub offsets: *const c_void,
    pub key_bytes: u64,
    pub stride: u64,
    pub validity: *const u8,
    pub validity_offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_plan_request {
    pub struct_bytes: u32,
    pub layout: u32,
    pub capacity: u64,
    pub fpr: f64,
    pub bits_per_key: f64,
    pub max_bytes: u64,
    pub num_bits: u64,
    pub num_probes: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_plan_result {
    pub struct_bytes: u32,
    pub layout: u32,
    pub num_probes: u32,
    pub abilities: u32,
    pub num_bits: u64,
    pub capacity: u64,
    pub fpr: f64,
    pub bits_per_key: f64,
    pub body_bytes: u64,
    pub file_bytes: u64,
    pub fill_ratio: f64,
    pub bloom_fpr: f64,
    pub cache_lines: f64,
    pub page_faults: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bfs_owner_mark {
    pub owner: u64,
    pub mark: u64,
    pub epoch: u64,
    pub recovered: u32,
    pub reserved: u32,
}

/// What the header's BFS_..._INIT are: zeros, and the struct's own size.
macro_rules! sized {
    ($($name:ident)*) => {$(
        impl Default for $name {
            fn default() -> Self {
                // SAFETY: integers, floats, arrays of them, and raw pointers: all of them may be zero.
                let mut made: Self = unsafe { zeroed() };
                made.struct_bytes = size_of::<Self>() as u32;
                made
            }
        }
    )*};
}
sized! { bfs_error bfs_options bfs_open_options bfs_copy_options bfs_statistics bfs_comparison bfs_keys bfs_plan_request bfs_plan_result }

extern "C" {
    pub fn bfs_version() -> *const c_char;
    pub fn bfs_version_number() -> u32;
    pub fn bfs_strerror(code: i32) -> *const c_char;
    pub fn bfs_code_name(code: i32) -> *const c_char;
    pub fn bfs_plan(request: *const bfs_plan_request, out: *mut bfs_plan_result, error: *mut bfs_error) -> i32;
    pub fn bfs_create(
        path: *const c_char,
        options: *const bfs_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_create_part(
        path: *const c_char,
        options: *const bfs_options,
        part: u32,
        num_parts: u32,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_get_part(
        filter: *const bfs_filter,
        out_part: *mut u32,
        out_num_parts: *mut u32,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_join(
        parts: *const *const bfs_filter,
        count: usize,
        path: *const c_char,
        options: *const bfs_copy_options,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_open(path: *const c_char, flags: u64, out: *mut *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_open_with(
        path: *const c_char,
        options: *const bfs_open_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_open_set(
        manifest: *const c_char,
        options: *const bfs_open_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_required_bytes(options: *const bfs_options, out_bytes: *mut u64, error: *mut bfs_error) -> i32;
    pub fn bfs_format(
        buffer: *mut c_void,
        buffer_bytes: u64,
        options: *const bfs_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_wrap(
        buffer: *const c_void,
        buffer_bytes: u64,
        flags: u64,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_wrap_with(
        buffer: *mut c_void,
        buffer_bytes: u64,
        options: *const bfs_open_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_publish(filter: *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_supersede(filter: *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_close(filter: *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_shut(filter: *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_abandon(filter: *mut bfs_filter);
    pub fn bfs_save(
        filter: *const bfs_filter,
        path: *const c_char,
        options: *const bfs_copy_options,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_dump(
        filter: *const bfs_filter,
        buffer: *mut c_void,
        buffer_bytes: u64,
        flags: u64,
        out_bytes: *mut u64,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_load(
        bytes: *const c_void,
        num_bytes: u64,
        options: *const bfs_open_options,
        out: *mut *mut bfs_filter,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_merge(into: *mut bfs_filter, from: *const bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_intersect(
        filters: *const *const bfs_filter,
        count: usize,
        path: *const c_char,
        options: *const bfs_copy_options,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_compare(
        a: *const bfs_filter,
        b: *const bfs_filter,
        out: *mut bfs_comparison,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_import_bits(
        filter: *mut bfs_filter,
        bits: *const c_void,
        num_bytes: u64,
        order: u32,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_export_bits(
        filter: *const bfs_filter,
        bits: *mut c_void,
        num_bytes: u64,
        order: u32,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_seal(
        from: *const c_char,
        to: *const c_char,
        options: *const bfs_copy_options,
        error: *mut bfs_error,
    ) -> i32;
    pub fn bfs_verify(
        path: *const c_char,
        flags: u64,
        damaged: *mut bfs_range,
        capacity: usize,
        error: *mut bfs_error,
    ) -> i64;
    pub fn bfs_add(filter: *mut bfs_filter, key: *const c_void, key_bytes: usize) -> i32;
    pub fn bfs_add_digest(filter: *mut bfs_filter, digest: u64) -> i32;
    pub fn bfs_remove(filter: *mut bfs_filter, key: *const c_void, key_bytes: usize) -> i32;
    pub fn bfs_remove_digest(filter: *mut bfs_filter, digest: u64) -> i32;
    pub fn bfs_count(filter: *const bfs_filter, key: *const c_void, key_bytes: usize) -> i32;
    pub fn bfs_count_digest(filter: *const bfs_filter, digest: u64) -> i32;
    pub fn bfs_contains(filter: *const bfs_filter, key: *const c_void, key_bytes: usize) -> i32;
    pub fn bfs_contains_digest(filter: *const bfs_filter, digest: u64) -> i32;
    pub fn bfs_digest(filter: *const bfs_filter, key: *const c_void, key_bytes: usize, out_digest: *mut u64) -> i32;
    pub fn bfs_add_keys(filter: *mut bfs_filter, keys: *const bfs_keys) -> i64;
    pub fn bfs_remove_keys(filter: *mut bfs_filter, keys: *const bfs_keys) -> i64;
    pub fn bfs_contains_keys(filter: *const bfs_filter, keys: *const bfs_keys, answers: *mut u8) -> i64;
    pub fn bfs_select_keys(filter: *const bfs_filter, keys: *const bfs_keys, indices: *mut u32) -> i64;
    pub fn bfs_digest_keys(filter: *const bfs_filter, keys: *const bfs_keys, digests: *mut u64) -> i64;
    pub fn bfs_add_digests(filter: *mut bfs_filter, digests: *const u64, count: usize) -> i64;
    pub fn bfs_contains_digests(filter: *const bfs_filter, digests: *const u64, count: usize, answers: *mut u8) -> i64;
    pub fn bfs_use_threads(filter: *mut bfs_filter, threads: u32, error: *mut bfs_error) -> i32;
    pub fn bfs_bare_contains(buffer: *const c_void, bytes: u64, key: *const c_void, key_bytes: usize) -> i32;
    pub fn bfs_bare_contains_digest(buffer: *const c_void, bytes: u64, digest: u64) -> i32;
    pub fn bfs_bare_bytes(num_keys: u64, bits_per_key: f64, layout: u32) -> u64;
    pub fn bfs_bare_build(buffer: *mut c_void, bytes: u64, layout: u32, keys: *const bfs_keys) -> i32;
    pub fn bfs_bare_build_digests(
        buffer: *mut c_void,
        bytes: u64,
        layout: u32,
        hash: u32,
        digests: *const u64,
        count: usize,
    ) -> i32;
    pub fn bfs_sync(filter: *mut bfs_filter, owner: u64, epoch: u64, mark: u64, error: *mut bfs_error) -> i32;
    pub fn bfs_get_mark(filter: *const bfs_filter, owner: u64, epoch: u64) -> u64;
    pub fn bfs_list_marks(
        filter: *const bfs_filter,
        marks: *mut bfs_owner_mark,
        capacity: usize,
        error: *mut bfs_error,
    ) -> i64;
    pub fn bfs_drop_owner(filter: *mut bfs_filter, owner: u64, error: *mut bfs_error) -> i32;
    pub fn bfs_finish_recovery(filter: *mut bfs_filter, owner: u64, error: *mut bfs_error) -> i32;
    pub fn bfs_finish_filling(filter: *mut bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_health(filter: *const bfs_filter) -> i32;
    pub fn bfs_is_current(filter: *const bfs_filter, error: *mut bfs_error) -> i32;
    pub fn bfs_get_note(filter: *const bfs_filter, buffer: *mut c_void, capacity: usize, error: *mut bfs_error) -> i64;
    pub fn bfs_get_seeds(filter: *const bfs_filter, seeds: *mut u32, capacity: usize, error: *mut bfs_error) -> i64;
    pub fn bfs_stats(filter: *const bfs_filter, flags: u64, out: *mut bfs_statistics, error: *mut bfs_error) -> i32;
}

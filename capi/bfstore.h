/* bfstore: Bloom filters in files, which any number of processes and any language share through a memory map.
 *
 * A filter answers one question about a set of keys: can this key be in it?  "No" is certain, and saves a disk read or
 * a network call.  "Maybe" is wrong for a small share of the absent keys, the false-positive rate.  Every error and
 * every doubt is "maybe".  Make it for the most keys that may come (capacity_at_most); only the layout growing grows.
 *
 * A program needs this header alone.  The others are for the same library:
 *   bfstore_engine.h   a filter in front of a database: marks, recovery, online builds, digests; all options and flags
 *   bfstore_sets.h     copies, sealed files, unions, intersections, parts; removing keys; planning
 *   bfstore_memory.h   filters in buffers and in bytes from anywhere; the bare form for blocks of tables
 *   bfstore_interop.h  filters of other programs
 *
 * - Results: below 0 is a code (bfstore_codes.h); 0 is BFS_OK where nothing is counted.  `error` may be NULL; otherwise
 *   set its struct_bytes (BFS_ERROR_INIT does), and a call that fails fills it in.  No function changes errno.
 * - Structs begin with their size, which BFS_..._INIT sets.  In options, zero and NULL are "not given".
 * - Keys are bytes; the empty key is a key.  Programs that share a file encode keys alike: text is UTF-8 without a
 *   terminator, an integer is 8 bytes, little-endian, a UUID its 16 bytes.
 * - Threads: any number may use one handle at once; bfs_close needs it for itself.  Processes: any number may have one
 *   file open.  The child of a fork may ask, and close; to add, it opens the path again (otherwise BFS_EFORKED).
 * - A function without a "Waits" line never waits for another process.  No call needs more than 24 KiB of stack.
 * Status: not released.  From 1.0 on every declaration keeps its meaning, numbers and layout (COMPATIBILITY.md). */
#ifndef BFSTORE_H
#define BFSTORE_H

#include <bfstore_codes.h>
#ifdef __cplusplus
extern "C" {
#endif

/* --- Making, opening, closing ------------------------------------------------------------------------------------- */

/* A filter.  A function that makes one gives it to the caller, which ends it with bfs_close. */
typedef struct bfs_filter bfs_filter;
struct bfs_owner_mark;

#define BFS_LAYOUT_BLOCKED 1 /* default: one line of 64 bytes a key, so a lookup costs one cache miss */
#define BFS_LAYOUT_CLASSIC 2 /* k bits anywhere: the lowest false-positive rate, and k cache misses */
#define BFS_HASH_XXH3 1      /* default: XXH3-64 with a random seed, which is in the file */
#define BFS_HASH_SIPHASH 3   /* SipHash-2-4 with a secret, for keys that strangers choose */

/* How to make and open a filter.  Give capacity, and fpr. */
typedef struct bfs_options {
  uint32_t struct_bytes; /* sizeof(bfs_options) */
  uint32_t mode;         /* permission bits, less the umask; 0: those of the file that is replaced, or 0600 */
  uint64_t capacity;     /* n: distinct keys.  Beyond it the rate rises above fpr */
  double fpr;            /* p: the false-positive rate wanted at n keys, 0 < p < 1; 0: one in a hundred */
  uint32_t layout, hash; /* BFS_LAYOUT_*, BFS_HASH_* */
  const char* like;      /* instead of all this: a file whose m, k, n, p, layout, hash and seed are taken */
  const void* secret;    /* 16 bytes: the secret of BFS_HASH_SIPHASH, to make and to open.  Copied, never stored */
  uint64_t secret_bytes; /* 16, or 0 if no secret is given */
  /* Rare: bfstore_engine.h describes these. */
  uint32_t lock_timeout_ms, writeback_check_ms, threads, num_probes, part, num_parts;
  double bits_per_key;
  uint64_t max_bytes, num_bits, note_bytes, num_seeds, window_ms, capacity_at_most;
  const uint32_t* seeds;
  const uint64_t* seed;
  const void* note;
  const uint8_t* file_id;
  const struct bfs_range* range;
  const int32_t* fd;
} bfs_options;
#define BFS_OPTIONS_INIT \
  { sizeof(bfs_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Flags.  One bit has one meaning in every function.  A bit that a function does not take is BFS_EINVAL. */
#define BFS_READ 0x1ull         /* ask.  Takes no lock that lasts */
#define BFS_WRITE 0x2ull        /* ask and add, concurrently with any number of other writers */
#define BFS_EXCLUSIVE 0x4ull    /* ask and add as the only writer, several times as fast; also of bfs_create */
#define BFS_CREATE 0x8ull       /* bfs_open for writing: if there is no file, make it */
#define BFS_POPULATE 0x10ull    /* read the whole file into memory now, so that no lookup waits for the disk */
#define BFS_GUARD 0x80ull       /* a page that cannot be read is "maybe", and no SIGBUS: see guide/sharing.md */
#define BFS_FOLLOW 0x8000ull    /* reading: continue with the file that replaces this one, if that is `like` it */
#define BFS_REPLACE 0x200000ull /* making: replace another file.  Its handles answer "maybe" then, and add nothing */

/* Makes a new filter file, open for writing and empty: readers get "no" until keys are added.  The complete, durable
 * file appears under its name, or nothing does.  Its blocks are allocated, so adding cannot run out of disk.  *out is
 * NULL on error.  To clear a filter, replace it by one that is made `like` it.
 * Flags: BFS_EXCLUSIVE, POPULATE, GUARD, REPLACE.  Waits: for the locks of the file that is replaced.
 * Codes: EUNSUPPORTED, system, shape, EPOISONED, EFAULT, malformed (of `like`, and of what is replaced). */
BFS_API BFS_CHECK int32_t bfs_create(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out,
                                     bfs_error* error);

/* Opens a filter file, or, for reading, a text file that lists the parts of one (bfstore_sets.h).  `options` may be
 * NULL.  *out is NULL on error.  BFS_EUNCLEAN, BFS_EPOISONED, BFS_ERECOVERING: keys may be missing after a power cut, a
 * failed disk, or a kill in the middle of a sync, a close or an open (a process that is killed while it adds loses
 * nothing).  Build the file again, or recover it (bfstore_engine.h).
 * With BFS_CREATE (and BFS_WRITE or BFS_EXCLUSIVE) the call returns 1 if it made the file, and 0 if the file was there.
 * Any number of processes may do so at once: one makes it.  The layout, hash, seed, secret, part and window in
 * `options` must be those of the file (BFS_EMISMATCH, BFS_ESECRET); its size may be another.  No file is replaced.
 * Never cp over an open file or truncate it (lost keys; SIGBUS without GUARD), or put an old copy back (operating.md).
 * Flags: one of BFS_READ, WRITE and EXCLUSIVE; CREATE, POPULATE, GUARD, FOLLOW.  Waits: for the lock of the file's
 * state, 5 seconds at most, and for the disk.  Codes: EUNSUPPORTED, system, shape, state, malformed. */
BFS_API BFS_CHECK int32_t bfs_open(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out,
                                   bfs_error* error);

/* Makes everything that was added before the call durable.  A failure poisons the file for every process: a failed sync
 * cannot be retried.  `mark` is NULL, or a position in an engine's log (bfstore_engine.h).
 * Waits: for two locks and for the disk.  Codes: EREADONLY, EOWNERS, EFORKED, ESHUT, system, state. */
BFS_API BFS_CHECK int32_t bfs_sync(bfs_filter* filter, const struct bfs_owner_mark* mark, bfs_error* error);

/* Closes and frees the handle, whatever it returns.  The last writer of a file syncs it and marks it clean.  If that
 * fails, this returns why, and the next bfs_open says so, too.  NULL is BFS_OK.  Waits: a writer, as bfs_sync.
 * Codes: system (EBUSY: the file stays dirty, and loses nothing), state (ESUPERSEDED, if no call has said so). */
BFS_API int32_t bfs_close(bfs_filter* filter, bfs_error* error);

/* --- Keys --------------------------------------------------------------------------------------------------------- */

/* Adds a key.  Adding it again changes nothing and dirties no page.  Readers in every process see it once this returns.
 * It survives a killed process at once, and a power cut after a later bfs_sync or the close of the last writer.
 * Returns 1 if the key was new, 0 if it may have been there; 1 may be told to several that add one key at one moment.
 * Below 0 the key does not count as added, although some of its bits may be set.  Codes: handle, state. */
BFS_API BFS_CHECK int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes);

/* Returns 0 if the key was certainly never added (or was removed), 1 if it may have been, or if the file is in doubt
 * (bfs_health).  Only 0 is a no.  Codes: EDIGESTONLY, EPART. */
BFS_API int32_t bfs_contains(const bfs_filter* filter, const void* key, size_t key_bytes);

typedef struct bfs_key { /* one key of BFS_KEYS_PAIRS */
  const void* data;
  size_t bytes;
} bfs_key;
#define BFS_KEYS_POINTERS 1 /* key i: lengths[i] bytes at ((const void* const*)data)[i] */
#define BFS_KEYS_PAIRS 2    /* key i: ((const bfs_key*)data)[i], as iovec; bfstore_engine.h has the other kinds */
/* Many keys, in the caller's own form.  This is a view: the memory stays the caller's, and no thread may change it
 * during a call.  Pointers and offsets are checked before any key is read: a fault is BFS_EINVAL, and adds nothing. */
typedef struct bfs_keys {
  uint32_t struct_bytes; /* sizeof(bfs_keys) */
  uint32_t kind;         /* BFS_KEYS_* */
  uint64_t count;
  const void* data;
  uint64_t data_bytes;
  const size_t* lengths;
  const void* offsets;
  uint64_t key_bytes, stride;
  const uint8_t* validity;
  uint64_t validity_offset, scratch_bytes;
  void* scratch;
} bfs_keys;
#define BFS_KEYS_INIT \
  { sizeof(bfs_keys), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Returns how many keys were certainly new.  Below 0 none counts as added, though some may be.  Codes: as bfs_add. */
BFS_API BFS_CHECK int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys);

/* answers[i] = 0 if key i is certainly absent, otherwise 1.  Returns how many may be present.  Below 0 all keys->count
 * answers are 1 (none is written if `keys` cannot be read).  Codes: EDIGESTONLY, EKEYONLY, EPART. */
BFS_API int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers);

/* Makes a new filter file of these keys.  No process sees it before it is complete.  capacity 0: their number; more
 * keys than a given one are BFS_EFULL, and no file; no key at all replaces no file (BFS_EINVAL).  *out, unless NULL,
 * only asks.  Flags: BFS_POPULATE, GUARD, REPLACE.  Waits and codes: as bfs_create, handle, EFULL. */
BFS_API BFS_CHECK int32_t bfs_build(const char* path, uint64_t flags, const bfs_options* options, const bfs_keys* keys,
                                    bfs_filter** out, bfs_error* error);

/* --- Is it still good? -------------------------------------------------------------------------------------------- */

/* BFS_OK, or why every answer is "maybe" now.  Reads memory alone: a long-running reader may ask often.
 * Codes: ESHUT, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFAULT, EFILLING, ELATER. */
BFS_API int32_t bfs_health(const bfs_filter* filter);

/* 1 if the path still names this file.  0 if the file was replaced, removed, renamed, truncated or overwritten: open
 * the path again.  Asks the file system: too slow for every lookup.  Waits: as bfs_open for reading.
 * Codes: EFORKED, ESHUT, ENOMEM, ESYSTEM, EACCES. */
BFS_API int32_t bfs_is_current(const bfs_filter* filter, bfs_error* error);

/* Facts about an open filter: bfstore_engine.h describes the rare ones. */
typedef struct bfs_statistics {
  uint32_t struct_bytes; /* in: sizeof(bfs_statistics) */
  int32_t health;        /* bfs_health */
  uint64_t capacity;     /* n */
  double fpr;            /* p promised at n keys */
  uint64_t num_bits;     /* m */
  uint32_t num_probes;   /* k */
  uint32_t saturated;    /* 1 if more keys were added than `capacity`: the rate is above the promise */
  uint64_t keys_added;   /* adds that changed a bit; kept after a close and a killed writer; 0 in buffers */
  uint32_t layout, hash, part, num_parts, num_seeds, note_bytes, epochs, turn_due;
  uint64_t seed, body_bytes, keys_removed, epoch, turned_at, window_ms;
  uint32_t has_fill, has_memory; /* 1 if the flags asked for fill_ratio to counters_at_15; otherwise these are 0 */
  double fill_ratio, estimated_fpr, estimated_keys, estimated_keys_low, estimated_keys_high, keys_of_epochs[8];
  uint64_t huge_page_bytes, resident_bytes, set_bits, counters_at_15;
  uint8_t file_id[16];
  char isa[16];
  uint32_t seeds[64];
  uint8_t note[1024];
} bfs_statistics;
#define BFS_STATISTICS_INIT                                                                                          \
  {                                                                                                                  \
    sizeof(bfs_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, \
        0, 0, 0, 0, {0}, {0}, {0}, {                                                                                 \
      0                                                                                                              \
    }                                                                                                                \
  }
#define BFS_STATS_FILL 0x1000000ull /* counts the bits: reads the whole body */
/* Fills in *out.  Flags: 0, or BFS_STATS_FILL.  Codes: ENOMEM. */
BFS_API int32_t bfs_stats(const bfs_filter* filter, uint64_t flags, bfs_statistics* out, bfs_error* error);

#ifdef __cplusplus
}
#endif
#endif

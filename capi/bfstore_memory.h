/* bfstore in memory: filters in the caller's buffers, in bytes from anywhere and in ranges of other files; and the bare
 * form, for an engine with a small filter in each block of its tables.  guide/memory.md has the essays. */
#ifndef BFSTORE_MEMORY_H
#define BFSTORE_MEMORY_H

#include <bfstore_sets.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BFS_BARE 0x80000ull /* the bare form: a body and an 8-byte trailer, nothing else */

/* --- Filters in buffers ------------------------------------------------------------------------------------------- */

/* Makes a new, empty filter in the caller's buffer, which is 64-byte aligned, stays the caller's and must outlive the
 * handle.  No file is touched: the caller saves the bytes.  Returns how many bytes the filter needs.  If `buffer` is
 * NULL, that is all, and `out` may be NULL; a buffer that is shorter is BFS_EINVAL.  *out is NULL on error.
 * A handle of a buffer that is not exclusive works in both processes after a fork; they share what it adds if they
 * share the memory. Flags: BFS_BARE, and BFS_EXCLUSIVE, which is the caller's promise.  Options: those of bfs_create
 * but mode, locks, part.  Codes: EUNSUPPORTED, ENOMEM, shape; of `like` what bfs_open returns. */
BFS_API BFS_CHECK int64_t bfs_format(void* buffer, uint64_t buffer_bytes, uint64_t flags, const bfs_options* options,
                                     bfs_filter** out, bfs_error* error);

/* Opens a filter in memory: an embedded filter (bfs_format, bfs_dump), with BFS_BARE exactly a bare one.
 * Without BFS_PRIVATE it is asked in place: `bytes` is 64-byte aligned and must outlive the handle.  With BFS_READ it
 * is never written to; with BFS_WRITE it is the caller's to change. With BFS_PRIVATE the bytes are at any address, come
 * from anywhere (an object store, a database, a message), and are copied into memory that bfs_close frees.  They may be
 * a whole filter file, too, that is clean; any other file is the code of its state, BFS_EUNCLEAN if it was in use.  The
 * bytes of a sealed file are compared with its checksums.  Keys that are added with BFS_WRITE are in memory alone: see
 * bfs_copy.  The marks and the count of keys of a file are those of its bytes. Flags: BFS_READ or BFS_WRITE; BFS_BARE,
 * PRIVATE.  Options: NULL, or secret. Codes: EUNSUPPORTED, ENOMEM, ESECRET, state, malformed. */
BFS_API BFS_CHECK int32_t bfs_open_memory(const void* bytes, uint64_t num_bytes, uint64_t flags,
                                          const bfs_options* options, bfs_filter** out, bfs_error* error);

/* bfs_options.range, of bfs_open for reading: reads in place an embedded filter in a file of any other format.  It
 * begins at range->offset, a multiple of 64, and is at most range->bytes long (0: up to the end of the file).  When the
 * range is overwritten or zero-filled, or truncated and grown again to its old length or more, lookups answer "maybe",
 * and bfs_health is BFS_ELOST.  While it is shorter, a lookup there is a SIGBUS without BFS_GUARD.
 * It goes with BFS_POPULATE, RANDOM, GUARD, PRIVATE, NOFOLLOW, NO_WRITE and ANY_FILESYSTEM. */

/* Writes what bfs_copy copies into the caller's memory, at any address, as an embedded filter, or with BFS_BARE in the
 * bare form.  Returns how many bytes that takes.  If `buffer` is NULL, that is all.  Embedded filters have no marks: if
 * you need them, call bfs_list_marks before this, and keep them with the bytes.  In the bare form a note, a seed,
 * seeds, a secret and an m that is no multiple of 64 are BFS_EINVAL, and n and p are lost.  BFS_EINVAL too if the
 * buffer is too short, or is the filter's own.  On an error no whole filter was written.  A handle of BFS_FOLLOW may
 * need another number of bytes in each call. Flags: BFS_BARE, SAME_FILE_ID.  Waits: as a copy.  Codes: EUNSUPPORTED (it
 * grows), group copy. */
BFS_API BFS_CHECK int64_t bfs_dump(const bfs_filter* filter, void* buffer, uint64_t buffer_bytes, uint64_t flags,
                                   bfs_error* error);

/* --- Bare filters without a handle -------------------------------------------------------------------------------- */

/* `buffer` is exactly the filter, at any address.  These functions allocate nothing and take no lock.  Any number of
 * threads may call them; no thread may change the buffer during a call.  If this CPU cannot run BFSTORE_FORCE_ISA, the
 * scalar kernel answers. */

/* Returns 0 if the filter was certainly built without the key, otherwise 1.  Also 1 if the buffer is NULL, is not a
 * bare filter that this library understands (trailer, length, layout, hash), or has a hash that takes no keys
 * (BFS_HASH_EXTERNAL).  Never below 0.  Damage to the body is not detected: a body has no checksum.  A digest is
 * XXH3_64bits(key, key_bytes), which is XXH3 with seed 0; with BFS_HASH_EXTERNAL it is the caller's own. */
BFS_API int32_t bfs_bare_contains(const void* buffer, uint64_t bytes, const void* key, size_t key_bytes);
BFS_API int32_t bfs_bare_contains_digest(const void* buffer, uint64_t bytes, uint64_t digest);

/* Computes the bytes of a bare filter of `num_keys` keys: the body, which is num_keys * bits_per_key bits rounded up to
 * 64 bytes for BFS_LAYOUT_BLOCKED and BFS_LAYOUT_COUNTING and to 8 for BFS_LAYOUT_CLASSIC, and the trailer.  0 if no
 * such filter exists.  layout: 0 is the default. */
BFS_API uint64_t bfs_bare_bytes(uint64_t num_keys, double bits_per_key, uint32_t layout);

/* Builds a bare filter of these keys that is exactly `bytes` long (see bfs_bare_bytes), and overwrites the buffer.  k
 * is the best for that many keys and bits.  The bytes are those of bfs_format with BFS_BARE, capacity = count (1 for
 * none) and max_bytes = bytes, followed by bfs_add.  layout and hash: 0 is the default.  None of the keys may be a
 * null. BFS_HASH_EXTERNAL takes digests alone (BFS_KEYS_DIGESTS).  Returns BFS_OK, or a code, and then the buffer is as
 * before. Codes: EDIGESTONLY, EUNSUPPORTED. */
BFS_API BFS_CHECK int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash,
                                         const bfs_keys* keys);

#ifdef __cplusplus
}
#endif

#endif

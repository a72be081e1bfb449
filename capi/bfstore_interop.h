/* bfstore's C ABI, filters of other programs: a filter file is made of their bytes, and their bytes are made of a
 * filter.  The conventions are those of bfstore.h.
 *
 * A format has a name, not a number: bfs_foreign_name has those that the library knows.
 *
 * raw      The m bits of a filter and nothing else, as Python's bitarray.tofile() or a C
 *          program's fwrite() leave them.  The caller says all of it: m and k (or `like`), the hash and its seed or
 *          seeds, n if it is known, and in which order the bits of a byte are.
 * jaybird  The file that BloomFilter.tofile() of Jay Baird's python-bloomfilter writes (the packages pybloom and
 *          pybloom-live): struct '<dQQQQ' with p, k, the bits of a slice, n and the number of keys; then the bits.
 *          Version 4 of pybloom-live changed the digest of small filters, and the file does not tell the version: such
 *          a filter needs BFS_HASH_JAYBIRD (before it) or BFS_HASH_PYBLOOM_LIVE.  The keys are str(key) in UTF-8.  The
 *          file of a ScalableBloomFilter is several filters, and BFS_EUNSUPPORTED.
 *
 * What the bytes do not say, no program can check: where the caller's m, k, hash, seed or order is another one than the
 * other program's, the filter answers no for keys that are in it.  So import with BFS_OPTION_UNPUBLISHED, ask for keys
 * that are known to be in the filter, and publish it if none of them is absent.
 *
 * Foreign bytes may be hostile: each number in them is checked before it is used, and a file is made only if as many
 * bytes are there as they say. */
#ifndef BFSTORE_INTEROP_H
#define BFSTORE_INTEROP_H

#include "bfstore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Filters of other programs ------------------------------------------------------------------------------------ */

/* Which format bytes have, or are to have. */
typedef struct bfs_foreign_form {
  uint32_t struct_bytes; /* sizeof(bfs_foreign_form) */
  uint32_t order;        /* BFS_BITS_* where the format needs it (BFS_FOREIGN_NEEDS_ORDER); otherwise 0 */
  const char* format;    /* its name: see bfs_foreign_name */
  const char* name;      /* of the bytes in messages, a path for instance; NULL: "the foreign filter" */
} bfs_foreign_form;
#define BFS_FOREIGN_FORM_INIT \
  { sizeof(bfs_foreign_form), 0, 0, 0 }

/* What the bytes of a foreign filter do not say, so that bfs_foreign_import needs it from its caller: bits of
 * bfs_foreign.needs. */
#define BFS_FOREIGN_NEEDS_SIZE 0x1u  /* m and k: bfs_options.num_bits and num_probes, or another way to give them */
#define BFS_FOREIGN_NEEDS_ORDER 0x2u /* bfs_foreign_form.order */
#define BFS_FOREIGN_NEEDS_HASH 0x4u  /* bfs_options.hash, and its seed or seeds */

/* What the bytes of a foreign filter say.  0: they do not say it. */
typedef struct bfs_foreign {
  uint32_t struct_bytes; /* in: sizeof(bfs_foreign) */
  uint32_t needs;        /* BFS_FOREIGN_NEEDS_* */
  uint32_t layout;       /* BFS_LAYOUT_*: that of every filter of the format */
  uint32_t hash;         /* BFS_HASH_* */
  uint64_t num_bits;     /* m */
  uint64_t capacity;     /* n: the keys that it is sized for */
  double fpr;            /* p at n keys */
  uint64_t keys;         /* how many the other program counted, if has_keys */
  uint64_t bytes;        /* how long all of the bytes have to be */
  uint32_t num_probes;   /* k */
  uint32_t has_keys;     /* 1: the bytes say how many keys were added */
} bfs_foreign;
#define BFS_FOREIGN_INIT \
  { sizeof(bfs_foreign), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The name of foreign format `index`, from 0 on: "raw", "jaybird".  NULL after the last one.  A later version of the
 * library may have more.  Static. */
BFS_API const char* bfs_foreign_name(uint32_t index);

/* Fills in *out with what the bytes of a foreign filter say.  Makes nothing.  `first` is at any address, may be NULL if
 * first_bytes is 0, and has the first bytes of the filter, as many as the caller likes, or all of them: so a caller
 * reads a pipe, asks here how many bytes the filter has, and reads on.  64 KiB are enough for the header of every
 * format above.
 * options: NULL, or those of a bfs_foreign_import that is to follow.  Then *out tells what it would make, or the code
 * says why it would make nothing; `bytes` is known also where the options alone say m.  `needs` is as without them.
 * On an error *out is as it was.
 * Flags and options: as bfs_foreign_import.
 * Waits for no lock.
 * Codes: EINVAL (the format is unknown, or the options contradict the bytes or lack something), ENOMEM, ETOOSHORT (the
 * bytes end within the header), EPROBES, EBITS, ECAPACITY (a number that no such filter has), EUNSUPPORTED (a kind of
 * filter that cannot be imported), ESIZING, EKEY; of `like` also ESYSTEM, EBUSY, ENOENT, EACCES, every malformed
 * code. */
BFS_API BFS_CHECK int32_t bfs_foreign_inspect(const bfs_foreign_form* form, const void* first, uint64_t first_bytes,
                                              const bfs_options* options, bfs_foreign* out, bfs_error* error);

/* Makes a new filter file of the bytes of a foreign filter, which are at any address, stay the caller's, and are not
 * used after the call.  The options say what the bytes do not, and how the file is made, as in bfs_create.  What the
 * bytes say themselves is not given: a size, a layout or a seed is BFS_EINVAL then.  The complete, durable, clean file
 * appears under its name with every bit, or nothing does, also if the process is killed or the power is cut.  The
 * handle only reads then.  With BFS_OPTION_UNPUBLISHED it asks and adds, and the file appears with bfs_publish.
 * The file has no marks.  Its count of keys is an estimate from the bits.  Where n is not known, it is where half of
 * the bits are set.
 * *out is NULL on error.
 * Flags: those of c but BFS_OPTION_FILLING.
 * Waits: with BFS_OPTION_REPLACE, for the locks of the file that is replaced.
 * Codes: EINVAL (also: an array has another length than the options say, or bits after the last one), ENOMEM, ESYSTEM,
 * EBUSY, EEXIST, ENOENT, EACCES, ENOSPC, ESIZING, EFILESYSTEM, EUNSUPPORTED, EKEY, EPOISONED, ELOST, ESUPERSEDED,
 * EFULL, EFAULT, every malformed code (of the bytes: ETOOSHORT, EPROBES, EBITS, ECAPACITY, and EBODY where they are not
 * as long as they say, or have bits after the last one). */
BFS_API BFS_CHECK int32_t bfs_foreign_import(const char* path, const bfs_foreign_form* form, const void* bytes,
                                             uint64_t num_bytes, const bfs_options* options, bfs_filter** out,
                                             bfs_error* error);

/* Writes a filter for another program into the caller's memory, at any address.  *out_bytes is how many bytes that
 * takes; if `buffer` is NULL, that is all; otherwise out_bytes may be NULL.  The bytes have every key whose add
 * returned before this call.  Other threads and processes may add meanwhile.  The seed, the seeds and the note are in
 * no format above, and in raw nothing is but the bits: the other program has to know m, k and the hash.
 * A filter that python-bloomfilter would size otherwise is BFS_EUNSUPPORTED in the format jaybird, because that program
 * makes copies of n and p: make it of a capacity and a rate alone.
 * On an error every one of the buffer_bytes is 0xff, which is "maybe" for every key, and no header of the formats above
 * that have one.
 * Waits: as long as the handle waits for locks, for a sync of the filter's file that is under way, by another thread or
 * process.
 * Codes: EINVAL (also: the buffer is too short), ENOMEM, ESYSTEM, EBUSY (recovered while it was copied; or in use, and
 * the handle writes nothing), ESIZING, EUNSUPPORTED (the format has no filter of this layout, hash or size), EFORKED,
 * ESHUT, EUNCLEAN, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESLOTS. */
BFS_API BFS_CHECK int32_t bfs_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, void* buffer,
                                             uint64_t buffer_bytes, uint64_t* out_bytes, bfs_error* error);

#ifdef __cplusplus
}
#endif

#endif

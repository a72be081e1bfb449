/* bfstore and filters of other programs: a filter file is made of their bytes, and their bytes are made of a filter.
 *
 * A format has a name, not a number: bfs_foreign_name has those that the library knows.
 *
 * raw      The m bits of a filter and nothing else, as Python's bitarray.tofile() or a C
 *          program's fwrite() leave them.  The caller says all of it: m and k (or `like`), the hash and its seed or
 *          seeds, n if it is known, and in which order the bits of a byte are.
 * jaybird  The file that BloomFilter.tofile() of Jay Baird's python-bloomfilter writes (the packages pybloom and
 *          pybloom-live): struct '<dQQQQ' with p, k, the bits of a slice, n and the number of keys; then the bits.
 *          Version 4 of pybloom-live changed the digest of small filters, and the file does not tell the version: such
 *          a filter needs BFS_HASH_JAYBIRD (before it) or BFS_HASH_PYBLOOM_LIVE.  The keys are str(key) in UTF-8.
 * jaybird-scalable
 *          The file of its ScalableBloomFilter: several filters, the first of p * (1 - 0.9).  Only read.
 * java-bytes
 *          The bytes of the class ByteBufferBloomFilter of tutorials in Java.  Their number is m / 8.
 * leveldb  One filter of LevelDB's built-in policy, as CreateFilter() appends it: the bits, and k in the last byte. The
 *          keys are what the policy gets: a user's keys, without the 8 bytes that LevelDB adds to them.
 * libbloom The file of bloom_save() of the C library libbloom, version 2, on a little-endian machine of 64 bits.
 *          Version 1 writes no file, and has other positions.
 * parquet  A whole file of Apache Parquet.  Each row group has a filter of its own for a column, which
 *          bfs_foreign_form.column names ("a.b" in a struct).  If a row group has rows and no filter of that column,
 *          the file is BFS_EUNSUPPORTED.  A key is a value in plain encoding: the bytes of a string, or a number in 4
 *          or 8 bytes, little-endian.  Only read.
 * sbbf     One split-block filter of Parquet with its header, as a file of Parquet has it.
 * pybloomfilter
 *          The file of BloomFilter of pybloomfiltermmap3 in Python.  The keys are the UTF-8 of a str, or bytes.
 * rbloom   The file of Bloom.save() of rbloom in Python.  Its hash function is the program's: BFS_HASH_RBLOOM is for
 *          SHA-256, first 16 bytes, big-endian, of the key's bytes.  The function of rbloom's documentation takes
 *          pickle.dumps(object): then the key is that pickle.
 * rocksdb  One full filter of RocksDB's NewBloomFilterPolicy (format_version 5 or later), as a filter block has it:
 *          with its trailer of 5 bytes, without the block's own.  No Ribbon filter, and none of an older
 *          format_version.
 * bip37    A filter of Bitcoin's BIP-37 as the message filterload has it: the data after its CompactSize, u32 k, u32
 *          tweak, u8 flags.  Keys are bytes (hashes, public keys, serialized outpoints), not their hexadecimal text.
 *          Probe i has the seed i * 0xfba4c795 + tweak of BFS_HASH_MURMUR3_UNSIGNED.  A filter without data or probes
 *          matches everything, and is refused.  The flags are not kept: an export has 0 (BLOOM_UPDATE_NONE).
 * bits-and-blooms
 *          What WriteTo() and MarshalBinary() of the Go module bits-and-blooms/bloom (version 3) write: m, k and the
 *          length of the bit set, u64 big-endian; then its words, u64 big-endian.
 * bits-and-blooms-json
 *          What its MarshalJSON() writes: one object with m, k, and b, the bit set in base64.  It is imported, and not
 *          exported or asked in place.
 * dcso     The file of DCSO's bloom (Go), which flor, fleur and poppy share: u64 1, n, f64 p, u64 k, m, the number of
 *          keys; then the bits in words of 64; then any bytes of its owner, which are not kept.  What the keys are is
 *          not in the file: those of CIRCL's hashlookup-full.bloom are SHA-1 digests as upper-case hexadecimal text.
 *          Where m is a power of two, that program's positions depend on each other, and its filters have many times
 *          the false positives that they were sized for; they do here, too.
 * guava    What BloomFilter.writeTo() of Google's Guava writes: u8 strategy (1: BFS_HASH_GUAVA; 0, the older one:
 *          BFS_HASH_GUAVA_32), u8 k, i32 number of longs, the longs, all big-endian.  Its funnel made bytes of the
 *          keys, and is not in the file.  Give bytes as they are for stringFunnel(UTF_8) and byteArrayFunnel(), UTF-16
 *          with the low byte first for unencodedCharsFunnel(), and 4 or 8 bytes with the low byte first for
 *          integerFunnel() and longFunnel().
 * redisbloom
 *          The chunks of BF.SCANDUMP of RedisBloom, one after the other: the header, then the data.  A chain that grew
 *          is several filters.  A dump of the oldest versions, with a hash of 32 bits, is BFS_EUNSUPPORTED.  An export
 *          is a chain of one filter: BF.LOADCHUNK takes its first 73 bytes with the iterator 1, and then the others,
 *          at most 16 MiB at a time, with 1 + the number of bytes of this and all chunks of data before.
 *
 * What the bytes do not say, no program can check: where the caller's m, k, hash, seed or order is another one than the
 * other program's, the filter answers no for keys that are in it.  So import with BFS_UNPUBLISHED, ask for keys
 * that are known to be in the filter, and publish it if none of them is absent.
 *
 * Foreign bytes may be hostile: each number in them is checked before it is used, and a file is made only if as many
 * bytes are there as they say. */
#ifndef BFSTORE_INTEROP_H
#define BFSTORE_INTEROP_H

#include <bfstore_sets.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Hashes of other programs ------------------------------------------------------------------------------------- */

/* These are for the bits of other programs, such as those with Python's mmh3 and bitarray.  They have no digests
 * (BFS_EKEYONLY): MurmurHash3_x86_32 with k listed seeds (bfs_options.seeds; not given: 0, 1, .. k - 1) gives the
 * positions of a key's k bits.  Only the classic layout takes them, and it is the default then.  m is at most 2^32.
 * Such a filter cannot be folded, and has no bare form.  Anyone can choose keys that fill it, so do not use it for keys
 * that strangers choose. BFS_HASH_JAVA_POLYNOMIAL is the hash of tutorials in Java.  Its seeds have to be listed (5, 7,
 * 11, 13, 31, 37, 61 in most tutorials), and its m is at most 2^31 - 1.  An m that is not a power of two is used as
 * those programs use it: h & (m - 1) reaches only 2^popcount(m - 1) positions, and rates and estimates are those of so
 * many bits.  A key's bytes are UTF-8; other bytes count as U+FFFD, as Java decodes them. */
#define BFS_HASH_MURMUR3 4          /* bit i: mmh3.hash(key, seeds[i]) % m, of a signed hash and with Python's % */
#define BFS_HASH_MURMUR3_UNSIGNED 5 /* bit i: mmh3.hash(key, seeds[i], signed=False) % m */
#define BFS_HASH_JAVA_POLYNOMIAL 6  /* bit i: h & (m - 1), h = seeds[i] * h + unit (int) for each UTF-16 unit */
/* These have neither digests nor seeds.  They give the positions of BloomFilter in Jay Baird's python-bloomfilter (the
 * packages pybloom and pybloom-live): m is a multiple of k, and a key has one bit in each of k slices.  The positions
 * come from salted message digests; m and k decide which.  The smallest one (for at most 8 slices shorter than 2^15
 * bits, 4 shorter than 2^31, or 2) is MD5, and XXH3-128 since pybloom-live 4.  With the others both hashes are equal.
 * Here, too, anyone can choose keys that fill the filter.  bfstore's rates and key counts assume that all bits of a
 * slice are equally likely.  In slices of 2^14 to 2^15 or 2^30 to 2^31 bits they are not: the real rate is up to a
 * third higher at k = 10 (more with more probes), and the filter has up to 1.5 % more keys than estimated. */
#define BFS_HASH_JAYBIRD 7
#define BFS_HASH_PYBLOOM_LIVE 8 /* of version 4 or later */
/* These, too, have no digests, and are for filters that other programs made or are to read.  Strangers who choose keys
 * can fill such a filter.  FORMAT.md ("Hashes") has the exact positions. */
#define BFS_HASH_DCSO 9             /* DCSO's bloom, flor, fleur and poppy: FNV-1 and a generator */
#define BFS_HASH_GUAVA 10           /* Guava's BloomFilter (MURMUR128_MITZ_64) */
#define BFS_HASH_GUAVA_32 11        /* Guava's older strategy (MURMUR128_MITZ_32) */
#define BFS_HASH_REDISBLOOM 12      /* RedisBloom's BF commands (MurmurHash64A twice) */
#define BFS_HASH_PYBLOOMFILTER 13   /* pybloomfiltermmap3 (MurmurHash3_x64_128 with listed seeds) */
#define BFS_HASH_LEVELDB 14         /* LevelDB's built-in filter */
#define BFS_HASH_ROCKSDB 15         /* RocksDB's filter of format_version 5: XXPH3 and one cache line */
#define BFS_HASH_PARQUET 16         /* Parquet's split-block filter: XXH64 and one block of 32 bytes */
#define BFS_HASH_BITS_AND_BLOOMS 17 /* the Go module bits-and-blooms/bloom */
#define BFS_HASH_LIBBLOOM 18        /* the C library libbloom (murmurhash2) */
#define BFS_HASH_RBLOOM 19          /* rbloom with the hash function of its documentation (SHA-256) */
#define BFS_HASH_JAVA_BYTES 20      /* ByteBufferBloomFilter of tutorials in Java */

#define BFS_TUTORIAL_SIZING 0x10000000ull
/* Making, with capacity and fpr.  The m and k of most tutorials: m = int(-n ln p / (ln 2)^2), k = int(m / n ln 2). Both
 * are cut off, so the rate (see bfs_stats) is a little above fpr.  BFS_HASH_JAYBIRD and BFS_HASH_PYBLOOM_LIVE have the
 * sizes of their program, even without this flag: k = ceil(log2(1 / p)), m = k * ceil(n |ln p| / (k (ln 2)^2)). */

/* --- Bit arrays of other programs --------------------------------------------------------------------------------- */

/* Which bit of a byte comes first in a bit array. */
#define BFS_BITS_LITTLE 1 /* the lowest: most programs in C, Java's BitSet, Python's bitarray(endian="little") */
#define BFS_BITS_BIG 2    /* the highest: Python's bitarray, unless it is told otherwise */

/* Takes in the bit array of another program: sets bit i of the filter where bit i of the array is 1.  The layout is
 * classic, and the filter has the m, k, hash and seeds of that program.  `bits` is at any address, and num_bytes is
 * exactly what m bits need; the bits after the last one are 0.  `order`: BFS_BITS_*.
 * Nothing in an array tells its m, hash, seeds or order.  Where one of them is another one, the filter answers no for
 * keys that the array has: so ask for keys that are known to be in it, before the filter is used.
 * Other threads and processes may ask and add meanwhile.  Nothing is durable before the next sync or close.  The count
 * of keys grows by an estimate of the new ones.  After an error some of the bits may be in the filter, which does no
 * harm: call again.
 * Codes: ENOMEM, EREADONLY, EUNSUPPORTED, EFORKED, ESHUT, state. */
BFS_API BFS_CHECK int32_t bfs_import_bits(bfs_filter* filter, const void* bits, uint64_t num_bytes, uint32_t order,
                                          bfs_error* error);

/* Writes the filter's m bits as an array for another program, with zeros after the last one; num_bytes is exactly what
 * m bits need.  The array has every key whose add returned before this call.  On an error every bit of it is 1, where
 * the pointer is not NULL and an array can be so long.
 * Waits: as a copy.  Codes: EUNSUPPORTED, group copy. */
BFS_API BFS_CHECK int32_t bfs_export_bits(const bfs_filter* filter, void* bits, uint64_t num_bytes, uint32_t order,
                                          bfs_error* error);

/* --- Filters of other programs ------------------------------------------------------------------------------------ */

/* Which format bytes have, or are to have. */
typedef struct bfs_foreign_form {
  uint32_t struct_bytes; /* sizeof(bfs_foreign_form) */
  uint32_t order;        /* BFS_BITS_* where the format needs it (BFS_FOREIGN_NEEDS_ORDER); otherwise 0 */
  const char* format;    /* its name: see bfs_foreign_name */
  const char* name;      /* of the bytes in messages, a path for instance; NULL: "the foreign filter" */
  const char* column;    /* where the format needs it (BFS_FOREIGN_NEEDS_COLUMN); otherwise NULL */
  uint32_t member;       /* the only one of several filters that is meant, from 1; 0: all of them */
  uint32_t reserved;     /* 0 */
} bfs_foreign_form;
#define BFS_FOREIGN_FORM_INIT \
  { sizeof(bfs_foreign_form), 0, 0, 0, 0, 0, 0 }

/* What the bytes of a foreign filter do not say, so that bfs_foreign_import needs it from its caller: bits of
 * bfs_foreign.needs. */
#define BFS_FOREIGN_NEEDS_SIZE 0x1u   /* m and k: bfs_options.num_bits and num_probes, or another way to give them */
#define BFS_FOREIGN_NEEDS_ORDER 0x2u  /* bfs_foreign_form.order */
#define BFS_FOREIGN_NEEDS_HASH 0x4u   /* bfs_options.hash, and its seed or seeds */
#define BFS_FOREIGN_NEEDS_COLUMN 0x8u /* bfs_foreign_form.column */
#define BFS_FOREIGN_NEEDS_ALL 0x10u   /* all of the bytes, where of other formats the first 64 KiB are enough */

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
  uint64_t bytes;        /* how long all of the bytes have to be; 0 in a format of several filters */
  uint32_t num_probes;   /* k */
  uint32_t has_keys;     /* 1: the bytes say how many keys were added */
  uint32_t filters;      /* how many the bytes have; the other fields are those of the first one */
  uint32_t reserved;     /* 0 */
} bfs_foreign;
#define BFS_FOREIGN_INIT \
  { sizeof(bfs_foreign), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The name of foreign format `index`, from 0 on: "raw", "jaybird".  NULL after the last one.  A later version of the
 * library may have more.  Static. */
BFS_API const char* bfs_foreign_name(uint32_t index);

/* Fills in *out with what the bytes of a foreign filter say.  Makes nothing.  `first` is at any address, may be NULL if
 * first_bytes is 0, and has the first bytes of the filter, as many as the caller likes, or all of them: so a caller
 * reads a pipe, asks here how many bytes the filter has, and reads on.  64 KiB are enough for the header of every
 * format but those that need all of the bytes (BFS_FOREIGN_NEEDS_ALL).
 * options: NULL, or those of a bfs_foreign_import that is to follow.  Then *out tells what it would make, or the code
 * says why it would make nothing; `bytes` is known also where the options alone say m.  `needs` is as without them.
 * On an error *out is as it was.
 * Flags and options: as bfs_foreign_import; without options no flags.
 * Codes: ENOMEM, EUNSUPPORTED (a kind of filter that cannot be imported), EMALFORMED (the bytes end within the header,
 * or have a number that no such filter has), shape; of `like` what bfs_open returns.  EINVAL also where the format is
 * unknown, or the options contradict the bytes or lack something. */
BFS_API BFS_CHECK int32_t bfs_foreign_inspect(const bfs_foreign_form* form, const void* first, uint64_t first_bytes,
                                              uint64_t flags, const bfs_options* options, bfs_foreign* out,
                                              bfs_error* error);

/* Sets *name to that of foreign format `index`, from 0 on, of those that all bytes of the file have: a filter whose
 * header agrees with itself and with the file's length.  NULL after the last one: at once if the file is of no format.
 * Several mean that the bytes do not tell which.  A format that needs m and k from its caller is never among them.
 * Static.  Flags: BFS_ANY_FILESYSTEM, BFS_NOFOLLOW.  Codes: EUNSUPPORTED, system, malformed. */
BFS_API BFS_CHECK int32_t bfs_foreign_recognize(const char* path, uint64_t flags, uint32_t index, const char** name,
                                                bfs_error* error);

/* Asks a file of another program in place: maps it, shared with every process that has it open, and makes no file.  The
 * handle only reads.  The options say what the bytes do not, as in bfs_foreign_import.  If the file has several
 * filters, a key is in it if one of them has it, unless form->member names one.
 * Such a file has no live word.  So a lookup that would answer no asks the system before (fstat, once for up to 64 keys
 * of a call) whether the file has still the bytes that were opened: inode, length and times.  After a change every
 * answer is maybe, and bfs_health is BFS_ELOST, for good.  So is a page that cannot be read (BFS_GUARD is always on).
 * A change by a process that writes through a mapping of its own shows late or never: with BFS_PRIVATE the handle asks
 * a copy of its own, and lookups make no call.  Right after a change of the file this call waits until a later change
 * would have another time: some milliseconds, or two seconds on a filesystem that keeps whole seconds.
 * bfs_copy makes a file of it; copies, comparisons and merges read it, unless it has several filters (EINVAL).
 * *out is NULL on error.
 * Flags: BFS_POPULATE, BFS_RANDOM, BFS_GUARD, BFS_PRIVATE, BFS_ANY_FILESYSTEM, BFS_NOFOLLOW, BFS_TUTORIAL_SIZING.
 * Options: those that give size, layout, hash, seed, seeds or like, and fd.  Waits: see above.
 * Codes: EUNSUPPORTED (also a hash that makes digests, such as xxh3), system (EBUSY: the file changed meanwhile),
 * shape, malformed. */
BFS_API BFS_CHECK int32_t bfs_foreign_open(const char* path, const bfs_foreign_form* form, uint64_t flags,
                                           const bfs_options* options, bfs_filter** out, bfs_error* error);

/* Makes a new filter file of the bytes of a foreign filter, which are at any address, stay the caller's, and are not
 * used after the call.  The options say what the bytes do not, and how the file is made, as in bfs_create.  What the
 * bytes say themselves is not given: a size, a layout or a seed is BFS_EINVAL then.  The complete, durable, clean file
 * appears under its name with every bit, or nothing does, also if the process is killed or the power is cut.  The
 * handle only reads then.  With BFS_UNPUBLISHED it asks and adds, and the file appears with bfs_publish.
 * The file has no marks.  Its count of keys is what the bytes say, or an estimate from the bits.  Where n is not known,
 * it is where half of the bits are set.
 * *out is NULL on error.
 * Flags and options: those of bfs_create, but BFS_FILLING.  Waits: as bfs_create.
 * Codes: as bfs_create, EMALFORMED (the bytes are no such filter, or not as long as they say), ELOST, ESUPERSEDED,
 * EFULL. EINVAL also where an array has another length than the options say, or bits after the last one. */
BFS_API BFS_CHECK int32_t bfs_foreign_import(const char* path, const bfs_foreign_form* form, const void* bytes,
                                             uint64_t num_bytes, uint64_t flags, const bfs_options* options,
                                             bfs_filter** out, bfs_error* error);

/* Writes a filter for another program into the caller's memory, at any address.  Returns how many bytes that takes; if
 * `buffer` is NULL, that is all.  The bytes have every key whose add returned before this call.  Other threads and
 * processes may add meanwhile.  The seed, the seeds and the note are in no format above, and in raw nothing is but the
 * bits: the other program has to know m, k and the hash.
 * A filter that python-bloomfilter would size otherwise is BFS_EUNSUPPORTED in the format jaybird, because that program
 * makes copies of n and p: make it of a capacity and a rate alone.
 * On an error every one of the buffer_bytes is 0xff, which is "maybe" for every key, and no header of the formats above
 * that have one.
 * Waits: as a copy.  Codes: EUNSUPPORTED (the format has no filter of this layout, hash or size), group copy. */
BFS_API BFS_CHECK int64_t bfs_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, void* buffer,
                                             uint64_t buffer_bytes, bfs_error* error);

/* --- Any of several ----------------------------------------------------------------------------------------------- */

/* Asks `count` filters about one key: lists from several sources, of this library or of other programs.  Returns how
 * many of them may have it.  Only 0 is a no, of each of them.  The key is hashed once for all neighbors in `filters`
 * with the same hash and the same seed or secret, and their cache misses are under way together.
 * which: NULL, and the call ends at the first maybe and returns 1; or `count` answers, 1 for maybe.
 * Below 0 each filter may have the key, and the answers that are not known are 1.  Codes: EDIGESTONLY, EPART. */
BFS_API int32_t bfs_contains_any(const bfs_filter* const* filters, size_t count, const void* key, size_t key_bytes,
                                 uint8_t* which);

#ifdef __cplusplus
}
#endif

#endif

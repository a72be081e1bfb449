/* bfstore_reader.h: looks up keys in bfstore's filter files, in one file to copy.  C99 or C++11, and no library.  It
 * only reads.  It was written from the format's specification (src/format/FORMAT.md), and shares no code with the
 * library.
 *
 *     #define BFSTORE_READER_IMPLEMENTATION // in one source of the program, before any system header
 *     #include "bfstore_reader.h"
 *
 *     bfr_filter users;
 *     int code = bfr_open(&users, "users.bf", 0, NULL);
 *     if (code != BFR_OK) return complain(bfr_error_text(code));
 *     if (bfr_contains(&users, "alice", 5) == BFR_ABSENT) return; // certain: only now the database may be left out
 *     bfr_close(&users);
 *
 * What it reads: files of version 2 with the layouts blocked, classic, counting, static, window, window-4, window-2 and
 * growing, and parts of them; with the hash XXH3-64, SipHash-2-4 under a secret, or digests of the caller's own hash.
 * It refuses every other file, with a code.  It opens only files that are clean: closed by their last writer, or
 * sealed. A file that a writer has open, or that a killed writer left, is BFR_EBUSY: the library opens these, after it
 * has asked the kernel what happened to their pages.  After a power cut a file of the layout growing may lack what it
 * grew by since its last sync.  It is BFR_ELIVEWORD then, and the library can recover it.
 *
 * Every doubt is BFR_MAYBE or a code, never BFR_ABSENT.  A writer may open the file later, and add: a key is found once
 * its add has returned.  If the file comes into doubt (a sync failed; it is recovered, replaced by bfstore, truncated
 * or overwritten), every answer is BFR_MAYBE, and bfr_health says why: open the path again.  Three things are not
 * noticed:
 * - Another program moves another file to the path.  Keys of that file alone are answered BFR_ABSENT until the path is
 *   opened again.
 * - The kernel fails to write a page that a writer changed, and drops it.  This reader does not ask the kernel.  A key
 * in that page is answered BFR_ABSENT until the writer asks, and marks the file.
 * - Bits rot in a file that is not sealed.  bfr_verify compares a sealed file with its checksums.
 * Where keys expire, BFR_ABSENT means: not added within the window.  A lookup during which an epoch ends is BFR_MAYBE.
 * A file of the layout growing may grow while it is open.  Its new slices are asked, too, where the system maps what is
 * behind a file's end, as Linux does.  Elsewhere (Windows, bfr_open_memory, too few addresses) every answer is
 * BFR_MAYBE then, and bfr_health is BFR_EGREW.
 *
 * A page that cannot be read, because the file was truncated or its disk fails, ends the process with SIGBUS (Windows:
 * EXCEPTION_IN_PAGE_ERROR).  BFR_COPY reads the file into memory instead of mapping it, so that nothing that happens to
 * the file later reaches the process, not even new keys.
 *
 * Threads: any number may use one filter at once; bfr_close needs it for itself.  Stack: 20 KiB to open, 1 KiB to ask.
 * Why the implementation is one source's, and not static inline: only that source includes the system's headers.
 * Status: as the format, not released.  SPDX-License-Identifier: Apache-2.0 */
#ifndef BFSTORE_READER_H
#define BFSTORE_READER_H

#if defined(BFSTORE_READER_IMPLEMENTATION) && defined(__STRICT_ANSI__) && !defined(_POSIX_C_SOURCE) && \
    !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(BFSTORE_READER_IMPLEMENTATION) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Every code: its name, its number and its text.  Those from -20 to -49 are faults of the file, in the order of
 * FORMAT.md, "A reader's checklist"; those from -50 on are states of a good file. */
#define BFR_CODES(X)                                                                                    \
  X(EINVAL, -1, "a wrong argument")                                                                     \
  X(ENOTOPEN, -2, "the filter is not open")                                                             \
  X(EOPEN, -3, "the file cannot be opened: errno says why")                                             \
  X(EREAD, -4, "the file cannot be read, or became shorter meanwhile: errno says why")                  \
  X(EMAP, -5, "the file cannot be mapped: errno says why")                                              \
  X(EMEMORY, -6, "not enough memory, or addresses, for the file")                                       \
  X(EFILESYSTEM, -7, "on a filesystem that may show an older file: BFR_ANY_FILESYSTEM opens it anyway") \
  X(ENOTREGULAR, -8, "not a regular file")                                                              \
  X(ESYMLINK, -9, "a symbolic link: give the path of its file")                                         \
  X(EDIGESTONLY, -10, "the filter has digests of another hash: ask with bfr_contains_digest")           \
  X(EPART, -11, "the key belongs to another part of the filter")                                        \
  X(ESECRET, -12, "the filter needs a secret and got none or another one, or got one and needs none")   \
  X(ENOTSEALED, -13, "not sealed, so it has no checksums")                                              \
  X(EDAMAGED, -14, "sealed, and other bytes than those that were sealed")                               \
  X(ETOOSHORT, -20, "too short for a filter file")                                                      \
  X(EMAGIC, -21, "not a filter file")                                                                   \
  X(EVERSION, -22, "not version 2 of the format")                                                       \
  X(EFORM, -23, "not the form of a file")                                                               \
  X(EHEADERSIZE, -24, "the length of the header is impossible")                                         \
  X(ECHECKSUM, -25, "the header is damaged: its checksum does not match")                               \
  X(ERESERVED, -26, "reserved bytes are not zero")                                                      \
  X(EFEATURE, -27, "needs a feature that this reader does not know")                                    \
  X(ELAYOUT, -28, "a layout that this reader does not know")                                            \
  X(EHASH, -29, "a hash that this reader does not have")                                                \
  X(EPROBES, -30, "the number of probes is not 1 to 64")                                                \
  X(EBITS, -31, "the number of bits is impossible")                                                     \
  X(ECAPACITY, -32, "the capacity or the rate is impossible")                                           \
  X(EBODY, -33, "the bits are not where they must be, or the file was cut")                             \
  X(ERECORD, -34, "a parameter record is malformed")                                                    \
  X(ECANARY, -35, "this reader's hash is another one than that of the file's maker")                    \
  X(ESLOTS, -36, "no state slot is valid")                                                              \
  X(ELIVEWORD, -37, "the live word or the end word is not the file's own: it was cut or overwritten")   \
  X(ELATER, -38, "a later version of bfstore set a state that this reader does not know")               \
  X(EBUSY, -50, "a writer has the file open, or was killed: ask a clean copy of it (bf copy)")          \
  X(EUNCLEAN, -51, "not closed before a crash, or copied while in use: recover it, or make it again")   \
  X(EPOISONED, -52, "a sync of the file failed: recover it")                                            \
  X(ERECOVERING, -53, "a recovery was begun and has not ended")                                         \
  X(ESUPERSEDED, -54, "another file takes, or took, its place: open the path again")                    \
  X(EFILLING, -55, "not every key was added yet")                                                       \
  X(ELOST, -56, "truncated or overwritten while it was open: open the path again")                      \
  X(ECHANGED, -57, "changed while it was copied: open it again")                                        \
  X(EGREW, -58, "grew beyond the bytes that are mapped, or were given: open it again")

#define BFR_CODE_(name, number, text) BFR_##name = number,
/* Results.  Everything but the certain no is true, so `if (bfr_contains(...))` is right after an error, too. */
enum { BFR_CODES(BFR_CODE_) BFR_OK = 0, BFR_ABSENT = 0, BFR_MAYBE = 1 };
#undef BFR_CODE_

/* Flags of bfr_open. */
enum {
  BFR_COPY = 1,          /* reads the file into memory of this process, and maps nothing */
  BFR_ANY_FILESYSTEM = 2 /* opens a file that is not on one of Linux's local filesystems, too: on others, such as
                            networks, this reader might see an older file than the one that a writer adds to.  Systems
                            other than Linux are not asked */
};
enum {
  BFR_BLOCKED = 1,
  BFR_CLASSIC = 2,
  BFR_COUNTING = 3,
  BFR_STATIC = 4,
  BFR_WINDOW = 5,
  BFR_WINDOW_4 = 6,
  BFR_WINDOW_2 = 7,
  BFR_GROWING = 8
};
enum { BFR_XXH3 = 1, BFR_EXTERNAL = 2, BFR_SIPHASH = 3 };
enum { BFR_SECRET_BYTES = 16, BFR_MOST_SLICES = 5 };

/* A filter, in memory of the caller. */
typedef struct bfr_filter {
  uint32_t layout, hash, num_probes; /* BFR_BLOCKED ..., BFR_XXH3 ..., k (BFR_STATIC: columns) */
  uint32_t part, num_parts;          /* part 0 of 1 is a whole filter */
  uint32_t sealed;                   /* 1 if it has checksums */
  uint32_t epochs;                   /* of BFR_WINDOW ...: 8, 4 or 2; 0: keys do not expire */
  uint32_t growth;                   /* of BFR_GROWING: slice i has growth^i times as many bits; 0: does not grow */
  uint64_t num_bits, capacity, seed; /* m (counting: counters), n (growing: both of slice 0), the seed of BFR_XXH3 */
  uint64_t window_ms;                /* for how many milliseconds a key is kept, at least; 0: keys do not expire */
  double fpr;                        /* the rate of false positives promised at n keys */
  unsigned char file_id[16];
  /* The reader's own from here on. */
  const unsigned char* bytes;   /* of the file, from its beginning; NULL: not open */
  void* owned;                  /* what bfr_close gives back: the map, or the copy */
  size_t length;                /* of the map; 0 of a copy */
  uint64_t body_at, body_bytes; /* of the first slice: a body that does not grow is one */
  uint64_t slice_at[BFR_MOST_SLICES], end_at[BFR_MOST_SLICES]; /* slices, and the end word behind each */
  uint64_t shards, shard_bytes, slots[3]; /* of BFR_STATIC; slots[0] is 0 where no key can be built in */
  uint64_t chunks, sums_checksum, sealed_keys;
  uint64_t secret[2];
  /* Live word, and end words of the slices, of a file without doubt, as they are in memory. */
  uint32_t right_live[2], right_end[BFR_MOST_SLICES][2];
  uint32_t slices; /* how many of them are in `bytes` */
  uint32_t minor;
} bfr_filter;

/* Opens a clean filter file.  `secret` is NULL, or the 16 bytes of a filter with BFR_SIPHASH.  A symbolic link is
 * refused. After an error the filter is not open.  Then errno (Windows: GetLastError) is that of the system's call, if
 * one failed. */
int bfr_open(bfr_filter* filter, const char* path, unsigned flags, const unsigned char* secret);

/* The same for the bytes of a whole file in memory, at a multiple of 8.  They are asked in place, so the caller keeps
 * them until bfr_close. */
int bfr_open_memory(bfr_filter* filter, const void* bytes, size_t num_bytes, const unsigned char* secret);

/* BFR_ABSENT, BFR_MAYBE, or a code: ENOTOPEN, EDIGESTONLY, EPART. */
int bfr_contains(const bfr_filter* filter, const void* key, size_t key_bytes);

/* The same for a key's digest.  Codes: ENOTOPEN, EPART. */
int bfr_contains_digest(const bfr_filter* filter, uint64_t digest);

/* The digest of a key in this filter.  Codes: EINVAL, ENOTOPEN, EDIGESTONLY. */
int bfr_digest(const bfr_filter* filter, const void* key, size_t key_bytes, uint64_t* digest);

/* BFR_OK, or why every answer is BFR_MAYBE now.  Reads only memory. */
int bfr_health(const bfr_filter* filter);

/* Compares every byte of a sealed file with its checksums.  Codes: ENOTOPEN, ENOTSEALED, EDAMAGED. */
int bfr_verify(const bfr_filter* filter);

/* Ends the filter.  Closing it again, or after bfr_open failed, does nothing. */
void bfr_close(bfr_filter* filter);

/* The text of a code, and its name ("BFR_EMAGIC").  Neither is NULL, whatever the number. */
const char* bfr_error_text(int code);
const char* bfr_error_name(int code);

#ifdef __cplusplus
}
#endif
#endif /* BFSTORE_READER_H */

#if defined(BFSTORE_READER_IMPLEMENTATION) && !defined(BFSTORE_READER_IMPLEMENTED)
#define BFSTORE_READER_IMPLEMENTED

#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(O_NOFOLLOW) || !defined(O_CLOEXEC)
#error "bfstore_reader.h: include it before all system headers, or define _POSIX_C_SOURCE as 200809L"
#endif
#endif
#ifdef __linux__
#include <sys/vfs.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { BFR_PAGE = 4096, BFR_HEADER = 4 * BFR_PAGE, BFR_LIVE_AT = 3 * BFR_PAGE, BFR_CHUNK = 65536 };

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static uint32_t bfr_u16(const unsigned char* at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static uint32_t bfr_u32(const unsigned char* at) { return bfr_u16(at) | bfr_u16(at + 2) << 16; }
static uint64_t bfr_u64(const unsigned char* at) { return bfr_u32(at) | (uint64_t)bfr_u32(at + 4) << 32; }

static uint64_t bfr_rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static uint64_t bfr_round_up(uint64_t x, uint64_t unit) { return (x + unit - 1) / unit * unit; }

static int bfr_is_zero(const unsigned char* from, const unsigned char* end) {
  while (end - from >= 8 && bfr_u64(from) == 0) from += 8;
  while (from < end && *from == 0) ++from;
  return from >= end;
}

/* The high half of a product of 128 bits; the low half is a * b. */
static uint64_t bfr_high(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(BFR_NO_INT128)
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)a * b >> 64);
#else
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (uint32_t)middle;
  return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* --- XXH3-64 with a seed ------------------------------------------------------------------------------------------ */

static const unsigned char bfr_xxh3_secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4,
    0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43,
    0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
    0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78,
    0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16,
    0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

static const uint64_t bfr_p1 = 0x9e3779b185ebca87u, bfr_p2 = 0xc2b2ae3d27d4eb4fu, bfr_p3 = 0x165667b19e3779f9u;
static const uint64_t bfr_q1 = 0x9e3779b1u; /* the primes of 32 bits; the rest stand where the lanes begin */

static uint64_t bfr_fold(uint64_t a, uint64_t b) { return (a * b) ^ bfr_high(a, b); }

/* One of the secret's words. */
static uint64_t bfr_s(size_t at) { return bfr_u64(bfr_xxh3_secret + at); }

static uint64_t bfr_end_of_short(uint64_t h) {
  h = (h ^ h >> 33) * bfr_p2;
  h = (h ^ h >> 29) * bfr_p3;
  return h ^ h >> 32;
}

static uint64_t bfr_end_of_long(uint64_t h) {
  h = (h ^ h >> 37) * 0x165667919e3779f9u;
  return h ^ h >> 32;
}

static uint64_t bfr_swap(uint64_t x) {
  x = (x & 0x00ff00ff00ff00ffu) << 8 | (x >> 8 & 0x00ff00ff00ff00ffu);
  x = (x & 0x0000ffff0000ffffu) << 16 | (x >> 16 & 0x0000ffff0000ffffu);
  return x << 32 | x >> 32;
}

static uint64_t bfr_xxh3_to_8(const unsigned char* key, size_t n, uint64_t seed) {
  uint64_t h;
  if (n == 0) return bfr_end_of_short(seed ^ bfr_s(56) ^ bfr_s(64));
  if (n < 4) {
    h = (uint64_t)key[0] << 16 | (uint64_t)key[n >> 1] << 24 | key[n - 1] | (uint64_t)n << 8;
    return bfr_end_of_short(h ^ (((uint32_t)bfr_s(0) ^ (uint32_t)(bfr_s(0) >> 32)) + seed));
  }
  seed ^= bfr_swap((uint32_t)seed);
  h = (bfr_u32(key + n - 4) | (uint64_t)bfr_u32(key) << 32) ^ ((bfr_s(8) ^ bfr_s(16)) - seed);
  h = (h ^ bfr_rotate(h, 49) ^ bfr_rotate(h, 24)) * 0x9fb21c651e98df25u;
  h = (h ^ ((h >> 35) + n)) * 0x9fb21c651e98df25u;
  return h ^ h >> 28;
}

static uint64_t bfr_xxh3_to_16(const unsigned char* key, size_t n, uint64_t seed) {
  const uint64_t low = bfr_u64(key) ^ ((bfr_s(24) ^ bfr_s(32)) + seed);
  const uint64_t high = bfr_u64(key + n - 8) ^ ((bfr_s(40) ^ bfr_s(48)) - seed);
  return bfr_end_of_long(n + bfr_swap(low) + high + bfr_fold(low, high));
}

static uint64_t bfr_mix(const unsigned char* key, size_t at, uint64_t seed) {
  return bfr_fold(bfr_u64(key) ^ (bfr_s(at) + seed), bfr_u64(key + 8) ^ (bfr_s(at + 8) - seed));
}

static uint64_t bfr_xxh3_to_240(const unsigned char* key, size_t n, uint64_t seed) {
  uint64_t h = n * bfr_p1;
  size_t i;
  if (n <= 128) {
    for (i = 0; i <= (n - 1) / 32; ++i) {
      h += bfr_mix(key + 16 * i, 32 * i, seed) + bfr_mix(key + n - 16 * (i + 1), 32 * i + 16, seed);
    }
    return bfr_end_of_long(h);
  }
  for (i = 0; i < 8; ++i) h += bfr_mix(key + 16 * i, 16 * i, seed);
  h = bfr_end_of_long(h);
  for (i = 8; i < n / 16; ++i) h += bfr_mix(key + 16 * i, 16 * (i - 8) + 3, seed);
  return bfr_end_of_long(h + bfr_mix(key + n - 16, 119, seed));
}

/* The lanes of a key of more than 240 bytes, and the secret that its seed changes. */
typedef struct bfr_lanes {
  uint64_t lane[8];
  unsigned char secret[192];
} bfr_lanes;

static void bfr_store(unsigned char* at, uint64_t x) {
  int i;
  for (i = 0; i < 8; ++i) at[i] = (unsigned char)(x >> 8 * i & 0xff);
}

static void bfr_stripe(bfr_lanes* l, const unsigned char* key, size_t secret_at) {
  size_t i;
  for (i = 0; i < 8; ++i) {
    const uint64_t word = bfr_u64(key + 8 * i), keyed = word ^ bfr_u64(l->secret + secret_at + 8 * i);
    l->lane[i ^ 1] += word;
    l->lane[i] += (keyed & 0xffffffffu) * (keyed >> 32);
  }
}

static uint64_t bfr_xxh3_long(const unsigned char* key, size_t n, uint64_t seed) {
  bfr_lanes l = {{0xc2b2ae3du, 0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u, 0x85ebca77c2b2ae63u,
                  0x85ebca77u, 0x27d4eb2f165667c5u, 0x9e3779b1u},
                 {0}};
  const size_t whole = (n - 1) / 64; /* stripes before the last one */
  uint64_t h = n * bfr_p1;
  size_t i, t;
  for (i = 0; i < 192; i += 16) {
    bfr_store(l.secret + i, bfr_s(i) + seed);
    bfr_store(l.secret + i + 8, bfr_s(i + 8) - seed);
  }
  for (t = 0; t < whole; ++t) {
    bfr_stripe(&l, key + 64 * t, 8 * (t % 16));
    for (i = 0; t % 16 == 15 && i < 8; ++i) {
      l.lane[i] = (l.lane[i] ^ l.lane[i] >> 47 ^ bfr_u64(l.secret + 128 + 8 * i)) * bfr_q1;
    }
  }
  bfr_stripe(&l, key + n - 64, 121);
  for (i = 0; i < 8; i += 2) {
    h += bfr_fold(l.lane[i] ^ bfr_u64(l.secret + 11 + 8 * i), l.lane[i + 1] ^ bfr_u64(l.secret + 19 + 8 * i));
  }
  return bfr_end_of_long(h);
}

static uint64_t bfr_xxh3(const void* data, size_t n, uint64_t seed) {
  const unsigned char* key = (const unsigned char*)data;
  if (n <= 8) return bfr_xxh3_to_8(key, n, seed);
  if (n <= 16) return bfr_xxh3_to_16(key, n, seed);
  return n <= 240 ? bfr_xxh3_to_240(key, n, seed) : bfr_xxh3_long(key, n, seed);
}

/* --- SipHash-2-4 -------------------------------------------------------------------------------------------------- */

static void bfr_sip_rounds(uint64_t v[4], int rounds) {
  while (rounds-- > 0) {
    v[0] += v[1], v[2] += v[3];
    v[1] = bfr_rotate(v[1], 13) ^ v[0], v[3] = bfr_rotate(v[3], 16) ^ v[2];
    v[0] = bfr_rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = bfr_rotate(v[1], 17) ^ v[2], v[3] = bfr_rotate(v[3], 21) ^ v[0];
    v[2] = bfr_rotate(v[2], 32);
  }
}

static void bfr_sip_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  bfr_sip_rounds(v, 2);
  v[0] ^= word;
}

static uint64_t bfr_siphash(const void* data, size_t n, const uint64_t secret[2]) {
  const unsigned char* key = (const unsigned char*)data;
  uint64_t v[4], last = (uint64_t)(n & 0xff) << 56;
  size_t i;
  v[0] = secret[0] ^ 0x736f6d6570736575u, v[1] = secret[1] ^ 0x646f72616e646f6du;
  v[2] = secret[0] ^ 0x6c7967656e657261u, v[3] = secret[1] ^ 0x7465646279746573u;
  for (i = 0; i + 8 <= n; i += 8) bfr_sip_word(v, bfr_u64(key + i));
  for (; i < n; ++i) last |= (uint64_t)key[i] << 8 * (i % 8);
  bfr_sip_word(v, last);
  v[2] ^= 0xff;
  bfr_sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- Identity (page 0) -------------------------------------------------------------------------------------------- */

static int bfr_page_is_known(const unsigned char* page) {
  const uint32_t records = bfr_u32(page + 112);
  if (bfr_u16(page + 30) != 0 || !bfr_is_zero(page + 116, page + 128)) return 0;
  return records > BFR_PAGE - 136 || bfr_is_zero(page + 128 + records, page + BFR_PAGE - 8);
}

static int bfr_check_frame(bfr_filter* f, const unsigned char* page) {
  if (memcmp(page,
             "\x89"
             "BFS\r\n\x1a\n",
             8) != 0)
    return BFR_EMAGIC;
  if (bfr_u16(page + 8) != 2) return BFR_EVERSION;
  if (bfr_u16(page + 28) != 1) return BFR_EFORM;
  if (bfr_u32(page + 12) != BFR_PAGE) return BFR_EHEADERSIZE;
  if (bfr_xxh3(page, BFR_PAGE - 8, 0) != bfr_u64(page + BFR_PAGE - 8)) return BFR_ECHECKSUM;
  f->minor = bfr_u16(page + 10);
  if (f->minor == 0 && !bfr_page_is_known(page)) return BFR_ERESERVED;
  if (bfr_u32(page + 24) != 0) return BFR_EFEATURE;
  return BFR_OK;
}

static void bfr_read_fields(bfr_filter* f, const unsigned char* page) {
  const uint64_t fpr = bfr_u64(page + 56);
  f->sealed = bfr_u32(page + 20) & 1;
  f->layout = bfr_u16(page + 32);
  f->hash = bfr_u16(page + 34);
  f->num_probes = bfr_u32(page + 36);
  f->num_bits = bfr_u64(page + 40);
  f->capacity = bfr_u64(page + 48);
  memcpy(&f->fpr, &fpr, sizeof f->fpr);
  f->seed = bfr_u64(page + 64);
  f->body_at = bfr_u64(page + 72);
  f->body_bytes = bfr_u64(page + 80);
  memcpy(f->file_id, page + 88, sizeof f->file_id);
  f->part = 0;
  f->num_parts = 1;
  f->epochs = f->layout == BFR_WINDOW ? 8 : f->layout == BFR_WINDOW_4 ? 4 : f->layout == BFR_WINDOW_2 ? 2 : 0;
}

/* Cells (bits or counters) of a line; 1 if there are no lines.  A static body has whole lines, and no probes in them.
 */
static uint64_t bfr_unit(const bfr_filter* f) {
  return f->layout == BFR_CLASSIC ? 1 : f->layout == BFR_COUNTING ? 128 : 512;
}

static uint64_t bfr_most_bits(const bfr_filter* f) { return (uint64_t)1 << (f->layout == BFR_COUNTING ? 46 : 48); }

static int bfr_check_shape(const bfr_filter* f) {
  if (f->layout < BFR_BLOCKED || f->layout > BFR_GROWING) return BFR_ELAYOUT;
  if (f->hash < BFR_XXH3 || f->hash > BFR_SIPHASH || (f->hash == BFR_SIPHASH && f->seed != 0)) return BFR_EHASH;
  if (f->num_probes < 1 || f->num_probes > 64) return BFR_EPROBES;
  if (f->num_bits < 1 || f->num_bits > bfr_most_bits(f) || f->num_bits % bfr_unit(f) != 0) return BFR_EBITS;
  if (f->capacity < 1 || f->capacity >> 63 != 0 || !(f->fpr > 0 && f->fpr <= 1)) return BFR_ECAPACITY;
  return BFR_OK;
}

/* No sum overflows: body_bytes is that of a possible number of bits, and body_at less than the file's length. */
static int bfr_check_body(bfr_filter* f, uint64_t file_bytes) {
  const uint64_t bytes = f->layout == BFR_COUNTING ? f->num_bits / 2 : (f->num_bits + 63) / 64 * 8;
  if (f->body_bytes != bytes || f->body_at % BFR_PAGE != 0 || f->body_at < BFR_HEADER) return BFR_EBODY;
  if (bytes > file_bytes || f->body_at > file_bytes - bytes) return BFR_EBODY;
  f->slice_at[0] = f->body_at;
  f->end_at[0] = bfr_round_up(f->body_at + bytes, BFR_PAGE);
  return f->end_at[0] + 8 > file_bytes ? BFR_EBODY : BFR_OK;
}

/* How a static body is divided: into shards, and each of these into three layers of slots. */
static void bfr_divide(bfr_filter* f) {
  uint64_t t = 0, r = 0, unit;
  f->shards = 1;
  while (f->body_bytes / f->shards > 2097152) f->shards *= 2;
  unit = f->shards > 1 ? BFR_PAGE : 64;
  f->shard_bytes = f->body_bytes / f->shards / unit * unit;
  if (f->shard_bytes < 208 || f->num_probes > 32) return;
  t = 32 * ((f->shard_bytes - 208) * 8) / (32 * f->num_probes + 1) / 64 * 64;
  while ((r + 1) * (r + 1) <= t) ++r;
  f->slots[1] = bfr_round_up(t * 53 / 1024 + r, 64);
  f->slots[2] = bfr_round_up(t / 256 + r / 2 + 32, 64);
  if (t >= f->slots[1] + f->slots[2] + 64) f->slots[0] = t - f->slots[1] - f->slots[2];
}

/* A parameter record. */
typedef struct bfr_record {
  uint32_t type, flags, bytes;
  const unsigned char* value;
  const unsigned char* next; /* NULL: longer than what is left */
} bfr_record;

enum { BFR_NOTE = 1, BFR_SECRET_CHECK = 2, BFR_SEAL = 3, BFR_PART = 4, BFR_SEEDS = 5, BFR_KEPT = 6, BFR_GROWTH = 7 };

/* `left` is a multiple of 8, so there is room for the head of a record. */
static bfr_record bfr_record_at(const unsigned char* at, size_t left) {
  bfr_record r = {bfr_u16(at), bfr_u16(at + 2), bfr_u32(at + 4), at + 8, NULL};
  if (bfr_round_up(r.bytes, 8) <= left - 8) r.next = r.value + (size_t)bfr_round_up(r.bytes, 8);
  return r;
}

static int bfr_has_unknown_critical(const unsigned char* at, const unsigned char* end) {
  while (at != NULL && at < end) {
    const bfr_record r = bfr_record_at(at, (size_t)(end - at));
    if (r.next != NULL && (r.flags & 1) != 0 && (r.type < BFR_NOTE || r.type > BFR_GROWTH)) return 1;
    at = r.next;
  }
  return 0;
}

static int bfr_take_part(bfr_filter* f, const unsigned char* value) {
  const uint64_t capacity = bfr_u64(value + 8);
  f->part = bfr_u32(value);
  f->num_parts = bfr_u32(value + 4);
  if (f->num_parts < 2 || f->part >= f->num_parts || bfr_unit(f) == 1) return BFR_ERECORD;
  if (f->layout == BFR_STATIC || f->layout == BFR_GROWING) return BFR_ERECORD;
  if (f->num_parts > bfr_most_bits(f) / f->num_bits || capacity < 1 || capacity >> 63 != 0) return BFR_ERECORD;
  return BFR_OK;
}

static int bfr_take_seal(bfr_filter* f, const unsigned char* value) {
  f->chunks = bfr_u64(value + 8);
  f->sums_checksum = bfr_u64(value + 24);
  f->sealed_keys = bfr_u64(value + 32);
  if (bfr_u32(value) != BFR_CHUNK || (f->minor == 0 && bfr_u32(value + 4) != 0)) return BFR_ERECORD;
  if (f->chunks != (f->body_bytes + BFR_CHUNK - 1) / BFR_CHUNK || bfr_u64(value + 16) != f->end_at[0])
    return BFR_ERECORD;
  f->end_at[0] += 8 * f->chunks;
  return f->layout == BFR_GROWING ? BFR_ERECORD : BFR_OK;
}

/* Nothing overflows: growth^4 is at most 2^16. */
static int bfr_take_growth(bfr_filter* f, const unsigned char* value) {
  uint64_t factor = 1, together = 1;
  int i;
  f->growth = bfr_u32(value);
  if (f->growth < 2 || f->growth > 16 || (f->minor == 0 && bfr_u32(value + 4) != 0)) return BFR_ERECORD;
  for (i = 1; i < BFR_MOST_SLICES; ++i) together += factor *= f->growth;
  if (f->num_bits > bfr_most_bits(f) / together || f->capacity > (uint64_t)INT64_MAX / together) return BFR_ERECORD;
  return BFR_OK;
}

/* Where the slices are, or will be: each begins in the first page, or with the first 2 MiB, after the end word before.
 */
static void bfr_place_slices(bfr_filter* f) {
  uint64_t bytes = f->body_bytes;
  int i;
  for (i = 1; i < BFR_MOST_SLICES; ++i) {
    bytes *= f->growth;
    f->slice_at[i] = bfr_round_up(f->end_at[i - 1] + 8, bytes < 2097152 ? BFR_PAGE : 2097152);
    f->end_at[i] = bfr_round_up(f->slice_at[i] + bytes, BFR_PAGE);
  }
}

/* The value of a record of a known type, in a filter of one of the hashes that this reader has. */
static int bfr_take_record(bfr_filter* f, const bfr_record* r) {
  const int critical = (r->flags & 1) != 0;
  switch (r->type) {
    case BFR_NOTE:
      return r->bytes <= 1024 && !critical ? BFR_OK : BFR_ERECORD;
    case BFR_SECRET_CHECK:
      return r->bytes == 16 && critical ? BFR_OK : BFR_ERECORD;
    case BFR_SEAL:
      return r->bytes == 40 && !critical ? bfr_take_seal(f, r->value) : BFR_ERECORD;
    case BFR_PART:
      return r->bytes == 16 && critical ? bfr_take_part(f, r->value) : BFR_ERECORD;
    case BFR_SEEDS:
      return BFR_ERECORD; /* of other hashes */
    case BFR_KEPT:
      if (r->bytes == 8) f->window_ms = bfr_u64(r->value);
      return r->bytes == 8 && critical && f->window_ms > 0 ? BFR_OK : BFR_ERECORD;
    case BFR_GROWTH:
      return r->bytes == 8 && critical ? bfr_take_growth(f, r->value) : BFR_ERECORD;
    default:
      return BFR_OK; /* not critical: skipped */
  }
}

/* Takes the records; *secret_check becomes the value of that one. */
static int bfr_take_records(bfr_filter* f, const unsigned char* at, const unsigned char* end,
                            const unsigned char** secret_check) {
  uint32_t seen = 0; /* bit i: a record of type i */
  if (bfr_has_unknown_critical(at, end)) return BFR_EFEATURE;
  while (at < end) {
    const bfr_record r = bfr_record_at(at, (size_t)(end - at));
    const uint32_t bit = r.type <= BFR_GROWTH ? (uint32_t)1 << r.type & ~(uint32_t)1 : 0;
    if (r.next == NULL || (seen & bit) != 0) return BFR_ERECORD;
    if (f->minor == 0 && (r.flags > 1 || !bfr_is_zero(r.value + r.bytes, r.next))) return BFR_ERECORD;
    if (bfr_take_record(f, &r) != BFR_OK) return BFR_ERECORD;
    if (r.type == BFR_SECRET_CHECK) *secret_check = r.value;
    seen |= bit;
    at = r.next;
  }
  if ((seen >> BFR_SECRET_CHECK & 1) != (uint32_t)(f->hash == BFR_SIPHASH)) return BFR_ERECORD;
  if ((seen >> BFR_KEPT & 1) != (uint32_t)(f->epochs > 0)) return BFR_ERECORD;
  if ((seen >> BFR_GROWTH & 1) != (uint32_t)(f->layout == BFR_GROWING)) return BFR_ERECORD;
  return (seen >> BFR_SEAL & 1) == f->sealed ? BFR_OK : BFR_ERECORD;
}

/* Notices that this reader's hash is not that of the file's maker. */
static uint64_t bfr_canary(const bfr_filter* f) {
  static const size_t lengths[7] = {0, 3, 8, 16, 100, 240, 1000};
  static const uint64_t no_secret[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  unsigned char key[1000];
  uint64_t c = 0;
  size_t i;
  if (f->hash == BFR_EXTERNAL) return 0;
  for (i = 0; i < sizeof key; ++i) key[i] = (unsigned char)(i % 251);
  for (i = 0; i < 7; ++i) {
    c = bfr_rotate(c, 9);
    c ^= f->hash == BFR_XXH3 ? bfr_xxh3(key, lengths[i], f->seed) : bfr_siphash(key, lengths[i], no_secret);
  }
  return c;
}

static int bfr_take_secret(bfr_filter* f, const unsigned char* secret, const unsigned char* check) {
  if ((secret != NULL) != (f->hash == BFR_SIPHASH)) return BFR_ESECRET;
  if (secret == NULL) return BFR_OK;
  f->secret[0] = bfr_u64(secret);
  f->secret[1] = bfr_u64(secret + 8);
  return bfr_siphash(check, 8, f->secret) == bfr_u64(check + 8) ? BFR_OK : BFR_ESECRET;
}

/* Page 0 of a file of this length.  The order is that of the specification's checklist. */
static int bfr_read_identity(bfr_filter* f, const unsigned char* page, uint64_t file_bytes,
                             const unsigned char* secret) {
  const uint32_t records = bfr_u32(page + 112);
  const unsigned char* check = NULL;
  int code = bfr_check_frame(f, page);
  if (code != BFR_OK) return code;
  bfr_read_fields(f, page);
  code = bfr_check_shape(f);
  if (code == BFR_OK) code = bfr_check_body(f, file_bytes);
  if (code != BFR_OK) return code;
  if (records % 8 != 0 || records > BFR_PAGE - 136) return BFR_ERECORD;
  code = bfr_take_records(f, page + 128, page + 128 + records, &check);
  if (code != BFR_OK) return code;
  if (f->layout == BFR_STATIC) bfr_divide(f);
  if (f->end_at[0] + 8 > file_bytes) return BFR_EBODY;
  if (f->growth > 0) bfr_place_slices(f);
  if (bfr_u64(page + 104) != bfr_canary(f)) return BFR_ECANARY;
  return bfr_take_secret(f, secret, check);
}

/* --- State (pages 1 to 3, and the end word) ----------------------------------------------------------------------- */

enum { BFR_POISONED = 2, BFR_SUPERSEDED = 4, BFR_RECOVERING = 8, BFR_REPLACED = 16, BFR_FILLING = 32 }; /* live word */
enum { BFR_STATES = 0x3e, BFR_LATER_STATES = 0x7fc0, BFR_END_BIT = 0x8000 };
enum { BFR_SLOT_CLEAN = 1, BFR_SLOT_DIRTY = 2, BFR_SLOT_RECOVERING = 3, BFR_SLOT_PAUSED = 4 };

static uint64_t bfr_salt(const bfr_filter* f) { return bfr_xxh3(f->file_id, sizeof f->file_id, 0); }
static uint64_t bfr_live_word(const bfr_filter* f) { return (bfr_salt(f) & ~(uint64_t)0xffff) | 1; }

/* Of the nth slice, from 1 on. */
static uint64_t bfr_end_word(const bfr_filter* f, uint64_t slices) {
  return (bfr_xxh3(f->file_id, sizeof f->file_id, 1) | BFR_END_BIT) + ((slices - 1) << 16);
}

static int bfr_is_number(const bfr_filter* f, uint64_t slices) {
  return slices >= 1 && slices <= (f->growth > 0 ? BFR_MOST_SLICES : 1);
}

/* How many slices the live page counts: 0 if that number is impossible.  A body that does not grow is one slice. */
static uint64_t bfr_counted(const bfr_filter* f, const unsigned char* live) {
  const uint64_t slices = f->growth > 0 ? bfr_u64(live + 24) : 1;
  return bfr_is_number(f, slices) ? slices : 0;
}

static int bfr_slot_is_valid(const bfr_filter* f, const unsigned char* slot) {
  const uint32_t state = bfr_u32(slot + 8);
  return bfr_xxh3(slot, BFR_PAGE - 8, bfr_salt(f)) == bfr_u64(slot + BFR_PAGE - 8) && state >= BFR_SLOT_CLEAN &&
         state <= BFR_SLOT_PAUSED;
}

static int bfr_slot_is_known(const bfr_filter* f, const unsigned char* slot) {
  if (!bfr_is_number(f, bfr_u32(slot + 12)) || bfr_u32(slot + 72) > 1) return 0;
  if (!bfr_is_zero(slot + (f->epochs > 0 ? 104 : 80), slot + 128)) return 0;
  if (bfr_u32(slot + 8) <= BFR_SLOT_DIRTY && bfr_u64(slot + 64) != 0) return 0;
  return bfr_is_zero(slot + 1664, slot + BFR_PAGE - 8);
}

static int bfr_live_page_is_known(const bfr_filter* f, const unsigned char* live) {
  size_t at;
  for (at = 64; at < 2112; at += 64) {
    if (!bfr_is_zero(live + at + 16, live + at + 64)) return 0;
  }
  if (f->epochs == 0 && bfr_u64(live + 16) != 0) return 0;
  return bfr_u64(live + 8) <= 1 && bfr_is_number(f, bfr_u64(live + 24)) && bfr_is_zero(live + 32, live + 64) &&
         bfr_is_zero(live + 2112, live + BFR_PAGE);
}

/* BFR_OK if a slot and the live page are of one epoch.  A turn stores the slot first: then a writer turns, or died. */
static int bfr_same_epoch(const unsigned char* page, const unsigned char* slot) {
  const uint64_t live = bfr_u64(page + 16), epoch = bfr_u64(slot + 80);
  if (live >> 1 == epoch) return BFR_OK;
  return (live & 1) != 0 && (live >> 1) + 1 == epoch && bfr_u32(slot + 8) == BFR_SLOT_DIRTY ? BFR_EBUSY : BFR_EUNCLEAN;
}

/* Whether a live page can count these slices next to a slot: more if a writer has added some since its last sync. */
static int bfr_same_slices(const bfr_filter* f, const unsigned char* page, const unsigned char* slot) {
  const uint64_t live = bfr_u64(page + 24), durable = bfr_u32(slot + 12);
  return f->growth == 0 || live == durable || (live > durable && bfr_u32(slot + 8) != BFR_SLOT_CLEAN);
}

/* The state by the live page, without later states, and the slots, of which `older` may be NULL. */
static int bfr_state(const bfr_filter* f, const unsigned char* page, const unsigned char* newest,
                     const unsigned char* older) {
  const uint64_t live = bfr_u64(page);
  const uint32_t state = bfr_u32(newest + 8);
  const int epochs = f->epochs > 0 ? bfr_same_epoch(page, newest) : BFR_OK;
  if ((live & BFR_REPLACED) != 0) return BFR_ESUPERSEDED;
  if ((live & BFR_POISONED) != 0) return BFR_EPOISONED;
  if ((live & BFR_RECOVERING) != 0 || state >= BFR_SLOT_RECOVERING) return BFR_ERECOVERING;
  if ((live & BFR_SUPERSEDED) != 0) return BFR_ESUPERSEDED;
  if (bfr_u32(newest + 72) != 0 && (live & BFR_FILLING) == 0) return BFR_EUNCLEAN; /* a mixture of two moments */
  if (older == NULL || bfr_u64(newest) - bfr_u64(older) != 1) return BFR_EUNCLEAN;
  if (epochs != BFR_OK) return epochs;
  if (!bfr_same_slices(f, page, newest)) return BFR_EUNCLEAN;
  if (state == BFR_SLOT_DIRTY) return BFR_EBUSY;
  return (live & BFR_FILLING) != 0 ? BFR_EFILLING : BFR_OK;
}

/* BFR_OK if a file with these header pages is clean.  `end`: the end word behind the first slice.  `last`: that behind
 * the last slice that the live page counts, or NULL if the file ends before it. */
static int bfr_judge(const bfr_filter* f, const unsigned char* header, const unsigned char* end,
                     const unsigned char* last) {
  const unsigned char* a = header + BFR_PAGE;
  const unsigned char* b = header + 2 * BFR_PAGE;
  const uint64_t live = bfr_u64(header + BFR_LIVE_AT), slices = bfr_counted(f, header + BFR_LIVE_AT);
  if (bfr_u64(end) != bfr_end_word(f, 1)) return BFR_ELIVEWORD;
  if (slices > 0 && (last == NULL || bfr_u64(last) != bfr_end_word(f, slices))) return BFR_ELIVEWORD;
  if (slices == 0 && f->minor > 0) return BFR_ELIVEWORD;
  if (!bfr_slot_is_valid(f, a)) a = NULL;
  if (!bfr_slot_is_valid(f, b)) b = NULL;
  if (f->minor == 0) {
    if ((a != NULL && !bfr_slot_is_known(f, a)) || (b != NULL && !bfr_slot_is_known(f, b))) return BFR_ERESERVED;
    if (!bfr_live_page_is_known(f, header + BFR_LIVE_AT)) return BFR_ERESERVED;
  }
  if (a == NULL && b == NULL) return BFR_ESLOTS;
  if ((live & ~(uint64_t)(BFR_STATES | BFR_LATER_STATES)) != bfr_live_word(f)) return BFR_ELIVEWORD;
  if ((live & BFR_LATER_STATES) != 0) return BFR_ELATER;
  if (a == NULL || (b != NULL && bfr_u64(b) > bfr_u64(a))) return bfr_state(f, header + BFR_LIVE_AT, b, a);
  return bfr_state(f, header + BFR_LIVE_AT, a, b);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

/* Writers change live word and bits meanwhile.  A load of 4 bytes, or of one, is one load on every machine.  The states
 * are all in one such half of the live word, and a bit, or a counter, in one byte. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) bfr_half;
static uint32_t bfr_load_half(const unsigned char* at) {
  return __atomic_load_n((const bfr_half*)(const void*)at, __ATOMIC_RELAXED);
}
static unsigned bfr_load_byte(const unsigned char* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
static void bfr_fence(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
#elif defined(_MSC_VER)
static uint32_t bfr_load_half(const unsigned char* at) { return *(const volatile uint32_t*)(const void*)at; }
static unsigned bfr_load_byte(const unsigned char* at) { return *(const volatile unsigned char*)at; }
static void bfr_fence(void) { MemoryBarrier(); }
#else
#error "bfstore_reader.h: this compiler's loads of shared memory are not known"
#endif

static uint32_t bfr_most_slices(const bfr_filter* f) { return f->growth > 0 ? BFR_MOST_SLICES : 1; }

/* Makes the filter answer from these bytes. */
static void bfr_answer_from(bfr_filter* f, const unsigned char* bytes, uint64_t num_bytes) {
  unsigned char right[8];
  uint32_t i;
  bfr_store(right, bfr_live_word(f));
  memcpy(f->right_live, right, sizeof right);
  for (i = 0; i < bfr_most_slices(f) && f->end_at[i] + 8 <= num_bytes; ++i) {
    bfr_store(right, bfr_end_word(f, i + 1));
    memcpy(f->right_end[i], right, sizeof right);
  }
  f->slices = i;
  f->bytes = bytes;
}

/* How many slices count at this moment: 0 if they are not all in these bytes, or the number is impossible. */
static uint32_t bfr_load_slices(const bfr_filter* f) {
  uint32_t now[2], slices;
  if (f->growth == 0) return 1;
  now[0] = bfr_load_half(f->bytes + BFR_LIVE_AT + 24);
  now[1] = bfr_load_half(f->bytes + BFR_LIVE_AT + 28);
  slices = bfr_u32((const unsigned char*)now); /* the low half, on every machine */
  return now[1] == 0 && slices <= f->slices ? slices : 0;
}

static int bfr_has_end(const bfr_filter* f, uint32_t slice) {
  const unsigned char* end = f->bytes + (size_t)f->end_at[slice];
  return bfr_load_half(end) == f->right_end[slice][0] && bfr_load_half(end + 4) == f->right_end[slice][1];
}

/* By the live word, the file's end word, and that of the last of these slices: a cut takes it with any one before. */
static int bfr_is_sound(const bfr_filter* f, uint32_t slices) {
  const unsigned char* live = f->bytes + BFR_LIVE_AT;
  return bfr_load_half(live) == f->right_live[0] && bfr_load_half(live + 4) == f->right_live[1] && bfr_has_end(f, 0) &&
         (slices == 1 || bfr_has_end(f, slices - 1));
}

static void bfr_load_epoch(const bfr_filter* f, uint32_t epoch[2]) {
  epoch[0] = bfr_load_half(f->bytes + BFR_LIVE_AT + 16);
  epoch[1] = bfr_load_half(f->bytes + BFR_LIVE_AT + 20);
}

/* In a layout whose keys do not expire the word says nothing. */
static int bfr_is_epoch(const bfr_filter* f, const uint32_t epoch[2]) {
  uint32_t now[2];
  bfr_load_epoch(f, now);
  return f->epochs == 0 || (now[0] == epoch[0] && now[1] == epoch[1]);
}

static const unsigned char* bfr_line(const bfr_filter* f, uint64_t digest) {
  const uint64_t lines = f->num_bits / bfr_unit(f);
  const uint64_t line = bfr_high(digest, lines * f->num_parts) - f->part * lines;
  return f->bytes + (size_t)(f->body_at + 64 * line);
}

static int bfr_is_in_line(const bfr_filter* f, const unsigned char* at, uint64_t digest) {
  uint32_t h = (uint32_t)digest, i;
  for (i = 0; i < f->num_probes; ++i) {
    h *= 0x9e3779b9u;
    if (f->layout != BFR_COUNTING) { /* bit h >> 23 of the line */
      if ((bfr_load_byte(at + (h >> 26)) >> (h >> 23 & 7) & 1) == 0) return 0;
    } else { /* counter h >> 25 */
      if ((bfr_load_byte(at + (h >> 26)) >> (h >> 25 & 1) * 4 & 15) == 0) return 0;
    }
  }
  return 1;
}

/* Each slice is a body of the layout blocked. */
static int bfr_is_in_slices(const bfr_filter* f, uint64_t digest, uint32_t slices) {
  uint64_t lines = f->num_bits / 512;
  uint32_t i;
  for (i = 0; i < slices; ++i, lines *= f->growth) {
    if (bfr_is_in_line(f, f->bytes + (size_t)(f->slice_at[i] + 64 * bfr_high(digest, lines)), digest)) return 1;
  }
  return 0;
}

static int bfr_is_in_bits(const bfr_filter* f, uint64_t digest) {
  const unsigned char* body = f->bytes + (size_t)f->body_at;
  uint64_t x = digest | 1;
  uint32_t i;
  for (i = 0; i < f->num_probes; ++i) {
    const uint64_t bit = bfr_high(x, f->num_bits);
    if ((bfr_load_byte(body + (size_t)(bit >> 3)) >> (bit & 7) & 1) == 0) return 0;
    x *= 0xf1357aea2e62a9c5u;
  }
  return 1;
}

/* Whether one of the line's epoch words has all bits.  Bits of different words are of different adds. */
static int bfr_is_in_a_word(const bfr_filter* f, uint64_t digest) {
  const uint32_t bits = 512 / f->epochs;
  const unsigned char* at = bfr_line(f, digest);
  const unsigned char* const end = at + 64;
  for (; at < end; at += bits / 8) {
    uint32_t h = (uint32_t)digest, i;
    for (i = 0; i < f->num_probes; ++i) {
      uint32_t bit;
      h *= 0x9e3779b9u;
      bit = (uint32_t)((uint64_t)h * bits >> 32); /* h >> 26, 25 or 24 */
      if ((bfr_load_byte(at + (bit >> 3)) >> (bit & 7) & 1) == 0) break;
    }
    if (i == f->num_probes) return 1;
  }
  return 0;
}

/* Where a key of a shard is, and what it looks like there. */
typedef struct bfr_equation {
  const unsigned char* granule; /* the first of the two or three that its 32 slots are in */
  uint32_t slot;                /* of the granule, where they begin */
  uint32_t coefficients, fingerprint;
} bfr_equation;

/* A key is in the first layer whose threshold does not bump it: the last layer has none. */
static bfr_equation bfr_equation_of(const bfr_filter* f, const unsigned char* shard, uint64_t seed, uint64_t digest) {
  static const unsigned char thresholds[4] = {0, 12, 28, 64};
  const uint64_t buckets = (f->slots[0] + f->slots[1]) / 64;
  uint64_t a = (digest ^ seed) * 0x9e3779b97f4a7c15u, e, start = 0, before = 0;
  bfr_equation q;
  int layer = 0;
  a ^= a >> 32, a *= 0xd6e8feb86659fd93u, a ^= a >> 32;
  e = a * 0xa0761d6478bd642fu, e ^= e >> 32;
  for (; layer < 3; ++layer) {
    uint64_t bucket;
    start = (uint32_t)(a >> (layer == 0 ? 32 : layer == 1 ? 0 : 16)) * (f->slots[layer] - 31) >> 32;
    bucket = (before + start) / 64;
    if (layer == 2) break;
    if (start % 64 >= thresholds[bfr_load_byte(shard + 64 + (size_t)(bucket / 4)) >> bucket % 4 * 2 & 3]) break;
    before += f->slots[layer];
  }
  start += before;
  q.granule = shard + 64 + (size_t)(bfr_round_up(buckets, 64) / 4 + start / 16 * 2 * f->num_probes);
  q.slot = (uint32_t)(start % 16);
  q.coefficients = (uint32_t)(e >> 32) | 1;
  q.fingerprint = (uint32_t)e;
  return q;
}

/* Sixteen slots of a column. */
static uint64_t bfr_load_column(const unsigned char* at) { return bfr_load_byte(at) | bfr_load_byte(at + 1) << 8; }

static int bfr_is_in_shard(const bfr_filter* f, uint64_t digest) {
  const unsigned char* shard = f->bytes + (size_t)(f->body_at + f->shard_bytes * bfr_high(digest, f->shards));
  uint32_t seed[2], column;
  bfr_equation q;
  if (f->slots[0] == 0) return 1;
  seed[0] = bfr_load_half(shard), seed[1] = bfr_load_half(shard + 4);
  if ((seed[0] & seed[1]) == 0xffffffffu) return 1;
  q = bfr_equation_of(f, shard, bfr_u64((const unsigned char*)seed), digest);
  for (column = 0; column < f->num_probes; ++column, q.granule += 2) {
    const size_t granule = 2 * (size_t)f->num_probes;
    uint64_t bits = bfr_load_column(q.granule) | bfr_load_column(q.granule + granule) << 16;
    if (q.slot > 0) bits |= bfr_load_column(q.granule + 2 * granule) << 32; /* otherwise there may be none */
    bits = bits >> q.slot & q.coefficients;
    bits ^= bits >> 16, bits ^= bits >> 8, bits ^= bits >> 4;
    if ((0x6996u >> (bits & 15) & 1) != (q.fingerprint >> column & 1)) return 0;
  }
  return 1;
}

static int bfr_is_in(const bfr_filter* f, uint64_t digest, uint32_t slices) {
  if (f->growth > 0) return bfr_is_in_slices(f, digest, slices);
  if (f->layout == BFR_STATIC) return bfr_is_in_shard(f, digest);
  if (f->epochs > 0) return bfr_is_in_a_word(f, digest);
  return f->layout == BFR_CLASSIC ? bfr_is_in_bits(f, digest) : bfr_is_in_line(f, bfr_line(f, digest), digest);
}

/* Compares live word and end word before the bits are read and after: before, since a file that lost a key, was
 * poisoned and recovered while this thread stood still looks right after; after, since the bits may be those of a file
 * that was lost meanwhile.  The loads stay in this order.  The live page's epoch is the same before and after, or the
 * key may have been added to a word that was read before, and cleared from one that was read later.  Its halves are
 * compared one by one: a half has its value again only after 2^31 turns.  The slices that count are loaded before all
 * this, and need not be loaded again: a key whose add had returned is in one of them. */
int bfr_contains_digest(const bfr_filter* f, uint64_t digest) {
  uint32_t epoch[2], slices;
  if (f == NULL || f->bytes == NULL) return BFR_ENOTOPEN;
  if (bfr_high(digest, f->num_parts) != f->part) return BFR_EPART;
  slices = bfr_load_slices(f);
  bfr_fence();
  if (slices == 0 || !bfr_is_sound(f, slices)) return BFR_MAYBE;
  bfr_load_epoch(f, epoch);
  bfr_fence();
  if (bfr_is_in(f, digest, slices)) return BFR_MAYBE;
  bfr_fence();
  return bfr_is_sound(f, slices) && bfr_is_epoch(f, epoch) ? BFR_ABSENT : BFR_MAYBE;
}

int bfr_digest(const bfr_filter* f, const void* key, size_t n, uint64_t* digest) {
  if (f == NULL || f->bytes == NULL) return BFR_ENOTOPEN;
  if ((key == NULL && n > 0) || digest == NULL) return BFR_EINVAL;
  if (f->hash == BFR_EXTERNAL) return BFR_EDIGESTONLY;
  *digest = f->hash == BFR_XXH3 ? bfr_xxh3(key, n, f->seed) : bfr_siphash(key, n, f->secret);
  return BFR_OK;
}

int bfr_contains(const bfr_filter* f, const void* key, size_t n) {
  uint64_t digest = 0;
  const int code = bfr_digest(f, key, n, &digest);
  return code == BFR_OK ? bfr_contains_digest(f, digest) : code;
}

int bfr_health(const bfr_filter* f) {
  uint32_t now[2], slices;
  uint64_t live;
  if (f == NULL || f->bytes == NULL) return BFR_ENOTOPEN;
  slices = bfr_load_slices(f);
  bfr_fence();
  if (slices > 0 && bfr_is_sound(f, slices)) return BFR_OK;
  now[0] = bfr_load_half(f->bytes + BFR_LIVE_AT);
  now[1] = bfr_load_half(f->bytes + BFR_LIVE_AT + 4);
  live = bfr_u64((const unsigned char*)now);
  if ((live & ~(uint64_t)(BFR_STATES | BFR_LATER_STATES)) != bfr_live_word(f)) return BFR_ELOST;
  if ((live & BFR_POISONED) != 0) return BFR_EPOISONED;
  if ((live & (BFR_SUPERSEDED | BFR_REPLACED)) != 0) return BFR_ESUPERSEDED;
  if ((live & BFR_RECOVERING) != 0) return BFR_ERECOVERING;
  if ((live & BFR_LATER_STATES) != 0) return BFR_ELATER;
  if ((live & BFR_FILLING) != 0) return BFR_EFILLING;
  return slices == 0 && bfr_counted(f, f->bytes + BFR_LIVE_AT) > f->slices ? BFR_EGREW : BFR_ELOST;
}

int bfr_verify(const bfr_filter* f) {
  const unsigned char* sums;
  uint64_t i, salt, keys = 0;
  if (f == NULL || f->bytes == NULL) return BFR_ENOTOPEN;
  if (f->sealed == 0) return BFR_ENOTSEALED;
  salt = bfr_salt(f);
  sums = f->bytes + (size_t)(f->end_at[0] - 8 * f->chunks);
  for (i = 0; i < 32; ++i) keys += bfr_u64(f->bytes + BFR_LIVE_AT + 64 + 64 * (size_t)i);
  if (keys != f->sealed_keys || bfr_xxh3(sums, (size_t)(8 * f->chunks), salt) != f->sums_checksum) return BFR_EDAMAGED;
  for (i = 0; i < f->chunks; ++i) {
    uint64_t n = f->body_bytes - i * BFR_CHUNK;
    if (n > BFR_CHUNK) n = BFR_CHUNK;
    if (bfr_xxh3(f->bytes + (size_t)(f->body_at + i * BFR_CHUNK), (size_t)n, salt + i) !=
        bfr_u64(sums + 8 * (size_t)i)) {
      return BFR_EDAMAGED;
    }
  }
  return bfr_is_sound(f, 1) ? BFR_OK : BFR_EDAMAGED;
}

/* --- The system's files ------------------------------------------------------------------------------------------- */

#ifdef _WIN32
typedef HANDLE bfr_file;

static void bfr_file_close(bfr_file file) { CloseHandle(file); }

static int bfr_file_bytes(bfr_file file, uint64_t* bytes) {
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file, &size)) return BFR_EREAD;
  *bytes = (uint64_t)size.QuadPart;
  return BFR_OK;
}

static int bfr_file_open(const char* path, bfr_file* file, uint64_t* bytes) {
  BY_HANDLE_FILE_INFORMATION facts;
  int code = BFR_OK;
  *file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                      FILE_FLAG_OPEN_REPARSE_POINT, NULL);
  if (*file == INVALID_HANDLE_VALUE) return BFR_EOPEN;
  if (GetFileType(*file) != FILE_TYPE_DISK)
    code = BFR_ENOTREGULAR;
  else if (!GetFileInformationByHandle(*file, &facts))
    code = BFR_EREAD;
  else if ((facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
    code = BFR_ESYMLINK;
  else
    *bytes = (uint64_t)facts.nFileSizeHigh << 32 | facts.nFileSizeLow;
  if (code != BFR_OK) bfr_file_close(*file);
  return code;
}

static int bfr_file_read(bfr_file file, uint64_t from, unsigned char* into, size_t bytes) {
  while (bytes > 0) {
    const DWORD most = bytes < 0x10000000u ? (DWORD)bytes : 0x10000000u;
    DWORD got = 0;
    OVERLAPPED where;
    memset(&where, 0, sizeof where);
    where.Offset = (DWORD)from;
    where.OffsetHigh = (DWORD)(from >> 32);
    if (!ReadFile(file, into, most, &got, &where) || got == 0) return BFR_EREAD;
    from += got, into += got, bytes -= got;
  }
  return BFR_OK;
}

static void* bfr_file_map(bfr_file file, size_t bytes) {
  void* at;
  const HANDLE map = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
  if (map == NULL) return NULL;
  at = MapViewOfFile(map, FILE_MAP_READ, 0, 0, bytes);
  CloseHandle(map); /* the view keeps it */
  return at;
}

static void bfr_file_unmap(void* at, size_t bytes) { (void)bytes, UnmapViewOfFile(at); }

static int bfr_file_is_local(bfr_file file) { return (void)file, 1; }
#else
typedef int bfr_file;

static void bfr_file_close(bfr_file file) {
  const int before = errno;
  close(file);
  errno = before;
}

static int bfr_file_bytes(bfr_file file, uint64_t* bytes) {
  struct stat facts;
  if (fstat(file, &facts) != 0) return BFR_EREAD;
  *bytes = (uint64_t)facts.st_size;
  return BFR_OK;
}

static int bfr_file_open(const char* path, bfr_file* file, uint64_t* bytes) {
  struct stat facts;
  int code = BFR_OK;
  *file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (*file < 0) return errno == ELOOP ? BFR_ESYMLINK : BFR_EOPEN;
  if (fstat(*file, &facts) != 0)
    code = BFR_EREAD;
  else if (!S_ISREG(facts.st_mode))
    code = BFR_ENOTREGULAR;
  else
    *bytes = (uint64_t)facts.st_size;
  if (code != BFR_OK) bfr_file_close(*file);
  return code;
}

static int bfr_file_read(bfr_file file, uint64_t from, unsigned char* into, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = pread(file, into, bytes, (off_t)from);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return BFR_EREAD;
    from += (uint64_t)got, into += got, bytes -= (size_t)got;
  }
  return BFR_OK;
}

static void* bfr_file_map(bfr_file file, size_t bytes) {
  void* at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void bfr_file_unmap(void* at, size_t bytes) { munmap(at, bytes); }

/* Of these it is known that all processes see one page cache (linux/magic.h): ext4, xfs, btrfs, tmpfs, f2fs, ramfs,
 * zfs, vfat, bcachefs. */
static int bfr_file_is_local(bfr_file file) {
#ifdef __linux__
  static const uint32_t local[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994, 0xf2f52010,
                                   0x858458f6, 0x2fc12fc1, 0x4d44,     0xca451a4e};
  struct statfs facts;
  size_t i;
  if (fstatfs(file, &facts) != 0) return 0;
  for (i = 0; i < sizeof local / sizeof *local; ++i) {
    if ((uint32_t)facts.f_type == local[i]) return 1;
  }
  return 0;
#else
  return (void)file, 1;
#endif
}
#endif

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* Reads the header and the end word, and judges them. */
static int bfr_look(bfr_filter* f, bfr_file file, uint64_t file_bytes, unsigned flags, const unsigned char* secret,
                    unsigned char header[BFR_HEADER]) {
  unsigned char end[8], last[8];
  uint64_t slices;
  int code = file_bytes < BFR_HEADER ? BFR_ETOOSHORT : bfr_file_read(file, 0, header, BFR_HEADER);
  if (code == BFR_OK) code = bfr_read_identity(f, header, file_bytes, secret);
  if (code != BFR_OK) return code;
  if ((flags & BFR_ANY_FILESYSTEM) == 0 && !bfr_file_is_local(file)) return BFR_EFILESYSTEM;
  slices = bfr_counted(f, header + BFR_LIVE_AT);
  if (slices > 1) code = bfr_file_bytes(file, &file_bytes); /* it may have grown since */
  if (code != BFR_OK) return code;
  code = bfr_file_read(file, f->end_at[0], end, 8);
  if (code != BFR_OK || slices <= 1) return code == BFR_OK ? bfr_judge(f, header, end, end) : code;
  if (f->end_at[slices - 1] + 8 > file_bytes) return bfr_judge(f, header, end, NULL);
  code = bfr_file_read(file, f->end_at[slices - 1], last, 8);
  return code == BFR_OK ? bfr_judge(f, header, end, last) : code;
}

/* A slot that another process is writing looks torn for a moment: so this looks again. */
static int bfr_admit(bfr_filter* f, bfr_file file, uint64_t file_bytes, unsigned flags, const unsigned char* secret,
                     unsigned char header[BFR_HEADER]) {
  int code = BFR_EUNCLEAN, tries;
  for (tries = 0; tries < 10 && (code == BFR_EUNCLEAN || code == BFR_ESLOTS); ++tries) {
    code = bfr_look(f, file, file_bytes, flags, secret, header);
  }
  return code;
}

/* Reads the body of an admitted file.  Identity, slots, live word, epoch and number of slices are the same before and
 * after, or there is no copy: no writer had the file open. */
static int bfr_copy(bfr_filter* f, bfr_file file, unsigned char header[BFR_HEADER], uint64_t slices) {
  const size_t length = (size_t)f->end_at[slices - 1] + 8, body_at = (size_t)f->body_at;
  unsigned char* copy = (unsigned char*)calloc(length, 1);
  int code;
  if (copy == NULL) return BFR_EMEMORY;
  memcpy(copy, header, BFR_HEADER);
  code = bfr_file_read(file, f->body_at, copy + body_at, length - body_at);
  if (code == BFR_OK) code = bfr_file_read(file, 0, header, BFR_HEADER);
  if (code == BFR_OK && memcmp(copy, header, BFR_LIVE_AT + 8) != 0) code = BFR_ECHANGED;
  if (code == BFR_OK && memcmp(copy + BFR_LIVE_AT + 16, header + BFR_LIVE_AT + 16, 16) != 0) code = BFR_ECHANGED;
  if (code == BFR_OK) code = bfr_judge(f, header, copy + (size_t)f->end_at[0], copy + length - 8);
  if (code != BFR_OK) return free(copy), code;
  f->owned = copy;
  bfr_answer_from(f, copy, length);
  return BFR_OK;
}

/* Maps also the places of slices that are not there yet, where the system shows them once the file has grown. */
static int bfr_map(bfr_filter* f, bfr_file file, uint64_t slices) {
#ifdef __linux__
  uint64_t most = bfr_most_slices(f);
#else
  uint64_t most = slices;
#endif
  for (; most >= slices && f->owned == NULL; --most) {
    const uint64_t length = f->end_at[most - 1] + 8;
    if (length <= PTRDIFF_MAX) f->owned = bfr_file_map(file, (size_t)length);
    if (f->owned != NULL) f->length = (size_t)length;
  }
  if (f->owned == NULL) return BFR_EMAP;
  bfr_answer_from(f, (const unsigned char*)f->owned, f->length);
  return BFR_OK;
}

static int bfr_begin(bfr_filter* f) {
  if (f != NULL) memset(f, 0, sizeof *f);
  return f != NULL;
}

static int bfr_end(bfr_filter* f, int code) {
  if (code != BFR_OK) memset(f, 0, sizeof *f);
  return code;
}

int bfr_open(bfr_filter* f, const char* path, unsigned flags, const unsigned char* secret) {
  unsigned char header[BFR_HEADER];
  uint64_t file_bytes = 0, slices = 0;
  bfr_file file;
  int code;
  if (!bfr_begin(f) || path == NULL || (flags & ~(unsigned)(BFR_COPY | BFR_ANY_FILESYSTEM)) != 0) return BFR_EINVAL;
  code = bfr_file_open(path, &file, &file_bytes);
  if (code != BFR_OK) return code;
  code = bfr_admit(f, file, file_bytes, flags, secret, header);
  if (code == BFR_OK) slices = bfr_counted(f, header + BFR_LIVE_AT);
  if (code == BFR_OK && f->end_at[slices - 1] + 8 > PTRDIFF_MAX) code = BFR_EMEMORY;
  if (code == BFR_OK) code = (flags & BFR_COPY) != 0 ? bfr_copy(f, file, header, slices) : bfr_map(f, file, slices);
  bfr_file_close(file);
  return bfr_end(f, code);
}

int bfr_open_memory(bfr_filter* f, const void* bytes, size_t num_bytes, const unsigned char* secret) {
  const unsigned char* data = (const unsigned char*)bytes;
  const unsigned char* last = NULL;
  uint64_t slices;
  int code;
  if (!bfr_begin(f) || data == NULL || (uintptr_t)bytes % 8 != 0) return BFR_EINVAL;
  if (num_bytes < BFR_HEADER) return BFR_ETOOSHORT;
  code = bfr_read_identity(f, data, num_bytes, secret);
  slices = code == BFR_OK ? bfr_counted(f, data + BFR_LIVE_AT) : 0;
  if (slices > 0 && f->end_at[slices - 1] + 8 <= num_bytes) last = data + (size_t)f->end_at[slices - 1];
  if (code == BFR_OK) code = bfr_judge(f, data, data + (size_t)f->end_at[0], last);
  if (code == BFR_OK) bfr_answer_from(f, data, num_bytes);
  return bfr_end(f, code);
}

void bfr_close(bfr_filter* f) {
  if (f == NULL) return;
  if (f->length > 0) {
    bfr_file_unmap(f->owned, f->length);
  } else {
    free(f->owned);
  }
  memset(f, 0, sizeof *f);
}

#define BFR_TEXT_(name, number, text) \
  case number:                        \
    return text;
#define BFR_NAME_(name, number, text) \
  case number:                        \
    return "BFR_" #name;
const char* bfr_error_text(int code) {
  switch (code) { BFR_CODES(BFR_TEXT_) default : return code < 0 ? "an unknown code" : "no error"; }
}

const char* bfr_error_name(int code) {
  switch (code) { BFR_CODES(BFR_NAME_) default : return code < 0 ? "BFR_EUNKNOWN" : "BFR_OK"; }
}
#undef BFR_TEXT_
#undef BFR_NAME_

#ifdef __cplusplus
}
#endif
#endif /* BFSTORE_READER_IMPLEMENTATION */

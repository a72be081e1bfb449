/* bfstore for sets of keys: copies, sealed files, unions, intersections, parts of one filter; removing keys; planning.
 * guide/sets.md has the essays.
 *
 * Words
 * - Seal: to make a copy with checksums that is never written to again.
 * - Fold: to make a filter smaller, by the OR of its lines.
 * - Part: some of the lines of a filter, with the keys that belong to them, in a file of its own.
 *
 * A function that makes a file: the complete, durable, clean file appears under its name, or nothing does.  Other
 * threads and processes may add to its sources meanwhile.  The new file has every key whose add returned before the
 * call (with BFS_PRIVATE: before the source was opened).  Sources are files, ranges of files or in buffers.  A source
 * in doubt is not copied: the code is that of bfs_health.  So is one that was recovered meanwhile (BFS_EBUSY), and one
 * that is in use by a handle that may not ask the kernel for failed writes (BFS_NO_WRITE, bfs_options.fd: BFS_EBUSY).
 * Flags of all of them: BFS_REPLACE (of another file than a source, whose handles answer "maybe" from then on),
 * ANY_FILESYSTEM, and FILLING (the new file answers "maybe" until its owner has compared its mark with the log, or has
 * added every newer key, and has called bfs_finish_filling: the only safe way to put back an older state).
 * `options` may be NULL.  They take mode and lock_timeout_ms.
 * "Group copy" below: EFORKED, ESHUT, ESIZING, system, state, malformed (of what is replaced, and of a damaged source).
 * "Waits: as a copy": as long as a source's handle waits for locks, for a sync of its file that is under way; with
 * BFS_REPLACE, for each lock of the file that is replaced. */
#ifndef BFSTORE_SETS_H
#define BFSTORE_SETS_H

#include <bfstore_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Copies and sealed files -------------------------------------------------------------------------------------- */

#define BFS_SEALED 0x4000000ull       /* bfs_copy: with a checksum for every 64 KiB, and never written to again */
#define BFS_SAME_FILE_ID 0x8000000ull /* bfs_copy, bfs_dump: the source's; see guide/engines.md, "Replicas" */

/* Makes a file of the same bits, shape, seed, secret, note, marks and count of keys: every key up to its marks is in
 * it.  A buffer has no marks and no count, so the new file has none: its owner adds everything again, or syncs its
 * mark. A bare filter has no n and p; the new file gets those that options give for num_bits and num_probes alone.
 * Without BFS_SEALED the new file is not sealed.  A damaged sealed file is BFS_EDAMAGED, unless its handle tolerates
 * the damage: then the copy answers "maybe" there, too. Seal files that you transfer: only a seal detects changed bits.
 * With BFS_SEALED and BFS_REPLACE the file may replace its own source, while no process writes to that (BFS_EBUSY).
 * options.fpr folds: the new file is smaller.  Each of its lines (bits in the classic layout) is the OR of as many
 * neighbouring ones as leave the rate, with the keys of now, at most fpr; n becomes the number of keys with which the
 * rate is fpr.  BFS_ESIZING if the rate is higher already.  So a filter for an unknown number of keys gets its size:
 * make it with options.capacity_at_most and BFS_UNPUBLISHED, add, copy it here under its name, and close it.
 * Flags: also BFS_SEALED or SAME_FILE_ID; BFS_SEALED goes without FILLING.  Waits: as a copy.  Codes: EUNSUPPORTED (its
 * layout is not folded, or grows and is not sealed), group copy. */
BFS_API BFS_CHECK int32_t bfs_copy(const bfs_filter* filter, const char* path, uint64_t flags,
                                   const bfs_options* options, bfs_error* error);

/* Bytes of a file. */
typedef struct bfs_range {
  uint64_t offset;
  uint64_t bytes;
} bfs_range;

/* Reads a sealed file from end to end, from the disk where no process has it in memory, and compares it with its
 * checksums.  Returns the number of damaged ranges, 0 if the file is as it was sealed, and fills in the first
 * `capacity` of them, ascending.  An unreadable range is damaged, and so are state slots and a live word with another
 * state than a sealed file has.  Bytes that no reader looks at (for instance between bits and checksums) are not
 * compared.  A file that is not sealed is BFS_ENOTSEALED, whatever its state.  Needs no secret, writes nothing, and
 * takes no lock, so it also verifies a file that is being replaced.
 * Flags: 0 or BFS_NOFOLLOW.  Codes: ENOTSEALED, ELATER, system, malformed. */
BFS_API BFS_CHECK int64_t bfs_verify(const char* path, uint64_t flags, bfs_range* damaged, size_t capacity,
                                     bfs_error* error);

/* --- Deltas ------------------------------------------------------------------------------------------------------- */

/* Makes a delta: a small file of the bits that the filter file `after` has and `before` lacks.  A machine that has
 * `before` makes `after` of it (bfs_apply_delta), so a list that grows need not be sent again as a whole.  `after` is
 * `before` with more keys.  The layouts are blocked or classic (otherwise BFS_EUNSUPPORTED), since bits of the others
 * can go away.  Both have the same layout, hash, seed or seeds, k, m and part, and `after` has each bit of `before`
 * (otherwise BFS_EMISMATCH).  No process writes to either meanwhile (BFS_EBUSY), and their file_ids differ
 * (BFS_EINVAL): take copies or sealed files (bfs_copy).  Needs no secret.  Reads both files once, piece by piece.
 * Flags: ANY_FILESYSTEM, and BFS_REPLACE, which replaces another delta and no other file (BFS_EINVAL).  Waits: as
 * bfs_open for reading.  Codes: EUNSUPPORTED, EMISMATCH, group copy. */
BFS_API BFS_CHECK int32_t bfs_make_delta(const char* before, const char* after, const char* delta, uint64_t flags,
                                         const bfs_options* options, bfs_error* error);

/* Makes the file `after` that the delta's maker had, of the file `before`: with the same bits, file_id, shape, seed,
 * secret check, note, marks and count of keys, and sealed if that one was.  So the next delta can be applied to it.
 * `before` is the file from which the delta was made: file_id and bits are compared (BFS_EMISMATCH).  It stays as it
 * is, and no process writes to it meanwhile (BFS_EBUSY).  With BFS_REPLACE, `after` may be `before` itself.  Every byte
 * of the delta has a checksum: a damaged one makes no file.  A crash leaves the old file or the new one.  Needs no
 * secret. Flags: BFS_REPLACE and ANY_FILESYSTEM.  Waits: as bfs_open for reading, and with BFS_REPLACE for each lock of
 * the file that is replaced.  Codes: EUNSUPPORTED, EMISMATCH, group copy (malformed: also of a delta). */
BFS_API BFS_CHECK int32_t bfs_apply_delta(const char* before, const char* delta, const char* after, uint64_t flags,
                                          const bfs_options* options, bfs_error* error);

/* --- Union, intersection, comparison ------------------------------------------------------------------------------ */

/* Adds every key of `from` to `into`: the union of their bits, equal bit for bit to one filter of all keys.  In the
 * counting layout the counters are added up, to at most 15.  A merge that is repeated, or that ended in an error, then
 * counts keys twice, which leaks, and never makes a no.  If both merges succeeded, the count of keys has them twice,
 * too, so no number shows this leak.  Other threads and processes may add to both meanwhile.  Both need the same
 * layout, hash, seed or secret or seeds, and k.  The m of `from` is that of `into`, or, if the hash gives digests, a
 * multiple of it: then `from` is folded while it is read.  `into` gets no marks, and nothing is durable before its next
 * sync or close.  The count of keys grows by an estimate of the new ones.  After an error some keys of `from` may be in
 * `into`, which does no harm: call again. Waits: as a copy.  Codes: EREADONLY, EUNSUPPORTED, EMISMATCH, group copy. */
BFS_API BFS_CHECK int32_t bfs_merge(bfs_filter* into, const bfs_filter* from, bfs_error* error);

/* Makes a file of the keys that each of `count` filters has: the AND of their bits.  The filters need the same layout,
 * hash, seed or secret, and k.  The new file gets these, and the m, n and p of the filter with the fewest bits.  The m
 * of each other filter is a multiple of that m, and the filter is folded while it is read.  The new file has the note
 * of the filters, if all have the same one, and no marks, since it lacks keys that the logs have.  Some of its bits are
 * there by chance: its false-positive rate is between the product of the filters' rates and the lowest of them (see
 * BFS_STATS_FILL).  The count of keys is that of a filter which is as full, so that BFS_LIMIT and `saturated` keep to
 * p.  No call intersects in place: clearing bits that others read would make a wrong "no".
 * Waits: as a copy.  Codes: EUNSUPPORTED, EMISMATCH, group copy. */
BFS_API BFS_CHECK int32_t bfs_intersect(const bfs_filter* const* filters, size_t count, const char* path,
                                        uint64_t flags, const bfs_options* options, bfs_error* error);

/* Values that decide where a key's bits are, and in which two filters can differ (bfs_comparison.differs). */
#define BFS_DIFFERS_LAYOUT 0x1u
#define BFS_DIFFERS_HASH 0x2u
#define BFS_DIFFERS_SEED 0x4u   /* or the list of seeds */
#define BFS_DIFFERS_SECRET 0x8u /* of BFS_HASH_SIPHASH */
#define BFS_DIFFERS_NUM_PROBES 0x10u
#define BFS_DIFFERS_NUM_BITS 0x20u
#define BFS_DIFFERS_PART 0x40u /* which part of a whole filter, or of how many */

/* An estimate, and the interval that has the true number in 95 of 100 cases. */
typedef struct bfs_interval {
  double estimate;
  double low;
  double high; /* INFINITY where the bits set no bound */
} bfs_interval;

/* What two filters, A and B, have in common.  If their sizes differ, all fields count the larger one as folded to the
 * size of the smaller one. */
typedef struct bfs_comparison {
  uint32_t struct_bytes; /* in: sizeof(bfs_comparison) */
  uint32_t differs;      /* BFS_DIFFERS_*; 0 if they differ in none */
  uint32_t comparable;   /* 1 if they differ in num_bits at most, and one num_bits is a multiple of the other; 0: only
                            keys_a and keys_b below are known, each in its own size, and the rest is 0 */
  uint32_t equal;        /* 1: num_bits and all bits are equal, so that both give every key the same answer */
  uint32_t a_in_b;       /* 1: every bit of A is one of B: nothing shows that A has a key that B lacks.  Counting: no
                            counter of A is higher than that of B */
  uint32_t b_in_a;       /* the other way round */
  uint32_t some_in_both; /* 1: keys_both is more than 3 of its standard deviations above 0; 0: it cannot be
                            distinguished from none */
  uint32_t reserved;     /* 0 */
  uint64_t num_bits;     /* m of the smaller one */
  uint64_t set_bits_a;
  uint64_t set_bits_b;
  uint64_t set_bits_both; /* 0: certainly no key is in both */
  bfs_interval keys_a; /* counting: a key counts once, however often it was added (where not comparable: each time) */
  bfs_interval keys_b;
  bfs_interval keys_either;
  bfs_interval keys_both;
  bfs_interval jaccard; /* keys_both / keys_either */
} bfs_comparison;
#define BFS_COMPARISON_INIT                                                                                          \
  {                                                                                                                  \
    sizeof(bfs_comparison), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, { 0, 0, 0 } \
  }

/* Fills in *out: in what filter A and filter B differ, whether they are equal, and how many keys each has, both have,
 * and either has.  Reads every bit of both, once.  Filters that do not fit together are BFS_OK, and *out says in what
 * they differ.  On an error *out is as it was.  EUNSUPPORTED if sets of keys of the layout cannot be compared.
 * Waits: as a copy.  Codes: EUNSUPPORTED, group copy. */
BFS_API BFS_CHECK int32_t bfs_compare(const bfs_filter* a, const bfs_filter* b, bfs_comparison* out, bfs_error* error);

/* --- Parts of one filter ------------------------------------------------------------------------------------------ */

/* Part i of N of a filter (BFS_LAYOUT_BLOCKED or BFS_LAYOUT_COUNTING) has its lines from i * lines / N to
 * (i + 1) * lines / N, where N divides the number of lines.  A key belongs to the part of its digest: i is the high
 * half of the 128-bit product digest * N.  So each machine builds and asks only its own part, and the bodies of all
 * parts, one after the other, are the body of the whole filter.  A part is a filter like any other, with its own m, n
 * and p. But a key of another part is BFS_EPART: it is not added, and never answered "no".  If one of many keys is of
 * another part, the call is BFS_EPART: it adds and removes nothing (with nulls it may have added or removed keys before
 * that one, so do not repeat a remove), and every answer is 1. bfs_create makes a part: bfs_options.part and num_parts,
 * of the whole filter that the other options describe.  m is rounded up to whole lines of each part.  The part's n is
 * its share of capacity and six standard deviations more, since chance decides which keys are in it.  All parts need
 * one seed: give it, or let `like` be another part (its number may differ), or the whole filter (num_parts divides its
 * lines).  The bare form has no parts.
 *
 * A set of parts.  bfs_open for reading also opens a text file that lists the files of parts (FORMAT.md, "A set of
 * parts"), as one handle that looks each key up in the key's own part, so that no lookup is BFS_EPART:
 *
 *   bfstore-set 1
 *   # relative to the folder of this file's path, or absolute
 *   part0.bf
 *   /data/part1.bf
 *
 * A machine may list only the parts that it has, at least one, at most 65,536.  A key of a part that is not listed is
 * "maybe".  The listed parts fit together as in bfs_join; otherwise BFS_EMISMATCH, and the message names the list, the
 * line and the file.  guide/sets.md, "A set of parts", has what each function does with such a handle. */

/* Makes a file of the whole filter of these `count` parts, in any order: equal bit for bit to one filter of all keys.
 * The parts have the same layout, hash, seed or secret, k, m and number of parts, and each is there once: otherwise
 * BFS_EMISMATCH, and the message names the part that is missing, duplicate or different.  The new file has n and p of
 * the whole, the note of the parts, if all have the same one, and no marks; its count of keys is the sum of theirs.
 * Waits: as a copy.  Codes: EMISMATCH, group copy. */
BFS_API BFS_CHECK int32_t bfs_join(const bfs_filter* const* parts, size_t count, const char* path, uint64_t flags,
                                   const bfs_options* options, bfs_error* error);

/* --- Removing keys ------------------------------------------------------------------------------------------------ */

#define BFS_LAYOUT_COUNTING 3 /* counters of 4 bits in one line of 64 bytes a key, at about four times the size */

/* Removes a key from a filter of the counting layout.  A key that was added several times is present until it was
 * removed as often.
 * Remove only keys that were added, and each at most as often as it was added.  To remove a key that was never added,
 * or once too often, can make the filter answer no for other keys that are in it.  The filter cannot detect this.
 * Returns 1, or 0 if the key was certainly not there: then nothing changed.  Never repeat a remove that returned
 * another code, or whose process was killed: it may have taken the key.  A part that it left stays in the counters (a
 * leak), which costs only false positives.  Readers in every process see a remove once it has returned.  While a lookup
 * is in doubt, removes are refused with the code of bfs_health, also during a recovery or a filling.  A recovery adds
 * again the keys after the marks, and removes nothing again.  After BFS_ACCEPT_LOSS some keys may be missing: to remove
 * one of these is to remove a key that was never added.  Codes: handle, state. */
BFS_API BFS_CHECK int32_t bfs_remove(bfs_filter* filter, const void* key, size_t key_bytes);

/* Removes keys.  Returns how many were not certainly absent.  EINVAL, EUNSUPPORTED and EDIGESTONLY: nothing was
 * removed. With any other code some of the keys may have been removed, and it is not known which: do not repeat the
 * call. Codes: as bfs_remove. */
BFS_API BFS_CHECK int64_t bfs_remove_keys(bfs_filter* filter, const bfs_keys* keys);

/* counts[i] = how often key i was added and not removed, at most: 0 (a certain no, or a null) to 15, of a filter of the
 * counting layout.  15 means 15 or more, or that the file is in doubt (bfs_health).  Returns how many may be present.
 * Below 0 all keys->count counts are 15 (none is written if `keys` cannot be read).
 * Codes: EUNSUPPORTED, EDIGESTONLY, EPART. */
BFS_API int64_t bfs_count_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* counts);

/* The same of one key: 0 to 15.  Codes: as bfs_count_keys. */
static inline int64_t bfs_count(const bfs_filter* filter, const void* key, size_t key_bytes) {
  const bfs_key one = {key, key_bytes};
  const bfs_keys keys = bfs_keys_pairs(&one, 1);
  uint8_t count = 15;
  const int64_t maybes = bfs_count_keys(filter, &keys, &count);
  return maybes < 0 ? maybes : count;
}

/* --- Keys of an unknown number ------------------------------------------------------------------------------------ */

/* A file that grows while processes use it: up to 5 slices, each several times as large as the one before.  capacity is
 * the number of keys of the first slice.  capacity_at_most (0: some 11,000 times as many) is the number of keys for
 * which all slices together have room at the rate fpr; each slice is the least number of times, 2 to 16, as large as
 * the one before that reaches it.  An add that finds all slices full makes the next one, and waits for no other
 * process.  Where the disk is full, or on an overlay filesystem, the file stays as it is, and its rate rises.  A lookup
 * reads a line of each slice, and a key takes 14 bits at 1 %, not 10: a filter of another layout that is made with
 * capacity_at_most, and folded, is smaller and faster.  The shape that bfs_stats tells is that of all slices.  Not
 * sealed, folded, merged, intersected, compared or divided into parts, and not in a buffer (BFS_EUNSUPPORTED). */
#define BFS_LAYOUT_GROWING 8

/* --- Keys that expire --------------------------------------------------------------------------------------------- */

/* A key is kept for bfs_options.window_ms milliseconds after its last add, at least.  Time is divided into epochs, of
 * which the filter keeps the keys of the last 8, 4 or 2.  capacity is the number of keys of one window, which
 * come evenly.  bfs_build, whose keys are all in one epoch, takes 7, 3 or 1 times their number if none is given. */
#define BFS_LAYOUT_WINDOW 5   /* 8 epochs: kept for a seventh of the window longer, at most */
#define BFS_LAYOUT_WINDOW_4 6 /* 4 epochs: for a third longer.  The smallest one for a rate of 1 % */
#define BFS_LAYOUT_WINDOW_2 7 /* 2 epochs: for the window once more */
#define BFS_IF_DUE 18446744073709551615ull

/* Ends an epoch: removes the keys of the oldest one, and begins the next.  Reads and writes the whole body, and syncs.
 * Other handles ask and add meanwhile.  No other call ends epochs: so one process, or each of several, calls this again
 * and again, some ten times in an epoch.  Without it keys are kept for longer, and the rate rises.
 * from_epoch is BFS_IF_DUE, or bfs_statistics.epoch as the caller has read it.  With BFS_IF_DUE the epoch ends if it
 * has lasted for its time, window_ms / (epochs - 1).  With a number, if the file is in that epoch.  Returns 1 if it
 * ended an epoch, and 0 if it changed nothing: several that call this at once end one epoch.  A caller that dies in it
 * has lost nothing, or the file is as after a death in a sync (BFS_EUNCLEAN).  EUNSUPPORTED for other layouts, and on
 * overlay filesystems; ERECOVERING during a recovery; EINVAL for a buffer and for an unpublished file.
 * Waits: for two locks and for the disk.  Codes: EUNSUPPORTED, and as bfs_sync. */
BFS_API BFS_CHECK int32_t bfs_turn(bfs_filter* filter, uint64_t from_epoch, bfs_error* error);

/* --- Filters that are built once ---------------------------------------------------------------------------------- */

/* The smallest file, for keys that are all known: 7.2 bits a key at 1 % (9.9 of BFS_LAYOUT_BLOCKED), and 10.3 at 0.1 %
 * (16.1).  A lookup reads one page.  Keys are given to bfs_build, or to a handle that was created with BFS_UNPUBLISHED;
 * bfs_options may leave capacity out.  Then, and with `like`, capacity and m follow from the number of different keys.
 * That handle keeps 8 bytes a key in memory and answers "maybe" (BFS_EFILLING); adds return 0, because nobody looks
 * whether a key is new.  bfs_publish builds the file, with bfs_options.threads threads, asks every key, seals the file
 * and gives it its name; then the handle reads it, and bfs_stats has its capacity and m.  It is BFS_EFULL if there are
 * more different keys than the capacity that was given, and BFS_EINVAL if there is none and a file would be replaced;
 * the handle is as before an error.  Equal sets of keys with equal seed, file_id and capacity make equal files.  No key
 * is added, removed or merged later (BFS_EUNSUPPORTED, BFS_ESEALED): build another file, and replace this one.  Marks
 * and bfs_supersede are BFS_EUNSUPPORTED. */
#define BFS_LAYOUT_STATIC 4

/* --- Planning ----------------------------------------------------------------------------------------------------- */

/* Numbers of a filter that is not made yet.  0 means "not given".  Give any two or more, but at most two of capacity,
 * bits_per_key, and m (num_bits or max_bytes).  With capacity alone, fpr is 0.01. */
typedef struct bfs_plan_request {
  uint32_t struct_bytes; /* sizeof(bfs_plan_request) */
  uint32_t layout;       /* BFS_LAYOUT_*; 0 is the default */
  uint64_t capacity;     /* n: distinct keys */
  double fpr;            /* p: the highest false-positive rate at n keys, 0 < p < 1 */
  double bits_per_key;   /* bits of the body for each of the n keys */
  uint64_t max_bytes;    /* bytes of the whole file */
  uint64_t num_bits;     /* m: 1..2^48 */
  uint32_t num_probes;   /* k: 1..64 */
  uint32_t reserved;     /* 0 */
} bfs_plan_request;
#define BFS_PLAN_REQUEST_INIT \
  { sizeof(bfs_plan_request), 0, 0, 0, 0, 0, 0, 0, 0 }

/* What a filter of a layout can do: bits of bfs_plan_result.abilities. */
#define BFS_CAN_ADD 0x1u        /* keys, with any number of processes at once */
#define BFS_CAN_REMOVE 0x2u     /* keys */
#define BFS_CAN_MERGE 0x4u      /* the keys of another filter (bfs_merge) */
#define BFS_CAN_FOLD 0x8u       /* into a smaller filter (bfs_copy with a rate) */
#define BFS_CAN_GROW 0x10u      /* beyond the size that it was made with */
#define BFS_CAN_EXPIRE 0x20u    /* keys, by their age */
#define BFS_CAN_INTERSECT 0x40u /* with another filter, into a new one (bfs_intersect) */
#define BFS_CAN_BUILD 0x80u     /* once, from all keys, and no key later */

/* What the filter will be like. */
typedef struct bfs_plan_result {
  uint32_t struct_bytes; /* in: sizeof(bfs_plan_result) */
  uint32_t layout;       /* BFS_LAYOUT_* */
  uint32_t num_probes;   /* k */
  uint32_t abilities;    /* BFS_CAN_* */
  uint64_t num_bits;     /* m, a size that the layout can have */
  uint64_t capacity;     /* n */
  double fpr;            /* the false-positive rate at n keys (FORMAT.md, "Rates and estimates") */
  double bits_per_key;   /* bits of the body / n */
  uint64_t body_bytes;
  uint64_t file_bytes;
  double fill_ratio;  /* the expected share of m that is set at n keys */
  double bloom_fpr;   /* (1 - e^(-kn/m))^k: see bfs_plan */
  double cache_lines; /* of 64 bytes, that a lookup of a present key reads, on average */
  double page_faults; /* pages of 4 KiB, that it reads from a file that is not in memory, on average */
} bfs_plan_result;
#define BFS_PLAN_RESULT_INIT \
  { sizeof(bfs_plan_result), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Computes the numbers that are not given from the others, and makes nothing.  k becomes the best one, m the smallest
 * and n the largest that keeps the rate.  From k with n or m alone, the other is where half of the bits are set.  If
 * neither n nor m follows, n is a million keys.  With all of n, m and k the answer is their rate: so a program draws
 * the rate as the filter fills.  bfs_create makes the filter of a plan from its num_bits, num_probes and capacity.
 * bloom_fpr is Bloom's formula, which agrees with fpr in large filters of BFS_LAYOUT_CLASSIC.  The real rate is above
 * it where m is small (Bose et al., "On the false-positive rate of Bloom filters", 2008), and wherever the probes of a
 * key share a line, as in BFS_LAYOUT_BLOCKED (Putze, Sanders & Singler, 2007).
 * Codes: ENOMEM, ESIZING (no filter is so).  The message of EINVAL names what is missing, out of range, or too many. */
BFS_API BFS_CHECK int32_t bfs_plan(const bfs_plan_request* request, bfs_plan_result* out, bfs_error* error);

#ifdef __cplusplus
}
#endif

#endif

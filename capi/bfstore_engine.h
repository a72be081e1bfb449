/* bfstore for engines: a filter in front of a database, and all options and flags.
 *
 * An engine that skips reads where the filter says no needs the key of every row in the filter, whatever crashed on the
 * way.  guide/engines.md has the order of the steps, and why; examples/engine_small.c is the shortest engine that
 * follows it.  In short:
 *   1. Append the row to the log.
 *   2. Add its key (bfs_add).  Only after an add that returned 0 or 1 may the row become visible, or be acknowledged.
 *   3. Now and then sync with a low-water mark: a position such that every key up to it has returned from an add.
 *   4. At every open for writing compare bfs_get_mark with the log, and add the keys after the mark before any later
 *      row is visible.  After BFS_EUNCLEAN, BFS_EPOISONED or BFS_ERECOVERING open with BFS_RECOVER, do the same, and
 *      call bfs_finish_recovery.
 *   5. A reader trusts only a filter that a writer has compared so, by its file_id and its mark: an older copy may have
 *      taken the path.
 *
 * Words
 * - Owner, mark, epoch: an owner is a program that has a log of its keys and a number of its own.  A mark is a position
 *   in that log: every key up to it is durable in the filter.  An epoch names the log.
 * - Clean, dirty: a file is dirty while a writer has it open, and clean when the last writer has closed it.
 * - Adopt: to continue with a dirty file whose writer was killed.  Nothing is lost then.
 * - Unclean: dirty, and the machine went down since, or a writer was killed while it synced or opened the file, or a
 * copy of a dirty file.  Keys after the marks may be missing, so no process may use the file until its owners have
 * recovered it: each adds again the keys after its mark.
 * - Poison: to mark a file for every process because a sync did not end (a process was killed in it, or the disk
 *   refused a write), so that its memory and disk may differ.
 * - Supersede: to tell the users of a file that another file replaces it. */
#ifndef BFSTORE_ENGINE_H
#define BFSTORE_ENGINE_H

#include <bfstore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- The rare options of a new filter ----------------------------------------------------------------------------- */

/* Instead of capacity and fpr, one of these pairs gives the size:
 *   capacity_at_most and fpr   m for a number of keys that is surely enough, if nobody knows how many will come: m is
 *                              up to 2 % larger, so that many numbers divide it, and bfs_copy (options.fpr) folds the
 *                              filter to the size for the keys that it got.  BFS_EUNSUPPORTED in a layout that cannot
 *                              fold (BFS_CAN_FOLD), or with a hash of another program.  In the layout
 *                              BFS_LAYOUT_GROWING it is the number of keys to which a filter for capacity grows
 *   capacity and bits_per_key  m = capacity * bits_per_key (counting: a quarter), and the k that is best for it
 *   capacity and max_bytes     the largest m whose file or buffer is at most max_bytes, and its best k
 *   num_bits and num_probes    m and k.  m is 1..2^48, and is rounded up to a multiple of 512 for the blocked layout (a
 *                              number of counters, 1..2^46, and of 128 for the counting one); k is 1..64.  The promised
 *                              rate is for `capacity`, if given, and otherwise for the number of keys with which half
 *                              of the bits are set
 * The rate of the blocked layout is that of Putze, Sanders & Singler, "Cache-, Hash- and Space-Efficient Bloom Filters"
 * (WEA 2007): the mean over the Poisson load of a line.  A rate below its floor near 1e-8 is BFS_ESIZING, and needs the
 * classic layout.
 *
 *   seed                NULL: a random one.  For BFS_HASH_XXH3.  Anyone who reads the file can choose keys that fill it
 *   seeds, num_seeds    one for each of the k bits, of a hash that takes a list (bfstore_interop.h)
 *   note, note_bytes    the owner's own words, any bytes, at most 1024
 *   file_id             16 bytes, not all zeros; NULL: a random one.  See guide/engines.md, "Replicas"
 *   part, num_parts     part number `part`, from 0, of num_parts; 0 of 0: the whole filter (bfstore_sets.h)
 *   threads             1 to 64 threads that a call with many keys to add uses, with BFS_EXCLUSIVE and a layout of
 *                       lines.  A call with fewer than 16,384 keys a thread, or with nulls, uses its own thread alone.
 *                       The call takes 16 bytes of memory a key while it runs, at most 64 MiB
 *   window_ms           for how long keys are kept, of a layout whose keys expire (bfstore_sets.h), which needs it.
 *                       With layout 0 it means BFS_LAYOUT_WINDOW
 *   range               see bfstore_memory.h
 *   fd                  the file that the program has open at *fd, instead of one at a path: for a sandbox that gets
 *                       descriptors, and for memfd_create.  See guide/sharing.md, "Descriptors" */

/* lock_timeout_ms: how long a call waits for each lock that another process holds, as long as the handle is open.  A
 * process holds a lock while it opens a file for writing, syncs, closes or replaces it, and from bfs_supersede to
 * bfs_publish.  After that time the call returns BFS_EBUSY, and the message has the process id of the holder, if the
 * system tells it.  A lock that a handle of this process holds, and an exclusive writer, are BFS_EBUSY at once. */
#define BFS_LOCK_TIMEOUT_DEFAULT 0u  /* 5,000 ms */
#define BFS_LOCK_NO_WAIT 4294967294u /* BFS_EBUSY at once */
#define BFS_LOCK_FOREVER 4294967295u /* as long as it takes */

/* writeback_check_ms: how often a writer asks the kernel for failed writes of the file's pages.  The first add that
 * changes a bit after that time asks, which causes no I/O.  A failure poisons the file (BFS_EPOISONED).  Between the
 * failure and the question the kernel may drop a page that it could not write, and keys in it are answered "no". */
#define BFS_WRITEBACK_CHECK_DEFAULT 0u           /* 100 ms */
#define BFS_WRITEBACK_CHECK_EACH_ADD 4294967294u /* each add that changes a bit asks */

/* --- The rare flags, beside those of bfstore.h: which function takes them ----------------------------------------- */

#define BFS_RANDOM 0x20ull
/* Opening and making.  Small pages, no read-ahead: for a file that is synced often.  A file of more than seven eighths
 * of the machine's memory, or of the limit of the process's control groups, gets them anyway. */
#define BFS_PRIVATE 0x40ull
/* Opening for reading.  Reads the file into memory of this process, and maps nothing: for hostile files.  Later changes
 * of the file (truncation, I/O errors, new keys) do not reach the handle.  BFS_ENOMEM if the file is larger than the
 * available memory, or than the limit of the process's control groups. */
#define BFS_RECOVER 0x100ull     /* Opening for writing: also an unclean, poisoned or recovering file, to recover it. */
#define BFS_ACCEPT_LOSS 0x200ull /* Opening for writing: such a file as it is, without the keys after the marks. */
#define BFS_STRICT 0x400ull      /* Opening: a killed writer's file is unclean.  For devices that vanish. */
#define BFS_ANY_FILESYSTEM 0x800ull /* All: a network filesystem or read-only overlay, which may show old files. */
#define BFS_LIMIT 0x1000ull         /* Opening, making: BFS_EFULL at the capacity, asked at every 64th key. */
#define BFS_NOFOLLOW 0x2000ull      /* Opening, bfs_verify: BFS_ESYMLINK if the path's last part is a symbolic link. */
#define BFS_NO_WRITE 0x4000ull
/* Opening for reading.  Writes nothing at all, for audits and sandboxes.  Without it a reader writes in these cases: it
 * adopts the file of a killed writer (which syncs it), poisons a file if the kernel failed to write a page, clears the
 * sign of a killed superseding process, and on an overlay makes the kernel copy the file up.  With it, BFS_EUNCLEAN if
 * the file needs a sync, BFS_EFILESYSTEM if it needs a copy up, and BFS_ESUPERSEDED if its sign would have to be
 * cleared.  The kernel reports once that it failed to write a page, and this handle does not ask: a key in a dropped
 * page is answered "no" until the writer, or another process, has asked. */
#define BFS_VERIFY 0x20000ull          /* Opening for reading: a sealed file is compared with its checksums first. */
#define BFS_TOLERATE_DAMAGE 0x40000ull /* The same, but damaged places answer "maybe". */
#define BFS_UNPUBLISHED 0x400000ull    /* bfs_create: no name in the file system until bfs_publish. */
#define BFS_FILLING 0x800000ull
/* Making, not with UNPUBLISHED, also with BFS_CREATE.  An online build: the file has its name at once and takes adds
 * from every writer, and every lookup in every process answers "maybe" until bfs_finish_filling. */
#define BFS_STATS_MEMORY 0x2000000ull /* bfs_stats: asks the kernel which pages are in memory, page by page */

/* BFS_FOLLOW.  When another file replaces the handle's own (BFS_REPLACE), a lookup that finds the old one superseded
 * opens the path again, with the flags of this handle, and without waiting for a lock.  One thread tries, at most every
 * 10 ms, and meanwhile the others get "maybe".  A handle whose file is in doubt for another reason does the same as
 * soon as the path names another file.  bfs_is_current follows at once, so it notices a file that another program moved
 * to the path; with BFS_PRIVATE it alone follows.  bfs_health does not: it is BFS_ESUPERSEDED until one of them has.
 * The new file may have another size, k and layout.  It must have the same hash, and the same seed or secret
 * (bfs_options.like), so that digests stay valid.  While the path has no such file, the handle answers "maybe",
 * bfs_health is BFS_ESUPERSEDED, and bfs_is_current is 0.  Once no call uses the old file, a later call frees it.  The
 * child of a fork does not follow. */

/* The environment variable BFSTORE_FORCE_ISA (scalar, avx2, avx512, neon) chooses the kernel of filters that are opened
 * or made while it is set.  One that this CPU cannot run is BFS_EINVAL.  Answers never depend on it. */

/* The rare fields of bfs_statistics:
 *   capacity, num_bits           static, before bfs_publish: as given.  If the keys decide them: the number of adds so
 *                                far, repeats too, and 0
 *   keys_added, saturated        counting: all adds, in a copy less the removes before it; less the removes
 *   keys_removed                 counting: removes that returned 1
 *   part, num_parts              a whole filter is part 0 of 1
 *   seeds, num_seeds             num_seeds is k, or 0 if the hash takes no list of seeds
 *   note, note_bytes             the first note_bytes bytes
 *   set_bits, fill_ratio         counting: counters that are not 0; set_bits / m
 *   estimated_keys, _low, _high  ln(1 - fill) / (k ln(1 - 1/m)), as Swamidass & Baldi 2007, less Jensen's term; for
 *                                blocked per line of 512 bits.  Counting: from the sum of the counters, so a key that
 *                                was added twice counts twice, and what leaked counts, too.  95 of 100 filters have a
 *                                number of keys between low and high.  high is INFINITY if the filter, or a line of
 *                                it, has all of its bits set, or a counter is at 15
 *   estimated_fpr                the mean over lines of fill^k.  Static: over shards of 2^-k, or 1 for damaged ones
 *   epochs, window_ms            of a layout whose keys expire, otherwise 0, as all of this: its number of epochs, and
 *                                its window in milliseconds
 *   epoch, turned_at             the current epoch, from 0, and when it began: nanoseconds since 1970.  A key of now is
 *                                found for the window at least, and at most until turned_at + window_ms * epochs /
 *                                (epochs - 1), if each turn comes in time (bfs_turn)
 *   turn_due                     1 if that epoch has lasted for its time: bfs_turn ends it, or says why it cannot
 *   keys_of_epochs               with the flag of the fill: the estimated keys of the current epoch, of the one before
 *                                it, and so on.  A key counts once for each epoch in which it was added
 *   counters_at_15               counting: counters that no remove lowers any more
 *   huge_page_bytes              of the mapping: those in huge pages now
 *   resident_bytes               of the mapped file: those in memory now.  UINT64_MAX if the kernel does not tell: it
 *                                tells only the file's owner, and a process that may write to the file
 *   isa                          the kernel that answers: "avx512", "avx2", "neon" or "scalar"
 *   file_id                      zeros in the bare form and in a set of parts */

/* --- Names of layouts and hashes ---------------------------------------------------------------------------------- */

/* The name of a layout or a hash by its number, as all tools and languages write it: "blocked", "java-polynomial".
 * NULL for an unknown number: show the number then.  Static. */
BFS_API const char* bfs_layout_name(uint32_t layout);
BFS_API const char* bfs_hash_name(uint32_t hash);

/* Returns the number (BFS_LAYOUT_*, BFS_HASH_*) of a layout or a hash by its name, which is compared byte for byte.
 * BFS_EINVAL if none has this name, or it is NULL. */
BFS_API BFS_CHECK int32_t bfs_layout_named(const char* name);
BFS_API BFS_CHECK int32_t bfs_hash_named(const char* name);

/* --- Marks and recovery ------------------------------------------------------------------------------------------- */

/* What a filter keeps for an owner: a process, a shard or a database with a log of its own. */
typedef struct bfs_owner_mark {
  uint64_t owner;     /* a number of the owner's choice */
  uint64_t mark;      /* every key of the log up to this position is durable; 0: none yet */
  uint64_t epoch;     /* which log: a number of the owner's choice, a new one whenever positions begin anew */
  uint32_t recovered; /* out: in a recovery, 1 if the owner has finished it; in: 0 */
  uint32_t reserved;  /* 0 */
} bfs_owner_mark;

/* bfs_sync with a mark.  The caller promises that every key up to the mark has returned from an add.  The call makes
 * everything durable that was added before it, and then stores the mark.  In a recovery the keys after the old mark
 * must have been added since the recovery began.  In one epoch the higher mark stays; another epoch replaces epoch and
 * mark. Mark 0 with an epoch makes the owner known, so that a recovery waits for it.  Mark 0 with epoch 0 stores
 * nothing. With more than 64 owners: BFS_EOWNERS, and the keys are durable. */

/* The mark of `owner` in `epoch`, as of the last sync by any process (with BFS_PRIVATE: as of the copy).  0 means: add
 * the keys of all rows.  It is 0 if the file has no mark of the owner in this epoch, or cannot be read. */
BFS_API uint64_t bfs_get_mark(const bfs_filter* filter, uint64_t owner, uint64_t epoch);

/* Returns how many owners the filter knows, at most 64, and fills in the first `capacity` of them, in no order.
 * BFS_EINVAL for a buffer.  `marks` may be NULL if capacity is 0.
 * Codes: EFORKED (the handle of a writer), ESHUT, ENOMEM, ESYSTEM, malformed. */
BFS_API int64_t bfs_list_marks(const bfs_filter* filter, bfs_owner_mark* marks, size_t capacity, bfs_error* error);

/* Forgets `owner`, durably, and frees its lane; bfs_get_mark() is 0 then, and the owner may begin again.  The call
 * first makes everything durable that was added before.  A recovery no longer waits for the owner: keys of its log
 * after its mark that no process adds again are answered "no" when the recovery is over.  So drop an owner whose rows
 * are gone.  If the other owners, at least one, have finished a recovery, this call ends it.  An owner that the filter
 * does not know is BFS_OK.  Waits and codes: as bfs_sync. */
BFS_API BFS_CHECK int32_t bfs_drop_owner(bfs_filter* filter, uint64_t owner, bfs_error* error);

/* For a handle of BFS_RECOVER: `owner` has added again every key of its log after its mark.  Durable when this returns.
 * Returns 1 if the recovery is over, so that lookups answer again: every owner that the filter knows has finished it,
 * or the filter knows none.  Returns 0 if it waits for other owners.  It cannot wait for an owner that the file does
 * not know: an owner that adds keys syncs once with its epoch (mark 0 before its log was replayed, its position after
 * that) each time it opens the file, or has to be replayed before the last owner calls this.  Until the recovery is
 * over, every handle in every process answers "maybe", other bfs_opens fail with BFS_ERECOVERING, and a recoverer that
 * was killed has to begin again, from the marks.  If no recovery is under way, the call syncs and returns 1.
 * The kernel reports a failed write to each open file by itself, once.  A handle that was open when the write failed
 * may learn of it only after the recovery, in bfs_is_current, and poisons the file again.  So reopen such readers
 * before the recovery, or let each call bfs_is_current.  Waits and codes: as bfs_sync. */
BFS_API BFS_CHECK int32_t bfs_finish_recovery(bfs_filter* filter, uint64_t owner, bfs_error* error);

/* Ends the filling of a filter that was created with BFS_FILLING.  The caller promises that every key of the filter has
 * returned from an add.  The call makes these keys durable, then stores that the filter is filled.  From then on every
 * handle in every process answers, even one that was opened before.  The order of the builder's steps matters, or a row
 * is added by no process and gets "no" at the end: guide/engines.md, "An online build".  The filling outlives a close,
 * a kill, a power cut and a recovery.  A filter that is not filling is only synced: BFS_OK. Waits and codes: as
 * bfs_sync; EINVAL for a buffer. */
BFS_API BFS_CHECK int32_t bfs_finish_filling(bfs_filter* filter, bfs_error* error);

/* --- Replacing a file that is in use ------------------------------------------------------------------------------ */

/* Gives a filter that was created with BFS_UNPUBLISHED its name, as the complete, durable, clean file.  From then on
 * the handle only reads.  On an error nothing has appeared, and the handle is as before.  (After BFS_EPOISONED with
 * BFS_REPLACE the new file has the name, and is poisoned.  BFS_LAYOUT_STATIC: publish again.)  With BFS_REPLACE the
 * file that had the name is superseded: its handles answer "maybe", its writers get BFS_ESUPERSEDED.  The call marks
 * the old file as superseded, so the process needs write permission for that file, or must own it.  Needs the handle
 * for itself.  guide/engines.md, "Replacing a file", has what a killed process may leave in the folder. Waits: for the
 * locks of the file that is replaced. Codes: EFORKED, ESHUT, EFULL (BFS_LAYOUT_STATIC), system (EBUSY: replaced
 * meanwhile, see bfs_supersede), ELOST, EPOISONED, EFAULT, malformed (of what is replaced). */
BFS_API BFS_CHECK int32_t bfs_publish(bfs_filter* filter, bfs_error* error);

/* For a filter that was created with BFS_UNPUBLISHED and BFS_REPLACE: supersedes the file that has the name now, before
 * bfs_publish.  Keys that its writers added before are in their logs, and adds from now on are refused.  So add the end
 * of those logs to this filter, and publish it: then no key is in neither file.  In a database with transactions first
 * wait until those that are open now have ended: the log would miss one that added its key to the old file and commits
 * after the log was read.
 * Until this handle publishes no process can open the path for writing, this one included.  If the handle is closed
 * instead, the old file continues as before.
 * bfs_publish is BFS_ELOST if other code of this process closed the descriptors of the old file meanwhile.  Another
 * process may have added to that file since.  Then call this again, add the end of the logs again, and publish.  If no
 * file has the name, none is superseded, and bfs_publish replaces none.  If another program makes or moves a file there
 * after this call, every bfs_publish is BFS_EBUSY until this is called again.  Waits and codes: as bfs_publish. */
BFS_API BFS_CHECK int32_t bfs_supersede(bfs_filter* filter, bfs_error* error);

/* --- Ends of a handle --------------------------------------------------------------------------------------------- */

/* Ends the work of a handle that other threads use, and frees nothing: they may be in calls, and may begin more, until
 * bfs_close frees the handle.  For a language or a host that cannot know when the last call has returned.  From now on
 * lookups answer "maybe" (bfs_contains: 1), bfs_health is BFS_ESHUT, and adds, syncs, copies and questions about the
 * file are BFS_ESHUT (bfs_get_mark: 0).  Every add that returned 0 or more is in the file.  A writer syncs, marks the
 * file clean if it is the last one, and releases its locks, as in bfs_close.  If that fails, this returns why, and the
 * handle is shut all the same, unless no memory was left (see bfs_health).  A handle that was shut before is BFS_OK.
 * An unpublished file can no longer be published.  The child of a fork shuts its own copy of the handle alone.  A
 * buffer is BFS_EINVAL: its memory is the caller's.
 * Waits: a writer, for calls of other threads that sync or (exclusive) add, and as bfs_close.  Codes: as bfs_close. */
BFS_API int32_t bfs_shut(bfs_filter* filter, bfs_error* error);

/* Frees the handle as if its process had been killed, for finalizers: waits for no lock and no disk.  Nothing that was
 * added is lost, and nothing is synced: the file stays dirty until another writer closes it or adopts it.  An
 * unpublished file vanishes.  NULL does nothing.  Needs the handle for itself. */
BFS_API void bfs_abandon(bfs_filter* filter);

/* --- Digests: hash a key once, ask many filters ------------------------------------------------------------------- */

/* The 64-bit hash of a key, from which a layout computes the key's k bits.  Files with equal hash and seed (or secret)
 * have equal digests.  Digests of a filter with a secret are as secret as the secret. */
#define BFS_HASH_EXTERNAL 2 /* the caller passes digests of its own, well mixed hash */

/* Computes the digest of a key in this file.  Codes: EDIGESTONLY, EKEYONLY. */
BFS_API int32_t bfs_digest(const bfs_filter* filter, const void* key, size_t key_bytes, uint64_t* out_digest);

/* As bfs_add.  Codes: as bfs_add. */
BFS_API BFS_CHECK int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest);
/* As bfs_contains.  Codes: EKEYONLY, EPART. */
BFS_API int32_t bfs_contains_digest(const bfs_filter* filter, uint64_t digest);

/* digests[i] = the digest of key i in this file, 0 for a null.  Returns keys->count.  Below 0 nothing is written.
 * Codes: EDIGESTONLY, EKEYONLY. */
BFS_API int64_t bfs_digest_keys(const bfs_filter* filter, const bfs_keys* keys, uint64_t* digests);

/* --- Many keys, in every form ------------------------------------------------------------------------------------- */

/* The other kinds of bfs_keys (a stride is at least key_bytes; offsets do not descend, begin at 0 or later, and end
 * within data_bytes; only an empty key may have a null pointer): */
#define BFS_KEYS_FIXED 3    /* key i: key_bytes bytes, not 0, at data + i * stride (stride 0: key_bytes) */
#define BFS_KEYS_COLUMN32 4 /* key i: data[offsets[i]] .. data[offsets[i + 1]], with count + 1 int32_t offsets */
#define BFS_KEYS_COLUMN64 5 /* the same with int64_t offsets: string and large_string columns of Apache Arrow */
#define BFS_KEYS_DIGESTS 6  /* ((const uint64_t*)data)[i]: digests of this filter's hash (bfs_digest_keys) */
/* `validity`: NULL, or Arrow's bitmap.  Key i is there if bit validity_offset + i is 1, the lowest bit of a byte first.
 * A null is not the empty key: it is not added, and its answer is 0.  Its place has to be sound, too; its bytes are not
 * read.
 * `scratch`: NULL, or scratch_bytes bytes of the caller's, at any address, that bfs_contains_keys, bfs_select_keys,
 * bfs_add_keys and bfs_build may write during the call, and that no other call or thread uses meanwhile.  Nothing in it
 * is needed afterwards; it may hold digests.  With it lookups, and adds of a BFS_EXCLUSIVE handle, sort millions of
 * keys without nulls by the lines of a filter of more than 32 MiB, and so read each line, and each page, once for all
 * of its keys; lookups read a file (not a set of parts) that does not fit in memory once, in order.
 * bfs_scratch_for(count) bytes sort all at once, less in turns; memory that does not help is not touched.  Use the same
 * memory again: fresh memory costs as much as sorting saves. */
#define BFS_SCRATCH_LEAST_KEYS 3145728 /* fewer keys are not sorted */
#define BFS_SCRATCH_KEY_BYTES 12       /* for each key, and ... */
#define BFS_SCRATCH_MORE_BYTES 8388608

/* Fills in a selection vector: returns n, and the first n of `indices` are the numbers of the keys that may be present,
 * ascending.  Below 0 they are the numbers of all keys.  `indices` has room for keys->count numbers; those after the
 * last one are undefined.  At most 2^32 keys.  Codes: EDIGESTONLY, EKEYONLY, EPART. */
BFS_API int64_t bfs_select_keys(const bfs_filter* filter, const bfs_keys* keys, uint32_t* indices);

static inline bfs_keys bfs_keys_pointers(const void* const* keys, const size_t* key_bytes, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_POINTERS;
  made.count = count;
  made.data = keys;
  made.lengths = key_bytes;
  return made;
}

static inline bfs_keys bfs_keys_pairs(const bfs_key* keys, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_PAIRS;
  made.count = count;
  made.data = keys;
  return made;
}

/* Without gaps.  Set .stride for fields of records. */
static inline bfs_keys bfs_keys_fixed(const void* data, size_t key_bytes, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_FIXED;
  made.count = count;
  made.data = data;
  made.key_bytes = key_bytes;
  return made;
}

static inline bfs_keys bfs_keys_column32(const void* data, size_t data_bytes, const int32_t* offsets, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_COLUMN32;
  made.count = count;
  made.data = data;
  made.data_bytes = data_bytes;
  made.offsets = offsets;
  return made;
}

static inline bfs_keys bfs_keys_column64(const void* data, size_t data_bytes, const int64_t* offsets, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_COLUMN64;
  made.count = count;
  made.data = data;
  made.data_bytes = data_bytes;
  made.offsets = offsets;
  return made;
}

static inline bfs_keys bfs_keys_digests(const uint64_t* digests, size_t count) {
  bfs_keys made = BFS_KEYS_INIT;
  made.kind = BFS_KEYS_DIGESTS;
  made.count = count;
  made.data = digests;
  return made;
}

/* The scratch_bytes with which a lookup sorts all of its keys at once.  0: it does not sort so few. */
static inline uint64_t bfs_scratch_for(uint64_t count) {
  return count < BFS_SCRATCH_LEAST_KEYS ? 0 : BFS_SCRATCH_KEY_BYTES * count + BFS_SCRATCH_MORE_BYTES;
}

#ifdef __cplusplus
}
#endif

#endif

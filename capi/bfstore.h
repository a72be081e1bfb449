/* bfstore's C ABI: Bloom filters in files that any number of processes and any language can share through a memory
 * map.  Stable: what is declared here keeps its meaning, its numbers and its layout as long as the library's SONAME is
 * libbfstore.so.1.
 *
 * Conventions
 * - int32_t results are 0 (BFS_OK) or a negative BFS_E code, unless a function says otherwise; bfs_strerror() has text
 *   for every code.  No function changes errno, and none throws.
 * - bfs_contains* return 0 only for a certain no.  Every error is truthy and every doubt is "maybe".
 * - `error` may be NULL everywhere.  Otherwise set error->struct_bytes = sizeof(bfs_error) before the call; where the
 *   call fails it is filled with the code, the errno and a sentence that names the thing and the way out.
 * - Structs start with their size, which is at most 4096 and a multiple of 8; any other size is BFS_EINVAL, and nothing
 *   is touched.  In a caller's larger struct, what this library does not know has to be zero, and is set to zero where
 *   the struct is filled in.
 * - No call needs more than 24 KiB of stack.
 * - Keys are bytes; a length of 0 is the empty key, and then the pointer may be NULL.
 * - Threads: any number may use one handle at once in every function except bfs_close() and bfs_publish(), which need
 *   the handle to themselves.  A thread must not be cancelled (pthread_cancel) in a call.  Processes: any number may
 *   have one file open.
 * - fork(): a child may ask through the handles it has from its parent, and close them; adding and syncing is
 *   BFS_EFORKED there: it opens the path again. */
#ifndef BFSTORE_H
#define BFSTORE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BFS_API __attribute__((visibility("default")))
#else
#define BFS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A filter.  Made by bfs_create, bfs_open, bfs_open_with, bfs_format and bfs_wrap; owned by the caller; ended by
 * bfs_close. */
typedef struct bfs_filter bfs_filter;

/* Codes.  Never renumbered. */
#define BFS_OK 0
#define BFS_EINVAL (-1)        /* an argument is out of range or contradicts another */
#define BFS_ENOMEM (-2)        /* out of memory */
#define BFS_ESYSTEM (-3)       /* a system call failed; bfs_error has its errno */
#define BFS_EBUSY (-4)         /* another process holds a lock of the file that excludes this, or for too long */
#define BFS_EEXIST (-5)        /* the file is there already */
#define BFS_ENOENT (-6)        /* no such file */
#define BFS_EACCES (-7)        /* permission denied */
#define BFS_EREADONLY (-8)     /* the handle was opened for reading */
#define BFS_ENOSPC (-9)        /* the disk, the quota or the file size limit is full */
#define BFS_EOWNERS (-10)      /* all 64 lanes for owners of marks are taken */
#define BFS_EDIGESTONLY (-11)  /* the file's hash is "external": it takes digests, not keys */
#define BFS_ESIZING (-12)      /* no m and k can reach what was asked */
#define BFS_EINTERNAL (-13)    /* a bug in bfstore */
#define BFS_EUNSUPPORTED (-14) /* the filter's layout can not do this */
#define BFS_EUNCLEAN (-20)     /* dirty when the machine went down, or copied while in use */
#define BFS_EPOISONED (-21)    /* a sync failed: memory and disk may differ */
#define BFS_ELOST (-22)        /* truncated, overwritten or zero-filled under the mapping */
#define BFS_ERECOVERING (-23)  /* a recovery was begun and is not finished */
#define BFS_ESUPERSEDED (-24)  /* another file was put in the place of this one, or is being put there */
#define BFS_EFORKED (-25)      /* the handle was opened before a fork, and this is the child */
#define BFS_EFILESYSTEM (-26)  /* on a network or overlay filesystem, which may show readers an older file */
#define BFS_EFULL (-27)        /* the handle has a hard limit, and the filter is at its capacity */
#define BFS_EKEY (-28)         /* the secret key was not given, is not the filter's own, or the filter has none */
#define BFS_EFAULT (-29)       /* a page could not be read, or the file was truncated: all of it is "maybe" by now */
#define BFS_ESEALED (-30)      /* sealed: it is never written to again */
#define BFS_ENOTSEALED (-31)   /* not sealed, so that it has no checksums */
#define BFS_EDAMAGED (-32)     /* a sealed file with other bytes than those that were sealed */
#define BFS_ENOTREGULAR (-40)  /* not a regular file */
#define BFS_ESYMLINK (-41)     /* a symbolic link */
#define BFS_ETOOSHORT (-42)    /* shorter than its header */
#define BFS_EMAGIC (-43)       /* does not begin with the magic bytes */
#define BFS_EVERSION (-44)     /* a later major version of the format */
#define BFS_EFORM (-45)        /* an embedded record where a file is wanted, or the other way round */
#define BFS_EHEADERSIZE (-46)  /* the header's length is impossible */
#define BFS_ECHECKSUM (-47)    /* the identity's checksum does not match */
#define BFS_ERESERVED (-48)    /* reserved bytes are not zero */
#define BFS_EFEATURE (-49)     /* needs a feature that this library does not know */
#define BFS_ELAYOUT (-50)      /* unknown layout */
#define BFS_EHASH (-51)        /* unknown hash */
#define BFS_EPROBES (-52)      /* k is not in 1..64 */
#define BFS_EBITS (-53)        /* m is impossible */
#define BFS_ECAPACITY (-54)    /* n or p is impossible */
#define BFS_EBODY (-55)        /* the body is not where or as long as it must be */
#define BFS_ERECORD (-56)      /* a parameter record is malformed, or critical and unknown */
#define BFS_ECANARY (-57)      /* this library hashes otherwise than the one that made the file */
#define BFS_ESLOTS (-58)       /* no state slot is valid */
#define BFS_ELIVEWORD (-59)    /* the live word or the end word is not the file's own */

/* Layouts and hashes.  Persisted in files, never renumbered; 0 in bfs_options means the default. */
#define BFS_LAYOUT_BLOCKED 1 /* one 64-byte line a key: one cache miss (default) */
#define BFS_LAYOUT_CLASSIC 2 /* k probes anywhere: the lowest false-positive rate */
#define BFS_HASH_XXH3 1      /* XXH3-64 with the file's seed (default) */
#define BFS_HASH_EXTERNAL 2  /* the caller passes digests of its own, well mixed hash */
#define BFS_HASH_SIPHASH 3   /* SipHash-2-4 under a secret key, for keys that strangers choose: see bfs_options.key */

/* Flags of bfs_open and bfs_open_options: exactly one of these, ... */
#define BFS_OPEN_READ 1u      /* asks only: keeps no lock, and changes no key */
#define BFS_OPEN_WRITE 2u     /* adds too, beside any number of other writers */
#define BFS_OPEN_EXCLUSIVE 4u /* adds as the only writer, several times as fast; BFS_EBUSY if there is another */
/* ... and any of these, ... */
#define BFS_OPEN_POPULATE 16u        /* bring the whole file into memory now, so that no lookup waits for the disk */
#define BFS_OPEN_RANDOM 32u          /* small pages, nothing read ahead: larger than memory, or synced often */
#define BFS_OPEN_STRICT 256u         /* unclean even if a writer was merely killed: devices that vanish and come back */
#define BFS_OPEN_ANY_FILESYSTEM 512u /* a network or overlay filesystem too, where a reader may see an older file */
#define BFS_OPEN_GUARD 4096u         /* a page that can not be read is doubt and no SIGBUS: see below */
/* ... and for reading, this one, ... */
#define BFS_OPEN_COPY 2048u /* in private memory, out of reach of whoever damages the file: see below */
/* ... and either of these: of a sealed file everything is read and compared with its checksums first; BFS_ENOTSEALED
 * if it has none.  What happens to it later is not noticed; add BFS_OPEN_COPY where that matters. */
#define BFS_OPEN_VERIFY 8192u           /* BFS_EDAMAGED if it is not as it was sealed */
#define BFS_OPEN_TOLERATE_DAMAGE 16384u /* where it is damaged every key is "maybe"; BFS_EDAMAGED at 16,384 places */
/* ... and for reading, this one, which goes with POPULATE, RANDOM, GUARD and COPY and no other, ... */
#define BFS_OPEN_RANGE 32768u /* an embedded filter in a range of the file: bfs_open_options.offset and max_bytes */
/* ... and for writing, any of these, but not both of the first two. */
#define BFS_OPEN_RECOVER 64u      /* an unclean or poisoned file, or one that others recover: see bfs_recovered() */
#define BFS_OPEN_ACCEPT_LOSS 128u /* the same without a recovery: keys added after the marks may be answered "no" */
#define BFS_OPEN_LIMIT 1024u      /* BFS_EFULL once as many keys were added as the capacity (looked at every 64 keys) */

/* BFS_OPEN_GUARD and BFS_OPTION_GUARD.  A mapped page that can not be read (an I/O error, or the file was truncated)
 * raises SIGBUS, which ends the process.  The first handle with a guard installs a handler of SIGBUS in the process,
 * for good: such a fault in a guarded file puts that handle in doubt for good: lookups are answered with "maybe", adds,
 * syncs and the close return BFS_EFAULT, and a file that this handle may write is poisoned.  Every other SIGBUS goes to
 * the handler that was there before, as if this one were not.  Opt-in, since some runtimes (the JVM, Go) want the
 * signal for themselves: who installs a handler later has to pass on what is not his, or there is no guard.  SIGBUS
 * must not be blocked in the threads that use the handle, and the library must not be unloaded afterwards (dlclose).
 * A file that was truncated and grown again raises no SIGBUS: it has lost the word at its end, so that lookups are
 * answered with "maybe", with and without a guard.
 *
 * BFS_OPEN_COPY, for hostile files.  The file is read into memory of this process and not mapped: whatever happens to
 * it later (truncation, I/O errors, keys that others add) does not reach this handle.  BFS_ENOMEM if it is larger than
 * the memory that the system has available; memory limits of containers are not looked at.  BFS_ELOST if it was
 * truncated meanwhile. */

/* How long a call waits for a lock that another process holds: milliseconds, or one of these.  A process holds such a
 * lock while it opens a file for writing, syncs it, closes it or replaces it, and from bfs_supersede to bfs_publish.
 * Opening for writing, replacing, bfs_supersede, bfs_publish, bfs_seal, bfs_sync, bfs_recovered and bfs_close wait for
 * it; opening for reading waits while another process changes the state of the file; lookups and adds wait for no lock.
 * The time is for each lock: a sync and a close take two.  Then the call returns BFS_EBUSY, and the message has the
 * process id of the holder, if the system tells it.  A file that this process has superseded by another handle is
 * BFS_EBUSY at once. */
#define BFS_LOCK_TIMEOUT_DEFAULT 0u  /* 5,000 ms */
#define BFS_LOCK_NO_WAIT 4294967294u /* BFS_EBUSY at once */
#define BFS_LOCK_FOREVER 4294967295u /* as long as it takes */

/* How often a writer asks the kernel whether it failed to write pages of the file: milliseconds, or one of these.  The
 * first add that changes a bit after that time asks, which causes no I/O.  A failure poisons the file (BFS_EPOISONED).
 * Between the failure and the question the kernel may drop a page that it could not write, and the keys in it are
 * answered "no". */
#define BFS_WRITEBACK_CHECK_DEFAULT 0u           /* 100 ms */
#define BFS_WRITEBACK_CHECK_EACH_ADD 4294967294u /* each add that changes a bit asks */

/* Flags of bfs_wrap, besides BFS_OPEN_READ or BFS_OPEN_WRITE. */
#define BFS_WRAP_BARE 8u /* the buffer is in the bare form: a body and an 8-byte trailer, nothing else */

/* Flags of bfs_options. */
#define BFS_OPTION_SEED 1u        /* `seed` is given (else: random) */
#define BFS_OPTION_REPLACE 2u     /* bfs_create: put the new file in the place of another, whose writers are told */
#define BFS_OPTION_UNPUBLISHED 4u /* bfs_create: no name in the file system until bfs_publish() */
#define BFS_OPTION_BARE 8u        /* bfs_required_bytes, bfs_format: the bare form, for thousands of tiny filters */
#define BFS_OPTION_EXCLUSIVE 16u  /* the new handle is the only one that adds, while it is open: BFS_OPEN_EXCLUSIVE */
#define BFS_OPTION_POPULATE 32u   /* bfs_create: BFS_OPEN_POPULATE */
#define BFS_OPTION_RANDOM 64u     /* bfs_create: BFS_OPEN_RANDOM */
#define BFS_OPTION_ANY_FILESYSTEM 128u /* bfs_create: BFS_OPEN_ANY_FILESYSTEM */
#define BFS_OPTION_LIMIT 256u          /* bfs_create: BFS_OPEN_LIMIT */
#define BFS_OPTION_GUARD 512u          /* bfs_create: BFS_OPEN_GUARD */

/* Flags of bfs_stats. */
#define BFS_STATS_FILL 1u /* count the bits too: reads the whole body */

/* What went wrong, in words.  Owned by the caller. */
typedef struct bfs_error {
  uint32_t struct_bytes; /* in: sizeof(bfs_error) */
  int32_t code;          /* out: as returned */
  int32_t os_errno;      /* out: errno of the system call that failed, else 0 */
  uint32_t reserved;     /* out: 0 */
  char message[496];     /* out: a sentence, NUL-terminated; its middle is left out where it is too long */
} bfs_error;

/* How to make a filter.  Zero means "not given".  The size is given by exactly one pair:
 *   capacity and fpr           the smallest m, and its k, that keep the promise at `capacity` keys
 *   capacity and bits_per_key  m = capacity * bits_per_key, and the k that is best for it
 *   capacity and max_bytes     the largest m whose file (or buffer) is at most max_bytes, and its best k
 *   num_bits and num_probes    m and k; the promised rate is for `capacity`, if given
 *                              (else capacity is where half the bits are set)
 *   like                       m, k, n, p, layout, hash and seed of another file: one digest serves both
 *
 * With capacity alone, fpr is 0.01.  The rate of the blocked layout is that of Putze, Sanders & Singler, "Cache-,
 * Hash- and Space-Efficient Bloom Filters" (WEA 2007): the mean over the Poisson load of a block; a rate below its
 * floor near 1e-8 is BFS_ESIZING and needs the classic layout. */
typedef struct bfs_options {
  uint32_t struct_bytes; /* sizeof(bfs_options) */
  uint32_t flags;        /* BFS_OPTION_* */
  uint64_t capacity;     /* n: distinct keys */
  double fpr;            /* p: false-positive rate wanted at `capacity` keys, 0 < p < 1 */
  double bits_per_key;   /* m / n */
  uint64_t max_bytes;    /* bytes of the whole file or buffer */
  uint64_t num_bits;     /* m: 1..2^48; rounded up to 512 for the blocked layout */
  uint32_t num_probes;   /* k: 1..64 */
  uint32_t layout;       /* BFS_LAYOUT_* */
  uint32_t hash;         /* BFS_HASH_* */
  uint32_t mode;         /* permission bits of a new file, less the umask; 0 means 0600 */
  uint64_t seed;         /* with BFS_OPTION_SEED */
  const char* like;      /* path of a filter file whose shape is copied */
  const void* note;      /* the owner's own words, any bytes */
  uint64_t note_bytes;   /* at most 1024 */
  const void* key; /* 16 bytes, with BFS_HASH_SIPHASH (or the key of `like`, if it has one); copied, never stored */
  uint32_t lock_timeout_ms;    /* as in bfs_open_options, for as long as the handle is open */
  uint32_t writeback_check_ms; /* as in bfs_open_options */
} bfs_options;

/* How to open a file.  Zero means "not given". */
typedef struct bfs_open_options {
  uint32_t struct_bytes;       /* sizeof(bfs_open_options) */
  uint32_t flags;              /* BFS_OPEN_* */
  const void* key;             /* of a filter with BFS_HASH_SIPHASH, the key that it was made with */
  uint64_t key_bytes;          /* 16, or 0: no key is given */
  uint64_t offset;             /* with BFS_OPEN_RANGE: where the filter begins, a multiple of 64 */
  uint64_t max_bytes;          /* with BFS_OPEN_RANGE: the filter is at most so long; 0: up to the end of the file */
  uint32_t lock_timeout_ms;    /* for each lock that a call with this handle waits for: milliseconds, or BFS_LOCK_* */
  uint32_t writeback_check_ms; /* for writing: milliseconds, or BFS_WRITEBACK_CHECK_* */
} bfs_open_options;

/* Facts about an open filter. */
typedef struct bfs_statistics {
  uint32_t struct_bytes; /* in: sizeof(bfs_statistics) */
  uint32_t layout;       /* BFS_LAYOUT_* */
  uint32_t hash;         /* BFS_HASH_* */
  uint32_t num_probes;   /* k */
  uint64_t num_bits;     /* m */
  uint64_t capacity;     /* n: keys sized for; 0 in the bare form */
  double fpr;            /* p promised at n keys; 0 in the bare form */
  uint64_t seed;
  uint64_t body_bytes;
  uint64_t keys_added;      /* adds that changed a bit; survives close, reopen and a killed writer; 0 in buffers */
  uint64_t huge_page_bytes; /* how much of the mapping is in huge pages now; 0 in buffers */
  int32_t health;           /* BFS_OK, or why every answer is "maybe" by now: BFS_EPOISONED, BFS_ELOST,
                              BFS_ESUPERSEDED, BFS_ERECOVERING, BFS_EFAULT (then what is counted here means nothing) */
  uint32_t has_fill;        /* 1 if the fields below are counted, else they are 0 */
  uint64_t set_bits;
  double fill_ratio;       /* set_bits / m */
  double estimated_keys;   /* from the fill: ln(1 - fill) / (k ln(1 - 1/m)), as Swamidass & Baldi 2007, less Jensen's
                              term; per line of 512 bits for blocked */
  double estimated_fpr;    /* the rate now: the mean over blocks of fill^k */
  uint64_t resident_bytes; /* how much of the mapped file is in memory now; UINT64_MAX in buffers, and where the kernel
                              does not tell: it does to who owns the file or may write to it */
  char isa[16];            /* of the kernel that answers: "avx512", "avx2", "neon" or "scalar" */
  uint32_t saturated;      /* 1 if more keys were added than `capacity`: the rate is above the promise; 0 in buffers */
  uint32_t reserved;       /* 0 */
} bfs_statistics;

/* "1.2.3": the version of the library that runs.  Static. */
BFS_API const char* bfs_version(void);

/* One sentence for any code of this header, and a general one for any other number.  Static, never NULL. */
BFS_API const char* bfs_strerror(int32_t code);

/* --- Making, opening, closing ------------------------------------------------------------------------------------- */

/* Makes a new, empty filter file, open for writing.  The complete file appears under its name or nothing does; its
 * blocks are allocated, so adding can not run out of disk (but where the file is reflinked or a snapshot is taken while
 * it is open, and on filesystems that write every change to another place, and thinly provisioned devices: there it is
 * SIGBUS, see BFS_OPEN_GUARD); durable when this returns.  The path is followed once, here and in bfs_open(): what
 * happens to the current folder, the root, or a symbolic link on the way changes nothing for the handle.
 * *out is NULL on error.  BFS_EEXIST if the path is taken (see BFS_OPTION_REPLACE), BFS_ENOSPC, BFS_ESIZING, ... */
BFS_API int32_t bfs_create(const char* path, const bfs_options* options, bfs_filter** out, bfs_error* error);

/* Opens a file: see BFS_OPEN_* for the flags.  Reading costs four header pages whatever the size.  For writing, the
 * file is marked dirty, durably, before this returns, so that a crash is noticed later; before that a copy that has
 * holes, or shares its blocks with another file, gets blocks of its own, or it is BFS_ENOSPC.  A dirty file without a
 * live writer is adopted if a process was merely killed in this boot (nothing is lost then); any other is BFS_EUNCLEAN:
 * open it with BFS_OPEN_RECOVER then, or make it again.  The environment variable BFSTORE_FORCE_ISA (scalar, avx2,
 * avx512, neon) chooses the kernel of whatever is opened or made while it is set; one that this CPU can not run is
 * BFS_EINVAL.  Answers never depend on it.  A symbolic link as the last part of the path is BFS_ESYMLINK.
 *
 * Never put a copy of a file back with cp over the file that it was made from: that one would be taken for the
 * original, without the keys that were added after the copy.  Remove the file first, or mv the copy over it. */
BFS_API int32_t bfs_open(const char* path, uint32_t flags, bfs_filter** out, bfs_error* error);

/* Opens a file with more than flags: see bfs_open_options.
 *
 * BFS_OPEN_RANGE reads in place an embedded filter that lies in a file of any other format.  When the range is
 * overwritten, zero-filled or truncated and grown again, lookups are answered with "maybe", and health is BFS_ELOST.
 *
 * `key` is the 16 bytes that a filter with BFS_HASH_SIPHASH was made with (bfs_wrap_keyed is at bfs_wrap).  They are
 * copied into the handle, wiped when it ends, and never stored.  BFS_EKEY if the key is another one, if none is given
 * and the filter has one, or if the filter has none.  Whoever passes digests needs the key to open, too.
 *
 * What the secret is for: the seed of BFS_HASH_XXH3 stands in the file, and with it anybody can choose keys that fill a
 * filter long before its capacity, or find absent keys that it says "maybe" to.  Without the key of BFS_HASH_SIPHASH
 * they can do neither.  It does not help against who can read the key, against who is told digests of this file (they
 * are as secret as the key), against who sees the file change while keys of his choice are added, or against who may
 * ask the filter: a "maybe" that he has seen is one that he can have again. */
BFS_API int32_t bfs_open_with(const char* path, const bfs_open_options* options, bfs_filter** out, bfs_error* error);

/* The bytes that bfs_format needs for these options. */
BFS_API int32_t bfs_required_bytes(const bfs_options* options, uint64_t* out_bytes, bfs_error* error);

/* Makes a new, empty filter in the caller's buffer (64-byte aligned, at least bfs_required_bytes long), which stays the
 * caller's and must outlive the handle.  Nothing touches a file: the caller saves the bytes. */
BFS_API int32_t bfs_format(void* buffer, uint64_t buffer_bytes, const bfs_options* options, bfs_filter** out,
                           bfs_error* error);

/* Uses a filter in the caller's buffer in place, without copying: flags is BFS_OPEN_READ (the buffer is never written)
 * or BFS_OPEN_WRITE, with BFS_WRAP_BARE for the bare form.  The buffer is 64-byte aligned and must outlive the handle.
 */
BFS_API int32_t bfs_wrap(void* buffer, uint64_t buffer_bytes, uint32_t flags, bfs_filter** out, bfs_error* error);
BFS_API int32_t bfs_wrap_keyed(void* buffer, uint64_t buffer_bytes, uint32_t flags, const void* key, bfs_filter** out,
                               bfs_error* error);

/* Gives a filter that was created with BFS_OPTION_UNPUBLISHED its name, as the complete, durable, clean file; after
 * that the handle only reads.  On an error nothing has appeared, and the handle is as before.  With BFS_OPTION_REPLACE
 * the file that had the name is superseded: its handles answer "maybe", its writers get BFS_ESUPERSEDED.  They are told
 * in that file, so this process must be able to write to it, or own it (mode 0444: then it takes the right for a
 * moment; a process that is killed in that moment leaves the file writable by its owner). */
BFS_API int32_t bfs_publish(bfs_filter* filter, bfs_error* error);

/* For a filter that was created with BFS_OPTION_UNPUBLISHED and BFS_OPTION_REPLACE: supersedes the file that has the
 * name now, before bfs_publish().  What its writers added before is in their logs, what they add from now on is
 * refused; so add the end of those logs to this filter, publish it, and no key is in neither.  Until then nobody can
 * open the path for writing, this process neither.  If the handle is closed instead, the old file goes on as before. */
BFS_API int32_t bfs_supersede(bfs_filter* filter, bfs_error* error);

/* Closes and frees the handle, whatever is returned.  The last writer of a file syncs it and marks it clean; its
 * failure to do so is what is returned, and then the next bfs_open says so too.  NULL is BFS_OK. */
BFS_API int32_t bfs_close(bfs_filter* filter);

/* --- Sealed files ------------------------------------------------------------------------------------------------- */

/* Makes a sealed copy of the filter file `from` at `to`: the same bits, shape, seed, note and marks, with a checksum of
 * each 64 KiB, and never written to again (BFS_ESEALED).  The complete, durable file appears under its name or nothing
 * does.  `from` stays as it is; it may have no writer meanwhile (BFS_EBUSY), and need only be readable.  flags:
 * BFS_OPTION_REPLACE (`to` may be `from` then; handles of the file that had the name answer "maybe" from then on),
 * BFS_OPTION_ANY_FILESYSTEM.  A crash leaves the old file or the new one.  A filter's secret key is not needed.  mode:
 * permission bits, less the umask; 0 means 0600. */
BFS_API int32_t bfs_seal(const char* from, const char* to, uint32_t flags, uint32_t mode, bfs_error* error);

/* Bytes of a file. */
typedef struct bfs_range {
  uint64_t offset;
  uint64_t bytes;
} bfs_range;

/* Reads a sealed file from end to end, from the disk as far as no process has it in memory, and compares it with its
 * checksums.  Returns the number of damaged ranges, 0 if it is as it was sealed, and fills in the first `capacity` of
 * them, ascending; < 0 a BFS_E code: BFS_ENOTSEALED, or what is wrong with the header.  A range that can not be read is
 * damaged. */
BFS_API int64_t bfs_verify(const char* path, bfs_range* damaged, size_t capacity, bfs_error* error);

/* --- One key ------------------------------------------------------------------------------------------------------ */

/* Adds a key.  Adding it again changes nothing and dirties no page.  Readers in any process see it once this returns;
 * it survives a killed process at once, and a power cut once a later bfs_sync() returns BFS_OK. Returns 1 if the key
 * was certainly new, 0 if it may have been there, < 0 a BFS_E code (the key does not count as added).  Of those who add
 * one key at the same moment, several may be told 1. */
BFS_API int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest);

/* Returns 0 if the key was certainly never added, 1 if it may have been (or the file is in doubt: see
 * bfs_statistics.health), < 0 a BFS_E code.  Only 0 is a no. */
BFS_API int32_t bfs_contains(const bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API int32_t bfs_contains_digest(const bfs_filter* filter, uint64_t digest);

/* The key's 64-bit digest in this file.  Files with equal hash and seed (or secret key) have equal digests.
 * BFS_EDIGESTONLY where the hash is external. */
BFS_API int32_t bfs_digest(const bfs_filter* filter, const void* key, size_t key_bytes, uint64_t* out_digest);

/* --- Many keys ---------------------------------------------------------------------------------------------------- */

/* _many: keys[i] is key_bytes[i] long.  _fixed: `count` keys of key_bytes each (not 0), one behind the other. _column32
 * and _column64: key i is bytes[offsets[i]] .. bytes[offsets[i+1]], with count + 1 ascending offsets, as Apache Arrow
 * keeps its string and large_string columns.  _digests: digests of this file's hash.
 *
 * bfs_add_*: returns how many keys were certainly new, or < 0 a BFS_E code found in the arguments, and then nothing was
 * added; BFS_EPOISONED, BFS_ELOST, BFS_ESUPERSEDED and BFS_EFULL may come with some of them added.
 * bfs_contains_*: answers[i] = 0 if key i is certainly absent, else 1; returns how many may be present, or < 0 a BFS_E
 * code, and then all `count` answers are 1. */
BFS_API int64_t bfs_add_many(bfs_filter* filter, const void* const* keys, const size_t* key_bytes, size_t count);
BFS_API int64_t bfs_add_fixed(bfs_filter* filter, const void* keys, size_t key_bytes, size_t count);
BFS_API int64_t bfs_add_column32(bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count);
BFS_API int64_t bfs_add_column64(bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count);
BFS_API int64_t bfs_add_digests(bfs_filter* filter, const uint64_t* digests, size_t count);

/* Into how many threads of its own (1 to 64) a call that adds many keys divides its work from now on, where this handle
 * is the only writer and the layout is blocked; a call with fewer than 16,384 keys a thread is not divided.
 * BFS_EINVAL for a handle that adds beside others: there, let threads of yours add. */
BFS_API int32_t bfs_use_threads(bfs_filter* filter, uint32_t threads);

BFS_API int64_t bfs_contains_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes,
                                  size_t count, uint8_t* answers);
BFS_API int64_t bfs_contains_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                                   uint8_t* answers);
BFS_API int64_t bfs_contains_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count,
                                      uint8_t* answers);
BFS_API int64_t bfs_contains_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                                      uint8_t* answers);
BFS_API int64_t bfs_contains_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint8_t* answers);

/* Selection vectors: the first n of `indices`, n being what is returned, are the numbers of the keys that may be
 * present, ascending.  Or < 0 a BFS_E code, and then all `count` indices are those of all keys.  `indices` has room for
 * `count` numbers; what is behind the last one is undefined.  At most 2^32 keys. */
BFS_API int64_t bfs_select_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes,
                                size_t count, uint32_t* indices);
BFS_API int64_t bfs_select_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                                 uint32_t* indices);
BFS_API int64_t bfs_select_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count,
                                    uint32_t* indices);
BFS_API int64_t bfs_select_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                                    uint32_t* indices);
BFS_API int64_t bfs_select_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint32_t* indices);

/* --- Bare filters without a handle -------------------------------------------------------------------------------- */

/* For an engine whose table has a small filter in each block.  A bare filter is a body and an 8-byte trailer
 * (BFS_OPTION_BARE, BFS_WRAP_BARE); `buffer` is exactly the filter, at any address.  These functions allocate nothing
 * and take no lock.  Threads: any number; no thread changes the buffer during a call.  A BFSTORE_FORCE_ISA that this
 * CPU cannot run is no error here: the scalar kernel is used. */

/* Returns 0 if the filter was certainly built without the key, else 1: also if the buffer is NULL, is not a bare filter
 * that this library understands (its trailer, its length, its layout, its hash), or has a hash that takes no keys
 * (BFS_HASH_EXTERNAL).  Never < 0.  Damage to the body does not show: a body has no checksum.
 * A digest is XXH3_64bits(key, key_bytes), which is XXH3 with seed 0; with BFS_HASH_EXTERNAL it is the caller's own. */
BFS_API int32_t bfs_bare_contains(const void* buffer, uint64_t bytes, const void* key, size_t key_bytes);
BFS_API int32_t bfs_bare_contains_digest(const void* buffer, uint64_t bytes, uint64_t digest);

/* The bytes of a bare filter of `num_keys` keys: a body of num_keys * bits_per_key bits, rounded up to 64 bytes for
 * BFS_LAYOUT_BLOCKED and to 8 for BFS_LAYOUT_CLASSIC, and the trailer.  0 if there is no such filter.  layout: 0 is the
 * default. */
BFS_API uint64_t bfs_bare_bytes(uint64_t num_keys, double bits_per_key, uint32_t layout);

/* Builds a bare filter of these keys that is exactly `bytes` long (see bfs_bare_bytes), and overwrites the buffer; k is
 * the best one for as many keys and bits.  The bytes are those of bfs_format with BFS_OPTION_BARE, capacity = count (1
 * for none) and max_bytes = bytes, and of bfs_add.  layout and hash: 0 is the default.
 * Keys: keys[i] is key_bytes[i] long, and the hash is BFS_HASH_XXH3.  Digests: see bfs_bare_contains.
 * Returns BFS_OK, or, and then the buffer is as before: BFS_EINVAL (no filter of the layout is so long, or something is
 * wrong with the keys), BFS_ELAYOUT, BFS_EHASH (unknown, or not for bare filters), BFS_EUNSUPPORTED (the layout takes
 * no keys). */
BFS_API int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, const void* const* keys,
                               const size_t* key_bytes, size_t count);
BFS_API int32_t bfs_bare_build_digests(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash,
                                       const uint64_t* digests, size_t count);

/* --- Durability --------------------------------------------------------------------------------------------------- */

/* Makes everything that was added before the call durable, then stores `mark` for `owner`: a position in the owner's
 * own log, of which the caller promises that every key up to it has returned from an add.  After a crash, adding again
 * what came after bfs_mark() restores the filter.  Marks never go back (the higher one stays); mark 0 stores none; 64
 * owners at most.  A failure poisons the file, for every process: a sync that failed can not be retried. In a buffer:
 * BFS_EINVAL, there is nothing to sync. */
BFS_API int32_t bfs_sync(bfs_filter* filter, uint64_t owner, uint64_t mark);

/* The mark of `owner` as of the last sync by any process; 0 if it has none or it can not be read: replay it all. */
BFS_API uint64_t bfs_mark(const bfs_filter* filter, uint64_t owner);

/* For a handle of BFS_OPEN_RECOVER: `owner` has added again every key of its log that came after its mark.  Durable
 * when this returns.  Returns 1 if the recovery is over, and answers are answers again: every owner of a mark has said
 * so, or there are no marks; 0 if others are waited for; < 0 a BFS_E code.  What the file does not know it can not wait
 * for: an owner that adds keys stores a mark first (one bfs_sync with its log's position, each time it opens the file),
 * or has to be replayed before the last one says so.  Until the recovery is over,
 * every handle in every process answers "maybe", other bfs_opens fail with BFS_ERECOVERING, and a recoverer that was
 * killed has to begin again, from the marks. */
BFS_API int32_t bfs_recovered(bfs_filter* filter, uint64_t owner, bfs_error* error);

/* --- Facts -------------------------------------------------------------------------------------------------------- */

/* 1 if the path still names this file (a relative one: in the folder that was current when it was opened), as long as
 * it must be, and no process is putting another in its place; 0 if it was replaced, removed, renamed, truncated or
 * overwritten: open the path again.  Of a range of a file: 1 if the path still names the file and the filter is in its
 * place.  < 0 a BFS_E code, BFS_EINVAL for a buffer.  Asks the file system: not for every lookup. */
BFS_API int32_t bfs_is_current(const bfs_filter* filter);

/* Fills *out.  flags: 0, or BFS_STATS_FILL. */
BFS_API int32_t bfs_stats(const bfs_filter* filter, uint32_t flags, bfs_statistics* out);

#ifdef __cplusplus
}
#endif

#endif

/* bfstore's C ABI: Bloom filters in files, which any number of processes and any language share through a memory map.
 *
 * A filter answers one question about a set of keys: can this key be in it?  "No" is certain, and saves a disk read or
 * a network call.  "Maybe" is wrong for a small share of the absent keys, the false-positive rate.
 *
 * Status: not released.  Before 1.0 the SONAME is libbfstore.so.0 and anything here may change.  From 1.0 on every
 * declaration keeps its meaning, numbers and layout as long as the SONAME stays (COMPATIBILITY.md).
 *
 * Conventions
 * - Results: an int32_t or int64_t result below 0 is a BFS_E code.  0 is BFS_OK where nothing is counted.  Each
 *   function's comment lists the codes that it can return, except BFS_EINTERNAL, a bug, which every function with a
 *   bfs_error can return.
 *   bfs_strerror() has a sentence for every code.  No function changes errno, and no C++ exception leaves a function.
 * - Safety: bfs_contains* and bfs_select* return "no" only for a certain no.  Every error is truthy, and every doubt
 *   is "maybe".
 * - Errors: `error` may be NULL.  Otherwise set error->struct_bytes (BFS_ERROR_INIT does) before the call.  A failed
 *   call fills in the code, the errno, and a sentence that names the thing and the way out.  A call that succeeds
 *   leaves it alone.
 * - Structs begin with their size: sizeof, as the caller's compiler knows it.  A size below that of release 1.0 (until
 *   then: of this header) or above 4096 is BFS_EINVAL, and nothing is touched.  A bfs_error with such a size is treated
 *   as NULL.  If the caller's struct is longer than the library's, its unknown tail must be zero where the library
 *   reads it (otherwise BFS_EINVAL), and becomes zero where the library fills it in.  If it is shorter, the fields that
 *   it lacks count as zero.
 * - Flags: one bit has one meaning in every function.  A bit that a function does not take is BFS_EINVAL, and the error
 *   names it.
 * - Keys are bytes.  The empty key is a key; its pointer may be NULL.  Programs in different languages share a file
 *   only if they encode keys alike: text is UTF-8 without a terminator and without normalization (text that is not
 *   valid Unicode, such as a lone surrogate, is an error of the caller's language); integers are 8 bytes,
 *   little-endian; UUIDs are their 16 bytes; keys of fixed width are not padded.
 * - Text from the library is valid UTF-8.  Other bytes of a path are written \xNN.
 * - Threads: any number of threads may use one handle at once, in every function but bfs_close, bfs_abandon and
 *   bfs_publish, which need the handle for themselves.  Do not cancel a thread in a call (pthread_cancel).
 * - Processes: any number may have one file open, readers and writers.
 * - fork(): the child may ask through the handles that it inherits, and close them.  Adding, removing and syncing
 *   through them is BFS_EFORKED: the child opens the path again.  A handle of a buffer that is not exclusive works in
 *   both processes; they share what it adds if they share the memory.
 * - Memory: no call needs more than 24 KiB of stack.  Lookups and adds allocate nothing.
 * - dlclose is safe: the library stays in memory.
 *
 * Words
 * - m, k, n, p: the bits of a filter, the bits that one key sets, the keys that it is sized for, and the false-positive
 *   rate at n keys.  In the counting layout m and k count counters of 4 bits instead of bits.
 * - Digest: the 64-bit hash of a key, from which a layout computes the key's k bits.
 * - Owner, mark, epoch: an owner is a program that has a log of its keys and a number of its own.  A mark is a position
 *   in that log: every key up to it is durable in the filter.  An epoch names the log.
 * - Clean, dirty: a file is dirty while a writer has it open, and clean when the last writer has closed it.
 * - Adopt: to continue with a dirty file whose writer was killed.  Nothing is lost then.
 * - Unclean: dirty, and the machine went down since.  Keys after the marks may be missing, so no process may use the
 *   file until its owners have recovered it: each adds again the keys after its mark.
 * - Poison: to mark a file for every process because a sync failed, so that its memory and disk may differ.
 * - Supersede: to tell the users of a file that another file replaces it.
 * - Seal: to make a copy with checksums that is never written to again. */
#ifndef BFSTORE_H
#define BFSTORE_H

#include <stddef.h>
#include <stdint.h>

#define BFS_VERSION_MAJOR 0
#define BFS_VERSION_MINOR 1
#define BFS_VERSION_PATCH 0

#if defined(__GNUC__)
#define BFS_API __attribute__((visibility("default")))
#define BFS_CHECK __attribute__((warn_unused_result)) /* a caller that ignores the result may lose keys */
#else
#define BFS_API
#define BFS_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A filter.  A function that makes one gives it to the caller, which ends it with bfs_close or bfs_abandon. */
typedef struct bfs_filter bfs_filter;

/* --- Codes -------------------------------------------------------------------------------------------------------- */

/* The classes have fixed ranges, and no code is ever renumbered.  A program treats a code that it does not know as its
 * class. */
#define BFS_IS_CALL_ERROR(code) ((code) < 0 && (code) > -100)      /* the call, or the system: change it, or retry */
#define BFS_IS_STATE_ERROR(code) ((code) <= -100 && (code) > -200) /* the file is good; its state forbids this */
#define BFS_IS_MALFORMED(code) ((code) <= -200 && (code) > -300)   /* what the path names is not a good filter file */

#define BFS_OK 0
#define BFS_EINVAL (-1)        /* an argument is out of range, or contradicts another */
#define BFS_ENOMEM (-2)        /* out of memory */
#define BFS_ESYSTEM (-3)       /* a system call failed: bfs_error has its errno */
#define BFS_EBUSY (-4)         /* another user of the file excludes this for now: try again later */
#define BFS_EEXIST (-5)        /* the file exists */
#define BFS_ENOENT (-6)        /* the file does not exist */
#define BFS_EACCES (-7)        /* permission denied */
#define BFS_EREADONLY (-8)     /* the handle was opened for reading */
#define BFS_ENOSPC (-9)        /* the disk, the quota or the file size limit is full */
#define BFS_EOWNERS (-10)      /* all 64 lanes for owners of marks are taken: drop an owner */
#define BFS_EDIGESTONLY (-11)  /* the file's hash is "external": it takes digests, not keys */
#define BFS_ESIZING (-12)      /* no m and k can reach what was asked */
#define BFS_EINTERNAL (-13)    /* a bug in bfstore */
#define BFS_EUNSUPPORTED (-14) /* the filter's layout cannot do this */
#define BFS_EFORKED (-15)      /* the handle was made before a fork, and this is the child */
#define BFS_EFILESYSTEM (-16)  /* on a network or overlay filesystem, which may show readers an older file */
#define BFS_EKEY (-17)         /* the secret key is missing, is another one, or the filter has none */
#define BFS_ESHUT (-18)        /* the handle was shut: it answers "maybe", and adds nothing */
#define BFS_EMISMATCH (-19)    /* two filters differ in what must be equal: the message says in what */
#define BFS_EKEYONLY (-20)     /* the file's hash gives no digests: it takes keys alone */
#define BFS_EPART (-21)        /* the key belongs to another part of the whole filter than this one: see "Parts" */
#define BFS_EUNCLEAN (-100)    /* dirty when the machine went down, or copied while in use */
#define BFS_EPOISONED (-101)   /* a sync failed: memory and disk may differ */
#define BFS_ELOST (-102)       /* truncated, overwritten or zero-filled while it was mapped */
#define BFS_ERECOVERING (-103) /* a recovery was begun and has not ended */
#define BFS_ESUPERSEDED (-104) /* another file takes, or took, the place of this one: open the path again */
#define BFS_EFULL (-105)       /* the handle has a hard limit, and the filter is at its capacity */
#define BFS_EFAULT (-106)      /* a page could not be read, or the file was truncated: every answer is "maybe" now */
#define BFS_ESEALED (-107)     /* sealed: no process writes to it again */
#define BFS_ENOTSEALED (-108)  /* not sealed, so that it has no checksums */
#define BFS_EDAMAGED (-109)    /* a sealed file with other bytes than those that were sealed */
#define BFS_EFILLING (-110)    /* not every key was added yet: every answer is "maybe"; adds are not refused */
#define BFS_ENOTREGULAR (-200) /* not a regular file */
#define BFS_ESYMLINK (-201)    /* a symbolic link, where none is followed */
#define BFS_ETOOSHORT (-202)   /* shorter than its header */
#define BFS_EMAGIC (-203)      /* does not begin with the magic bytes */
#define BFS_EVERSION (-204)    /* a later major version of the format */
#define BFS_EFORM (-205)       /* an embedded record where a file is wanted, or the other way round */
#define BFS_EHEADERSIZE (-206) /* the header's length is impossible */
#define BFS_ECHECKSUM (-207)   /* the identity's checksum does not match */
#define BFS_ERESERVED (-208)   /* reserved bytes are not zero */
#define BFS_EFEATURE (-209)    /* needs a feature that this library does not know */
#define BFS_ELAYOUT (-210)     /* a layout that this library does not know; as an argument it is BFS_EINVAL */
#define BFS_EHASH (-211)       /* a hash that this library does not know; as an argument it is BFS_EINVAL */
#define BFS_EPROBES (-212)     /* k is not in 1..64 */
#define BFS_EBITS (-213)       /* m is impossible */
#define BFS_ECAPACITY (-214)   /* n or p is impossible */
#define BFS_EBODY (-215)       /* the body is not where, or not as long as, it must be */
#define BFS_ERECORD (-216)     /* a parameter record is malformed, or critical and unknown */
#define BFS_ECANARY (-217)     /* this library hashes otherwise than the one that made the file */
#define BFS_ESLOTS (-218)      /* no state slot is valid */
#define BFS_ELIVEWORD (-219)   /* the live word or the end word is not the file's own */

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

/* Layouts and hashes.  Files store these numbers, which never change.  0 in bfs_options is the default. */
#define BFS_LAYOUT_BLOCKED 1  /* default: one line of 64 bytes a key, so a lookup costs one cache miss */
#define BFS_LAYOUT_CLASSIC 2  /* k bits anywhere: the lowest false-positive rate, and k cache misses */
#define BFS_LAYOUT_COUNTING 3 /* counters in one line of 64 bytes a key: bfs_remove, at about four times the size */
#define BFS_HASH_XXH3 1       /* default: XXH3-64 with the file's seed */
#define BFS_HASH_EXTERNAL 2   /* the caller passes digests of its own, well mixed hash */
#define BFS_HASH_SIPHASH 3    /* SipHash-2-4 with a secret key, for keys that strangers choose: see bfs_open_with */
/* These are for the bits of other programs, such as those with Python's mmh3 and bitarray.  They have no digests
 * (BFS_EKEYONLY): MurmurHash3_x86_32 with k listed seeds gives the positions of a key's k bits.  Only the classic
 * layout takes them, and it is the default then.  m is at most 2^32.  Such a filter cannot be folded, and has no bare
 * form.  Anyone can choose keys that fill it, so do not use it for keys that strangers choose.
 * BFS_HASH_JAVA_POLYNOMIAL is the hash of tutorials in Java.  Its seeds have to be listed (5, 7, 11, 13, 31, 37, 61 in
 * most tutorials), and its m is a power of two, at most 2^30.  A key's bytes are UTF-8; other bytes count as U+FFFD, as
 * Java decodes them. */
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

/* Flags of every function that takes flags: one bit, one meaning.  A flag's letters are the functions that take it:
 * o: bfs_open and bfs_open_with, p: bfs_open_set, c: bfs_create, b: bfs_format and bfs_required_bytes, w: bfs_wrap and
 * bfs_wrap_with, s: bfs_seal, v: bfs_verify, f: bfs_save, d: bfs_dump, l: bfs_load, i: bfs_intersect and bfs_join; c is
 * also bfs_create_part. */

/* The purpose: exactly one of these in o, p, w and l. */
#define BFS_OPEN_READ 0x1ull  /* o p w l.  Asks.  Adds no key, and takes no lock that lasts.  See BFS_OPEN_NO_WRITE. */
#define BFS_OPEN_WRITE 0x2ull /* o w l.  Asks and adds, concurrently with any number of other writers. */
#define BFS_OPEN_EXCLUSIVE 0x4ull
/* o c b.  Asks and adds as the only writer, several times as fast.  BFS_EBUSY if there is another writer.  In c and b,
 * where it is optional, for as long as the new handle is open; for a buffer that is the caller's promise. */

/* How the file gets into memory. */
#define BFS_OPEN_POPULATE 0x10ull
/* o p c.  Read the whole file into memory now, so that no lookup waits for the disk.  If the file is refused, only its
 * header and last page have been read, also with BFS_OPEN_COPY. */
#define BFS_OPEN_RANDOM 0x20ull
/* o p c.  Small pages, no read-ahead: for a file that is synced often.  A file of more than seven eighths of the
 * machine's memory, or of the limit of the process's control groups, gets them anyway. */
#define BFS_OPEN_COPY 0x40ull  /* o, reading, p.  Into private memory: see "Hostile files" below. */
#define BFS_OPEN_GUARD 0x80ull /* o p c.  A page that cannot be read is doubt, not SIGBUS: see "Guard" below. */

/* What is allowed. */
#define BFS_OPEN_RECOVER 0x100ull        /* o, writing.  An unclean, poisoned or recovering file, to recover it. */
#define BFS_OPEN_ACCEPT_LOSS 0x200ull    /* o, writing.  Such a file as it is: it may lack keys after the marks. */
#define BFS_OPEN_STRICT 0x400ull         /* o p.  A file whose writer was killed is unclean: for devices that vanish. */
#define BFS_OPEN_ANY_FILESYSTEM 0x800ull /* o p c s f i.  A network or overlay filesystem: may show an older file. */
#define BFS_OPEN_LIMIT 0x1000ull         /* o c, writing.  BFS_EFULL at the capacity (asked at every 64th key). */
#define BFS_OPEN_NOFOLLOW 0x2000ull      /* o p v.  BFS_ESYMLINK if the last part of the path is a symbolic link. */
#define BFS_OPEN_NO_WRITE 0x4000ull
/* o, reading, p.  Writes nothing at all, for audits and sandboxes.  Without it a reader writes in these cases: it
 * adopts the file of a killed writer (which syncs it), poisons a file if the kernel failed to write a page, clears the
 * sign of a killed superseding process, and on an overlay makes the kernel copy the file up.  With it, BFS_EUNCLEAN if
 * the file needs a sync, BFS_EFILESYSTEM if it needs a copy up, and BFS_ESUPERSEDED if its sign would have to be
 * cleared.  The kernel reports once that it failed to write a page, and this handle does not ask: a key in a dropped
 * page is answered "no" until the writer, or another process, has asked. */

#define BFS_OPEN_FOLLOW 0x8000ull
/* o, reading.  The handle follows its path.  When another file replaces its own (bfs_publish or bfs_seal with
 * BFS_OPTION_REPLACE), a lookup that finds the old one superseded opens the path again, with the flags of this handle.
 * It waits for no lock; with BFS_OPEN_POPULATE or BFS_OPEN_COPY it reads the file.  One thread tries, at most every 10
 * ms, and meanwhile the others get "maybe".  A handle whose file is in doubt for another reason (poisoned, lost) does
 * the same as soon as the path names another file.  bfs_is_current follows at once, so it notices a file that another
 * program moved to the path.  With BFS_OPEN_COPY only bfs_is_current follows, since a copy does not learn that its file
 * was replaced.
 * The new file may have another size, k and layout.  It must have the same hash, and the same seed or secret
 * (bfs_options.like), so that digests stay valid.  While the path has no such file, or none that can be opened, the
 * handle answers "maybe", bfs_health is BFS_ESUPERSEDED, and bfs_is_current is 0.  Once no call uses the old file, a
 * later call frees it.  The child of a fork does not follow. */

/* What part of the file, and in what form. */
#define BFS_OPEN_RANGE 0x10000ull  /* o, reading.  An embedded filter at bfs_open_options.offset of the file. */
#define BFS_OPEN_VERIFY 0x20000ull /* o, reading, p.  A sealed file is compared with its checksums first. */
#define BFS_OPEN_TOLERATE_DAMAGE 0x40000ull /* o, reading, p.  As VERIFY, but damaged places answer "maybe". */
#define BFS_OPEN_BARE 0x80000ull            /* w b d l.  The bare form: a body and an 8-byte trailer, nothing else. */
#define BFS_OPEN_FD 0x4000000ull            /* o, reading.  The file that the program has open: see "Descriptors". */

/* What a new file is like. */
#define BFS_OPTION_SEED 0x100000ull /* c b.  bfs_options.seed is given (otherwise the seed is random). */
#define BFS_OPTION_REPLACE 0x200000ull
/* c s f i.  Replaces another file, whose users learn of it.  If no mode is given, the new file gets the old one's
 * owner, group, mode and access list as far as the system allows.  A file that was not there when the call began is not
 * replaced: it has writers of its own (BFS_EBUSY). */
#define BFS_OPTION_UNPUBLISHED 0x400000ull /* c.  No name in the file system until bfs_publish. */
#define BFS_OPTION_FILE_ID 0x8000000ull
/* c b f d.  The file_id is not random: in c and b it is bfs_options.file_id, in f and d that of the copied filter.  Two
 * filters that were built alike, with equal seeds, are then equal byte for byte: see "Replicas". */

#define BFS_OPTION_TUTORIAL_SIZING 0x10000000ull
/* c b, with capacity and fpr.  The m and k of most tutorials: m = int(-n ln p / (ln 2)^2), k = int(m / n ln 2).  Both
 * are cut off, so the rate (see bfs_stats) is a little above fpr.  BFS_HASH_JAYBIRD and BFS_HASH_PYBLOOM_LIVE have the
 * sizes of their program, even without this flag: k = ceil(log2(1 / p)), m = k * ceil(n |ln p| / (k (ln 2)^2)). */

#define BFS_OPTION_FILLING 0x800000ull
/* c, not with UNPUBLISHED, f and i.  An online build: the file has its name at once and takes adds from every writer,
 * and every lookup in every process answers "maybe" until bfs_finish_filling.  The order of the steps matters: see
 * there. */

/* Facts for bfs_stats that take time. */
#define BFS_STATS_FILL 0x1000000ull   /* counts the bits: reads the whole body */
#define BFS_STATS_MEMORY 0x2000000ull /* asks the kernel which pages are in memory: time grows with the file */

/* Guard.  A mapped page that cannot be read (an I/O error, or the file was truncated) raises SIGBUS, which ends the
 * process.  The first handle with BFS_OPEN_GUARD installs a SIGBUS handler in the process, for good.  Such a fault in a
 * guarded file then puts its handle in doubt for good: lookups answer "maybe"; adds, syncs and the close return
 * BFS_EFAULT; a file that the handle may write is poisoned.  The handler passes every other SIGBUS to the handler that
 * was there before.  A handler that is installed later must pass on the faults that are not its own, or there is no
 * guard.  SIGBUS must not be blocked in the threads that use the handle.  The guard was tested with the handlers of Go,
 * the JVM, Node and Python.  A file that was truncated and grown again raises no SIGBUS.  It has lost its end word, so
 * lookups answer "maybe" even without a guard.
 *
 * Hostile files.  BFS_OPEN_COPY reads the file into memory of this process and does not map it.  Later changes of the
 * file (truncation, I/O errors, new keys) do not reach the handle.  Opening waits for a sync that is under way, and
 * reads the file again if it was recovered meanwhile.  BFS_ENOMEM if the file is larger than the system's available
 * memory, or than the limit of the process's control groups.  BFS_ELOST if the file was truncated meanwhile. */

/* Replicas.  Filters of equal options (file_id and seed given) to which the same keys were added in the same order are
 * equal byte for byte in memory, in a file that bfs_publish gave its name, and in one that bfs_save made.  A file that
 * was in use and then closed differs in the state slots and in how the count of keys is spread over 32 counters.  Sizes
 * are computed in floating point, which another C library or processor may round otherwise: compare the files.
 * A file_id distinguishes a filter from every other one, so the library treats two filters with one file_id as one
 * filter and its copy.  If one is written over the other (cp, dd, a restored backup), no open handle notices, and keys
 * that only the overwritten one has are answered "no".  So take a new file_id for other keys, for instance a hash of
 * the filter's input, and give a copy the file_id of its source only if the source takes no more keys.  To replace a
 * filter by one with its own file_id is BFS_EINVAL. */

/* Descriptors.  With BFS_OPEN_FD, bfs_open_with opens the file that the program has open at bfs_open_options.fd: for a
 * sandbox that gets descriptors and may open no paths, and for memfd_create.  `path` is then only the name in messages,
 * and may be NULL ("descriptor 7").  Every check is as for a path.  The descriptor must be readable (O_RDONLY or
 * O_RDWR, not O_PATH).  The library duplicates it, and the caller keeps and closes its own.  Both share one open file
 * description: the library neither uses nor moves its position, and locks of that description last until bfs_close.
 * The handle reads, and writes nothing, as with BFS_OPEN_NO_WRITE.  Opening for writing is BFS_EINVAL: a writer must
 * know that its file still has its path.  bfs_is_current has no path to look at.  It returns 0 if the file is not
 * whole, if another process supersedes it, or if it had a name when it was opened and has none now: it was replaced or
 * removed, and had no second name.  bfs_is_current does not notice that the file was renamed.
 *
 * The library owns the descriptors that it opens or duplicates: bfs_close closes them, and the caller closes none.  If
 * other code closes one (closefrom, a number closed twice), lookups continue, syncs and the close are BFS_ELOST, and
 * the library leaves the file that has the number by then alone.  The lock of a writer stays, and its adds continue.
 * Only on an overlay filesystem does the lock end with its descriptor: the next add is BFS_EPOISONED, and this handle
 * answers "maybe" from then on.  What was added before is in the file.  An exclusive writer that notices the loss in
 * the middle of an add poisons the file for every process.  A superseded file is then not replaced: see
 * bfs_supersede. */

/* How long a call waits for a lock that another process holds: milliseconds, or one of these.  A process holds a lock
 * while it opens a file for writing, syncs, closes or replaces it, and from bfs_supersede to bfs_publish.  Functions
 * without a "Waits" line never wait for a lock.  The time is for each lock; a sync and a close take two.  After it the
 * call returns BFS_EBUSY, and the message has the process id of the holder, if the system tells it.  A lock that a
 * handle of this process holds (bfs_supersede) is BFS_EBUSY at once. */
#define BFS_LOCK_TIMEOUT_DEFAULT 0u  /* 5,000 ms */
#define BFS_LOCK_NO_WAIT 4294967294u /* BFS_EBUSY at once */
#define BFS_LOCK_FOREVER 4294967295u /* as long as it takes */

/* How often a writer asks the kernel for failed writes of the file's pages: milliseconds, or one of these.  The first
 * add that changes a bit after that time asks, which causes no I/O.  A failure poisons the file (BFS_EPOISONED).
 * Between the failure and the question the kernel may drop a page that it could not write, and keys in it are answered
 * "no". */
#define BFS_WRITEBACK_CHECK_DEFAULT 0u           /* 100 ms */
#define BFS_WRITEBACK_CHECK_EACH_ADD 4294967294u /* each add that changes a bit asks */

/* --- Structs ------------------------------------------------------------------------------------------------------ */

/* Says in words what failed.  The caller owns it. */
typedef struct bfs_error {
  uint32_t struct_bytes; /* in: sizeof(bfs_error) */
  int32_t code;          /* out: as returned */
  int32_t os_errno;      /* out: errno of the system call that failed; without one, the errno that says the same as the
                            code (BFS_EEXIST: EEXIST), 0 where there is none */
  uint32_t reserved;     /* out: 0 */
  char message[496];     /* out: a sentence in UTF-8 with a NUL; a long one lacks its middle */
} bfs_error;
#define BFS_ERROR_INIT                \
  {                                   \
    sizeof(bfs_error), 0, 0, 0, { 0 } \
  }

/* How to make a filter.  0 means "not given", and -0.0 a given zero.  Exactly one of these pairs gives the size:
 *   capacity and fpr           the smallest m, and its k, that keep the promise at `capacity` keys
 *   capacity and bits_per_key  m = capacity * bits_per_key (counting: a quarter), and the k that is best for it
 *   capacity and max_bytes     the largest m whose file (or buffer) is at most max_bytes, and its best k
 *   num_bits and num_probes    m and k; the promised rate is for `capacity`, if given
 *                              (otherwise capacity is where half the bits are set).  With seeds, k is their number,
 *                              and need not be given
 *   like                       m, k, n, p, layout, hash, seed and seeds of another file: one digest serves both
 *
 * With capacity alone, fpr is 0.01.  The rate of the blocked layout is that of Putze, Sanders & Singler, "Cache-,
 * Hash- and Space-Efficient Bloom Filters" (WEA 2007): the mean over the Poisson load of a line.  A rate below its
 * floor near 1e-8 is BFS_ESIZING and needs the classic layout. */
typedef struct bfs_options {
  uint32_t struct_bytes;       /* sizeof(bfs_options) */
  uint32_t mode;               /* permission bits, less the umask; 0: those of the file it replaces, or 0600 */
  uint64_t flags;              /* those of c or b */
  uint64_t capacity;           /* n: distinct keys */
  double fpr;                  /* p: false-positive rate wanted at `capacity` keys, 0 < p < 1 */
  double bits_per_key;         /* m / n */
  uint64_t max_bytes;          /* bytes of the whole file or buffer */
  uint64_t num_bits;           /* m: 1..2^48; rounded up to a multiple of 512 for the blocked layout; counting: a
                                  number of counters, 1..2^46, rounded up to a multiple of 128 */
  uint32_t num_probes;         /* k: 1..64 */
  uint32_t layout;             /* BFS_LAYOUT_*; another number is BFS_EINVAL */
  uint32_t hash;               /* BFS_HASH_*; another number is BFS_EINVAL */
  uint32_t reserved;           /* 0 */
  uint64_t seed;               /* with BFS_OPTION_SEED; otherwise 0 */
  const char* like;            /* path of a filter file whose shape is copied */
  const void* note;            /* the owner's own words, any bytes */
  uint64_t note_bytes;         /* at most 1024 */
  const void* key;             /* the secret of BFS_HASH_SIPHASH (or of `like`, if it has one); copied, never stored */
  uint64_t key_bytes;          /* 16; 0 and NULL: no secret is given; a secret of no bytes is BFS_EINVAL */
  uint32_t lock_timeout_ms;    /* for each lock, as long as the handle is open: milliseconds, or BFS_LOCK_* */
  uint32_t writeback_check_ms; /* milliseconds, or BFS_WRITEBACK_CHECK_* */
  uint8_t file_id[16];         /* with BFS_OPTION_FILE_ID: not all zeros; otherwise zeros; see "Replicas" */
  const uint32_t* seeds;       /* one for each of the k bits; NULL, with BFS_HASH_MURMUR3*: 0, 1, .. k - 1 */
  uint64_t num_seeds;          /* k, or 0: no seeds are given */
} bfs_options;
#define BFS_OPTIONS_INIT \
  { sizeof(bfs_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0 }

/* How to open a file or a buffer.  Zero means "not given". */
typedef struct bfs_open_options {
  uint32_t struct_bytes;       /* sizeof(bfs_open_options) */
  int32_t fd;                  /* with BFS_OPEN_FD: the descriptor; otherwise 0 */
  uint64_t flags;              /* those of o, p or w */
  const void* key;             /* the secret that a filter with BFS_HASH_SIPHASH was made with */
  uint64_t key_bytes;          /* 16; 0 and NULL: no secret is given; a secret of no bytes is BFS_EINVAL */
  uint64_t offset;             /* with BFS_OPEN_RANGE: where the filter begins, a multiple of 64 */
  uint64_t max_bytes;          /* with BFS_OPEN_RANGE: the filter is at most this long; 0: up to the end of the file */
  uint32_t lock_timeout_ms;    /* for each lock, as long as the handle is open: milliseconds, or BFS_LOCK_* */
  uint32_t writeback_check_ms; /* for writing: milliseconds, or BFS_WRITEBACK_CHECK_* */
} bfs_open_options;
#define BFS_OPEN_OPTIONS_INIT \
  { sizeof(bfs_open_options), 0, 0, 0, 0, 0, 0, 0, 0 }

/* How to make a new file of an existing filter.  Zero means "not given".  A null pointer gives nothing. */
typedef struct bfs_copy_options {
  uint32_t struct_bytes;    /* sizeof(bfs_copy_options) */
  uint32_t mode;            /* permission bits, less the umask; 0: those of the file it replaces, or 0600 */
  uint64_t flags;           /* those of f or s */
  uint32_t lock_timeout_ms; /* for each lock: milliseconds, or BFS_LOCK_* */
  uint32_t reserved;        /* 0 */
  double fpr;               /* f.  Folds while the rate, with the keys of now, is at most this */
} bfs_copy_options;
#define BFS_COPY_OPTIONS_INIT \
  { sizeof(bfs_copy_options), 0, 0, 0, 0, 0 }

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
  uint64_t keys_added; /* adds that changed a bit (counting: all adds; in a copy, less the removes before it).  The
                          number survives a close and a killed writer.  0 in buffers */
  int32_t health;      /* bfs_health */
  uint32_t saturated;  /* 1 if more keys were added (less those removed) than `capacity`: the rate is above the promise;
                          0 in buffers */
  uint32_t has_fill;   /* 1 with BFS_STATS_FILL; otherwise the next six, and counters_at_15, are 0 */
  uint32_t has_memory; /* 1 with BFS_STATS_MEMORY, in a file; otherwise the last two are 0 */
  uint64_t set_bits;   /* counting: counters that are not 0 */
  double fill_ratio;   /* set_bits / m */
  double estimated_keys;      /* from the fill: ln(1 - fill) / (k ln(1 - 1/m)), as Swamidass & Baldi 2007, less Jensen's
                                 term; per line of 512 bits for blocked.  Counting: from the sum of the counters, so
                                 that a key that was added twice counts twice, and what leaked counts, too */
  double estimated_keys_low;  /* 95 of 100 filters have a number of keys from this ... */
  double estimated_keys_high; /* ... to this; INFINITY if the filter, or a line of it, has all of its bits set, or a
                                 counter is at 15 */
  double estimated_fpr;       /* the rate now: the mean over lines of fill^k */
  uint64_t huge_page_bytes;   /* how much of the mapping is in huge pages now */
  uint64_t resident_bytes; /* how much of the mapped file is in memory now; UINT64_MAX if the kernel does not tell: it
                              tells only the file's owner, and a process that may write to it */
  char isa[16];            /* of the kernel that answers: "avx512", "avx2", "neon" or "scalar" */
  uint8_t file_id[16];     /* see "Replicas"; zeros in the bare form */
  uint64_t keys_removed;   /* counting: removes that returned 1; as keys_added */
  uint64_t counters_at_15; /* counting, with BFS_STATS_FILL: counters that no remove lowers any more */
} bfs_statistics;
#define BFS_STATISTICS_INIT \
  { sizeof(bfs_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, 0, 0 }

/* Values that decide where a key's bits are, and in which two filters can differ (bfs_comparison.differs). */
#define BFS_DIFFERS_LAYOUT 0x1u
#define BFS_DIFFERS_HASH 0x2u
#define BFS_DIFFERS_SEED 0x4u /* or the list of seeds */
#define BFS_DIFFERS_KEY 0x8u  /* the secret of BFS_HASH_SIPHASH */
#define BFS_DIFFERS_NUM_PROBES 0x10u
#define BFS_DIFFERS_NUM_BITS 0x20u
#define BFS_DIFFERS_PART 0x40u /* which part of a whole filter, or of how many: bfs_get_part */

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

/* Bytes of a file. */
typedef struct bfs_range {
  uint64_t offset;
  uint64_t bytes;
} bfs_range;

/* --- Keys --------------------------------------------------------------------------------------------------------- */

/* Many keys, in the caller's own form.  This is a view: the memory stays the caller's, and no thread may change it
 * during a call. */
#define BFS_KEYS_POINTERS 1 /* key i: lengths[i] bytes at ((const void* const*)data)[i] */
#define BFS_KEYS_PAIRS 2    /* key i: ((const bfs_key*)data)[i], as iovec, and the slices of Rust and Go */
#define BFS_KEYS_FIXED 3    /* key i: key_bytes bytes at data + i * stride (stride 0: key_bytes) */
#define BFS_KEYS_COLUMN32 4 /* key i: data[offsets[i]] .. data[offsets[i + 1]], with count + 1 int32_t offsets */
#define BFS_KEYS_COLUMN64 5 /* the same with int64_t offsets: string and large_string columns of Apache Arrow */
#define BFS_KEYS_DIGESTS 6  /* ((const uint64_t*)data)[i]: digests of this filter's hash (bfs_digest_keys) */

/* One key: its bytes, and how many. */
typedef struct bfs_key {
  const void* data;
  size_t bytes;
} bfs_key;

/* The library checks the pointers and offsets before it looks at any key: only an empty key may have a null pointer;
 * offsets do not descend, begin at 0 or later, and end within data_bytes; a stride is at least key_bytes.  Any fault is
 * BFS_EINVAL, and nothing was added. */
typedef struct bfs_keys {
  uint32_t struct_bytes; /* sizeof(bfs_keys) */
  uint32_t kind;         /* BFS_KEYS_* */
  uint64_t count;        /* of the keys, nulls included */
  const void* data;
  uint64_t data_bytes;      /* columns: the length of `data` */
  const size_t* lengths;    /* pointers */
  const void* offsets;      /* columns */
  uint64_t key_bytes;       /* fixed: not 0 */
  uint64_t stride;          /* fixed: bytes from one key to the next; 0: key_bytes */
  const uint8_t* validity;  /* NULL, or Arrow's bitmap: key i is there if bit validity_offset + i is 1, the lowest bit
                               of a byte first.  A null is not the empty key: it is not added, and its answer is 0.
                               Its place has to be sound, too; its bytes are not read */
  uint64_t validity_offset; /* in bits */
} bfs_keys;
#define BFS_KEYS_INIT \
  { sizeof(bfs_keys), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

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

/* --- The library -------------------------------------------------------------------------------------------------- */

/* "1.2.3": the version of the library that runs.  Static. */
BFS_API const char* bfs_version(void);

/* The version as a number: major * 1,000,000 + minor * 1,000 + patch. */
BFS_API uint32_t bfs_version_number(void);

/* One sentence for any code of this header, and a general one for any other number.  Static, never NULL. */
BFS_API const char* bfs_strerror(int32_t code);

/* The name of a code, "BFS_EUNCLEAN"; "BFS_E?" for any other number.  Static, never NULL. */
BFS_API const char* bfs_code_name(int32_t code);

/* The name of a layout or a hash by its number, as all tools and languages write it: "blocked", "java-polynomial".
 * NULL for an unknown number: show the number then.  Static. */
BFS_API const char* bfs_layout_name(uint32_t layout);
BFS_API const char* bfs_hash_name(uint32_t hash);

/* Returns the number (BFS_LAYOUT_*, BFS_HASH_*) of a layout or a hash by its name, which is compared byte for byte.
 * Codes: EINVAL (none has this name, or it is NULL). */
BFS_API BFS_CHECK int32_t bfs_layout_named(const char* name);
BFS_API BFS_CHECK int32_t bfs_hash_named(const char* name);

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
#define BFS_CAN_FOLD 0x8u       /* into a smaller filter (bfs_copy_options.fpr) */
#define BFS_CAN_GROW 0x10u      /* beyond the size that it was made with */
#define BFS_CAN_EXPIRE 0x20u    /* keys, by their age */
#define BFS_CAN_INTERSECT 0x40u /* with another filter, into a new one (bfs_intersect) */

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
 * the rate as the filter fills.
 * bfs_create makes the filter of a plan from its num_bits, num_probes and capacity.
 * bloom_fpr is Bloom's formula, which agrees with fpr in large filters of BFS_LAYOUT_CLASSIC.  The real rate is above
 * it where m is small (Bose et al., "On the false-positive rate of Bloom filters", 2008), and wherever the probes of a
 * key share a line, as in BFS_LAYOUT_BLOCKED (Putze, Sanders & Singler, 2007).
 * Codes: EINVAL (the message names what is missing, out of range, or one too many), ENOMEM, ESIZING (no filter is so).
 */
BFS_API BFS_CHECK int32_t bfs_plan(const bfs_plan_request* request, bfs_plan_result* out, bfs_error* error);

/* --- Making, opening, closing ------------------------------------------------------------------------------------- */

/* Makes a new, empty filter file, open for writing.  The complete, durable file appears under its name, or nothing
 * does.  Its blocks are allocated, so adding cannot run out of disk; PROMISES.md lists the filesystems where it can.
 * The path is resolved once: later changes of the current folder, the root, or a symbolic link on the way change
 * nothing for the handle.  A symbolic link as the last part of the path is BFS_ESYMLINK: nothing is made or replaced
 * through one.
 * To clear a filter, replace it by an empty one, with `path` as `like`, and BFS_OPTION_REPLACE.  Handles of the old
 * file answer "maybe".  Clearing bits in place, while a process asks, would make a wrong "no".  The new file has no
 * marks.  *out is NULL on error.
 * Waits: with BFS_OPTION_REPLACE, for the locks of the file that is replaced.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY, EEXIST (see BFS_OPTION_REPLACE), ENOENT (of the folder, or of `like`), EACCES,
 * ENOSPC, ESIZING, EFILESYSTEM, EUNSUPPORTED, EKEY, EPOISONED (its name could not be made durable), EFAULT; of the file
 * that is replaced or `like` every malformed code. */
BFS_API BFS_CHECK int32_t bfs_create(const char* path, const bfs_options* options, bfs_filter** out, bfs_error* error);

/* Opens a file.
 * Flags: those of o.
 *
 * For reading, opening reads the header's four pages and the end word, whatever the size of the file, unless
 * BFS_OPEN_POPULATE, COPY, VERIFY or TOLERATE_DAMAGE is given.  On an overlay filesystem the kernel first copies a file
 * of a lower layer up as a whole, unless the file is sealed.  A killed writer's file is synced.  A symbolic link is
 * followed, unless BFS_OPEN_NOFOLLOW is given.
 *
 * For writing, a symbolic link as the last part of the path is BFS_ESYMLINK: no writer follows one.  The file is marked
 * dirty, durably, before this returns, so that a later crash is noticed.  Before that a copy that has holes, or shares
 * its blocks with another file, gets blocks of its own, or BFS_ENOSPC.  A dirty file without a live writer is adopted
 * if a process was merely killed in this boot: nothing is lost.  Any other dirty file is BFS_EUNCLEAN: recover it
 * (BFS_OPEN_RECOVER), or rebuild it.
 *
 * Never cp a copy back over its original: bfstore would take the copy for the original, without the keys that were
 * added after the copy.  Remove the file first, or mv the copy over it.
 *
 * The environment variable BFSTORE_FORCE_ISA (scalar, avx2, avx512, neon) chooses the kernel of filters that are opened
 * or made while it is set.  One that this CPU cannot run is BFS_EINVAL.  Answers never depend on it.
 *
 * Waits: for writing, for the lock of the file's state; for reading, while another process changes that state.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY, ENOENT, EACCES, ENOSPC, EFILESYSTEM, EKEY, EUNSUPPORTED, EUNCLEAN, EPOISONED,
 * ELOST, ERECOVERING, ESUPERSEDED, EFAULT, ESEALED, ENOTSEALED, EDAMAGED, every malformed code. */
BFS_API BFS_CHECK int32_t bfs_open(const char* path, uint64_t flags, bfs_filter** out, bfs_error* error);

/* Opens a file as bfs_open, with more than flags: a secret, a range of the file, a descriptor instead of a path, a time
 * to wait for locks.
 *
 * BFS_OPEN_RANGE reads in place an embedded filter in a file of any other format.  It goes with BFS_OPEN_READ,
 * POPULATE, RANDOM, GUARD, COPY, NOFOLLOW, NO_WRITE, FD and ANY_FILESYSTEM.  When the range is overwritten, zero-filled
 * or truncated and grown again, lookups answer "maybe", and bfs_health is BFS_ELOST.
 *
 * `key` is the secret that a filter with BFS_HASH_SIPHASH was made with.  The library copies it into the handle, wipes
 * the copy when the handle ends, and never stores it.  BFS_EKEY if it is another one, if none is given and the filter
 * has one, or if the filter has none.  A caller that passes digests also needs the secret to open.
 *
 * The seed of BFS_HASH_XXH3 is in the file.  With it an attacker can choose keys that fill a filter long before its
 * capacity, or find absent keys that it answers "maybe".  Without the secret of BFS_HASH_SIPHASH an attacker can do
 * neither.  The secret does not help against an attacker who can read it, who learns digests of this file (they are as
 * secret as the key), who sees the file change while chosen keys are added, or who may ask the filter: an absent key
 * that once got "maybe" gets "maybe" again.
 *
 * Waits and codes: as bfs_open. */
BFS_API BFS_CHECK int32_t bfs_open_with(const char* path, const bfs_open_options* options, bfs_filter** out,
                                        bfs_error* error);

/* Computes the bytes that bfs_format needs for these options.
 * Codes: EINVAL, ENOMEM, ESIZING, EKEY, EUNSUPPORTED; of `like` what bfs_open returns for reading. */
BFS_API BFS_CHECK int32_t bfs_required_bytes(const bfs_options* options, uint64_t* out_bytes, bfs_error* error);

/* Makes a new, empty filter in the caller's buffer (64-byte aligned, at least bfs_required_bytes long).  The buffer
 * stays the caller's and must outlive the handle.  No file is touched: the caller saves the bytes.
 * Codes: as bfs_required_bytes. */
BFS_API BFS_CHECK int32_t bfs_format(void* buffer, uint64_t buffer_bytes, const bfs_options* options, bfs_filter** out,
                                     bfs_error* error);

/* Reads a filter in the caller's buffer in place.  The buffer is 64-byte aligned, is never written to, and must outlive
 * the handle.
 * Flags: BFS_OPEN_READ, and BFS_OPEN_BARE for the bare form.
 * Codes: EINVAL, ENOMEM, EKEY, EUNSUPPORTED, every malformed code. */
BFS_API BFS_CHECK int32_t bfs_wrap(const void* buffer, uint64_t buffer_bytes, uint64_t flags, bfs_filter** out,
                                   bfs_error* error);

/* Reads, or with BFS_OPEN_WRITE changes, a filter in the caller's buffer in place; `key` is its secret.  The only other
 * flag is BFS_OPEN_BARE.
 * Codes: as bfs_wrap. */
BFS_API BFS_CHECK int32_t bfs_wrap_with(void* buffer, uint64_t buffer_bytes, const bfs_open_options* options,
                                        bfs_filter** out, bfs_error* error);

/* Gives a filter that was created with BFS_OPTION_UNPUBLISHED its name, as the complete, durable, clean file.  From
 * then on the handle only reads.  On an error nothing has appeared, and the handle is as before.  With
 * BFS_OPTION_REPLACE the file that had the name is superseded: its handles answer "maybe", its writers get
 * BFS_ESUPERSEDED.  The call marks the old file as superseded, so the process needs write permission for that file, or
 * must own it.  (The owner of a file of mode 0444 takes the permission for a moment; a process that is killed then
 * leaves the file writable by its owner.)  Needs the handle for itself.
 * A file whose first page is damaged, or of a later version of the format, is superseded as any other.  BFS_EBUSY if a
 * later major version has its live word elsewhere, and a writer has the file open.  BFS_ENOSPC if a copy (a reflink)
 * shares the page of the live word, and the disk has no room for another one.
 * A process that is killed in this call may leave a file .bfsXXXXXXXXXXXXXXXX.tmp (16 hexadecimal digits) in the
 * folder: a second name of the new file, for the moment before it replaces the old one.  If the filesystem has no files
 * without a name (O_TMPFILE), or there is no /proc, every unpublished file has such a name while its handle is open.
 * No later call removes a leftover, since it may be in use: remove it when no process has it open (fuser).
 * Waits: for the locks of the file that is replaced.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY, EEXIST, ENOENT, EACCES, ENOSPC, EFORKED, ESHUT, ELOST, EPOISONED, EFAULT, and
 * ENOTREGULAR, ESYMLINK of what is replaced. */
BFS_API BFS_CHECK int32_t bfs_publish(bfs_filter* filter, bfs_error* error);

/* For a filter that was created with BFS_OPTION_UNPUBLISHED and BFS_OPTION_REPLACE: supersedes the file that has the
 * name now, before bfs_publish.  Keys that its writers added before are in their logs, and adds from now on are
 * refused.  So add the end of those logs to this filter, and publish it: then no key is in neither file.  In a database
 * with transactions first wait until those that are open now have ended: the log would miss one that added its key to
 * the old file and commits after the log was read.
 * Until this handle publishes no process can open the path for writing, this one included.  If the handle is closed
 * instead, the old file continues as before.
 * bfs_publish is BFS_ELOST if other code of this process closed the descriptors of the old file meanwhile (see
 * "Descriptors").  Another process may have added to that file since.  Then call this again, add the end of the logs
 * again, and publish.  Until then every bfs_publish of the handle is BFS_ELOST.
 * If no file has the name, none is superseded, and bfs_publish replaces none.  If another program makes or moves a file
 * there after this call, whether or not the call found one, every bfs_publish is BFS_EBUSY until this is called again.
 * Waits and codes: as bfs_publish. */
BFS_API BFS_CHECK int32_t bfs_supersede(bfs_filter* filter, bfs_error* error);

/* Closes and frees the handle, whatever it returns.  The last writer of a file syncs it and marks it clean.  If that
 * fails, this returns why, and the next bfs_open says so, too.  The child of a fork frees its own copy of the handle,
 * and the file stays the parent's: BFS_OK.  NULL is BFS_OK.  Needs the handle for itself.
 * Waits: a writer, for two locks and for the disk.
 * Codes: EBUSY (the file stays dirty: the next writer adopts it), ESYSTEM, ENOSPC, EPOISONED, ELOST, ESUPERSEDED,
 * EFAULT, ENOMEM. */
BFS_API int32_t bfs_close(bfs_filter* filter, bfs_error* error);

/* Ends the work of a handle that other threads use, and frees nothing: they may be in calls, and may begin more, until
 * bfs_close frees the handle.  For a language or a host that cannot know when the last call has returned.  From now on
 * lookups answer "maybe" (bfs_contains: 1), bfs_health is BFS_ESHUT, and adds, syncs, copies and questions about the
 * file are BFS_ESHUT (bfs_get_mark: 0), even a bfs_save or bfs_dump that has begun.  Every add that returned 0 or more
 * is in the file.  A writer syncs, marks the file clean if it is the last one, and releases its locks, as in bfs_close.
 * If that fails, this returns why, and the handle is shut all the same, unless no memory was left (see bfs_health).  A
 * handle that was shut before is BFS_OK.  An unpublished file can no longer be published, and vanishes with bfs_close.
 * The child of a fork shuts its own copy of the handle alone.  A buffer is BFS_EINVAL: its memory is the caller's.
 * Waits: a writer, for calls of other threads that sync or (exclusive) add, for two locks and for the disk.
 * Codes: EINVAL, EBUSY (the file stays dirty: the next writer adopts it), ESYSTEM, ENOSPC, EPOISONED, ELOST,
 * ESUPERSEDED (replaced at that moment), EFAULT, ENOMEM. */
BFS_API int32_t bfs_shut(bfs_filter* filter, bfs_error* error);

/* Frees the handle as if its process had been killed, for finalizers: waits for no lock and no disk.  Nothing that was
 * added is lost, and nothing is synced: the file stays dirty until another writer closes it or adopts it.  An
 * unpublished file vanishes.  NULL does nothing.  Needs the handle for itself. */
BFS_API void bfs_abandon(bfs_filter* filter);

/* --- From one form to another ------------------------------------------------------------------------------------- */

/* Makes a new file of the filter (a file, a range of one, or in a buffer): the same bits, shape, seed, secret, note,
 * marks and count of keys.  The complete, durable, clean file appears under its name, or nothing does.  Other threads
 * and processes may add meanwhile.  The new file has every key up to its marks, and every key whose add returned before
 * this call (with BFS_OPEN_COPY: before the filter was opened).  A filter in doubt is not saved: the code is that of
 * bfs_health.  Before and after reading the bits, the call asks the kernel whether it failed to write pages of the
 * file, which it may have dropped.  A handle that does not ask (BFS_OPEN_NO_WRITE, BFS_OPEN_FD) saves a closed file;
 * one in use is BFS_EBUSY.  A page that cannot be read is an error, and no SIGBUS.  A buffer has no marks and no count,
 * so the new file has none: its owner adds everything again, or syncs its mark.  A bare filter has no n and p; the new
 * file gets those that bfs_options gives for num_bits and num_probes alone.  The new file is not sealed.  A damaged
 * sealed file is BFS_EDAMAGED, unless its handle tolerates the damage (then the copy answers "maybe" there, too).  With
 * fpr the new file is smaller: each of its lines (bits in the classic layout) is the OR of as many neighbouring ones as
 * leave the rate at most fpr.  So a filter for an unknown number of keys gets its size: make it too large and
 * BFS_OPTION_UNPUBLISHED, add, save it here under its name, and close it unpublished.  n becomes the number of keys
 * with which the rate is fpr.  BFS_ESIZING if the rate is higher already.
 * Flags: BFS_OPTION_REPLACE (not of the filter's own file; handles of the old file answer "maybe" from then on),
 * BFS_OPEN_ANY_FILESYSTEM, BFS_OPTION_FILE_ID, BFS_OPTION_FILLING (the new file answers "maybe" until its owner has
 * compared its mark with the log and has called bfs_finish_filling: so it is safe to put back an older state).
 * Waits: as long as the handle waits for locks, for a sync of the filter's file that is under way, by another thread or
 * process; with BFS_OPTION_REPLACE, for each lock of the file that is replaced.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (also: recovered while it was copied; or in use, and the handle writes
 * nothing), EEXIST, ENOENT, EACCES, ENOSPC, ESIZING, EFORKED, EFILESYSTEM, EUNCLEAN (a process was killed while it
 * synced), EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESHUT, ESLOTS, and ENOTREGULAR,
 * ESYMLINK of what is replaced. */
BFS_API BFS_CHECK int32_t bfs_save(const bfs_filter* filter, const char* path, const bfs_copy_options* options,
                                   bfs_error* error);

/* Writes what bfs_save saves into the caller's memory, at any address, as an embedded filter, or with BFS_OPEN_BARE in
 * the bare form.  *out_bytes becomes the number of bytes that this needs.  If `buffer` is NULL, nothing else happens;
 * otherwise out_bytes may be NULL.  Embedded filters have no marks: if you need them, call bfs_list_marks before this,
 * and keep them with the bytes.  In the bare form a note, a seed, seeds, a secret and an m that is no multiple of 64
 * are BFS_EINVAL, and n and p are lost.  BFS_EINVAL too if the buffer is too short, or is the filter's own.  On an
 * error no whole filter was written.
 * A handle of BFS_OPEN_FOLLOW may need another number of bytes in each call: use that of this call.
 * Flags: BFS_OPEN_BARE, BFS_OPTION_FILE_ID.
 * Waits: as bfs_save without BFS_OPTION_REPLACE.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), ESIZING, EFORKED, ESHUT, EUNCLEAN, EPOISONED, ELOST,
 * ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESLOTS. */
BFS_API BFS_CHECK int32_t bfs_dump(const bfs_filter* filter, void* buffer, uint64_t buffer_bytes, uint64_t flags,
                                   uint64_t* out_bytes, bfs_error* error);

/* Opens a filter in bytes from anywhere (an object store, a database, a message), at any address.  The call copies the
 * bytes into memory that bfs_close frees, so the caller may free them at once.  The bytes are an embedded filter, with
 * BFS_OPEN_BARE exactly a bare one, or a whole filter file that is clean; any other file is the code of its state,
 * BFS_EUNCLEAN if it was in use.  The bytes of a sealed file are compared with its checksums.  Seal files that you
 * transfer: only a seal detects changed bits.  Flags and options: as bfs_wrap_with.  Keys that are added with
 * BFS_OPEN_WRITE are in memory alone: see bfs_save.  The marks and the count of keys of a file are those of its bytes.
 * Waits for no lock.
 * Codes: EINVAL, ENOMEM, EKEY, EUNSUPPORTED, EUNCLEAN, EPOISONED, ERECOVERING, ESUPERSEDED, EFILLING, ESEALED,
 * EDAMAGED, every malformed code. */
BFS_API BFS_CHECK int32_t bfs_load(const void* bytes, uint64_t num_bytes, const bfs_open_options* options,
                                   bfs_filter** out, bfs_error* error);

/* Adds every key of `from` (a file, a range of one, or in a buffer) to `into`: the union of their bits, equal bit for
 * bit to one filter of all keys.  In the counting layout the counters are added up, to at most 15.  A merge that is
 * repeated, or that ended in an error, then counts keys twice, which leaks, and never makes a no.  If both merges
 * succeeded, the count of keys has them twice, too, so no number shows this leak.  Other threads and processes may add
 * to both meanwhile.  `into` has every key whose add to `from` returned before this call (with BFS_OPEN_COPY: before it
 * was opened).  Both need the same layout, hash, seed or secret or seeds, and k.  The m of `from` is that of `into`,
 * or, if the hash gives digests, a multiple of it: then `from` is folded while it is read.  `into` gets no marks, and
 * nothing is durable before the next sync or close of `into`.  The count of keys grows by an estimate of the new ones.
 * After an error some keys of `from` may be in `into`, which does no harm: call again.  Waits: as bfs_save of `from`
 * without BFS_OPTION_REPLACE.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), EREADONLY, EUNSUPPORTED, EMISMATCH, EFORKED, EUNCLEAN,
 * EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFULL, EFAULT, EDAMAGED, EFILLING (`from`), ESHUT, ESLOTS, ESIZING. */
BFS_API BFS_CHECK int32_t bfs_merge(bfs_filter* into, const bfs_filter* from, bfs_error* error);

/* Makes a new file of the keys that each of `count` filters (files, ranges of files, or in buffers) has: the AND of
 * their bits.  The complete, durable, clean file appears under its name, or nothing does.  Other threads and processes
 * may add meanwhile.  The new file has every key that was added to all of the filters before this call (with
 * BFS_OPEN_COPY: before the filter was opened).  The filters need the same layout, hash, seed or secret, and k.  The
 * new file gets these, and the m, n and p of the filter with the fewest bits.  The m of each other filter is a multiple
 * of that m, and the filter is folded while it is read.
 * The new file has no note, and no marks, since it lacks keys that the logs have.  Some of its bits are there by
 * chance: its false-positive rate is between the product of the filters' rates and the lowest of them (see
 * BFS_STATS_FILL).  The count of keys is that of a filter which is as full, so that BFS_OPEN_LIMIT and `saturated` keep
 * to p.  bfs_compare estimates how many keys two filters have in common.  No call intersects in place: clearing bits
 * that others read would make a wrong "no".
 * bfs_copy_options.fpr is 0.
 * Flags: BFS_OPTION_REPLACE (of another file than those of the filters), BFS_OPEN_ANY_FILESYSTEM, BFS_OPTION_FILLING.
 * Waits: as bfs_save, for each of the filters.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), EEXIST, ENOENT, EACCES, ENOSPC, ESIZING, EUNSUPPORTED,
 * EMISMATCH, EFORKED, EFILESYSTEM, EUNCLEAN, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED,
 * ESHUT, ESLOTS, and ENOTREGULAR, ESYMLINK of what is replaced. */
BFS_API BFS_CHECK int32_t bfs_intersect(const bfs_filter* const* filters, size_t count, const char* path,
                                        const bfs_copy_options* options, bfs_error* error);

/* Parts.  Part i of N of a filter (BFS_LAYOUT_BLOCKED or BFS_LAYOUT_COUNTING) has its lines from i * lines / N to
 * (i + 1) * lines / N, where N divides the number of lines.  A key belongs to the part of its digest: i is the high
 * half of the 128-bit product digest * N.  So each machine builds and asks only its own part, and the bodies of all
 * parts, one after the other, are the body of the whole filter.  A part is a filter like any other, with its own m, n
 * and p.  But a key of another part is BFS_EPART: it is not added, and never answered "no".  If one of many keys is of
 * another part, the call is BFS_EPART: it adds and removes nothing (with nulls it may have added or removed keys before
 * that one, so do not repeat a remove), and every answer is 1.  Lookups take as long as in a whole filter. */

/* Makes a file as bfs_create, for a part of the filter that the options describe: part number `part`, from 0, of
 * `num_parts`.  m is rounded up to whole lines of each part.  The part's n is its share of bfs_options.capacity and six
 * standard deviations more, since chance decides which keys are in it.  All parts need one seed: give it, or let `like`
 * be another part (its number may differ), or the whole filter (num_parts divides its lines).  The bare form has no
 * parts.  Part 0 of 1 is the whole filter.
 * Waits and codes: as bfs_create; EINVAL also where the layout has no parts. */
BFS_API BFS_CHECK int32_t bfs_create_part(const char* path, const bfs_options* options, uint32_t part,
                                          uint32_t num_parts, bfs_filter** out, bfs_error* error);

/* Tells which part this filter is: *out_part of *out_num_parts; a whole filter is part 0 of 1.  Either pointer may be
 * NULL.
 * Codes: EINVAL. */
BFS_API int32_t bfs_get_part(const bfs_filter* filter, uint32_t* out_part, uint32_t* out_num_parts, bfs_error* error);

/* Makes a new file of the whole filter of these `count` parts (files, ranges of files, or in buffers), in any order:
 * equal bit for bit to one filter of all keys.  The complete, durable, clean file appears under its name, or nothing
 * does.  Other threads and processes may add meanwhile.  The new file has every key whose add to its part returned
 * before this call (with BFS_OPEN_COPY: before the part was opened).  Parts of one filter have the same layout, hash,
 * seed or secret, k, m and number of parts, and each is there once: otherwise BFS_EMISMATCH, and the message names the
 * part that is missing, duplicate or different.  The new file has n and p of the whole, no note and no marks; its count
 * of keys is the sum of theirs.
 * bfs_copy_options.fpr is 0.
 * Flags: BFS_OPTION_REPLACE (of another file than those of the parts), BFS_OPEN_ANY_FILESYSTEM, BFS_OPTION_FILLING.
 * Waits: as bfs_save, for each of the parts.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), EEXIST, ENOENT, EACCES, ENOSPC, ESIZING, EMISMATCH, EFORKED,
 * EFILESYSTEM, EUNCLEAN, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESHUT, ESLOTS, and
 * ENOTREGULAR, ESYMLINK of what is replaced. */
BFS_API BFS_CHECK int32_t bfs_join(const bfs_filter* const* parts, size_t count, const char* path,
                                   const bfs_copy_options* options, bfs_error* error);

/* Opens parts of one whole filter for reading, as one handle that answers for every key.  It looks each key up in the
 * key's own part, so no lookup is BFS_EPART.  The text file `manifest` lists the files of the parts (FORMAT.md, "A set
 * of parts"):
 *
 *   bfstore-set 1
 *   # relative to the folder of this file's path, or absolute
 *   part0.bf
 *   /data/part1.bf
 *
 * A machine may list only the parts that it has, at least one.  A key of a part that is not listed is "maybe" (15 in
 * bfs_count).  The listed parts have the same layout, hash, seed or secret, k, m and number of parts (at most 65,536),
 * and each is there once: otherwise BFS_EMISMATCH, and the message names both files and the difference.  A whole filter
 * of a layout with parts is a set of one.  If a file cannot be opened, the call returns the code of bfs_open, and makes
 * no handle.  Every message names the manifest, the line and the file.
 * `options`: NULL is BFS_OPEN_READ alone.  Each part gets them, so `key` is the secret of all.  Flags: those of p.
 * Each part keeps two descriptors (three if the manifest's path is relative and has a folder), and a mapping or its
 * copy in memory: mind RLIMIT_NOFILE and vm.max_map_count.
 *
 * The handle answers as the parts' own handles do, and as one file of the whole filter.
 * - A part that is in doubt answers "maybe" to its own keys; the other parts answer as before.  bfs_health is the code
 *   of the first part in the manifest's order that is in doubt.
 * - bfs_is_current is 1 if each part is, and the manifest has the same bytes.  If not, open the set again, since it
 *   does not follow its paths.  Until then a replaced part (BFS_OPTION_REPLACE) is in doubt.
 * - bfs_stats: num_bits, capacity, fpr and seed are those of the whole filter, taken from the first part (parts may
 *   differ in capacity and fpr, which change no answer).  Counts are sums over the listed parts; `saturated` compares
 *   them with the parts' share of the capacity.  estimated_fpr counts an unlisted part as 1.  file_id is zeros.
 * - bfs_get_part: part 0 of 1.  bfs_get_note, bfs_get_seeds and bfs_get_mark: 0.
 * - bfs_shut shuts every part.  bfs_close, bfs_abandon, bfs_digest, and the child of a fork: as for one file.
 * - bfs_add*, bfs_remove*, bfs_import_bits, and bfs_merge into it: BFS_EREADONLY (removes: BFS_EUNSUPPORTED, if the
 *   layout has none).  A process that adds opens the part.
 * - bfs_save, bfs_dump, bfs_merge from it, bfs_intersect, bfs_join, bfs_compare, bfs_sync, bfs_list_marks,
 *   bfs_drop_owner, bfs_finish_recovery, bfs_finish_filling, bfs_publish, bfs_supersede, bfs_use_threads: BFS_EINVAL.
 *   bfs_export_bits: BFS_EUNSUPPORTED, as of each layout with parts.  For these, open the parts, or bfs_join them.
 *
 * *out is NULL on error.
 * Waits: as bfs_open for reading, for each of the parts.
 * Codes: EINVAL (also: the manifest has a line that is no path, lists no part or too many, or is too long), ENOMEM,
 * ESYSTEM, EBUSY, ENOENT, EACCES, ENOSPC, EFILESYSTEM, EKEY, EUNSUPPORTED (also: a layout without parts, or more than
 * 65,536 parts), EMISMATCH, EUNCLEAN, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFAULT, ESEALED, ENOTSEALED,
 * EDAMAGED, every malformed code (of the manifest: ENOTREGULAR, ESYMLINK, EMAGIC, EVERSION). */
BFS_API BFS_CHECK int32_t bfs_open_set(const char* manifest, const bfs_open_options* options, bfs_filter** out,
                                       bfs_error* error);

/* Fills in *out: in what filter A and filter B differ, whether they are equal, and how many keys each has, both have,
 * and either has.  Reads every bit of both, once.  Other threads and processes may add meanwhile: every key whose add
 * returned before this call is counted.  Filters that do not fit together are BFS_OK, and *out says in what they
 * differ.  A filter in doubt is the code of bfs_health, as in bfs_save.  On an error *out is as it was.  EUNSUPPORTED
 * if sets of keys of the layout cannot be compared; those of each layout above can.
 * Waits: as bfs_save without BFS_OPTION_REPLACE, for each filter.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), ESIZING, EUNSUPPORTED, EFORKED, EUNCLEAN, EPOISONED, ELOST,
 * ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESHUT, ESLOTS. */
BFS_API BFS_CHECK int32_t bfs_compare(const bfs_filter* a, const bfs_filter* b, bfs_comparison* out, bfs_error* error);

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
 * Waits for no lock of the file; where the handle is exclusive, for the other threads that use it.
 * Codes: EINVAL, ENOMEM, EREADONLY, EUNSUPPORTED, EFORKED, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED, EFULL, EFAULT,
 * ESHUT. */
BFS_API BFS_CHECK int32_t bfs_import_bits(bfs_filter* filter, const void* bits, uint64_t num_bytes, uint32_t order,
                                          bfs_error* error);

/* Writes the filter's m bits as an array for another program, with zeros after the last one; num_bytes is exactly what
 * m bits need.  The array has every key whose add returned before this call.  On an error every bit of it is 1, where
 * the pointer is not NULL and an array can be so long.
 * Waits: as bfs_save without BFS_OPTION_REPLACE.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY (as bfs_save), ESIZING, EUNSUPPORTED, EFORKED, ESHUT, EUNCLEAN, EPOISONED,
 * ELOST, ERECOVERING, ESUPERSEDED, EFILLING, EFAULT, EDAMAGED, ESLOTS. */
BFS_API BFS_CHECK int32_t bfs_export_bits(const bfs_filter* filter, void* bits, uint64_t num_bytes, uint32_t order,
                                          bfs_error* error);

/* --- Sealed files ------------------------------------------------------------------------------------------------- */

/* Makes a sealed copy of the filter file `from` at `to`: the same bits, shape, seed, note and marks, with a checksum
 * for every 64 KiB.  A sealed file is never written to again (BFS_ESEALED).  The complete, durable file appears under
 * its name, or nothing does.  `from` stays as it is, need only be readable, and may be in use: the copy has every key
 * whose add returned before this call, and marks of that moment.  No secret is needed.
 * Flags: BFS_OPTION_REPLACE (handles of the file that had the name answer "maybe" from then on; `to` may be `from`, but
 * BFS_EBUSY if that has a writer meanwhile), BFS_OPEN_ANY_FILESYSTEM.
 * Waits: for each lock.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY, EEXIST, ENOENT, EACCES, ENOSPC, EFILESYSTEM, EUNCLEAN, EPOISONED, ELOST,
 * ERECOVERING, ESUPERSEDED, EFAULT, EDAMAGED, EFILLING, every malformed code. */
BFS_API BFS_CHECK int32_t bfs_seal(const char* from, const char* to, const bfs_copy_options* options, bfs_error* error);

/* Reads a sealed file from end to end, from the disk where no process has it in memory, and compares it with its
 * checksums.  Returns the number of damaged ranges, 0 if the file is as it was sealed, and fills in the first
 * `capacity` of them, ascending.  An unreadable range is damaged, and so are state slots and a live word with another
 * state than a sealed file has.  Bytes that no reader looks at (for instance between bits and checksums) are not
 * compared.  A file that is not sealed is BFS_ENOTSEALED, whatever its state.  Writes nothing, and takes no lock, so it
 * also verifies a file that is being replaced.
 * Flags: 0 or BFS_OPEN_NOFOLLOW.
 * Waits for no lock.
 * Codes: EINVAL, ENOMEM, ESYSTEM, ENOENT, EACCES, ENOTSEALED, every malformed code. */
BFS_API BFS_CHECK int64_t bfs_verify(const char* path, uint64_t flags, bfs_range* damaged, size_t capacity,
                                     bfs_error* error);

/* --- One key ------------------------------------------------------------------------------------------------------ */

/* Adds a key.  Adding it again changes nothing and dirties no page (the counting layout counts it once more).  Readers
 * in every process see it once this returns.
 * It survives a killed process at once, and a power cut once a later bfs_sync returns BFS_OK.
 * Returns 1 if the key was certainly new, 0 if it may have been there.  If several threads add one key at the same
 * moment, more than one may get 1.  Below 0 the key does not count as added, although some of its bits may be set.
 * Waits for no lock of the file; where the handle is exclusive, for the other threads that use it.
 * Codes: EINVAL, EREADONLY, EDIGESTONLY, EKEYONLY, EPART, EFORKED, ESHUT, EPOISONED, ELOST, ERECOVERING, ESUPERSEDED,
 * EFULL, EFAULT. */
BFS_API BFS_CHECK int32_t bfs_add(bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API BFS_CHECK int32_t bfs_add_digest(bfs_filter* filter, uint64_t digest);

/* Removes a key from a filter of the counting layout.  A key that was added several times is present until it was
 * removed as often.
 * Remove only keys that were added, and each at most as often as it was added.  To remove a key that was never added,
 * or once too often, can make the filter answer no for other keys that are in it.  The filter cannot detect this.  It
 * is the one way in which a caller can make a wrong no.
 * Returns 1, or 0 if the key was certainly not there: then nothing changed.  Never repeat a remove that returned
 * another code, or whose process was killed: it may have taken the key.  A part that it left stays in the counters (a
 * leak), which costs only false positives.  Readers in every process see a remove once it has returned.  While a lookup
 * is in doubt, removes are refused with the code of bfs_health, also during a recovery or a filling.  A recovery adds
 * again the keys after the marks, and removes nothing again.  After BFS_OPEN_ACCEPT_LOSS some keys may be missing: to
 * remove one of these is to remove a key that was never added.
 * Waits for no lock of the file; where the handle is exclusive, for the other threads that use it.
 * Codes: EINVAL, EREADONLY, EUNSUPPORTED, EDIGESTONLY, EPART, EFORKED, ESHUT, EPOISONED, ELOST, ERECOVERING,
 * ESUPERSEDED, EFILLING, EFAULT. */
BFS_API BFS_CHECK int32_t bfs_remove(bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API BFS_CHECK int32_t bfs_remove_digest(bfs_filter* filter, uint64_t digest);

/* Returns how often the key was added and not removed, at most: 0 (a certain no) to 15, of a filter of the counting
 * layout.  15 means 15 or more, or that the file is in doubt (bfs_health).
 * Waits for nothing but the disk.
 * Codes: EINVAL, EUNSUPPORTED, EDIGESTONLY, EPART. */
BFS_API int32_t bfs_count(const bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API int32_t bfs_count_digest(const bfs_filter* filter, uint64_t digest);

/* Returns 0 if the key was certainly never added (or was removed), 1 if it may have been, or the file is in doubt
 * (bfs_health).  Only 0 is a no.
 * Waits for nothing but the disk.
 * Codes: EINVAL, EDIGESTONLY (a key), EKEYONLY (a digest), EPART. */
BFS_API int32_t bfs_contains(const bfs_filter* filter, const void* key, size_t key_bytes);
BFS_API int32_t bfs_contains_digest(const bfs_filter* filter, uint64_t digest);

/* The key's digest in this file.  Files with equal hash and seed (or secret) have equal digests.
 * Codes: EINVAL, EDIGESTONLY, EKEYONLY. */
BFS_API int32_t bfs_digest(const bfs_filter* filter, const void* key, size_t key_bytes, uint64_t* out_digest);

/* --- Many keys ---------------------------------------------------------------------------------------------------- */

/* Adds keys.  Returns how many were certainly new.  EINVAL, EDIGESTONLY and EKEYONLY: nothing was added.  With any
 * other code some of the keys may have been added, and none counts as added.
 * Waits and codes: as bfs_add. */
BFS_API BFS_CHECK int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys);

/* Removes keys: see bfs_remove.  Returns how many were not certainly absent.  EINVAL, EUNSUPPORTED and EDIGESTONLY:
 * nothing was removed.  With any other code some of the keys may have been removed, and it is not known which: do not
 * repeat the call.
 * Waits and codes: as bfs_remove. */
BFS_API BFS_CHECK int64_t bfs_remove_keys(bfs_filter* filter, const bfs_keys* keys);

/* answers[i] = 0 if key i is certainly absent or a null, otherwise 1.  Returns how many may be present.  Below 0 all
 * keys->count answers are 1 (none is written if `keys` cannot be read, or has more keys than an array can).
 * Codes: EINVAL, EDIGESTONLY, EKEYONLY, EPART. */
BFS_API int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers);

/* Fills in a selection vector: returns n, and the first n of `indices` are the numbers of the keys that may be present,
 * ascending.  Below 0 they are the numbers of all keys.  `indices` has room for keys->count numbers; those after the
 * last one are undefined.  At most 2^32 keys.
 * Codes: EINVAL, EDIGESTONLY, EKEYONLY, EPART. */
BFS_API int64_t bfs_select_keys(const bfs_filter* filter, const bfs_keys* keys, uint32_t* indices);

/* digests[i] = the digest of key i in this file (bfs_digest), 0 for a null.  Returns keys->count.  Below 0 nothing is
 * written.
 * Codes: EINVAL, EDIGESTONLY, EKEYONLY. */
BFS_API int64_t bfs_digest_keys(const bfs_filter* filter, const bfs_keys* keys, uint64_t* digests);

/* bfs_add_keys of digests in an array.  Waits and codes: as bfs_add_keys. */
BFS_API BFS_CHECK int64_t bfs_add_digests(bfs_filter* filter, const uint64_t* digests, size_t count);

/* bfs_contains_keys of digests in an array.  Codes: as bfs_contains_keys. */
BFS_API int64_t bfs_contains_digests(const bfs_filter* filter, const uint64_t* digests, size_t count, uint8_t* answers);

/* Sets the number of threads (1 to 64) that a call with many keys to add uses from now on, if this handle is the only
 * writer and the layout is blocked or counting.  A call with fewer than 16,384 keys a thread, or with nulls, uses its
 * own thread alone.  EINVAL for a handle that adds concurrently with others: let the caller's own threads add there.
 * Codes: EINVAL, EFORKED, ESHUT. */
BFS_API int32_t bfs_use_threads(bfs_filter* filter, uint32_t threads, bfs_error* error);

/* --- Bare filters without a handle -------------------------------------------------------------------------------- */

/* For an engine with a small filter in each block of its tables.  A bare filter is a body and an 8-byte trailer
 * (BFS_OPEN_BARE).  `buffer` is exactly the filter, at any address.  These functions allocate nothing and take no lock.
 * Any number of threads may call them; no thread may change the buffer during a call.  If this CPU cannot run
 * BFSTORE_FORCE_ISA, the scalar kernel answers. */

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
 * is the best for that many keys and bits.  The bytes are those of bfs_format with BFS_OPEN_BARE, capacity = count (1
 * for none) and max_bytes = bytes, followed by bfs_add.  layout and hash: 0 is the default.  Keys: the hash is
 * BFS_HASH_XXH3, and none of them may be a null.  Digests: see bfs_bare_contains.  Returns BFS_OK, or a code, and then
 * the buffer is as before.
 * Codes: EINVAL (layout or hash are unknown or not for bare filters, no filter of the layout is so long, or something
 * is wrong with the keys), EUNSUPPORTED (the layout takes no keys). */
BFS_API BFS_CHECK int32_t bfs_bare_build(void* buffer, uint64_t bytes, uint32_t layout, const bfs_keys* keys);
BFS_API BFS_CHECK int32_t bfs_bare_build_digests(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash,
                                                 const uint64_t* digests, size_t count);

/* --- The engine's protocol ----------------------------------------------------------------------------------------
 *
 * An engine that skips reads where the filter says no needs the key of every row in the filter, whatever crashed on the
 * way.  It keeps a log of its rows (a database's own will do), and works in this order:
 *
 * 1. Append the row to the log.  A crash may take an unsynced key from the filter, and only keys in the log can be
 *    added again.
 * 2. Add the key with bfs_add().  Only after an add that returned 0 or 1 may the row become visible to readers, or be
 *    acknowledged: a reader that sees the row earlier may ask for it, and gets "no".  A refused add (BFS_EFULL,
 *    BFS_ESUPERSEDED, BFS_EFAULT, ...) leaves a row in the log whose key is not in the filter: open the filter again
 *    (step 4) or build another, and add the key there, or take the row back.  In a database with transactions the order
 *    is insert, add, commit; a key without a row costs only a false positive.
 * 3. Now and then bfs_sync() with a low-water mark: a position of the log such that every key up to it has returned
 *    from an add.  With several threads or processes this is not the last position: another one may have appended
 *    before it, and not have added yet.
 * 4. At every open for writing, even if bfs_open() returned BFS_OK, compare bfs_get_mark() with the log, and add the
 *    keys after the mark before any later row is visible.  A process that is killed between steps 1 and 2 leaves a good
 *    file that lacks the key; so does a filter that was restored from an older backup.  If the log does not go back to
 *    the mark (it was cut, or is another one), add the keys of all rows, or rebuild the filter.  Processes that share a
 *    log do the same for the rows of a killed process, before they show later rows of their own.
 *
 * A log whose positions begin anew (it was reset, restored to an earlier moment, or continues on another machine) takes
 * a new *epoch*, a number that it never had.  An old mark may be higher than all positions of the new log, and would
 * then say that nothing is missing.  If the mark is after the end of the log, the log is another one.
 *
 * A reader may open the filter before a writer has compared it.  So a writer that opens the filter appends a record to
 * the log (or takes a new epoch), compares, syncs the mark after that record, and records this mark and
 * bfs_statistics.file_id.  A reader trusts a filter that has this file_id, and this mark or a higher one.  The mark
 * detects an older state of the file (cp of a closed file).  The file_id detects a copy that bfs_save made of a filter
 * in use: it is clean, may have the mark, and lacks the keys after it.  (With BFS_OPTION_FILE_ID the copy has the same
 * file_id, and its owner is responsible: see "Replicas".)  A writer asks bfs_is_current before it adds, since a copy
 * may have taken its path.  If so, it opens the path again, and compares.
 *
 * After BFS_EUNCLEAN, BFS_EPOISONED or BFS_ERECOVERING, open with BFS_OPEN_WRITE | BFS_OPEN_RECOVER, do step 4, and
 * call bfs_finish_recovery().  The example engine.c does all this.
 */

/* What a filter keeps for an owner: a process, a shard or a database with a log of its own. */
typedef struct bfs_owner_mark {
  uint64_t owner;     /* a number of the owner's choice */
  uint64_t mark;      /* every key of the log up to this position is durable; 0: none yet */
  uint64_t epoch;     /* which log: a number of the owner's choice, a new one whenever positions begin anew */
  uint32_t recovered; /* in a recovery, 1 if the owner has finished it, else 0 */
  uint32_t reserved;  /* 0 */
} bfs_owner_mark;

/* Makes everything that was added before the call durable, then stores `mark`, a position in the log `epoch` of
 * `owner`: the caller promises that every key up to it has returned from an add.  In a recovery the keys after the old
 * mark must have been added since the recovery began.  In one epoch the higher mark stays; another epoch replaces epoch
 * and mark.  Mark 0 with an epoch makes the owner known, so that a recovery waits for it.  Mark 0 with epoch 0 stores
 * nothing, and is a sync alone.  With more than 64 owners: BFS_EOWNERS, and the keys are durable.  A failure poisons
 * the file for every process: a failed sync cannot be retried.  BFS_EINVAL for a buffer, which has nothing to sync.
 * Waits: for two locks and for the disk.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EBUSY, EACCES, EREADONLY, ENOSPC, EOWNERS, EFORKED, EPOISONED, ELOST, ESUPERSEDED,
 * EFAULT, ESHUT. */
BFS_API BFS_CHECK int32_t bfs_sync(bfs_filter* filter, uint64_t owner, uint64_t epoch, uint64_t mark, bfs_error* error);

/* The mark of `owner` in `epoch`, as of the last sync by any process (with BFS_OPEN_COPY: as of the copy).  0 means:
 * add the keys of all rows.  It is 0 if the file has no mark of the owner in this epoch, or cannot be read. */
BFS_API uint64_t bfs_get_mark(const bfs_filter* filter, uint64_t owner, uint64_t epoch);

/* Returns how many owners the filter knows, at most 64, and fills in the first `capacity` of them, in no order.
 * BFS_EINVAL for a buffer.  `marks` may be NULL if capacity is 0.
 * Codes: EINVAL, ENOMEM, ESYSTEM, EFORKED (the handle of a writer), ESLOTS, ESHUT. */
BFS_API int64_t bfs_list_marks(const bfs_filter* filter, bfs_owner_mark* marks, size_t capacity, bfs_error* error);

/* Forgets `owner`, durably, and frees its lane; bfs_get_mark() is 0 then, and the owner may begin again.  The call
 * first makes everything durable that was added before.  A recovery no longer waits for the owner: keys of its log
 * after its mark that no process adds again are answered "no" when the recovery is over.  So drop an owner whose rows
 * are gone.  If the other owners, at least one, have finished a recovery, this call ends it.  An owner that the filter
 * does not know is BFS_OK.
 * Waits and codes: as bfs_sync. */
BFS_API BFS_CHECK int32_t bfs_drop_owner(bfs_filter* filter, uint64_t owner, bfs_error* error);

/* For a handle of BFS_OPEN_RECOVER: `owner` has added again every key of its log after its mark.  Durable when this
 * returns.  Returns 1 if the recovery is over, so that lookups answer again: every owner that the filter knows has
 * finished it, or the filter knows none.  Returns 0 if it waits for other owners.  It cannot wait for an owner that the
 * file does not know: an owner that adds keys calls bfs_sync once with its epoch (mark 0 before its log was replayed,
 * its position after that) each time it opens the file, or has to be replayed before the last owner calls this.  Until
 * the recovery is over, every handle in every process answers "maybe", other bfs_opens fail with BFS_ERECOVERING, and a
 * recoverer that was killed has to begin again, from the marks.  If no recovery is under way, the call syncs and
 * returns 1.  The kernel reports a failed write to each open file by itself, once.  A handle that was open when the
 * write failed may learn of it only after the recovery, in bfs_is_current, and poisons the file again: it cannot know
 * that the keys were added since.  So reopen such readers before the recovery, or let each call bfs_is_current.
 * Otherwise recover again.
 * Waits and codes: as bfs_sync. */
BFS_API BFS_CHECK int32_t bfs_finish_recovery(bfs_filter* filter, uint64_t owner, bfs_error* error);

/* --- An online build ---------------------------------------------------------------------------------------------- */

/* Ends the filling of a filter that was created with BFS_OPTION_FILLING.  The caller promises that every key of the
 * filter has returned from an add.  The call makes these keys durable, then stores that the filter is filled.  From
 * then on every handle in every process answers, even one that was opened before.
 *
 * An engine builds in this order.  In another order a row may be added by no process, and get "no" at the end:
 *   1. Create the file with BFS_OPTION_FILLING.
 *   2. Let every writer open it.  From now on each writer adds the key of every row that it appends, before the row is
 *      visible (step 2 of the protocol above).
 *   3. Only when every writer does so, read the end of the log.  It leaves out no row that a writer appended without
 *      an add.  (An end that was read before step 2 leaves out the rows that were appended in between.)
 *   4. The builder adds the keys of all rows up to that end, while the writers add those of later rows.
 *   5. Call this when every add of a row up to that end has returned.
 *
 * The builder's progress is a mark of an owner of its own, which no writer uses.  Until step 5 the mark of a writer
 * covers only the rows since step 2, and old rows below it are missing.  A builder that took it for its own progress
 * would end the filling without these rows.  For the same reason a writer that finds no mark of its own owner while the
 * filter is filling begins at the end of step 3, or earlier.
 *
 * While a filter is filling:
 *   - bfs_open returns BFS_OK, and bfs_health BFS_EFILLING.  bfs_seal, bfs_save, bfs_dump, and bfs_load of its bytes
 *     are BFS_EFILLING: nothing is copied.
 *   - Adds, bfs_sync, marks and bfs_close work as always.
 *   - The filling outlives a close, a kill and a power cut.  A builder that starts again adds the rows after its own
 *     mark, or all rows, up to the end of the log as it is now.  After BFS_EUNCLEAN or BFS_EPOISONED a recovery comes
 *     first, in which the builder is an owner like the writers.  The filter is still filling after it.
 *   - A handle of BFS_OPEN_COPY keeps the state of its moment.
 *
 * On an error every answer is "maybe" as before: call again, after BFS_EPOISONED recover first.  A filter that is not
 * filling is only synced: BFS_OK.  Threads: any.
 * Waits: for two locks and for the disk.
 * Codes: EINVAL (NULL, or a buffer), ENOMEM, ESYSTEM, EBUSY, EACCES, EREADONLY, ENOSPC, EFORKED, ESHUT, EPOISONED,
 * ELOST, ESUPERSEDED, EFAULT. */
BFS_API BFS_CHECK int32_t bfs_finish_filling(bfs_filter* filter, bfs_error* error);

/* --- Facts -------------------------------------------------------------------------------------------------------- */

/* BFS_OK, or why every answer is "maybe" now: BFS_EPOISONED, BFS_ELOST, BFS_ESUPERSEDED, BFS_ERECOVERING, BFS_EFILLING
 * (adds are not refused then), BFS_EFAULT or BFS_ESHUT.  Reads memory, makes no system call, and allocates nothing: a
 * long-running reader may ask often.
 * Codes: EPOISONED, ELOST, ESUPERSEDED, ERECOVERING, EFILLING, EFAULT, ESHUT, and EINVAL for NULL. */
BFS_API int32_t bfs_health(const bfs_filter* filter);

/* 1 if the path still names this file, as long as it must be, and no process is putting another in its place.  0 if the
 * file was replaced, removed, renamed, truncated or overwritten: open the path again.  A relative path is followed from
 * the folder that was current when the file was opened; for a range of a file, from the folder that is current now.
 * For a range, 1 also says that the filter is in its place.  Asks the file system, and the kernel for failed writes,
 * which poison the file: too slow for every lookup.  With BFS_OPEN_FOLLOW see there.
 * A reader of a sealed file that is in a lower layer of an overlay filesystem (a container's image) learns by this
 * alone that the file was replaced or overwritten: bfs_health stays BFS_OK there, and lookups keep the answers of the
 * old file.
 * Waits: a reader that must poison the file waits for its state lock.  On an overlay filesystem the call waits for the
 * disk.  With BFS_OPEN_FOLLOW it waits for another thread that follows, and as bfs_open.
 * Codes: EINVAL (NULL, or a buffer), ESYSTEM, EACCES, EFORKED, ESHUT, ENOMEM. */
BFS_API int32_t bfs_is_current(const bfs_filter* filter, bfs_error* error);

/* Returns the length of the filter's note (bfs_options.note), 0 if it has none, and copies its first `capacity` bytes.
 * `buffer` may be NULL if capacity is 0.
 * Codes: EINVAL, ENOMEM. */
BFS_API int64_t bfs_get_note(const bfs_filter* filter, void* buffer, size_t capacity, bfs_error* error);

/* Returns the number of seeds of the filter's hash (bfs_options.seeds), which is k, or 0 if the hash takes no list of
 * seeds, and copies the first `capacity`.  `seeds` may be NULL if capacity is 0.
 * Codes: EINVAL, ENOMEM. */
BFS_API int64_t bfs_get_seeds(const bfs_filter* filter, uint32_t* seeds, size_t capacity, bfs_error* error);

/* Fills in *out.  Flags: 0, which reads memory alone, or BFS_STATS_*.  Codes: EINVAL, ENOMEM. */
BFS_API int32_t bfs_stats(const bfs_filter* filter, uint64_t flags, bfs_statistics* out, bfs_error* error);

#ifdef __cplusplus
}
#endif

#endif

// How to make a filter, and what it says of itself. Plain values, no behaviour.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace bfstore {

// Persisted numbers (src/format/FORMAT.md): never renumbered.
enum class Layout : std::uint16_t {
  kBlocked = 1,  // one 64-byte line a key, k probes in its 512 bits: one cache miss, one page fault
  kClassic = 2,  // Bloom's own: k probes anywhere in m bits; the lowest false-positive rate
};

// Persisted numbers (src/format/FORMAT.md): never renumbered.
enum class Hash : std::uint16_t {
  kXxh3 = 1,      // XXH3-64 with the file's seed
  kExternal = 2,  // the caller passes digests of its own, well mixed hash; functions that take keys refuse
  kSipHash = 3,   // SipHash-2-4 under a SecretKey: for keys that strangers choose
};

// The secret of a filter with Hash::kSipHash: 16 random bytes, kept by the owner and never in the file. Who does not
// know it can not choose keys that fill the filter faster than others, nor find out alone which absent keys it says
// "maybe" to. It does not help against who can read it, against who is told digests (they are as secret as the key), or
// against who may ask the filter: what it answered "maybe" to it will answer "maybe" to again.
using SecretKey = std::array<std::uint8_t, 16>;

inline constexpr std::uint32_t kMaxProbes = 64;
inline constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kLineBits = 512;
inline constexpr std::uint64_t kMaxNoteBytes = 1024;

// How a file is mapped into memory. By default its pages come in when they are first touched; the mapping begins at a
// multiple of 2 MiB; and who reads, or is the only writer, asks for huge pages, of which the system gives as many as it
// has (Stats::huge_page_bytes). A page fault in a cold file then reads 2 MiB.
struct MapOptions {
  // Bring the whole file into memory now: opening takes as long as reading it, and no lookup waits for the disk later.
  bool populate = false;
  // Small pages and no reading ahead: for files that are larger than memory, and for files that are synced often, since
  // a sync writes every page, small or huge, that holds a new bit: let everyone who opens such a file say so. Lookups
  // in a file that is in memory are slower.
  bool random_access = false;
  // A page that can not be read (an I/O error, or the file was truncated) is no SIGBUS: it puts this handle in doubt
  // for good (kFault): lookups are answered with "maybe", adds, syncs and the close are errors, and a file that this
  // handle may write is poisoned. The first such handle installs a handler of SIGBUS in the process, for good, which
  // passes on every fault that is not in a guarded file to the handler that was there before. Who installs one later
  // has to pass on what is not his; SIGBUS must not be blocked; the library must not be unloaded.
  bool guard = false;
  // For reading: the file is not mapped but read into memory of this process, and what happens to it later, keys that
  // others add included, does not reach this handle: the answer for hostile files. kNoMemory if it is larger than the
  // memory that the system has available; memory limits of containers are not looked at.
  bool copy = false;
};

inline constexpr std::uint32_t kWaitForEver = UINT32_MAX;
inline constexpr std::uint32_t kLockTimeoutMs = 5000;
inline constexpr std::uint32_t kWritebackCheckMs = 100;

// How a file is opened, besides for what.
struct OpenOptions {
  MapOptions map{};

  // For writing. A file that is unclean or poisoned, or whose recovery was begun, is opened to be recovered: every
  // handle in every process answers "maybe" until every owner of a mark has added again what came after its mark and
  // has said so (Filter::finish_recovery). A file that needs no recovery is opened as always.
  bool recover = false;
  // For writing. The same, but nothing will be added again: keys that came after the marks may be missing from now on,
  // and are answered with "no". Only the owner of the data can know that this does not matter.
  bool accept_loss = false;
  // A dirty file that no writer has open is unclean, even where a process was merely killed: for devices that may
  // vanish and come back while the system runs.
  bool strict = false;
  // Open it on a network filesystem, too (NFS, SMB, FUSE, 9p and their like), or on an overlay that can not be written
  // to. There a reader may see an older file than the writer wrote, which makes a wrong "no".
  bool any_filesystem = false;
  // For reading. A symbolic link as the last part of the path is kSymlink; otherwise it is followed. Writers never
  // follow one.
  bool no_follow = false;
  // For reading. Nothing at all is written, for audits and sandboxes. Without it a reader adopts a killed writer's file
  // (it syncs that), writes down that the kernel failed to write a page, clears the sign of a process that was killed
  // while it replaced the file, and makes an overlay copy the file up. With it a file that needs any of this is
  // refused, and the handle does not ask the kernel for failed writes, which it tells once.
  bool no_write = false;
  // For reading a sealed file: all of it is read first, and compared with its checksums. kDamaged if it is not as it
  // was sealed, kNotSealed if it has none.
  bool verify = false;
  // The same, but where it is damaged every key is answered with "maybe", and the rest is as good as ever.
  bool tolerate_damage = false;
  // Adding is refused (kFull) while the keys added are as many as the capacity. Looked at once for each call that adds
  // one key, else once for 64 keys: writers that add at the same moment may exceed it by as many each.
  bool hard_limit = false;

  // Milliseconds that opening, syncing and closing wait for a lock that another process holds, then kBusy. 0: they do
  // not wait; kWaitForEver: they wait as long as it takes.
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  // For writing. Milliseconds after which an add that changed a bit asks the kernel whether it failed to write any page
  // of the file (that asks for no I/O); 0: each such add asks. A failure poisons the file.
  std::uint32_t writeback_check_ms = kWritebackCheckMs;

  // Of a file with Hash::kSipHash, the one that it was made with; none for any other file (else kKey). The handle keeps
  // a copy and wipes it when it ends; this one is the caller's to wipe.
  std::optional<SecretKey> key{};
};

// The size of a filter is given by exactly one of these pairs (zero means "not given"):
//   capacity and fpr            the smallest m, and its k, that keep the promise at `capacity` keys
//   capacity and bits_per_key   m = capacity * bits_per_key, and the k that is best for it
//   capacity and max_bytes      the largest m whose file (or buffer) is at most max_bytes, and its best k
//   num_bits and num_probes     m and k; with capacity too, the promised rate is computed for it, else the
//                               capacity is the one at which half of the bits are set
//   like                        m, k, n, p, layout, hash and seed of another file: one digest then serves both;
//                               its key, if it has one, is needed, and is the new one's, too
// With capacity alone, fpr is 0.01.
struct Options {
  std::uint64_t capacity = 0;    // n: distinct keys sized for
  double fpr = 0;                // p: false-positive rate wanted at `capacity` keys, 0 < p < 1
  double bits_per_key = 0;       // m / n
  std::uint64_t max_bytes = 0;   // bytes
  std::uint64_t num_bits = 0;    // m: 1..2^48; rounded up to whole blocks for the blocked layout
  std::uint32_t num_probes = 0;  // k: 1..64
  std::string like;              // path of the file whose shape is copied; it need not be clean

  std::optional<Layout> layout;       // blocked if not given
  std::optional<Hash> hash;           // XXH3-64 if not given
  std::optional<std::uint64_t> seed;  // of Hash::kXxh3 alone; random if not given
  std::optional<SecretKey> key{};     // of Hash::kSipHash, which needs one; never stored (OpenOptions)
  std::string note;                   // the owner's own words, any bytes, at most kMaxNoteBytes

  // The new filter's handle is the only one that adds, for as long as it is open, so that it adds without atomic
  // instructions (OpenMode::kExclusive). For a buffer that is the caller's promise.
  bool exclusive = false;

  // Files only.
  std::uint32_t mode = 0600;  // permission bits, less the umask
  bool replace = false;       // put the new file in the place of another, whose writers are told (kSuperseded)
  bool unpublished = false;   // no name in the file system until Filter::publish(); adds alone until then
  // Published at once, and every answer is "maybe" (kFilling) until Filter::finish_filling(): so that writers add new
  // keys while a builder adds the old ones. Not with `unpublished`.
  bool filling = false;
  MapOptions map;
  bool any_filesystem = false;                           // OpenOptions
  bool hard_limit = false;                               // OpenOptions
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;        // OpenOptions
  std::uint32_t writeback_check_ms = kWritebackCheckMs;  // OpenOptions

  // Buffers only.
  bool bare = false;  // the bare form: body and an 8-byte trailer; seed 0, no note, no capacity stored; no kSipHash
};

// Values that a filter file was made with.
struct Shape {
  Layout layout = Layout::kBlocked;
  Hash hash = Hash::kXxh3;
  std::uint32_t num_probes = 0;  // k
  std::uint64_t num_bits = 0;    // m
  std::uint64_t capacity = 0;    // n; 0 where the bare form does not say
  double fpr = 0;                // p promised at n; 0 where the bare form does not say
  std::uint64_t seed = 0;
};

// What the bits say. Counting them reads the whole body.
struct Fill {
  std::uint64_t set_bits = 0;
  double fill_ratio = 0;  // set_bits / m
  // From the fill (FORMAT.md, "Rates and estimates"): ln(1 - fill) / (k ln(1 - 1/m)), less what the logarithm of a
  // random number is too great by in the mean (Jensen's term); line by line, with m = 512, for the blocked layout.
  double estimated_keys = 0;
  double estimated_fpr = 0;  // the rate now: the mean over blocks of fill^k
};

// What the kernel says of the memory that a file is in. Asking takes longer the larger the file is.
struct MemoryUse {
  std::uint64_t huge_page_bytes = 0;  // how much of the mapping is in huge pages now
  // How much of the mapping's file is in memory now; nothing where the kernel does not tell: it tells the owner of the
  // file, and a process that may write to it.
  std::optional<std::uint64_t> resident_bytes;
};

// What is found out besides what costs nothing.
struct StatsWish {
  bool fill = false;    // counts the bits: reads the whole body
  bool memory = false;  // files only
};

struct Stats {
  Shape shape;
  std::string isa;  // of the kernel that answers: "avx512", "avx2", "neon" or "scalar"
  std::uint64_t body_bytes = 0;
  std::uint64_t keys_added = 0;  // adds that changed a bit; 0 in buffers, which keep no counter
  bool saturated = false;        // more keys were added than the capacity: the false-positive rate is above the promise
  std::optional<Fill> fill;      // only where it was asked for
  std::optional<MemoryUse> memory;  // only where it was asked for, and never of a buffer
};

}  // namespace bfstore

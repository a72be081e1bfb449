// Options to make and open a filter, and the facts that a filter reports. Plain values, no behavior.
#pragma once

#include <bfstore/error.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bfstore {

// Persisted numbers (src/format/FORMAT.md): never renumbered.
enum class Layout : std::uint16_t {
  kBlocked = 1,   // one line of 64 bytes a key, k probes in its 512 bits: a lookup costs one cache miss, one page fault
  kClassic = 2,   // Bloom's own: k probes anywhere in m bits: the lowest false-positive rate, and k cache misses
  kCounting = 3,  // 128 counters in one line of 64 bytes a key: removes keys too, at four times the size
  // Built once, from all of its keys (Options::unpublished, Filter::build), and sealed: a quarter smaller than kBlocked
  // at 1 %, a third at 0.1 %, and one page fault a lookup. No key is added later.
  kStatic = 4,
  // Keys expire (Options::window_ms): one line of 64 bytes a key, divided into a word for each of the last epochs.
  kWindow = 5,   // 8 epochs: a key is found for the window and at most a seventh of it more
  kWindow4 = 6,  // 4 epochs: at most a third more; the smallest at 1 %
  kWindow2 = 7,  // 2 epochs: at most the window once more
  // Grows, for keys of unknown number (Options::capacity_at_most): up to 5 slices of kBlocked's lines in one file, each
  // several times as large as the one before. A lookup reads a line of each slice.
  kGrowing = 8,
};

// Persisted numbers (src/format/FORMAT.md): never renumbered.
enum class Hash : std::uint16_t {
  kXxh3 = 1,      // XXH3-64 with the file's seed
  kExternal = 2,  // the caller passes digests of its own, well mixed hash, and never keys
  kSipHash = 3,   // SipHash-2-4 under a secret: for keys that strangers choose
  // These give the positions of k bits in the classic layout, and no digest (kKeyOnly): MurmurHash3_x86_32 with k
  // listed seeds, for the bits of other programs. m is at most 2^32. Do not use them for keys that strangers choose.
  kMurmur3 = 4,          // bit i of a key: mmh3.hash(key, seed[i]) % m of Python, whose hash is signed, and % floored
  kMurmur3Unsigned = 5,  // bit i of a key: mmh3.hash(key, seed[i], signed=False) % m
  // Positions by a polynomial in each seed over the UTF-16 units of the key, as in tutorials in Java. m is at
  // most 2^31 - 1. If it is not a power of two, only 2^popcount(m - 1) positions are reached, and rates and estimates
  // are those of so many bits. Keys are UTF-8; other bytes count as U+FFFD.
  kJavaPolynomial = 6,  // bit i of a key: h & (m - 1), where h = seed[i] * h + unit, a Java int, for each unit
  // Positions without seeds: those of BloomFilter in Jay Baird's python-bloomfilter (packages pybloom, pybloom-live). m
  // is a multiple of k. m and k decide the message digest. The smallest one (for at most 8 slices shorter than 2^15
  // bits, 4 shorter than 2^31, or 2) is MD5, and XXH3-128 since pybloom-live 4. With the others both hashes are equal.
  // Do not use them either for keys that strangers choose.
  kJaybird = 7,
  kPybloomLive = 8,  // of version 4 or later
  // Positions as other programs compute them (FORMAT.md, "Hashes"). They are for filters of those programs.
  kDcso = 9,            // DCSO's bloom, flor, fleur and poppy: FNV-1 and a generator
  kGuava = 10,          // Guava's BloomFilter (MURMUR128_MITZ_64)
  kGuava32 = 11,        // Guava's older strategy (MURMUR128_MITZ_32)
  kRedisBloom = 12,     // RedisBloom's BF commands (MurmurHash64A twice)
  kPybloomfilter = 13,  // pybloomfiltermmap3 (MurmurHash3_x64_128 with listed seeds)
  kLevelDb = 14,        // LevelDB's built-in filter
  kRocksDb = 15,        // RocksDB's filter of format_version 5: XXPH3 and one cache line
  kParquet = 16,        // Parquet's split-block filter: XXH64 and one block of 32 bytes
  kBitsAndBlooms = 17,  // the Go module bits-and-blooms/bloom
  kLibbloom = 18,       // the C library libbloom (murmurhash2)
  kRbloom = 19,         // rbloom with the hash function of its documentation (SHA-256)
  kJavaBytes = 20,      // ByteBufferBloomFilter of tutorials in Java
};

// The bit of a byte that comes first in a bit array: the lowest one (as in most programs in C, in Java's BitSet, and in
// Python's bitarray(endian="little")) or the highest one (Python's bitarray, unless it is told otherwise).
enum class BitOrder : std::uint32_t { kLittle = 1, kBig = 2 };

// The secret of a filter with Hash::kSipHash: 16 random bytes, which the owner keeps and no file has. Without it an
// attacker cannot choose keys that fill the filter long before its capacity, and cannot compute which absent keys it
// answers "maybe". The secret does not help against an attacker who can read it, who learns digests (they are as secret
// as the secret itself), or who may ask the filter: an absent key that once got "maybe" gets "maybe" again.
using Secret = std::array<std::uint8_t, 16>;

// Distinguishes a filter from every other one (FORMAT.md, "file_id").
using FileId = std::array<std::uint8_t, 16>;

inline constexpr std::uint32_t kMaxProbes = 64;
inline constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kLineBits = 512;
inline constexpr std::uint32_t kMaxEpochs = 8;
inline constexpr std::uint32_t kMaxSlices = 5;
inline constexpr std::uint64_t kMaxNoteBytes = 1024;

// Options for the mapping of a file into memory. By default a page comes in when it is first touched, and the mapping
// begins at a multiple of 2 MiB. A reader, or the only writer, asks for huge pages, and the system gives as many as it
// has (MemoryUse::huge_page_bytes). A page fault in a cold file then reads 2 MiB.
struct MapOptions {
  // Bring the whole file into memory now: opening takes as long as reading it, and no lookup waits for the disk later.
  // If the file is refused, only its header and last page have been read.
  bool populate = false;
  // Small pages, no read-ahead: for files that are synced often, because a sync writes every page, small or huge, that
  // holds a new bit. Every process that opens such a file should set it. Lookups in a file that is in memory are
  // slower. A file of more than seven eighths of the machine's memory, or of what its control groups (cgroups(7)) leave
  // the process, is in small pages anyway.
  bool random_access = false;
  // A page that cannot be read (an I/O error, or the file was truncated) is doubt, not SIGBUS. It puts this handle in
  // doubt for good (kFault): lookups answer "maybe"; adds, syncs and the close are errors; a file that the handle may
  // write is poisoned. The first such handle installs a handler of SIGBUS in the process, for good. It passes every
  // fault outside guarded files to the handler that was there before. A handler that is installed later must pass on
  // the faults that are not its own. SIGBUS must not be blocked in threads that use the handle. The library's code must
  // not be unloaded.
  bool guard = false;
  // For reading. The file is read into memory of this process and not mapped: for hostile files. Later changes of the
  // file (truncation, I/O errors, new keys) do not reach this handle. kNoMemory if the file is larger than the system's
  // available memory, or than the limit of the process's control groups.
  bool copy = false;
};

inline constexpr std::uint32_t kWaitForEver = UINT32_MAX;
inline constexpr std::uint32_t kLockTimeoutMs = 5000;
inline constexpr std::uint32_t kWritebackCheckMs = 100;

// Options to open a file; OpenMode has the purpose.
struct OpenOptions {
  MapOptions map{};

  // For writing. Opens an unclean, poisoned or recovering file to recover it. Until every owner has added again the
  // keys after its mark, and has called Filter::finish_recovery, every handle in every process answers "maybe". A file
  // that needs no recovery is opened as always.
  bool recover = false;
  // For writing. Opens an unclean, poisoned or recovering file as it is: keys after the marks may be missing, and get
  // "no" from now on. Only the owner of the data can know that this does not matter.
  bool accept_loss = false;
  // A dirty file that no writer has open is unclean, even if a process was merely killed: for devices that may vanish
  // and come back while the system runs.
  bool strict = false;
  // Also opens on a network filesystem (NFS, SMB, FUSE, 9p and the like), or on an overlay that cannot be written to.
  // There a reader may see an older file than the writer wrote, which makes a wrong "no".
  bool any_filesystem = false;
  // For reading. kSymlink if the last part of the path is a symbolic link; otherwise the link is followed. Writers
  // never follow one.
  bool no_follow = false;
  // For reading. The handle writes nothing at all, for audits and sandboxes. Without it a reader writes in these cases:
  // it adopts a killed writer's file (which syncs it), poisons a file if the kernel failed to write a page, clears the
  // sign of a killed superseding process, and on an overlay makes the kernel copy the file up. With it a file that
  // needs any of this is refused. The kernel reports once that it failed to write a page, and this handle does not ask.
  bool no_write = false;
  // For reading. The handle follows its path. When another file replaces its own (Filter::publish or seal with
  // `replace`), a lookup that finds it superseded opens the path again, with these options but without waiting for
  // locks, at most every 10 ms and in one thread; meanwhile others get "maybe". Filter::is_current follows at once, so
  // it notices a file that another program moved to the path. Once no call uses the old file, a later call frees it.
  // While the path has no file with the same hash and seed, or none that can be opened, the handle answers "maybe"
  // (kSuperseded). A handle whose file is in doubt for another reason (poisoned, lost) follows once the path names
  // another file. A lookup costs some 10 ns more. A Lookup of the handle is never inlined.
  bool follow = false;
  // For reading. The file that the program has open at this descriptor, instead of one at a path: for sandboxes, which
  // get descriptors and may open no paths, and for memfd_create(2). The library duplicates it, and the program keeps
  // its own. The path, which may be empty, is then only a name for messages. As with `no_write`, nothing is written.
  // Both descriptors share one open file description: the library neither uses nor moves its position, and locks of
  // that description last as long as the handle.
  std::optional<int> descriptor{};
  // For reading a sealed file: it is first read as a whole and compared with its checksums. kDamaged if it is not as it
  // was sealed, kNotSealed if it has no checksums.
  bool verify = false;
  // Like `verify`, but a damaged file is opened: keys whose bits are in a damaged part get "maybe", and the other
  // answers are as always.
  bool tolerate_damage = false;
  // Adds return kFull once the filter is at its capacity. A call with one key checks once, a call with many keys once
  // for 64 keys. So each writer that adds at the same moment may exceed the capacity by that many keys.
  bool hard_limit = false;

  // Milliseconds that opening, syncing and closing wait for each lock that another process holds; then kBusy. 0: no
  // wait. kWaitForEver: as long as it takes.
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  // For writing. Milliseconds after which an add that changed a bit asks the kernel whether it failed to write a page
  // of the file (which causes no I/O). 0: each such add asks. A failure poisons the file.
  std::uint32_t writeback_check_ms = kWritebackCheckMs;

  // For a file with Hash::kSipHash: the secret that it was made with. Empty for any other file. Otherwise kSecret. The
  // handle keeps a copy and wipes it when it ends; the caller wipes this one.
  std::optional<Secret> secret{};
};

// Part `number` (from 0) of `parts` equal parts of a filter whose keys have all their bits in one line (blocked,
// counting): its lines from lines * number / parts to lines * (number + 1) / parts. A digest belongs to the part
// hi(digest * parts). The bodies of all parts, one after the other, are the body of the whole filter. Part 0 of 1 is
// the whole filter.
struct Part {
  std::uint32_t number = 0;
  std::uint32_t parts = 1;

  // The number of the part, of `parts` parts, that has the digest's line.
  static constexpr std::uint32_t number_of(std::uint64_t digest, std::uint32_t parts) noexcept {
    __extension__ using Product = unsigned __int128;
    return static_cast<std::uint32_t>((static_cast<Product>(digest) * parts) >> 64);
  }

  bool operator==(const Part&) const noexcept = default;
};

// Exactly one of these pairs gives the size of a filter (zero means "not given"):
//   capacity and fpr            the smallest m, and its k, that keep the promise at `capacity` keys
//   capacity_at_most and fpr    as capacity and fpr, for a number of keys that nobody knows: a number that is surely
//                               enough. m is up to 2 % larger, so that it has many divisors, and a fold (SaveOptions)
//                               later brings the filter to the size for the keys that it got
//   capacity and bits_per_key   m = capacity * bits_per_key, and the k that is best for it
//   capacity and max_bytes      the largest m whose file (or buffer) is at most max_bytes, and its best k (for hashes
//                               with listed seeds, a buffer has room for 64 of them)
//   num_bits and num_probes     m and k; the promised rate is for `capacity`, if given (otherwise capacity is where
//                               half of the bits are set). With seeds, k is their number, and need not be given
//   like                        m, k, n, p, layout, hash and seed of another file: one digest serves both; needs the
//                               file's secret, if it has one, which becomes the new file's, too. A layout that is
//                               built once takes k and p, and n and m follow from the number of different keys
// With capacity or capacity_at_most alone, fpr is 0.01. With `tutorial_sizing`, capacity and fpr lead to the m and k of
// most tutorials: m = int(-n ln p / (ln 2)^2), k = int(m / n ln 2), both cut off, so that the rate is a little above
// fpr. With Hash::kJaybird and kPybloomLive they always lead to those of their program: k = ceil(log2(1 / p)), m = k *
// ceil(n |ln p| / (k (ln 2)^2)). A rate below the blocked layout's floor near 1e-8 is kSizing, and needs the classic
// layout. Hash::kParquet and kJavaBytes have k 8 whatever gives the size. In the counting layout m is a number of
// counters of 4 bits: bits_per_key is then 4 m / n. In a layout whose keys expire, n is the number of keys of the
// window, and the rate is that just before a turn.
struct Options {
  std::uint64_t capacity = 0;          // n: distinct keys sized for
  std::uint64_t capacity_at_most = 0;  // n, and the filter will be folded; not of a layout that cannot be
  double fpr = 0;                      // p: false-positive rate wanted at `capacity` keys, 0 < p < 1
  double bits_per_key = 0;             // m / n
  std::uint64_t max_bytes = 0;         // bytes of the whole file or buffer
  std::uint64_t num_bits = 0;          // m: 1..2^48; rounded up to whole blocks for the blocked and the counting layout
  std::uint32_t num_probes = 0;        // k: 1..64
  std::string like{};                  // path of the file whose shape is copied; it need not be clean

  // Blocked if not given, and classic for a hash that gives positions.
  std::optional<Layout> layout{};
  std::optional<Hash> hash{};           // XXH3-64 if not given
  std::optional<std::uint64_t> seed{};  // for Hash::kXxh3 only; random if not given
  std::optional<Secret> secret{};       // for Hash::kSipHash, which needs one; never stored (OpenOptions)
  // For hashes that take a list: one for each of the k bits of a key. 0, 1, .. k - 1 if not given.
  std::vector<std::uint32_t> seeds{};
  bool tutorial_sizing = false;
  // For a layout whose keys expire, which needs it: milliseconds for which a key is found after its last add, at least.
  std::uint64_t window_ms = 0;
  // With num_bits and num_probes: p of the header instead of the rate that these lead to, 0 < p <= 1. For filters that
  // another program sized for that rate.
  double stated_fpr = 0;
  // The new filter is this part of the filter that the numbers above describe. m is rounded up so that the number of
  // parts divides the lines. If `like` is a part, the new filter is the same part, or, if a part is given here, that
  // part of the whole filter. A digest of another part is kPart: neither added nor answered. The part's n is its share
  // of n and six standard deviations more, since chance decides which keys are in it.
  std::optional<Part> part{};
  std::string note{};  // the owner's own words, any bytes, at most kMaxNoteBytes

  // The filter's id, for builders whose filters are to be equal byte for byte; random if not given. It is not all
  // zeros. The library treats two filters with equal ids as a filter and its cp, so never write one over the other: no
  // open handle would notice. Take another id for other keys. A replica needs the seed, too.
  std::optional<FileId> file_id{};

  // The new filter's handle is the only one that adds, for as long as it is open, so that it adds without atomic
  // instructions (OpenMode::kExclusive). For a buffer that is the caller's promise.
  bool exclusive = false;

  // Files only.
  // Permission bits, less the umask. If not given: those of the file that is replaced, with its owner, its group and
  // its access list if the system allows, or 0600.
  std::optional<std::uint32_t> mode{};
  bool replace = false;      // replace another file, whose handles learn of it (kSuperseded)
  bool unpublished = false;  // no name in the file system until Filter::publish(); the only writer until then
  // Published at once, and every answer is "maybe" (kFilling) until Filter::finish_filling(), so that writers add new
  // keys while a builder adds the old ones. Not with `unpublished`.
  bool filling = false;
  MapOptions map{};
  bool any_filesystem = false;                           // OpenOptions
  bool hard_limit = false;                               // OpenOptions
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;        // OpenOptions
  std::uint32_t writeback_check_ms = kWritebackCheckMs;  // OpenOptions

  // Buffers only.
  bool bare = false;  // the bare form: body and an 8-byte trailer; seed 0, no note, no capacity stored; no kSipHash
};

// Gets each piece of a filter's body, in order, as it is read for a new file: for a caller that looks at the bits, too,
// and does not read them again. The words are those of the file, little-endian.
using WatchWords = std::function<void(std::span<const std::uint64_t> words)>;

// Options to save a filter in a new file (Filter::save).
struct SaveOptions {
  std::optional<std::uint32_t> mode{};  // of the new file, as in Options
  bool replace = false;                 // replace another file, which is not the filter's own
  bool any_filesystem = false;          // OpenOptions
  bool filling = false;                 // every answer of the new file is "maybe" until Filter::finish_filling()
  // Not 0: folding (FORMAT.md, "Folding") makes the new filter as small as it can be while its false-positive rate,
  // with its keys of now, is at most this. Its n is the number of keys with that rate. kSizing if the rate is higher
  // already.
  double fpr = 0;
  bool same_file_id = false;  // the new filter has the id of this one (Options::file_id); otherwise a random one
  // With checksums, and never written to again (seal.hpp). Then the new file may replace its own source, while no
  // process writes to that (otherwise kBusy). Not with `same_file_id` and `filling`.
  bool sealed = false;
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;  // OpenOptions
  // Only of Filter::intersect and Filter::join: the note of the new file. Otherwise that is the note of the sources, if
  // all of them have the same one.
  std::optional<std::string> note{};
  WatchWords watch{};  // only of Filter::save
};

// The note of a file that a handle asks (Filter::notes).
struct NoteOfFile {
  std::string file;  // its path, or empty if the filter is no file
  std::string note;
};

// Options to write a filter into memory (Filter::dump).
struct DumpOptions {
  bool bare = false;          // in the bare form, if that can hold it; otherwise in the embedded form
  bool same_file_id = false;  // SaveOptions
};

// Values that a filter file was made with.
struct Shape {
  Layout layout = Layout::kBlocked;
  Hash hash = Hash::kXxh3;
  std::uint32_t num_probes = 0;  // k
  std::uint64_t num_bits = 0;    // m
  std::uint64_t capacity = 0;    // n: keys sized for; 0 in the bare form
  double fpr = 0;                // p promised at n keys; 0 in the bare form
  std::uint64_t seed = 0;
};

// Facts from counting the bits, which reads the whole body.
struct Fill {
  std::uint64_t set_bits = 0;  // counting: counters that are not 0
  double fill_ratio = 0;       // set_bits / m
  // Computed from the fill (FORMAT.md, "Rates and estimates"): ln(1 - fill) / (k ln(1 - 1/m)), as Swamidass & Baldi
  // 2007, less the bias of the logarithm's mean (Jensen's term). For the blocked layout per line, with m = 512. For the
  // counting layout from the sum of the counters: a key that was added twice counts twice, and leaks of killed adds and
  // removes count, too.
  double estimated_keys = 0;
  // The interval that has the number of keys in 95 of 100 filters: 1.96 standard deviations to both sides. The upper
  // end is infinite if the filter, or a line of the blocked layout, has all of its bits set, or a counter is at 15.
  double estimated_keys_low = 0;
  double estimated_keys_high = 0;
  // The rate now: the mean over blocks of fill^k; static: over shards of 2^-k, or 1 for a damaged one.
  double estimated_fpr = 0;
  std::uint64_t counters_at_15 = 0;  // counting: no remove lowers them any more
  // Where keys expire: the estimated keys of each epoch, the current one first, then the one before it, and so on.
  // `estimated_keys` is their sum, in which a key counts once for each epoch in which it was added.
  std::array<double, kMaxEpochs> keys_of_epochs{};
};

// The kernel's facts about the file's memory. The time to ask grows with the file.
struct MemoryUse {
  std::uint64_t huge_page_bytes = 0;  // bytes of the mapping that are in huge pages now
  // The bytes of the mapped file that are in memory now. Empty if the kernel does not tell: it tells only the owner of
  // the file, and a process that may write to it.
  std::optional<std::uint64_t> resident_bytes;
};

// Facts for stats() that take time.
struct StatsWish {
  bool fill = false;    // counts the bits: reads the whole body
  bool memory = false;  // files only
};

// The epochs of a file whose keys expire.
struct Turning {
  std::uint32_t epochs = 0;     // whose keys are found, including the current one
  std::uint64_t window_ms = 0;  // Options::window_ms
  std::uint64_t epoch = 0;      // the current one, from 0; Filter::turn() takes it
  std::uint64_t turned_at = 0;  // when it began: nanoseconds since 1970
  bool due = false;             // it lasted for its time: Filter::turn() would end it
};

// The slices of a body that grows (src/format/FORMAT.md, "Growing").
struct Growing {
  // What some of the slices have together.
  struct Size {
    std::uint64_t num_bits = 0;
    std::uint64_t capacity = 0;
  };

  std::uint32_t growth = 0;       // how many times as large as the one before each slice is
  std::uint32_t num_slices = 0;   // now
  std::uint32_t most_slices = 0;  // that there may be
  Size first;                     // of the first slice
  Size now;                       // of all slices that there are now
  Size at_most;                   // of all slices that there may be

  [[nodiscard]] bool can_grow() const noexcept { return num_slices < most_slices; }
};

struct Stats {
  Shape shape;
  std::string isa;  // of the kernel that answers: "avx512", "avx2", "neon" or "scalar"
  std::uint64_t body_bytes = 0;
  std::uint64_t keys_added = 0;    // adds that changed a bit; kept after a close or a killed writer; 0 in buffers
  std::uint64_t keys_removed = 0;  // counting: removes of keys that were not certainly absent; as keys_added
  std::optional<FileId> file_id;   // none in the bare form
  Code health = Code::kOk;         // Filter::health(), of the same file as all this
  bool saturated = false;          // more keys were added (less those removed) than `capacity`: the false-positive rate
                                   // is above the promise
  std::optional<Turning> turning;  // only of a file whose keys expire
  std::optional<Growing> growing;  // only of a file that grows; `shape` and `body_bytes` are those of now
  std::optional<Fill> fill;        // only if asked for
  std::optional<MemoryUse> memory;  // only if asked for, and never for a buffer
};

}  // namespace bfstore

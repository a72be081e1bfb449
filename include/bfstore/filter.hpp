// The filter: made, opened, asked, added to, synced and closed.
//
// A Filter is a handle, movable and not copyable; destroying it closes it. A failure is a return value: no function
// throws, except where std::string runs out of memory. bfstore.h lists the codes and waits of each function, at the C
// function of that name.
// Threads: any number may use one handle at once, in every function but close(), abandon(), publish(), a move and the
// destructor, which need the handle for themselves. Any number of handles and processes may have one file open.
// C++ has no stable ABI: link the static library, or use the project as a Meson subproject.
#pragma once

#include <bfstore/compare.hpp>
#include <bfstore/error.hpp>
#include <bfstore/keys.hpp>
#include <bfstore/layout/probes.hpp>
#include <bfstore/marks.hpp>
#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bfstore {

enum class OpenMode : std::uint32_t {
  kRead = 1,       // asks only; keeps no lock and never waits for adds (OpenOptions::no_write: when it writes)
  kWrite = 2,      // asks and adds, concurrently with any number of other writers
  kExclusive = 4,  // asks and adds as the only writer; kBusy if there is another. Adds are several times as fast,
                   // because they need no atomic instructions. Threads of one handle take turns
};

class Lookup;        // inline.hpp
struct ForeignForm;  // interop.hpp
namespace store {
struct Ask;
}

class Filter {
 public:
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  // Makes a new, empty filter file at `path`, open for writing. The complete, durable file appears under its name, or
  // nothing does. Its blocks are allocated, so adding cannot run out of disk (bfstore.h: bfs_create has the limits).
  static Result<Filter> create(const std::string& path, const Options& options);

  // Opens an existing file. For writing, the file is marked dirty, durably, before this returns, so that a later crash
  // is noticed. A dirty file without a live writer is adopted if a process was merely killed in this boot: nothing is
  // lost. Any other dirty file is kUnclean: recover it (OpenOptions::recover), or make it again.
  // The environment variable BFSTORE_FORCE_ISA (scalar, avx2, avx512, neon) chooses the kernel of filters that are
  // opened or made while it is set. One that this CPU cannot run is kInvalid. Answers never depend on it.
  static Result<Filter> open(const std::string& path, OpenMode mode, const OpenOptions& options = {});

  // Opens the file for writing, or makes it if there is none; *created says which, if it is given. Any number of
  // processes may do so at once: one makes it, and each that returns has a file whose name is durable. Layout, hash,
  // seed, seeds, secret and part, where `making` gives them, must be those of the file: otherwise kMismatch or kSecret.
  // Its size, note and id may be others. No file is replaced, whatever its state: a file that cannot be opened is the
  // error of open(). kInvalid for kRead: a mistaken path would become an empty filter that calls every key absent.
  static Result<Filter> open_or_create(const std::string& path, OpenMode mode, const Options& making,
                                       const OpenOptions& opening = {}, bool* created = nullptr);

  // Reads in place an embedded filter in a file of any other format. It begins `offset` bytes into the file, a multiple
  // of 64, and is at most `max_bytes` long (0: up to the end of the file). The call takes the options `map`, `key`,
  // `any_filesystem`, `no_follow`, `no_write` and `descriptor`.
  static Result<Filter> open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                   const OpenOptions& options = {});

  // Opens parts of one whole filter for reading, as one handle that answers for all keys: each key is asked in its own
  // part, by hi(digest * N). The text file `manifest` lists the parts' files (FORMAT.md, "A set of parts"). Keys of a
  // part that is not listed, or is in doubt, get "maybe". The parts need what join() needs; otherwise kMismatch. An
  // error names the manifest, the line and the file. The call takes the options of open() for reading except `follow`
  // and `descriptor`; each part gets them. Sealing, saving, merging, comparing, marks and syncs are kInvalid: open the
  // part itself for them, or join() the parts.
  static Result<Filter> open_set(const std::string& manifest, const OpenOptions& options = {});

  // The bytes that format() needs for these options.
  static Result<std::uint64_t> required_bytes(const Options& options);

  // Makes a new, empty filter in the caller's buffer, which is 64-byte aligned, at least required_bytes() long, and
  // must outlive the handle. No file is touched: the caller saves the bytes.
  static Result<Filter> format(std::span<std::byte> buffer, const Options& options);

  // Uses a filter in the caller's buffer in place. The buffer is 64-byte aligned and must outlive the handle. `bare`:
  // the buffer is exactly body and trailer. `key`: see OpenOptions. wrap() reads and adds, wrap_to_read() only reads.
  static Result<Filter> wrap(std::span<std::byte> buffer, bool bare = false, const std::optional<Secret>& secret = {});
  static Result<Filter> wrap_to_read(std::span<const std::byte> buffer, bool bare = false,
                                     const std::optional<Secret>& secret = {});

  // Opens a filter in bytes from anywhere, at any address. The handle copies them, so the caller may free them at once.
  // They are an embedded filter, with `bare` a bare one, or a whole file that was clean (any other is the error of
  // open() for its state, mostly kUnclean). A sealed file is compared with its checksums (kDamaged). `mode`: kRead, or
  // kWrite to add, in memory alone: save() to keep the keys. `key`: OpenOptions.
  static Result<Filter> load(std::span<const std::byte> bytes, OpenMode mode = OpenMode::kRead, bool bare = false,
                             const std::optional<Secret>& secret = {});

  // Makes a new file of the filter (a file in use, a range, a buffer) with its bits, shape, seed, secret, note and
  // marks. The complete, durable, clean file appears at `path` or nothing does. Others may add meanwhile: the new file
  // has every key up to its marks, and every key whose add returned before the call. A filter in doubt (health()) is
  // not saved. The file of a buffer has no marks, and its counter of keys is 0. A bare filter has no n and p; the file
  // gets those that Options gives for m and k alone. The new file is not sealed.
  Error save(const std::string& path, const SaveOptions& options = {}) const;

  // Writes what save() saves into memory at any address, as an embedded filter or in the bare form. It needs
  // dumped_bytes(). kInvalid if the bare form cannot hold it: a note, a seed, a secret, or an m that is not a whole
  // number of words. kUnsupported if it grows. On an error no whole filter was written. Neither form has marks: call
  // list_marks() before this.
  // `bytes` becomes the number of bytes needed, even if the buffer has fewer: a handle that follows its path may need
  // another number later.
  Error dump(std::span<std::byte> buffer, const DumpOptions& options = {}, std::uint64_t* bytes = nullptr) const;
  [[nodiscard]] Result<std::uint64_t> dumped_bytes(const DumpOptions& options = {}) const;

  // Makes a filter file of these keys, which appears when it is complete; the handle only reads. If no option gives a
  // size, it is that of as many keys. kFull if there are more keys than the capacity that was given. kInvalid if no key
  // at all would replace a file. A layout to which keys are added gets them by that many threads.
  static Result<Filter> build(const std::string& path, const Options& options, const Keys& keys, unsigned threads = 1);

  // Adds every key of `from` (a file in use, a range, a buffer), while others may add to both: a union of their bits,
  // equal bit for bit to one filter of all keys. It has every key whose add to `from` returned before the call. Both
  // need the same layout, hash, seed or secret, and k; the m of `from` is that of this filter or a multiple of it (then
  // `from` is folded while it is read). Otherwise kMismatch. Marks are not merged. Call sync() to make the merged keys
  // durable. The count of keys grows by an estimate of the new ones. An error, or a kill, in the middle leaves some
  // keys of `from` here, which is harmless: merge again. kUnsupported if the layout cannot.
  Error merge(const Filter& from);

  // Makes a new file of the keys that every filter has (files in use, ranges, buffers): the intersection of their bits.
  // It has every key whose adds to all of them returned before the call, and the layout, hash, seed or secret, k, n and
  // p of the smallest filter. The others have a multiple of its number of bits (they are folded while they are read);
  // otherwise kMismatch. The new file has no marks, since it lacks keys that a log has, and the note that all sources
  // have, if it is the same one (or SaveOptions::note). Some bits are set by chance, so its rate is between the product
  // of the sources' rates and the lowest of them; stats() estimates it from the fill. The count of keys is that of a
  // filter with the same fill. The call takes neither of the options `fpr` and `same_file_id`. kUnsupported if the
  // layout cannot. If a source is in doubt, nothing appears (save()). No function intersects in place: clearing bits of
  // a filter that others have open would make a wrong "no".
  static Error intersect(std::span<const Filter* const> filters, const std::string& path,
                         const SaveOptions& options = {});

  // Makes a new file of the whole filter of these parts (files in use, ranges, buffers), in any order: their bodies one
  // after the other, equal bit for bit to one filter of all keys. It has every key whose add to its part returned
  // before the call. The parts need the same layout, hash, seed or secret, k, m and number of parts, and each part must
  // appear once: otherwise kMismatch, whose message names the part. The new file has n of the whole, no marks, and
  // the note that all parts have, if it is the same one (or SaveOptions::note); its count of keys is the sum of theirs.
  // The call takes neither of the options `fpr` and `same_file_id`.
  static Error join(std::span<const Filter* const> parts, const std::string& path, const SaveOptions& options = {});

  // Says in what this filter (A) and another one (B) differ, and how many keys each has, both have, and either has.
  // Both may be in use: each is read once, piece by piece, and every key that was added before the call counts. A
  // filter in doubt is an error, as in save(). kUnsupported if the sets of keys of the layout cannot be compared; all
  // of today's can.
  [[nodiscard]] Result<Comparison> compare(const Filter& other) const;

  // Adds the bit array of another program, which has the filter's m, k and hash: sets bit i where bit i of the array is
  // 1. The array is exactly as long as m bits need, and the bits after the last one are 0 (otherwise kInvalid). Others
  // may ask and add meanwhile. An array does not show which hash filled it or the order of its bits. If either is
  // wrong, the filter answers "no" for keys that the array has. The count of keys grows by an estimate of the new ones.
  // An error, or a kill, in the middle leaves some of the bits here, which is harmless: import them again. kUnsupported
  // if the layout is not classic.
  Error import_bits(std::span<const std::byte> bits, BitOrder order);

  // Writes the filter's m bits for another program, with zeros after the last one. The array has every key whose add
  // returned before the call. A filter in doubt is an error, as in save(). On an error every bit of `bits` is 1.
  Error export_bits(std::span<std::byte> bits, BitOrder order) const;

  // Makes a new filter file at `path`, as create() does, with the bits of another program's filter (interop.hpp). The
  // options say what the bytes do not, and only that: for the format "raw" m and k (or `like`), the hash and its seed.
  // The whole filter appears under its name, durably, or nothing does; the handle only reads. With `unpublished` the
  // handle asks and adds until it is published: so ask it first for keys that are known to be in it. kInvalid: the
  // options or the form lack what is needed, contradict the bytes, or the array is not as long as they say. kTooShort,
  // kProbes, kBits, kCapacity, kBody: the bytes are not a filter of the format. The count of keys is an estimate from
  // the bits. Takes no `filling`.
  static Result<Filter> import_foreign(const std::string& path, std::span<const std::byte> bytes,
                                       const ForeignForm& form, const Options& options);

  // Asks a file of another program in place, without making a file of it: it is mapped, shared with every process that
  // opens it, and only read. `options` says what the bytes do not, as in import_foreign(); of `opening` the call takes
  // `map`, `any_filesystem`, `no_follow` and `descriptor`. If the file has several filters, a key is in it if one of
  // them has it, unless the form names one. Such a file has no live word. So a lookup that would answer "no" asks the
  // system first whether the file has still the same bytes: inode, length and times. After a change every answer is
  // "maybe", and health() is kLost, for good. A page that cannot be read is "maybe", too (MapOptions::guard is always
  // on). A change by a process that writes through a mapping shows late or never: take a copy (MapOptions::copy) of a
  // file whose writers are not known. Bits after the last one are not looked at. A hash with digests is kUnsupported.
  // save() makes a file of it, and copies, comparisons and merges read it, unless it has several filters.
  static Result<Filter> open_foreign(const std::string& path, const ForeignForm& form, const Options& options = {},
                                     const OpenOptions& opening = {});

  // Writes the filter for another program into memory at any address. It needs exported_bytes(). The bytes have every
  // key whose add returned before the call. A filter in doubt is an error, as in save(). kUnsupported if the format has
  // no such filter. On an error every byte of the buffer is 0xff. `bytes` becomes the number of bytes needed, even if
  // the buffer has fewer.
  Error export_foreign(std::span<std::byte> buffer, const ForeignForm& form, std::uint64_t* bytes = nullptr) const;
  [[nodiscard]] Result<std::uint64_t> exported_bytes(const ForeignForm& form) const;

  // Gives a filter that was made `unpublished` its name, as the complete, durable, clean file; afterwards the handle
  // only reads. On an error nothing has appeared at the path. With `replace`, the file that had the name before is
  // superseded: its handles answer "maybe", its writers get kSuperseded.
  Error publish();

  // For a filter that was created `unpublished` to `replace` a file with writers: supersedes that file now, before
  // publish(). Keys that its writers added before are in their logs, and adds from now on are refused. So add the end
  // of those logs to this filter, and publish it: then no key is in neither file. Until then no process can open the
  // path for writing. If this handle is closed instead, the old file continues as before. publish() is kLost if other
  // code of this process closed the old file's descriptors meanwhile: writers may have added to it since. It stays
  // kLost until you call this again; then add the end of the logs again, too. If no file has the name, none is
  // superseded, and publish() replaces none. If another file got the name after this call, publish() is kBusy until you
  // call this again.
  Error supersede();

  // Closes the handle. The last writer of a file syncs it and marks it clean. If that fails, this returns why, and the
  // next open() says so, too. The handle is empty afterwards, whatever this returns. A caller that ignores the result
  // (the destructor does) loses only the news of a failed sync.
  Error close();

  // Ends the handle's work as close() does, while other threads use it: they may be in calls, and begin more. From now
  // on lookups answer "maybe", health() is kShut, and adds, syncs and questions about the file are kShut. An add that
  // was not refused is in the file. A writer syncs, marks the file clean and releases its locks. If that fails, this
  // returns why, and the handle is shut all the same, unless no memory was left (see health()). No memory is freed
  // before close(). To shut a handle again is ok. kInvalid for a buffer, whose memory is the caller's. An unpublished
  // file can no longer be published.
  Error shut();

  // Ends the handle as if its process had been killed, for finalizers: waits for no lock and no disk. Nothing that was
  // added is lost, and nothing is synced: the file stays dirty until another writer closes it or adopts it. An
  // unpublished file vanishes. The handle is empty afterwards.
  void abandon() noexcept;

  // --- One key ------------------------------------------------------------------------------------------------

  // Adds a key. Adding it again changes nothing and dirties no page. Readers in every process see it once this returns.
  // It survives a killed process at once, and a power cut once a later sync() returns ok.
  // keys() is 1 if the key was certainly new, 0 if it may have been there. If several threads add one key at the same
  // moment, more than one may get 1. On an error the key does not count as added, although some of its bits may be set.
  Count add(std::string_view key) noexcept;
  Count add_digest(std::uint64_t digest) noexcept;

  // Removes a key; for the counting layout (otherwise kUnsupported). keys() is 1, or 0 if the key was certainly not
  // there: then nothing changed. A key that was added several times is present until it was removed as often. Remove
  // only keys that were added, and each at most as often as it was added. To remove a key that was never added, or once
  // too often, can make the filter answer no for other keys that are in it. The filter cannot detect this.
  // Never repeat a remove that returned an error, or whose process was killed: it may have taken the key. Refused with
  // the code of health() unless that is kOk, also during a recovery or a filling, which take adds.
  Count remove(std::string_view key) noexcept;
  Count remove_digest(std::uint64_t digest) noexcept;

  // Counts how often the key was added and not removed, at most; keys() is 0 to 15. 15 means 15 or more, or that the
  // filter is in doubt. For the counting layout (otherwise kUnsupported).
  [[nodiscard]] Count count(std::string_view key) const noexcept;
  [[nodiscard]] Count count_digest(std::uint64_t digest) const noexcept;

  // false: the key was certainly never added. true: it may have been, or the file is in doubt (see health()).
  [[nodiscard]] bool contains(std::string_view key) const noexcept;
  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool contains_digest(std::uint64_t digest) const noexcept {
    return target_->ask(*target_, digest) != 0;
  }

  // Asks several filters about one key: lists from several sources, say. keys() is how many of them may have it; 0 is a
  // certain no of each. The key is hashed once for all neighbors in `filters` with the same hash and seed or secret.
  // which[i] is the answer of filter i: 1 maybe, 0 no. Without `which` the call ends at the first maybe, and keys() is
  // 1 then. An error of one filter (kDigestOnly, kPart) is that of the call, and makes every answer 1 that is not
  // known.
  static Count contains_any(std::span<const Filter* const> filters, std::string_view key,
                            std::span<std::uint8_t> which = {}) noexcept;

  // contains() as a number, which the C ABI returns as it is: 1 maybe, 0 a certain no, kDigestOnly for Hash::kExternal.
  // (With a hash that gives positions, every digest is maybe.)
  [[nodiscard]] std::int32_t answer(std::string_view key) const noexcept;

  // The key's digest in this file. Files with equal hash and seed (or secret) have equal digests. Empty for
  // Hash::kExternal, and for a hash that gives positions. For Hash::kSipHash it is as secret as the secret: it shows
  // where the bits are.
  [[nodiscard]] std::optional<std::uint64_t> digest(std::string_view key) const noexcept;

  // --- Many keys ----------------------------------------------------------------------------------------------
  // Keys in the caller's own form (keys.hpp). Once a filter is larger than the caches, a call with many keys costs a
  // fraction of as many single calls: the cache misses of 128 keys are under way together.

  // Adds keys. keys() is how many were certainly new. kInvalid and kDigestOnly: nothing was added. With any other code
  // some of the keys may have been added, and none counts as added.
  Count add_keys(const Keys& keys) noexcept;

  // Removes keys, as remove(). keys() is how many were not certainly absent. kInvalid, kDigestOnly and kUnsupported:
  // nothing was removed. With any other code some of the keys may have been removed, and it is not known which.
  Count remove_keys(const Keys& keys) noexcept;

  // Sets the number of threads (1 to 64) that a call with many keys to add uses from now on, if this handle is the only
  // writer and the layout is blocked or counting. A call with fewer than 16,384 keys a thread, or with nulls, uses its
  // own thread alone; one that does takes 16 bytes of memory a key while it runs, at most 64 MiB. kInvalid for a handle
  // that adds concurrently with others: let the caller's own threads add there.
  Error use_threads(unsigned threads);

  // answers[i] is 0 if key i is certainly absent or a null, otherwise 1. keys() is how many may be present. On an error
  // every answer is 1 (maybe). `answers` is at least as long as the keys.
  Count contains_keys(const Keys& keys, std::span<std::uint8_t> answers) const noexcept;

  // Fills in a selection vector: the first keys() of `indices` are the numbers of the keys that may be present,
  // ascending. On an error they are the numbers of all keys. `indices` is at least as long as the keys; values after
  // the last number are undefined. At most 2^32 keys.
  Count select_keys(const Keys& keys, std::span<std::uint32_t> indices) const noexcept;

  // counts[i] is count() of key i, 0 for a null. keys() is how many may be present. On an error every count is 15. For
  // the counting layout (otherwise kUnsupported). `counts` is at least as long as the keys.
  Count count_keys(const Keys& keys, std::span<std::uint8_t> counts) const noexcept;

  // digests[i] is the digest of key i in this file (digest()), 0 for a null. keys() is the number of keys. On an error
  // nothing is written. `digests` is at least as long as the keys.
  Count digest_keys(const Keys& keys, std::span<std::uint64_t> digests) const noexcept;

  // --- Durability ---------------------------------------------------------------------------------------------

  // An engine works in the order of bfstore.h, "The engine's protocol".

  // Makes everything that was added before the call durable, then stores `position`: the caller promises that every key
  // of that log up to the mark has returned from an add. After a crash, adding again the keys after get_mark() restores
  // the filter. In one epoch the higher mark stays; another epoch replaces epoch and mark. Mark 0 with an epoch makes
  // the owner known, so that a recovery waits for it. Mark 0 with epoch 0 stores nothing. With more than 64 owners:
  // kOwners, and the keys are durable. A failure poisons the file for every process: a failed sync cannot be retried.
  // kInvalid for a buffer.
  Error sync(const LogPosition& position = {});

  // The mark of `owner` in `epoch`, as of the last sync by any process (of a copy in memory: as of the copy). 0 means:
  // add the keys of all rows. It is 0 if the file has no mark of the owner in this epoch, or cannot be read.
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch = 0) const noexcept;

  // All marks in the file, as of the last sync by any process (of a copy in memory: as of the copy). kInvalid for a
  // buffer.
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const;

  // Forgets `owner`, durably, and frees its lane: get_mark() is 0 then, and the owner may begin again. The call first
  // makes everything durable that was added before. A recovery no longer waits for the owner: keys of its log after its
  // mark that no process adds again are answered "no" when the recovery is over. So drop an owner whose rows are gone.
  // If the other owners, at least one, have finished a recovery, this call ends it. An owner that the file does not
  // know is not an error.
  Error drop_owner(std::uint64_t owner);

  // For a handle that was opened to recover: `owner` has added again every key of its log after its mark. Durable when
  // this returns. True if the recovery is over: every owner that the file knows has finished it, or the file knows
  // none. False if it waits for other owners. It cannot wait for an owner that the file does not know: an owner that
  // adds keys calls sync() once with its epoch each time it opens the file, or has to be replayed before the last other
  // owner calls this. Until the recovery is over, every handle in every process answers "maybe", and a recoverer that
  // was killed has to begin again, from the marks. A reader that was open when a write failed may learn of it after the
  // recovery, in is_current(), and poison the file once more: reopen such readers first, or recover again.
  Result<bool> finish_recovery(std::uint64_t owner = 0);

  // For the builder of a filter that was made with Options::filling: every key that the filter is to have was added.
  // The order: make the file, let every writer open it and add its new rows, only then read the end of the log, add the
  // rows up to that end, and call this. The builder is an owner of its own (guide/engines.md, "An online build"). The
  // call makes all keys durable; from then on the filter answers, in every process that has it open. A filter that is
  // not filling is only synced, without an error.
  Error finish_filling();

  // Ends an epoch of a layout whose keys expire (kWindow and the like; otherwise kUnsupported): clears the keys of the
  // oldest epoch, and begins the next one. It writes the whole body, and syncs. Other handles add and ask meanwhile.
  // Without `from_epoch` it does so if a turn is due: an epoch, which lasts window_ms / (number of epochs - 1), is
  // over. With it, if the file is in that epoch (Stats::turning). So any number of processes may call this at once, and
  // one turn is made. False: nothing was changed. No other call makes turns. An error poisons the file if a sync
  // failed; otherwise call it again. kUnsupported on an overlay filesystem; kRecovering during a recovery; kInvalid for
  // an unpublished file, and for a filter that is not a file.
  Result<bool> turn(std::optional<std::uint64_t> from_epoch = {});

  // --- Facts --------------------------------------------------------------------------------------------------

  // A handle that follows its path has here and below the facts of its current file.
  [[nodiscard]] Shape shape() const noexcept;

  // Options::seeds, of a hash that takes them.
  [[nodiscard]] std::vector<std::uint32_t> seeds() const;

  [[nodiscard]] Part part() const noexcept;  // part 0 of 1 is a whole filter, or a set of parts

  // Options::note, empty in the bare form, and for a set, whose parts have notes of their own.
  [[nodiscard]] std::string note() const;

  // The notes of the files that this handle asks: those of a set's parts, otherwise note() alone.
  [[nodiscard]] std::vector<NoteOfFile> notes() const;

  // kOk, or why every answer is "maybe" now: kPoisoned, kLost, kSuperseded (adds are refused, too), kRecovering,
  // kFilling (adds are not refused), kFault or kShut. Reads memory, and makes no system call.
  [[nodiscard]] Code health() const noexcept;
  // True if the path still names this file, as long as it must be, and no process is replacing it. A handle of a file
  // that was replaced continues to answer "maybe". A handle of a file that another program removed or renamed continues
  // to answer from it.
  // For a range of a file: true if the path still names the file, and the filter is in its place.
  // For a handle of a descriptor, which has no path: false if the file is not whole, is superseded, or had a name when
  // it was opened and has none now. Asks the file system, and the kernel for failed writes, which poison the file.
  // kInvalid for a buffer. A reader of a sealed file in a lower layer of an overlay filesystem (a container's image)
  // learns only from this that the file was replaced or overwritten: health() and lookups stay as they were.
  [[nodiscard]] Result<bool> is_current() const;
  // Without a wish, stats() reads memory only and makes no system call.
  [[nodiscard]] Stats stats(StatsWish wish = {}) const;

  // A view for callers that inline lookups (inline.hpp). Valid until this handle is closed.
  [[nodiscard]] Lookup lookup() const noexcept;

  // For the library, and for tests with their own home.
  explicit Filter(std::unique_ptr<store::Ask> ask) noexcept;
  [[nodiscard]] BFSTORE_ALWAYS_INLINE const layout::Target& target() const noexcept { return *target_; }

 private:
  static Result<Filter> wrap_as(std::span<const std::byte> buffer, bool bare, bool writing,
                                const std::optional<Secret>& secret);
  static Result<Filter> made_of(Result<std::unique_ptr<store::Ask>> ask);
  Error save_sealed(const std::string& path, const SaveOptions& options) const;
  [[nodiscard]] Error make_name_durable() const;
  void let_go() noexcept;
  template <class Answer>
  Count answer(const Keys& keys, std::span<Answer> out) const noexcept;
  template <class Answer>
  Count answer_by_position(const Keys& keys, std::span<Answer> out) const noexcept;
  template <class Answer>
  Count answer_all(const Keys& keys, std::span<Answer> out) const noexcept;
  template <class Answer>
  Count answer_some(const Keys& keys, std::span<Answer> out) const noexcept;
  std::unique_ptr<store::Ask> ask_;
  const layout::Target* target_;  // of ask_, for calls that are inlined
};

}  // namespace bfstore

// The filter: made, opened, asked, added to, synced and closed.
//
// A Filter is a handle, movable and not copyable; destroying it closes it. No function throws except where
// std::string runs out of memory; what can fail says so in its return value.
// Threads: one handle serves any number of threads at once in every function but close(), publish(), a move and the
// destructor, which need the handle to themselves. Any number of handles and processes may have one file open.
// C++ has no stable ABI: link the static library, or use the project as a Meson subproject.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/keys.hpp>
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
  kRead = 1,       // asks only: keeps no lock, writes nothing, never waits for writers
  kWrite = 2,      // adds too, beside any number of other writers
  kExclusive = 4,  // adds as the only writer; kBusy if there is another. Adding is several times as fast as beside
                   // others, having no need of atomic instructions; threads of one handle take turns
};

class Lookup;  // inline.hpp

class Filter {
 public:
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  // Makes a new, empty filter at `path`, open for writing. The complete file appears under its name or nothing
  // does; its blocks are allocated: adding cannot run out of disk (but see bfstore.h). Durable when this returns.
  static Result<Filter> create(const std::string& path, const Options& options);

  // Opens an existing file. For writing, the file is marked dirty, durably, before this returns. A dirty file
  // without a live writer is adopted if a process was merely killed in this boot; otherwise kUnclean (see OpenOptions
  // for what then can be done).
  // The environment variable BFSTORE_FORCE_ISA (scalar, avx2, avx512, neon) chooses the kernel for everything that is
  // opened or made while it is set; one that this CPU can not run is an error. Answers never depend on it.
  static Result<Filter> open(const std::string& path, OpenMode mode, const OpenOptions& options = {});

  // Reads in place an embedded filter that lies `offset` bytes into a file and is at most `max_bytes` long
  // (0: up to the end of the file). The offset may be any multiple of 64. Read only. Of the options: `map`, `key` and
  // `any_filesystem`.
  static Result<Filter> open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                   const OpenOptions& options = {});

  // The bytes that format() needs for these options.
  static Result<std::uint64_t> required_bytes(const Options& options);

  // Makes a new, empty filter in the caller's buffer, which is 64-byte aligned, at least required_bytes() long, and
  // outlives the handle. The caller saves the bytes; nothing here touches a file.
  static Result<Filter> format(std::span<std::byte> buffer, const Options& options);

  // Uses a filter in the caller's buffer in place. The buffer is 64-byte aligned and outlives the handle. `bare`: the
  // buffer is exactly body and trailer. `key`: OpenOptions. The first reads and adds, the second only reads.
  static Result<Filter> wrap(std::span<std::byte> buffer, bool bare = false, const std::optional<SecretKey>& key = {});
  static Result<Filter> wrap_to_read(std::span<const std::byte> buffer, bool bare = false,
                                     const std::optional<SecretKey>& key = {});

  // Gives a filter that was made `unpublished` its name, as the complete, durable, clean file; afterwards the handle
  // only reads. On an error nothing has appeared at the path. With `replace`, the file that had the name before is
  // superseded: its handles answer "maybe", its writers get kSuperseded.
  Error publish();

  // For a filter that was made `unpublished` to `replace` a file with writers: supersedes that file now, before
  // publish(). What its writers added before is in their logs; what they add from now on is refused. So the caller can
  // add the end of those logs to this filter, and publish it, and no key is in neither. Until then nobody can open the
  // path for writing. Without publish() the old file goes on where it was when this handle is closed.
  Error supersede();

  // Closes; the last writer of a file syncs it and marks it clean. The handle is empty afterwards, whatever is
  // returned. Closing without looking at the outcome (the destructor) loses nothing but the news of a failed sync.
  Error close();

  // Ends the handle as if its process had been killed, for finalizers: waits for no lock and no disk. Nothing that was
  // added is lost, and nothing is synced. The handle is empty afterwards.
  void abandon() noexcept;

  // --- One key ------------------------------------------------------------------------------------------------

  // Adds a key. Adding it again changes nothing and dirties no page. Readers in any process see it once this returns;
  // it survives a killed process at once, and a power cut once a later sync() returns ok.
  // keys() is 1 if the key was certainly new, 0 if it may have been there; on a code nothing changed. Of those who add
  // one key at the same moment, several may be told 1.
  Count add(std::string_view key) noexcept;
  Count add_digest(std::uint64_t digest) noexcept;

  // false: the key was certainly never added. true: it may have been, or something is in doubt (see health()).
  [[nodiscard]] bool contains(std::string_view key) const noexcept;
  [[nodiscard]] bool contains_digest(std::uint64_t digest) const noexcept;

  // The same as a number, which the C ABI hands on as it is: 1 maybe, 0 a certain no, kDigestOnly for Hash::kExternal.
  [[nodiscard]] std::int32_t answer(std::string_view key) const noexcept;

  // The key's digest in this file; other files with equal hash and seed (or secret key) have the same. Nothing for
  // Hash::kExternal. For Hash::kSipHash it is as secret as the key: it shows where the bits are.
  [[nodiscard]] std::optional<std::uint64_t> digest(std::string_view key) const noexcept;

  // --- Many keys ----------------------------------------------------------------------------------------------
  // In whatever form the caller has them (keys.hpp). Many at once cost a fraction of as many single calls once a filter
  // is larger than the caches: the cache misses of 128 keys are under way together.

  // keys() is how many were certainly new. On a code found in the arguments nothing was added.
  Count add_keys(const Keys& keys) noexcept;

  // Into how many threads of its own (1 to 64) a call that adds many keys divides its work from now on, where this
  // handle is the only writer and the layout is blocked; calls of fewer than 16,384 keys a thread are not divided.
  // kInvalid for a handle that adds beside others: there, let threads of yours add.
  Error use_threads(unsigned threads);

  // answers[i] is 0 if key i is certainly absent, else 1; keys() is how many may be present. On a code every answer is
  // 1 (maybe). `answers` is at least as long as the keys.
  Count contains_keys(const Keys& keys, std::span<std::uint8_t> answers) const noexcept;

  // A selection vector: the first keys() of `indices` are, ascending, the numbers of the keys that may be present. On a
  // code they are the numbers of all keys. `indices` is at least as long as the keys, of which there are at most 2^32;
  // what is behind the last index is left undefined.
  Count select_keys(const Keys& keys, std::span<std::uint32_t> indices) const noexcept;

  // digests[i] is the digest of key i (digest()), 0 for a null; keys() is how many keys there are. On a code nothing is
  // written. `digests` is at least as long as the keys.
  Count digest_keys(const Keys& keys, std::span<std::uint64_t> digests) const noexcept;

  // --- Durability ---------------------------------------------------------------------------------------------

  // What an engine has to do, and in which order, is in bfstore.h, "The engine's protocol".

  // Makes everything that was added before the call durable, and then stores the position: the caller promises that
  // every key of that log up to the mark has returned from an add. After a crash, adding again what came after
  // get_mark() restores the filter. Within one epoch the higher mark stays; another epoch takes the place of epoch and
  // mark. Mark 0 with an epoch makes the owner known, so that a recovery waits for it; mark 0 and epoch 0 store
  // nothing. At most 64 owners. An error poisons the file: a sync that failed can not be retried.
  Error sync(const LogPosition& position = {});

  // The mark of the owner in that epoch, as of the last sync of any process. 0 means: add the keys of all rows. So it
  // is if the file has no mark of the owner, or has one of another epoch, or can not be read.
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch = 0) const noexcept;

  // Everything that is stored, as of the last sync of any process. kInvalid for a buffer.
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const;

  // Forgets the owner, durably, and makes its place free: get_mark() is 0 then, and nothing keeps the owner from
  // beginning again. What was added before the call is durable first. A recovery does not wait for the owner any more:
  // keys of its log that came after its mark, and that nobody adds again, are answered "no" then. So drop an owner
  // whose rows are gone. If the other owners, one at least, have said that they recovered,
  // the recovery is over with this. An owner that the file does not know is no error.
  Error drop_owner(std::uint64_t owner);

  // For a handle that was opened to recover: the owner has added again every key of its log that came after its mark.
  // Durable when this returns. True if the recovery is over (every owner that is stored has said so, or none is
  // stored), false if others are waited for. What the file does not know it can not wait for: an owner that adds keys
  // stores a position first (one sync each time it opens the file), or has to be replayed before the last one says so.
  Result<bool> finish_recovery(std::uint64_t owner = 0);

  // For the builder of a filter that was made with Options::filling: every key that the filter is to have was added.
  // Makes all of it durable, and then the filter answers, in every process that has it open. A filter that is not
  // filling stays as it is (that is no error), and is synced.
  Error finish_filling();

  // --- Facts --------------------------------------------------------------------------------------------------

  [[nodiscard]] const Shape& shape() const noexcept;
  // kOk, or why every answer is "maybe" by now: kPoisoned, kLost, kSuperseded (then adds are refused, too),
  // kRecovering, kFilling (adds are not refused then) or kFault. Reads memory, and makes no system call.
  [[nodiscard]] Code health() const noexcept;
  // Whether the path still names this file, as long as it must be, and nobody is putting another in its place: a handle
  // on a file that was replaced goes on to answer "maybe", and one on a file that was removed or renamed by other
  // programs what it knew.
  // Of a range of a file: whether the path still names the file, and the filter is in its place.
  // Asks the file system, and the kernel for failed writes. kInvalid for a buffer.
  [[nodiscard]] Result<bool> is_current() const;
  // Without a wish it reads memory, and makes no system call.
  [[nodiscard]] Stats stats(StatsWish wish = {}) const;

  // What a lookup needs, for callers who want it inlined (inline.hpp). Good until this handle is closed.
  [[nodiscard]] Lookup lookup() const noexcept;

 private:
  struct Core;
  static Result<Filter> wrap_as(std::span<const std::byte> buffer, bool bare, bool writing,
                                const std::optional<SecretKey>& key);
  explicit Filter(std::unique_ptr<Core> core) noexcept;
  template <class Answer>
  Count answer(const Keys& keys, std::span<Answer> out) const noexcept;
  template <class Answer>
  Count answer_all(const Keys& keys, std::span<Answer> out) const noexcept;
  template <class Answer>
  Count answer_some(const Keys& keys, std::span<Answer> out) const noexcept;
  std::unique_ptr<Core> core_;
};

}  // namespace bfstore

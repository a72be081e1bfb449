// A filter in memory, wherever the memory is from: digests, lookups and adds. Session has what only files have.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/shared_word.hpp"
#include "format/state.hpp"
#include "hash/placer.hpp"
#include "layout/layout.hpp"
#include "store/embedded.hpp"
#include "store/key.hpp"
#include "store/loaded.hpp"
#include "store/session.hpp"

namespace bfstore {

// Whether a handle adds, and whether as the only writer.
enum class Adding { kNever, kShared, kAlone };

struct Filter::Core {
  // On a file's session: words, live word and counters are in its mapping.
  Core(const layout::Functions& best, std::unique_ptr<store::Session> file_session, Adding how);
  // On a caller's buffer. A buffer without a live word uses a constant for both words.
  Core(const layout::Functions& best, std::uint64_t* body, const Shape& body_shape, std::uint64_t body_length,
       Adding how);
  // On an embedded filter that begins at `start`.
  Core(const layout::Functions& best, std::byte* start, const store::Embedded& embedded, Adding how);

  // Of a handle that follows its path: no file of its own, and lookups that ask the file of the moment.
  struct Follower;
  class InUse;
  Core(const layout::Functions& best, std::unique_ptr<Follower> followed, const Shape& body_shape);

  // Of a handle of parts of a whole filter: no file of its own, and lookups that ask the parts.
  struct Set;
  Core(const layout::Functions& best, std::unique_ptr<Set> parts, const Shape& whole);

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  [[nodiscard]] bool is_shut() const noexcept {
    return session != nullptr ? session->is_shut() : range != nullptr && range->is_shut();
  }
  [[nodiscard]] Code health() const noexcept;
  // kOk, or why lookups or adds, which look at this sentinel, are in doubt.
  [[nodiscard]] Code why_in_doubt(const layout::Sentinel& sentinel) const noexcept;
  [[nodiscard]] Code why_in_doubt(std::uint64_t differing) const noexcept;
  // 1 maybe, 0 a certain no.
  [[nodiscard]] std::int32_t answer(std::uint64_t digest) const noexcept { return target.ask(target, digest); }
  // Whether a lookup of this handle has no answer yet, asked before it reads its bits. The file may have been filled or
  // recovered when this handle was opened. A lookup that only looks afterwards could read its bits while a key is
  // missing, be held up until the key was added and the file answers again, and find nothing to doubt: a wrong no. No
  // file begins to be filled later.
  [[nodiscard]] bool too_early() const noexcept { return target.kernel != nullptr && not_yet(target); }
  static bool not_yet(const layout::Target& target) noexcept;
  // kDigestOnly where no keys are taken. A function of its own: it needs a stack frame.
  [[nodiscard, gnu::noinline]] std::int32_t answer_any_key(std::string_view key) const noexcept;

  [[nodiscard]] std::int32_t answer_placed(std::string_view key) const noexcept;

  // Why this filter's hash has no digest for a key.
  [[nodiscard]] Code no_digest() const noexcept { return gives_positions ? Code::kKeyOnly : Code::kDigestOnly; }
  // For a hash that gives positions: what computes them, by the file's own numbers.
  void place_as(const format::Identity& identity);
  [[nodiscard]] const std::vector<std::uint32_t>& seeds() const noexcept;
  // Whether the filter of a smaller size is the fold of this one: positions are remainders, and do not keep their
  // order.
  [[nodiscard]] bool folds() const noexcept { return row.info.can.fold && !gives_positions; }

  void look_before_too() noexcept;
  // Of a part of a whole filter: takes its own digests alone.
  void be_part(const format::Identity& identity) noexcept;
  [[nodiscard]] Part part() const noexcept {
    const format::Identity* const its = identity();
    return its != nullptr && its->part ? its->part->part : Part{};
  }
  [[nodiscard]] bool is_part() const noexcept { return target.of_part != nullptr; }

  // The mapping of the file or range that has the filter; nullptr for a buffer.
  [[nodiscard]] const region::Mapping* mapping() const noexcept {
    return session != nullptr ? &session->file().mapping() : range != nullptr ? &range->mapping() : nullptr;
  }
  // nullptr in the bare form.
  [[nodiscard]] const format::Identity* identity() const noexcept {
    if (session != nullptr) return &session->file().identity();
    if (range != nullptr) return &range->embedded().identity;
    return own_identity ? &*own_identity : nullptr;
  }
  // Why there is no session: the filter is in a buffer, or there are many.
  [[nodiscard]] Error no_session() const;
  // For what reads the bits: a set has them in several files.
  [[nodiscard]] Error check_one_body() const { return set == nullptr ? Error{} : no_session(); }
  // kOk, or why nothing can be added now. Asked once more after bits were set, because a file may be superseded at any
  // moment. What was added before that is there for the process that fills the successor; what was added after it is
  // refused. `stored`: this call added already, and has not looked since.
  [[nodiscard]] Code may_add(bool stored = false) const noexcept {
    const Code code = may_change(add_sentinel, stored);
    return code == Code::kOk && hard_limit && full() ? Code::kFull : code;
  }
  // The same for removes, which are refused wherever a lookup is in doubt. A key that a recovery or a filling has not
  // added yet has no counters of its own: to remove it would take those of other keys.
  [[nodiscard]] Code may_remove(bool stored = false) const noexcept { return may_change(target.sentinel, stored); }
  [[nodiscard]] Code may_change(const layout::Sentinel& sentinel, bool stored) const noexcept {
    if (writable && born.here() && !layout::in_doubt(sentinel)) [[likely]] {
      if (lock_ends_with && !lock_ends_with->is_there()) [[unlikely]]
        return lost_lock(stored);
      return Code::kOk;
    }
    return why_not(sentinel);
  }
  [[nodiscard]] Code why_not(const layout::Sentinel& sentinel) const noexcept;
  // kOk, or why what was just added, or removed, does not count.
  [[nodiscard]] Code was_added() const noexcept { return was_changed(add_sentinel); }
  [[nodiscard]] Code was_removed() const noexcept { return was_changed(target.sentinel); }
  [[nodiscard]] Code was_changed(const layout::Sentinel& sentinel) const noexcept;
  // Without its lock this handle adds nothing more. Always an error.
  [[nodiscard]] Code lost_lock(bool stored) const noexcept;
  // What the session's lock is now.
  void look_at_lock() noexcept;
  [[nodiscard]] bool full() const noexcept { return keys_left() >= shape.capacity; }
  [[nodiscard]] bool removes() const noexcept { return functions.counts.remove.one != nullptr; }
  Count add(std::uint64_t digest) noexcept;
  Count remove(std::uint64_t digest) noexcept;
  // An upper bound of how often the digest was added and not removed. 15 means many, or doubt.
  [[nodiscard]] std::uint64_t count(std::uint64_t digest) const noexcept;
  // Counts adds that changed a cell: of so many adds those that found one empty, or all where cells count. From time to
  // time this asks the kernel whether it failed to write the file.
  void count_adds(std::size_t all, std::size_t found_empty) noexcept { count_keys(removes() ? all : found_empty); }
  void count_keys(std::uint64_t keys) noexcept { count_in(format::kKeysAddedInStripe, keys); }
  void count_removes(std::uint64_t keys) noexcept { count_in(format::kKeysRemovedInStripe, keys); }
  void count_in(std::size_t in_stripe, std::uint64_t keys) noexcept;
  // The first time after that pause, because who opens the file has asked.
  void check_writeback_every(std::chrono::nanoseconds pause) noexcept;
  void check_writeback_in_time() noexcept;
  [[nodiscard]] std::uint64_t keys_added() const noexcept { return sum_in(format::kKeysAddedInStripe); }
  [[nodiscard]] std::uint64_t keys_removed() const noexcept { return sum_in(format::kKeysRemovedInStripe); }
  [[nodiscard]] std::uint64_t keys_left() const noexcept { return format::keys_left(keys_added(), keys_removed()); }
  [[nodiscard]] std::uint64_t sum_in(std::size_t in_stripe) const noexcept;

  // For lookups; its sentinel is the live word and the end word. It is the first member, so that the kernel gets the
  // address of this Core.
  layout::Target target;
  const layout::Row& row;
  layout::Functions functions;
  std::uint64_t* words;  // the body
  // The same for lookups and adds, which count lines from the first one of the whole filter: another address in a part.
  std::uint64_t* lines;
  Shape shape;
  store::Secret secret;                // Hash::kSipHash only
  bool gives_positions;                // the hash, which then gives no digests
  std::optional<hash::Placer> placer;  // exactly then, but for a handle that follows its path
  std::uint64_t body_bytes;
  layout::Sentinel add_sentinel;  // the same, but keys are added to a file that is filled, and by a recoverer
  region::ForkMark born;
  bool writable;
  bool hard_limit = false;
  std::optional<region::DescriptorMark> lock_ends_with;  // where other code of this process can end it
  bool alone;  // adds are plain stores: no other process adds, and here one thread at a time
  layout::Changes adds;
  unsigned threads = 1;  // for a large batch, if `alone`
  std::mutex one_at_a_time;
  std::chrono::nanoseconds writeback_check{};
  std::atomic<std::int64_t> next_writeback_check{0};  // nanoseconds of a clock
  std::byte* stripes = nullptr;                       // counters of keys added; none in buffers
  std::uint64_t own_word = 0;
  std::unique_ptr<store::Session> session;       // files only
  std::unique_ptr<store::Range> range;           // ranges of files only
  std::optional<format::Identity> own_identity;  // embedded filters in buffers, and loaded ones that are not bare
  std::unique_ptr<store::Loaded> loaded;         // loaded filters only
  std::unique_ptr<Follower> follower;            // handles that follow their path only
  std::unique_ptr<Set> set;                      // handles of parts of a whole filter only
};

namespace store {

// A word that other processes may change, at an address that is a multiple of 8.
inline const std::uint64_t* word_at(const std::byte* address) noexcept {
  return reinterpret_cast<const std::uint64_t*>(address);
}

// The functions for lookups and adds, chosen by CPU or by the environment (BFSTORE_FORCE_ISA). kUnsupported if the
// layout cannot add in this way.
Result<layout::Functions> functions_for(Layout layout, Adding how);

}  // namespace store
}  // namespace bfstore

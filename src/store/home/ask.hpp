// What answers, and what adds: words in memory, the kernel for them, and the hash. Where the words are is its Home's
// business, which is asked when something is in doubt.
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
#include "hash/positions.hpp"
#include "layout/layout.hpp"
#include "store/file/secret.hpp"
#include "store/home/home.hpp"

namespace bfstore::store {

// Whether a handle adds, and whether as the only writer.
enum class Adding { kNever, kShared, kAlone };

// The body of a filter.
struct BodyWords {
  std::uint64_t* words;
  Shape shape;
  std::uint64_t length;
};

// Of counters that other threads and processes change, one in each stripe.
std::uint64_t sum_of_stripes(const std::byte* stripes, std::size_t in_stripe) noexcept;

struct Ask {
  // Not in doubt ever. Each kind of home says what else it looks at.
  Ask(const layout::Functions& best, const BodyWords& body, Adding how, std::unique_ptr<Home> its_home);
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;

  [[nodiscard]] Code health() const noexcept { return home->health(target.sentinel); }
  // 1 maybe, 0 a certain no.
  [[nodiscard]] std::int32_t answer(std::uint64_t digest) const noexcept { return target.ask(target, digest); }
  // Whether a lookup of this handle has no answer yet, asked before it reads its bits. The file may have been filled or
  // recovered when this handle was opened. A lookup that only looks afterwards could read its bits while a key is
  // missing, be held up until the key was added and the file answers again, and find nothing to doubt: a wrong no. No
  // file begins to be filled later.
  [[nodiscard]] bool too_early() const noexcept { return target.kernel != nullptr && not_yet(target); }
  static bool not_yet(const layout::Target& target) noexcept;
  // Why this filter's hash has no digest for a key.
  [[nodiscard]] Code no_digest() const noexcept { return gives_positions ? Code::kKeyOnly : Code::kDigestOnly; }
  // For a hash that gives positions: what computes them, by the file's own numbers.
  void take_position_source(const format::Identity& identity);
  // Takes from the identity what the shape does not say.
  void settle(const format::Identity& identity);
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
  [[nodiscard]] const format::Identity* identity() const noexcept { return home->identity(); }

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
  [[nodiscard]] std::uint64_t sum_in(std::size_t in_stripe) const noexcept {
    return stripes != nullptr ? sum_of_stripes(stripes, in_stripe) : 0;
  }

  // For lookups; its sentinel is the live word and the end word. It is the first member, so that the kernel gets the
  // address of this.
  layout::Target target;
  const layout::Row& row;
  layout::Functions functions;
  std::uint64_t* words;  // the body
  // The same for lookups and adds, which count lines from the first one of the whole filter: another address in a part.
  std::uint64_t* lines;
  Shape shape;
  Secret secret;                                        // Hash::kSipHash only
  bool gives_positions;                                 // the hash, which then gives no digests
  std::optional<hash::PositionSource> position_source;  // exactly then, but for a handle that follows its path
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
  bool is_written_back = false;  // by the kernel, which is asked for errors
  bool moves = false;            // it is asked by way of Pinned: followed.hpp
  std::unique_ptr<Home> home;    // never null
};

// A word that other processes may change, at an address that is a multiple of 8.
inline const std::uint64_t* word_at(const std::byte* address) noexcept {
  return reinterpret_cast<const std::uint64_t*>(address);
}

// The functions for lookups and adds, chosen by CPU or by the environment (BFSTORE_FORCE_ISA). kUnsupported if the
// layout cannot add in this way.
Result<layout::Functions> functions_for(Layout layout, Adding how);

}  // namespace bfstore::store

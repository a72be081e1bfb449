// Answers lookups and adds keys, by words in memory, the kernel for them, and the hash. Its Home knows where the words
// are, and is asked when something is in doubt.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/shared_word.hpp"
#include "format/state.hpp"
#include "hash/positions.hpp"
#include "layout/growing.hpp"
#include "layout/layout.hpp"
#include "layout/turn.hpp"
#include "region/owners_lock.hpp"
#include "store/file/secret.hpp"
#include "store/home/home.hpp"

namespace bfstore::store {

// Says whether a handle adds, and whether it is the only writer.
enum class Adding { kNever, kShared, kAlone };

// The body of a filter.
struct BodyWords {
  std::uint64_t* words;
  Shape shape;
  std::uint64_t length;
};

// Returns the sum of counters, one in each stripe, that other threads and processes change meanwhile.
std::uint64_t sum_of_stripes(const std::byte* stripes, std::size_t in_stripe) noexcept;

// The bits of a filter whose hash gives positions.
struct PositionedBits {
  PositionedBits(const format::Identity& identity, const std::byte* at, layout::Turn its_turn);

  [[nodiscard]] bool have(std::string_view key) const noexcept { return source.are_set(key, bytes, turn.flip); }
  [[nodiscard]] bool have(std::span<const std::uint64_t> positions) const noexcept {
    return layout::contains_turned(bytes, turn, positions);
  }

  hash::PositionSource source;
  const std::byte* bytes;
  layout::Turn turn;
};

struct Ask {
  // Makes an Ask that is never in doubt. Each kind of home adds what it looks at.
  Ask(const layout::Functions& best, const BodyWords& body, Adding how, std::unique_ptr<Home> its_home);
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;

  [[nodiscard]] Code health() const noexcept { return home->health(sentinel()); }
  // The words to compare now: of a body that grows, those of its newest slice.
  [[nodiscard]] layout::Sentinel sentinel() const noexcept {
    return slices == nullptr ? target.sentinel : newest_sentinel();
  }
  // 1 maybe, 0 a certain no.
  [[nodiscard]] std::int32_t answer(std::uint64_t digest) const noexcept { return target.ask(target, digest); }
  // True if a lookup of this handle has no answer yet. A lookup calls this before it reads its bits, because the file
  // may have been in a filling or a recovery when this handle was opened. A lookup that looks only afterwards could
  // read its bits while a key is missing, be held up until the key was added and the file answers again, and find
  // nothing to doubt: a wrong no. No file begins to be filled later.
  [[nodiscard]] bool too_early() const noexcept { return target.kernel != nullptr && not_yet(target); }
  static bool not_yet(const layout::Target& target) noexcept;
  // The error if this filter's hash has no digest for a key.
  [[nodiscard]] Code no_digest() const noexcept { return gives_positions ? Code::kKeyOnly : Code::kDigestOnly; }
  // Takes from the identity what the shape does not say.
  void settle(const format::Identity& identity);
  [[nodiscard]] const std::vector<std::uint32_t>& seeds() const noexcept;
  // True if this filter can be folded to a smaller size. A filter of positions cannot: positions are remainders, and do
  // not keep their order.
  [[nodiscard]] bool folds() const noexcept { return row.info.can.fold && !gives_positions; }

  // Makes this Ask see the slices of a body that grows. `number` is the word with their number. `end_words`: each
  // slice has its end word in memory.
  void see_slices(const format::Identity& identity, const std::uint64_t* number, bool end_words);
  // The number of slices now; 1 if the body does not grow, and in doubt.
  [[nodiscard]] std::uint32_t num_slices() const noexcept {
    return slices == nullptr ? 1 : std::max(slices->load(), 1U);
  }
  [[nodiscard]] std::optional<Growing> growing() const noexcept;
  // The shape and the length of all slices of now.
  [[nodiscard]] Shape shape_of_all() const noexcept;
  [[nodiscard]] std::uint64_t bytes_of_all() const noexcept {
    return slices == nullptr ? body_bytes : body_bytes * format::times_as_many(growth, num_slices());
  }
  // Where the slices of now end, counted from `first`; UINT64_MAX if the body does not grow.
  [[nodiscard]] std::uint64_t end_in(const std::byte* first) const noexcept;
  // Calls take(words, number of words) for the body, or for each slice that it has now.
  template <class Take>
  void each_slice(Take take) const {
    if (slices == nullptr) return take(words, body_bytes / 8);
    for (const layout::Slices::One& slice : std::span(slices->of).first(num_slices()))
      take(words + slice.first_word, slice.lines * kLineBits / 64);
  }
  void look_before_too() noexcept;
  // If the identity is that of a part, makes this Ask take only that part's digests.
  void be_part(const format::Identity& identity) noexcept;
  [[nodiscard]] Part part() const noexcept {
    const format::Identity* const its = identity();
    return its != nullptr && its->part ? its->part->part : Part{};
  }
  [[nodiscard]] bool is_part() const noexcept { return target.of_part != nullptr; }
  [[nodiscard]] const format::Identity* identity() const noexcept { return home->identity(); }

  // Returns kOk, or why nothing can be added now. Asked again after bits were set, because a file may be superseded at
  // any moment. Bits that were set before that are there for the process that fills the successor; an add after that is
  // refused. `stored`: this call has added since it looked last.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  [[nodiscard]] Code may_add(bool stored = false) const noexcept {
    const Code code = may_change(adds_compare, stored);
    return code == Code::kOk && hard_limit && full() ? Code::kFull : code;
  }
  // Returns kOk, or why nothing can be removed now. Removes are refused wherever a lookup is in doubt. A key that a
  // recovery or a filling has not added yet has no counters of its own: to remove it would take those of other keys.
  [[nodiscard]] Code may_remove(bool stored = false) const noexcept { return may_change(kAll, stored); }
  [[nodiscard]] Code may_change(std::uint64_t compared, bool stored) const noexcept {
    if (writable && born.here() && !layout::in_doubt(sentinel(), compared)) [[likely]] {
      if (lock_ends_with && !lock_ends_with->is_there()) [[unlikely]]
        return lost_lock(stored);
      return Code::kOk;
    }
    return why_not(compared);
  }
  [[nodiscard, gnu::noinline]] Code why_not(std::uint64_t compared) const noexcept;
  // kOk, or why the last add, or remove, does not count.
  [[nodiscard]] Code was_added() const noexcept { return was_changed(adds_compare); }
  [[nodiscard]] Code was_removed() const noexcept { return was_changed(kAll); }
  [[nodiscard]] Code was_changed(std::uint64_t compared) const noexcept {
    all_see();
    if (const layout::Sentinel now = sentinel(); layout::in_doubt(now, compared)) [[unlikely]]
      return home->why_in_doubt(now, compared);
    return !lock_ends_with || lock_ends_with->is_there() ? Code::kOk : lost_lock(true);
  }
  // When this returns, every process sees what this thread has stored. So a process that supersedes the file finds the
  // bits of each add that did not see that. And a reader that knows, in whatever way, that an add has returned finds
  // its key. On x86 a shared add set its bits by locked instructions, which are full fences for the CPU.
  void all_see() const noexcept {
#if defined(__x86_64__) || defined(__i386__)
    if (!alone) return std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  // Ends the adds of a handle that lost its lock. Always returns an error.
  [[nodiscard, gnu::noinline]] Code lost_lock(bool stored) const noexcept;
  // Of a body that grows: after it was to grow.
  [[nodiscard, gnu::noinline]] bool full() const noexcept;
  [[nodiscard]] bool removes() const noexcept { return functions.counts.remove.one != nullptr; }
  Count add(std::uint64_t digest) noexcept;
  Count remove(std::uint64_t digest) noexcept;
  // Returns an upper bound of the number of times that the digest was added and not removed. 15 means many, or doubt.
  [[nodiscard]] std::uint64_t count(std::uint64_t digest) const noexcept;
  // Counts adds that changed a cell: the adds that found one empty, or all adds if cells are counters. From time to
  // time asks the kernel whether it failed to write the file.
  void count_adds(std::size_t all, std::size_t found_empty) noexcept { count_keys(removes() ? all : found_empty); }
  void count_keys(std::uint64_t keys) noexcept { count_in(format::kKeysAddedInStripe, keys); }
  // Counts one key, as the only writer and under its lock.
  void count_alone() noexcept;
  void count_removes(std::uint64_t keys) noexcept { count_in(format::kKeysRemovedInStripe, keys); }
  [[gnu::noinline]] void count_in(std::size_t in_stripe, std::uint64_t keys) noexcept;
  // Asks for another slice if the body is full. `before` and `after`: what this thread's counter was, and is.
  void grow_in_time(std::uint64_t before, std::uint64_t after) const noexcept;
  // kBusy: another thread or another process is doing that.
  [[nodiscard]] Code grow_for(std::uint64_t more) const noexcept;
  // The first check comes after one pause: opening the file has just checked.
  void check_writeback_every(std::chrono::nanoseconds pause) noexcept;
  void check_writeback_in_time() noexcept;
  [[nodiscard]] std::uint64_t keys_added() const noexcept { return keys_told + sum_in(format::kKeysAddedInStripe); }
  [[nodiscard]] std::uint64_t keys_removed() const noexcept { return sum_in(format::kKeysRemovedInStripe); }
  [[nodiscard]] std::uint64_t keys_left() const noexcept { return format::keys_left(keys_added(), keys_removed()); }
  [[nodiscard]] std::uint64_t sum_in(std::size_t in_stripe) const noexcept {
    return stripes != nullptr ? sum_of_stripes(stripes, in_stripe) : 0;
  }

  // For lookups: target.sentinel has the two words that they compare. It is the first member, so that a kernel gets the
  // address of this object.
  layout::Target target;
  const layout::Row& row;
  layout::Functions functions;
  std::uint64_t* words;  // the body
  // For lookups and adds: `words` minus the lines before this part, so that line numbers are those of the whole filter.
  std::uint64_t* lines;
  Shape shape;           // of the first slice, if the body grows
  KeptSecret secret;     // Hash::kSipHash only
  bool gives_positions;  // the hash gives positions, and no digests
  // If so: a key is in the filter if one of them has it. Several in a file of another program; none in a handle that
  // follows its path.
  std::vector<PositionedBits> positioned;
  std::unique_ptr<layout::Slices> slices;  // of a body that grows
  std::uint32_t growth = 1;
  bool has_live_word = true;  // otherwise a lookup asks the home before it answers "no"
  std::uint64_t body_bytes;
  // The bits of the sentinel that stop an add: neither a filling nor a recovery by this handle does.
  std::uint64_t adds_compare = kAll;
  region::ForkMark born;
  bool writable;
  bool hard_limit = false;
  std::optional<region::DescriptorMark> lock_ends_with;  // if other code of this process can end it
  bool alone;  // adds are plain stores: no other process adds, and here one thread at a time
  layout::Changes adds;
  unsigned threads = 1;  // for a large batch, if `alone`
  region::OwnersLock one_at_a_time;
  std::chrono::nanoseconds writeback_check{};
  enum class LastLook : std::uint8_t { kNone, kGood, kFailed };
  mutable std::atomic<LastLook> last_look{
      LastLook::kNone};                               // at a body that grows; failed: the next is some keys later
  std::atomic<std::int64_t> next_writeback_check{0};  // on CLOCK_MONOTONIC_COARSE, in nanoseconds
  // Lookups waited for the disk lately: so many more steps ask for pages before (cold.hpp).
  mutable std::atomic<unsigned> cold_steps{0};
  std::byte* stripes = nullptr;  // counters of keys added; none in buffers
  std::uint64_t keys_told = 0;   // by another program, which counts no more of them
  std::uint64_t own_word = 0;    // 0 for good
  bool is_written_back = false;  // by the kernel, which is asked for errors
  bool moves = false;            // calls use another one through Pinned (followed.hpp, gathered.hpp)
  std::unique_ptr<Home> home;    // never null

 private:
  [[nodiscard, gnu::noinline]] layout::Sentinel newest_sentinel() const noexcept;
};

// Returns a word that other processes may change. The address is a multiple of 8.
inline const std::uint64_t* word_at(const std::byte* address) noexcept {
  return reinterpret_cast<const std::uint64_t*>(address);
}

// Chooses the functions for lookups and adds, by CPU or by the environment (BFSTORE_FORCE_ISA). kUnsupported if the
// layout cannot add in this way.
Result<layout::Functions> functions_for(Layout layout, Adding how);

// kUnsupported if a filter in memory takes no keys, because it has no epochs that end.
Error check_memory_takes_keys(Layout layout, Adding how);

}  // namespace bfstore::store

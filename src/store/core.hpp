// A filter in memory, wherever the memory is from: digests, lookups and adds. What only files have is in Session.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/shared_word.hpp"
#include "format/state.hpp"
#include "layout/layout.hpp"
#include "store/embedded.hpp"
#include "store/key.hpp"
#include "store/session.hpp"

namespace bfstore {

// Whether a handle adds, and beside whom.
enum class Adding { kNever, kShared, kAlone };

struct Filter::Core {
  // On a file's session: words, live word and counters are in its mapping.
  Core(const layout::Functions& best, std::unique_ptr<store::Session> file_session, Adding how);
  // On a caller's buffer. Where it has no words to look at, a constant of our own stands for both.
  Core(const layout::Functions& best, std::uint64_t* body, const Shape& body_shape, std::uint64_t body_length,
       Adding how);
  // On an embedded filter that begins at `start`.
  Core(const layout::Functions& best, std::byte* start, const store::Embedded& embedded, Adding how);

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] Code health() const noexcept { return why_in_doubt(target.sentinel); }
  // kOk, or why lookups or adds, which look at this sentinel, are in doubt.
  [[nodiscard]] Code why_in_doubt(const layout::Sentinel& sentinel) const noexcept;
  // 1 maybe, 0 a certain no.
  [[nodiscard]] std::int32_t answer(std::uint64_t digest) const noexcept { return target.ask(target, digest); }
  // Whether a lookup of this handle has no answer yet, asked before it reads its bits. The file may have been filled
  // when this handle was opened. A lookup that only looks afterwards could read its bits while a key is missing, be
  // held up until the filter is filled, and find nothing to doubt: a wrong no. No file begins to be filled later.
  [[nodiscard]] bool too_early() const noexcept { return target.kernel != nullptr && not_yet(target); }
  static bool not_yet(const layout::Target& target) noexcept;
  // kDigestOnly where no keys are taken. A function of its own: it needs a stack frame.
  [[nodiscard, gnu::noinline]] std::int32_t answer_any_key(std::string_view key) const noexcept;

  void look_before_too() noexcept;

  // Of the file or range that the filter is in; nullptr for a buffer.
  [[nodiscard]] const region::Mapping* mapping() const noexcept {
    return session != nullptr ? &session->file().mapping() : range != nullptr ? &range->mapping() : nullptr;
  }
  // kOk, or why nothing can be added now. Asked once more after bits were set, for a file may be superseded at any
  // moment: what was added before that is there for who fills its successor, and what was added after is refused.
  [[nodiscard]] Code may_add() const noexcept {
    if (writable && born.here() && !layout::in_doubt(add_sentinel)) [[likely]]
      return hard_limit && full() ? Code::kFull : Code::kOk;
    return why_not();
  }
  [[nodiscard]] Code why_not() const noexcept;
  [[nodiscard]] bool full() const noexcept { return keys_added() >= shape.capacity; }
  Count add(std::uint64_t digest) noexcept;
  // Of adds that changed a bit. Now and then the kernel is asked whether it failed to write the file.
  void count_keys(std::uint64_t keys) noexcept;
  void check_writeback_in_time() noexcept;
  [[nodiscard]] std::uint64_t keys_added() const noexcept;
  [[nodiscard]] base::SharedWord stripe(std::size_t index) const noexcept;

  // For lookups; its sentinel is the live word and the end word. First, so that the kernel is jumped to with the
  // address of this Core.
  layout::Target target;
  const layout::Row& row;
  layout::Functions functions;
  std::uint64_t* words;
  Shape shape;
  store::Secret secret;  // Hash::kSipHash only
  std::uint64_t body_bytes;
  layout::Sentinel add_sentinel;  // the same; but a file is added to while it is filled, and by who recovers it
  region::ForkMark born;
  bool writable;
  bool hard_limit = false;
  bool alone;  // adds are plain: no other process adds, and here one thread at a time
  layout::Adds adds;
  unsigned threads = 1;  // that a large batch is divided among, where `alone`
  std::mutex one_at_a_time;
  std::chrono::nanoseconds writeback_check{};
  std::atomic<std::int64_t> next_writeback_check{0};  // nanoseconds of a clock
  std::byte* stripes = nullptr;                       // counters of keys added; none in buffers
  std::uint64_t own_word = 0;
  std::unique_ptr<store::Session> session;  // files only
  std::unique_ptr<store::Range> range;      // ranges of files only
};

namespace store {

// A word that others may change, at an address that is a multiple of 8.
inline const std::uint64_t* word_at(const std::byte* address) noexcept {
  return reinterpret_cast<const std::uint64_t*>(address);
}

// What lookups and adds call, chosen by CPU or by the environment (BFSTORE_FORCE_ISA). kUnsupported where the layout
// can not add in this way.
Result<layout::Functions> functions_for(Layout layout, Adding how);

}  // namespace store
}  // namespace bfstore

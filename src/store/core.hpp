// A filter in memory, wherever the memory is from: digests, lookups and adds. What only files have is in Session.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

#include "format/state.hpp"
#include "layout/layout.hpp"
#include "store/session.hpp"

namespace bfstore {

struct Filter::Core {
  // On a file's session: words, live word and counters are in its mapping.
  Core(std::unique_ptr<store::Session> file_session, bool may_write);
  // On a caller's buffer, which has no live word: a constant of our own stands for it.
  Core(std::uint64_t* body, const Shape& body_shape, std::uint64_t body_length, bool may_write);
  // On a range of a file, mapped for reading.
  Core(region::Mapping range, std::uint64_t body_offset, const Shape& body_shape, std::uint64_t body_length);

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] Code health() const noexcept {
    const std::uint64_t seen = live_word->load(std::memory_order_acquire) & ~format::kLiveSyncing;
    if (seen == healthy) [[likely]]
      return Code::kOk;
    return (seen & ~format::kLiveStates) == healthy && (seen & format::kLivePoisoned) != 0 ? Code::kPoisoned
                                                                                           : Code::kLost;
  }

  // The bits first, then the live word: if the bits were lost (a file zero-filled under the mapping), so is the word.
  [[nodiscard]] bool maybe_after(bool bits_say_maybe) const noexcept {
    if (bits_say_maybe) return true;
    std::atomic_thread_fence(std::memory_order_acquire);
    return health() != Code::kOk;
  }

  [[nodiscard]] bool contains(std::uint64_t digest) const noexcept {
    return maybe_after(functions->contains(words, geometry, digest));
  }
  [[nodiscard]] bool takes_keys() const noexcept { return shape.hash != Hash::kExternal; }
  // kOk, or why nothing can be added now.
  [[nodiscard]] Code may_add() const noexcept { return writable ? health() : Code::kReadOnly; }
  Count add(std::uint64_t digest) noexcept;
  void count_keys(std::uint64_t keys) noexcept;
  [[nodiscard]] std::uint64_t keys_added() const noexcept;
  [[nodiscard]] std::atomic_ref<std::uint64_t> stripe(std::size_t index) const noexcept;

  // `digest_at(i)` gives the i-th digest. Windows of digests are hashed, then looked up; no allocation, no lock.
  template <class DigestAt>
  Count contains_all(std::size_t count, DigestAt digest_at, std::span<std::uint8_t> answers) const noexcept;
  template <class DigestAt>
  Count add_all(std::size_t count, DigestAt digest_at) noexcept;

  const layout::Functions* functions;
  std::uint64_t* words;
  layout::Geometry geometry;
  std::atomic<std::uint64_t>* live_word;
  std::uint64_t healthy;
  Shape shape;
  std::uint64_t body_bytes;
  bool writable;
  std::byte* stripes = nullptr;  // counters of keys added; none in buffers
  std::atomic<std::uint64_t> own_live_word{1};
  std::unique_ptr<store::Session> session;  // files only
  std::unique_ptr<region::Mapping> range;   // ranges of files only
};

namespace store {

Shape shape_of(const format::Identity& identity) noexcept;

// What the words say; sizing has the formulas. Words may be shared with writers.
class FillCounter {
 public:
  explicit FillCounter(const layout::Geometry& geometry) noexcept : geometry_(geometry) {}
  // The next piece of the body, in order; a whole number of blocks except for the last.
  void take(const std::uint64_t* words, std::uint64_t num_words) noexcept;
  [[nodiscard]] Fill fill() const noexcept;

 private:
  layout::Geometry geometry_;
  std::uint64_t set_bits_ = 0;
  std::array<std::uint64_t, kBlockBits + 1> blocks_with_{};  // how many blocks have so many bits set
};

}  // namespace store
}  // namespace bfstore

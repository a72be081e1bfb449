// The live word, which a lookup compares to know whether a "no" counts, and the word behind it (FORMAT.md, "Live
// page").
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>

#include "base/bytes.hpp"
#include "base/shared_word.hpp"
#include "hash/hash.hpp"

namespace bfstore::format {

using bfstore::FileId;

// A number that depends on every bit of the id, so that ids which are counters differ in it, too. The live word has its
// upper bits; slots and sealed bodies have it as the seed of their checksums.
inline std::uint64_t id_hash(const FileId& file_id) noexcept { return hash::xxh3(file_id.data(), file_id.size(), 0); }

struct LiveWord {
  // States; persisted.
  static constexpr std::uint64_t kPoisoned = std::uint64_t{1} << 1;
  static constexpr std::uint64_t kSuperseded = std::uint64_t{1} << 2;
  static constexpr std::uint64_t kRecovering = std::uint64_t{1} << 3;
  static constexpr std::uint64_t kReplaced = std::uint64_t{1} << 4;
  static constexpr std::uint64_t kFilling = std::uint64_t{1} << 5;
  static constexpr std::uint64_t kStates = kPoisoned | kSuperseded | kRecovering | kReplaced | kFilling;
  // Another file has, or will soon have, this file's name.
  static constexpr std::uint64_t kGone = kSuperseded | kReplaced;
  // Bits 6 to 14: a later version may set them as states, in any file. Answers do not count then.
  static constexpr std::uint64_t kLaterStates = 0x7fc0;
  // Never set in a file's word, and always set in the end word: so the two differ for every file id.
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 15;
  // Always set. A handle that was shut has a page of its own without it (Mapping::replace_page): with kNever instead, a
  // lost end word could hide the bit.
  static constexpr std::uint64_t kAlways = 1;
  // The bits that the file's id decides.
  static constexpr std::uint64_t kIdBits = ~std::uint64_t{0xffff};
  // The bits that never change in a whole file.
  static constexpr std::uint64_t kFixed = ~(kStates | kLaterStates);

  std::uint64_t bits = 0;

  // The word of a file with this id, in no state.
  static LiveWord healthy(const FileId& file_id) noexcept { return {(id_hash(file_id) & kIdBits) | kAlways}; }

  // True if one of these states is set.
  [[nodiscard]] constexpr bool has(std::uint64_t states) const noexcept { return (bits & states) != 0; }
  // True if this is the word of the file with this id, in any state.
  [[nodiscard]] bool is_own(const FileId& file_id) const noexcept {
    return ((bits ^ healthy(file_id).bits) & kFixed) == 0;
  }
  // True if this is that word, and every state in it is one of this version.
  [[nodiscard]] bool is_understood(const FileId& file_id) const noexcept {
    return is_own(file_id) && !has(kLaterStates);
  }
  // True if this may be the word of a file with an unknown id. Zeros, for instance, are not.
  [[nodiscard]] bool is_of_a_file() const noexcept { return (bits & (kAlways | kNever)) == kAlways; }

  bool operator==(const LiveWord&) const noexcept = default;
};

// The epoch of a layout whose keys expire, as the live page has it (FORMAT.md, "Epochs"). It also changes when a turn
// begins to clear the oldest keys, so that a lookup notices that.
struct LiveEpoch {
  std::uint64_t word = 0;

  static constexpr LiveEpoch at(std::uint64_t epoch) noexcept { return {2 * epoch}; }
  static constexpr LiveEpoch ending(std::uint64_t epoch) noexcept { return {2 * epoch + 1}; }
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return word / 2; }
  // A turn that ends this epoch clears, or began to clear and was not finished.
  [[nodiscard]] constexpr bool is_ending() const noexcept { return word % 2 != 0; }

  bool operator==(const LiveEpoch&) const noexcept = default;
};

// The live word, *syncing*, the epoch and the number of slices in a mapped live page, which other processes read and
// change at the same time.
class SharedLiveWord {
 public:
  explicit SharedLiveWord(std::byte* live_page) noexcept
      : word_(live_page),
        syncing_(live_page + kSyncingOffset),
        epoch_(live_page + kEpochOffset),
        num_slices_(live_page + kNumSlicesOffset) {}

  [[nodiscard]] LiveWord load() const noexcept { return {word_.load()}; }
  void store(LiveWord word) const noexcept { word_.store(word.bits); }
  // Both return the old word.
  LiveWord set(std::uint64_t states) const noexcept { return {word_.fetch_or(states)}; }
  LiveWord clear(std::uint64_t states) const noexcept { return {word_.fetch_and(~states)}; }

  [[nodiscard]] bool syncing() const noexcept { return syncing_.load() != 0; }
  // Sets *syncing*. True if it was set already.
  [[nodiscard]] bool begin_sync() const noexcept { return syncing_.fetch_or(1) != 0; }
  void end_sync() const noexcept { syncing_.store(0); }

  [[nodiscard]] LiveEpoch epoch() const noexcept { return {epoch_.load()}; }
  // The turner says that it clears the oldest keys, whether or not one before it began to. False if the file is in
  // another epoch.
  [[nodiscard]] bool begin_clearing(std::uint64_t epoch) const noexcept {
    const auto ending = LiveEpoch::ending(epoch);
    return epoch_.replace(LiveEpoch::at(epoch).word, ending.word) || this->epoch() == ending;
  }
  // From now on processes add to this epoch. The slot that names it is durable.
  void begin_epoch(std::uint64_t epoch) const noexcept { epoch_.store(LiveEpoch::at(epoch).word); }
  // For a file without a name.
  void store_epoch(LiveEpoch epoch) const noexcept { epoch_.store(epoch.word); }

  [[nodiscard]] std::uint64_t num_slices() const noexcept { return num_slices_.load(); }
  // For a file that no other process uses.
  void store_num_slices(std::uint64_t number) const noexcept { num_slices_.store(number); }
  // From now on processes add to a new slice. False if the file has not `before` slices any more.
  [[nodiscard]] bool add_slice(std::uint64_t before) const noexcept { return num_slices_.replace(before, before + 1); }

  static constexpr std::size_t kSyncingOffset = 8;
  static constexpr std::size_t kEpochOffset = 16;
  static constexpr std::size_t kNumSlicesOffset = 24;

 private:
  base::SharedWord word_;  // the first word of the page
  base::SharedWord syncing_;
  base::SharedWord epoch_;
  base::SharedWord num_slices_;
};

// The word at the end of a file, and of an embedded filter, with this id. Each slice of a body that grows has another
// one.
inline std::uint64_t end_word(const FileId& file_id, std::uint32_t slice = 0) noexcept {
  return (hash::xxh3(file_id.data(), file_id.size(), 1) | LiveWord::kNever) + (std::uint64_t{slice} << 16);
}

}  // namespace bfstore::format

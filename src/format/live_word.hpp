// The live word, which a lookup compares to know whether a "no" counts (FORMAT.md, "Live page"). Numbers only.
#pragma once

#include <bfstore/options.hpp>

#include <cstdint>

#include "base/bytes.hpp"
#include "base/shared_word.hpp"

namespace bfstore::format {

using bfstore::FileId;

struct LiveWord {
  // States; persisted.
  static constexpr std::uint64_t kPoisoned = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kSuperseded = std::uint64_t{1} << 33;
  static constexpr std::uint64_t kRecovering = std::uint64_t{1} << 34;
  static constexpr std::uint64_t kSyncing = std::uint64_t{1} << 35;
  static constexpr std::uint64_t kReplaced = std::uint64_t{1} << 36;
  static constexpr std::uint64_t kFilling = std::uint64_t{1} << 38;
  static constexpr std::uint64_t kStates = kPoisoned | kSuperseded | kRecovering | kSyncing | kReplaced | kFilling;
  // Another file has, or will soon have, this file's name.
  static constexpr std::uint64_t kGone = kSuperseded | kReplaced;
  // Never set in this word, and always set in the end word: so the two differ for every file id.
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 37;
  // The handle was shut. Set in the handle's own page that replaced the file's (Mapping::replace_page), never in a
  // file.
  static constexpr std::uint64_t kShut = std::uint64_t{1} << 39;
  // Bits 40 to 47 are a generation, bits 48 to 63 a number of slices. They are data, which may change while a file is
  // in use.
  static constexpr unsigned kGenerationShift = 40;
  static constexpr unsigned kSlicesShift = 48;
  static constexpr std::uint64_t kData = ~std::uint64_t{0} << kGenerationShift;
  // The bits that the file's id decides. Bit 0 is always set.
  static constexpr std::uint64_t kIdBits = 0xfffffffe;
  // The bits that never change in a whole file.
  static constexpr std::uint64_t kFixed = ~(kStates | kData);
  // The bits that a lookup compares. *Syncing* is not among them: during a sync, answers count.
  static constexpr std::uint64_t kCompared = (kFixed | kStates) & ~kSyncing;

  std::uint64_t bits = 0;

  // The word of a file with this id: no state, generation 0, one slice.
  static LiveWord healthy(const FileId& file_id) noexcept {
    const auto id = base::load<std::uint32_t>(reinterpret_cast<const std::byte*>(file_id.data()));
    return {std::uint64_t{1} << kSlicesShift | id | 1};
  }

  // True if one of these states is set.
  [[nodiscard]] constexpr bool has(std::uint64_t states) const noexcept { return (bits & states) != 0; }
  // True if this is the word of the file with this id, in any state. No layout of this version has generations or
  // slices.
  [[nodiscard]] bool is_own(const FileId& file_id) const noexcept {
    return ((bits ^ healthy(file_id).bits) & ~kStates) == 0;
  }

  // True if this may be the word of a file of this version with an unknown id: the 27 bits that all such words share
  // are right.
  [[nodiscard]] bool is_like_ours() const noexcept { return ((bits ^ healthy({}).bits) & ~(kStates | kIdBits)) == 0; }
  // True if this may be the word of a file whose layout is of a later version. Zeros, for instance, are not.
  [[nodiscard]] bool is_like_a_later_one() const noexcept { return (bits & (1 | kNever | kShut)) == 1; }

  bool operator==(const LiveWord&) const noexcept = default;
};

// The word in a mapped live page, which other processes read and change at the same time.
class SharedLiveWord {
 public:
  explicit SharedLiveWord(std::byte* live_page) noexcept : word_(live_page) {}

  [[nodiscard]] LiveWord load() const noexcept { return {word_.load()}; }
  void store(LiveWord word) const noexcept { word_.store(word.bits); }
  // Both return the old word.
  LiveWord set(std::uint64_t states) const noexcept { return {word_.fetch_or(states)}; }
  LiveWord clear(std::uint64_t states) const noexcept { return {word_.fetch_and(~states)}; }

 private:
  base::SharedWord word_;  // the first word of the page
};

// The word at the end of a file, and of an embedded filter, with this id.
inline std::uint64_t end_word(const FileId& file_id) noexcept {
  return base::load<std::uint64_t>(reinterpret_cast<const std::byte*>(file_id.data()) + 8) | LiveWord::kNever;
}

}  // namespace bfstore::format

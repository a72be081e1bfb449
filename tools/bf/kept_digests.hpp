// The digests of keys that can be read only once. They are counted before the filter is made, and added to it
// afterwards.
#pragma once

#include "spool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bf {

// Takes 8 bytes for each key. The last digests are in memory, the others in a file without a name.
class KeptDigests {
 public:
  static constexpr std::size_t kInMemory = std::size_t{1} << 20;  // 8 MiB

  explicit KeptDigests(std::size_t in_memory = kInMemory, const char* instead = "give --capacity, which keeps nothing")
      : in_memory_(in_memory), instead_(instead) {}

  // Throws Failure if the file has no room.
  void append(std::span<const std::uint64_t> digests);
  [[nodiscard]] std::uint64_t count() const noexcept { return spooled_ + last_.size(); }

  // Calls take(digests) for all of them, in their order. Throws Failure if the file cannot be read.
  template <class Take>
  void each_piece(Take take) const {
    std::vector<std::uint64_t> piece;
    for (std::uint64_t at = 0; at < spooled_; at += piece.size()) {
      piece.resize(std::min<std::uint64_t>(kPiece, spooled_ - at));
      spool_->read(std::as_writable_bytes(std::span(piece)), at * sizeof(std::uint64_t));
      take(std::span<const std::uint64_t>(piece));
    }
    for (std::size_t at = 0; at < last_.size(); at += kPiece)
      take(std::span<const std::uint64_t>(last_).subspan(at, std::min(kPiece, last_.size() - at)));
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;

  std::size_t in_memory_;
  const char* instead_;  // see Spool
  std::vector<std::uint64_t> last_;
  std::optional<Spool> spool_;
  std::uint64_t spooled_ = 0;
};

}  // namespace bf

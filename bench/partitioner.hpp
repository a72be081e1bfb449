// What a caller can do for a filter whose call for many keys does not sort: it asks by partitions of the digests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "memory.hpp"

namespace bench {

// Sorts digests by their first bits, asks part after part, and puts the answers into the order of the digests. Its
// memory is used again.
class Partitioner {
 public:
  using Ask = std::function<std::uint64_t(std::span<const std::uint64_t>, std::span<std::uint8_t>)>;

  Partitioner(std::size_t most, Pages pages) : sorted_(most * sizeof(std::uint64_t), pages), answers_(most) {}

  // As ask(digests, answers).
  std::uint64_t contains(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers, const Ask& ask) {
    const Positions begins = begins_of(digests);
    auto* sorted = reinterpret_cast<std::uint64_t*>(sorted_.bytes().data());
    Positions ends = begins;
    for (const std::uint64_t digest : digests) sorted[ends[part_of(digest)]++] = digest;
    std::uint64_t maybes = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t size = ends[part] - begins[part];
      maybes += ask({sorted + begins[part], size}, std::span(answers_).subspan(begins[part], size));
    }
    Positions next = begins;
    for (std::size_t i = 0; i < digests.size(); ++i) answers[i] = answers_[next[part_of(digests[i])]++];
    return maybes;
  }

 private:
  static constexpr std::size_t kParts = 512;
  using Positions = std::array<std::size_t, kParts>;

  static std::size_t part_of(std::uint64_t digest) noexcept { return static_cast<std::size_t>(digest >> 55); }
  static Positions begins_of(std::span<const std::uint64_t> digests) noexcept {
    Positions counts{};
    for (const std::uint64_t digest : digests) ++counts[part_of(digest)];
    Positions begins{};
    for (std::size_t part = 1; part < kParts; ++part) begins[part] = begins[part - 1] + counts[part - 1];
    return begins;
  }

  HeapBuffer sorted_;
  std::vector<std::uint8_t> answers_;
};

}  // namespace bench

// The placement of bits as FORMAT.md describes it ("Layouts: from digest to bits"), one probe after the other: the
// oracle for the layouts. Bits are a std::set of their numbers.
#pragma once

#include <bfstore/options.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace rooms {

__extension__ using Product = unsigned __int128;

inline std::vector<std::uint64_t> model_probes(bfstore::Layout layout, std::uint64_t m, std::uint32_t k,
                                               std::uint64_t digest) {
  std::vector<std::uint64_t> bits;
  if (layout == bfstore::Layout::kBlocked) {
    const Product x = Product{digest} * (m / 512);
    const auto line = static_cast<std::uint64_t>(x >> 64);
    auto h = static_cast<std::uint32_t>(digest);
    for (std::uint32_t i = 0; i < k; ++i) {
      h = static_cast<std::uint32_t>(std::uint64_t{h} * 0x9e3779b9);
      bits.push_back(512 * line + (h >> 23));
    }
    return bits;
  }
  std::uint64_t x = digest | 1;
  for (std::uint32_t i = 0; i < k; ++i) {
    bits.push_back(static_cast<std::uint64_t>((Product{x} * m) >> 64));
    x *= 0xf1357aea2e62a9c5;
  }
  return bits;
}

class Model {
 public:
  Model(bfstore::Layout layout, std::uint64_t m, std::uint32_t k) : layout_(layout), m_(m), k_(k) {}

  // True if a bit changed.
  bool add(std::uint64_t digest) {
    const std::size_t before = bits_.size();
    for (const std::uint64_t bit : model_probes(layout_, m_, k_, digest)) bits_.insert(bit);
    return bits_.size() > before;
  }

  [[nodiscard]] bool contains(std::uint64_t digest) const {
    const auto probes = model_probes(layout_, m_, k_, digest);
    return std::all_of(probes.begin(), probes.end(), [&](std::uint64_t bit) { return bits_.count(bit) != 0; });
  }

  [[nodiscard]] const std::set<std::uint64_t>& bits() const noexcept { return bits_; }

 private:
  bfstore::Layout layout_;
  std::uint64_t m_;
  std::uint32_t k_;
  std::set<std::uint64_t> bits_;
};

}  // namespace rooms

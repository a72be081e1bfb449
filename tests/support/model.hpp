// The placement of cells as FORMAT.md describes it ("Layouts: from digest to bits"), one probe after the other: the
// oracle for the layouts. Set cells are a std::map of their numbers, to 1 or, where cells count, to the counter.
#pragma once

#include <bfstore/options.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace rooms {

__extension__ using Product = unsigned __int128;

// The number of epochs of a layout whose keys expire, otherwise 0.
constexpr std::uint64_t model_epochs(bfstore::Layout layout) {
  switch (layout) {
    case bfstore::Layout::kWindow:
      return 8;
    case bfstore::Layout::kWindow4:
      return 4;
    case bfstore::Layout::kWindow2:
      return 2;
    default:
      return 0;
  }
}

// `epoch` is that of the add.
inline std::vector<std::uint64_t> model_probes(bfstore::Layout layout, std::uint64_t m, std::uint32_t k,
                                               std::uint64_t digest, std::uint64_t epoch = 0) {
  std::vector<std::uint64_t> bits;
  if (const std::uint64_t epochs = model_epochs(layout); epochs != 0) {
    const auto line = static_cast<std::uint64_t>((Product{digest} * (m / 512)) >> 64);
    const std::uint64_t word_bits = 512 / epochs;
    auto h = static_cast<std::uint32_t>(digest);
    for (std::uint32_t i = 0; i < k; ++i) {
      h = static_cast<std::uint32_t>(std::uint64_t{h} * 0x9e3779b9);
      bits.push_back(512 * line + epoch % epochs * word_bits + (h * word_bits >> 32));
    }
    return bits;
  }
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
  if (layout == bfstore::Layout::kCounting) {
    const auto line = static_cast<std::uint64_t>((Product{digest} * (m / 128)) >> 64);
    auto h = static_cast<std::uint32_t>(digest);
    for (std::uint32_t i = 0; i < k; ++i) {
      h = static_cast<std::uint32_t>(std::uint64_t{h} * 0x9e3779b9);
      bits.push_back(128 * line + (h >> 25));
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

  // Returns whether a cell was empty.
  bool add(std::uint64_t digest) {
    const std::size_t before = cells_.size();
    for (const std::uint64_t cell : probes(digest)) {
      unsigned& value = cells_[cell];
      value = std::min(value + 1, layout_ == bfstore::Layout::kCounting ? 15U : 1U);
    }
    return cells_.size() > before;
  }

  // Returns false, and changes nothing, if the digest is certainly absent. For counting.
  bool remove(std::uint64_t digest) {
    if (!contains(digest)) return false;
    for (const std::uint64_t cell : probes(digest)) {
      unsigned& value = cells_[cell];
      if (value == 15) continue;
      if (--value == 0) cells_.erase(cell);
    }
    return true;
  }

  // Returns the least of its cells.
  [[nodiscard]] unsigned count(std::uint64_t digest) const {
    unsigned least = 15;
    for (const std::uint64_t cell : probes(digest)) {
      const auto found = cells_.find(cell);
      least = std::min(least, found == cells_.end() ? 0U : found->second);
    }
    return least;
  }

  [[nodiscard]] bool contains(std::uint64_t digest) const { return count(digest) != 0; }

  // Returns the set cells, by number.
  [[nodiscard]] const std::map<std::uint64_t, unsigned>& cells() const noexcept { return cells_; }

 private:
  // A cell that two probes reach is one cell.
  [[nodiscard]] std::set<std::uint64_t> probes(std::uint64_t digest) const {
    const auto all = model_probes(layout_, m_, k_, digest);
    return {all.begin(), all.end()};
  }

  bfstore::Layout layout_;
  std::uint64_t m_;
  std::uint32_t k_;
  std::map<std::uint64_t, unsigned> cells_;
};

}  // namespace rooms

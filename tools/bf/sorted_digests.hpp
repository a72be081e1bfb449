// The digests of keys, sorted by the part of the filter that they belong to. The bits of one part may fit into a cache,
// or into memory, when those of the whole filter do not.
#pragma once

#include "kept_digests.hpp"

#include <bfstore/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bf {

// Takes 8 bytes for each key: 16 MiB in memory, and the rest in files without names, one for each part.
class SortedDigests {
 public:
  explicit SortedDigests(std::uint32_t parts) {
    allow_files(parts);
    const std::size_t each = std::min<std::size_t>(kInMemory / parts, KeptDigests::kInMemory);
    for (std::uint32_t part = 0; part < parts; ++part) kept_.push_back(std::make_unique<KeptDigests>(each, kInstead));
    sorted_.resize(parts);
  }

  // Throws Failure if a file has no room.
  void append(std::span<const std::uint64_t> digests) {
    for (const std::uint64_t digest : digests) {
      std::vector<std::uint64_t>& same = sorted_[bfstore::Part::number_of(digest, parts())];
      same.push_back(digest);
      if (same.size() < kFew) continue;
      kept_[bfstore::Part::number_of(digest, parts())]->append(same);
      same.clear();
    }
    count_ += digests.size();
  }

  [[nodiscard]] std::uint32_t parts() const noexcept { return static_cast<std::uint32_t>(kept_.size()); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The digests of that part.
  [[nodiscard]] const KeptDigests& of(std::uint32_t part) {
    kept_[part]->append(sorted_[part]);
    sorted_[part].clear();
    return *kept_[part];
  }

 private:
  static constexpr std::size_t kInMemory = std::size_t{1} << 21;  // digests of all parts: 4 KiB each if there are 4,096
  static constexpr const char* kInstead = "leave --parts out, which takes 8 bytes of each key there";
  static constexpr std::size_t kFew = 64;  // a few cache lines at a time

  std::vector<std::unique_ptr<KeptDigests>> kept_;
  std::vector<std::vector<std::uint64_t>> sorted_;
  std::uint64_t count_ = 0;
};

}  // namespace bf

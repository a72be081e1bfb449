// Makes the digests of keys. All filters of one run share them: one seed makes them.
#pragma once

#include <bfstore/filter.hpp>

#include <array>
#include <cstdint>
#include <string_view>

#include "fail.hpp"

namespace bench {

// Any constant will do: it makes digests, answers and false-positive rates equal in every run.
inline constexpr std::uint64_t kSeed = 0x62666265'6e636800;

// Asks the library through a small filter, because only its hash room knows the hash function.
class Hasher {
 public:
  Hasher() : filter_(make_filter(buffer_)) {}
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  std::uint64_t operator()(std::string_view key) const noexcept { return *filter_.digest(key); }

 private:
  using Buffer = std::array<std::byte, 4096>;

  static bfstore::Filter make_filter(Buffer& buffer) {
    bfstore::Options options;
    options.capacity = 100;
    options.seed = kSeed;
    auto filter = bfstore::Filter::format(buffer, options);
    if (!filter) fail(filter.error().message);
    return std::move(*filter);
  }

  alignas(64) Buffer buffer_;
  bfstore::Filter filter_;
};

}  // namespace bench

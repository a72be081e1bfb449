// Keys that cannot repeat, their digests, and the questions that are asked about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hasher.hpp"

namespace bench {

// A bijection: two numbers never have the same result (David Stafford's "Mix13" of MurmurHash3's finalizer, 2011).
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Keys without gaps, of 16 to 32 bytes each, as in Arrow's columns of strings.
struct Column {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> offsets{0};

  [[nodiscard]] std::size_t size() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()) + offsets[i],
            static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

struct Keys {
  std::vector<std::uint64_t> digests;
  Column column;  // the same keys in the same order; empty if they are not needed as bytes
};

enum class Form { kDigests, kBytesToo };

// The keys with which filters for `num_keys` keys are filled and asked. They are equal for every filter and every run.
struct Population {
  Population(const Hasher& hasher, std::uint64_t num_keys);

  // Enough questions to reach every line of the filter twice or more at up to 16 bits a key, and at least a million if
  // there are as many keys.
  std::uint64_t num_queries;
  Keys added;                         // all keys that are added; the first num_queries of them are asked about
  Keys mixed;                         // present or absent at random, so that no CPU can predict the branch
  std::vector<std::uint64_t> absent;  // at least kAbsent, for measuring the false-positive rate
  std::span<const std::uint64_t> present_queries;
  std::span<const std::uint64_t> absent_queries;

  // Enough for some ten thousand false positives at 10 bits a key.
  static constexpr std::uint64_t kAbsent = 2'000'000;
  // Above this number, keys are given as digests only: a hundred million keys are 3 GB as bytes.
  static constexpr std::uint64_t kMostAsBytes = 10'000'000;
};

}  // namespace bench

// Filters of numbered digests, made alike, and their bits: what the tests of merges and of sets compare.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support.hpp"

namespace store_test {

// SplitMix64 (Steele, Lea & Flood 2014): rates are kept for well mixed digests alone.
inline std::uint64_t digest_of(std::uint64_t number) {
  std::uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

inline bfstore::Options options_of(bfstore::Layout layout, std::uint64_t units) {
  bfstore::Options options;
  options.layout = layout;
  options.seed = 7;
  options.num_bits = units * 512;
  options.num_probes = 5;
  return options;
}

inline void add_numbers(bfstore::Filter& filter, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) REQUIRE(filter.add_digest(digest_of(i)).ok());
}

// The embedded form with an id of our own: equal bytes are equal filters.
inline std::vector<std::byte> bits_of(const bfstore::Filter& filter) {
  const auto bytes = filter.dumped_bytes();
  REQUIRE(bytes.ok());
  std::vector<std::byte> buffer(*bytes);
  REQUIRE(filter.dump(buffer).ok());
  const auto body = static_cast<std::ptrdiff_t>(filter.stats().body_bytes);
  return {buffer.end() - 8 - body, buffer.end() - 8};  // a trailing word follows the body
}

}  // namespace store_test

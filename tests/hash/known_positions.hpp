// Positions that other programs computed, for tests of hashes that give positions.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "hash/positions.hpp"
#include "support/support.hpp"

namespace positions_test {

using namespace rooms;
using Numbers = std::vector<std::uint64_t>;

inline Numbers positions_of(Hash hash, std::string_view key, std::uint64_t num_bits, std::uint32_t num_probes) {
  const hash::PositionSource source(hash, num_bits, num_probes, {});
  hash::Positions positions;
  source.find(key, positions);
  return {positions.all().begin(), positions.all().end()};
}

// The bits that a filter of another program has of one key: the positions without their order.
inline Numbers bits_of(Hash hash, std::string_view key, std::uint64_t num_bits, std::uint32_t num_probes) {
  const Numbers positions = positions_of(hash, key, num_bits, num_probes);
  const std::set<std::uint64_t> bits(positions.begin(), positions.end());
  return {bits.begin(), bits.end()};
}

// Keys at each length around blocks of 8 and 16 bytes, at an address that is no multiple of 8, with bytes around them
// that must not matter. Every position is below m, and those of fewer probes are the first ones.
inline void check_edges(Hash hash, std::uint64_t num_bits, std::uint32_t num_probes) {
  std::set<Numbers> seen;
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string key(length, '\xff');
    const Numbers positions = positions_of(hash, key, num_bits, num_probes);
    CHECK(std::all_of(positions.begin(), positions.end(), [&](auto position) { return position < num_bits; }));
    CHECK(positions_of(hash, std::string_view("??" + key + "\x01").substr(2, length), num_bits, num_probes) ==
          positions);
    const Numbers fewer = positions_of(hash, key, num_bits, num_probes / 2);
    CHECK(std::equal(fewer.begin(), fewer.end(), positions.begin()));
    seen.insert(positions);
  }
  CHECK(seen.size() == 41);
  CHECK(positions_of(hash, {}, num_bits, num_probes) == positions_of(hash, "", num_bits, num_probes));
}

}  // namespace positions_test

// A lookup by positions: a key is there if all of its bits are set, and not if one of them is clear.
#include <algorithm>

#include "known_positions.hpp"

using namespace positions_test;

namespace {

constexpr std::uint64_t kBits = std::uint64_t{39} * 512 * 7;  // a multiple of every hash's unit, and of each k here

struct Bits {
  std::vector<std::byte> bytes = std::vector<std::byte>(kBits / 8 + 8);
  std::uint32_t flip;

  void change(std::uint64_t position) { bytes[(position ^ flip) / 8] ^= std::byte{1} << ((position ^ flip) % 8); }
};

void check_each_bit(const HashInfo& info, std::uint32_t num_probes, std::uint32_t flip) {
  CAPTURE(info.name);
  CAPTURE(num_probes);
  const std::vector<std::uint32_t> seeds{5, 7, 11, 13, 31, 37, 61, 67, 71, 73};
  const hash::PositionSource source(info.hash, kBits, num_probes, {seeds.begin(), seeds.begin() + num_probes});
  for (const std::string_view key : {"", "a key", "ein Schl\xc3\xbcssel", "a key that is longer than a block"}) {
    hash::Positions found;
    source.find(key, found);
    const std::set<std::uint64_t> positions(found.all().begin(), found.all().end());
    Bits bits{.flip = flip};
    CHECK_FALSE(source.are_set(key, bits.bytes.data(), flip));
    for (const std::uint64_t position : positions) bits.change(position);
    CHECK(source.are_set(key, bits.bytes.data(), flip));
    for (const std::uint64_t position : positions) {
      bits.change(position);
      CHECK_FALSE(source.are_set(key, bits.bytes.data(), flip));
      bits.change(position);
    }
  }
}

}  // namespace

TEST_CASE("a key is there if all of its bits are set, and not if any one is clear, for each hash and small k") {
  for (const HashInfo& info : hashes()) {
    if (!info.gives_positions) continue;
    for (std::uint32_t num_probes = 1; num_probes <= 10; ++num_probes) {
      if (!hash::row_of(info.hash).reaches(kBits, num_probes)) continue;
      for (const std::uint32_t flip : {0U, 7U}) check_each_bit(info, num_probes, flip);
    }
  }
}

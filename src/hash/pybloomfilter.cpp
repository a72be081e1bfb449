// The positions of pybloomfiltermmap3 in Python: MurmurHash3_x64_128 with k listed seeds.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"
#include "hash/remainder.hpp"

namespace bfstore::hash {
namespace {

void positions_of(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const Remainder remainder(numbers.num_bits);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const Murmur128 hash = murmur3_x64_128(key, numbers.seeds[i]);
    positions[i] = remainder(hash.first ^ hash.second);
  }
}

}  // namespace

constinit const Row kPybloomfilterRow{.info = gives_positions(Hash::kPybloomfilter, "pybloomfilter", true),
                                      .positions = positions_of,
                                      .counts_seeds = false};

}  // namespace bfstore::hash

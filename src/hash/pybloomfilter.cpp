// The positions of pybloomfiltermmap3 in Python: MurmurHash3_x64_128 with k listed seeds.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"

namespace bfstore::hash {
namespace {

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const Murmur128 hash = murmur3_x64_128(key, numbers.seeds[i]);
    if (!use(numbers.remainder(hash.first ^ hash.second))) return false;
  }
  return true;
};

}  // namespace

constinit const Row kPybloomfilterRow{.info = gives_positions(Hash::kPybloomfilter, "pybloomfilter", true),
                                      .probes = probes_of(kEach),
                                      .counts_seeds = false};

}  // namespace bfstore::hash

// The positions of the Go module bits-and-blooms/bloom: combinations of four numbers, those of MurmurHash3_x64_128 of
// the key and of the key with a byte 1 after it.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"

namespace bfstore::hash {
namespace {

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const auto both = murmur3_x64_128_and_longer(key);
  // Not indices: the compiler keeps these numbers in registers.
  const auto next = [&numbers, start = both.first, step = both.second](std::uint32_t i) {
    const bool takes_second = i % 4 == 1 || i % 4 == 2;
    const std::uint64_t begin = i % 2 == 0 ? start.first : start.second;
    return numbers.remainder(begin + i * (takes_second ? step.second : step.first));
  };
  return each_after_four(numbers.num_probes, next, use);
};

}  // namespace

constinit const Row kBitsAndBloomsRow{.info = gives_positions(Hash::kBitsAndBlooms, "bits-and-blooms"),
                                      .probes = probes_of(kEach)};

}  // namespace bfstore::hash

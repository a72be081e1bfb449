// The positions of the Go module bits-and-blooms/bloom: combinations of four numbers, those of MurmurHash3_x64_128 of
// the key and of the key with a byte 1 after it.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"

namespace bfstore::hash {
namespace {

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const auto [of_key, of_longer] = murmur3_x64_128_and_longer(key);
  const std::uint64_t starts[] = {of_key.first, of_key.second};
  // The steps of probes 0 to 3, and so on.
  const std::uint64_t steps[] = {of_longer.first, of_longer.second, of_longer.second, of_longer.first};
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i)
    if (!use(numbers.remainder(starts[i % 2] + i * steps[i % 4]))) return false;
  return true;
};

}  // namespace

constinit const Row kBitsAndBloomsRow{.info = gives_positions(Hash::kBitsAndBlooms, "bits-and-blooms"),
                                      .probes = probes_of(kEach)};

}  // namespace bfstore::hash

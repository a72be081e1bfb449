// What BloomFilter.writeTo() of Google's Guava writes: a byte with the strategy, a byte with k, the number of longs as
// an int, and the longs, all big-endian. Bit i is bit i mod 64 of long i / 64. hash/guava.cpp has the positions of both
// strategies. The bytes do not say n, and not which funnel makes bytes of a key.
#include <algorithm>
#include <array>

#include "hash/hash.hpp"
#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::size_t kHeaderBytes = 6;
constexpr std::uint64_t kLongBits = 64;
constexpr Limits kLimits{.kind = "a filter that Guava wrote"};

constexpr std::array kHashes{Hash::kGuava, Hash::kGuava32};

// A strategy's number is its place in Guava's enum: MURMUR128_MITZ_32, MURMUR128_MITZ_64.
constexpr std::array kHashOfStrategy{Hash::kGuava32, Hash::kGuava};

Result<Told> read_guava(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  if (first.size() < kHeaderBytes) return ends_within(kLimits, first.size());
  Fields fields(first);
  const std::size_t strategy = fields.little<std::uint8_t>();
  if (strategy >= kHashOfStrategy.size())
    return not_of_kind(Code::kMagic, kLimits, "its strategy is " + std::to_string(strategy) + ", not 0 or 1");
  const Hash hash = kHashOfStrategy[strategy];
  const std::uint32_t num_probes = fields.little<std::uint8_t>();
  const auto longs = fields.big<std::uint32_t>();
  const std::uint64_t num_bits = longs * kLongBits;
  if (Error error = check_numbers(kLimits, num_bits, num_probes); !error.ok()) return error;
  if (!hash::row_of(hash).reaches(num_bits, num_probes))
    return not_of_kind(Code::kBits, kLimits, std::to_string(longs) + " longs are too many");
  return Told{
      .hash = hash, .num_bits = num_bits, .num_probes = num_probes, .offset = kHeaderBytes, .turn = kBigEndianWords};
}

// The hash of the filter reaches no m that Guava has not.
Result<Outline> write_guava(const Saying& filter, const ForeignForm& /*form*/) {
  const auto found = std::find(kHashOfStrategy.begin(), kHashOfStrategy.end(), filter.shape.hash);
  return Outline{.head = FieldsWriter()
                             .little(static_cast<std::uint8_t>(found - kHashOfStrategy.begin()))
                             .little(static_cast<std::uint8_t>(filter.shape.num_probes))
                             .big(static_cast<std::uint32_t>(filter.shape.num_bits / kLongBits))
                             .take(),
                 .turn = kBigEndianWords};
}

}  // namespace

constinit const Row kGuavaRow{.info = {.name = "guava",
                                       .about = "what BloomFilter.writeTo() of Guava writes",
                                       .hashes = kHashes,
                                       .keys = "what the funnel writes"},
                              .read = read_guava,
                              .write = write_guava};

}  // namespace bfstore::interop

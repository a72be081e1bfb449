// What BloomFilter.writeTo() of Google's Guava writes: a byte with the strategy, a byte with k, the number of longs as
// an int, and the longs, all big-endian. Bit i is bit i mod 64 of long i / 64. hash/guava.cpp has the positions of both
// strategies. The bytes do not say n, and not which funnel makes bytes of a key.
#include <array>

#include "hash/hash.hpp"
#include "interop/fields.hpp"
#include "interop/interop.hpp"

namespace bfstore::interop {
namespace {

constexpr std::size_t kHeaderBytes = 6;
constexpr std::uint64_t kLongBits = 64;
constexpr const char* kWhose = "a filter that Guava wrote";

// A strategy's number is its place in Guava's enum.
struct Strategy {
  Hash hash;
  std::uint8_t number;
  const char* other;  // the format of the other strategy
};
constexpr Strategy kMitz64{Hash::kGuava, 1, "guava-32"}, kMitz32{Hash::kGuava32, 0, "guava"};

Error check_strategy(std::uint8_t number, const Strategy& strategy) {
  if (number == strategy.number) return {};
  if (number > 1) return not_of(Code::kMagic, kWhose, "its strategy is " + std::to_string(number) + ", not 0 or 1");
  return base::fail(Code::kHash,
                    std::string("is a filter of Guava's other strategy. Give the format ") + strategy.other + ".");
}

Result<Told> read_strategy(std::span<const std::byte> first, const Strategy& strategy) {
  if (first.size() < kHeaderBytes) return ends_in_header(first.size());
  Fields fields(first);
  if (Error error = check_strategy(fields.little<std::uint8_t>(), strategy); !error.ok()) return error;
  const std::uint32_t num_probes = fields.little<std::uint8_t>();
  const auto longs = fields.big<std::uint32_t>();
  const std::uint64_t num_bits = longs * kLongBits;
  if (Error error = check_numbers(kWhose, num_bits, num_probes, 0); !error.ok()) return error;
  if (!hash::row_of(strategy.hash).reaches(num_bits, num_probes))
    return not_of(Code::kBits, kWhose, std::to_string(longs) + " longs are too many");
  return Told{.hash = strategy.hash,
              .num_bits = num_bits,
              .num_probes = num_probes,
              .offset = kHeaderBytes,
              .turn = kBigEndianWords};
}

// The hash of the filter reaches no m that Guava has not.
Result<Outline> write_strategy(const Saying& filter, const Strategy& strategy) {
  return Outline{.head = FieldsWriter()
                             .little(strategy.number)
                             .little(static_cast<std::uint8_t>(filter.shape.num_probes))
                             .big(static_cast<std::uint32_t>(filter.shape.num_bits / kLongBits))
                             .take(),
                 .turn = kBigEndianWords};
}

constexpr std::array kHashes64{kMitz64.hash};
constexpr std::array kHashes32{kMitz32.hash};

template <const Strategy& kStrategy>
Result<Told> read(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  return read_strategy(first, kStrategy);
}

template <const Strategy& kStrategy>
Result<Outline> write(const Saying& filter, const ForeignForm& /*form*/) {
  return write_strategy(filter, kStrategy);
}

}  // namespace

constinit const Row kGuavaRow{.info = {.name = "guava",
                                       .about = "what BloomFilter.writeTo() of Guava writes",
                                       .hashes = kHashes64,
                                       .keys = "what the funnel writes"},
                              .read = read<kMitz64>,
                              .write = write<kMitz64>};
constinit const Row kGuava32Row{.info = {.name = "guava-32",
                                         .about = "the same, of Guava's older strategy",
                                         .hashes = kHashes32,
                                         .keys = "what the funnel writes"},
                                .read = read<kMitz32>,
                                .write = write<kMitz32>};

}  // namespace bfstore::interop

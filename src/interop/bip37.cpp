// A filter of Bitcoin's BIP-37 as it goes over the wire (the message filterload): the number of bytes as a CompactSize,
// the bytes, and then k and the tweak of 32 bits each, little-endian, and a byte of flags. Probe i has the seed i *
// 0xfba4c795 + tweak of MurmurHash3_x86_32. The flags say what a node adds to its copy later; a file of bfstore does
// not keep them.
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kMurmur3Unsigned};
constexpr std::uint32_t kSeedStep = 0xfba4c795;
constexpr std::uint64_t kMostBytes = 36'000;
constexpr std::uint32_t kMostProbes = 50;
constexpr std::size_t kTailBytes = 9;
constexpr std::uint8_t kMostFlags = 2, kUpdateNone = 0;
constexpr std::uint64_t kLeastInThree = 253;  // a CompactSize of this or more has three bytes: this one, and a u16
constexpr Limits kLimits{.kind = "a filter of BIP-37"};

std::vector<std::uint32_t> seeds_of(std::uint32_t count, std::uint32_t tweak) {
  std::vector<std::uint32_t> seeds(count);
  for (std::uint32_t i = 0; i < count; ++i) seeds[i] = i * kSeedStep + tweak;
  return seeds;
}

// The number of data bytes, and of the bytes that say it.
struct Length {
  std::uint64_t data;
  std::size_t own;
};

Result<Length> read_length(std::span<const std::byte> first) {
  if (first.empty()) return ends_within(kLimits, 0);
  Fields fields(first);
  Length length{fields.little<std::uint8_t>(), 1};
  if (length.data == kLeastInThree) {
    if (first.size() < 3) return ends_within(kLimits, first.size());
    length = {fields.little<std::uint16_t>(), 3};
    if (length.data < kLeastInThree) return not_of_kind(Code::kBits, kLimits, "its length is not a CompactSize");
  }
  if (length.data == 0) {
    return base::fail(Code::kBits, "has no bits, so that it matches every key. Nothing can be asked of it.");
  }
  if (length.data <= kMostBytes && first[0] <= std::byte{kLeastInThree}) return length;
  return not_of_kind(Code::kBits, kLimits, "it has more than 36,000 bytes");
}

Error check_tail(std::uint32_t num_probes, std::uint8_t flags) {
  if (num_probes == 0) {
    return base::fail(Code::kProbes, "has no probes, so that it matches every key. Nothing can be asked of it.");
  }
  if (num_probes > kMostProbes)
    return not_of_kind(Code::kProbes, kLimits, "k is " + std::to_string(num_probes) + ", not from 1 to 50");
  if (flags <= kMostFlags) return {};
  return not_of_kind(Code::kReserved, kLimits, "its flags are " + std::to_string(flags) + ", not from 0 to 2");
}

Result<Told> read_bip37(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  const auto length = read_length(first);
  if (!length) return length.error();
  const std::uint64_t tail = length->own + length->data;
  if (first.size() < tail + kTailBytes) return ends_within(kLimits, first.size());
  Fields fields(first.subspan(tail));
  const auto num_probes = fields.little<std::uint32_t>();
  const auto tweak = fields.little<std::uint32_t>();
  if (Error error = check_tail(num_probes, fields.little<std::uint8_t>()); !error.ok()) return error;
  return Told{.hash = Hash::kMurmur3Unsigned,
              .num_bits = 8 * length->data,
              .num_probes = num_probes,
              .seeds = seeds_of(num_probes, tweak),
              .offset = length->own,
              .tail_bytes = kTailBytes};
}

Error check_exported(const Saying& filter) {
  const Shape& shape = filter.shape;
  if (shape.num_bits % 8 != 0 || shape.num_bits > 8 * kMostBytes || shape.num_probes > kMostProbes) {
    return base::fail(Code::kUnsupported,
                      "a filter of BIP-37 has whole bytes, at most 36,000 of them, and at most 50 probes. Make one of "
                      "such an m and k.");
  }
  if (filter.seeds == seeds_of(shape.num_probes, filter.seeds.front())) return {};
  return base::fail(Code::kUnsupported,
                    "its seeds are not those of BIP-37, each 0xfba4c795 more than the one before. Make a filter of "
                    "such seeds.");
}

Result<Outline> write_bip37(const Saying& filter, const ForeignForm& /*form*/) {
  if (Error error = check_exported(filter); !error.ok()) return error;
  const std::uint64_t bytes = filter.shape.num_bits / 8;
  FieldsWriter head;
  if (bytes < kLeastInThree) {
    head.little(static_cast<std::uint8_t>(bytes));
  } else {
    head.little(static_cast<std::uint8_t>(kLeastInThree)).little(static_cast<std::uint16_t>(bytes));
  }
  FieldsWriter tail;
  tail.little(filter.shape.num_probes).little(filter.seeds.front()).little(kUpdateNone);
  return Outline{.head = head.take(), .tail = tail.take()};
}

}  // namespace

constinit const Row kBip37Row{.info = {.name = "bip37",
                                       .about = "Bitcoin's filters of BIP-37 on the wire",
                                       .hashes = kHashes,
                                       .keys = "the bytes of a script or a transaction"},
                              .read = read_bip37,
                              .write = write_bip37};

}  // namespace bfstore::interop

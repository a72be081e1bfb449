// The chunks of BF.SCANDUMP of RedisBloom, one after the other: 20 bytes about the chain of filters, 53 bytes about
// each of them, and then the bits of each, all little-endian. A key is in the chain if one of the filters has it.
// hash/redisbloom.cpp has the positions of its keys.
#include <algorithm>
#include <array>
#include <cmath>

#include "hash/hash.hpp"
#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kRedisBloom};
constexpr std::size_t kHeaderBytes = 20, kLinkBytes = 53;
constexpr std::uint32_t kMostLinks =
    1024;  // each has twice the keys of the one before, unless its maker says otherwise
constexpr Limits kLimits{.kind = "a dump of RedisBloom"};

// Flags of a chain.
constexpr std::uint32_t kNoRound = 1, kOfBits = 2, kForce64 = 4, kNoScaling = 8;
constexpr std::uint32_t kKnown = kNoRound | kOfBits | kForce64 | kNoScaling;
constexpr std::uint32_t kUsualGrowth = 2;

struct Chain {
  std::uint64_t keys;
  std::uint32_t num_links;
  std::uint32_t flags;
  std::uint32_t growth;
};

Error check_chain(const Chain& chain) {
  if ((chain.flags & ~kKnown) != 0) return not_of_kind(Code::kReserved, kLimits, "it has unknown flags");
  if (chain.num_links == 0) return not_of_kind(Code::kBody, kLimits, "it has no filters");
  if ((chain.flags & kForce64) == 0) {
    return base::fail(Code::kUnsupported,
                      "is a dump of RedisBloom's oldest filters, which have a hash of 32 bits. Add their keys to a new "
                      "filter.");
  }
  if (chain.num_links <= kMostLinks) return {};
  return base::fail(Code::kUnsupported, "is a dump of RedisBloom with " + std::to_string(chain.num_links) +
                                            " filters, and at most 1024 are read.");
}

Result<Chain> read_chain(const Source& source) {
  std::array<std::byte, kHeaderBytes> header{};
  if (source.size() < header.size()) return ends_within(kLimits, source.size());
  if (Error error = source.read(header, 0); !error.ok()) return error;
  Fields fields(header);
  Chain chain{};
  chain.keys = fields.little<std::uint64_t>();
  chain.num_links = fields.little<std::uint32_t>();
  chain.flags = fields.little<std::uint32_t>();
  chain.growth = fields.little<std::uint32_t>();
  if (Error error = check_chain(chain); !error.ok()) return error;
  return chain;
}

Error check_link(const Told& told, std::uint64_t bytes, std::uint64_t bits, std::uint8_t log2_bits) {
  if (Error error = check_promise(kLimits, told.capacity, told.fpr); !error.ok()) return error;
  if (bits == 0 || bits > kMaxBits || bits / 8 != bytes || log2_bits > 48)
    return not_of_kind(Code::kBits, kLimits,
                       "m is " + std::to_string(bits) + ", with " + std::to_string(bytes) + " bytes");
  if (Error error = check_numbers(kLimits, told.num_bits, told.num_probes); !error.ok()) return error;
  if (told.num_bits > bits || !hash::row_of(Hash::kRedisBloom).reaches(told.num_bits, told.num_probes))
    return not_of_kind(Code::kBits, kLimits, "m is " + std::to_string(told.num_bits) + ", not a multiple of 64");
  return {};
}

constexpr double kLn2 = 0.693147180559945;  // RedisBloom's own digits

// The numbers that decide the positions of a key are there twice, m as its logarithm where RedisBloom rounded it, and k
// as the bits for each key that it is computed from. So a changed number is an error, and not another filter, which
// would answer "no" for keys that it has.
bool agrees(std::uint32_t flags, std::uint64_t bits, std::uint8_t log2_bits, double bits_per_key,
            std::uint32_t probes) {
  const bool is_rounded = log2_bits != 0;
  if (is_rounded && (flags & (kNoRound | kOfBits)) == kNoRound) return false;
  if (is_rounded && bits != std::uint64_t{1} << log2_bits) return false;
  return std::ceil(kLn2 * bits_per_key) == probes;
}

// The first versions rounded m up to a power of two, and say its logarithm. Otherwise that is 0.
Result<Told> read_link(std::span<const std::byte> bytes_of_link, std::uint32_t flags, std::uint64_t offset) {
  Fields fields(bytes_of_link);
  const auto bytes = fields.little<std::uint64_t>();
  const auto bits = fields.little<std::uint64_t>();
  Told told{.hash = Hash::kRedisBloom, .keeps_rate = true, .offset = offset};
  told.keys = fields.little<std::uint64_t>();
  told.fpr = fields.little_double();
  const double bits_per_key = fields.little_double();
  told.num_probes = fields.little<std::uint32_t>();
  told.capacity = fields.little<std::uint64_t>();
  const auto log2_bits = fields.little<std::uint8_t>();
  told.num_bits = log2_bits == 0 ? bits : std::uint64_t{1} << std::min<std::uint8_t>(log2_bits, 63);
  if (Error error = check_link(told, bytes, bits, log2_bits); !error.ok()) return error;
  if (!agrees(flags, bits, log2_bits, bits_per_key, told.num_probes))
    return not_of_kind(Code::kBody, kLimits,
                       "its m or its k contradicts its other numbers, so one of them was changed");
  told.tail_bytes = bytes - told.turn.bytes(told.num_bits);
  return told;
}

// The array of the last filter ends the dump.
Error check_end(std::uint64_t end, const Source& source) {
  if (end >= source.size()) return {};  // check_place() refuses a shorter dump
  return not_of_kind(Code::kBody, kLimits,
                     "its filters end at byte " + std::to_string(end) + " of " + std::to_string(source.size()));
}

Result<std::vector<Told>> find_redisbloom(const Source& source, const ForeignForm& /*form*/) {
  const auto chain = read_chain(source);
  if (!chain) return chain.error();
  std::vector<std::byte> links(chain->num_links * kLinkBytes);
  if (source.size() < kHeaderBytes + links.size()) return ends_within(kLimits, source.size());
  if (Error error = source.read(links, kHeaderBytes); !error.ok()) return error;
  std::uint64_t offset = kHeaderBytes + links.size();
  std::vector<Told> found;
  for (std::size_t at = 0; at < links.size(); at += kLinkBytes) {
    auto told = read_link(std::span(links).subspan(at, kLinkBytes), chain->flags, offset);
    if (!told) return told.error();
    offset += told->turn.bytes(told->num_bits) + told->tail_bytes;  // 1024 times 2^48 bits are less than 2^64 bytes
    found.push_back(std::move(*told));
  }
  if (Error error = check_end(offset, source); !error.ok()) return error;
  return found;
}

// RedisBloom computes the bits of a key from p, and k from these, and refuses a dump with another k.
double bits_per_key(double fpr, std::uint32_t num_probes) noexcept {
  constexpr double kSquareOfLn2 = 0.480453013918201;  // RedisBloom's own digits
  const double usual = std::abs(std::log(fpr) / kSquareOfLn2);
  return std::ceil(kLn2 * usual) == num_probes ? usual : (num_probes - 0.5) / kLn2;
}

Result<Outline> write_redisbloom(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  if (!(shape.fpr < 1)) return base::fail(Code::kUnsupported, "has a rate of 1, and RedisBloom's rates are below 1.");
  FieldsWriter head;
  head.little(filter.keys_added).little(std::uint32_t{1}).little(kForce64 | kNoRound).little(kUsualGrowth);
  head.little(shape.num_bits / 8).little(shape.num_bits).little(filter.keys_added).little_double(shape.fpr);
  head.little_double(bits_per_key(shape.fpr, shape.num_probes)).little(shape.num_probes).little(shape.capacity);
  head.little(std::uint8_t{0});
  return Outline{.head = head.take()};
}

}  // namespace

constinit const Row kRedisBloomRow{.info = {.name = "redisbloom",
                                            .about = "the chunks of BF.SCANDUMP of RedisBloom, one after the other",
                                            .tells_capacity = true,
                                            .hashes = kHashes,
                                            .keys = "the bytes of the item"},
                                   .read = nullptr,
                                   .write = write_redisbloom,
                                   .find = find_redisbloom};

}  // namespace bfstore::interop

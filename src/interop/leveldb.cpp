// One filter of LevelDB's built-in policy, as CreateFilter() appends it: the bits, and k in the last byte.
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kLevelDb};
// A larger k is for later forms of the filter, and means "maybe" for every key.
constexpr Limits kLimits{.kind = "a filter of LevelDB's built-in policy",
                         .most_bits = std::uint64_t{1} << 32,
                         .unit_bits = 8,
                         .most_probes = 30};

Result<std::vector<Told>> find_filter(const Source& source, const ForeignForm& /*form*/) {
  std::array<std::byte, 1> last;
  if (source.size() < 2) return ends_within(kLimits, source.size());
  if (Error error = source.read(last, source.size() - 1); !error.ok()) return error;
  const auto num_probes = std::to_integer<std::uint32_t>(last[0]);
  const std::uint64_t bytes = std::min(source.size() - 1, kMaxBits / 8 + 1);
  if (Error error = check_numbers(kLimits, 8 * bytes, num_probes); !error.ok()) return error;
  return only({.hash = Hash::kLevelDb, .num_bits = 8 * bytes, .num_probes = num_probes, .tail_bytes = 1});
}

Result<Outline> write_filter(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  if (shape.num_probes <= kLimits.most_probes && shape.num_bits <= kLimits.most_bits)
    return Outline{.tail = {static_cast<std::byte>(shape.num_probes)}};
  return base::fail(Code::kUnsupported, "has a k of " + std::to_string(shape.num_probes) + " and " +
                                            std::to_string(shape.num_bits) +
                                            " bits, and LevelDB's filters have at most 30 and 2^32.");
}

}  // namespace

constinit const Row kLevelDbRow{.info = {.name = "leveldb",
                                         .about = "one filter of LevelDB's built-in policy",
                                         .hashes = kHashes,
                                         .keys = "the user's key"},
                                .read = nullptr,
                                .write = write_filter,
                                .find = find_filter,
                                .mark = Mark::kNone};

}  // namespace bfstore::interop

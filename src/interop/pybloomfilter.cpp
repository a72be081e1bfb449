// The file of BloomFilter of pybloomfiltermmap3 in Python: "MBITARRAY", m, the length of a struct, and the struct as a
// machine with little-endian pointers of 64 bits has it. The bits begin at the next multiple of 256.
#include <array>

#include "interop/header.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kPybloomfilter};
constexpr Limits kLimits{.kind = "a file of pybloomfiltermmap3", .unit_bits = 8};
constexpr std::string_view kMagic = "MBITARRAY";
constexpr std::size_t kBitsAt = 9, kStructBytesAt = 17, kStructAt = 21;
constexpr std::size_t kCapacityAt = kStructAt, kRateAt = kStructAt + 8, kProbesAt = kStructAt + 16,
                      kSeedsAt = kStructAt + 20, kVersionAt = kStructAt + 1056;
constexpr std::uint32_t kStructBytes = 1200;
constexpr std::size_t kHeaderBytes = 1280;

// True if the program makes this k and m of this n and p. With listed seeds it makes others.
bool is_as_sized(const Told& told) {
  Options options;
  options.capacity = told.capacity;
  options.fpr = told.fpr;
  const auto size = sizing::solve(layout::row_of(Layout::kClassic), options, 0, sizing::Program::kPybloomfilter);
  return size && size->num_probes == told.num_probes && size->num_bits == told.num_bits;
}

Result<Told> read_file(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  if (!begins_with(first, kMagic)) return not_of_kind(Code::kMagic, kLimits, "it does not begin with MBITARRAY");
  if (first.size() < kHeaderBytes) return ends_within(kLimits, first.size());
  const std::byte* const at = first.data();
  const auto struct_bytes = base::load<std::uint32_t>(at + kStructBytesAt);
  if (struct_bytes != kStructBytes) {
    return not_of_kind(Code::kHeaderSize, kLimits,
                       "its struct has " + std::to_string(struct_bytes) + " bytes, and that of version 1 has " +
                           std::to_string(kStructBytes));
  }
  if (at[kVersionAt] != std::byte{1}) return not_of_kind(Code::kVersion, kLimits, "its version is not 1");
  Told told{.hash = Hash::kPybloomfilter,
            .num_bits = base::load<std::uint64_t>(at + kBitsAt),
            .num_probes = base::load<std::uint32_t>(at + kProbesAt),
            .capacity = base::load<std::uint64_t>(at + kCapacityAt),
            .fpr = double_at(at + kRateAt),
            .offset = kHeaderBytes};
  if (Error error = check_numbers(kLimits, told.num_bits, told.num_probes); !error.ok()) return error;
  if (Error error = check_promise(kLimits, told.capacity, told.fpr); !error.ok()) return error;
  for (std::uint32_t i = 0; i < told.num_probes; ++i)
    told.seeds.push_back(base::load<std::uint32_t>(at + kSeedsAt + std::size_t{4} * i));
  told.sized_by_rate = is_as_sized(told);
  return told;
}

// The program counts keys in memory only, so the number in its files is 0.
Result<Outline> write_file(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  if (shape.num_bits % 8 != 0) {
    return base::fail(Code::kUnsupported,
                      "has " + std::to_string(shape.num_bits) +
                          " bits, and filters of pybloomfiltermmap3 have a multiple of 8. Make one of so many.");
  }
  std::vector<std::byte> head(kHeaderBytes);
  put_text(head.data(), kMagic);
  base::store(head.data() + kBitsAt, shape.num_bits);
  base::store(head.data() + kStructBytesAt, kStructBytes);
  base::store(head.data() + kCapacityAt, shape.capacity);
  put_double(head.data() + kRateAt, shape.fpr);
  base::store(head.data() + kProbesAt, shape.num_probes);
  for (std::size_t i = 0; i < filter.seeds.size(); ++i) base::store(head.data() + kSeedsAt + 4 * i, filter.seeds[i]);
  head[kVersionAt] = head[kVersionAt + 1] = std::byte{1};  // and "the count is correct"
  return Outline{.head = std::move(head)};
}

}  // namespace

constinit const Row kPybloomfilterRow{.info = {.name = "pybloomfilter",
                                               .about = "the file of pybloomfiltermmap3's BloomFilter",
                                               .tells_capacity = true,
                                               .hashes = kHashes,
                                               .keys = "the UTF-8 of a str"},
                                      .read = read_file,
                                      .write = write_file};

}  // namespace bfstore::interop

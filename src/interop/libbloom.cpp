// The file that bloom_save() of the C library libbloom writes, version 2: "libbloom2", the length of its struct, the
// struct as a little-endian machine of 64 bits has it, and the bits. The struct ends with an address, which
// bloom_load() ignores.
#include <array>

#include "interop/header.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kLibbloom};
constexpr Limits kLimits{.kind = "a file of libbloom 2", .most_bits = std::uint64_t{kMaxProbes} << 32};
constexpr std::string_view kMagic = "libbloom2";
constexpr std::size_t kStructBytesAt = 9, kStructAt = 11;
constexpr std::uint16_t kStructBytes = 64;
constexpr std::size_t kCapacityAt = kStructAt, kBitsAt = kStructAt + 8, kBytesAt = kStructAt + 16,
                      kProbesAt = kStructAt + 24, kRateAt = kStructAt + 32, kReadyAt = kStructAt + 40,
                      kMajorAt = kStructAt + 41, kBitsPerKeyAt = kStructAt + 48;
constexpr std::size_t kHeaderBytes = kStructAt + kStructBytes;

std::uint64_t bytes_of(std::uint64_t num_bits) noexcept { return num_bits / 8 + (num_bits % 8 != 0); }

bool is_as_sized(const Told& told) {
  Options options;
  options.capacity = told.capacity;
  options.fpr = told.fpr;
  const auto size = sizing::solve(layout::row_of(Layout::kClassic), options, 0, sizing::Program::kLibbloom);
  return size && size->num_probes == told.num_probes && size->num_bits == told.num_bits;
}

Result<Told> read_file(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  if (!begins_with(first, kMagic)) return not_of_kind(Code::kMagic, kLimits, "it does not begin with libbloom2");
  if (first.size() < kHeaderBytes) return ends_within(kLimits, first.size());
  const std::byte* const at = first.data();
  if (base::load<std::uint16_t>(at + kStructBytesAt) != kStructBytes) {
    return not_of_kind(Code::kHeaderSize, kLimits,
                       "its struct has " + std::to_string(base::load<std::uint16_t>(at + kStructBytesAt)) +
                           " bytes, and that of a machine of 64 bits has 64");
  }
  if (at[kMajorAt] != std::byte{2}) return not_of_kind(Code::kVersion, kLimits, "its version is not 2");
  Told told{.hash = Hash::kLibbloom,
            .num_bits = base::load<std::uint64_t>(at + kBitsAt),
            .num_probes = std::to_integer<std::uint32_t>(at[kProbesAt]),
            .capacity = base::load<std::uint32_t>(at + kCapacityAt),
            .fpr = double_at(at + kRateAt),
            .offset = kHeaderBytes};
  if (Error error = check_numbers(kLimits, told.num_bits, told.num_probes); !error.ok()) return error;
  if (Error error = check_promise(kLimits, told.capacity, told.fpr); !error.ok()) return error;
  if (base::load<std::uint64_t>(at + kBytesAt) != bytes_of(told.num_bits))
    return not_of_kind(Code::kBody, kLimits, "its bytes are not as many as its bits need");
  told.sized_by_rate = is_as_sized(told);
  return told;
}

Result<Outline> write_file(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  if (shape.capacity > UINT32_MAX) {
    return base::fail(Code::kUnsupported, "is made for " + std::to_string(shape.capacity) +
                                              " keys, and libbloom has at most 2^32 - 1. Make one for fewer keys.");
  }
  std::vector<std::byte> head(kHeaderBytes);
  put_text(head.data(), kMagic);
  base::store(head.data() + kStructBytesAt, kStructBytes);
  base::store(head.data() + kCapacityAt, static_cast<std::uint32_t>(shape.capacity));
  base::store(head.data() + kBitsAt, shape.num_bits);
  base::store(head.data() + kBytesAt, bytes_of(shape.num_bits));
  head[kProbesAt] = static_cast<std::byte>(shape.num_probes);
  put_double(head.data() + kRateAt, shape.fpr);
  head[kReadyAt] = std::byte{1};
  head[kMajorAt] = std::byte{2};
  put_double(head.data() + kBitsPerKeyAt, sizing::libbloom_bits_per_key(shape.fpr));
  return Outline{.head = std::move(head)};
}

}  // namespace

constinit const Row kLibbloomRow{.info = {.name = "libbloom",
                                          .about = "the file of bloom_save() of the C library libbloom 2",
                                          .tells_capacity = true,
                                          .hashes = kHashes,
                                          .keys = "bytes"},
                                 .read = read_file,
                                 .write = write_file};

}  // namespace bfstore::interop

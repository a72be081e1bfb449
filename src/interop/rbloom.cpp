// What Bloom.save() and save_bytes() of rbloom in Python write: k in 8 bytes, and the bits.
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kRbloom};
constexpr Limits kLimits{.kind = "a file of rbloom", .unit_bits = 8};
constexpr std::size_t kHeaderBytes = 8;

// The hash function is the program's, so the caller has to say that it is the documentation's.
Result<std::vector<Told>> find_filter(const Source& source, const ForeignForm& /*form*/) {
  std::array<std::byte, kHeaderBytes> header;
  if (source.size() < header.size()) return ends_within(kLimits, source.size());
  if (Error error = source.read(header, 0); !error.ok()) return error;
  const auto num_probes = base::load<std::uint64_t>(header.data());
  const std::uint64_t bytes = std::min(source.size() - header.size(), kMaxBits / 8 + 1);
  if (Error error = check_numbers(kLimits, 8 * bytes, num_probes); !error.ok()) return error;
  return only({.num_bits = 8 * bytes, .num_probes = static_cast<std::uint32_t>(num_probes), .offset = kHeaderBytes});
}

Result<Outline> write_file(const Saying& filter, const ForeignForm& /*form*/) {
  std::vector<std::byte> head(kHeaderBytes);
  base::store(head.data(), std::uint64_t{filter.shape.num_probes});
  return Outline{.head = std::move(head)};
}

}  // namespace

constinit const Row kRbloomRow{.info = {.name = "rbloom", .about = "the file of rbloom's Bloom", .hashes = kHashes},
                               .read = nullptr,
                               .write = write_file,
                               .find = find_filter,
                               .mark = Mark::kWeak};

}  // namespace bfstore::interop

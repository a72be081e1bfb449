// The bytes of ByteBufferBloomFilter of tutorials in Java, and nothing else: their number says m.
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kJavaBytes};
constexpr std::uint32_t kProbes = 8;
constexpr Limits kLimits{
    .kind = "the bytes of a ByteBufferBloomFilter", .most_bits = std::uint64_t{8} * INT32_MAX, .unit_bits = 8};

Result<std::vector<Told>> find_filter(const Source& source, const ForeignForm& /*form*/) {
  const std::uint64_t bytes = std::min(source.size(), kMaxBits / 8 + 1);
  if (Error error = check_numbers(kLimits, 8 * bytes, kProbes); !error.ok()) return error;
  return only({.hash = Hash::kJavaBytes, .num_bits = 8 * bytes, .num_probes = kProbes});
}

Result<Outline> write_bytes(const Saying& /*filter*/, const ForeignForm& /*form*/) { return Outline{}; }

}  // namespace

constinit const Row kJavaBytesRow{.info = {.name = "java-bytes",
                                           .about = "the bytes of a tutorial's ByteBufferBloomFilter",
                                           .hashes = kHashes,
                                           .keys = "a String in UTF-8"},
                                  .read = nullptr,
                                  .write = write_bytes,
                                  .find = find_filter,
                                  .mark = Mark::kNone};

}  // namespace bfstore::interop

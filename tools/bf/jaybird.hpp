// The file of a BloomFilter of python-bloomfilter (Jay Baird; packages pybloom and pybloom-live), as its tofile()
// writes it: '<dQQQQ' with p, k, the bits of a slice, n, and the number of keys; then the bits, the lowest one of a
// byte first.
#pragma once

#include <bfstore/bfstore.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bf {

struct JaybirdHeader {
  static constexpr std::size_t kBytes = 40;

  double fpr = 0;
  std::uint64_t num_slices = 0;  // k
  std::uint64_t slice_bits = 0;
  std::uint64_t capacity = 0;
  std::uint64_t count = 0;

  [[nodiscard]] std::uint64_t num_bits() const noexcept { return num_slices * slice_bits; }
};

// Throws Failure for what no BloomFilter can have; `name` is the file's.
JaybirdHeader jaybird_header_of(std::span<const char, JaybirdHeader::kBytes> bytes, const std::string& name);

// Of a filter with such a hash. Throws Failure for one that python-bloomfilter cannot make; `file` is its own.
JaybirdHeader jaybird_header_of(const bfstore::Stats& stats, const std::string& file);

std::array<char, JaybirdHeader::kBytes> encoded(const JaybirdHeader& header);

// The filter that is to have the bits: the hash, if it is given, and the rest of the options are not the shape.
bfstore::Options jaybird_options(const JaybirdHeader& header, bfstore::Options options, const std::string& name);

}  // namespace bf

// See jaybird.hpp.
#include "jaybird.hpp"

#include "failure.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bf {
namespace {

// The file is little-endian, whatever the machine is.
template <class Number>
void turn_if_big_endian(std::array<char, sizeof(Number)>& bytes) {
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
}

template <class Number>
Number take(const char*& bytes) {
  std::array<char, sizeof(Number)> own;
  std::copy_n(bytes, own.size(), own.begin());
  bytes += own.size();
  turn_if_big_endian<Number>(own);
  return std::bit_cast<Number>(own);
}

template <class Number>
void put(char*& bytes, Number number) {
  auto own = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  turn_if_big_endian<Number>(own);
  bytes = std::copy(own.begin(), own.end(), bytes);
}

// '<idQd' begins the file of a ScalableBloomFilter: growth, ratio, n and p.
bool is_scalable(std::span<const char, JaybirdHeader::kBytes> bytes) {
  const char* next = bytes.data();
  const auto growth = take<std::int32_t>(next);
  const auto ratio = take<double>(next);
  next += sizeof(std::uint64_t);
  const auto fpr = take<double>(next);
  return growth > 0 && growth < 256 && ratio > 0 && ratio < 1 && fpr > 0 && fpr < 1;
}

// Whether BloomFilter(n, p) of python-bloomfilter has this k and these slices. Its copy() and union() make a filter of
// n and p, and give it the bits. src/sizing has the same numbers for filters that are made.
bool is_as_python_sizes(const JaybirdHeader& header) {
  const double ln2 = std::log(2.0);
  const double slices = std::ceil(std::log(1.0 / header.fpr) / ln2);
  const double slice_bits =
      std::ceil((static_cast<double>(header.capacity) * std::abs(std::log(header.fpr))) / (slices * std::pow(ln2, 2)));
  return slices == static_cast<double>(header.num_slices) && slice_bits == static_cast<double>(header.slice_bits);
}

// Whether the words of all slices have at most the 128 bits of the digest that changed in version 4 of pybloom-live.
bool is_ambiguous(const JaybirdHeader& header) {
  const std::uint64_t word_bits = header.slice_bits < (std::uint64_t{1} << 15)   ? 16
                                  : header.slice_bits < (std::uint64_t{1} << 31) ? 32
                                                                                 : 64;
  return header.num_slices * word_bits <= 128;
}

bool is_jaybird(bfstore::Hash hash) { return hash == bfstore::Hash::kJaybird || hash == bfstore::Hash::kPybloomLive; }

}  // namespace

JaybirdHeader jaybird_header_of(std::span<const char, JaybirdHeader::kBytes> bytes, const std::string& name) {
  JaybirdHeader header;
  const char* next = bytes.data();
  header.fpr = take<double>(next);
  for (std::uint64_t* number : {&header.num_slices, &header.slice_bits, &header.capacity, &header.count})
    *number = take<std::uint64_t>(next);
  const auto refuse = [&](const std::string& what) {
    throw Failure(name + ": is not a file that BloomFilter.tofile() of python-bloomfilter wrote: " + what + ".");
  };
  if (!(header.fpr > 0 && header.fpr < 1)) {  // also NaN
    if (is_scalable(bytes)) {
      throw Failure(name +
                    ": is a file of a ScalableBloomFilter, which is several filters. Write each of its .filters "
                    "with tofile(), import them, and ask all of them.");
    }
    refuse("p is not between 0 and 1");
  }
  if (header.num_slices < 1 || header.num_slices > bfstore::kMaxProbes)
    refuse("k is " + grouped(header.num_slices) + ", not from 1 to 64");
  if (header.slice_bits < 1 || header.slice_bits > bfstore::kMaxBits / header.num_slices)
    refuse(grouped(header.num_slices) + " slices of " + grouped(header.slice_bits) +
           " bits are not from 1 to 2^48 bits");
  if (header.capacity < 1 || header.capacity > static_cast<std::uint64_t>(INT64_MAX))
    refuse("n is " + grouped(header.capacity) + ", not from 1 to 2^63 - 1");
  if (header.count > header.capacity + 1)  // its add() refuses the next key
    refuse("it would have " + grouped(header.count) + " keys, and room for " + grouped(header.capacity));
  return header;
}

JaybirdHeader jaybird_header_of(const bfstore::Stats& stats, const std::string& file) {
  const bfstore::Shape& shape = stats.shape;
  if (!is_jaybird(shape.hash)) {
    throw Failure(file + ": has the hash " + bfstore::hash_of(shape.hash)->name +
                  ", and filters of python-bloomfilter have jaybird or pybloom-live.");
  }
  const JaybirdHeader header{shape.fpr, shape.num_probes, shape.num_bits / shape.num_probes, shape.capacity,
                             std::min(stats.keys_added, shape.capacity + 1)};
  if (is_as_python_sizes(header)) return header;
  throw Failure(file + ": python-bloomfilter has other slices for " + grouped(shape.capacity) + " keys and a rate of " +
                short_number(shape.fpr) +
                ", and would make wrong copies. Make filters for it with --capacity and --fpr.");
}

std::array<char, JaybirdHeader::kBytes> encoded(const JaybirdHeader& header) {
  std::array<char, JaybirdHeader::kBytes> bytes;
  char* next = bytes.data();
  put(next, header.fpr);
  for (const std::uint64_t number : {header.num_slices, header.slice_bits, header.capacity, header.count})
    put(next, number);
  return bytes;
}

bfstore::Options jaybird_options(const JaybirdHeader& header, bfstore::Options options, const std::string& name) {
  if (!options.hash && is_ambiguous(header)) {
    throw Failure(name +
                  ": its bits are those of MD5, or of XXH3-128 if pybloom-live 4 or later made them, and the file does "
                  "not tell which. Give --hash jaybird or --hash pybloom-live, and --check KEYS.");
  }
  if (!options.hash) options.hash = bfstore::Hash::kJaybird;
  options.layout = bfstore::Layout::kClassic;
  options.capacity = header.capacity;
  if (is_as_python_sizes(header)) {
    options.fpr = header.fpr;
  } else {  // an old version, which sized otherwise: the rate is what these numbers lead to
    options.num_bits = header.num_bits();
    options.num_probes = static_cast<std::uint32_t>(header.num_slices);
  }
  return options;
}

}  // namespace bf

// The file of a BloomFilter of python-bloomfilter (Jay Baird; the packages pybloom and pybloom-live), as its tofile()
// writes it: '<dQQQQ' with p, k, the bits of a slice, n, and the number of keys; then the bits, the lowest one of a
// byte first. hash/jaybird.hpp has the positions of its keys.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "interop/header.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kJaybirdHashes{Hash::kJaybird, Hash::kPybloomLive};
constexpr std::size_t kJaybirdHeaderBytes = 40;
// Of a file of several filters. Each has at least twice the room of the one before, so a thousand are too many.
constexpr std::size_t kCountAt = 28;
constexpr std::uint32_t kMostFilters = 1000;

struct JaybirdHeader {
  double fpr = 0;
  std::uint64_t num_slices = 0;  // k
  std::uint64_t slice_bits = 0;
  std::uint64_t capacity = 0;
  std::uint64_t count = 0;
};

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

// True if the file may be that of a ScalableBloomFilter, which begins with '<idQd': growth, ratio, n and p.
bool is_scalable(const std::byte* bytes) noexcept {
  const auto growth = base::load<std::uint32_t>(bytes);
  const double ratio = double_at(bytes + 4);
  const double fpr = double_at(bytes + 20);
  return growth > 0 && growth < 256 && ratio > 0 && ratio < 1 && fpr > 0 && fpr < 1;
}

// True if BloomFilter(n, p) of python-bloomfilter has this k and these slices. Its copy() and union() make a filter
// from n and p, and give it the bits.
bool is_as_python_sizes(const JaybirdHeader& header) {
  Options options;
  options.capacity = header.capacity;
  options.fpr = header.fpr;
  const auto size = sizing::solve(layout::row_of(Layout::kClassic), options, 0, sizing::Program::kPythonBloomfilter);
  return size && size->num_probes == header.num_slices && size->num_bits == header.num_slices * header.slice_bits;
}

// True if the words of all slices have at most the 128 bits of the digest that changed in version 4 of pybloom-live.
bool is_ambiguous(const JaybirdHeader& header) noexcept {
  const std::uint64_t word_bits = header.slice_bits < (std::uint64_t{1} << 15)   ? 16
                                  : header.slice_bits < (std::uint64_t{1} << 31) ? 32
                                                                                 : 64;
  return header.num_slices * word_bits <= 128;
}

Error not_of_tofile(Code code, const std::string& what) {
  return base::fail(code, "is not a file that BloomFilter.tofile() of python-bloomfilter wrote: " + what + ".");
}

Error check_header(const JaybirdHeader& header) {
  if (!(header.fpr > 0 && header.fpr < 1)) return not_of_tofile(Code::kCapacity, "p is not between 0 and 1");  // NaN
  if (header.num_slices < 1 || header.num_slices > kMaxProbes)
    return not_of_tofile(Code::kProbes, "k is " + grouped(header.num_slices) + ", not from 1 to 64");
  if (header.slice_bits < 1 || header.slice_bits > kMaxBits / header.num_slices) {
    return not_of_tofile(Code::kBits, grouped(header.num_slices) + " slices of " + grouped(header.slice_bits) +
                                          " bits are not from 1 to 2^48 bits");
  }
  if (header.capacity < 1 || header.capacity > static_cast<std::uint64_t>(INT64_MAX))
    return not_of_tofile(Code::kCapacity, "n is " + grouped(header.capacity) + ", not from 1 to 2^63 - 1");
  if (header.count <= header.capacity + 1) return {};  // its add() refuses the next key
  return not_of_tofile(Code::kCapacity,
                       "it would have " + grouped(header.count) + " keys, and room for " + grouped(header.capacity));
}

Result<JaybirdHeader> read_header(std::span<const std::byte> first) {
  if (first.size() < kJaybirdHeaderBytes) {
    return base::fail(Code::kTooShort, "ends after " + grouped(first.size()) +
                                           " bytes, within the header of a file of python-bloomfilter.");
  }
  const auto number = [&](std::size_t place) { return base::load<std::uint64_t>(first.data() + 8 * place); };
  const JaybirdHeader header{double_at(first.data()), number(1), number(2), number(3), number(4)};
  Error error = check_header(header);
  if (error.ok()) return header;
  if ((header.fpr > 0 && header.fpr < 1) || !is_scalable(first.data())) return error;
  return base::fail(Code::kUnsupported,
                    "is a file of a ScalableBloomFilter, which is several filters. Give the format jaybird-scalable.");
}

Result<Told> read_jaybird(std::span<const std::byte> first, const ForeignForm& /*form*/) {
  const auto header = read_header(first);
  if (!header) return header.error();
  Told told{.num_bits = header->num_slices * header->slice_bits,
            .num_probes = static_cast<std::uint32_t>(header->num_slices),
            .capacity = header->capacity,
            .fpr = header->fpr,
            .sized_by_rate = is_as_python_sizes(*header),  // an old version computes another size
            .keys = header->count,
            .offset = kJaybirdHeaderBytes};
  if (is_ambiguous(*header)) {
    told.doubt =
        "its bits are those of MD5, or of XXH3-128 if pybloom-live 4 or later made them, and the file does not tell "
        "which";
  } else {
    told.hash = Hash::kJaybird;
    told.hashes_agree = true;
  }
  return told;
}

Result<Told> told_at(const Source& source, std::uint64_t at, std::uint64_t most) {
  std::array<std::byte, kJaybirdHeaderBytes> header;
  const std::span first = std::span(header).first(std::min<std::uint64_t>(most, header.size()));
  if (Error error = source.read(first, at); !error.ok()) return error;
  auto told = read_jaybird(first, {});
  if (told) told->offset += at;
  return told;
}

Error not_of_scalable(Code code, const std::string& what) {
  return base::fail(code, "is not a file that ScalableBloomFilter.tofile() of python-bloomfilter wrote: " + what + ".");
}

Error wrong_length(std::uint64_t number) {
  return not_of_scalable(Code::kBody,
                         "filter " + grouped(number) + " has another length than its header says, or is cut off");
}

// The lengths of the filters are in the file, and each says its own length, too. Both must agree.
Result<std::vector<Told>> find_scaled(const Source& source, const ForeignForm& /*form*/) {
  std::array<std::byte, kCountAt + sizeof(std::uint32_t)> header;
  if (Error error = source.read(header, 0); !error.ok()) return error;
  if (!is_scalable(header.data()))
    return not_of_scalable(Code::kCapacity, "its growth, its ratio or its p is none that such a filter has");
  const auto count = base::load<std::uint32_t>(header.data() + kCountAt);
  if (count < 1 || count > kMostFilters) {
    return not_of_tofile(Code::kBody,
                         "it would have " + grouped(count) + " filters, not from 1 to " + grouped(kMostFilters));
  }
  std::vector<std::byte> lengths(count * sizeof(std::uint64_t));
  if (Error error = source.read(lengths, header.size()); !error.ok()) return error;
  std::uint64_t at = header.size() + lengths.size();
  std::vector<Told> found;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = base::load<std::uint64_t>(lengths.data() + i * sizeof(std::uint64_t));
    if (length > source.size() - at) return wrong_length(i + 1);
    auto told = told_at(source, at, length);
    if (!told) return told.error();
    if (length != whole_bytes(*told, told->num_bits) - at) return wrong_length(i + 1);
    at += length;
    found.push_back(std::move(*told));
  }
  if (at != source.size()) return not_of_scalable(Code::kBody, "it has more bytes than its filters");
  return found;
}

std::vector<std::byte> encoded(const JaybirdHeader& header) {
  std::vector<std::byte> bytes(kJaybirdHeaderBytes);
  std::byte* next = bytes.data();
  for (const std::uint64_t number : {std::bit_cast<std::uint64_t>(header.fpr), header.num_slices, header.slice_bits,
                                     header.capacity, header.count}) {
    base::store(next, number);
    next += sizeof number;
  }
  return bytes;
}

Result<Outline> write_jaybird(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  const JaybirdHeader header{shape.fpr, shape.num_probes, shape.num_bits / shape.num_probes, shape.capacity,
                             std::min(filter.keys_added, shape.capacity + 1)};
  if (is_as_python_sizes(header)) return Outline{.head = encoded(header)};
  return base::fail(Code::kUnsupported,
                    "python-bloomfilter has other slices for " + grouped(shape.capacity) + " keys and a rate of " +
                        sizing::number(shape.fpr) +
                        ", and would make wrong copies. Make a filter for it of a capacity and a rate alone (bf create "
                        "with --capacity and --fpr).");
}

}  // namespace

constinit const Row kJaybirdRow{.info = {.name = "jaybird",
                                         .about = "the file of python-bloomfilter's BloomFilter",
                                         .tells_capacity = true,
                                         .hashes = kJaybirdHashes,
                                         .keys = "str(key) in UTF-8"},
                                .read = read_jaybird,
                                .write = write_jaybird};

constinit const Row kJaybirdScalableRow{.info = {.name = "jaybird-scalable",
                                                 .about = "the file of python-bloomfilter's ScalableBloomFilter",
                                                 .tells_capacity = true,
                                                 .hashes = kJaybirdHashes,
                                                 .keys = "str(key) in UTF-8"},
                                        .read = nullptr,
                                        .write = nullptr,
                                        .find = find_scaled};

}  // namespace bfstore::interop

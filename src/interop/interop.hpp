// Foreign formats: from the bytes of another program's filter to what a filter of this library is, and back. A format
// is a row: a file of this room, and a line in the table of interop.cpp. This code never sees files or handles.
//
// Foreign bytes are hostile until each number in them was checked.
#pragma once

#include <bfstore/interop.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interop/array.hpp"

namespace bfstore::interop {

// What the first bytes say. 0, or an empty value: they do not say it.
struct Told {
  std::optional<Hash> hash{};
  // Why they do not say the hash, where the format knows those that it can be.
  std::string doubt{};
  std::uint64_t num_bits = 0;
  std::uint32_t num_probes = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;
  // Options of this capacity and rate lead to this m and k. Otherwise the rate is what m, k and n lead to.
  bool sized_by_rate = false;
  std::vector<std::uint32_t> seeds{};
  std::optional<std::uint64_t> keys{};
  std::uint64_t offset = 0;      // of the array of bits
  std::uint64_t tail_bytes = 0;  // after it
  Turn turn = as_it_is;          // a word of the array
};

// What a filter says of itself, for another program.
struct Saying {
  Shape shape{};
  std::vector<std::uint32_t> seeds{};
  std::uint64_t keys_added = 0;
};

// What stands before and after the array of bits.
struct Outline {
  std::vector<std::byte> head{};
  std::vector<std::byte> tail{};
  Turn turn = as_it_is;

  [[nodiscard]] std::uint64_t bytes(std::uint64_t num_bits) const noexcept {
    return head.size() + array_bytes(num_bits) + tail.size();
  }
};

struct Row {
  ForeignFormat info;
  // kTooShort if these bytes do not reach to the end of the header. The messages of both have no name in front.
  Result<Told> (*read)(std::span<const std::byte> first, const ForeignForm& form);
  Result<Outline> (*write)(const Saying& filter, const ForeignForm& form);
};

extern const Row kBitArrayRow;
extern const Row kJaybirdRow;

// What messages call the bytes.
std::string name_of(const ForeignForm& form);

// The row of that format. kInvalid if there is none, or if the form has an order that the bytes tell themselves.
Result<const Row*> row_of(const ForeignForm& form);

// What the bytes say, all of it checked.
Result<Told> read(const Row& row, std::span<const std::byte> first, const ForeignForm& form);

// Completes the caller's options for the new filter with what the bytes say of its shape. kInvalid for an option that
// the bytes contradict, and for what is missing: a default in its place would be another filter, and a wrong "no".
Error complete(const Row& row, const Told& told, const ForeignForm& form, Options& options);

// How long all bytes are of a foreign filter of so many bits.
std::uint64_t whole_bytes(const Told& told, std::uint64_t num_bits) noexcept;

// `bytes` are as many as `expected`: those of a filter of so many bits.
Error check_length(const Row& row, std::uint64_t bytes, std::uint64_t expected, std::uint64_t num_bits,
                   const ForeignForm& form);

// The array of bits in all of the bytes, which have to be exactly those of a filter of so many bits.
Result<Array> array_in(const Row& row, const Told& told, std::span<const std::byte> bytes, std::uint64_t num_bits,
                       const ForeignForm& form);

// kUnsupported if the format has no filters of this layout or hash. `name` is the filter's.
Error check_shape(const Row& row, const Shape& shape, const std::string& name);

// What stands around the array of this filter. kUnsupported if the format has no such filters. `name` is the filter's.
Result<Outline> outline_of(const Row& row, const Saying& filter, const ForeignForm& form, const std::string& name);

}  // namespace bfstore::interop

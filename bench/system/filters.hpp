// Filter files of digests that can be made again, and the ways to open them.
#pragma once

#include <bfstore/bfstore.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fail.hpp"

namespace bench::system {

// A way to map a file. A new option of the library's open needs a line in kMapOptions.
struct MapOption {
  const char* name;
  bfstore::Result<bfstore::Filter> (*open)(const std::string& path, bfstore::OpenMode mode);
};

inline bfstore::Result<bfstore::Filter> open_by_default(const std::string& path, bfstore::OpenMode mode) {
  return bfstore::Filter::open(path, mode);
}

inline bfstore::Result<bfstore::Filter> open_for_random_access(const std::string& path, bfstore::OpenMode mode) {
  return bfstore::Filter::open(path, mode, {.map = {.populate = false, .random_access = true}});
}

inline constexpr std::array kMapOptions{MapOption{"default", open_by_default},
                                        MapOption{"random access", open_for_random_access}};

template <class T>
T value_of(bfstore::Result<T> result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}

inline void check(const bfstore::Error& error) {
  if (!error.ok()) fail(error.message);
}

// Makes digests, which are equal for equal seeds in every process.
inline std::vector<std::uint64_t> digests_of(std::uint64_t seed, std::uint64_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> digests(count);
  for (std::uint64_t& digest : digests) digest = random();
  return digests;
}

inline void add_all(bfstore::Filter& filter, std::span<const std::uint64_t> digests) {
  if (!filter.add_keys(bfstore::Keys::digests(digests)).ok()) fail("adding was refused");
}

// Counts the digests that may be present.
inline std::uint64_t count_present(const bfstore::Filter& filter, std::span<const std::uint64_t> digests) {
  std::vector<std::uint8_t> answers(digests.size());
  const bfstore::Count present = filter.contains_keys(bfstore::Keys::digests(digests), answers);
  if (!present.ok()) fail("asking was refused");
  return present.keys();
}

inline void check_present(const bfstore::Filter& filter, std::span<const std::uint64_t> digests) {
  const std::uint64_t present = count_present(filter, digests);
  if (present != digests.size()) fail("a wrong no for " + std::to_string(digests.size() - present) + " keys");
}

// Makes a file for digests at `path`, where no file exists, with `bits_per_key` bits for each, and opens it for
// writing.
inline bfstore::Filter make_file(const std::string& path, std::uint64_t capacity, double bits_per_key,
                                 bfstore::Layout layout = bfstore::Layout::kBlocked) {
  bfstore::Options options;
  options.capacity = capacity;
  options.bits_per_key = bits_per_key;
  options.layout = layout;
  return value_of(bfstore::Filter::create(path, options));
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace bench::system

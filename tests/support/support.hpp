// Shared by the tests of the rooms: distinct digests, buffers, temporary directories, and small functions around
// doctest.
#pragma once

#include <doctest/doctest.h>
#include <bfstore/bfstore.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/scale.hpp"

namespace bfstore {

inline std::ostream& operator<<(std::ostream& out, Code code) {
  const char* name = code_name(code);
  return out << (name != nullptr ? name : "no such code");
}

inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  const auto info = layout_of(layout);
  return out << (info ? info->name : "no such layout");
}

}  // namespace bfstore

namespace rooms {

using namespace bfstore;

// Returns every row of the table whose filters get their keys one by one. The static layout has tests of its own.
inline std::vector<Layout> every_layout() {
  std::vector<Layout> all;
  for (const LayoutInfo& info : layouts()) {
    if (!info.can.build) all.push_back(info.layout);
  }
  return all;
}

using tests::kKeyScale;

// A bijection of 64-bit numbers (SplitMix64's output for a counter: Steele, Lea & Flood, "Fast splittable pseudorandom
// number generators", 2014). So the digests of distinct counters are distinct.
constexpr std::uint64_t mix(std::uint64_t counter) noexcept {
  std::uint64_t x = counter * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline std::vector<std::uint64_t> mixed(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> digests(count);
  for (std::uint64_t i = 0; i < count; ++i) digests[i] = mix(first + i);
  return digests;
}

// Returns the value, or the test ends with the error's message.
template <class T>
T must(Result<T> result) {
  if (!result.ok()) FAIL(result.error().message);
  return std::move(result).value();
}

inline void must(const Error& error) {
  if (!error.ok()) FAIL(error.message);
}

// Checks that the error's message has each of the words.
inline void check_refused(const Error& error, Code code, std::initializer_list<const char*> words) {
  CHECK(error.code == code);
  for (const char* word : words) {
    CHECK_MESSAGE(error.message.find(word) != std::string::npos, "'", error.message, "' does not say '", word, "'");
  }
}

template <class T>
void check_refused(const Result<T>& result, Code code, std::initializer_list<const char*> words) {
  REQUIRE_FALSE(result.ok());
  check_refused(result.error(), code, words);
}

// Zeroed memory of exactly that many bytes, aligned to 64.
class Buffer {
 public:
  explicit Buffer(std::uint64_t bytes) : lines_((bytes + 63) / 64), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {lines_.data()->bytes.data(), bytes_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {lines_.data()->bytes.data(), bytes_}; }
  [[nodiscard]] std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };
  std::vector<Line> lines_;
  std::uint64_t bytes_;
};

// A new directory, removed with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bfstore-rooms-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    const std::filesystem::directory_iterator begin(path_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

// A filter of digests in memory, and its memory.
struct InMemory {
  Buffer buffer;
  Filter filter;

  static InMemory make(const Options& options) {
    Buffer buffer(must(Filter::required_bytes(options)));
    Filter filter = must(Filter::format(buffer.bytes(), options));
    return {std::move(buffer), std::move(filter)};
  }
};

// Returns the bits of an embedded filter: the end word comes after them.
auto body_of(auto& made) {
  constexpr std::size_t kEndWordBytes = 8;
  const std::size_t body = made.filter.stats().body_bytes;
  return made.buffer.bytes().last(body + kEndWordBytes).first(body);
}

// Adds the digests mix(first) ... mix(first + count - 1).
inline void add_mixed(Filter& filter, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kPiece = 1 << 14;
  for (std::uint64_t done = 0; done < count; done += kPiece) {
    REQUIRE(filter.add_keys(Keys::digests(mixed(first + done, std::min(kPiece, count - done)))).ok());
  }
}

// Returns for how many of the digests mix(first) ... mix(first + count - 1) the filter answers "maybe".
inline std::uint64_t count_maybes(const Filter& filter, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kPiece = 1 << 12;
  std::array<std::uint64_t, kPiece> digests;
  std::array<std::uint8_t, kPiece> answers;
  std::uint64_t maybes = 0;
  for (std::uint64_t done = 0; done < count; done += kPiece) {
    const std::uint64_t size = std::min(kPiece, count - done);
    for (std::uint64_t i = 0; i < size; ++i) digests[i] = mix(first + done + i);
    const Count count_of_piece = filter.contains_keys(Keys::digests(std::span(digests).first(size)), answers);
    REQUIRE(count_of_piece.ok());
    maybes += count_of_piece.keys();
  }
  return maybes;
}

}  // namespace rooms

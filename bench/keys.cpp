#include "keys.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace bench {
namespace {

constexpr std::uint64_t kFirstAbsent = std::uint64_t{1} << 40;  // keys with this number or a higher one are never added
constexpr std::size_t kLeastKeyBytes = 16;
constexpr std::size_t kMostKeyBytes = 32;

// Key number i begins with mix(i), so no two keys are equal.
class Key {
 public:
  explicit Key(std::uint64_t number) noexcept {
    std::array<std::uint64_t, kMostKeyBytes / 8> words;
    words[0] = mix(number);
    for (std::size_t i = 1; i < words.size(); ++i) words[i] = mix(words[i - 1] + i);
    std::memcpy(bytes_.data(), words.data(), bytes_.size());
    length_ = kLeastKeyBytes + mix(words[0]) % (kMostKeyBytes - kLeastKeyBytes + 1);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), length_}; }
  [[nodiscard]] std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), length_};
  }

 private:
  std::array<std::byte, kMostKeyBytes> bytes_;
  std::size_t length_;
};

template <class NumberOf>
Keys make_keys(const Hasher& hasher, std::uint64_t count, Form form, NumberOf number_of) {
  Keys keys;
  keys.digests.reserve(count);
  if (form == Form::kBytesToo) {
    keys.column.offsets.reserve(count + 1);
    keys.column.bytes.reserve(count * (kLeastKeyBytes + kMostKeyBytes) / 2 + count / 64);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const Key key(number_of(i));
    keys.digests.push_back(hasher(key.view()));
    if (form == Form::kDigests) continue;
    keys.column.bytes.insert(keys.column.bytes.end(), key.bytes().begin(), key.bytes().end());
    keys.column.offsets.push_back(static_cast<std::int64_t>(keys.column.bytes.size()));
  }
  return keys;
}

}  // namespace

Population::Population(const Hasher& hasher, std::uint64_t num_keys)
    : num_queries(std::max(std::min<std::uint64_t>(num_keys, 1'000'000), num_keys / 16)) {
  const Form form = num_keys <= kMostAsBytes ? Form::kBytesToo : Form::kDigests;
  added = make_keys(hasher, num_keys, form, [](std::uint64_t i) { return i; });
  mixed = make_keys(hasher, num_queries, form, [](std::uint64_t i) {
    const bool present = (mix(~i) & 1) != 0;
    return present ? i : kFirstAbsent + i;
  });
  absent = make_keys(hasher, std::max(kAbsent, num_queries), Form::kDigests, [](std::uint64_t i) {
             return kFirstAbsent + i;
           }).digests;
  present_queries = std::span(added.digests).first(num_queries);
  absent_queries = std::span(absent).first(num_queries);
}

}  // namespace bench

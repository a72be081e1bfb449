// One question to several filters. The key is hashed once for all filters with the same hash and the same seed or
// secret.
#include <bfstore/inline.hpp>

#include <algorithm>
#include <optional>

#include "hash/hasher.hpp"
#include "store/home/ask.hpp"

namespace bfstore {
namespace {

// The digest of one key in the filters that were asked so far.
class SharedDigest {
 public:
  explicit SharedDigest(std::string_view key) noexcept : key_(key) {}

  // Empty if the filter's hash gives no digest of a key.
  std::optional<std::uint64_t> in(const store::Ask& ask) noexcept {
    if (last_ == nullptr || !is_alike(*last_, ask)) {
      digest_ = hash::visit(
          ask.shape.hash, ask.shape.seed, ask.secret.value(), [] { return std::optional<std::uint64_t>(); },
          [this](const auto& hasher) { return std::optional<std::uint64_t>(hasher(key_)); });
      last_ = &ask;
    }
    return digest_;
  }

 private:
  static bool is_alike(const store::Ask& one, const store::Ask& other) noexcept {
    return one.shape.hash == other.shape.hash && one.shape.seed == other.shape.seed &&
           (one.shape.hash != Hash::kSipHash || one.secret.value() == other.secret.value());
  }

  std::string_view key_;
  const store::Ask* last_ = nullptr;
  std::optional<std::uint64_t> digest_;
};

}  // namespace

// First brings the lines of all filters to the caches, so that the misses are under way together.
Count Filter::contains_any(std::span<const Filter* const> filters, std::string_view key,
                           std::span<std::uint8_t> which) noexcept {
  std::fill(which.begin(), which.end(), std::uint8_t{1});
  if (!which.empty() && which.size() < filters.size()) return Code::kInvalid;
  SharedDigest shared(key);
  for (const Filter* const filter : filters) {
    if (const auto digest = shared.in(*filter->ask_)) filter->lookup().prefetch(*digest);
  }
  std::uint64_t maybes = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const auto digest = shared.in(*filters[i]->ask_);
    const std::int32_t answer = digest ? filters[i]->ask_->answer(*digest) : filters[i]->answer(key);
    if (answer < 0) return static_cast<Code>(answer);
    if (answer != 0 && which.empty()) return std::uint64_t{1};
    if (!which.empty()) which[i] = static_cast<std::uint8_t>(answer);
    maybes += static_cast<std::uint64_t>(answer);
  }
  return maybes;
}

}  // namespace bfstore

// See hash_set.hpp.
#include "hash_set.hpp"

#include <algorithm>

namespace bf {
namespace {

// The memory that malloc takes for that many bytes: one word more, rounded up to a multiple of 16, and at least 32.
constexpr std::uint64_t allocated(std::uint64_t bytes) noexcept {
  return std::max<std::uint64_t>(32, (bytes + 8 + 15) / 16 * 16);
}

constexpr std::uint64_t kNodeBytes = 8 + 32 + 8;
constexpr std::uint64_t kBucketBytes = 8;
constexpr std::uint64_t kInTheString = 15;

}  // namespace

std::uint64_t hash_set_bytes(std::uint64_t num_keys, std::uint64_t key_bytes) noexcept {
  const std::uint64_t elsewhere = key_bytes > kInTheString ? allocated(key_bytes + 1) : 0;
  const std::uint64_t each = kBucketBytes + allocated(kNodeBytes) + elsewhere;
  return num_keys > UINT64_MAX / each ? UINT64_MAX : num_keys * each;
}

}  // namespace bf

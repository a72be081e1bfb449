// Finds what is wrong with many keys before it looks at any key: an error here leaves nothing half-done.
#include <bfstore/keys.hpp>

#include <algorithm>
#include <cstdint>

namespace bfstore {
namespace {

// Only the empty key may have a null pointer.
bool leads_nowhere(const void* key, std::size_t key_bytes) noexcept { return key == nullptr && key_bytes != 0; }

bool sound(const Keys::Pointers& keys) noexcept {
  if (keys.keys.size() != keys.key_bytes.size()) return false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (leads_nowhere(keys.keys[i], keys.key_bytes[i])) return false;
  }
  return true;
}

bool sound(const Keys::Pairs& keys) noexcept {
  return std::none_of(keys.keys.begin(), keys.keys.end(),
                      [](const iovec& key) { return leads_nowhere(key.iov_base, key.iov_len); });
}

// A string_view is always sound.
bool sound(const Keys::Views&) noexcept { return true; }

bool sound(const Keys::Digests&) noexcept { return true; }

// No object is longer than PTRDIFF_MAX bytes. Neither `count` nor `stride` is 0.
bool fits_memory(std::size_t key_bytes, std::size_t count, std::size_t stride) noexcept {
  constexpr std::size_t kMost = PTRDIFF_MAX;
  return key_bytes <= kMost && count - 1 <= (kMost - key_bytes) / stride;
}

bool sound(const Keys::Fixed& keys) noexcept {
  if (keys.key_bytes == 0 || keys.stride < keys.key_bytes) return false;
  return keys.count == 0 || (keys.bytes != nullptr && fits_memory(keys.key_bytes, keys.count, keys.stride));
}

template <class Offset>
bool sound(const Keys::Column<Offset>& keys) noexcept {
  if (keys.offsets.empty() || keys.offsets.front() < 0) return false;
  if (!std::is_sorted(keys.offsets.begin(), keys.offsets.end())) return false;
  if (keys.bytes.data() == nullptr) return keys.offsets.back() == 0;
  return static_cast<std::uint64_t>(keys.offsets.back()) <= keys.bytes.size();
}

}  // namespace

Code Keys::check() const noexcept {
  return visit([](const auto& keys) { return sound(keys); }) ? Code::kOk : Code::kInvalid;
}

}  // namespace bfstore

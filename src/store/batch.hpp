// Many keys at once: windows of them are turned into digests, then looked up or added, on one path for every form in
// which keys are given.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "store/core.hpp"

namespace bfstore {

// Digests of one window: enough to hide the misses of each other, few enough to stay in the first-level cache.
inline constexpr std::size_t kWindow = 256;

template <class DigestAt>
Count Filter::Core::contains_all(std::size_t count, DigestAt digest_at,
                                 std::span<std::uint8_t> answers) const noexcept {
  std::array<std::uint64_t, kWindow> digests;
  std::uint64_t maybes = 0;
  for (std::size_t first = 0; first < count; first += kWindow) {
    const std::size_t size = std::min(kWindow, count - first);
    for (std::size_t i = 0; i < size; ++i) digests[i] = digest_at(first + i);
    std::uint8_t* window = answers.data() + first;
    const std::size_t found = functions->contains_batch(words, geometry, digests.data(), size, window);
    if (maybe_after(false)) {  // in doubt: every key of this window may be there
      std::memset(window, 1, size);
      maybes += size;
    } else {
      maybes += found;
    }
  }
  return maybes;
}

template <class DigestAt>
Count Filter::Core::add_all(std::size_t count, DigestAt digest_at) noexcept {
  std::array<std::uint64_t, kWindow> digests;
  std::uint64_t added = 0;
  for (std::size_t first = 0; first < count; first += kWindow) {
    if (const Code code = may_add(); code != Code::kOk) return code;
    const std::size_t size = std::min(kWindow, count - first);
    for (std::size_t i = 0; i < size; ++i) digests[i] = digest_at(first + i);
    const std::size_t changed = functions->add_batch(words, geometry, digests.data(), size);
    count_keys(changed);
    added += changed;
  }
  return added;
}

}  // namespace bfstore

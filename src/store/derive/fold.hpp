// A smaller filter of the same keys: bits whose numbers differ by a multiple of the smaller size become one.
#pragma once

#include "store/derive/content.hpp"

namespace bfstore::store {

// Makes `content` that of the smallest fold of the filter whose rate with the present keys is at most `fpr`: n and p
// become what the smaller filter can promise. Returns how many bits become one: 1 without an `fpr`.
Result<std::uint64_t> fold(const Ask& ask, Content& content, double fpr);

}  // namespace bfstore::store

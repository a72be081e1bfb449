// A smaller filter of the same keys: bits whose numbers differ by a multiple of the smaller size become one.
#pragma once

#include "store/derive/content.hpp"

namespace bfstore::store {

// Makes `content` that of the filter folded as often as its rate stays at most `fpr` with the keys of now: n and p
// become what the smaller filter can promise. Returns how many bits become one: 1 without an `fpr`.
Result<std::uint64_t> fold(const Ask& ask, Content& content, double fpr);

}  // namespace bfstore::store

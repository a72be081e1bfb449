// Computes, from any two or more of n, p, m, k and bits per key, the rest. sizing.hpp has the pairs that make a filter.
#pragma once

#include "sizing/sizing.hpp"

namespace bfstore::sizing {

// The number of keys that ratios alone (p, k and bits per key) are computed for: large enough that rounding does not
// show.
inline constexpr std::uint64_t kAnyKeys = 1'000'000;

// Computes, from any two or more of n, p, m, k and bits per key, the rest. m is num_bits, or what `max_body_bytes` have
// room for if max_bytes is given. `only_probes` is the k of a hash that has no other one, and 0 for other hashes. In
// the answer fpr is the rate at `capacity` keys. A rate that was asked for is the highest allowed. Of numbers that were
// not given, k is the best one, m the smallest and n the largest that keeps the rate. From k alone, n or m is where
// half of the bits are set. Without n and m, n is kAnyKeys. From n alone, p is 0.01. kInvalid names what is missing,
// out of range, or one too many. kSizing: no such filter exists.
Result<Size> complete(const Row& row, const Options& options, std::uint64_t max_body_bytes,
                      std::uint32_t only_probes = 0);

}  // namespace bfstore::sizing

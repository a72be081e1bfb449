// The size of a filter that is to be folded (FORMAT.md, "Folding"): a number with many divisors.
#pragma once

#include <cstdint>

namespace bfstore::sizing {

// Returns the number with the most divisors among those from `at_least` to 2 % more (or 16 more) that have no prime
// factor above 13, and the least of several. A filter of so many lines folds to each divisor, and so to nearly every
// size below its half: for a number of keys that nobody knew the folded filter is 8 % larger than necessary on average.
std::uint64_t most_divisible(std::uint64_t at_least) noexcept;

}  // namespace bfstore::sizing

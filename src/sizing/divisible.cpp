// A number with many divisors (divisible.hpp).
#include "sizing/divisible.hpp"

#include <algorithm>
#include <span>

namespace bfstore::sizing {
namespace {

constexpr std::uint64_t kPrimes[] = {13, 11, 7, 5, 3, 2};

struct Best {
  std::uint64_t number;
  std::uint64_t divisors = 0;
};

// Looks at `number` times each product of powers of these primes. A number has as many divisors as there are ways to
// choose the powers of its primes.
void search(std::span<const std::uint64_t> primes, std::uint64_t number, std::uint64_t divisors, std::uint64_t at_least,
            std::uint64_t at_most, Best& best) noexcept {
  if (primes.empty()) {
    const bool better = divisors > best.divisors || (divisors == best.divisors && number < best.number);
    if (number >= at_least && better) best = {number, divisors};
    return;
  }
  for (std::uint64_t powers = 1;; ++powers) {
    search(primes.subspan(1), number, divisors * powers, at_least, at_most, best);
    if (number > at_most / primes.front()) return;
    number *= primes.front();
  }
}

}  // namespace

std::uint64_t most_divisible(std::uint64_t at_least) noexcept {
  const std::uint64_t more = std::max<std::uint64_t>(at_least / 50, 16);
  Best best{at_least};
  search(kPrimes, 1, 1, at_least, at_least + more, best);
  return best.number;
}

}  // namespace bfstore::sizing

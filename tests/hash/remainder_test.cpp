// Remainders without a division for each number, at the edges of the numbers and of the divisors.
#include "hash/remainder.hpp"

#include "support/support.hpp"

using namespace rooms;

TEST_CASE("remainders are those of the division, also where the quotient by the reciprocal is one too small") {
  std::vector<std::uint64_t> edges;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    edges.insert(edges.end(), {power - 1, power, power + 1, ~power, ~std::uint64_t{0} / power});
  }
  const std::vector<std::uint64_t> any = mixed(1, 1000);
  edges.insert(edges.end(), any.begin(), any.end());
  for (const std::uint64_t divisor : edges) {
    if (divisor == 0) continue;
    const hash::Remainder remainder(divisor);
    for (const std::uint64_t number : edges) {
      REQUIRE(remainder(number) == number % divisor);
      REQUIRE(remainder(number / divisor * divisor) == 0);
    }
  }
}

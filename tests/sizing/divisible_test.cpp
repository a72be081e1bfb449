// A number with many divisors, for a filter that is to be folded.
#include "sizing/divisible.hpp"

#include <cmath>

#include "support/support.hpp"

using namespace rooms;

namespace {

// 0 for a number with a prime factor above 13.
std::uint64_t divisors_of_smooth(std::uint64_t number) {
  std::uint64_t divisors = 1;
  for (const std::uint64_t prime : {2U, 3U, 5U, 7U, 11U, 13U}) {
    std::uint64_t powers = 1;
    for (; number % prime == 0; number /= prime) ++powers;
    divisors *= powers;
  }
  return number == 1 ? divisors : 0;
}

// The largest divisor of `number` that is at most `times`.
std::uint64_t largest_divisor(std::uint64_t number, std::uint64_t times) {
  while (number % times != 0) --times;
  return times;
}

}  // namespace

TEST_CASE("no number in reach has more divisors, and none that has as many is less") {
  for (std::uint64_t at_least = 1; at_least < 3000; at_least += at_least < 100 ? 1 : 37) {
    const std::uint64_t number = sizing::most_divisible(at_least);
    const std::uint64_t most = at_least + std::max<std::uint64_t>(at_least / 50, 16);
    REQUIRE(number >= at_least);
    REQUIRE(number <= most);
    const std::uint64_t divisors = divisors_of_smooth(number);
    CHECK(divisors > 0);
    for (std::uint64_t other = at_least; other <= most; ++other)
      CHECK_MESSAGE(divisors_of_smooth(other) < divisors + (other >= number ? 1 : 0), at_least, " ", number, " ",
                    other);
  }
}

TEST_CASE("a number of any size is found") {
  for (std::uint64_t at_least = 1; at_least < std::uint64_t{1} << 48; at_least = at_least * 3 + 1) {
    const std::uint64_t number = sizing::most_divisible(at_least);
    CHECK(number >= at_least);
    CHECK(number <= at_least + std::max<std::uint64_t>(at_least / 50, 16));
    CHECK(divisors_of_smooth(number) > 0);
  }
}

// As divisible.hpp and the guide say.
TEST_CASE(
    "a fold to less than half is a twelfth larger than necessary on average, and never more than half as large again") {
  for (const std::uint64_t lines : {20'000U, 1'000'003U, 27'000'001U}) {
    const std::uint64_t number = sizing::most_divisible(lines);
    double sum = 0;
    constexpr int kSizes = 200;
    for (int i = 0; i < kSizes; ++i) {
      const auto wanted = static_cast<std::uint64_t>(
          std::ceil(static_cast<double>(lines) / (2 * std::pow(50, static_cast<double>(i) / kSizes))));
      const std::uint64_t got = number / largest_divisor(number, number / wanted);
      const double larger = static_cast<double>(got) / static_cast<double>(wanted);
      CHECK(larger < 1.51);
      sum += larger;
    }
    CHECK(sum / kSizes < 1.12);
  }
}

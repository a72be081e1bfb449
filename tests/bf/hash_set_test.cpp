// Compares the size of a hash set that `bf plan` prints with the bytes that malloc gives out for a real one.
#include "hash_set.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <string>
#include <unordered_set>

namespace {

std::uint64_t allocated_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;  // hblkhd: blocks with a mapping of their own
}

std::string key_of(std::uint64_t number, std::size_t bytes) {
  std::string key = std::to_string(number);
  key.insert(0, bytes - key.size(), 'k');
  return key;
}

std::uint64_t measured_bytes(std::uint64_t keys, std::size_t key_bytes) {
  const std::uint64_t before = allocated_bytes();
  std::unordered_set<std::string> set;
  set.reserve(keys);
  for (std::uint64_t number = 0; number < keys; ++number) {
    std::string key = key_of(number, key_bytes);
    key.shrink_to_fit();
    set.insert(std::move(key));
  }
  REQUIRE(set.size() == keys);
  return allocated_bytes() - before;
}

}  // namespace

TEST_CASE("a hash set takes the memory that bf plan says, for keys of each length") {
  constexpr std::uint64_t kKeys = 200'000;
  for (const std::size_t key_bytes : {7U, 15U, 16U, 24U, 39U, 40U, 100U}) {
    const auto said = static_cast<double>(bf::hash_set_bytes(kKeys, key_bytes));
    CAPTURE(key_bytes);
    CHECK(static_cast<double>(measured_bytes(kKeys, key_bytes)) == doctest::Approx(said).epsilon(0.03));
  }
}

TEST_CASE("the size of a hash set that no memory could hold is the largest number") {
  CHECK(bf::hash_set_bytes(UINT64_MAX / 2, 24) == UINT64_MAX);
  CHECK(bf::hash_set_bytes(100'000'000, 24) == 12'000'000'000);
}

// Keys and shapes that the tests and their worker processes agree on.
#pragma once

#include <bfstore/bfstore.hpp>

#include <cstdint>
#include <string>

namespace store_test {

// 4,000 keys at 16 bits: while few are in it, hardly a key that was never added is "maybe".
bfstore::Options small_options();

// Distinct for each pair, so that a test knows what every process added.
std::string key_of(unsigned writer, std::uint64_t number);
inline constexpr unsigned kNobody = 999;  // a writer whose keys are never added
inline constexpr std::uint64_t kSome = 200;

// Returns how many of the keys may be there.
std::uint64_t maybes(const bfstore::Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count);

}  // namespace store_test

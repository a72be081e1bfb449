// The factor by which the long tests are shortened, and whether a sanitizer watches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tests {

inline std::uint64_t scale_of_the_environment() {
  const char* text = std::getenv("KEY_SCALE");
  return text == nullptr ? 1 : std::max<std::uint64_t>(std::stoull(text), 1);
}

// Long tests divide their keys, rounds and lives by this. The build's option `key_scale` writes it into the environment
// of each test. A program that a person starts does all of its work.
inline const std::uint64_t kKeyScale = scale_of_the_environment();

// What a test of moderate length does in a build for a sanitizer, where it takes several times as long (tools/test).
inline std::uint64_t if_slow(std::uint64_t few, std::uint64_t usual) { return kKeyScale > 10 ? few : usual; }

}  // namespace tests

// A sanitizer that watches has address space of its own, and is slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESTS_SANITIZED 1
#elif defined(__has_feature)
#define TESTS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define TESTS_SANITIZED 0
#endif

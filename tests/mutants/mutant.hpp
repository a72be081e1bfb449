// Mistakes that can be switched on, one at a time, to see that the tests notice each of them (run.py). The sources know
// nothing of them: the tables put them into copies (tables.py). Every file that is compiled includes this first.
#pragma once

#if __cplusplus >= 202002L  // a client of the C ABI is compiled as older C++
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace bfstore {

// Returns whether the mistake of this name is made. Not inlined, so that all names can be found in the library.
[[gnu::noinline]] inline bool mutant(std::string_view name) noexcept {
  static const char* const chosen = std::getenv("BFSTORE_MUTANT");
  return chosen != nullptr && name == chosen;
}

// A byte of the file that only mutants lock: for a lock that is forgotten.
inline constexpr std::uint64_t kNobodysLock = 99;

}  // namespace bfstore
#endif

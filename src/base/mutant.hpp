// Mistakes in the protocol that can be switched on, one at a time, to see that the tests notice each of them
// (tests/mutants.py). They exist in a build with -Dmutants=true alone: in any other one every switch is a constant.
#pragma once

#include <cstdint>

#ifdef BFSTORE_MUTANTS
#include <cstdlib>
#include <string_view>
#endif

namespace bfstore::base {

// Whether the mistake of this name is made: at the line of the protocol that is then not followed.
#ifdef BFSTORE_MUTANTS
inline bool mutant(std::string_view name) noexcept {
  static const char* const chosen = std::getenv("BFSTORE_MUTANT");
  return chosen != nullptr && name == chosen;
}
#else
consteval bool mutant(const char*) noexcept { return false; }
#endif

// A byte of the file that only mutants lock: for a lock that is forgotten.
inline constexpr std::uint64_t kNobodysLock = 99;

}  // namespace bfstore::base

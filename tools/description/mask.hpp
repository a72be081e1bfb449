// A mask before a word that is only text: CLI11 would otherwise split "[a,b]" in two, or take a word for an option.
#pragma once

#include <string>

namespace tools {

// No argument of a program can have a NUL, so no other word looks like it.
inline constexpr char kMask = '\0';

inline bool is_masked(const std::string& word) { return word.starts_with(kMask); }

inline std::string unmasked(std::string word) {
  if (is_masked(word)) word.erase(0, 1);
  return word;
}

}  // namespace tools

// The word that a user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tools {

// The only one of the known words that begins with `word`, of three letters or more. Otherwise the first of them that
// differs least from `word`: by few letters that are added, left out, changed or swapped with their neighbour. Empty if
// all differ too much.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// " Did you mean create?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace tools

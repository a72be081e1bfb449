// The command that a user means by a word that is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bf {

// " Did you mean contains?", also for search, which other programs have, and for a mistyped search; or nothing.
std::string did_you_mean_command(std::string_view word, const std::vector<std::string>& commands);

}  // namespace bf

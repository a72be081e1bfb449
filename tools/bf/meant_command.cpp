// See meant_command.hpp.
#include "meant_command.hpp"

#include "nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace bf {
namespace {

using Other = std::pair<std::string_view, std::string_view>;
// Names that other programs and libraries have for what bf does.
constexpr std::array kOtherNames{
    Other{"search", "contains"}, Other{"lookup", "contains"},   Other{"query", "contains"},
    Other{"find", "contains"},   Other{"exists", "contains"},   Other{"has", "contains"},
    Other{"ask", "contains"},    Other{"test", "contains"},     Other{"get", "contains"},
    Other{"info", "inspect"},    Other{"show", "inspect"},      Other{"stat", "inspect"},
    Other{"stats", "inspect"},   Other{"status", "inspect"},    Other{"new", "create"},
    Other{"make", "create"},     Other{"init", "create"},       Other{"reserve", "create"},
    Other{"insert", "add"},      Other{"put", "add"},           Other{"append", "add"},
    Other{"delete", "remove"},   Other{"del", "remove"},        Other{"rm", "remove"},
    Other{"empty", "clear"},     Other{"reset", "clear"},       Other{"union", "merge"},
    Other{"diff", "compare"},    Other{"backup", "copy"},       Other{"repair", "recover"},
    Other{"window", "turn"},     Other{"expire", "turn"},       Other{"rotate", "turn"},
    Other{"uniq", "dedup"},      Other{"unique", "dedup"},      Other{"size", "plan"},
    Other{"shrink", "fold"},     Other{"version", "--version"}, Other{"check", "contains, or verify"},
    Other{"list", "inspect"},    Other{"ls", "inspect"},        Other{"mk", "create"}};

}  // namespace

std::string did_you_mean_command(std::string_view word, const std::vector<std::string>& commands) {
  std::vector<std::string> known = commands;  // first: a word that is as near to a command means the command
  constexpr std::size_t kShort = 5;           // a mistyped name that is shorter is like too many words
  for (const Other& other : kOtherNames) {
    if (other.first.size() >= kShort || other.first == word) known.emplace_back(other.first);
  }
  const std::string found = tools::nearest(word, known);
  const auto* const other =
      std::find_if(kOtherNames.begin(), kOtherNames.end(), [&](const Other& one) { return one.first == found; });
  const std::string meant(other == kOtherNames.end() ? std::string_view(found) : other->second);
  return meant.empty() ? "" : " Did you mean " + meant + "?";
}

}  // namespace bf

// See nearest.hpp.
#include "nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tools {
namespace {

using Row = std::vector<std::size_t>;

// Optimal string alignment: Levenshtein's distance, in which two swapped neighbours are one mistake.
std::size_t distance(std::string_view a, std::string_view b) {
  Row before_last(b.size() + 1);
  Row last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    Row row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

// The one that begins so, if it is only one.
std::string begun(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLeast = 3;
  std::string found;
  for (const std::string& one : known) {
    if (word.size() < kLeast || !one.starts_with(word)) continue;
    if (!found.empty()) return "";
    found = one;
  }
  return found;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 64;  // no name is that long, and the work is the product of both lengths
  if (word.size() > kLongest) return "";
  if (const std::string meant = begun(word, known); !meant.empty()) return meant;
  std::string best;
  std::size_t limit = word.size() / 3 + 2;  // a word of which more than a third is wrong is another word
  for (const std::string& one : known) {
    const std::size_t wrong = distance(word, one);
    if (wrong >= limit || wrong >= one.size()) continue;
    limit = wrong;
    best = one;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : " Did you mean " + meant + "?";
}

}  // namespace tools

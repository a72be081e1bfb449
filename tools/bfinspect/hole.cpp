// See hole.hpp.
#include "hole.hpp"

#include <utility>

#include "facts.hpp"
#include "words.hpp"

namespace bfinspect {

std::string words_of_hole(const std::string& path) {
  auto report = bfstore::inspect(path, true);
  if (!report) return {};
  Facts facts;
  facts.report = std::move(*report);
  facts.stretches = look_along(facts.report);
  return facts.lacks_bits() ? missing_bits_advice(facts) : std::string();
}

}  // namespace bfinspect

// The facts as a page for a person.
#pragma once

#include <string>

#include "facts.hpp"
#include "terminal.hpp"

namespace bfinspect {

std::string page_of(const Facts& facts, const Style& style);

}  // namespace bfinspect

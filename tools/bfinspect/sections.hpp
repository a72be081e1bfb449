// The facts in sections, for a person: the same on every sheet.
#pragma once

#include "facts.hpp"
#include "sheet.hpp"

namespace bfinspect {

Colour colour_of(Verdict verdict);

void put_facts(Sheet& sheet, const Facts& facts);

}  // namespace bfinspect

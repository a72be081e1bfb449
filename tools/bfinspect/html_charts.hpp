// The pictures of the page for a browser: SVG elements without a size of their own, whose colors are classes of the
// page's style.
#pragma once

#include <string>

#include "facts.hpp"

namespace bfinspect {

// Where a sealed file has other bytes than those that were sealed. Empty if it has none, or if they were not compared.
std::string damage_chart(const Facts& facts);

// How full the filter is from its start to its end. Empty if that is not known.
std::string fill_chart(const Facts& facts);

// The false-positive rate against the number of keys, and where the filter is now. Empty if the bits were not counted,
// or if the file has several filters.
std::string rate_chart(const Facts& facts);

}  // namespace bfinspect

// The pictures of the page for a browser: SVG elements without a size of their own, whose colors are classes of the
// page's style.
#pragma once

#include <string>
#include <vector>

#include "facts.hpp"

namespace bfinspect {

// How full the filter is from its start to its end. `shares`: see fill_along(). Empty if there are none.
std::string fill_chart(const std::vector<double>& shares, const Facts& facts);

// The false-positive rate against the number of keys, and where the filter is now. Empty if the bits were not counted,
// or if the file has several filters.
std::string rate_chart(const Facts& facts);

}  // namespace bfinspect

// The facts as one HTML file for a browser, which needs no network.
#pragma once

#include <string>
#include <vector>

#include "facts.hpp"

namespace bfinspect {

// `shares`: how full the body is from its start to its end (fill_along()).
std::string html_of(const Facts& facts, const std::vector<double>& shares);

}  // namespace bfinspect

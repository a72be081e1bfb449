// The facts as one HTML file for a browser, which needs no network.
#pragma once

#include <string>

#include "facts.hpp"

namespace bfinspect {

std::string html_of(const Facts& facts);

}  // namespace bfinspect

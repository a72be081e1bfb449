// What each fact means, for a reader who sees it for the first time.
#pragma once

#include <string_view>

namespace bfinspect {

// One or two sentences about the row with this label (sections.cpp). Empty for the rows that are sentences themselves.
std::string_view meaning_of(std::string_view label);

}  // namespace bfinspect

// What bf says of a file with a hole, as bfinspect does.
#pragma once

#include <string>

namespace bfinspect {

// What it means that bits of this filter file may be missing, and what to do. Empty if none are, or if that cannot be
// told. Reads the whole body.
std::string words_of_hole(const std::string& path);

}  // namespace bfinspect

// How full the body of a filter file is from its start to its end.
#pragma once

#include <bfstore/inspect.hpp>

#include <vector>

namespace bfinspect {

// The share of set bits (or of counters that are not 0) in at most 64 stretches of the body, all of one length. Reads
// the whole body. Empty if the file is not a good filter file, or cannot be read.
std::vector<double> fill_along(const bfstore::Report& report);

}  // namespace bfinspect

// How full the body of a filter file is from its start to its end.
#pragma once

#include <bfstore/inspect.hpp>

#include <cstddef>
#include <vector>

namespace bfinspect {

// The share of set bits (or of counters that are not 0) in at most 64 stretches of the body, all of one length. Reads
// the whole body. Empty if the file is not a good filter file, or cannot be read.
std::vector<double> fill_along(const bfstore::Report& report);

// The stretches with far fewer set bits than chance explains: bits of them were lost, in a hole of the file or by a
// copy that did not finish. In ascending order. None if the hash is not bfstore's own, for others may be uneven.
std::vector<std::size_t> emptier_stretches(const std::vector<double>& shares, const bfstore::Report& report);

// True if an empty stretch would be one of those: enough bits are set for that.
bool hole_would_show(const std::vector<double>& shares, const bfstore::Report& report);

}  // namespace bfinspect

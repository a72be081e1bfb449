// How full the body of a filter file is from its start to its end, and whether bits of it may be missing.
#pragma once

#include <bfstore/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bfinspect {

// A part of the body. A cell is a bit, or a counter, which is set if it is not 0.
struct Stretch {
  std::uint64_t cells = 0;
  std::uint64_t set = 0;

  [[nodiscard]] double share() const { return static_cast<double>(set) / static_cast<double>(cells); }
};

struct Stretches {
  std::vector<Stretch> all;  // at most 64, in the order of the file. All have one length, but the last may be shorter
  bool judged = false;       // the filter's hash spreads keys evenly over them; otherwise the rest is unknown
  bool hole_would_show = false;        // enough keys were added that an empty stretch would be in `emptier`
  bool too_short = false;              // it would not be even if all other bits were set
  std::vector<std::size_t> emptier{};  // those with fewer set cells than chance explains, ascending
};

// Judges stretches that were read twice: `fewer` has the lower count of each, and `more` the higher one. Both are the
// same if no process wrote meanwhile.
Stretches judged(const std::vector<Stretch>& fewer, const std::vector<Stretch>& more, std::uint32_t num_probes);

// Reads the whole body, and a second time if a stretch is emptier. Empty if the file is not a good filter file, or
// cannot be read.
std::optional<Stretches> look_along(const bfstore::Report& report);

}  // namespace bfinspect

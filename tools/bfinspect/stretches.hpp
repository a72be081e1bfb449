// How full the body of a filter file is from its start to its end, and whether bits of it may be missing.
#pragma once

#include <bfstore/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bfinspect {

// A part of the body. A cell is a bit, or a counter, which is set if it is not 0.
struct Stretch {
  std::uint64_t cells = 0;
  std::uint64_t set = 0;
  std::uint32_t slice = 0;  // of a body that grows: the number of the slice that it is in

  [[nodiscard]] double share() const { return static_cast<double>(set) / static_cast<double>(cells); }
};

struct Stretches {
  // At most 64, in the order of the file. All have one length, but the last, and the last of a slice, may be shorter.
  std::vector<Stretch> all;
  bool judged = false;                 // the filter's hash spreads keys evenly over them; otherwise the rest is unknown
  bool hole_would_show = false;        // enough keys were added that an empty stretch would be in `emptier`
  bool too_short = false;              // it would not be even if all other bits were set
  std::vector<std::size_t> emptier{};  // those with fewer set cells than chance explains, ascending
};

// Counts the set cells of each stretch of a body that is read in pieces, in order: of one that grows, slice by slice.
class StretchCounter {
 public:
  // The report is that of a good file.
  explicit StretchCounter(const bfstore::Report& report, unsigned cell_bits);

  void take(std::span<const std::uint64_t> words);
  // Empty unless the words that were taken are as many as the body had when the report was made.
  [[nodiscard]] std::optional<std::vector<Stretch>> stretches() const;

 private:
  void begin_stretch();

  unsigned cell_bits_;
  std::vector<std::uint64_t> slice_words_;
  std::uint64_t body_bits_;   // those of the last word that are beyond m are never set
  std::uint64_t body_words_;  // of all slices
  std::uint64_t length_;      // of a stretch, in words
  std::uint64_t taken_ = 0;
  std::uint64_t end_ = 0;  // of the stretch, as `taken_`
  std::uint64_t slice_end_ = 0;
  std::vector<Stretch> stretches_;
};

// Judges stretches that were read twice: `fewer` has the lower count of each, and `more` the higher one. Both are the
// same if no process wrote meanwhile. A slice is compared with itself alone, since a later one has fewer keys.
Stretches judged(const std::vector<Stretch>& fewer, const std::vector<Stretch>& more, std::uint32_t num_probes);

// Judges stretches of this filter that were read once, if its hash spreads keys evenly. Empty if its layout is unknown.
std::optional<Stretches> judged_once(const bfstore::ReportedIdentity& id, std::vector<Stretch> stretches);

// Reads the whole body, and a second time if a stretch is emptier. Empty if the file is not a good filter file, or
// cannot be read.
std::optional<Stretches> look_along(const bfstore::Report& report);

}  // namespace bfinspect

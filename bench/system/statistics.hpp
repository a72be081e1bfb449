// Medians and percentiles of one repetition's samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench::system {

// The sample with `share` (0 to 1) of all samples below it.
inline double percentile(std::vector<double> samples, double share) {
  const auto place =
      std::min(samples.size() - 1, static_cast<std::size_t>(share * static_cast<double>(samples.size())));
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

inline double median(std::vector<double> samples) { return percentile(std::move(samples), 0.5); }

}  // namespace bench::system

// The math of the layouts' rates and estimates: bits are bins, and probes are throws.
//
// A filter of B bins after t throws has E[fill] = 1 - (1 - 1/B)^t and the variance of the classical occupancy problem
// (Johnson & Kotz, "Urn Models and Their Application", 1977).
#pragma once

namespace bfstore::layout {

// A number of bins, at least 3, with the logarithms of two chances: that a throw misses one bin, and that it misses
// both of two bins. Make it once for many numbers of throws.
struct Bins {
  explicit Bins(double bins) noexcept;
  double number;
  double log_miss;
  double log_miss_both;
};

// The mean and the variance of the share of bins that are still empty after that many throws.
struct Emptiness {
  double mean;
  double variance;
};
Emptiness emptiness(const Bins& bins, double throws) noexcept;

// The share of bins that are not empty: its mean, and its squared coefficient of variation.
struct Filled {
  double mean;
  double spread = 0;
};
Filled filled(const Bins& bins, double throws) noexcept;

// The false-positive rate: E[fill^k], which is more than E[fill]^k (Bose et al., "On the false-positive rate of Bloom
// filters", 2008). With c the fill's squared coefficient of variation, E[fill^k] = E[fill]^k exp(k (k-1) / 2 * c). That
// is within 0.3 % of the exact distribution for every filter that is not absurdly sparse, and within 2.5 % above it
// where the bins are 64 (sizing_test.cpp compares them).
double occupancy_rate(const Filled& fill, double probes) noexcept;

// A key's probes are k consecutive states of a multiplicative generator, and so they are states of 2k - 1 runs: a key
// whose run begins j states before or after that of a key in the filter finds k - j bits set by that key, and the other
// j with the chance E[fill^j]. Returns the factor by which false positives of all these runs are more frequent than
// those of equal runs.
double runs_that_meet(const Filled& fill, double probes) noexcept;

// The next functions are for filters whose keys have all of their probes in one line of `bins` cells. The filter has
// `cells` cells in all.
//
// The rate is the mean of a line's rate over its Poisson load (Putze, Sanders & Singler, "Cache-, Hash- and
// Space-Efficient Bloom Filters", 2007), plus, for each key of the line, the chance that its run meets that of the key
// that is asked for.
double line_rate(double bins, double keys, double cells, double probes) noexcept;
// The mean fill: the mean of 1 - (1 - 1/B)^(kx) over a line's Poisson load x.
double line_fill(double bins, double keys, double cells, double probes) noexcept;

// The same for filters whose keys have one probe in each of the eight words of a block. Given a block's load x, each
// word has the asked bit with the chance 1 - (31/32)^x, and the words do not depend on each other (Putze, Sanders &
// Singler; Apache Parquet, "BloomFilter.md").
inline constexpr double kBlockWords = 8, kBlockWordBits = 32, kBlockBits = kBlockWords * kBlockWordBits;
double split_block_rate(double keys, double cells) noexcept;
double split_block_fill(double keys, double cells) noexcept;

// The chance that two keys of a line have equal runs: 2^-32 for the 32 bits of h, or, with more than 2^32 lines, 1 /
// (the number of digests that lead to a line).
double equal_runs(double lines) noexcept;

// The rate of a line with `set` set cells, in a filter of `lines` lines.
double rate_of_line(double bins, double set, double lines, double probes) noexcept;

// The number of throws after which `set` of `bins` bins are expected not to be empty: ln(1 - fill) / ln(1 - 1/B), less
// the bias of the logarithm's mean. The bias is half the squared coefficient of variation of the empty share (Jensen's
// inequality, to the second order). A full filter counts as if half a bin were empty.
double estimated_throws(double bins, double set) noexcept;

// estimated_throws() without the correction of the bias; infinite if every bin is set.
double raw_throws(double bins, double set) noexcept;

// The variance of that estimate (the delta method: the empty share's variance over its mean's square). Infinite if
// every bin is set, since any greater number of throws would have set them, too.
double variance_of_throws(double bins, double set) noexcept;

// The variance of the estimate after that many throws, at least 0.
double variance_after(double bins, double throws) noexcept;

}  // namespace bfstore::layout

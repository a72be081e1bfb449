// Bits as bins, probes as throws: the maths of the layouts' rates and estimates.
//
// A filter of B bins after t throws has E[fill] = 1 - (1 - 1/B)^t and the variance of the classical occupancy problem
// (Johnson & Kotz, "Urn Models and Their Application", 1977).
#pragma once

namespace bfstore::layout {

// A number of bins, at least 3, with the logarithms of two chances: that a throw misses one bin, and that it misses
// both of two bins. Made once for many numbers of throws.
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

// The false-positive rate: E[fill^k], which is more than E[fill]^k (Bose et al., "On the false-positive rate of Bloom
// filters", 2008). With c the fill's squared coefficient of variation, E[fill^k] = E[fill]^k exp(k (k-1) / 2 * c). That
// is within 0.3 % of the exact distribution for every filter that is not absurdly sparse (sizing_test.cpp compares
// them).
double occupancy_rate(const Bins& bins, double throws, double probes) noexcept;

// Filters whose keys have all of their probes in one line of `bins` cells, of `cells` in all.
//
// The rate is the mean of a line's rate over its Poisson load (Putze, Sanders & Singler, "Cache-, Hash- and
// Space-Efficient Bloom Filters", 2007), plus the chance that a key of the same line has the same 32 bits of h. That
// chance is 2^-32, or, with more than 2^32 lines, 1 / (the number of digests that lead to a line).
double line_rate(double bins, double keys, double cells, double probes) noexcept;
// The mean fill: over a line's Poisson load x that of 1 - (1 - 1/B)^(kx).
double line_fill(double bins, double keys, double cells, double probes) noexcept;

// The number of throws after which `set` of `bins` bins are expected not to be empty: ln(1 - fill) / ln(1 - 1/B), less
// the bias of the logarithm's mean. The bias is half the squared coefficient of variation of the empty share (Jensen's
// inequality, to the second order). A full filter counts as if half a bin were empty.
double estimated_throws(double bins, double set) noexcept;

// The same with that bias; infinite if every bin is set.
double raw_throws(double bins, double set) noexcept;

// The variance of that estimate (the delta method: the empty share's variance over its mean's square). Infinite if
// every bin is set, since any greater number of throws would have set them, too.
double variance_of_throws(double bins, double set) noexcept;

// The variance of the estimate after that many throws, at least 0.
double variance_after(double bins, double throws) noexcept;

}  // namespace bfstore::layout

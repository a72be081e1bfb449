// Bits as bins, probes as throws: the maths that the layouts' rates and estimates stand on.
//
// A filter of B bins after t throws has E[fill] = 1 - (1 - 1/B)^t and the variance of the classical occupancy problem
// (Johnson & Kotz, "Urn Models and Their Application", 1977).
#pragma once

namespace bfstore::layout {

// A number of bins, at least 3 of them, and the logarithms of the chances that one bin is not hit, and that neither of
// two is: once for many numbers of throws.
struct Bins {
  explicit Bins(double bins) noexcept;
  double number;
  double log_miss;
  double log_miss_both;
};

// The mean and the variance of the part of the bins that is still empty after so many throws.
struct Emptiness {
  double mean;
  double variance;
};
Emptiness emptiness(const Bins& bins, double throws) noexcept;

// The false-positive rate: E[fill^k], which is more than E[fill]^k (Bose et al., "On the false-positive rate of Bloom
// filters", 2008); with c the fill's squared coefficient of variation, E[fill^k] = E[fill]^k exp(k (k-1) / 2 * c) to
// within 0.3 % of the exact distribution for every filter that is not absurdly sparse (sizing_test.cpp compares them).
double occupancy_rate(const Bins& bins, double throws, double probes) noexcept;

// How many throws lead to so many bins that are not empty: ln(1 - fill) / ln(1 - 1/B), less what the mean of the
// logarithm is too high by, half the squared coefficient of variation of the empty part (Jensen's inequality, to the
// second order). A full filter counts as if half a bin were empty.
double estimated_throws(double bins, double set) noexcept;

}  // namespace bfstore::layout

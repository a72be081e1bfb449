// From n, p, m and k to each other. Pure maths, no I/O.
//
// Sources of the formulas:
// - A filter of B bins after t throws has E[fill] = 1 - (1 - 1/B)^t and the variance of the classical occupancy problem
//   (Johnson & Kotz, "Urn Models and Their Application", 1977). The false-positive rate is E[fill^k], which is more
//   than E[fill]^k (Bose et al., "On the false-positive rate of Bloom filters", 2008); with c the fill's squared
//   coefficient of variation, E[fill^k] = E[fill]^k exp(k (k-1) / 2 * c) to within 0.3 % of the exact distribution for
//   every filter that is not absurdly sparse (tests/rooms/sizing_test.cpp compares them).
// - Blocked: the mean of that over the Poisson load of a 512-bit block (Putze, Sanders & Singler, "Cache-, Hash- and
//   Space-Efficient Bloom Filters", 2007), plus the chance that a key of the same block has the same 32 bits of h:
//   2^-32, and where there are more than 2^32 lines 1 by the number of digests that lead to a line.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>

namespace bfstore::sizing {

// Below this rate the 32 bits of h that place a key's probes inside its line are too few.
inline constexpr double kBlockedFloor = 1e-8;

// The false-positive rate of m bits and k probes with n keys in them.
double false_positive_rate(Layout layout, std::uint64_t num_keys, std::uint64_t num_bits,
                           std::uint32_t num_probes) noexcept;

// The k from 1 to 64 with the lowest rate.
std::uint32_t best_probes(Layout layout, std::uint64_t num_keys, std::uint64_t num_bits) noexcept;

struct Size {
  std::uint64_t num_bits = 0;
  std::uint32_t num_probes = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;  // as asked for; where it was not, what the others lead to
};

// The pairs of Options, of which exactly one must be given; `max_body_bytes` stands for max_bytes less what is not
// body. kInvalid names the option that is out of range or one too many; kSizing says what can be had instead.
Result<Size> solve(Layout layout, const Options& options, std::uint64_t max_body_bytes);

// Bytes of the body that holds m bits, and the bits of the largest filter that fits into so many bytes.
std::uint64_t body_bytes(Layout layout, std::uint64_t num_bits) noexcept;

// m rounded up to what the layout can have.
std::uint64_t whole_bits(Layout layout, std::uint64_t num_bits) noexcept;

// How many keys are in m bits of which `set_bits` are set: -(m/k) ln(1 - fill) (Swamidass & Baldi, "Mathematical
// Correction for Fingerprint Similarity Measures to Improve Chemical Retrieval", 2007). A full filter counts as if half
// a bit were missing.
double estimated_keys(std::uint64_t num_bits, std::uint64_t set_bits, std::uint32_t num_probes) noexcept;

}  // namespace bfstore::sizing

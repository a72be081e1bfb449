// Computes n, p, m and k from each other, for every layout. The layout's row has the rate (src/layout). Only math, no
// I/O.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <string>

#include "layout/layout.hpp"

namespace bfstore::sizing {

using layout::Row;

// The false-positive rate of m bits and k probes with n keys in them.
double false_positive_rate(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits,
                           std::uint32_t num_probes) noexcept;

// The k from 1 to 64 with the lowest rate.
std::uint32_t best_probes(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits) noexcept;

// The largest number of keys with which the rate of k probes (0: of the best k for those keys) is at most `fpr` < 1; 0
// if one key is too many.
std::uint64_t most_keys(const Row& row, std::uint64_t num_bits, std::uint32_t num_probes, double fpr) noexcept;

struct Size {
  std::uint64_t num_bits = 0;
  std::uint32_t num_probes = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;  // as asked for; otherwise what the other values lead to, and 0 in the bare form
};

// 0 is "not given". Bindings know whether a zero was given, and pass such a zero as -0.0, which no filter can have.
bool is_given(double number) noexcept;

// kInvalid names the number that no filter can have.
Error check_ranges(const Options& options);

// kSizing if the layout reaches no rate as low as `fpr`.
Error check_reach(const Row& row, std::uint64_t capacity, double fpr);

// Computes the smallest m that keeps the promise with k probes (0: with any number of them), and k. kSizing if no m
// does. Every m keeps a rate of 1, and that of no key: then m is the layout's fewest bits.
Result<Size> solve_for_rate(const Row& row, std::uint64_t capacity, double fpr, std::uint32_t num_probes = 0);

// The program whose m and k are computed from capacity and fpr. kTutorials: those of most tutorials, but only if
// Options::tutorial_sizing asks for them. The others: always their own, because their files have n and p, and the
// programs make copies of them. kPythonBloomfilter also needs that m for its slices.
enum class Program { kTutorials, kPythonBloomfilter, kPybloomfilter, kLibbloom };

// Solves the pairs of Options, of which exactly one must be given. `max_body_bytes` is max_bytes less all that is not
// body. `only_probes` is the k of a hash that has no other one, and 0 for other hashes. kInvalid names the option that
// is out of range or one too many. kSizing says what is possible instead.
Result<Size> solve(const Row& row, const Options& options, std::uint64_t max_body_bytes,
                   Program program = Program::kTutorials, std::uint32_t only_probes = 0);

// The bits of a key in filters of libbloom, which its files have as a number of their own.
double libbloom_bits_per_key(double fpr) noexcept;

// Formats a number with four digits, for messages.
std::string number(double value);

}  // namespace bfstore::sizing

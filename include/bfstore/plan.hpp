// Plans a filter before it is made: computes from any two or more numbers the rest, for each layout.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/layouts.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <vector>

namespace bfstore {

// Zero means "not given". Any two or more of these, but at most two of capacity, bits_per_key, and num_bits or
// max_bytes. With capacity alone, fpr is 0.01.
struct PlanRequest {
  Layout layout = Layout::kBlocked;
  std::uint64_t capacity = 0;    // n
  double fpr = 0;                // p: the highest rate at n keys, 0 < p < 1
  double bits_per_key = 0;       // bits of the body for each of the n keys
  std::uint64_t max_bytes = 0;   // of the whole file
  std::uint64_t num_bits = 0;    // m
  std::uint32_t num_probes = 0;  // k
  Hash hash = Hash::kXxh3;
  std::uint64_t window_ms = 0;  // only of a layout whose keys expire: for how long they are kept
  // Only of a layout that grows: the number of keys that all of its slices have room for. Not given: some 11,000 n.
  std::uint64_t capacity_at_most = 0;
};

// A file that grows, with some of its slices.
struct GrownPlan {
  std::uint64_t capacity = 0;  // n of all these slices
  std::uint64_t body_bytes = 0;
  std::uint64_t file_bytes = 0;
};

// Numbers that were not given: k is the best one; m is the smallest, and n the largest, that keeps the rate. From k
// with n or m alone, the other is where half of the bits are set. If neither n nor m follows, n is a million keys.
struct Plan {
  LayoutInfo layout;             // what filters of this layout and hash can do
  std::uint64_t capacity = 0;    // n
  std::uint64_t num_bits = 0;    // m, a size that the layout can have
  std::uint32_t num_probes = 0;  // k
  // The bits that keys can set: fewer than m only for kJavaPolynomial with an m that is not a power of two. Rates are
  // those of so many bits.
  std::uint64_t num_reached = 0;
  double fpr = 0;           // the false-positive rate at n keys (FORMAT.md, "Rates and estimates")
  double bits_per_key = 0;  // bits of the body / n
  std::uint64_t body_bytes = 0;
  std::uint64_t file_bytes = 0;
  double fill_ratio = 0;  // the share of m that is set at n keys
  // (1 - e^(-kn/m))^k, Bloom's formula. The real rate is above it where m is small (Bose et al., "On the false-positive
  // rate of Bloom filters", 2008), and wherever a key's probes share a line (Putze, Sanders & Singler, "Cache-, Hash-
  // and Space-Efficient Bloom Filters", 2007).
  double bloom_fpr = 0;
  // The average number of different 64-byte lines, and of 4 KiB pages, that a lookup of a present key reads. A lookup
  // of an absent key may end earlier.
  double cache_lines = 0;
  double page_faults = 0;
  // 0 unless the window was given. An epoch lasts epoch_ms, and ends by a turn, which writes turn_bytes. A key is found
  // for window_ms after its last add, and for longest_found_ms at most, if every turn is made in time.
  std::uint64_t window_ms = 0;
  std::uint64_t epoch_ms = 0;
  std::uint64_t longest_found_ms = 0;
  std::uint64_t turn_bytes = 0;
  // Of a layout that grows, whose numbers above are those of its first slice, but for fpr, which is the rate of all
  // slices, and cache_lines and page_faults: how many times as large as the one before each slice is, and what the file
  // is with 1, 2, .. slices.
  std::uint32_t growth = 0;
  std::vector<GrownPlan> grown{};
};

// kInvalid names the number that is missing, out of range, or one too many, or says that the layout has no window.
// kSizing: no such filter exists.
[[nodiscard]] Result<Plan> plan(const PlanRequest& request);

}  // namespace bfstore

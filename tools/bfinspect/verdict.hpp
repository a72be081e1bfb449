// Judges a report: healthy, in need of attention, or not a filter to trust. Pure functions.
#pragma once

#include <bfstore/inspect.hpp>
#include <bfstore/plan.hpp>

#include <cstdint>
#include <optional>

#include "stretches.hpp"

namespace bfinspect {

// The exit codes.
enum class Verdict : int { kHealthy = 0, kNeedsAttention = 1, kNotGood = 2, kFailed = 3 };

// The body of now. If it grows, the numbers of the identity are those of its first slice, and these are those of all
// slices that it has.
struct Body {
  std::uint64_t num_bits = 0;
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;
};

// The report has an identity.
Body body_of(const bfstore::Report& report);

// True if the file gets another slice when those that it has are full.
bool can_grow(const bfstore::Report& report);

// The numbers by which rates follow from numbers of keys. The report has an identity.
bfstore::PlanRequest numbers_of(const bfstore::Report& report);

// The adds less the removes that the header counts; empty if it counts none. Without counters each add that counts is
// another key, and the keys that found all their bits set are missing.
std::optional<std::uint64_t> keys_counted(const bfstore::Report& report);

// True if the filter has more keys than those with which it keeps its promised rate: by the adds and removes that its
// header counts, which is what bf warns of, or by its bits. Empty if neither is known, or if no rate is promised.
std::optional<bool> is_overfull(const bfstore::Report& report);

// True if every answer is "maybe", whatever the bits are.
bool answers_maybe_alone(const bfstore::Report& report);

// True if the header counts far more keys than the bits are enough for.
bool counts_keys_without_bits(const bfstore::Report& report);

// True if bits were lost, as far as chance allows to say so: in a hole of the file, or by a copy that did not finish,
// or because the header counts keys whose bits are not there. Empty if the bits were not counted, or if the hash may
// spread keys unevenly.
std::optional<bool> may_lack_bits(const bfstore::Report& report, const std::optional<Stretches>& stretches);

// The share of absent keys that get the answer "maybe" now. Empty if the bits were not counted.
std::optional<double> rate_now(const bfstore::Report& report);

// The number of keys that fit until the promised rate is reached, with all slices that there may be. It may be more
// than what is left of the capacity.
std::optional<std::uint64_t> remaining_keys(const bfstore::Report& report);

// The number of keys that fit until the file gets another slice. Empty if it gets none, or if keys were not counted.
std::optional<std::uint64_t> keys_until_next_slice(const bfstore::Report& report);

// The expected fill ratio with as many keys as the filter was made for.
std::optional<double> fill_at_capacity(const bfstore::Report& report);

// The expected fill ratio of the epoch that has the most keys, which fill_at_capacity() is the limit of: an epoch that
// is too full breaks the promise, though the other epochs are empty. Empty if keys do not expire, or if they were not
// counted.
std::optional<double> fullest_epoch(const bfstore::Report& report);

// True if the layout has counters instead of bits, so that keys can be removed.
bool has_counters(const bfstore::ReportedIdentity& identity);
// True if no key can be added to such a filter.
bool is_built_once(const bfstore::ReportedIdentity& identity);

// Bits of the body for each key that the filter was made for: with more slices it is the same.
double bits_per_key(const bfstore::ReportedIdentity& identity);

// The number of keys that the counters still hold and no remove will take: leaks of killed adds and removes, and of
// repeated recoveries and merges. Empty if the layout has no counters, or if they were not counted. After a power cut,
// which may make the counts of adds and removes too low, it may be wrong.
std::optional<double> keys_leaked(const bfstore::Report& report);

// Above this share of the keys a leak is worth a rebuild.
inline constexpr double kMuchLeaked = 0.01;

// True if more than that has leaked, and not by the chance of the estimate. Empty if that is not known.
std::optional<bool> is_leaky(const bfstore::Report& report);

// True if the state needs no action.
bool is_good(bfstore::FileState state);

Verdict verdict_of(const bfstore::Report& report, const std::optional<Stretches>& stretches = std::nullopt);

}  // namespace bfinspect

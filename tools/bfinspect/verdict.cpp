// See verdict.hpp.
#include "verdict.hpp"

#include <bfstore/layouts.hpp>

#include <algorithm>
#include <cmath>

#include "promise.hpp"

namespace bfinspect {
namespace {

using bfstore::FileState;
using bfstore::Report;

// A filter of another program may have no known capacity.
bool has_promise(const Report& report) { return report.valid() && report.identity && report.identity->capacity != 0; }

bfstore::Result<bfstore::Plan> plan_of(const Report& report) { return bfstore::plan(numbers_of(report)); }

std::uint64_t keys_within_promise(const Report& report) {
  bfstore::PlanRequest request = numbers_of(report);
  request.fpr = report.identity->fpr;
  return tools::keys_within_promise(request);
}

// The standard deviation of the number of keys that is estimated from the fill. With rho = kn/m, where m are the bits
// that keys reach, the number of bits that are still zero has the variance m e^-rho (1 - e^-rho (1 + rho)) (the
// occupancy problem: Johnson & Kotz, "Urn Models and Their Application", 1977), and one bit more or less is 1/(k
// e^-rho) keys. It is the same for a sum over blocks.
double estimate_deviation(double keys, double bits, double probes) {
  const double load = probes * keys / bits;
  return std::sqrt(bits * (std::exp(load) - 1 - load)) / probes;
}

// The bits that keys reach in all slices that there may be.
double most_reached(const Report& report, const bfstore::Plan& plan) {
  const auto first = static_cast<double>(plan.num_reached);
  if (!report.growing) return first;
  return first * static_cast<double>(report.growing->at_most.num_bits) /
         static_cast<double>(report.growing->first.num_bits);
}

}  // namespace

Body body_of(const Report& report) {
  const bfstore::ReportedIdentity& id = *report.identity;
  if (!report.growing) return {id.num_bits, id.capacity, id.body_bytes};
  const bfstore::Growing::Size& now = report.growing->now;
  return {now.num_bits, now.capacity, now.num_bits / 8};
}

bool can_grow(const Report& report) { return report.growing && report.growing->can_grow(); }

bfstore::PlanRequest numbers_of(const Report& report) {
  const bfstore::ReportedIdentity& id = *report.identity;
  bfstore::PlanRequest request;
  request.layout = static_cast<bfstore::Layout>(id.layout);
  request.hash = static_cast<bfstore::Hash>(id.hash);
  request.capacity = id.capacity;
  request.num_bits = id.num_bits;
  request.num_probes = id.num_probes;
  if (report.growing) request.capacity_at_most = report.growing->at_most.capacity;
  return request;
}

std::optional<std::uint64_t> keys_counted(const Report& report) {
  if (!report.keys_added || !report.keys_removed) return std::nullopt;
  return *report.keys_added - std::min(*report.keys_removed, *report.keys_added);
}

// The rate of now varies by chance, too.
static std::optional<bool> overfull_by_rate(const Report& report) {
  constexpr double kBeyondChance = 1.5;
  if (!report.fill) return std::nullopt;
  return report.fill->estimated_fpr > kBeyondChance * report.identity->fpr;
}

// The count is exact, and the estimate from the bits is not: with a filter that was filled exactly to its limit it must
// be above by four standard deviations (one filter in 30,000 by chance), and the rate above the promised one. The rate
// alone is not enough: for a blocked filter it varies more by chance than the number of keys does. A count of counters
// has repeated keys several times, which cost no false positives, so the bits decide where they were read.
//
// The count of a window has keys that expired, so the rate of now decides. So it does in a file that can still grow:
// its promise is that of all slices, and a slice that had to take too many keys, because there was no room for the next
// one, may keep it.
std::optional<bool> is_overfull(const Report& report) {
  if (!has_promise(report)) return std::nullopt;
  const bfstore::ReportedIdentity& id = *report.identity;
  const std::uint64_t most = keys_within_promise(report);
  const auto counted = keys_counted(report);
  const auto too_many = counted ? std::optional(*counted > most) : std::nullopt;
  if (can_grow(report) && !report.fill && counted && *counted <= body_of(report).capacity) return false;
  if (report.turning || can_grow(report)) return overfull_by_rate(report);
  if (!report.fill) return too_many;
  if (too_many == true && !has_counters(id)) return true;
  const auto plan = plan_of(report);
  if (!plan.ok()) return std::nullopt;
  constexpr double kDeviations = 4;
  const auto full = static_cast<double>(most);
  const double limit = full + kDeviations * estimate_deviation(full, most_reached(report, *plan), plan->num_probes);
  return report.fill->estimated_keys > limit && report.fill->estimated_fpr > id.fpr;
}

// An honest file may have a higher count than its bits tell:
// - Where keys expire, or were removed while a process was killed, the bits go and the count stays. So a window is
//   compared before its first turn only, and counters before their first remove, and while no process may begin one.
// - Two processes that add a key at once may both count it.
// - After a power cut, keys whose bits were lost are added again, and count again.
// - Bits of folded filters coincide, and digests from outside may be badly mixed. But each counted key set a bit.
// Where a line or a counter is full, the estimate has no upper end, and nothing is said.
bool counts_keys_without_bits(const Report& report) {
  constexpr double kFar = 8;
  const auto counted = keys_counted(report);
  if (!report.valid() || !report.identity || !report.fill || !counted) return false;
  if (report.turning && report.turning->epoch != 0) return false;
  if (has_counters(*report.identity) && (*report.keys_removed != 0 || report.state == FileState::kInUse)) return false;
  const bfstore::Fill& fill = *report.fill;
  if (fill.set_bits >= *counted) return false;
  return fill.set_bits == 0 || static_cast<double>(*counted) > kFar * (fill.estimated_keys_high + 1);
}

std::optional<bool> may_lack_bits(const Report& report, const std::optional<Stretches>& stretches) {
  if (counts_keys_without_bits(report)) return true;
  if (!stretches || !stretches->judged) return std::nullopt;
  return !stretches->emptier.empty();
}

bool answers_maybe_alone(const Report& report) {
  return report.filling || report.state == FileState::kRecovering || report.state == FileState::kPoisoned ||
         report.state == FileState::kSuperseded;
}

std::optional<double> rate_now(const Report& report) {
  if (!report.fill) return std::nullopt;
  return answers_maybe_alone(report) ? 1 : report.fill->estimated_fpr;
}

std::optional<std::uint64_t> remaining_keys(const Report& report) {
  if (!has_promise(report) || !report.fill || is_built_once(*report.identity)) return std::nullopt;
  const bfstore::Fill& fill = *report.fill;
  const std::uint64_t most = keys_within_promise(report);
  const double there = std::ceil(fill.estimated_keys);
  // Not a number, too, has no room.
  if (!(there < static_cast<double>(most)) || fill.estimated_fpr > report.identity->fpr || is_overfull(report) == true)
    return 0;
  return most - static_cast<std::uint64_t>(std::max(there, 0.0));
}

// The count decides when the file grows.
std::optional<std::uint64_t> keys_until_next_slice(const Report& report) {
  const auto counted = keys_counted(report);
  if (!has_promise(report) || !can_grow(report) || !counted) return std::nullopt;
  const std::uint64_t room = body_of(report).capacity;
  return room - std::min(room, *counted);
}

// All slices are filled alike.
std::optional<double> fill_at_capacity(const Report& report) {
  if (!has_promise(report)) return std::nullopt;
  const auto plan = plan_of(report);
  return plan.ok() ? std::optional(plan->fill_ratio) : std::nullopt;
}

// A filter that has as many keys in each epoch has this ratio just before a turn.
std::optional<double> fullest_epoch(const Report& report) {
  if (!report.valid() || !report.identity || !report.fill || !report.turning) return std::nullopt;
  const auto first = report.fill->keys_of_epochs.begin();
  const double keys = *std::max_element(first, first + report.turning->epochs) * (report.turning->epochs - 1);
  if (!(keys < 0x1p63)) return 1;
  if (keys < 1) return 0;
  bfstore::PlanRequest request = numbers_of(report);
  request.capacity = static_cast<std::uint64_t>(keys);
  const auto plan = bfstore::plan(request);
  return plan.ok() ? std::optional(plan->fill_ratio) : std::nullopt;
}

bool has_counters(const bfstore::ReportedIdentity& identity) {
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(identity.layout));
  return layout && layout->can.remove;
}

bool is_built_once(const bfstore::ReportedIdentity& identity) {
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(identity.layout));
  return layout && layout->can.build;
}

double bits_per_key(const bfstore::ReportedIdentity& identity) {
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(identity.layout));
  const double cell_bits = layout ? layout->cell_bits : 1;
  return static_cast<double>(identity.num_bits) * cell_bits / static_cast<double>(identity.capacity);
}

// Returns 0 if the number of keys left is not below the interval: a smaller difference may be chance.
std::optional<double> keys_leaked(const Report& report) {
  const auto counted = keys_counted(report);
  if (!report.valid() || !report.identity || !report.fill || !counted) return std::nullopt;
  if (!has_counters(*report.identity)) return std::nullopt;
  const auto left = static_cast<double>(*counted);
  return report.fill->estimated_keys_low > left ? report.fill->estimated_keys - left : 0;
}

// The error of the estimate must not explain the leak: four standard deviations, of which the interval has two. A
// killed call that the header did not count yet has leaked nothing so far, so an adoptable file is judged after its
// next close.
std::optional<bool> is_leaky(const Report& report) {
  const auto leaked = keys_leaked(report);
  if (!leaked || report.state == FileState::kAdoptable) return std::nullopt;
  const bfstore::Fill& fill = *report.fill;
  const bool beyond_chance = *leaked > 2 * (fill.estimated_keys - fill.estimated_keys_low);
  return beyond_chance && *leaked > kMuchLeaked * fill.estimated_keys;
}

bool is_good(FileState state) {
  switch (state) {
    case FileState::kClean:
    case FileState::kInUse:
    case FileState::kAdoptable:
    case FileState::kEmbedded:
      return true;
    case FileState::kUnclean:
    case FileState::kRecovering:
    case FileState::kPoisoned:
    case FileState::kSuperseded:
    case FileState::kUnknown:
      break;
  }
  return false;
}

// Stretches that chance does not explain count in every good state. A file that only looks so, because millions of keys
// were being added to it, cannot be told from one that lost bits, whose "no" may be wrong.
Verdict verdict_of(const Report& report, const std::optional<Stretches>& stretches) {
  if (!report.valid()) return Verdict::kNotGood;
  const bool overfull = is_overfull(report).value_or(false);
  const bool leaky = is_leaky(report).value_or(false);
  const bool good = is_good(report.state) && !report.filling && !overfull && !leaky &&
                    !may_lack_bits(report, stretches).value_or(false);
  return good ? Verdict::kHealthy : Verdict::kNeedsAttention;
}

}  // namespace bfinspect

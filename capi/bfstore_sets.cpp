// The C ABI of sets of keys: copies, unions, intersections, parts, removes and plans.
#include <bfstore_sets.h>
#include <bfstore/delta.hpp>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "handle.hpp"
#include "keys.hpp"
#include "options.hpp"
#include "structs.hpp"

using capi::Filter;
using capi::Given;
using capi::guarded;
using capi::invalid;
using capi::key_of;
using capi::null_keys;
using capi::report;
using capi::with_given;

namespace {

// --- A comparison in C ---

bfs_interval interval_of(const bfstore::Interval& from) noexcept { return {from.estimate, from.low, from.high}; }

std::uint32_t differs_of(const bfstore::Differences& from) noexcept {
  return (from.layout ? BFS_DIFFERS_LAYOUT : 0) | (from.hash ? BFS_DIFFERS_HASH : 0) |
         (from.seed ? BFS_DIFFERS_SEED : 0) | (from.secret ? BFS_DIFFERS_SECRET : 0) |
         (from.num_probes ? BFS_DIFFERS_NUM_PROBES : 0) | (from.num_bits ? BFS_DIFFERS_NUM_BITS : 0) |
         (from.part ? BFS_DIFFERS_PART : 0);
}

bfs_comparison comparison_of(const bfstore::Comparison& from) noexcept {
  bfs_comparison all{};
  all.differs = differs_of(from.differ);
  all.comparable = from.comparable ? 1 : 0;
  all.equal = from.equal ? 1 : 0;
  all.a_in_b = from.a_in_b ? 1 : 0;
  all.b_in_a = from.b_in_a ? 1 : 0;
  all.some_in_both = from.some_in_both ? 1 : 0;
  all.num_bits = from.num_bits;
  all.set_bits_a = from.set_bits_a;
  all.set_bits_b = from.set_bits_b;
  all.set_bits_both = from.set_bits_both;
  all.keys_a = interval_of(from.keys_a);
  all.keys_b = interval_of(from.keys_b);
  all.keys_either = interval_of(from.keys_either);
  all.keys_both = interval_of(from.keys_both);
  all.jaccard = interval_of(from.jaccard);
  return all;
}

// --- New files ---

// What `use(sources, how)` makes of filters that a new file is made of.
template <class Use>
std::int32_t with_filters(const bfs_filter* const* filters, std::size_t count, const char* path, std::uint64_t flags,
                          const bfs_options* options, const char* function, bfs_error* error, Use use) noexcept {
  return with_given(flags, options, {function, capi::kFlagsOfCopies, capi::kCopying}, error, [&](const Given& given) {
    const std::string name = function;
    if (path == nullptr || (filters == nullptr && count != 0))
      return invalid(error, name + ": filters or path is null");
    if (!capi::possible(filters, count)) return invalid(error, name + ": count is greater than any array");
    std::vector<const Filter*> sources;
    for (const bfs_filter* const one : std::span(filters, count)) {
      if (one == nullptr) return invalid(error, name + ": one of the filters is null");
      sources.push_back(&one->filter);
    }
    return report(error, use(sources, given.copying()));
  });
}

// What `use(how)` makes of three paths.
template <class Use>
std::int32_t with_delta(std::initializer_list<const char*> paths, std::uint64_t flags, const bfs_options* options,
                        const char* function, bfs_error* error, Use use) noexcept {
  const capi::Taken taken{function, BFS_REPLACE | BFS_ANY_FILESYSTEM, capi::kCopying};
  return with_given(flags, options, taken, error, [&](const Given& given) {
    if (std::count(paths.begin(), paths.end(), nullptr) != 0)
      return invalid(error, std::string(function) + ": a path is null");
    const bfstore::SaveOptions how = given.copying();
    return report(error, use(bfstore::DeltaOptions{.mode = how.mode,
                                                   .replace = how.replace,
                                                   .any_filesystem = how.any_filesystem,
                                                   .lock_timeout_ms = how.lock_timeout_ms}));
  });
}

// --- Plans ---

bfstore::PlanRequest plan_request_of(const bfs_plan_request& from) noexcept {
  bfstore::PlanRequest request;
  request.layout = capi::layout_or_default(from.layout);
  request.capacity = from.capacity;
  request.fpr = from.fpr;
  request.bits_per_key = from.bits_per_key;
  request.max_bytes = from.max_bytes;
  request.num_bits = from.num_bits;
  request.num_probes = from.num_probes;
  return request;
}

std::uint32_t abilities_of(const bfstore::Capabilities& can) noexcept {
  return (can.add ? BFS_CAN_ADD : 0) | (can.remove ? BFS_CAN_REMOVE : 0) | (can.merge ? BFS_CAN_MERGE : 0) |
         (can.fold ? BFS_CAN_FOLD : 0) | (can.grow ? BFS_CAN_GROW : 0) | (can.expire ? BFS_CAN_EXPIRE : 0) |
         (can.intersect ? BFS_CAN_INTERSECT : 0) | (can.build ? BFS_CAN_BUILD : 0);
}

bfs_plan_result plan_result_of(const bfstore::Plan& plan) noexcept {
  bfs_plan_result result{};
  result.layout = static_cast<std::uint32_t>(plan.layout.layout);
  result.num_probes = plan.num_probes;
  result.abilities = abilities_of(plan.layout.can);
  result.num_bits = plan.num_bits;
  result.capacity = plan.capacity;
  result.fpr = plan.fpr;
  result.bits_per_key = plan.bits_per_key;
  result.body_bytes = plan.body_bytes;
  result.file_bytes = plan.file_bytes;
  result.fill_ratio = plan.fill_ratio;
  result.bloom_fpr = plan.bloom_fpr;
  result.cache_lines = plan.cache_lines;
  result.page_faults = plan.page_faults;
  return result;
}

}  // namespace

int32_t bfs_copy(const bfs_filter* filter, const char* path, uint64_t flags, const bfs_options* options,
                 bfs_error* error) {
  if (filter == nullptr || path == nullptr) return invalid(error, "bfs_copy: filter or path is null");
  const capi::Taken taken{"bfs_copy", capi::kFlagsOfCopies | BFS_SEALED | BFS_SAME_FILE_ID,
                          capi::kCopying | capi::kRate};
  return with_given(flags, options, taken, error,
                    [&](const Given& given) { return report(error, filter->filter.save(path, given.copying())); });
}

int64_t bfs_verify(const char* path, uint64_t flags, bfs_range* damaged, size_t capacity, bfs_error* error) {
  if (path == nullptr || (damaged == nullptr && capacity != 0))
    return invalid(error, "bfs_verify: path or damaged is null");
  int64_t ranges = 0;
  const int32_t code = guarded(error, [&] {
    if (const capi::Error wrong = capi::check_flags("bfs_verify", flags, BFS_NOFOLLOW); !wrong.ok())
      return report(error, wrong);
    const auto found = bfstore::verify(path, (flags & BFS_NOFOLLOW) != 0);
    if (!found) return report(error, found.error());
    ranges = static_cast<int64_t>(found->damaged.size());
    for (std::size_t i = 0; i < std::min(capacity, found->damaged.size()); ++i)
      damaged[i] = {found->damaged[i].offset, found->damaged[i].bytes};
    return BFS_OK;
  });
  return code < 0 ? code : ranges;
}

int32_t bfs_make_delta(const char* before, const char* after, const char* delta, uint64_t flags,
                       const bfs_options* options, bfs_error* error) {
  return with_delta({before, after, delta}, flags, options, "bfs_make_delta", error,
                    [&](const auto& how) { return bfstore::make_delta(before, after, delta, how); });
}

int32_t bfs_apply_delta(const char* before, const char* delta, const char* after, uint64_t flags,
                        const bfs_options* options, bfs_error* error) {
  return with_delta({before, delta, after}, flags, options, "bfs_apply_delta", error,
                    [&](const auto& how) { return bfstore::apply_delta(before, delta, after, how); });
}

int32_t bfs_merge(bfs_filter* into, const bfs_filter* from, bfs_error* error) {
  if (into == nullptr || from == nullptr) return invalid(error, "bfs_merge: into or from is null");
  return guarded(error, [&] { return report(error, into->filter.merge(from->filter)); });
}

int32_t bfs_intersect(const bfs_filter* const* filters, size_t count, const char* path, uint64_t flags,
                      const bfs_options* options, bfs_error* error) {
  return with_filters(filters, count, path, flags, options, "bfs_intersect", error,
                      [&](const auto& sources, const auto& how) { return Filter::intersect(sources, path, how); });
}

int32_t bfs_compare(const bfs_filter* a, const bfs_filter* b, bfs_comparison* out, bfs_error* error) {
  if (a == nullptr || b == nullptr || out == nullptr) return invalid(error, "bfs_compare: a, b or out is null");
  if (!capi::possible_size<bfs_comparison>(capi::size_said_by(out)))
    return invalid(error, "bfs_comparison.struct_bytes is not its size");
  return guarded(error, [&] {
    const auto found = a->filter.compare(b->filter);
    if (!found) return report(error, found.error());
    capi::fill_struct(out, comparison_of(*found));
    return BFS_OK;
  });
}

int32_t bfs_join(const bfs_filter* const* parts, size_t count, const char* path, uint64_t flags,
                 const bfs_options* options, bfs_error* error) {
  return with_filters(parts, count, path, flags, options, "bfs_join", error,
                      [&](const auto& sources, const auto& how) { return Filter::join(sources, path, how); });
}

int32_t bfs_remove(bfs_filter* filter, const void* key, size_t key_bytes) {
  if (filter == nullptr || null_keys(key, key_bytes)) return BFS_EINVAL;
  return capi::one(filter->filter.remove(key_of(key, key_bytes)));
}

int64_t bfs_remove_keys(bfs_filter* filter, const bfs_keys* keys) {
  return capi::with_keys(filter, keys, [filter](const auto& all) { return filter->filter.remove_keys(all); });
}

int64_t bfs_count_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* counts) {
  const auto all_many = [](std::span<std::uint8_t> to) noexcept { std::fill(to.begin(), to.end(), std::uint8_t{15}); };
  return capi::with_answers(filter, keys, counts, all_many, [filter](const auto& all, std::span<std::uint8_t> to) {
    return filter->filter.count_keys(all, to);
  });
}

int32_t bfs_turn(bfs_filter* filter, uint64_t from_epoch, bfs_error* error) {
  if (filter == nullptr) return invalid(error, "bfs_turn: filter is null");
  return guarded(error, [&] {
    const auto from = from_epoch == BFS_IF_DUE ? std::nullopt : std::optional<std::uint64_t>(from_epoch);
    const auto turned = filter->filter.turn(from);
    if (!turned.ok()) return report(error, turned.error());
    return *turned ? 1 : 0;
  });
}

int32_t bfs_plan(const bfs_plan_request* request, bfs_plan_result* out, bfs_error* error) {
  if (out == nullptr) return invalid(error, "bfs_plan: out is null");
  if (!capi::possible_size<bfs_plan_result>(capi::size_said_by(out)))
    return invalid(error, "bfs_plan_result.struct_bytes is not its size");
  return guarded(error, [&] {
    bfs_plan_request given{};
    if (const char* wrong = capi::read_struct(request, given); wrong != nullptr)
      return report(error, invalid(std::string("bfs_plan_request") + wrong));
    if (given.reserved != 0) return invalid(error, "bfs_plan_request: reserved is not 0");
    const auto plan = bfstore::plan(plan_request_of(given));
    if (!plan) return report(error, plan.error());
    capi::fill_struct(out, plan_result_of(*plan));
    return BFS_OK;
  });
}

const char* bfs_layout_name(uint32_t layout) {
  const auto known = bfstore::layout_of(capi::number_given<bfstore::Layout>(layout).value_or(bfstore::Layout{}));
  return known ? known->name : nullptr;
}

const char* bfs_hash_name(uint32_t hash) {
  const auto known = bfstore::hash_of(capi::number_given<bfstore::Hash>(hash).value_or(bfstore::Hash{}));
  return known ? known->name : nullptr;
}

int32_t bfs_layout_named(const char* name) {
  const auto known = bfstore::layout_named(name == nullptr ? "" : name);
  return known ? static_cast<int32_t>(known->layout) : BFS_EINVAL;
}

int32_t bfs_hash_named(const char* name) {
  const auto known = bfstore::hash_named(name == nullptr ? "" : name);
  return known ? static_cast<int32_t>(known->hash) : BFS_EINVAL;
}

// Says what a filter will be like, before it is made (bfstore/plan.hpp).
#include <bfstore/plan.hpp>

#include <cmath>
#include <string>

#include "base/fail.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"
#include "sizing/complete.hpp"
#include "sizing/epochs.hpp"
#include "store/file/reached.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace {

Options options_of(const PlanRequest& request) {
  Options options;
  options.capacity = request.capacity;
  options.fpr = request.fpr;
  options.bits_per_key = request.bits_per_key;
  options.max_bytes = request.max_bytes;
  options.num_bits = request.num_bits;
  options.num_probes = request.num_probes;
  return options;
}

format::Identity file_of(std::uint64_t body_bytes) noexcept {
  format::Identity identity{Parameters{}};
  identity.form = format::Form::kFile;
  identity.header_bytes = format::header_bytes_for(identity.form, identity);
  identity.body_bytes = body_bytes;
  identity.body_offset = format::body_offset_in_file(body_bytes);
  return identity;
}

Error plan_growth(Plan& plan, const layout::Row& row, std::uint64_t capacity_at_most) {
  const auto growth =
      store::growth_of(row, {plan.num_bits, plan.num_probes, plan.capacity, plan.fpr}, capacity_at_most);
  if (!growth) return growth.error();
  if (!*growth) return {};
  format::Identity identity = file_of(plan.body_bytes);
  identity.growth = *growth;
  plan.growth = **growth;
  for (std::uint32_t slices = 1; slices <= kMaxSlices; ++slices) {
    const std::uint64_t times = format::times_as_many(plan.growth, slices);
    plan.grown.push_back({plan.capacity * times, plan.body_bytes * times, format::sections_of(identity, slices).end});
  }
  return {};
}

// A turn clears a word of each line, and so writes all lines.
void plan_window(Plan& plan, std::uint64_t window_ms) noexcept {
  if (window_ms == 0) return;
  plan.window_ms = window_ms;
  plan.epoch_ms = sizing::epoch_ms(window_ms, plan.layout.epochs);
  plan.longest_found_ms = sizing::longest_found_ms(window_ms, plan.layout.epochs);
  plan.turn_bytes = plan.body_bytes;
}

}  // namespace

Result<Plan> plan(const PlanRequest& request) {
  const layout::Row* const row = layout::find(static_cast<std::uint16_t>(request.layout));
  if (row == nullptr) {
    return base::fail(Code::kInvalid, "unknown layout " + std::to_string(static_cast<std::uint16_t>(request.layout)) +
                                          ". Give the number of one that this version has.");
  }
  const hash::Row* const hash = hash::find(static_cast<std::uint16_t>(request.hash));
  if (hash == nullptr) {
    return base::fail(Code::kInvalid, "unknown hash " + std::to_string(static_cast<std::uint16_t>(request.hash)) +
                                          ". Give the number of one that this version has.");
  }
  if (Error error = store::check_has_window(*row, request.window_ms); !error.ok()) return error;
  const layout::Row& rates = store::row_of_rates(*row, *hash);
  Options options = options_of(request);
  const auto size = store::solve_for_reached(*hash, options, [&](const Options& reached) {
    return sizing::complete(rates, reached, store::file_body_budget(request.max_bytes), hash->only_probes);
  });
  if (!size) return size.error();
  if (Error error = store::check_hash_takes(*row, *hash, options, size->num_bits, size->num_probes); !error.ok())
    return error;
  const auto keys = static_cast<double>(size->capacity);
  Plan plan;
  plan.layout = row->info;
  plan.layout.can.fold = plan.layout.can.fold && !hash->info.gives_positions;  // as Ask::folds()
  plan.capacity = size->capacity;
  plan.num_bits = size->num_bits;
  plan.num_probes = size->num_probes;
  plan.num_reached = hash->num_reached(size->num_bits);
  plan.fpr = size->fpr;
  const auto bits = static_cast<double>(plan.num_reached);
  const double probes = plan.num_probes;
  plan.body_bytes = layout::body_bytes(*row, size->num_bits);
  plan.file_bytes = format::sections_of(file_of(plan.body_bytes)).end;
  plan.bits_per_key = static_cast<double>(plan.body_bytes) * 8 / keys;
  plan.fill_ratio = rates.expected_fill(keys, bits, probes) * bits / static_cast<double>(size->num_bits);
  plan.bloom_fpr = std::pow(-std::expm1(-probes * keys / bits), probes);
  plan.cache_lines = row->places_read(plan.body_bytes, kLineBits / 8, probes);
  plan.page_faults = row->places_read(plan.body_bytes, format::kPageBytes, probes);
  plan_window(plan, request.window_ms);
  if (Error error = plan_growth(plan, *row, request.capacity_at_most); !error.ok()) return error;
  return plan;
}

}  // namespace bfstore

#include "store/derive/fold.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/fail.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::store {
namespace {

using base::fail;

constexpr const char* kUnnamed = "the filter";

// Divisors come in pairs, of which one is at most the root.
template <class Take>
void each_divisor(std::uint64_t number, Take take) {
  for (std::uint64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    take(i);
    take(number / i);
  }
}

// Returns the largest factor by which the filter can be folded so that the rate with its present keys is at most `fpr`.
Result<std::uint64_t> times_to_fold(const Ask& ask, const Shape& shape, double fpr) {
  if (!(fpr > 0 && fpr < 1)) return fail(Code::kInvalid, "the fpr is out of range. Give one such as 0.01.");
  if (!ask.folds())
    return fail(Code::kUnsupported, ask.home->name(kUnnamed) + ": filters of the layout " + ask.row.info.name +
                                        " with the hash " + hash_of(shape.hash)->name +
                                        " cannot be folded. Build a smaller one from all keys.");
  const auto counter = std::make_unique<layout::FillCounter>(ask.row, ask.target.geometry);  // stacks are small
  Error error = each_piece_of_body(ask, [&](std::uint64_t, std::span<const std::byte> piece) {
    counter->take(words_of(piece).data(), words_of(piece).size());
    return Error{};
  });
  if (!error.ok()) return error;
  const double keys = std::ceil(counter->fill().estimated_keys);
  const auto rate = [&](std::uint64_t times) {
    if (!(keys < static_cast<double>(shape.num_bits))) return 1.0;
    return sizing::false_positive_rate(ask.row, static_cast<std::uint64_t>(std::max(keys, 1.0)), shape.num_bits / times,
                                       shape.num_probes);
  };
  std::uint64_t most = 0;
  each_divisor(shape.num_bits / ask.row.unit_bits, [&](std::uint64_t times) {
    if (times > most && shape.num_bits / times >= ask.row.fewest_bits && rate(times) <= fpr) most = times;
  });
  if (most != 0) return most;
  return fail(Code::kSizing, ask.home->name(kUnnamed) + ": its rate with these keys is " + sizing::number(rate(1)) +
                                 " already. Give a higher fpr, or build a larger filter from all keys.");
}

// Returns n of the whole filter that has `parts` parts of this shape.
std::uint64_t whole_capacity(const layout::Row& row, const Shape& part, std::uint32_t parts) {
  return std::max<std::uint64_t>(sizing::most_keys(row, part.num_bits * parts, part.num_probes, part.fpr), 1);
}

}  // namespace

Result<std::uint64_t> fold(const Ask& ask, Content& content, double fpr) {
  if (!sizing::is_given(fpr)) return std::uint64_t{1};
  Shape& shape = content.identity.shape;
  const auto times = times_to_fold(ask, shape, fpr);
  if (!times) return times;
  shape.num_bits /= *times;
  shape.capacity = std::max<std::uint64_t>(sizing::most_keys(ask.row, shape.num_bits, shape.num_probes, fpr), 1);
  shape.fpr = fpr;
  if (auto& part = content.identity.part) part->capacity = whole_capacity(ask.row, shape, part->part.parts);
  content.identity.body_bytes = layout::body_bytes(ask.row, shape.num_bits);
  return times;
}

}  // namespace bfstore::store

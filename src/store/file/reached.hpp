// Turns a shape into the numbers that rates and estimates are computed from. Some hashes do not reach all m bits
// (hash::Row::num_reached): the bits that they reach count, and the others are only there.
#pragma once

#include <bfstore/options.hpp>

#include "base/arith.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"
#include "sizing/sizing.hpp"

namespace bfstore::store {

// The row of the rates and estimates of filters of this layout and hash: the layout's own, unless the hash has all
// positions of a key near each other.
inline const layout::Row& row_of_rates(const layout::Row& row, const hash::Row& hash) noexcept {
  switch (hash.spread) {
    case hash::Spread::kLine:
      return layout::kClassicInLinesRow;
    case hash::Spread::kSplitBlock:
      return layout::kSplitBlocksRow;
    case hash::Spread::kAnywhere:
      break;
  }
  return row;
}

// A counter of the bits of such a filter.
inline layout::FillCounter fill_counter(const Shape& shape, const layout::Geometry& geometry) noexcept {
  return {row_of_rates(layout::row_of(shape.layout), hash::row_of(shape.hash)), geometry};
}

inline layout::Geometry geometry_of(const Shape& shape) noexcept {
  const std::uint64_t reached = hash::row_of(shape.hash).num_reached(shape.num_bits);
  layout::Geometry geometry = layout::row_of(shape.layout).geometry(reached, shape.num_probes);
  geometry.num_bits = shape.num_bits;
  return geometry;
}

// Calls `solve` with the options, whose m becomes what the hash reaches of the m that was given. The answer has the m
// that was given, or one that was computed and rounded up to one that the hash takes. Changes the caller's options,
// because a copy would have the secret, too.
template <class Solve>
Result<sizing::Size> solve_for_reached(const hash::Row& hash, Options& options, Solve solve) {
  const std::uint64_t beyond_reach = options.num_bits - hash.num_reached(options.num_bits);
  options.num_bits -= beyond_reach;
  auto size = solve(options);
  if (size && options.num_bits == 0) size->num_bits = base::round_up(size->num_bits, hash.unit_bits);
  if (size) size->num_bits += beyond_reach;
  return size;
}

}  // namespace bfstore::store

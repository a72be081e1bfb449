// The only table of layouts, and the parts that the layouts and their kernels give to it.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "layout/layout.hpp"

namespace bfstore::layout {

// All layouts, in the order of their numbers.
std::span<const Row* const> rows() noexcept;

extern const Row kBlockedRow;
extern const Row kClassicRow;
extern const Row kCountingRow;

extern const Functions kBlockedAvx512;  // each only on the CPUs that may have it
extern const Functions kBlockedAvx2;
extern const Functions kBlockedNeon;
extern const Functions kCountingAvx512;
extern const Functions kCountingAvx2;
extern const Functions kCountingNeon;

}  // namespace bfstore::layout

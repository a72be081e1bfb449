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
extern const Row kStaticRow;
extern const Row kWindowRow;
extern const Row kWindow4Row;
extern const Row kWindow2Row;
extern const Row kGrowingRow;

extern const Functions kBlockedAvx512;  // each only on the CPUs that may have it
extern const Functions kBlockedAvx2;
extern const Functions kBlockedNeon;
extern const Functions kCountingAvx512;
extern const Functions kCountingAvx2;
extern const Functions kCountingNeon;
extern const Functions kWindowAvx512;
extern const Functions kWindow4Avx512;
extern const Functions kWindow2Avx512;
extern const Functions kStaticAvx512;
extern const Functions kStaticAvx2;
extern const Functions kWindowAvx2;
extern const Functions kWindow4Avx2;
extern const Functions kWindow2Avx2;
extern const Functions kGrowingAvx512;
extern const Functions kGrowingAvx2;
extern const Functions kGrowingNeon;

}  // namespace bfstore::layout

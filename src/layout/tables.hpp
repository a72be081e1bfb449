// What the layouts and their kernels hand to the table.
#pragma once

#include <utility>

#include "layout/layout.hpp"

namespace bfstore::layout {

extern const Row kBlockedRow;
extern const Row kClassicRow;

extern const Functions kBlockedAvx512;  // each only on the CPUs that may have it
extern const Functions kBlockedAvx2;
extern const Functions kBlockedNeon;

}  // namespace bfstore::layout

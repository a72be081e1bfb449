// What the layouts and their kernels hand to layout.cpp, which chooses among them.
#pragma once

#include "layout/layout.hpp"

namespace bfstore::layout {

extern const Functions kBlockedScalar;
extern const Functions kClassicScalar;
extern const Functions kBlockedAvx512;  // each only on the CPUs that may have it
extern const Functions kBlockedAvx2;
extern const Functions kBlockedNeon;

}  // namespace bfstore::layout

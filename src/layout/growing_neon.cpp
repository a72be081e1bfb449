// The layout that grows, with NEON.
#include <bfstore/layout/blocked_neon.hpp>

#include "layout/growing.hpp"
#include "layout/table.hpp"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((no_sanitize("thread")))

#include "layout/growing_kernel.inc"
using Kernel = EachSlice<Neon>;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kGrowingNeon = functions("neon");

}  // namespace bfstore::layout
#endif

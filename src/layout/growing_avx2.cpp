// The layout that grows, with AVX2. Only the functions are compiled for AVX2, by attribute: anything else that this
// file may define later must run on every CPU.
#include <bfstore/layout/blocked_avx2.hpp>

#include "layout/growing.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx2"), no_sanitize("thread")))

#include "layout/growing_kernel.inc"
using Kernel = EachSlice<Avx2>;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kGrowingAvx2 = functions("avx2");

}  // namespace bfstore::layout
#endif

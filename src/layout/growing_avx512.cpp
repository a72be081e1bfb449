// The layout that grows, with AVX-512. Only the functions are compiled for AVX-512, by attribute: anything else that
// this file may define later must run on every CPU.
#include <bfstore/layout/blocked_avx512.hpp>

#include "layout/growing.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx512f,avx512vl"), no_sanitize("thread")))

#include "layout/growing_kernel.inc"
using Kernel = EachSlice<Avx512>;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kGrowingAvx512 = functions("avx512");

}  // namespace bfstore::layout
#endif

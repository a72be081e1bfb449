// The blocked layout with AVX2. The functions alone are compiled for it, by attribute: whatever else this
// file may come to define is for every CPU.
#include <bfstore/layout/blocked_avx2.hpp>

#include "layout/tables.hpp"

#if defined(__x86_64__)
namespace bfstore::layout {
namespace {

// The words of a line are read by vector loads while others set bits: each word is read whole, which is all that a
// lookup needs, but it is a race in the words of the standard.
#define BFSTORE_TARGET __attribute__((target("avx2"), no_sanitize("thread")))

using Kernel = Avx2;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kBlockedAvx2 = functions("avx2");

}  // namespace bfstore::layout
#endif

// The blocked layout with NEON.
#include <bfstore/layout/blocked_neon.hpp>

#include "layout/tables.hpp"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
namespace bfstore::layout {
namespace {

// The words of a line are read by vector loads while others set bits: each word is read whole, which is all that a
// lookup needs, but it is a race in the words of the standard.
#define BFSTORE_TARGET __attribute__((no_sanitize("thread")))

using Kernel = Neon;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kBlockedNeon = functions("neon");

}  // namespace bfstore::layout
#endif

// The blocked layout with NEON.
#include <bfstore/layout/blocked_neon.hpp>

#include "layout/table.hpp"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((no_sanitize("thread")))

using Kernel = Neon;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kBlockedNeon = functions("neon");

}  // namespace bfstore::layout
#endif

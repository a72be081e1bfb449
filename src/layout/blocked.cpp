// The blocked layout, scalar: one 64-byte line a key (FORMAT.md, "Layouts").
#include "layout/tables.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

using Kernel = Scalar<Blocked>;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kBlockedScalar = functions("scalar");

}  // namespace bfstore::layout

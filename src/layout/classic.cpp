// The classic layout, scalar: k probes anywhere in m bits (FORMAT.md, "Layouts").
#include "layout/tables.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

using Kernel = Scalar<Classic>;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kClassicScalar = functions("scalar");

}  // namespace bfstore::layout

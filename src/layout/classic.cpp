// The classic layout, scalar: k probes anywhere in m bits (FORMAT.md, "Layouts").
#include "layout/scalar.hpp"
#include "layout/tables.hpp"

namespace bfstore::layout {

constexpr Functions kClassicScalar = scalar_functions<Classic>();

}  // namespace bfstore::layout

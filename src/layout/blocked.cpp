// The blocked layout, scalar: one 64-byte line a key (FORMAT.md, "Layouts").
#include "layout/scalar.hpp"
#include "layout/tables.hpp"

namespace bfstore::layout {

constexpr Functions kBlockedScalar = scalar_functions<Blocked>();

}  // namespace bfstore::layout

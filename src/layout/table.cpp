// The table is in its own file, so that a test of the table can link another one.
#include "layout/table.hpp"

namespace bfstore::layout {

std::span<const Row* const> rows() noexcept {
  static constexpr std::array kRows{&kBlockedRow, &kClassicRow, &kCountingRow, &kStaticRow,
                                    &kWindowRow,  &kWindow4Row, &kWindow2Row,  &kGrowingRow};
  return kRows;
}

}  // namespace bfstore::layout

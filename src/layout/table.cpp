// The table alone, so that a program that tests the table can link another one.
#include "layout/table.hpp"

namespace bfstore::layout {

std::span<const Row* const> rows() noexcept {
  static constexpr std::array kRows{&kBlockedRow, &kClassicRow, &kCountingRow};
  return kRows;
}

}  // namespace bfstore::layout

// The table is in its own file, so that a test of the table can link another one.
#include "format/record_table.hpp"

namespace bfstore::format {

std::span<const RecordRow* const> record_rows() noexcept {
  static constexpr std::array kRows{&kSecretCheckRow, &kSeedsRow,  &kNoteRow,  &kSealRow,
                                    &kPartRow,        &kWindowRow, &kGrowthRow};
  return kRows;
}

}  // namespace bfstore::format

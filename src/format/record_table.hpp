// The only table of parameter records.
#pragma once

#include <span>

#include "format/records.hpp"

namespace bfstore::format {

// All rows, in the order in which the records are written.
std::span<const RecordRow* const> record_rows() noexcept;

}  // namespace bfstore::format

// A filter in a range of a file of any format, mapped for reading.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

Result<std::unique_ptr<Ask>> open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                        const OpenOptions& options);

}  // namespace bfstore::store

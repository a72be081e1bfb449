// Why a file is not opened, or not written to any more, in words that name the way out.
#pragma once

#include <bfstore/inspect.hpp>

#include <string>

#include "format/state.hpp"
#include "region/file.hpp"
#include "store/evidence.hpp"

namespace bfstore::store {

// A file that is not opened in this state.
Error refused(const std::string& path, const format::FileId& file_id, FileState state, const Evidence& evidence);

// A file whose copy would have to answer.
Error still_filling(const region::File& file);

// Handles that can not go on.
Error unreadable(const region::File& file);
Error superseded(const region::File& file);
Error forked(const region::File& file);
Error writeback_failed(const region::File& file, int os_errno);

}  // namespace bfstore::store

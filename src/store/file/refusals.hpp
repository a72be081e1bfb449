// Errors for a file that is not opened, or no longer written to. Their messages name the way out.
#pragma once

#include <bfstore/inspect.hpp>

#include <string>

#include "format/state.hpp"
#include "region/file.hpp"
#include "store/file/evidence.hpp"

namespace bfstore::store {

// For a file that is not opened in this state.
Error refused(const std::string& path, const format::FileId& file_id, FileState state, const Evidence& evidence);

// For a file that a process of a later version has in a state of that version.
Error later_state(const std::string& path);

// For a file that cannot be copied, because the copy would have to answer.
Error still_filling(const std::string& path);

// For calls that only a file supports.
Error not_a_file();

// For handles that cannot continue.
Error unreadable(const region::File& file);
Error superseded(const region::File& file);
Error forked(const std::string& path);
Error remote_filesystem(const region::File& file);
Error shut(const std::string& path);
Error writeback_failed(const region::File& file, int os_errno);

// For a poisoned file. It does not keep why its sync did not end: a process was killed in it, or the disk refused a
// write.
Error earlier_sync(const region::File& file);

}  // namespace bfstore::store

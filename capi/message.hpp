// The text of a bfs_error. It is valid UTF-8 and fits the caller's record, even if a path has other bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace capi {

// Writes the message and a NUL, at most `room` bytes in all. A byte that is not part of valid UTF-8 becomes \xNN. If
// the message does not fit, its middle is left out, because it begins with a path and ends with the reason.
void write_message(char* to, std::size_t room, std::string_view message) noexcept;

}  // namespace capi

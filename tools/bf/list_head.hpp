// The first bytes of a stream, which stay in it.
#pragma once

#include <string>

namespace bf {

// Waits for the first bytes of a pipe or socket, and as long as they may become the sign of a kind of list
// (list_kind.hpp). Fewer where the stream ends, and none where it cannot be looked into: a device, or after a signal.
std::string head_of_stream(int fd, const std::string& name);

}  // namespace bf

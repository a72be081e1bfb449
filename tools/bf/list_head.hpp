// Looks at the first bytes of a stream, which stay in it.
#pragma once

#include <string>

namespace bf {

// Waits for the first bytes of a pipe or socket, and for more while they may become the sign of a kind of list
// (list_kind.hpp). Returns fewer bytes if the stream ends, and none if they cannot be seen without reading: from a
// device, or after a signal.
std::string head_of_stream(int fd, const std::string& name);

}  // namespace bf

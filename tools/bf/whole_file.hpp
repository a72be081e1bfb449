// A file that appears complete, or not at all.
#pragma once

#include <string>
#include <string_view>

namespace bf {

// Throws Failure, and then nothing has appeared. `replace`: another file may have the name. `mode` is less the umask.
void write_whole(const std::string& path, std::string_view bytes, bool replace, unsigned mode = 0666);

}  // namespace bf

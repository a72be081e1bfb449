// A file of text that appears complete, or not at all.
#pragma once

#include <string>
#include <string_view>

namespace bf {

// Throws Failure, and then nothing has appeared. `replace`: another file may have the name.
void write_whole(const std::string& path, std::string_view text, bool replace);

}  // namespace bf

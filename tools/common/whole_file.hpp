// Writes a file that appears complete, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tools {

// Throws Failure, and then no file has appeared. `replace`: another regular file may have the name. The new file gets
// its owner, group and mode, unless a `mode` is given. A given mode, and the `usual` mode of a new file, are less the
// umask.
void write_whole(const std::string& path, std::string_view bytes, bool replace, std::uint32_t usual,
                 std::optional<std::uint32_t> mode = {});

}  // namespace tools

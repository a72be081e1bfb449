// A file that appears complete, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bf {

// Throws Failure, and then nothing has appeared. `replace`: another file may have the name. It gives its owner, group
// and mode to the new one, unless there is a `mode`. That and the `usual` one of a new file are less the umask.
void write_whole(const std::string& path, std::string_view bytes, bool replace, std::uint32_t usual,
                 std::optional<std::uint32_t> mode = {});

}  // namespace bf

// Writes a file that appears complete, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tools {

// Says of a file that begins with these bytes, at least one and at most kFirstBytes, why no new one replaces it: "is no
// page of HTML, and --force replaces such pages alone". Returns "" if one may. A mistyped name destroys no other file.
using WhyKept = std::string (*)(std::string_view first);
inline constexpr std::size_t kFirstBytes = 512;

// Throws Failure, and then no file has appeared. `replace`: another regular file may have the name, if it is empty or
// `why_kept` has nothing against it. The new file gets its owner, group and mode, unless a `mode` is given. A given
// mode, and the `usual` mode of a new file, are less the umask.
void write_whole(const std::string& path, std::string_view bytes, bool replace, WhyKept why_kept, std::uint32_t usual,
                 std::optional<std::uint32_t> mode = {});

// True for the beginning of a document of XML or HTML whose first element is that one, in any case: after a declaration
// of XML, a <!DOCTYPE> and comments.
bool begins_with_element(std::string_view first, std::string_view element);

}  // namespace tools

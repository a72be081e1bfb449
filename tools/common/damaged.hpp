// How the content of a damaged filter comes back, the same in both programs.
#pragma once

#include <bfstore/inspect.hpp>

#include <string>
#include <string_view>

namespace tools {

// The end of the library's messages about damaged files. It fits every file, and bf copy --help says what it means.
inline constexpr const char* kByThreeSteps = "or put a copy back by the three steps of bf copy --help.";

// The same for a file that the programs could look at. No key is added to a `sealed` one, so a copy of it is put back
// in one step. `path`: the file.
std::string or_put_copy_back(const std::string& path, bool sealed);

// " --layout static": bf build does not take it from the file. Empty if the header does not say it, and where keys
// expire, because --window would be needed, too.
std::string layout_to_keep(const bfstore::Report& report);
// "bf build --force --layout static"
std::string build_again(const std::string& path);

// What a careless transfer made of a filter whose first bytes are these, as "a filter file whose line ends were
// converted", or nullptr. The magic bytes have bytes that such transfers change, like those of PNG.
const char* changed_filter(std::string_view first_bytes);

// The way out.
inline constexpr const char* kTransferAgain = "Copy it again, in binary mode";

}  // namespace tools

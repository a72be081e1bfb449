// Symbolic links in messages.
#pragma once

#include <string>

namespace tools {

// Empty if the path is not a symbolic link.
std::string target_of_link(const std::string& path);

// "link.bf: a symbolic link to users.bf, ...": why it cannot be used, and what to do. Empty if the path is not a
// symbolic link.
std::string refused_link(const std::string& path);

}  // namespace tools

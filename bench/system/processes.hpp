// The work of a copy of bfsystem that was started with --child.
#pragma once

#include <string>
#include <vector>

namespace bench::system {

int run_child(const std::vector<std::string>& arguments);

}  // namespace bench::system

// The work of a copy of bfsystem that was started with --child.
#pragma once

#include <string>
#include <vector>

namespace bench::system {

int run_child(const std::vector<std::string>& arguments);

// A child whose memory is limited (limited.cpp).
inline constexpr const char* kLimitedChild = "limited";
int ask_limited(const std::vector<std::string>& arguments);

}  // namespace bench::system

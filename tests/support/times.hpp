// How many times as long a random test runs: --times=N (main.cpp).
#pragma once

#include <cstdint>

namespace rooms {

extern std::uint64_t times;

}  // namespace rooms

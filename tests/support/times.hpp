// How many times a random test repeats, and with which numbers: --times=N and --seed=N (main.cpp).
#pragma once

#include <cstdint>

namespace rooms {

extern std::uint64_t times;
extern std::uint64_t seed;

}  // namespace rooms

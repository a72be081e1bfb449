// The options of random tests: --times=N repeats them, and --seed=N is their first seed (main.cpp).
#pragma once

#include <cstdint>

namespace rooms {

extern std::uint64_t times;
extern std::uint64_t seed;

}  // namespace rooms

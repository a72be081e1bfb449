// The headers that nearly every test includes, read once for all of them (tests/meson.build). No test relies on it:
// each includes what it uses, and tools/mutants compiles without.
#include <doctest/doctest.h>
#include <bfstore/bfstore.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

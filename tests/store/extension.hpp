// Allocations behind the end of a file (fallocate) that fail, or are interrupted by the work of other processes, when a
// test wants it: see faults.hpp. Its Scope does not end these.
#pragma once

#include <cstdint>
#include <functional>

namespace store_test::faults {

// Called before every fallocate, with the file, from where, and how many bytes: the errno, or 0, and then the blocks
// are allocated. And after every one that worked.
extern std::function<int(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_extend;
extern std::function<void()> after_extend;

}  // namespace store_test::faults

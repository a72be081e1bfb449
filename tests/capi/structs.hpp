// The C ABI's structs for the tests of it.
#pragma once

#include <bfstore.h>

#include <cstdint>

inline bfs_options options_of(std::uint64_t capacity) {
  bfs_options options{};
  options.struct_bytes = sizeof options;
  options.capacity = capacity;
  return options;
}

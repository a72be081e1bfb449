// The loops over a filter of bfstore that bench/windows_rivals.py and bench/growing_rivals.py time, and their keys.
#include "key_loops.h"

#include <bfstore_engine.h>

#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {

void loops_make_keys(std::uint64_t first, std::uint64_t count, char* keys) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t words[2] = {mixed(2 * (first + i) + 1), mixed(2 * (first + i) + 2)};
    std::memcpy(keys + i * KEY_BYTES, words, KEY_BYTES);
  }
}

std::int64_t loops_add(bfs_filter* filter, const char* keys, std::uint64_t count) {
  bool good = true;
  const std::int64_t began = cpu_now();
  for (std::uint64_t i = 0; i < count; ++i) good = bfs_add(filter, keys + i * KEY_BYTES, KEY_BYTES) >= 0 && good;
  const std::int64_t ended = cpu_now();
  return good ? ended - began : -1;
}

// Any of one or two filters.
std::int64_t loops_ask(bfs_filter* const* filters, std::uint32_t number, const char* keys, std::uint64_t count,
                       std::uint8_t* answers) {
  const std::int64_t began = cpu_now();
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* const key = keys + i * KEY_BYTES;
    answers[i] =
        bfs_contains(filters[0], key, KEY_BYTES) != 0 || (number == 2 && bfs_contains(filters[1], key, KEY_BYTES) != 0)
            ? 1
            : 0;
  }
  return cpu_now() - began;
}

std::int64_t loops_ask_many(bfs_filter* const* filters, std::uint32_t number, const char* keys, std::uint64_t count,
                            std::uint8_t* answers) {
  const bfs_keys all = bfs_keys_fixed(keys, KEY_BYTES, count);
  std::vector<std::uint8_t> others(number == 2 ? count : 0);
  const std::int64_t began = cpu_now();
  bool good = bfs_contains_keys(filters[0], &all, answers) >= 0;
  if (number == 2) {
    good = bfs_contains_keys(filters[1], &all, others.data()) >= 0 && good;
    for (std::uint64_t i = 0; i < count; ++i) answers[i] |= others[i];
  }
  const std::int64_t ended = cpu_now();
  return good ? ended - began : -1;
}

}  // extern "C"

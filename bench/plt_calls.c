#include "plt_calls.h"

int32_t bfbench_empty_call(const void* filter, uint64_t digest);

uint64_t bfbench_ask_digests(const bfs_filter* filter, const uint64_t* digests, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = 0; i < count; ++i) maybes += bfs_contains_digest(filter, digests[i]) != 0;
  return maybes;
}

uint64_t bfbench_ask_keys(const bfs_filter* filter, const unsigned char* keys, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = 0; i < count; ++i)
    maybes += bfs_contains(filter, keys + i * BFBENCH_KEY_BYTES, BFBENCH_KEY_BYTES) != 0;
  return maybes;
}

uint64_t bfbench_digest_and_ask_keys(const bfs_filter* filter, const unsigned char* keys, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t digest = 0;
    maybes += bfs_digest(filter, keys + i * BFBENCH_KEY_BYTES, BFBENCH_KEY_BYTES, &digest) != BFS_OK ||
              bfs_contains_digest(filter, digest) != 0;
  }
  return maybes;
}

uint64_t bfbench_call_nothing(const bfs_filter* filter, const uint64_t* digests, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = 0; i < count; ++i) maybes += bfbench_empty_call(filter, digests[i]) != 0;
  return maybes;
}

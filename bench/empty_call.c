/* The least that a call of a shared library costs: a function of one, with the arguments of bfs_contains_digest. */
#include <stdint.h>

int32_t bfbench_empty_call(const void* filter, uint64_t digest);

int32_t bfbench_empty_call(const void* filter, uint64_t digest) {
  (void)filter;
  (void)digest;
  return 0;
}

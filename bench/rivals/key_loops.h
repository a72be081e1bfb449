/* What the loops in C and C++ have in common that programs in Python time. Keys have 16 bytes each, one after the
 * other. Each function that takes keys returns the nanoseconds of CPU time that it took, or -1 if a call failed. */
#pragma once

#include <stdint.h>
#include <time.h>

enum { KEY_BYTES = 16 };

/* Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014). */
static inline uint64_t mixed(uint64_t number) {
  uint64_t z = number * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static inline int64_t cpu_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

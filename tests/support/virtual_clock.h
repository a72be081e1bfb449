/* A clock on which time passes only while something sleeps.  So a test sees how long a wait is, on any machine, and
 * does not wait for it.
 *
 * A program that links this, or loads it by LD_PRELOAD, has these functions instead of libc's clock_gettime and
 * nanosleep.  They do what libc's do until the clock is started.  Then they change the monotonic clock, which is
 * std::chrono::steady_clock, for all threads.  The sleeps of several threads add up.  Variables of the environment
 * start it at the beginning of a program:
 *
 * VIRTUAL_CLOCK_FILE names a file.  Its 8 bytes are the number of nanoseconds that the program has slept, and a test
 * may write another number. VIRTUAL_CLOCK_LEAST_SLEEP is the argument of virtual_clock_sleeps_last().
 * VIRTUAL_CLOCK_STOP_AT: the program stops itself (SIGSTOP) when it has slept that number of nanoseconds. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void virtual_clock_start(void);
void virtual_clock_stop(void);

/* Nanoseconds since the start. */
uint64_t virtual_clock_slept(void);

/* Every sleep takes at least this time, as on a busy machine.  virtual_clock_start() forgets it. */
void virtual_clock_sleeps_last(uint64_t nanoseconds);

/* The first thread whose sleep ends then or later calls `deed`, once.  virtual_clock_start() forgets it. */
void virtual_clock_call_at(uint64_t nanoseconds, void (*deed)(void));

#ifdef __cplusplus
}
#endif

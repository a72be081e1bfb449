#include "virtual_clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define A_SECOND UINT64_C(1000000000)
#define NEVER UINT64_MAX

static uint64_t own_count;
static uint64_t* slept = &own_count;
static int started;
static uint64_t begin; /* of the true clock */
static uint64_t least_sleep;
static void (*to_do)(void);
static uint64_t to_do_at = NEVER;

static uint64_t load(const uint64_t* number) { return __atomic_load_n(number, __ATOMIC_SEQ_CST); }
static void store(uint64_t* number, uint64_t value) { __atomic_store_n(number, value, __ATOMIC_SEQ_CST); }
static int is_started(void) { return __atomic_load_n(&started, __ATOMIC_SEQ_CST); }

static uint64_t nanoseconds_of(const struct timespec* time) {
  return (uint64_t)time->tv_sec * A_SECOND + (uint64_t)time->tv_nsec;
}

static int true_time(clockid_t clock, struct timespec* time) { return (int)syscall(SYS_clock_gettime, clock, time); }

void virtual_clock_start(void) {
  struct timespec now;
  true_time(CLOCK_MONOTONIC, &now);
  begin = nanoseconds_of(&now);
  least_sleep = 0;
  virtual_clock_call_at(NEVER, NULL);
  store(slept, 0);
  __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
}

void virtual_clock_stop(void) { __atomic_store_n(&started, 0, __ATOMIC_SEQ_CST); }

uint64_t virtual_clock_slept(void) { return load(slept); }

void virtual_clock_sleeps_last(uint64_t nanoseconds) { least_sleep = nanoseconds; }

void virtual_clock_call_at(uint64_t nanoseconds, void (*deed)(void)) {
  to_do = deed;
  store(&to_do_at, nanoseconds);
}

/* clock: this replaces it. */
int clock_gettime(clockid_t clock, struct timespec* time) {
  const int steady = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
  if (!steady || !is_started()) return true_time(clock, time);
  const uint64_t now = begin + load(slept);
  time->tv_sec = (time_t)(now / A_SECOND);
  time->tv_nsec = (long)(now % A_SECOND);
  return 0;
}

int nanosleep(const struct timespec* wanted, struct timespec* left) {
  if (!is_started()) return (int)syscall(SYS_nanosleep, wanted, left);
  const uint64_t asked = nanoseconds_of(wanted);
  const uint64_t length = asked > least_sleep ? asked : least_sleep;
  const uint64_t now = __atomic_add_fetch(slept, length, __ATOMIC_SEQ_CST);
  uint64_t due = load(&to_do_at);
  if (now >= due && __atomic_compare_exchange_n(&to_do_at, &due, NEVER, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) to_do();
  return 0;
}

static uint64_t number_in(const char* variable, uint64_t otherwise) {
  const char* const text = getenv(variable);
  return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void stop_here(void) { kill(getpid(), SIGSTOP); }

static void count_in(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ftruncate(file, sizeof *slept) != 0) abort();
  void* const mapped = mmap(NULL, sizeof *slept, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  slept = mapped;
  close(file);
}

__attribute__((constructor)) static void start_by_the_environment(void) {
  const char* const path = getenv("VIRTUAL_CLOCK_FILE");
  if (path == NULL) return;
  count_in(path);
  virtual_clock_start();
  virtual_clock_sleeps_last(number_in("VIRTUAL_CLOCK_LEAST_SLEEP", 0));
  virtual_clock_call_at(number_in("VIRTUAL_CLOCK_STOP_AT", NEVER), stop_here);
}

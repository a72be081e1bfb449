// The clock of the fuzzers' programs: a pause takes no time, and the monotonic clocks then say that it was as long as
// it was to be. So the library's waits for other processes, of milliseconds, do not decide how many inputs are tried.
// These functions stand in for the C library's. The clock of the day stays true: the kernel writes it into files'
// times.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
std::atomic<std::int64_t> g_paused_ns{0};

bool is_monotonic(clockid_t clock) noexcept { return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE; }

}  // namespace

extern "C" int nanosleep(const timespec* pause, timespec* /*left*/) {
  g_paused_ns += pause->tv_sec * kSecond + pause->tv_nsec;
  return 0;
}

// clock: the fuzzers' own, which only the library reads
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
  if (!is_monotonic(clock)) return 0;
  const std::int64_t ns = now->tv_nsec + g_paused_ns;
  now->tv_sec += ns / kSecond;
  now->tv_nsec = ns % kSecond;
  return 0;
}

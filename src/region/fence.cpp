#include "region/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace bfstore::region {
namespace {

// errno stays the caller's.
bool membarrier(int command) noexcept {
  const int callers = errno;
  const bool worked = syscall(SYS_membarrier, command, 0, 0) == 0;
  errno = callers;
  return worked;
}

// Only a sandbox refuses what the kernel can. Then this waits for much longer than any CPU keeps a store to itself.
void fence(int command) noexcept {
  constexpr std::chrono::milliseconds kAnyStore(20);
  if (!membarrier(command)) std::this_thread::sleep_for(kAnyStore);
}

}  // namespace

bool take_part_in_fences() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

void fence_in_this_process() noexcept { fence(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }
void fence_in_all_processes() noexcept { fence(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace bfstore::region

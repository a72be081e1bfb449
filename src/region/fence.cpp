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

}  // namespace

bool take_part_in_fences() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

// Only a sandbox that this process entered after it took part refuses the fence. Then this waits for much longer than
// any CPU keeps a store to itself.
void fence_in_this_process() noexcept {
  constexpr std::chrono::milliseconds kAnyStore(20);
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) std::this_thread::sleep_for(kAnyStore);
}

}  // namespace bfstore::region

#include "region/owners_lock.hpp"

#include <chrono>
#include <thread>

#include "region/fence.hpp"

namespace bfstore::region {

void OwnersLock::lock_mutex() noexcept {
  mutex_.lock();
  if (!had_owner_) {
    had_owner_ = true;
    if (take_part_in_fences()) owner_.store(pthread_self(), std::memory_order_relaxed);
  } else if (owner_.load(std::memory_order_relaxed) != pthread_t{}) {
    end_ownership();
  }
  has_mutex_ = true;
}

void OwnersLock::unlock_mutex() noexcept {
  has_mutex_ = false;
  mutex_.unlock();
}

void OwnersLock::end_ownership() noexcept {
  constexpr std::chrono::microseconds kPause(50);
  owner_.store(pthread_t{}, std::memory_order_relaxed);
  fence_in_this_process();
  while (is_inside_.load(std::memory_order_acquire)) std::this_thread::sleep_for(kPause);
}

}  // namespace bfstore::region

// A mutex that costs its first user no locked instruction. Never sees files.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace bfstore::region {

// A mutex for one thread that takes it again and again, and others that rarely do. The first thread that takes it
// becomes its owner, and takes it by plain stores from then on. The first other thread ends that for good: it asks the
// kernel for a fence in all threads (fence.hpp), and waits until the owner is not inside. If the kernel has no such
// fence, there is no owner. So taking and releasing this lock is no fence: an add makes its own (Ask::all_see).
class OwnersLock {
 public:
  OwnersLock() noexcept = default;
  OwnersLock(const OwnersLock&) = delete;
  OwnersLock& operator=(const OwnersLock&) = delete;

  void lock() noexcept {
    if (!enter()) lock_mutex();
  }
  void unlock() noexcept {
    if (has_mutex_) {
      unlock_mutex();
    } else {
      is_inside_.store(false, std::memory_order_release);
    }
  }

 private:
  // Either the other thread sees that the owner is inside, or the owner sees that it is the owner no more. The compiler
  // keeps the order of the store and the second load, and the other thread's fence makes the CPU keep it.
  bool enter() noexcept {
    const pthread_t self = pthread_self();
    if (owner_.load(std::memory_order_relaxed) != self) return false;
    static_cast<void>(is_inside_.load(std::memory_order_acquire));  // an ended thread may have had the same number
    is_inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (owner_.load(std::memory_order_relaxed) == self) [[likely]]
      return true;
    is_inside_.store(false, std::memory_order_release);
    return false;
  }
  void lock_mutex() noexcept;
  void unlock_mutex() noexcept;
  void end_ownership() noexcept;

  std::atomic<pthread_t> owner_{};
  std::atomic<bool> is_inside_{false};  // the owner, without the mutex
  bool has_mutex_ = false;              // the thread that holds the lock has the mutex; only that thread uses it
  bool had_owner_ = false;              // with the mutex
  std::mutex mutex_;
};

}  // namespace bfstore::region

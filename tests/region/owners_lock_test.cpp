// A lock whose first thread takes it by plain stores: never two threads at once, whether the owner is inside, comes
// later, or has ended; and the same where the kernel has no fence for it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "region/owners_lock.hpp"
#include "support/support.hpp"

using namespace rooms;
using region::OwnersLock;

namespace {

constexpr int kTurns = 20'000;

// Counts in two steps, so that two threads inside at once lose a turn.
struct Counted {
  void take_turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      const std::lock_guard held(lock);
      turns_taken.store(turns_taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  OwnersLock lock;
  std::atomic<int> turns_taken{0};
};

// Two other threads come while the owner takes its turns.
bool no_turn_is_lost() {
  Counted counted;
  counted.take_turns(kTurns);
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) others.emplace_back([&counted] { counted.take_turns(kTurns); });
  counted.take_turns(kTurns);
  for (std::thread& other : others) other.join();
  return counted.turns_taken == 4 * kTurns;
}

// From now on the kernel refuses membarrier in this process.
bool lose_the_fence() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(steps), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// The exit code of a child that calls `body`; 0 if that returns true.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("no turn of an owner and of threads that come later is lost") { CHECK(no_turn_is_lost()); }

TEST_CASE("another thread waits until the owner is not inside") {
  for (int round = 0; round < 20; ++round) {
    OwnersLock lock;
    lock.lock();  // by the mutex
    lock.unlock();
    lock.lock();  // by plain stores
    std::atomic<bool> comes{false};
    std::atomic<bool> is_in{false};
    std::thread other([&] {
      comes = true;
      const std::lock_guard held(lock);
      is_in = true;
    });
    while (!comes) std::this_thread::yield();
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      REQUIRE_FALSE(is_in.load());
    }
    lock.unlock();
    other.join();
    CHECK(is_in);
  }
}

TEST_CASE("an owner that was asked to share takes turns like all others") {
  Counted counted;
  counted.take_turns(2);
  std::thread([&counted] { counted.take_turns(2); }).join();
  std::thread other([&counted] { counted.take_turns(kTurns); });
  counted.take_turns(kTurns);
  other.join();
  CHECK(counted.turns_taken == 4 + 2 * kTurns);
}

TEST_CASE("a lock has no owner if the kernel has no fence, and shares what it had if the fence is lost later") {
  CHECK(in_child([] { return lose_the_fence() && no_turn_is_lost(); }) == 0);
  CHECK(in_child([] {
          Counted counted;
          counted.take_turns(2);
          if (!lose_the_fence()) return false;
          std::thread other([&counted] { counted.take_turns(kTurns); });
          counted.take_turns(kTurns);
          other.join();
          return counted.turns_taken == 2 + 2 * kTurns;
        }) == 0);
}

#include "region/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include "base/fail.hpp"
#include "base/mutant.hpp"

namespace bfstore::region {
namespace {

constexpr std::size_t kPageBytes = 65536;  // a multiple of any system's pages

// One page for the life of the process, and of its children. No lock: a child could inherit it taken.
std::uint64_t* word_page = nullptr;

Result<std::uint64_t*> page() {
  std::uint64_t* there = __atomic_load_n(&word_page, __ATOMIC_ACQUIRE);
  if (there != nullptr) return there;
  void* const fresh = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return base::fail_errno(errno, "memory", "mapping a page of");
  if (madvise(fresh, kPageBytes, MADV_WIPEONFORK) != 0) {
    const int failed = errno;
    munmap(fresh, kPageBytes);
    return base::fail_errno(failed, "memory", "asking for a page that is wiped on fork (Linux 4.14 or later) of");
  }
  auto* const made = static_cast<std::uint64_t*>(fresh);
  if (__atomic_compare_exchange_n(&word_page, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  munmap(fresh, kPageBytes);
  return there;
}

// The descriptors that children do not get. Never destroyed: other objects' destructors may still come.
struct Kept {
  std::mutex mutex;  // held during fork(): a child finds the list whole
  std::vector<int> descriptors;
};

Kept& kept() {
  static Kept& only = *new Kept;
  return only;
}

// The number stays taken, so that nothing else of the child's gets it and is closed for it. Closed first: there may be
// no other number left, and nobody else runs in this child yet.
void put_nothing_there(int descriptor) noexcept {
  close(descriptor);
  const int nothing = open("/", O_PATH | O_CLOEXEC);
  if (nothing < 0 || nothing == descriptor) return;
  dup3(nothing, descriptor, O_CLOEXEC);
  close(nothing);
}

void before_fork() { kept().mutex.lock(); }
void after_fork() { kept().mutex.unlock(); }
void in_child() {
  for (const int descriptor : kept().descriptors) {
    if (!base::mutant("children_keep_the_locks")) put_nothing_there(descriptor);
  }
  kept().descriptors.clear();
  kept().mutex.unlock();
}

}  // namespace

Result<ForkMark> ForkMark::make() {
  const auto word = page();
  if (!word) return word.error();
  std::uint64_t value = __atomic_load_n(*word, __ATOMIC_ACQUIRE);
  if (value == 0) {  // the first time here, or in this child
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return base::fail_errno(errno, "getrandom", "calling");
    random |= 1;
    if (__atomic_compare_exchange_n(*word, &value, random, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) value = random;
  }
  return ForkMark(*word, value);
}

void keep_from_children(int descriptor) {
  static const int registered = pthread_atfork(before_fork, after_fork, in_child);
  static_cast<void>(registered);  // without memory for it a child keeps the locks, which is awkward and not wrong
  const std::lock_guard<std::mutex> lock(kept().mutex);
  kept().descriptors.push_back(descriptor);
}

void forget(int descriptor) noexcept {
  const std::lock_guard<std::mutex> lock(kept().mutex);
  std::vector<int>& all = kept().descriptors;
  const auto found = std::find(all.begin(), all.end(), descriptor);
  if (found != all.end()) all.erase(found);
}

}  // namespace bfstore::region

#include "region/fork.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "base/fail.hpp"
#include "base/libc.hpp"

namespace bfstore::region {
namespace {

constexpr std::size_t kPageBytes = 65536;  // a multiple of any system's pages

// One page for the life of the process and its children. It is made without a lock, which a child could inherit locked.
std::uint64_t* word_page = nullptr;

Result<std::uint64_t*> page() {
  std::uint64_t* there = __atomic_load_n(&word_page, __ATOMIC_ACQUIRE);
  if (there != nullptr) return there;
  void* const fresh = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return base::fail_errno(errno, "memory", "mapping a page");
  if (madvise(fresh, kPageBytes, MADV_WIPEONFORK) != 0) {
    const int failed = errno;
    munmap(fresh, kPageBytes);
    return base::fail_errno(failed, "memory", "asking for a page that is wiped on fork (Linux 4.14 or later)");
  }
  auto* const made = static_cast<std::uint64_t*>(fresh);
  if (__atomic_compare_exchange_n(&word_page, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  munmap(fresh, kPageBytes);
  return there;
}

}  // namespace

Result<ForkMark> ForkMark::make() {
  const auto word = page();
  if (!word) return word.error();
  std::uint64_t value = __atomic_load_n(*word, __ATOMIC_ACQUIRE);
  if (value == 0) {  // the first call in this process, or in this child
    std::uint64_t random = 0;
    if (base::random_bytes(&random, sizeof random) != sizeof random)
      return base::fail_errno(errno, "getrandom", "calling");
    random |= 1;
    if (__atomic_compare_exchange_n(*word, &value, random, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) value = random;
  }
  return ForkMark(*word, value);
}

}  // namespace bfstore::region

// What a forked child has no part in: it is told from its parent, and the parent's locks are not its own. Never sees
// files.
#pragma once

#include <bfstore/error.hpp>

#include <cstdint>

namespace bfstore::region {

// Made in one process: there, and in nobody forked from it, here() is true. No system call: the kernel wipes the word
// in children (MADV_WIPEONFORK, Linux 4.14).
class ForkMark {
 public:
  static Result<ForkMark> make();

  // here() is true everywhere: for what needs no care.
  ForkMark() noexcept = default;

  [[nodiscard]] bool here() const noexcept { return __atomic_load_n(word_, __ATOMIC_RELAXED) == value_; }

 private:
  ForkMark(const std::uint64_t* word, std::uint64_t value) noexcept : word_(word), value_(value) {}

  static constexpr std::uint64_t kAnywhere = 0;
  const std::uint64_t* word_ = &kAnywhere;
  std::uint64_t value_ = kAnywhere;
};

// A descriptor that children do not get, from this call to forget(): in its place they have one of nothing, which they
// close as they would have closed it. An open-file-description lock ends with the last descriptor of it, so a child
// would else hold its parent's locks when that one is dead. Children that are not made by fork() (vfork, clone) keep
// it.
void keep_from_children(int descriptor);
void forget(int descriptor) noexcept;

}  // namespace bfstore::region

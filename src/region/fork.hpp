// Tells a process from its forked children. Never sees files.
#pragma once

#include <bfstore/error.hpp>

#include <cstdint>

namespace bfstore::region {

// here() is true in the process that made the mark, and false in every child forked from it. It makes no system call:
// the kernel wipes a word in children (MADV_WIPEONFORK, Linux 4.14).
class ForkMark {
 public:
  static Result<ForkMark> make();

  // here() is true in every process: for objects that any process may use.
  ForkMark() noexcept = default;

  [[nodiscard]] bool here() const noexcept { return __atomic_load_n(word_, __ATOMIC_RELAXED) == value_; }

 private:
  ForkMark(const std::uint64_t* word, std::uint64_t value) noexcept : word_(word), value_(value) {}

  static constexpr std::uint64_t kAnywhere = 0;
  const std::uint64_t* word_ = &kAnywhere;
  std::uint64_t value_ = kAnywhere;
};

}  // namespace bfstore::region

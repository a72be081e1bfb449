// A caller's flags and bfs_options: read, checked, and translated.
#pragma once

#include <bfstore_interop.h>
#include <bfstore_memory.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "handle.hpp"
#include "structs.hpp"

namespace capi {

// Fields of bfs_options, in groups that functions take as a whole.
enum Fields : std::uint32_t {
  kNoFields = 0,
  kMode = 1,
  kRate = 2,   // fpr
  kSize = 4,   // capacity, and the other numbers that give a size with it or instead of it
  kShape = 8,  // layout, hash, seed, seeds, like, file_id, note
  kSecret = 16,
  kLocks = 32,      // lock_timeout_ms
  kWriteback = 64,  // writeback_check_ms
  kThreads = 128,
  kPart = 256,
  kRange = 512,
  kFd = 1024,
};
constexpr std::uint32_t kMaking = kMode | kRate | kSize | kShape | kSecret | kLocks | kWriteback | kThreads | kPart;
constexpr std::uint32_t kOpening = kSecret | kLocks | kWriteback | kThreads | kRange | kFd;
constexpr std::uint32_t kFormatting = kRate | kSize | kShape | kSecret | kThreads;
constexpr std::uint32_t kCopying = kMode | kLocks;

constexpr std::uint64_t kPurposes = BFS_READ | BFS_WRITE | BFS_EXCLUSIVE;
constexpr std::uint64_t kMapFlags = BFS_POPULATE | BFS_RANDOM | BFS_GUARD;
constexpr std::uint64_t kFlagsOfCreate = BFS_EXCLUSIVE | kMapFlags | BFS_ANY_FILESYSTEM | BFS_LIMIT | BFS_REPLACE |
                                         BFS_UNPUBLISHED | BFS_FILLING | BFS_TUTORIAL_SIZING;
constexpr std::uint64_t kFlagsOfCopies = BFS_REPLACE | BFS_ANY_FILESYSTEM | BFS_FILLING;

// What a function takes.
struct Taken {
  const char* function;
  std::uint64_t flags;
  std::uint32_t fields;
  const char* unless = "";  // the end of "does not take that field", if the function takes it at another time
};

void wipe(std::optional<bfstore::Secret>& secret) noexcept;

// Options whose secret is wiped when the call ends, in each copy: the handle has one of its own.
template <class Options>
struct Wiped : Options {
  Wiped() = default;
  Wiped(const Wiped&) = default;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { wipe(this->secret); }
};

// The caller's flags and options in C++.
class Given {
 public:
  explicit Given(std::uint64_t flags) noexcept : flags_(flags) {}
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() { wipe(secret_); }

  // An error that names what is wrong.
  Error read(const bfs_options* from, const Taken& taken);

  [[nodiscard]] bool has(std::uint64_t flag) const noexcept { return (flags_ & flag) != 0; }
  [[nodiscard]] std::uint64_t flags() const noexcept { return flags_; }
  [[nodiscard]] const std::optional<bfstore::Secret>& secret() const noexcept { return secret_; }
  [[nodiscard]] unsigned threads() const noexcept { return known_.threads; }
  [[nodiscard]] const bfs_range* range() const noexcept { return known_.range; }

  [[nodiscard]] Wiped<bfstore::Options> making() const;
  [[nodiscard]] Wiped<bfstore::OpenOptions> opening() const;
  [[nodiscard]] bfstore::SaveOptions copying() const;

 private:
  [[nodiscard]] Error check_threads(const Taken& taken) const;

  std::uint64_t flags_;
  bfs_options known_ = BFS_OPTIONS_INIT;
  std::optional<bfstore::Secret> secret_;
};

Error check_flags(const char* function, std::uint64_t flags, std::uint64_t taken);

// Calls `use(given)` with the caller's flags and options, which may be null.
template <class Use>
auto with_given(std::uint64_t flags, const bfs_options* options, const Taken& taken, bfs_error* error, Use use) noexcept
    -> decltype(use(std::declval<const Given&>())) {
  return guarded(error, [&]() -> decltype(use(std::declval<const Given&>())) {
    Given given(flags);
    if (const Error wrong = given.read(options, taken); !wrong.ok()) return report(error, wrong);
    return use(given);
  });
}

// The filter that `make` makes, which uses as many threads as were given.
template <class Make>
Result<Filter> with_threads(const Given& given, Make make) {
  Result<Filter> made = make();
  if (made && given.threads() != 0) {
    if (Error error = made->use_threads(given.threads()); !error.ok()) return error;
  }
  return made;
}

bfstore::Layout layout_or_default(std::uint32_t number) noexcept;

template <class T>
std::optional<T> number_given(std::uint32_t number) noexcept {
  if (number == 0) return std::nullopt;
  return static_cast<T>(std::min(number, 0xffffU));
}

}  // namespace capi

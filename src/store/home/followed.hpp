// A handle that follows its path: when another file replaces its own, it opens that one. Threads that are in calls keep
// the old one until they are out.
//
// A call counts itself in one of 64 stripes before it takes the current Ask, and out afterwards. A replaced Ask is
// freed once every stripe was seen at zero after the replacement: a call that counts itself in later takes the new one.
// No call waits for another.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// Opens a handle that follows the path.
Result<std::unique_ptr<Ask>> open_to_follow(const std::string& path, const OpenOptions& options);

// Opens the new file if the handle follows its path, its file is in doubt, and no thread tried in the last 10 ms. Frees
// what no call uses any more.
void follow_in_time(const Ask& ask) noexcept;

// The Ask that a call uses. If the handle's file changes behind it (Home::pin), it is the current one, which lives
// until the call is over.
class Pinned {
 public:
  explicit Pinned(const Ask& ask) noexcept : ask_(&ask) {
    if (ask.moves) [[unlikely]]
      take_that_of_now();
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() {
    if (count_ != nullptr) count_->fetch_sub(1);
  }

  const Ask& operator*() const noexcept { return *ask_; }
  const Ask* operator->() const noexcept { return ask_; }

 private:
  void take_that_of_now() noexcept;

  std::atomic<std::uint64_t>* count_ = nullptr;
  const Ask* ask_;
};

}  // namespace bfstore::store

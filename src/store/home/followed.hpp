// A handle that follows its path: when another file takes the place of its own, it opens that one, and threads that
// are in calls keep the old one until they are out.
//
// A call counts itself in one of 64 stripes before it takes the Ask of the moment, and out afterwards. What was
// replaced is freed once every stripe was seen at zero after the replacement: a call that counts itself in later takes
// the new one. No call waits for another.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// A handle that follows the path.
Result<std::unique_ptr<Ask>> open_to_follow(const std::string& path, const OpenOptions& options);

// If the handle follows, the file is in doubt, and no thread tried in the last 10 ms: follows. Frees what no call uses
// any more.
void follow_in_time(const Ask& ask) noexcept;

// The Ask that a call is about: of a handle that follows, the one of this moment, which stays until the call is over.
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

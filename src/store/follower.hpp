// A handle that follows its path: when another file takes the place of its own, it opens that one, and threads that
// are in calls keep the old one until they are out.
//
// A call counts itself in one of 64 stripes before it takes the core of the moment, and out afterwards. What was
// replaced is freed once every stripe was seen at zero after the replacement: a call that counts itself in later takes
// the new core. No call waits for another.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "store/core.hpp"

namespace bfstore {

struct Filter::Core::Follower {
  // `first` is of the file at `path`, an absolute one.
  Follower(std::string path, const OpenOptions& options, region::ForkMark born, std::unique_ptr<Core> first) noexcept;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower();

  // 1 maybe, 0 a certain no. layout::Target::ask of the handle; the target's words lead to the follower.
  static std::int32_t ask(const layout::Target& target, std::uint64_t digest) noexcept;

  // If the file is in doubt, and no thread tried in the last 10 ms: follows. Frees what no call uses any more.
  void follow_in_time() noexcept;
  // Asks the file system, and follows at once.
  Result<bool> is_current();
  Error shut();

  // How a call counts itself in.
  [[nodiscard]] std::atomic<std::uint64_t>& own_count() noexcept;
  [[nodiscard]] const Core& now() const noexcept { return *current_.load(); }

  // Of a handle that is a file's.
  static Result<std::unique_ptr<Core>> open(const std::string& path, const OpenOptions& options);

 private:
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> calls{0};
  };
  struct Retired {
    std::unique_ptr<Core> core;
    std::uint64_t waiting;  // a bit for each stripe that was not at zero yet
  };
  bool follow(std::uint32_t lock_timeout_ms);
  void replace_by(std::unique_ptr<Core> next);
  void free_what_is_unused() noexcept;
  [[nodiscard]] bool may_follow() const noexcept;

  static constexpr std::size_t kStripes = 64;
  std::array<Stripe, kStripes> stripes_;
  std::atomic<const Core*> current_;
  std::atomic<std::int64_t> next_try_{0};  // nanoseconds of a clock
  std::atomic<bool> has_retired_{false};
  const region::ForkMark born_;
  std::mutex one_follows_;  // what is below is its owner's
  std::unique_ptr<Core> owned_;
  std::vector<Retired> retired_;
  const std::string path_;
  OpenOptions options_;
};

// The core that a call is about: of a handle that follows, the one of this moment, which stays until the call is over.
class Filter::Core::InUse {
 public:
  explicit InUse(const Core& core) noexcept : core_(&core) {
    if (core.follower == nullptr) return;
    count_ = &core.follower->own_count();
    count_->fetch_add(1);
    core_ = &core.follower->now();
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() {
    if (count_ != nullptr) count_->fetch_sub(1);
  }

  const Core& operator*() const noexcept { return *core_; }
  const Core* operator->() const noexcept { return core_; }

 private:
  std::atomic<std::uint64_t>* count_ = nullptr;
  const Core* core_;
};

}  // namespace bfstore

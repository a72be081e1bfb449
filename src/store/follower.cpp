#include "store/follower.hpp"

#include <string.h>
#include <time.h>

#include <cerrno>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "store/refusals.hpp"
#include "store/set.hpp"

namespace bfstore {
namespace {

constexpr std::int64_t kPause = 10'000'000;  // nanoseconds

std::int64_t now_in_nanoseconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Threads take them in turns.
std::size_t own_number() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// A digest that was taken of one file is asked in the other: with another hash or seed that would be a wrong no. Both
// files of a keyed hash were opened with the same key. A hash that gives positions is asked with the numbers of the
// file of the moment.
bool same_digests(const Shape& one, const Shape& other) noexcept {
  return one.hash == other.hash && (one.hash != Hash::kXxh3 || one.seed == other.seed);
}

}  // namespace

Filter::Core::Core(const layout::Functions& best, std::unique_ptr<Follower> followed, const Shape& body_shape)
    : Core(best, reinterpret_cast<std::uint64_t*>(followed.get()), body_shape, 0, Adding::kNever) {
  target.ask = Follower::ask;
  target.inlined = false;
  follower = std::move(followed);
}

Filter::Core::~Core() = default;

Filter::Core::Follower::Follower(std::string path, const OpenOptions& options, region::ForkMark born,
                                 std::unique_ptr<Core> first) noexcept
    : current_(first.get()), born_(born), owned_(std::move(first)), path_(std::move(path)), options_(options) {}

// No other thread uses the handle.
Filter::Core::Follower::~Follower() {
  if (options_.key) explicit_bzero(options_.key->data(), options_.key->size());
}

std::atomic<std::uint64_t>& Filter::Core::Follower::own_count() noexcept {
  return stripes_[own_number() % kStripes].calls;
}

Result<std::unique_ptr<Filter::Core>> Filter::Core::Follower::open(const std::string& path,
                                                                   const OpenOptions& options) {
  auto session = store::Session::open_reader(path, {options});
  if (!session) return session.error();
  const auto functions = store::functions_for((*session)->file().identity().shape.layout, Adding::kNever);
  if (!functions) return functions.error();
  auto core = std::make_unique<Core>(*functions, std::move(*session), Adding::kNever);
  core->secret.keep(options.key);
  return core;
}

std::int32_t Filter::Core::Follower::ask(const layout::Target& target, std::uint64_t digest) noexcept {
  auto& follower = *reinterpret_cast<Follower*>(const_cast<std::uint64_t*>(target.words));
  const auto answer_now = [&follower, digest](bool& doubt) {
    std::atomic<std::uint64_t>& count = follower.own_count();
    count.fetch_add(1);
    const Core& core = follower.now();
    const std::int32_t answer = core.answer(digest);
    doubt = layout::in_doubt(core.target.sentinel);
    count.fetch_sub(1);
    return answer;
  };
  bool doubt = false;
  const std::int32_t answer = answer_now(doubt);
  if (!doubt && !follower.has_retired_.load(std::memory_order_relaxed)) [[likely]]
    return answer;
  follower.follow_in_time();
  return doubt ? answer_now(doubt) : answer;
}

// By one thread, in no call of its own: what it uses itself would never be free.
void Filter::Core::Follower::follow_in_time() noexcept {
  const std::int64_t now = now_in_nanoseconds();
  if (now < next_try_.load(std::memory_order_relaxed) || !born_.here()) return;
  const std::unique_lock<std::mutex> its_turn(one_follows_, std::try_to_lock);
  if (!its_turn.owns_lock()) return;
  const int callers = errno;  // no lookup changes it
  try {
    free_what_is_unused();
    if (may_follow()) follow(0);
  } catch (const std::bad_alloc&) {
  }
  errno = callers;
  next_try_.store(now_in_nanoseconds() + kPause, std::memory_order_relaxed);
}

// A file may be poisoned, or lost, before another one takes its place. Both states hide that it was superseded, and
// neither ends in this file. While the path names it, there is nothing to follow to.
bool Filter::Core::Follower::may_follow() const noexcept {
  const Code health = now().health();
  if (!born_.here() || health == Code::kOk || health == Code::kShut) return false;
  return health == Code::kSuperseded || now().session->file().file().path_names_another();
}

// Where the file at the path cannot be used, or has other digests, the handle stays on its file, in doubt: keys may be
// in the new one alone. A file that was replaced by another program has no sign of that: the handle makes one for
// itself.
bool Filter::Core::Follower::follow(std::uint32_t lock_timeout_ms) {
  OpenOptions options = options_;
  options.lock_timeout_ms = lock_timeout_ms;
  auto next = open(path_, options);
  if (options.key) explicit_bzero(options.key->data(), options.key->size());
  const bool usable = next && same_digests((*next)->shape, owned_->shape);
  if (usable) {
    replace_by(std::move(*next));
  } else if (owned_->health() == Code::kOk) {
    owned_->session->file().supersede_for_this_handle();
  }
  free_what_is_unused();
  return usable;
}

void Filter::Core::Follower::replace_by(std::unique_ptr<Core> next) {
  retired_.reserve(retired_.size() + 1);
  current_.store(next.get());
  retired_.push_back({std::exchange(owned_, std::move(next)), ~std::uint64_t{0}});
  has_retired_ = true;
}

void Filter::Core::Follower::free_what_is_unused() noexcept {
  for (Retired& retired : retired_) {
    for (std::size_t i = 0; i < kStripes; ++i) {
      if (stripes_[i].calls.load() == 0) retired.waiting &= ~(std::uint64_t{1} << i);
    }
  }
  std::erase_if(retired_, [](const Retired& retired) { return retired.waiting == 0; });
  has_retired_ = !retired_.empty();
}

Result<bool> Filter::Core::Follower::is_current() {
  if (!born_.here()) return store::forked(now().session->file().file());
  const std::lock_guard<std::mutex> its_turn(one_follows_);
  free_what_is_unused();
  auto current = owned_->session->is_current();
  if (!current.ok()) return current;
  if (*current && owned_->health() != Code::kSuperseded) return true;
  return follow(options_.lock_timeout_ms);
}

// A child of a fork does not wait for a thread of its parent.
Error Filter::Core::Follower::shut() {
  std::unique_lock<std::mutex> its_turn(one_follows_, std::defer_lock);
  if (born_.here()) its_turn.lock();
  return owned_->session->shut([] {});
}

}  // namespace bfstore

#include "store/home/followed.hpp"

#include <string.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "store/file/refusals.hpp"
#include "store/home/file.hpp"

namespace bfstore::store {
namespace {

constexpr std::int64_t kPause = 10'000'000;  // nanoseconds

std::int64_t now_in_nanoseconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Each thread gets the next number.
std::size_t own_number() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// A digest that was made for one file is asked in the other: with another hash or seed that would be a wrong no. Both
// files of a hash with a secret were opened with the same one. A hash that gives positions is asked with the numbers of
// the current file.
bool same_digests(const Shape& one, const Shape& other) noexcept {
  return one.hash == other.hash && (one.hash != Hash::kXxh3 || one.seed == other.seed);
}

Error only_reads() {
  return base::fail(Code::kInvalid, "the filter was opened to follow its path. Publish the handle that made the file.");
}

class Followed final : public Home {
 public:
  // `path` is absolute. `first` is the Ask of the file there.
  Followed(std::string path, const OpenOptions& options, region::ForkMark born, std::unique_ptr<Ask> first) noexcept
      : current_(first.get()), born_(born), owned_(std::move(first)), path_(std::move(path)), options_(options) {}
  ~Followed() override;

  // The handle's layout::Target::ask. The target's words point to this object.
  static std::int32_t ask(const layout::Target& target, std::uint64_t digest) noexcept;

  void follow_in_time() noexcept override;
  [[nodiscard]] const Ask* pin(std::atomic<std::uint64_t>*& calls) noexcept override;
  // Returns the counter in which this thread's calls count themselves.
  [[nodiscard]] std::atomic<std::uint64_t>& own_count() noexcept;
  [[nodiscard]] const Ask& now() const noexcept { return *current_.load(); }

  // Asks the file system, and follows at once.
  [[nodiscard]] Result<bool> is_current() override;
  Error supersede() override { return only_reads(); }
  Error publish(unsigned) override { return only_reads(); }
  Error shut(const std::function<void()>& adds_are_over) override;

 private:
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> calls{0};
  };
  struct Retired {
    std::unique_ptr<Ask> ask;
    std::uint64_t waiting;  // a bit for each stripe that was not yet seen at zero
  };
  bool follow(std::uint32_t lock_timeout_ms);
  void replace_by(std::unique_ptr<Ask> next);
  void free_what_is_unused() noexcept;
  [[nodiscard]] bool may_follow() const noexcept;

  static constexpr std::size_t kStripes = 64;
  std::array<Stripe, kStripes> stripes_;
  std::atomic<const Ask*> current_;
  std::atomic<std::int64_t> next_try_{0};  // on CLOCK_MONOTONIC_COARSE, in nanoseconds
  std::atomic<bool> has_retired_{false};
  const region::ForkMark born_;
  std::mutex one_follows_;  // protects the members below
  std::unique_ptr<Ask> owned_;
  std::vector<Retired> retired_;
  const std::string path_;
  OpenOptions options_;
};

// No other thread uses the handle.
Followed::~Followed() {
  if (options_.secret) explicit_bzero(options_.secret->data(), options_.secret->size());
}

std::atomic<std::uint64_t>& Followed::own_count() noexcept { return stripes_[own_number() % kStripes].calls; }

const Ask* Followed::pin(std::atomic<std::uint64_t>*& calls) noexcept {
  calls = &own_count();
  calls->fetch_add(1);
  return &now();
}

// Opens a handle that does not follow its path.
Result<std::unique_ptr<Ask>> open_once(const std::string& path, OpenOptions options) {
  options.follow = false;
  auto opened = open_file(path, OpenMode::kRead, options);
  if (options.secret) explicit_bzero(options.secret->data(), options.secret->size());
  return opened;
}

std::int32_t Followed::ask(const layout::Target& target, std::uint64_t digest) noexcept {
  auto& follower = *reinterpret_cast<Followed*>(const_cast<std::uint64_t*>(target.words));
  const auto answer_now = [&follower, digest](bool& doubt) {
    std::atomic<std::uint64_t>& count = follower.own_count();
    count.fetch_add(1);
    const Ask& ask = follower.now();
    const std::int32_t answer = ask.answer(digest);
    doubt = layout::in_doubt(ask.sentinel());
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

// One thread does it, outside of its own calls: an Ask that it uses itself would never be free.
void Followed::follow_in_time() noexcept {
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

// A file may be poisoned, or lost, before another one replaces it. Both states hide that it was superseded, and a file
// never leaves them. While the path names this file, there is no other one to open.
bool Followed::may_follow() const noexcept {
  const Code health = now().health();
  if (!born_.here() || health == Code::kOk || health == Code::kShut) return false;
  return health == Code::kSuperseded || now().home->path_names_another();
}

// If the file at the path cannot be used, or has other digests, the handle keeps its file and stays in doubt: keys may
// be only in the new one. A file that another program replaced does not say so, so the handle says it for itself.
bool Followed::follow(std::uint32_t lock_timeout_ms) {
  OpenOptions options = options_;
  options.lock_timeout_ms = lock_timeout_ms;
  auto next = open_once(path_, options);
  if (options.secret) explicit_bzero(options.secret->data(), options.secret->size());
  const bool usable = next && same_digests((*next)->shape, owned_->shape);
  if (usable) {
    replace_by(std::move(*next));
  } else if (owned_->health() == Code::kOk) {
    owned_->home->supersede_for_this_handle();
  }
  free_what_is_unused();
  return usable;
}

void Followed::replace_by(std::unique_ptr<Ask> next) {
  retired_.reserve(retired_.size() + 1);
  current_.store(next.get());
  retired_.push_back({std::exchange(owned_, std::move(next)), ~std::uint64_t{0}});
  has_retired_ = true;
}

void Followed::free_what_is_unused() noexcept {
  for (Retired& retired : retired_) {
    for (std::size_t i = 0; i < kStripes; ++i) {
      if (stripes_[i].calls.load() == 0) retired.waiting &= ~(std::uint64_t{1} << i);
    }
  }
  std::erase_if(retired_, [](const Retired& retired) { return retired.waiting == 0; });
  has_retired_ = !retired_.empty();
}

Result<bool> Followed::is_current() {
  if (!born_.here()) return forked(path_);
  const std::lock_guard<std::mutex> its_turn(one_follows_);
  free_what_is_unused();
  auto current = owned_->home->is_current();
  if (!current.ok()) return current;
  if (*current && owned_->health() != Code::kSuperseded) return true;
  return follow(options_.lock_timeout_ms);
}

// A child of a fork does not wait for a thread of its parent.
Error Followed::shut(const std::function<void()>& adds_are_over) {
  std::unique_lock<std::mutex> its_turn(one_follows_, std::defer_lock);
  if (born_.here()) its_turn.lock();
  return owned_->home->shut(adds_are_over);
}

}  // namespace

// The working folder may change before the path is opened again.
Result<std::unique_ptr<Ask>> open_to_follow(const std::string& path, const OpenOptions& options) {
  if (Error error = check_options(path, OpenMode::kRead, options); !error.ok()) return error;
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).string();
  if (path.empty()) return Error{Code::kNotFound, ENOENT, "the path is empty. Give one."};
  if (failed) return base::fail_errno(failed.value(), path, "asking for the working folder");
  const auto born = region::ForkMark::make();
  if (!born) return born.error();
  auto first = open_once(absolute, options);
  if (!first) return first;
  const layout::Functions functions = (*first)->functions;
  const Shape shape = (*first)->shape;
  auto home = std::make_unique<Followed>(absolute, options, *born, std::move(*first));
  const BodyWords none{reinterpret_cast<std::uint64_t*>(home.get()), shape, 0};
  auto ask = std::make_unique<Ask>(functions, none, Adding::kNever, std::move(home));
  ask->target.ask = Followed::ask;
  ask->target.inlined = false;
  ask->moves = true;
  ask->secret.keep(options.secret);
  return ask;
}

void follow_in_time(const Ask& ask) noexcept {
  if (ask.moves) ask.home->follow_in_time();
}

void Pinned::take_that_of_now() noexcept {
  if (const Ask* const now = ask_->home->pin(count_); now != nullptr) ask_ = now;
}

}  // namespace bfstore::store

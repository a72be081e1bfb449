#include "store/home/gathered.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/fail.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;

// Grows without a second copy: realloc() moves pages, which a vector cannot.
class Digests {
 public:
  Digests() = default;
  Digests(const Digests&) = delete;
  Digests& operator=(const Digests&) = delete;
  ~Digests() { clear(); }

  // False if there is no memory.
  bool append(const std::uint64_t* digests, std::size_t count) noexcept {
    if (count == 0) return true;  // memcpy() takes no null pointers
    if (count > room_ - size_ && !grow(count)) return false;
    std::memcpy(digests_ + size_, digests, count * sizeof *digests);
    size_ += count;
    return true;
  }
  void clear() noexcept {
    std::free(std::exchange(digests_, nullptr));
    size_ = room_ = 0;
  }
  [[nodiscard]] std::span<std::uint64_t> all() const noexcept { return {digests_, size_}; }

 private:
  static constexpr std::size_t kFewest = 1024;

  bool grow(std::size_t more) noexcept {
    const std::size_t room = std::max({room_ * 2, size_ + more, kFewest});
    void* const moved = std::realloc(digests_, room * sizeof *digests_);
    if (moved == nullptr) return false;
    digests_ = static_cast<std::uint64_t*>(moved);
    room_ = room;
    return true;
  }

  std::uint64_t* digests_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

// Bits of the word at which lookups and adds look.
constexpr std::uint64_t kGathers = 1;   // not published yet: lookups are in doubt
constexpr std::uint64_t kLostKeys = 2;  // there was no memory for a key
constexpr std::uint64_t kGone = 4;      // published, and replaced before this handle had opened it
constexpr std::uint64_t kUnread = 8;    // published, and not opened by this handle
constexpr std::uint64_t kIsShut = 16;

class Gathered final : public Home {
 public:
  Gathered(std::string path, format::Identity identity, region::ForkMark born, bool sized, BuildFile build)
      : path_(std::move(path)), identity_(std::move(identity)), born_(born), sized_(sized), build_(std::move(build)) {
    state_word().store(kGathers);
  }

  // The functions of the handle's layout. Their words are this object.
  static bool add_one(std::uint64_t* words, const layout::Geometry&, std::uint64_t digest) noexcept {
    of(words).take({&digest, 1});
    return false;  // no digest is certainly new, for nobody looks whether it was there
  }
  static std::size_t add_step(std::uint64_t* words, const layout::Geometry&, const layout::Step& step) noexcept {
    of(words).take({step.now, step.num_now});
    return 0;
  }
  static std::int32_t ask_one(const layout::Target& target, std::uint64_t digest) noexcept {
    const Ask* const built = of(const_cast<std::uint64_t*>(target.words)).built_now();
    return built != nullptr ? built->answer(digest) : 1;
  }
  static std::size_t ask_step(const std::uint64_t*, const layout::Geometry&, const layout::Step& step,
                              std::uint8_t* answers) noexcept {
    std::memset(answers, 1, step.num_now);
    return step.num_now;
  }

  [[nodiscard]] const std::uint64_t* state() const noexcept { return &state_; }

  [[nodiscard]] const Ask* pin(std::atomic<std::uint64_t>*&) noexcept override { return built_now(); }
  [[nodiscard]] std::string name(const char*) const override { return path_; }
  [[nodiscard]] const format::Identity* identity() const noexcept override { return &identity_; }
  [[nodiscard]] bool is_shut() const noexcept override { return shut_.load(std::memory_order_relaxed); }
  [[nodiscard]] Stats stats(const Ask& ask, StatsWish) const override {
    Stats stats = Home::stats(ask, {});  // there are no bits, and no mapping
    if (!sized_) stats.shape.capacity = gathered_.load(std::memory_order_relaxed);
    return stats;
  }
  [[nodiscard]] Result<Moment> moment() const override { return has_no_bits(); }
  [[nodiscard]] Error read_body(const std::uint64_t*, std::span<std::byte>, std::uint64_t) const override {
    return has_no_bits();
  }
  [[nodiscard]] Result<bool> is_current() override {
    const Ask* const built = built_now();
    if (built != nullptr) return built->home->is_current();
    if (!is_shut() && (state_word().load() & kGone) != 0) return false;
    return refusal();
  }
  Error publish(unsigned threads) override;
  // A thread of the parent may hold the lock of the adds, and is not in a child.
  Error shut(const std::function<void()>& adds_are_over) override {
    shut_ = true;
    state_word().fetch_or(kIsShut);
    if (born_.here()) adds_are_over();
    const Ask* const built = built_now();
    return built != nullptr ? built->home->shut([] {}) : Error{};
  }

 private:
  [[nodiscard]] const Ask* built_now() const noexcept { return built_.load(std::memory_order_acquire); }
  static Gathered& of(std::uint64_t* words) noexcept { return *reinterpret_cast<Gathered*>(words); }

  void take(std::span<const std::uint64_t> digests) noexcept {
    if (!digests_.append(digests.data(), digests.size())) state_word().fetch_or(kLostKeys);
    gathered_.store(digests_.all().size(), std::memory_order_relaxed);
  }
  [[nodiscard]] base::SharedWord state_word() const noexcept {
    return base::SharedWord(reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(&state_)));
  }
  [[nodiscard]] Error has_no_bits() const {
    if ((state_word().load() & kGone) != 0) return fail(Code::kSuperseded, path_ + ": " + code_text(Code::kSuperseded));
    if ((state_word().load() & kUnread) != 0)
      return fail(Code::kLost, path_ + ": was published, and could not be opened then. Open it.");
    return fail(Code::kFilling, path_ + ": is built when it is published, and has no bits before. Publish it first.");
  }
  [[nodiscard]] Code meaning_of(std::uint64_t differing) const noexcept override {
    if ((differing & kLostKeys) != 0) return Code::kNoMemory;
    if ((differing & kUnread) != 0) return Code::kLost;
    return (differing & kGone) != 0 ? Code::kSuperseded : Code::kFilling;
  }
  [[nodiscard]] Error refusal() const override {
    if ((state_word().load() & kGathers) == 0)
      return fail(Code::kUnsupported, path_ + ": was built from all of its keys, and takes no key and no mark later. " +
                                          "Build another one, and replace it.");
    return fail(Code::kUnsupported, path_ +
                                        ": is built from all of its keys when it is published, and has no file and "
                                        "no marks before. Add the keys, and publish it.");
  }

  const std::string path_;
  const format::Identity identity_;
  const region::ForkMark born_;
  const bool sized_;  // otherwise the number of different keys decides the capacity and m
  std::mutex one_publishes_;
  BuildFile build_;
  Digests digests_;                         // of the adds, which take turns by the lock of their Ask, as publish() does
  std::atomic<std::uint64_t> gathered_{0};  // digests; other threads read it
  alignas(8) std::uint64_t state_ = 0;      // as in a file: little-endian, and shared
  std::atomic<bool> shut_{false};
  std::unique_ptr<Ask> owned_;
  std::atomic<const Ask*> built_{nullptr};
};

Error Gathered::publish(unsigned threads) {
  if (!born_.here()) return forked(path_);
  const std::lock_guard one(one_publishes_);
  if (is_shut()) return store::shut(path_);
  const std::uint64_t state = state_word().load();
  if ((state & kGathers) == 0) return fail(Code::kInvalid, path_ + ": is published already.");
  if ((state & kLostKeys) != 0)
    return fail(Code::kNoMemory, path_ + ": not built, for there was no memory for some of its keys. Build it anew.");
  auto built = build_(digests_.all(), threads);
  if (!built) return built.error();
  digests_.clear();
  owned_ = std::move(built->ask);
  built_.store(owned_.get(), std::memory_order_release);
  if (owned_ == nullptr) state_word().fetch_or(built->otherwise == Code::kSuperseded ? kGone : kUnread);
  state_word().fetch_and(~kGathers);
  return {};
}

}  // namespace

Result<std::unique_ptr<Ask>> gather(const std::string& path, const format::Identity& identity,
                                    const std::optional<Secret>& secret, bool sized, BuildFile build) {
  const auto born = region::ForkMark::make();
  if (!born) return born.error();
  layout::Functions functions = *layout::row_of(identity.shape.layout).scalar;
  functions.contains = {nullptr, Gathered::ask_step};
  functions.add_alone = {Gathered::add_one, Gathered::add_step};
  auto home = std::make_unique<Gathered>(path, identity, *born, sized, std::move(build));
  const BodyWords none{reinterpret_cast<std::uint64_t*>(home.get()), identity.shape, 0};
  static constexpr std::uint64_t kNoState = 0;
  const layout::Sentinel sentinel{home->state(), &kNoState, 0};
  auto ask = std::make_unique<Ask>(functions, none, Adding::kAlone, std::move(home));
  ask->target.sentinel = sentinel;
  ask->target.ask = Gathered::ask_one;
  ask->target.inlined = false;
  ask->adds_compare = ~kGathers;
  ask->secret.keep(secret);
  ask->born = *born;
  ask->moves = true;
  if (!sized) ask->shape.capacity = ask->shape.num_bits = 0;
  return ask;
}

}  // namespace bfstore::store

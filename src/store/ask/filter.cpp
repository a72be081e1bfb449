// The public Filter, except calls with many keys (many.cpp): checks its arguments, hashes keys, and gives digests to
// its Ask.
#include <bfstore/inline.hpp>

#include <array>
#include <fstream>

#include "base/fail.hpp"
#include "format/manifest.hpp"
#include "hash/hasher.hpp"
#include "store/ask/by_position.hpp"
#include "store/ask/divide.hpp"
#include "store/file/refusals.hpp"
#include "store/home/ask.hpp"
#include "store/home/file.hpp"
#include "store/home/followed.hpp"
#include "store/home/set.hpp"

namespace bfstore {
namespace {

// Returns use(digest of the key), or otherwise() if the hash gives none.
template <class Otherwise, class Use>
auto with_digest(const Shape& shape, const store::KeptSecret& secret, std::string_view key, Otherwise otherwise,
                 Use use) noexcept {
  return hash::visit(shape.hash, shape.seed, secret.value(), otherwise,
                     [&](const auto& hasher) { return use(hasher(key)); });
}

// Not inlined, because only a handle that follows its path needs this stack frame.
[[gnu::noinline]] std::int32_t answer_of_followed(const store::Ask& ask, std::string_view key) noexcept {
  store::follow_in_time(ask);
  return store::answer_one_by_position(*store::Pinned(ask), key);
}

// Not inlined, because it needs a stack frame. kDigestOnly if the hash is external.
[[gnu::noinline]] std::int32_t answer_by_digest(const store::Ask& ask, std::string_view key) noexcept {
  return hash::visit(
      ask.shape.hash, ask.shape.seed, ask.secret.value(), [] { return static_cast<std::int32_t>(Code::kDigestOnly); },
      [&](const auto& hasher) { return ask.answer(hasher(key)); });
}

// Has no stack frame.
std::int32_t answer_any_key(const store::Ask& ask, std::string_view key) noexcept {
  if (!ask.gives_positions) return answer_by_digest(ask, key);
  return ask.moves ? answer_of_followed(ask, key) : store::answer_one_by_position(ask, key);
}

// True if the file begins as a list of parts does (format/manifest.hpp).
bool lists_parts(const std::string& path) {
  std::array<char, 64> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return format::begins_manifest({begin.data(), begin.size()});
}

}  // namespace

Filter::Filter(std::unique_ptr<store::Ask> ask) noexcept : ask_(std::move(ask)), target_(&ask_->target) {}
// A handle that was moved from, or is closed, asks at no address: a freed target would answer.
Filter::Filter(Filter&& other) noexcept : ask_(std::move(other.ask_)), target_(std::exchange(other.target_, nullptr)) {}
Filter& Filter::operator=(Filter&& other) noexcept {
  ask_ = std::move(other.ask_);
  target_ = std::exchange(other.target_, nullptr);
  return *this;
}
Filter::~Filter() = default;

Result<Filter> Filter::made_of(Result<std::unique_ptr<store::Ask>> ask) {
  if (!ask) return ask.error();
  return Filter(std::move(*ask));
}

// A list of parts is told from a filter by its first line, once the file is known not to be a filter.
Result<Filter> Filter::open(const std::string& path, OpenMode mode, const OpenOptions& options) {
  if (options.descriptor && path.empty()) return open(store::name_of(*options.descriptor), mode, options);
  const bool follows = options.follow && mode == OpenMode::kRead;
  auto ask = follows ? store::open_to_follow(path, options) : store::open_file(path, mode, options);
  const bool is_no_filter = !ask && (ask.error().code == Code::kMagic || ask.error().code == Code::kTooShort);
  if (!is_no_filter || options.descriptor || !lists_parts(path)) return made_of(std::move(ask));
  if (mode == OpenMode::kRead && !follows) return open_set(path, options);
  return base::fail(Code::kInvalid, ask.error().message);
}

Result<Filter> Filter::open_set(const std::string& manifest, const OpenOptions& options) {
  return made_of(store::open_set(manifest, options));
}

Error Filter::supersede() { return ask_ != nullptr ? ask_->home->supersede() : store::not_a_file(); }

Error Filter::publish() {
  if (ask_ == nullptr) return store::not_a_file();
  std::unique_lock nobody_adds(ask_->one_at_a_time, std::defer_lock);
  if (ask_->alone && ask_->born.here()) nobody_adds.lock();  // in a child, a thread of the parent may hold it
  Error error = ask_->home->publish(ask_->threads);
  if (error.ok()) ask_->writable = false;
  ask_->lock_ends_with = ask_->home->lock_ends_with();  // it may have changed, even after an error
  return error;
}

// A writer that adds alone sets bits without a barrier before it looks at the live word, so this waits for its adds.
Error Filter::shut() {
  if (ask_ == nullptr) return store::not_a_file();
  return ask_->home->shut([this] {
    if (ask_->alone) const std::lock_guard nobody_adds(ask_->one_at_a_time);
  });
}

Error Filter::close() {
  Error error;
  if (ask_ != nullptr) error = ask_->home->close();
  let_go();
  return error;
}

void Filter::let_go() noexcept {
  ask_.reset();
  target_ = nullptr;
}

void Filter::abandon() noexcept {
  if (ask_ != nullptr) ask_->home->abandon();
  let_go();
}

// --- One key ---------------------------------------------------------------------------------------------------------

Count Filter::add(std::string_view key) noexcept {
  const auto without_digest = [&] {
    if (!ask_->gives_positions) return Count(Code::kDigestOnly);
    return add_by_position(*ask_, Keys(), Keys::Views{std::span(&key, 1)});
  };
  return with_digest(ask_->shape, ask_->secret, key, without_digest,
                     [this](std::uint64_t digest) { return ask_->add(digest); });
}

Count Filter::add_digest(std::uint64_t digest) noexcept {
  return ask_->gives_positions ? Count(Code::kKeyOnly) : ask_->add(digest);
}

Count Filter::remove(std::string_view key) noexcept {
  if (!ask_->removes()) return Code::kUnsupported;
  return with_digest(
      ask_->shape, ask_->secret, key, [] { return Count(Code::kDigestOnly); },
      [this](std::uint64_t digest) { return ask_->remove(digest); });
}

Count Filter::remove_digest(std::uint64_t digest) noexcept { return ask_->remove(digest); }

Count Filter::count(std::string_view key) const noexcept {
  if (!ask_->removes()) return Code::kUnsupported;
  return with_digest(
      ask_->shape, ask_->secret, key, [] { return Count(Code::kDigestOnly); },
      [this](std::uint64_t digest) { return count_digest(digest); });
}

Count Filter::count_digest(std::uint64_t digest) const noexcept {
  store::follow_in_time(*ask_);
  const store::Pinned ask(*ask_);
  if (!ask->removes()) return Code::kUnsupported;
  if (!ask->target.has(digest)) return Code::kPart;
  return ask->count(digest);
}

bool Filter::contains(std::string_view key) const noexcept { return answer(key) != 0; }

// Flattened: a compiler that thinks XXH3 too large to inline does not see how little of it short keys need.
[[gnu::flatten]] std::int32_t Filter::answer(std::string_view key) const noexcept {
  const store::Ask& ask = *ask_;
  if (hash::is_quick(ask.shape.hash, key)) [[likely]]
    return ask.answer(hash::Xxh3{ask.shape.seed}(key));
  return answer_any_key(ask, key);
}

std::optional<std::uint64_t> Filter::digest(std::string_view key) const noexcept {
  return with_digest(
      ask_->shape, ask_->secret, key, [] { return std::optional<std::uint64_t>(); },
      [](std::uint64_t digest) { return std::optional<std::uint64_t>(digest); });
}

// --- Durability and facts --------------------------------------------------------------------------------------------

Error Filter::sync(const LogPosition& position) { return store::Pinned(*ask_)->home->sync(position); }

std::uint64_t Filter::get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept {
  return store::Pinned(*ask_)->home->get_mark(owner, epoch);
}

Result<std::vector<OwnerMark>> Filter::list_marks() const { return store::Pinned(*ask_)->home->list_marks(); }

Error Filter::drop_owner(std::uint64_t owner) { return store::Pinned(*ask_)->home->drop_owner(owner); }

Result<bool> Filter::finish_recovery(std::uint64_t owner) { return store::Pinned(*ask_)->home->finish_recovery(owner); }

Result<bool> Filter::turn(std::optional<std::uint64_t> from_epoch) { return ask_->home->turn(from_epoch); }
Error Filter::finish_filling() { return ask_->home->finish_filling(); }

Result<bool> Filter::is_current() const { return ask_->home->is_current(); }

Error Filter::use_threads(unsigned threads) {
  if (!ask_->alone) {
    return base::fail(
        Code::kInvalid,
        "this handle is not the only writer, so it does not divide its work among threads. Open it exclusively.");
  }
  if (ask_->home->is_shut()) return store::shut(ask_->home->name("the filter"));
  if (threads == 0 || threads > store::kMostThreads) {
    return base::fail(Code::kInvalid, std::to_string(threads) + " threads are out of range. Give 1 to 64.");
  }
  if (!ask_->born.here())
    return base::fail(Code::kForked, "the filter was opened before a fork. Open it again in the child.");
  const std::lock_guard lock(ask_->one_at_a_time);
  ask_->threads = threads;
  return {};
}

Shape Filter::shape() const noexcept { return store::Pinned(*ask_)->shape_of_all(); }

Part Filter::part() const noexcept { return store::Pinned(*ask_)->part(); }

namespace {

std::string note_of(const store::Ask& ask) {
  const format::Identity* const identity = ask.identity();
  return identity != nullptr ? identity->note.value_or(std::string()) : std::string();
}

}  // namespace

std::string Filter::note() const { return note_of(*store::Pinned(*ask_)); }

std::vector<NoteOfFile> Filter::notes() const {
  const store::Pinned ask(*ask_);
  const auto noted = [](const store::Ask& one) { return NoteOfFile{one.home->name(""), note_of(one)}; };
  std::vector<NoteOfFile> all;
  for (const store::Ask* const part : ask->home->parts()) all.push_back(noted(*part));
  if (all.empty()) all.push_back(noted(*ask));
  return all;
}

std::vector<std::uint32_t> Filter::seeds() const { return store::Pinned(*ask_)->seeds(); }

Code Filter::health() const noexcept { return store::Pinned(*ask_)->health(); }

Stats Filter::stats(StatsWish wish) const {
  const store::Pinned ask(*ask_);
  return ask->home->stats(*ask, wish);
}

}  // namespace bfstore

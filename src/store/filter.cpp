// The public Filter, except calls with many keys (many.cpp): checks its arguments, hashes keys, and gives digests to
// its Core.
#include <bfstore/inline.hpp>

#include <filesystem>

#include "base/fail.hpp"
#include "hash/hasher.hpp"
#include "store/core.hpp"
#include "store/divide.hpp"
#include "store/follower.hpp"
#include "store/placed.hpp"
#include "store/refusals.hpp"
#include "store/set.hpp"

namespace bfstore {
namespace {

Error only_reads() {
  return base::fail(Code::kInvalid, "the filter was opened to follow its path. Publish the handle that made the file.");
}

// What `use` makes of the key's digest, or what `otherwise` returns if the hash gives none.
template <class Otherwise, class Use>
auto with_digest(const Shape& shape, const store::Secret& secret, std::string_view key, Otherwise otherwise,
                 Use use) noexcept {
  return hash::visit(shape.hash, shape.seed, secret.key(), otherwise,
                     [&](const auto& hasher) { return use(hasher(key)); });
}

}  // namespace

Filter::Filter(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::open(const std::string& path, OpenMode mode, const OpenOptions& options) {
  if (options.descriptor && path.empty()) return open(store::name_of(*options.descriptor), mode, options);
  const bool reading = mode == OpenMode::kRead;
  if (!reading && mode != OpenMode::kWrite && mode != OpenMode::kExclusive) {
    return base::fail(Code::kInvalid,
                      path + ": no single mode was given. Open it for reading, for writing or exclusively.");
  }
  if (options.recover && options.accept_loss) {
    return base::fail(Code::kInvalid, path + ": opened to recover it and to accept the loss. Choose one.");
  }
  if (!reading && (options.verify || options.tolerate_damage)) {
    return base::fail(Code::kInvalid, path + ": opened for writing with checksums to compare. Open it for reading.");
  }
  if (options.verify && options.tolerate_damage) {
    return base::fail(Code::kInvalid, path + ": opened to refuse damage and to tolerate it. Choose one.");
  }
  if (reading && (options.recover || options.accept_loss || options.hard_limit)) {
    return base::fail(
        Code::kInvalid,
        path + ": opened for reading to recover it, to accept a loss or to limit its keys. Open it for writing.");
  }
  if (!reading && options.no_write)
    return base::fail(Code::kInvalid, path + ": opened for writing by a handle that is to write nothing. Choose one.");
  if (!reading && options.map.copy)
    return base::fail(Code::kInvalid, path + ": a copy cannot be written to. Open it for reading.");
  if (!reading && options.descriptor) {
    return base::fail(Code::kInvalid, path +
                                          ": opened for writing by a descriptor, which does not show that the file has "
                                          "its path. Open the path, or open the descriptor for reading.");
  }
  if (options.follow && !reading)
    return base::fail(Code::kInvalid, path + ": opened for writing to follow its path. Open it for reading.");
  if (options.follow && options.descriptor) {
    return base::fail(Code::kInvalid,
                      path + ": opened by a descriptor to follow its path, of which it has none. Choose one.");
  }
  if (options.follow) return open_to_follow(path, options);
  const bool exclusive = mode == OpenMode::kExclusive;
  const store::Writers kind = exclusive ? store::Writers::kAlone : store::Writers::kShared;
  auto session =
      reading ? store::Session::open_reader(path, {options}) : store::Session::open_writer(path, kind, {options});
  if (!session) return session.error();
  const Adding how = reading ? Adding::kNever : exclusive ? Adding::kAlone : Adding::kShared;
  const auto functions = store::functions_for((*session)->file().identity().shape.layout, how);
  if (!functions) return functions.error();
  auto core = std::make_unique<Core>(*functions, std::move(*session), how);
  core->secret.keep(options.key);
  core->hard_limit = options.hard_limit;
  core->check_writeback_every(std::chrono::milliseconds(options.writeback_check_ms));
  return Filter(std::move(core));
}

// The working folder may change before the path is opened again.
Result<Filter> Filter::open_to_follow(const std::string& path, const OpenOptions& options) {
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).string();
  if (failed) return base::fail_errno(failed.value(), path, "asking for the working folder");
  const auto born = region::ForkMark::make();
  if (!born) return born.error();
  auto first = Core::Follower::open(absolute, options);
  if (!first) return first.error();
  const layout::Functions functions = (*first)->functions;
  const Shape shape = (*first)->shape;
  auto follower = std::make_unique<Core::Follower>(absolute, options, *born, std::move(*first));
  auto core = std::make_unique<Core>(functions, std::move(follower), shape);
  core->secret.keep(options.key);
  return Filter(std::move(core));
}

Error Filter::supersede() {
  if (core_ == nullptr) return store::not_a_file();
  if (core_->follower != nullptr) return only_reads();
  if (core_->session == nullptr) return core_->no_session();
  return core_->session->supersede();
}

Error Filter::publish() {
  if (core_ == nullptr) return store::not_a_file();
  if (core_->follower != nullptr) return only_reads();
  if (core_->session == nullptr) return core_->no_session();
  Error error = core_->session->publish();
  if (error.ok()) core_->writable = false;
  core_->look_at_lock();  // after an error it is another one
  return error;
}

// A writer that adds alone sets bits without a barrier before it looks at the live word: it is waited for.
Error Filter::shut() {
  if (core_ != nullptr && core_->session != nullptr) {
    return core_->session->shut([this] {
      if (core_->alone) const std::lock_guard<std::mutex> nobody_adds(core_->one_at_a_time);
    });
  }
  if (core_ == nullptr) return store::not_a_file();
  if (core_->follower != nullptr) return core_->follower->shut();
  if (core_->set != nullptr) return core_->set->shut();
  return core_->range != nullptr ? core_->range->shut() : store::not_a_file();
}

Error Filter::close() {
  Error error;
  if (core_ != nullptr && core_->session != nullptr) error = core_->session->close();
  core_.reset();
  return error;
}

void Filter::abandon() noexcept {
  if (core_ != nullptr && core_->session != nullptr) core_->session->abandon();
  core_.reset();
}

// --- One key ---------------------------------------------------------------------------------------------------------

Count Filter::add(std::string_view key) noexcept {
  const auto without_digest = [&] {
    if (!core_->gives_positions) return Count(Code::kDigestOnly);
    return add_placed(*core_, Keys(), Keys::Views{std::span(&key, 1)});
  };
  return with_digest(core_->shape, core_->secret, key, without_digest,
                     [this](std::uint64_t digest) { return core_->add(digest); });
}

Count Filter::add_digest(std::uint64_t digest) noexcept {
  return core_->gives_positions ? Count(Code::kKeyOnly) : core_->add(digest);
}

Count Filter::remove(std::string_view key) noexcept {
  if (!core_->removes()) return Code::kUnsupported;
  return with_digest(
      core_->shape, core_->secret, key, [] { return Count(Code::kDigestOnly); },
      [this](std::uint64_t digest) { return core_->remove(digest); });
}

Count Filter::remove_digest(std::uint64_t digest) noexcept { return core_->remove(digest); }

Count Filter::count(std::string_view key) const noexcept {
  if (!core_->removes()) return Code::kUnsupported;
  return with_digest(
      core_->shape, core_->secret, key, [] { return Count(Code::kDigestOnly); },
      [this](std::uint64_t digest) { return count_digest(digest); });
}

Count Filter::count_digest(std::uint64_t digest) const noexcept {
  if (core_->follower != nullptr) core_->follower->follow_in_time();
  const Core::InUse core(*core_);
  if (!core->removes()) return Code::kUnsupported;
  if (!core->target.has(digest)) return Code::kPart;
  return core->count(digest);
}

bool Filter::contains(std::string_view key) const noexcept { return answer(key) != 0; }

// Flattened: a compiler that thinks XXH3 too large to inline does not see how little of it short keys need.
[[gnu::flatten]] std::int32_t Filter::answer(std::string_view key) const noexcept {
  const Core& core = *core_;
  if (hash::is_quick(core.shape.hash, key)) [[likely]]
    return core.answer(hash::Xxh3{core.shape.seed}(key));
  return core.answer_any_key(key);
}

bool Filter::contains_digest(std::uint64_t digest) const noexcept { return core_->answer(digest) != 0; }

std::optional<std::uint64_t> Filter::digest(std::string_view key) const noexcept {
  return with_digest(
      core_->shape, core_->secret, key, [] { return std::optional<std::uint64_t>(); },
      [](std::uint64_t digest) { return std::optional<std::uint64_t>(digest); });
}

// --- Durability and facts --------------------------------------------------------------------------------------------

Error Filter::sync(const LogPosition& position) {
  const Core::InUse core(*core_);
  if (core->session == nullptr) return core->no_session();
  return core->session->sync(position);
}

std::uint64_t Filter::get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept {
  const Core::InUse core(*core_);
  if (core->loaded != nullptr && core->loaded->slot) return format::mark_of(*core->loaded->slot, owner, epoch);
  return core->session == nullptr ? 0 : core->session->get_mark(owner, epoch);
}

Result<std::vector<OwnerMark>> Filter::list_marks() const {
  const Core::InUse core(*core_);
  if (core->loaded != nullptr && core->loaded->slot) return format::marks_of(*core->loaded->slot);
  if (core->session == nullptr) return core->no_session();
  return core->session->list_marks();
}

Error Filter::drop_owner(std::uint64_t owner) {
  const Core::InUse core(*core_);
  if (core->session == nullptr) return core->no_session();
  return core->session->drop_owner(owner);
}

Result<bool> Filter::finish_recovery(std::uint64_t owner) {
  const Core::InUse core(*core_);
  if (core->session == nullptr) return core->no_session();
  return core->session->finish_recovery(owner);
}

Error Filter::finish_filling() {
  if (core_->session == nullptr) return core_->no_session();
  return core_->session->finish_filling();
}

Result<bool> Filter::is_current() const {
  if (core_->follower != nullptr) return core_->follower->is_current();
  if (core_->set != nullptr) return core_->set->is_current();
  if (core_->session != nullptr) return core_->session->is_current();
  return core_->range != nullptr ? core_->range->is_current() : store::not_a_file();
}

Error Filter::use_threads(unsigned threads) {
  if (!core_->alone) {
    return base::fail(
        Code::kInvalid,
        "this handle is not the only writer, so it does not divide its work among threads. Open it exclusively.");
  }
  if (core_->is_shut()) return store::shut(core_->session->file().file().path());
  if (threads == 0 || threads > store::kMostThreads) {
    return base::fail(Code::kInvalid, std::to_string(threads) + " threads are out of range. Give 1 to 64.");
  }
  if (!core_->born.here())
    return base::fail(Code::kForked, "the filter was opened before a fork. Open it again in the child.");
  const std::lock_guard<std::mutex> lock(core_->one_at_a_time);
  core_->threads = threads;
  return {};
}

Shape Filter::shape() const noexcept { return Core::InUse(*core_)->shape; }

Part Filter::part() const noexcept { return Core::InUse(*core_)->part(); }

std::string Filter::note() const {
  const Core::InUse core(*core_);
  const format::Identity* const identity = core->identity();
  return identity != nullptr ? identity->note.value_or(std::string()) : std::string();
}

std::vector<std::uint32_t> Filter::seeds() const { return Core::InUse(*core_)->seeds(); }

Code Filter::health() const noexcept { return Core::InUse(*core_)->health(); }

Stats Filter::stats(StatsWish wish) const {
  const Core::InUse core(*core_);
  if (core->set != nullptr) return core->set->stats(core->shape, wish);
  Stats stats;
  stats.shape = core->shape;
  stats.isa = core->functions.isa;
  stats.body_bytes = core->body_bytes;
  if (const format::Identity* identity = core->identity(); identity != nullptr) stats.file_id = identity->file_id;
  stats.keys_added = core->keys_added();
  stats.keys_removed = core->keys_removed();
  stats.health = core->health();
  stats.saturated = stats.shape.capacity != 0 && core->keys_left() > stats.shape.capacity;
  if (const region::Mapping* mapping = core->mapping(); wish.memory && mapping != nullptr)
    stats.memory = {mapping->huge_page_bytes(), mapping->resident_bytes()};
  if (wish.fill) {
    layout::FillCounter counter(core->row, core->target.geometry);
    counter.take(core->words, core->body_bytes / 8);
    stats.fill = counter.fill();
  }
  return stats;
}

Lookup Filter::lookup() const noexcept { return Lookup(core_->target); }

}  // namespace bfstore

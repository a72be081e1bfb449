#include "store/home/file.hpp"

#include <chrono>
#include <utility>

#include "base/fail.hpp"
#include "format/locks.hpp"
#include "format/sections.hpp"
#include "region/lock.hpp"
#include "region/place.hpp"
#include "sizing/epochs.hpp"
#include "store/file/making.hpp"
#include "store/file/refusals.hpp"
#include "store/file/turn.hpp"

namespace bfstore::store {
namespace {

class InFile final : public Home {
 public:
  explicit InFile(std::unique_ptr<Session> session) : session_(std::move(session)) {
    if (const auto boot_id = region::boot_id(); boot_id && opened().identity().window_ms) boot_id_ = *boot_id;
  }

  [[nodiscard]] const OpenFile& opened() const noexcept { return session_->file(); }

  [[nodiscard]] std::string name(const char*) const override { return path(); }
  [[nodiscard]] const format::Identity* identity() const noexcept override { return &opened().identity(); }
  [[nodiscard]] const region::Mapping* mapping() const noexcept override { return &opened().mapping(); }
  [[nodiscard]] const OpenFile* own_file() const noexcept override { return &opened(); }
  [[nodiscard]] Stats stats(const Ask& ask, StatsWish wish) const override {
    Stats stats = Home::stats(ask, wish);
    if (opened().identity().window_ms) stats.turning = turning(ask.row.info.epochs);
    return stats;
  }
  [[nodiscard]] bool is_shut() const noexcept override { return session_->is_shut(); }
  [[nodiscard]] Result<bool> is_current() override { return session_->is_current(); }

  [[nodiscard]] bool path_names_another() const noexcept override { return opened().file().path_names_another(); }
  void supersede_for_this_handle() noexcept override { opened().supersede_for_this_handle(); }

  [[nodiscard]] Result<Moment> moment() const override {
    if (!opened().born().here()) return forked(path());
    return session_->moment_for_copy();
  }
  // Bytes that cannot be read are an error, and no signal. A copy in memory is only in the mapping.
  [[nodiscard]] Error read_body(const std::uint64_t* words, std::span<std::byte> into,
                                std::uint64_t offset) const override {
    if (mapping()->is_copy()) return Home::read_body(words, into, offset);
    const auto got = opened().file().read_at(into, opened().identity().body_offset + offset);
    if (!got) return got.error();
    if (*got == into.size()) return {};
    return base::fail(Code::kLost, path() + ": truncated while it was read. Rebuild it.");
  }
  [[nodiscard]] std::optional<SealedPieces> sealed_pieces() const override {
    if (!opened().identity().seal) return std::nullopt;
    return SealedPieces(opened());
  }
  [[nodiscard]] Error check_is_another(const std::string& other) const override {
    return store::check_is_another(opened().file(), other);
  }

  [[nodiscard]] std::optional<region::DescriptorMark> lock_ends_with() const noexcept override {
    return session_->lock_ends_with();
  }
  void poison(bool everywhere) noexcept override {
    if (everywhere) opened().live_word().set(format::LiveWord::kPoisoned);
    opened().poison_for_this_handle();
  }
  void check_writeback() const noexcept override { session_->check_writeback(); }
  Code grow(std::uint32_t full) noexcept override { return session_->grow(full); }

  Error sync(const LogPosition& position) override { return session_->sync(position); }
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept override {
    return session_->get_mark(owner, epoch);
  }
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const override { return session_->list_marks(); }
  Error drop_owner(std::uint64_t owner) override { return session_->drop_owner(owner); }
  Result<bool> finish_recovery(std::uint64_t owner) override { return session_->finish_recovery(owner); }
  Error finish_filling() override { return session_->finish_filling(); }
  Result<bool> turn(std::optional<std::uint64_t> from) override { return session_->turn(from); }
  Error supersede() override { return session_->supersede(); }
  Error publish(unsigned) override { return session_->publish(); }
  Error shut(const std::function<void()>& adds_are_over) override { return session_->shut(adds_are_over); }
  Error close() override { return session_->close(); }
  void abandon() noexcept override { session_->abandon(); }

 private:
  [[nodiscard]] const std::string& path() const noexcept { return opened().file().path(); }
  // Reads memory only, unless the epoch is over and a sync seems to be under way. A slot that is being written is not
  // valid, and the one before it is a little older. At the end of a turn the slot's time is too early: then no turn is
  // due.
  [[nodiscard, gnu::noinline]] Turning turning(std::uint32_t epochs) const {
    const bool syncing = opened().live_word().syncing();
    const format::LiveEpoch epoch = opened().live_word().epoch();
    Turning turning{epochs, *opened().identity().window_ms, epoch.number()};
    const std::byte* const pages = mapping()->data() + format::kSlotOffset;
    const auto slots = format::decode_slots(
        {pages, format::kPageBytes}, {pages + format::kPageBytes, format::kPageBytes}, opened().identity().file_id);
    if (slots.newest() == nullptr) return turning;
    turning.turned_at = slots.newest()->turned_at;
    const bool ends = syncing || opened().live_word().epoch() != epoch || slots.newest()->epoch != turning.epoch;
    const bool over = is_turn_due(*slots.newest(), boot_id_, sizing::epoch_ms(turning.window_ms, epochs));
    turning.due = over && (!ends || (syncing && sync_died()));
    return turning;
  }
  // A process that is killed in a sync leaves *syncing* set. A program that waits until a turn is due would never turn
  // then, and the turn is what says that the file is to be recovered.
  [[nodiscard]] bool sync_died() const {
    const auto alive = region::locked_by_other(opened().file(), {format::kSyncLock});
    return alive.ok() && !*alive;
  }

  [[nodiscard]] Code meaning_of(std::uint64_t differing) const noexcept override {
    if ((differing & format::LiveWord::kFixed) != 0) return Code::kLost;
    if ((differing & format::LiveWord::kPoisoned) != 0) return Code::kPoisoned;
    if ((differing & format::LiveWord::kGone) != 0) {
      session_->note_told_of_replacement();
      return Code::kSuperseded;
    }
    if ((differing & format::LiveWord::kRecovering) != 0) return Code::kRecovering;
    return (differing & format::LiveWord::kFilling) != 0 ? Code::kFilling : Code::kLater;
  }

  std::unique_ptr<Session> session_;
  format::BootId boot_id_{};  // where keys expire
};

// Lookups compare the live word with the word at the end, and adds leave out a filling and their own recovery.
void look_at_live_word(Ask& ask, const Session& session) {
  const OpenFile& file = session.file();
  const std::uint64_t end = format::end_word(file.identity().file_id);
  ask.target.sentinel = {word_at(file.live_page()), word_at(file.end_word()),
                         format::LiveWord::healthy(file.identity().file_id).bits ^ end};
  if (ask.row.info.epochs != 0) ask.target.geometry.epoch = word_at(file.live_page() + format::kLiveEpochField.offset);
  ask.see_slices(file.identity(), word_at(file.live_page() + format::kLiveNumSlicesField.offset), true);
  ask.adds_compare = ~format::LiveWord::kFilling;
  if (session.recovering()) ask.adds_compare &= ~format::LiveWord::kRecovering;
}

}  // namespace

Result<std::unique_ptr<Ask>> ask_file(std::unique_ptr<Session> session, Adding how, const HandleOptions& options) {
  const Session& its = *session;
  const OpenFile& file = its.file();
  const format::Identity& identity = file.identity();
  const auto functions = functions_for(identity.shape.layout, how);
  if (!functions) return functions.error();
  const BodyWords body{reinterpret_cast<std::uint64_t*>(file.body()), identity.shape, identity.body_bytes};
  auto ask = std::make_unique<Ask>(*functions, body, how, std::make_unique<InFile>(std::move(session)));
  look_at_live_word(*ask, its);
  ask->settle(identity);
  if (file.live_word().load().has(format::LiveWord::kFilling | format::LiveWord::kRecovering)) ask->look_before_too();
  ask->stripes = file.live_page() + format::kStripesField.offset;
  ask->born = file.born();
  ask->lock_ends_with = its.lock_ends_with();
  ask->secret.keep(options.secret);
  ask->hard_limit = options.hard_limit;
  ask->check_writeback_every(std::chrono::milliseconds(options.writeback_check_ms));
  return ask;
}

Error check_options(const std::string& path, OpenMode mode, const OpenOptions& options) {
  const auto refuse = [&path](const char* why) { return base::fail(Code::kInvalid, path + ": opened " + why); };
  const bool reading = mode == OpenMode::kRead;
  if (!reading && mode != OpenMode::kWrite && mode != OpenMode::kExclusive) {
    return base::fail(Code::kInvalid,
                      path + ": no single mode was given. Open it for reading, for writing or exclusively.");
  }
  if (options.recover && options.accept_loss) return refuse("to recover it and to accept the loss. Choose one.");
  if (!reading && (options.verify || options.tolerate_damage))
    return refuse("for writing with checksums to compare. Open it for reading.");
  if (options.verify && options.tolerate_damage)
    return refuse("to refuse damage (verify) and to answer in spite of it (tolerate damage). Choose one.");
  if (reading && (options.recover || options.accept_loss || options.hard_limit))
    return refuse("for reading to recover it, to accept a loss or to limit its keys. Open it for writing.");
  if (!reading && options.no_write) return refuse("for writing by a handle that is to write nothing. Choose one.");
  if (!reading && options.map.copy)
    return base::fail(Code::kInvalid, path + ": a copy cannot be written to. Open it for reading.");
  if (!reading && options.descriptor) {
    return refuse(
        "for writing by a descriptor, which does not show that the file has its path. Open the path, or open the "
        "descriptor for reading.");
  }
  if (options.follow && !reading) return refuse("for writing to follow its path. Open it for reading.");
  if (options.follow && options.descriptor)
    return refuse("by a descriptor to follow its path, of which it has none. Choose one.");
  return {};
}

Result<std::unique_ptr<Ask>> open_file(const std::string& path, OpenMode mode, const OpenOptions& options) {
  if (Error error = check_options(path, mode, options); !error.ok()) return error;
  const bool reading = mode == OpenMode::kRead;
  const bool exclusive = mode == OpenMode::kExclusive;
  auto session = reading ? Session::open_reader(path, {options})
                         : Session::open_writer(path, exclusive ? Writers::kAlone : Writers::kShared, {options});
  if (!session) return session.error();
  const Adding how = reading ? Adding::kNever : exclusive ? Adding::kAlone : Adding::kShared;
  return ask_file(std::move(*session), how, {options.secret, options.hard_limit, options.writeback_check_ms});
}

}  // namespace bfstore::store

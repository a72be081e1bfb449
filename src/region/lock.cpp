#include "region/lock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/libc.hpp"
#include "region/holder.hpp"

namespace bfstore::region {
namespace {

using base::fail_errno;

constexpr pid_t kNoProcess = -1;  // the lock belongs to a description, not to a process
constexpr std::uint64_t kEndOfLocks = std::numeric_limits<off_t>::max();

struct flock request_of(short type, const ByteRange& range) noexcept {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = static_cast<off_t>(range.first);
  request.l_len = static_cast<off_t>(range.count);
  return request;
}

// Returns false if another description has a lock there.
Result<bool> set_lock(const File& file, int descriptor, short type, const ByteRange& range) {
  struct flock request = request_of(type, range);
  if (fcntl(descriptor, F_OFD_SETLK, &request) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return fail_errno(errno, file.path(), "locking");
}

struct FoundLock {
  ByteRange where;
  bool of_process = false;
};

// Finds any exclusive lock in `part` that another description or process has. (It asks about a shared lock, which
// conflicts with exclusive ones only.)
Result<std::optional<FoundLock>> any_lock_in(const File& file, int descriptor, const ByteRange& part) {
  struct flock question = request_of(F_RDLCK, part);
  if (fcntl(descriptor, F_OFD_GETLK, &question) != 0) return fail_errno(errno, file.path(), "asking for locks");
  if (question.l_type == F_UNLCK) return std::optional<FoundLock>();
  ByteRange found{static_cast<std::uint64_t>(question.l_start), static_cast<std::uint64_t>(question.l_len)};
  if (found.count == 0) found.count = kEndOfLocks - found.first;  // up to the largest offset of a file
  return std::optional(FoundLock{found, question.l_pid != kNoProcess});
}

// Finds an exclusive lock in `part` that a writer of filters has. `part` is inside `range`. A lock that begins before
// `range`, or that belongs to a process, is another program's. The system reports one lock only, so this asks again
// about the bytes outside that lock.
Result<std::optional<ByteRange>> exclusive_lock_in(const File& file, int descriptor, const ByteRange& part,
                                                   const ByteRange& range) {
  std::vector<ByteRange> unknown{part};
  while (!unknown.empty()) {
    const ByteRange asked = unknown.back();
    unknown.pop_back();
    if (asked.count == 0) continue;
    const auto found = any_lock_in(file, descriptor, asked);
    if (!found) return found.error();
    if (!*found) continue;
    const ByteRange where = (*found)->where;
    const bool strange = (*found)->of_process || where.first < range.first;
    if (!strange) return std::optional(where);
    if (where.first > asked.first) unknown.push_back({asked.first, where.first - asked.first});
    if (where.end() < asked.end()) unknown.push_back({where.end(), asked.end() - where.end()});
  }
  return std::optional<ByteRange>();
}

// Waits for the byte, at most `timeout_ms`: then kBusy. Does not wait for another handle of this process that holds it
// for long.
Error lock_in_time(const File& file, int descriptor, std::uint64_t byte, std::uint32_t timeout_ms) {
  Patience patience(timeout_ms);
  for (;;) {
    const auto got = set_lock(file, descriptor, F_WRLCK, {byte, 1});
    if (!got.ok()) return got.error();
    if (*got) return {};
    if (file.held_for_long()) {
      return base::fail(
          Code::kBusy,
          file.path() +
              ": this process itself superseded the file, to replace it. Publish or close that filter first.");
    }
    if (!patience.wait())
      return busy(file, {byte, 1},
                  "another process locks the file, and did not unlock it within " + std::to_string(timeout_ms) + " ms");
  }
}

std::uint64_t any_number() noexcept {
  std::uint64_t random = 0;
  return base::random_bytes(&random, sizeof random) == sizeof random ? random : static_cast<std::uint64_t>(getpid());
}

}  // namespace

Error busy(const File& file, const ByteRange& range, const std::string& why, const std::string& what_to_do) {
  return base::fail(Code::kBusy,
                    file.path() + ": " + why + holder_in_words(file.descriptor(), range) + ". " + what_to_do);
}

Result<bool> try_lock(const File& file, std::uint64_t byte) {
  return set_lock(file, file.descriptor(), F_WRLCK, {byte, 1});
}

Result<bool> locked_by_other(const File& file, const ByteRange& range) {
  const auto found = exclusive_lock_in(file, file.descriptor(), range, range);
  if (!found) return found.error();
  return found->has_value();
}

// No other lock is in the range then, so it is the one that is found.
Result<bool> wholly_locked_by_other(const File& file, const ByteRange& range) {
  const auto found = exclusive_lock_in(file, file.descriptor(), range, range);
  if (!found) return found.error();
  return found->has_value() && (*found)->count == range.count;
}

Error unlock(const File& file, std::uint64_t byte) {
  const auto done = set_lock(file, file.descriptor(), F_UNLCK, {byte, 1});
  return done.ok() ? Error{} : done.error();
}

Patience::Patience(std::uint32_t timeout_ms) noexcept
    : for_ever_(timeout_ms == kWaitForEver), until_(Clock::now() + std::chrono::milliseconds(timeout_ms)) {}

// The pauses are short, because the kernel has no queue for processes that poll. A process that polls seldom would wait
// longest while others lock and unlock without a pause. (Measured: six processes that do only that, holding the lock
// for 20 ms each time, wait up to 2 s.)
bool Patience::wait() {
  constexpr std::chrono::nanoseconds kLongestPause = std::chrono::microseconds(500);
  const auto left = until_ - Clock::now();
  if (!for_ever_ && left <= Clock::duration::zero()) return false;
  std::this_thread::sleep_for(for_ever_ ? pause_ : std::min<Clock::duration>(pause_, left));
  pause_ = std::min(2 * pause_, kLongestPause);
  return true;
}

// --- For a scope -----------------------------------------------------------------------------------------------------

Result<ScopedLock> ScopedLock::take(const File& file, std::uint64_t byte, std::uint32_t timeout_ms) {
  Error error = lock_in_time(file, file.descriptor(), byte, timeout_ms);
  return error.ok() ? Result<ScopedLock>(ScopedLock(file, byte)) : Result<ScopedLock>(std::move(error));
}

Result<std::optional<ScopedLock>> ScopedLock::try_take(const File& file, std::uint64_t byte) {
  const auto got = try_lock(file, byte);
  if (!got.ok()) return got.error();
  return *got ? std::optional(ScopedLock(file, byte)) : std::nullopt;
}

ScopedLock::ScopedLock(ScopedLock&& other) noexcept : file_(std::exchange(other.file_, nullptr)), byte_(other.byte_) {}

// Closing the descriptor would release the lock, too. A child that has its parent's descriptors (it was not made by
// fork()) leaves the parent's lock alone.
ScopedLock::~ScopedLock() {
  if (file_ != nullptr && file_->born().here()) static_cast<void>(unlock(*file_, byte_));
}

// --- For a mapping ---------------------------------------------------------------------------------------------------

MappedLock::MappedLock(const File& file, const ByteRange& range, const ByteRange& held) noexcept
    : range_(range), held_(held), born_(file.born()) {}

Result<MappedLock> MappedLock::take_one(const File& file, const ByteRange& range, std::uint32_t timeout_ms) {
  return take(file, range, false, timeout_ms);
}

Result<MappedLock> MappedLock::take_all(const File& file, const ByteRange& range, std::uint32_t timeout_ms) {
  return take(file, range, true, timeout_ms);
}

Result<MappedLock> MappedLock::take_byte(const File& file, std::uint64_t byte, std::uint32_t timeout_ms) {
  auto another = file.another_description();
  if (!another) return another.error();
  const int descriptor = another->has_value() ? (*another)->number() : file.descriptor();
  if (Error error = lock_in_time(file, descriptor, byte, timeout_ms); !error.ok()) return error;
  return keep(file, {byte, 1}, {byte, 1}, std::move(*another));
}

Result<std::optional<MappedLock>> MappedLock::try_byte(const File& file, std::uint64_t byte) {
  auto another = file.another_description();
  if (!another) return another.error();
  const int descriptor = another->has_value() ? (*another)->number() : file.descriptor();
  const auto got = set_lock(file, descriptor, F_WRLCK, {byte, 1});
  if (!got.ok()) return got.error();
  if (!*got) return std::optional<MappedLock>();
  auto lock = keep(file, {byte, 1}, {byte, 1}, std::move(*another));
  if (!lock) return lock.error();
  return std::optional<MappedLock>(std::move(*lock));
}

Result<MappedLock> MappedLock::take(const File& file, const ByteRange& range, bool all, std::uint32_t timeout_ms) {
  auto another = file.another_description();
  if (!another) return another.error();
  const int descriptor = another->has_value() ? (*another)->number() : file.descriptor();
  Patience patience(timeout_ms);
  std::uint64_t first = any_number() % range.count;
  for (std::uint64_t tried = 0;; ++tried) {  // each byte in turn; after another program's lock, from a random byte
    const ByteRange wanted = all ? range : ByteRange{range.first + (first + tried) % range.count};
    const auto got = set_lock(file, descriptor, F_WRLCK, wanted);
    if (!got.ok()) return got.error();
    if (*got) return keep(file, range, wanted, std::move(*another));
    const auto other = exclusive_lock_in(file, descriptor, wanted, range);
    if (!other) return other.error();
    if (all && other->has_value())
      return busy(file, range, "another writer has it open", "Close that writer, or open the file for shared writing.");
    if (other->has_value() && (*other)->count == range.count)
      return busy(file, range, "an exclusive writer has it open", "Try again when that writer has closed it.");
    if (!other->has_value()) first = any_number() % range.count;
    const bool others_are_left = other->has_value() && tried % range.count != range.count - 1;
    if (others_are_left || patience.wait()) continue;
    const std::string who =
        other->has_value() ? "other writers lock" : "a program that is not a writer of filters locks";
    return busy(file, range, who + " the file, and did not unlock it within " + std::to_string(timeout_ms) + " ms");
  }
}

// The lock was taken on the description of `another` or, if that is empty, on the file's own.
Result<MappedLock> MappedLock::keep(const File& file, const ByteRange& range, const ByteRange& held,
                                    std::optional<Descriptor> another) {
  MappedLock lock(file, range, held);
  if (another) {
    if (Error error = lock.hold(file, another->number()); !error.ok()) return error;
    if (Error error = lock.let_go_of(file, std::move(*another)); !error.ok()) return error;
    return lock;
  }
  lock.unmapped_ = file.descriptor();
  if (Error error = lock.hold(file, file.descriptor()); !error.ok()) return error;
  const auto sharing = file.sharing();
  if (!sharing) return sharing.error();
  if (*sharing == Sharing::kOverlay) lock.ends_with_ = file.descriptor_mark();
  return lock;
}

// The mapping keeps the description alive, except on an overlay. There the mapping has a description of the lower
// layer, and the lock ends with the descriptor, which therefore stays open.
Error MappedLock::let_go_of(const File& file, Descriptor another) {
  another = {};
  const auto kept = locked_by_other(file, held_);
  if (!kept.ok() || *kept) return kept.ok() ? Error{} : kept.error();
  auto again = file.another_description();
  if (!again) return again.error();
  if (!again->has_value())
    return base::fail(Code::kBusy,
                      file.path() + ": the kernel does not keep its lock here. Copy it to another filesystem.");
  const auto got = set_lock(file, (*again)->number(), F_WRLCK, held_);
  if (!got.ok()) return got.error();
  if (!*got) return busy(file, held_, "another program locks it");
  described_ = std::move(**again);
  ends_with_ = described_.mark();
  return {};
}

// The description lives as long as the mapping, which forked children do not have.
Error MappedLock::hold(const File& file, int descriptor) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<off_t>(offset_of_lock_page(range_));
  void* const mapped = mmap(nullptr, page, PROT_NONE, MAP_SHARED, descriptor, offset);
  if (mapped == MAP_FAILED) return fail_errno(errno, file.path(), "mapping a page that holds a lock");
  page_ = mapped;
  if (madvise(mapped, page, MADV_DONTFORK) == 0) return {};
  return fail_errno(errno, file.path(), "keeping a lock from forked children");
}

MappedLock::MappedLock(MappedLock&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      described_(std::move(other.described_)),
      unmapped_(std::exchange(other.unmapped_, -1)),
      ends_with_(std::exchange(other.ends_with_, std::nullopt)),
      range_(other.range_),
      held_(other.held_),
      born_(other.born_) {}

MappedLock& MappedLock::operator=(MappedLock&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(described_, other.described_);
  std::swap(unmapped_, other.unmapped_);
  std::swap(ends_with_, other.ends_with_);
  std::swap(range_, other.range_);
  std::swap(held_, other.held_);
  std::swap(born_, other.born_);
  return *this;
}

// Does nothing in a child, where another mapping may be at that address.
MappedLock::~MappedLock() {
  if (!born_.here()) return;
  if (page_ != nullptr) munmap(page_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  struct flock request = request_of(F_UNLCK, held_);
  if (unmapped_ >= 0) fcntl(unmapped_, F_OFD_SETLK, &request);
}

// Asks through the file's own description, which sees the lock on another one. A lock that it sees may belong to
// another process that locked the byte since then. So this checks the descriptor, too.
Error MappedLock::check(const File& file) const {
  const Error lost = base::fail(
      Code::kLost,
      file.path() + ": other code of this process closed the descriptor of this filter's lock. Open it again.");
  if (page_ == nullptr || (ends_with_ && !ends_with_->is_there())) return lost;
  if (unmapped_ >= 0) return file.check_descriptor();
  const auto held = locked_by_other(file, held_);
  if (!held.ok()) return held.error();
  return *held ? Error{} : lost;
}

Result<bool> MappedLock::others(const File& file) const {
  const auto before = locked_by_other(file, {range_.first, held_.first - range_.first});
  const auto after = locked_by_other(file, {held_.end(), range_.end() - held_.end()});
  return before.ok() && !*before ? after : before;
}

}  // namespace bfstore::region

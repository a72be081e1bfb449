// Open-file-description locks on bytes of a file (fcntl F_OFD_*). They exclude descriptions, not processes. The last
// close of a description, or the death of its owner, releases its locks. Never sees filters.
//
// All of them are exclusive: only a process that may write to the file can have one. A shared lock belongs to another
// program (a backup program, Samba). It proves nothing, and can only be in the way.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "region/file.hpp"
#include "region/fork.hpp"

namespace bfstore::region {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 1;

  [[nodiscard]] std::uint64_t end() const noexcept { return first + count; }
};

// try_lock() is false if another description has a lock there.
Result<bool> try_lock(const File& file, std::uint64_t byte);
Error unlock(const File& file, std::uint64_t byte);

// True if another description has an exclusive lock that is on bytes of this range only.
Result<bool> locked_by_other(const File& file, const ByteRange& range);

// True if one such lock is on all bytes of this range.
Result<bool> wholly_locked_by_other(const File& file, const ByteRange& range);

// Returns kBusy, with a message that names the process if the system tells which one it is.
Error busy(const File& file, const ByteRange& range, const std::string& why,
           const std::string& what_to_do = "Try again later.");

// Waits for another process, a little longer each time, and at most `timeout_ms` in all.
class Patience {
 public:
  explicit Patience(std::uint32_t timeout_ms) noexcept;
  // False if the time is over.
  [[nodiscard]] bool wait();

 private:
  using Clock = std::chrono::steady_clock;
  bool for_ever_;
  Clock::time_point until_;
  std::chrono::nanoseconds pause_ = std::chrono::microseconds(20);
};

// A lock of one byte, held for a scope. Other threads that use the same file object share it.
class ScopedLock {
 public:
  // Waits at most `timeout_ms` for another process (then kBusy), and not at all for another handle of this process that
  // holds such locks for long.
  static Result<ScopedLock> take(const File& file, std::uint64_t byte, std::uint32_t timeout_ms);
  // Empty if another description has a lock there.
  static Result<std::optional<ScopedLock>> try_take(const File& file, std::uint64_t byte);
  ScopedLock(ScopedLock&& other) noexcept;
  ScopedLock& operator=(ScopedLock&&) = delete;
  ~ScopedLock();

 private:
  ScopedLock(const File& file, std::uint64_t byte) noexcept : file_(&file), byte_(byte) {}
  const File* file_;
  std::uint64_t byte_;
};

// A lock that lasts as long as this process maps its page. It stays even if other code closes descriptors, and a forked
// child does not have it.
class MappedLock {
 public:
  // Locks any one byte of the range, or all of it. Both wait for other programs' locks as above, and take_one() waits
  // while every byte is locked. A conflict with a writer's other kind of lock is kBusy at once: for take_one() a lock
  // of the whole range, for take_all() a lock of any byte.
  static Result<MappedLock> take_one(const File& file, const ByteRange& range, std::uint32_t timeout_ms);
  static Result<MappedLock> take_all(const File& file, const ByteRange& range, std::uint32_t timeout_ms);

  // Locks one byte, and waits for it as ScopedLock::take() does.
  static Result<MappedLock> take_byte(const File& file, std::uint64_t byte, std::uint32_t timeout_ms);
  // Empty if another description has a lock there. Asks not whose it is, for a caller that tries often: that would take
  // a look at every process of the system.
  static Result<std::optional<MappedLock>> try_byte(const File& file, std::uint64_t byte);

  MappedLock() noexcept = default;  // holds nothing
  MappedLock(MappedLock&& other) noexcept;
  MappedLock& operator=(MappedLock&& other) noexcept;
  ~MappedLock();

  // kLost if the lock is gone. Other code of this process can end it only if it ends with a descriptor.
  [[nodiscard]] Error check(const File& file) const;
  // That descriptor, on an overlay filesystem only.
  [[nodiscard]] const std::optional<DescriptorMark>& ends_with() const noexcept { return ends_with_; }

  // True if a description other than this lock's has an exclusive lock in the range that this lock was taken from.
  [[nodiscard]] Result<bool> others(const File& file) const;

 private:
  MappedLock(const File& file, const ByteRange& range, const ByteRange& held) noexcept;
  static Result<MappedLock> take(const File& file, const ByteRange& range, bool all, std::uint32_t timeout_ms);
  static Result<MappedLock> keep(const File& file, const ByteRange& range, const ByteRange& held,
                                 std::optional<Descriptor> another);
  Error hold(const File& file, int descriptor);
  Error let_go_of(const File& file, Descriptor another);

  void* page_ = nullptr;
  Descriptor described_;  // if the mapping does not keep the lock
  int unmapped_ = -1;     // the file's own descriptor, if the lock is on its description
  std::optional<DescriptorMark> ends_with_;
  ByteRange range_;
  ByteRange held_;
  ForkMark born_;
};

}  // namespace bfstore::region

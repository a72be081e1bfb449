// Open-file-description locks on bytes of a file (fcntl F_OFD_*): between descriptions, not processes; released by the
// last close of a description, or the death of its owner. Never sees filters.
//
// All of them are exclusive: only a process that may write to the file can have one. A shared lock is a stranger's (a
// backup program, Samba): it proves nothing, and can only be in the way.
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

// False: another description has a lock there.
Result<bool> try_lock(const File& file, std::uint64_t byte);
Error unlock(const File& file, std::uint64_t byte);

// Whether another description has an exclusive lock of such bytes alone.
Result<bool> locked_by_other(const File& file, const ByteRange& range);

// kBusy, with words that name the process where the system tells which one it is.
Error busy(const File& file, const ByteRange& range, const std::string& why,
           const std::string& what_to_do = "Try again later.");

// Waits for what another process does, a little longer each time, and `timeout_ms` at most in all.
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

// A lock of one byte, held for a scope. Other threads of this handle's owner have the same lock.
class ScopedLock {
 public:
  // Waits `timeout_ms` at most for another process (then kBusy), and not at all for another part of this one that holds
  // such locks for long.
  static Result<ScopedLock> take(const File& file, std::uint64_t byte, std::uint32_t timeout_ms);
  // Nothing if another description has a lock there.
  static Result<std::optional<ScopedLock>> try_take(const File& file, std::uint64_t byte);
  ScopedLock(ScopedLock&& other) noexcept;
  ScopedLock& operator=(ScopedLock&&) = delete;
  ~ScopedLock();

 private:
  ScopedLock(const File& file, std::uint64_t byte) noexcept : file_(&file), byte_(byte) {}
  const File* file_;
  std::uint64_t byte_;
};

// A lock that lasts as long as this process has it mapped: whatever descriptors other code closes, it stays, and a
// forked child does not have it.
class MappedLock {
 public:
  // Of any one byte of the range, or of all of it. Waits for strangers' locks as above, and where every byte is taken;
  // not for locks of others' whole range: that is kBusy at once, and so are locks of any byte where the whole range is
  // wanted.
  static Result<MappedLock> take_one(const File& file, const ByteRange& range, std::uint32_t timeout_ms);
  static Result<MappedLock> take_all(const File& file, const ByteRange& range, std::uint32_t timeout_ms);

  MappedLock() noexcept = default;  // of nothing
  MappedLock(MappedLock&& other) noexcept;
  MappedLock& operator=(MappedLock&& other) noexcept;
  ~MappedLock();

  // Whether another description than this lock's has an exclusive lock in the range that this one was taken from.
  [[nodiscard]] Result<bool> others(const File& file) const;

 private:
  MappedLock(const File& file, const ByteRange& range, const ByteRange& held) noexcept;
  static Result<MappedLock> take(const File& file, const ByteRange& range, bool all, std::uint32_t timeout_ms);
  Error hold(const File& file, int descriptor);
  Error let_go_of(const File& file, Descriptor another);

  void* page_ = nullptr;
  Descriptor described_;  // where the mapping does not keep the lock
  int unmapped_ = -1;     // the file's own descriptor, where the lock is on that one's description
  ByteRange range_;
  ByteRange held_;
  ForkMark born_;
};

}  // namespace bfstore::region

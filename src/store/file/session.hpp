// A handle's part in the protocol of sharing and durability, from its opening to its end. The steps are in the files of
// their subject. This file says which handle may take them, and when.
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/file/making.hpp"
#include "store/file/moment.hpp"
#include "store/file/open_file.hpp"
#include "store/file/publication.hpp"
#include "store/file/sync.hpp"
#include "store/file/writers.hpp"

namespace bfstore::store {

class Session {
 public:
  // Reads only; keeps no lock. kUnclean and the like if the file may not be used.
  static Result<std::unique_ptr<Session>> open_reader(const std::string& path, const Opening& options);

  // The file is dirty or recovering, durably, when this returns.
  static Result<std::unique_ptr<Session>> open_writer(const std::string& path, Writers kind, const Opening& options);

  // A new, empty file, open for writing, which has no name yet.
  static Result<std::unique_ptr<Session>> make(const std::string& path, const format::Identity& identity,
                                               const Making& how);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const OpenFile& file() const noexcept { return opened_; }
  // Opened to recover: it adds while every handle answers "maybe".
  [[nodiscard]] bool recovering() const noexcept { return role_ == Role::kRecoverer; }

  // Asks the kernel whether it failed to write a page of the file. If so, the file is poisoned. If this handle may not
  // write that down, only the handle is.
  void check_writeback() const noexcept;

  Error sync(const LogPosition& position);
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept;
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const;
  [[nodiscard]] Result<HeaderBytes> header_with_marks() const;
  // For a copy of the bits, before and after they are read. Asks the kernel as check_writeback(), and waits for a sync
  // that is under way, by another thread too: kBusy. Of a copy in memory: what the file said then.
  [[nodiscard]] Result<Moment> moment_for_copy() const;
  Error drop_owner(std::uint64_t owner);
  // Whether the recovery waits for no other owner.
  Result<bool> finish_recovery(std::uint64_t owner);
  // Every key is there: from now on the filter answers.
  Error finish_filling();
  [[nodiscard]] Result<bool> is_current() const;
  // The descriptor with which the writers' lock ends, where other code can end it.
  [[nodiscard]] const std::optional<region::DescriptorMark>& lock_ends_with() const noexcept {
    return writers_lock_.ends_with();
  }
  Error supersede();
  // For a copy, once it has every bit: from here on no process can open the file that it replaces for writing.
  Error supersede_found() { return publication_.supersede_found(opened_); }
  // Afterwards this session only reads.
  Error publish();
  // Gives a file to which nothing was added yet its name. This session continues to write.
  Error publish_in_use();
  // The last writer syncs and marks clean.
  Error close();
  // The same for a handle that other threads are using, and go on using: they are answered "maybe", and refused. Frees
  // nothing. `adds_are_over` waits for adds that began before. is_shut() tells whether it worked.
  Error shut(const std::function<void()>& adds_are_over);
  [[nodiscard]] bool is_shut() const noexcept { return shut_.load(); }
  // Releases everything, as if the process had been killed. Waits for nothing.
  void abandon() noexcept;

  // A file that is filled before it is published, by the process that alone has it.
  [[nodiscard]] OpenFile& unpublished() noexcept { return opened_; }

 private:
  Session(OpenFile opened, Joined joined, Publication publication = {});

  Error sync_and_store(const SlotUpdate& update);
  Error go_on_unpublished(const Error& cause);
  [[nodiscard]] Result<std::unique_lock<std::mutex>> be_the_one_thread() const;
  Error shut_off();

  OpenFile opened_;
  std::atomic<Role> role_;
  std::atomic<bool> shut_{false};  // before role_ becomes a reader's
  region::MappedLock writers_lock_;
  Publication publication_;
  // Locks of the file exclude descriptors, not threads. What the kernel tells one thread of a handle, it does not tell
  // another one: so a thread that syncs or asks has this mutex until the answer can be seen.
  mutable std::mutex sync_mutex_;
  region::ForkMark opener_;  // in a forked child, a thread that is not there may have the mutex
};

}  // namespace bfstore::store

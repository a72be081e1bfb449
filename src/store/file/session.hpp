// A handle's part in the protocol of sharing and durability, from its opening to its end. The steps are in the other
// files of this folder. This file says which handle may take them, and when.
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
  // Opens a file for reading, and keeps no lock. kUnclean or another error if the file may not be used.
  static Result<std::unique_ptr<Session>> open_reader(const std::string& path, const Opening& options);

  // Opens a file for writing. It is dirty or recovering, durably, when this returns.
  static Result<std::unique_ptr<Session>> open_writer(const std::string& path, Writers kind, const Opening& options);

  // Makes a new, empty file, open for writing, which has no name yet.
  static Result<std::unique_ptr<Session>> make(const std::string& path, const format::Identity& identity,
                                               const Making& how);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const OpenFile& file() const noexcept { return opened_; }
  // True if opened to recover: it adds while every handle answers "maybe".
  [[nodiscard]] bool recovering() const noexcept { return role_ == Role::kRecoverer; }

  // Asks the kernel whether it failed to write a page of the file. If so, the file is poisoned. If this handle may not
  // write that down, only the handle is.
  void check_writeback() const noexcept;

  Error sync(const LogPosition& position);
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept;
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const;
  [[nodiscard]] Result<HeaderBytes> header_with_marks() const;
  // Called by a handle that copies the bits, before and after it reads them. Asks the kernel whether it failed to write
  // a page of the file, as check_writeback() does. Waits for a sync that is under way, also of another thread (kBusy).
  // For a copy in memory, returns what the file said when it was copied.
  [[nodiscard]] Result<Moment> moment_for_copy() const;
  Error drop_owner(std::uint64_t owner);
  // True if the recovery waits for no other owner.
  Result<bool> finish_recovery(std::uint64_t owner);
  // Says that every key was added: from now on the filter answers.
  Error finish_filling();
  // Ends an epoch: see turn.hpp.
  Result<bool> turn(std::optional<std::uint64_t> from);
  // Gives the body another slice, since `full` slices are full: see grow.hpp. Of several threads, one does that. kBusy:
  // another thread or another process is doing it.
  Code grow(std::uint32_t full) noexcept;
  [[nodiscard]] Result<bool> is_current() const;
  // A call has said that another file replaced this one.
  void note_told_of_replacement() const noexcept { told_of_replacement_ = true; }
  // The descriptor that the writers' lock ends with, if other code of this process can end it.
  [[nodiscard]] const std::optional<region::DescriptorMark>& lock_ends_with() const noexcept {
    return writers_lock_.ends_with();
  }
  Error supersede();
  // Called for a copy that has every bit: from here on no process can open the file that it replaces for writing.
  Error supersede_found() { return publication_.supersede_found(opened_); }
  // Gives the file its name. Afterwards this session only reads.
  Error publish();
  // Gives a file to which nothing was added yet its name. This session continues to write.
  Error publish_in_use();
  // Closes the file. The last writer syncs and marks it clean. If another file replaced it, and no call has said so,
  // this does: the new file may lack keys that this handle added.
  Error close();
  // Closes a handle that other threads are using, and continue to use: their lookups answer "maybe", and their adds are
  // refused. Frees nothing. `adds_are_over` waits for adds that began before. is_shut() is true if it worked.
  Error shut(const std::function<void()>& adds_are_over);
  [[nodiscard]] bool is_shut() const noexcept { return shut_.load(); }
  // Releases everything, as if the process had been killed. Waits for nothing.
  void abandon() noexcept;

  // The file, to be filled before it is published by the only process that has it.
  [[nodiscard]] OpenFile& unpublished() noexcept { return opened_; }

 private:
  Session(OpenFile opened, Joined joined, Publication publication = {});

  Error sync_and_store(const SlotUpdate& update);
  Error as_one_thread(const std::function<Error()>& write);
  Error go_on_unpublished(const Error& cause);
  [[nodiscard]] Result<std::unique_lock<std::mutex>> be_the_one_thread() const;
  Error shut_off();
  Error leave();

  OpenFile opened_;
  std::atomic<Role> role_;
  std::atomic<bool> shut_{false};  // set before role_ becomes kReader
  mutable std::atomic<bool> told_of_replacement_{false};
  region::MappedLock writers_lock_;
  Publication publication_;
  // Locks of the file exclude descriptors, not threads, and the kernel reports a failure to only one thread of a
  // handle. So a thread that syncs or asks holds this mutex until the answer can be seen.
  mutable std::mutex sync_mutex_;
  std::mutex growth_mutex_;  // after sync_mutex_
  region::ForkMark opener_;  // in a forked child, a thread that does not exist there may hold the mutex
};

}  // namespace bfstore::store

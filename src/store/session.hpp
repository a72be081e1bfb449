// A handle's part in the protocol of sharing and durability, from its opening to its end. The steps are in the files of
// their subject; here is who may take them, and when.
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/making.hpp"
#include "store/open_file.hpp"
#include "store/publication.hpp"
#include "store/sync.hpp"
#include "store/writers.hpp"

namespace bfstore::store {

class Session {
 public:
  // Reads only; keeps no lock. kUnclean and the like if the file may not be used.
  static Result<std::unique_ptr<Session>> open_reader(const std::string& path, const Opening& options);

  // Dirty or recovering, durably, when this returns.
  static Result<std::unique_ptr<Session>> open_writer(const std::string& path, Writers kind, const Opening& options);

  // A new, empty file, open for writing, which has no name yet.
  static Result<std::unique_ptr<Session>> make(const std::string& path, const format::Identity& identity,
                                               const Making& how);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const OpenFile& file() const noexcept { return opened_; }
  // Opened to recover: what it adds is wanted while everybody is answered "maybe".
  [[nodiscard]] bool recovering() const noexcept { return role_ == Role::kRecoverer; }

  // Asks the kernel whether it failed to write a page of the file; if so, the file is poisoned. Where this handle may
  // not write that down, it is poisoned for this handle.
  void check_writeback() const noexcept;

  Error sync(const LogPosition& position);
  [[nodiscard]] std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept;
  [[nodiscard]] Result<std::vector<OwnerMark>> list_marks() const;
  Error drop_owner(std::uint64_t owner);
  // Whether no other owner is waited for any more.
  Result<bool> finish_recovery(std::uint64_t owner);
  // Every key is there: from now on the filter answers.
  Error finish_filling();
  [[nodiscard]] Result<bool> is_current() const;
  Error supersede();
  // Afterwards this session only reads.
  Error publish();
  // A file that nothing was added to yet gets its name, and this session goes on writing.
  Error publish_in_use();
  // The last writer syncs and marks clean.
  Error close();
  // Lets go of everything, as if the process had been killed. Waits for nothing.
  void abandon() noexcept;

  // A file that is filled before it is published, by whom it has to itself.
  [[nodiscard]] OpenFile& unpublished() noexcept { return opened_; }

 private:
  Session(OpenFile opened, Joined joined, bool replace = false);

  Error sync_and_store(const SlotUpdate& update);
  Error go_on_unpublished(const Error& cause);

  OpenFile opened_;
  Role role_;
  region::MappedLock writers_lock_;
  Publication publication_;
  mutable std::mutex sync_mutex_;  // locks of the file are between descriptors, not threads
};

}  // namespace bfstore::store

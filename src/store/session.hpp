// One file, opened and mapped, and its part in the protocol of sharing and durability (FORMAT.md, "State slots", "Live
// page", "Locks", "When a dirty file may be used").
#pragma once

#include <bfstore/filter.hpp>
#include <bfstore/inspect.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/shared_word.hpp"
#include "format/locks.hpp"
#include "format/sections.hpp"
#include "format/state.hpp"
#include "region/file.hpp"
#include "region/fork.hpp"
#include "region/lock.hpp"
#include "region/mapping.hpp"
#include "store/evidence.hpp"
#include "store/header.hpp"
#include "store/memory.hpp"
#include "store/replaced.hpp"

namespace bfstore::store {

// Changes the slot, and adds to the bits of the live word that are cleared once the slot is durable.
using SlotUpdate = std::function<Error(format::Slot& slot, std::uint64_t& over)>;

// Whether a writer lets others in beside it.
enum class Writers { kShared, kAlone };

// What a session is to its file: what it may do, and owes others when it ends.
enum class Role {
  kReader,     // or a writer that has closed
  kWriter,     // was let in
  kRecoverer,  // was let in to a file that is being recovered
  kMaker,      // writes to a file that has no name yet
};

// How a session opens a file.
struct Opening : OpenOptions {
  bool without_key = false;  // for who copies or checks bits, and hashes no keys
};

class Session {
 public:
  // Reads only; keeps no lock. kUnclean and the like if the file may not be used.
  static Result<std::unique_ptr<Session>> open_reader(const std::string& path, const Opening& options);

  // Dirty or recovering, durably, when this returns.
  static Result<std::unique_ptr<Session>> open_writer(const std::string& path, Writers kind, const Opening& options);

  // A new, empty file, open for writing, which has no name yet.
  static Result<std::unique_ptr<Session>> create(const std::string& path, const format::Identity& identity,
                                                 const Options& options);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const format::Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::byte* body() const noexcept {
    return mapping_.data() + format::sections_of(identity_).body.offset;
  }
  [[nodiscard]] std::byte* live_page() const noexcept { return mapping_.data() + format::kLivePageOffset; }
  [[nodiscard]] const std::byte* end_word() const noexcept {
    return mapping_.data() + format::sections_of(identity_).end_word.offset;
  }
  [[nodiscard]] const region::Mapping& mapping() const noexcept { return mapping_; }
  // A page of the file could not be read. Only where the mapping is guarded: else that is the end of the process.
  [[nodiscard]] bool faulted() const noexcept { return mapping_.faulted(); }
  // Opened to recover: what it adds is wanted while everybody is answered "maybe".
  [[nodiscard]] bool recovering() const noexcept { return role_ == Role::kRecoverer; }
  // Of the process that may write: a forked child has the handle, but not the right to add, to sync or to close the
  // file.
  [[nodiscard]] const region::ForkMark& born() const noexcept { return file_.born(); }

  // Asks the kernel whether it failed to write a page of the file; if so, the file is poisoned. Where this handle may
  // not write that down, it is poisoned for this handle.
  void check_writeback() const noexcept;

  Error sync(std::uint64_t owner, std::uint64_t mark);
  [[nodiscard]] std::uint64_t mark(std::uint64_t owner) const noexcept;
  // Whether no other owner is waited for any more.
  Result<bool> recovered(std::uint64_t owner);
  [[nodiscard]] Result<bool> is_current() const;
  Error supersede();
  // Afterwards this session only reads.
  Error publish();
  // A file that nothing was added to yet gets its name, and this session goes on writing.
  Error publish_in_use();
  // The last writer syncs and marks clean.
  Error close();

  // kLost if the file is not whole any more.
  [[nodiscard]] Error check_file_is_whole() const;
  // Slots and live word, as an unlocked reader sees them.
  [[nodiscard]] Result<Evidence> look() const;
  [[nodiscard]] const region::File& file() const noexcept { return file_; }
  // For a file not yet published: the bits, marks and count of keys of another, and the checksums that make it sealed.
  Error seal(const Session& source, const format::Slot& marks);

 private:
  Session(region::File file, region::Mapping mapping, format::Identity identity, std::uint32_t lock_timeout_ms);

  static Result<std::unique_ptr<Session>> open_checked(Result<region::File> file, region::File::Access access,
                                                       const Opening& options, region::Pages pages);
  Error check_seal(const Opening& options) const;
  Result<bool> read_on(const Opening& options);
  Error check_beside_writers(const Opening& options) const;
  Result<bool> adopt_for_reading(const Opening& options) const;
  Result<bool> adopt_for_a_reader() const;
  [[nodiscard]] Error sync_for_adoption() const;
  Error write_down(const Error& failed, const Opening& options) const;
  Error let_it_go_on(const Opening& options) const;
  Result<bool> join(Writers kind, const Opening& options);
  Error hold_writers_lock(Writers kind);
  Result<Role> enter(const Evidence& evidence, const Opening& options);
  [[nodiscard]] Error check_beside_live_writers() const;
  Error own_blocks() const;
  Error begin_dirty(const Evidence& evidence) const;
  Error recover(const Evidence& evidence, const Opening& options);
  Error begin_recovery(const Evidence& evidence);
  Error end_recovery(const Evidence& evidence);
  void go_on(Evidence& evidence) const;
  [[nodiscard]] Error superseded() const;
  [[nodiscard]] Error forked() const;
  [[nodiscard]] Error unreadable() const;
  [[nodiscard]] Result<std::unique_ptr<Session>> as_writer(const Opening& options) const;
  Error adopt(const Evidence& evidence);
  Error sync_body() const;
  [[nodiscard]] Error not_stored(const Error& body_synced, const Error& no_lock) const;
  [[nodiscard]] bool replaced() const;
  Error leave();
  Error ask_before_leaving() const;
  Error leave_last();
  void check_writeback_as_writer() const;
  [[nodiscard]] Error ask_the_kernel() const;
  [[nodiscard]] int failed_writeback() const noexcept;
  [[nodiscard]] Error told_of_failure(int os_errno) const;
  [[nodiscard]] Error writeback_failed(int os_errno) const;
  Error store_slot(const Error& body_synced, const SlotUpdate& update);
  Error sync_and_store(const SlotUpdate& update);
  Error sync_and_mark_clean();
  Error poison(const Error& cause) const;
  void poison_for_this_handle() const noexcept;
  Error initialize(Writers kind);
  [[nodiscard]] Error write_end_word() const;
  Error give_name();
  Error begin_replacing();
  Error go_on_unpublished(const Error& cause);
  [[nodiscard]] Result<region::ScopedLock> take(std::uint64_t byte) const;

  [[nodiscard]] format::SharedLiveWord live_word() const noexcept;
  [[nodiscard]] Result<Evidence> evidence_under_lock() const;
  // The header of the file as it is now, if live word and end word are its own.
  [[nodiscard]] Result<HeaderBytes> whole_header() const;
  Error write_slot(const format::SlotPair& slots, format::Slot slot) const;
  [[nodiscard]] Error refuse(FileState state, const Evidence& evidence) const;

  region::File file_;
  region::Mapping mapping_;
  format::Identity identity_;
  std::uint32_t lock_timeout_ms_;
  bool on_overlay_ = false;
  region::MappedLock writers_lock_;
  Role role_ = Role::kReader;
  bool replace_ = false;                // a file that has the name already
  std::unique_ptr<Replaced> replaced_;  // superseded, and not yet replaced
  bool superseded_by_owner_ = false;    // who adds what that file's writers added, before this one is published
  mutable std::mutex sync_mutex_;       // locks of the file are between descriptors, not threads
};

}  // namespace bfstore::store

// One file, opened and mapped, and its part in the protocol of sharing and durability (FORMAT.md, "State slots", "Live
// page", "Locks", "When a dirty file may be used").
#pragma once

#include <bfstore/filter.hpp>
#include <bfstore/inspect.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "format/state.hpp"
#include "region/file.hpp"
#include "region/mapping.hpp"

namespace bfstore::store {

using HeaderBytes = std::array<std::byte, format::kFileHeaderBytes>;

// What decides whether a file may be used.
struct Evidence {
  format::SlotPair slots;
  std::uint64_t live_word = 0;
  bool writer_alive = false;  // somebody holds the writers' lock
  bool sync_died = false;     // *syncing* is set, and nobody holds the lock of a sync
  format::BootId boot_id{};   // of this system, now
  std::uint64_t device = 0;   // of the file, now
  std::uint64_t inode = 0;
  std::uint64_t birth = 0;
};

// Only of a file whose live word is its own. kAdoptable still needs a sync of the file that succeeds.
FileState judge(const Evidence& evidence) noexcept;

// The boot id of this system; all zero if it can not be read.
format::BootId current_boot_id() noexcept;

// Whether the live word, its state bits aside, is that of the file with this id.
bool live_word_is_own(std::uint64_t live_word, const format::FileId& file_id) noexcept;

// The four header pages of a file as they are now, read into private memory; zeros behind the file's end.
Result<HeaderBytes> read_header(const region::File& file);

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept;
std::uint64_t live_word_of(const HeaderBytes& header) noexcept;

// Slots and live word that belong together, read without a lock: read again while a writer is about to change them.
Result<Evidence> gather_evidence(const region::File& file, const region::FileFacts& facts,
                                 const format::FileId& file_id);

class Session {
 public:
  // Reads only; takes no lock. kUnclean and the like if the file may not be used.
  static Result<std::unique_ptr<Session>> open_reader(const std::string& path, const MapOptions& map);

  // Dirty, durably, when this returns.
  static Result<std::unique_ptr<Session>> open_writer(const std::string& path, bool exclusive, const MapOptions& map);

  // A new, empty file, open for writing. It has its name if it is `published`.
  static Result<std::unique_ptr<Session>> create(const std::string& path, const format::Identity& identity,
                                                 const Options& options);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const format::Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::byte* body() const noexcept { return mapping_.data() + identity_.body_offset; }
  [[nodiscard]] std::byte* live_page() const noexcept { return mapping_.data() + format::kLivePageOffset; }
  [[nodiscard]] const region::Mapping& mapping() const noexcept { return mapping_; }

  Error sync(std::uint64_t owner, std::uint64_t mark);
  [[nodiscard]] std::uint64_t mark(std::uint64_t owner) const noexcept;
  // Afterwards this session only reads.
  Error publish();
  // The last writer syncs and marks clean.
  Error close();

 private:
  Session(region::File file, region::Mapping mapping, format::Identity identity);

  static Result<std::unique_ptr<Session>> open_checked(const std::string& path, region::File::Access access,
                                                       const MapOptions& map, region::Pages pages);
  Result<bool> join(bool exclusive);
  Error enter(const Evidence& evidence);
  Error check_no_dead_sync();
  Error begin_dirty(const Evidence& evidence) const;
  Error poison_from_reader(const Error& cause) const;
  Error adopt(const Evidence& evidence);
  Error sync_body() const;
  Error store_slot(const Error& body_synced, const std::function<Error(format::Slot&)>& update);
  Error sync_and_mark_clean();
  Error poison(const Error& cause);
  Error initialize(bool exclusive);
  Error give_name();
  Result<bool> publish_new();
  Result<bool> replace(const region::File& old);

  [[nodiscard]] std::atomic_ref<std::uint64_t> live_word() const noexcept;
  [[nodiscard]] Result<Evidence> evidence_under_lock() const;
  Error check_file_is_whole() const;
  Error write_slot(const format::SlotPair& slots, format::Slot slot) const;
  [[nodiscard]] Error refuse(FileState state, const Evidence& evidence) const;

  region::File file_;
  region::Mapping mapping_;
  format::Identity identity_;
  bool writing_ = false;  // holds the writer lock
  pid_t pid_ = getpid();  // a forked child has the handle, but not the right to close the file
  bool unpublished_ = false;
  bool replace_ = false;
  std::mutex sync_mutex_;  // locks of the file are between descriptors, not threads
};

// The bytes of the file that are locked (FORMAT.md, "Locks").
inline constexpr std::uint64_t kStateLock = 0;
inline constexpr std::uint64_t kWriterLock = 1;
inline constexpr std::uint64_t kSyncLock = 2;

}  // namespace bfstore::store

// One file of a filter, opened, checked and mapped: reads of its header while other processes may change it, and the
// steps that all parts of the protocol are made of (FORMAT.md, "State slots", "Live page", "Locks"). The parts
// themselves are in readers.hpp, writers.hpp, sync.hpp, adoption.hpp, recovery.hpp and publication.hpp.
#pragma once

#include <bfstore/inspect.hpp>

#include <string.h>

#include <functional>
#include <optional>

#include "format/live_word.hpp"
#include "format/locks.hpp"
#include "format/sections.hpp"
#include "format/state.hpp"
#include "region/file.hpp"
#include "region/fork.hpp"
#include "region/lock.hpp"
#include "region/mapping.hpp"
#include "store/file/evidence.hpp"
#include "store/file/header.hpp"
#include "store/file/memory.hpp"

namespace bfstore::store {

// How a file is opened.
struct Opening : OpenOptions {
  // It has a copy of the secret, on a stack that other calls use later.
  ~Opening() {
    if (key) explicit_bzero(key->data(), key->size());
  }

  bool without_key = false;  // the caller copies or checks bits, and hashes no keys

  // Nor by a descriptor: a failed write would be told to the program's description, and the program would not learn it.
  [[nodiscard]] bool writes_nothing() const noexcept { return no_write || descriptor.has_value(); }
};

class OpenFile {
 public:
  // The file's header keeps every rule, its key is the one of `options`, and its last word is there. Its states were
  // not looked at, and of its body nothing was read: see load().
  static Result<OpenFile> open(Result<region::File> file, region::File::Access access, const Opening& options,
                               region::Pages pages);

  OpenFile(region::File file, region::Mapping mapping, format::Identity identity, std::uint32_t lock_timeout_ms,
           bool no_write = false, bool tolerates_damage = false);

  // Copies or populates the body, if the options want that. A file of 100 GB that is refused is not to be read first.
  [[nodiscard]] Error load(const MapOptions& options) const { return store::load(file_, mapping_, identity_, options); }

  [[nodiscard]] const region::File& file() const noexcept { return file_; }
  [[nodiscard]] const region::Mapping& mapping() const noexcept { return mapping_; }
  [[nodiscard]] const format::Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::uint32_t lock_timeout_ms() const noexcept { return lock_timeout_ms_; }

  [[nodiscard]] std::byte* body() const noexcept {
    return mapping_.data() + format::sections_of(identity_).body.offset;
  }
  [[nodiscard]] std::byte* live_page() const noexcept { return mapping_.data() + format::kLivePageOffset; }
  // The file's, also when lookups were given another page to look at.
  [[nodiscard]] format::SharedLiveWord live_word() const noexcept {
    return format::SharedLiveWord(files_live_page_ ? files_live_page_->data() : live_page());
  }
  [[nodiscard]] const std::byte* end_word() const noexcept {
    return mapping_.data() + format::sections_of(identity_).end_word.offset;
  }
  // The reader must write nothing, not even what it learns of the file's state.
  [[nodiscard]] bool no_write() const noexcept { return no_write_; }
  // Where a sealed file is damaged, every key is "maybe".
  [[nodiscard]] bool tolerates_damage() const noexcept { return tolerates_damage_; }
  // A page of the file could not be read. Only if the mapping is guarded; otherwise the process has ended.
  [[nodiscard]] bool faulted() const noexcept {
    return mapping_.faulted() || (files_live_page_ && files_live_page_->faulted());
  }
  // For the process that may write: a forked child has the handle, but must not add, sync or close the file.
  [[nodiscard]] const region::ForkMark& born() const noexcept { return file_.born(); }

  // A lock of a byte of the file, waited for as long as the options say.
  [[nodiscard]] Result<region::ScopedLock> take(std::uint64_t byte) const;

  // --- Looking --------------------------------------------------------------------------------------------------

  // Whether the file was clean when its header was read to open it.
  [[nodiscard]] bool was_clean() const noexcept { return was_clean_; }
  // Slots and live word, as an unlocked reader sees them.
  [[nodiscard]] Result<Evidence> look() const;
  // The same under the state lock: slots and live word cannot change meanwhile.
  [[nodiscard]] Result<Evidence> evidence_under_lock() const;
  // The header of the file as it is now, if live word and end word are its own.
  [[nodiscard]] Result<HeaderBytes> whole_header() const;
  // kLost if the file is no longer whole, kFault if a page of it could not be read.
  [[nodiscard]] Error check_file_is_whole() const;
  // kLost if one of the two words is not the file's own any more. For a store to the live page after a wait, which
  // would be SIGBUS where the file was cut meanwhile. Needs no memory while they are there.
  [[nodiscard]] Error check_words() const;
  // Another file replaced this one. A path may still lead here, by a hard link, or a mount of the single file.
  [[nodiscard]] bool replaced() const;
  // Whether the system failed to write a page since it was last asked through this description: 0, or an errno.
  [[nodiscard]] int failed_writeback() const noexcept;
  // Why a file in this state is not opened.
  [[nodiscard]] Error refuse(FileState state, const Evidence& evidence) const;

  // --- Writing --------------------------------------------------------------------------------------------------

  // The next slot, durably.
  Error write_slot(const format::SlotPair& slots, format::Slot slot) const;
  // Both slots, as the first ones of a file: durably. Only before it has a name.
  Error write_first_slots(format::Slot slot) const;
  // The file says that it is being written to, durably, before anything is added.
  Error begin_dirty(const Evidence& evidence) const;
  // A store to a hole of a copy, or to a block that it shares with another file, would be SIGBUS on a full disk.
  Error own_blocks() const;
  // The same of the live page alone, for a process that changes nothing but the live word.
  Error own_live_page() const { return store::own_live_page(file_); }
  Error write_end_word(const format::Identity& identity) const;
  // The sum of the counters in the first of them. Only before it has a name, and while no thread adds.
  void gather_counters() const noexcept;
  // From now on the file is that. Only before it has a name.
  Error become(format::Identity identity);
  // File::take_rights_of() and File::publish().
  void take_rights_of(const region::File& other) noexcept { file_.take_rights_of(other); }
  Error take_name(bool replace, const std::function<Error()>& last_look) { return file_.publish(replace, last_look); }
  // The file may have lost keys on disk: for good, in every process. Always an error.
  Error poison(const Error& cause) const;
  // The same for this handle alone, if it cannot write to the file.
  void poison_for_this_handle() const noexcept;
  // As if another file had taken the place of this one with a sign; for this handle alone.
  void supersede_for_this_handle() const noexcept;
  // What live_word() is of is mapped once more, for a writer that takes the page from its lookups and still has to
  // leave.
  Error map_live_page_again();
  // From now on lookups and adds of this handle find a page of its own that says *shut*. When this returns, every add
  // that did not find it has set its bits in the file; `alone` is another matter (see Filter::shut). False where
  // nothing could be done.
  [[nodiscard]] bool shut_off() const;

 private:
  void set_for_this_handle(std::uint64_t states) const noexcept;

  region::File file_;
  region::Mapping mapping_;
  format::Identity identity_;
  std::uint32_t lock_timeout_ms_;
  bool no_write_;
  bool tolerates_damage_;
  bool on_overlay_ = false;
  bool reads_ = false;
  bool was_clean_ = false;
  std::optional<region::Mapping> files_live_page_;
};

}  // namespace bfstore::store

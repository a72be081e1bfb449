// One file of a filter, opened, checked and mapped. Reads its header while other processes may change it, and has the
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

// The options for opening a file.
struct Opening : OpenOptions {
  // Wipes the copy of the secret, which is on a stack that other calls use later.
  ~Opening() {
    if (secret) explicit_bzero(secret->data(), secret->size());
  }

  bool without_secret = false;  // the caller copies or checks bits, and hashes no keys

  // True also for a reader by descriptor: the kernel would report a failed write to the description that it shares with
  // the program, and the program would not learn of it.
  [[nodiscard]] bool writes_nothing() const noexcept { return no_write || descriptor.has_value(); }
};

class OpenFile {
 public:
  // Opens a file whose header keeps every rule, whose secret is that of `options`, and which has its end word. Does not
  // look at its states, and reads nothing of its body: see load().
  static Result<OpenFile> open(Result<region::File> file, region::File::Access access, const Opening& options,
                               region::Pages pages);

  OpenFile(region::File file, region::Mapping mapping, format::Identity identity, std::uint32_t lock_timeout_ms,
           bool no_write = false, bool tolerates_damage = false);

  // Copies or populates the body, if the options want that. Not part of open(): a file of 100 GB that is refused must
  // not be read first.
  [[nodiscard]] Error load(const MapOptions& options) const {
    return store::load(file_, mapping_, identity_, num_slices(), options);
  }

  [[nodiscard]] const region::File& file() const noexcept { return file_; }
  [[nodiscard]] const region::Mapping& mapping() const noexcept { return mapping_; }
  [[nodiscard]] const format::Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::uint32_t lock_timeout_ms() const noexcept { return lock_timeout_ms_; }

  [[nodiscard]] std::byte* body() const noexcept {
    return mapping_.data() + format::sections_of(identity_).body.offset;
  }
  [[nodiscard]] std::byte* live_page() const noexcept { return mapping_.data() + format::kLivePageOffset; }
  // The file's live word, also after shut_off() if map_live_page_again() came before.
  [[nodiscard]] format::SharedLiveWord live_word() const noexcept {
    return format::SharedLiveWord(files_live_page_ ? files_live_page_->data() : live_page());
  }
  [[nodiscard]] const std::byte* end_word(std::uint32_t slice = 0) const noexcept {
    return mapping_.data() + format::slice_of(identity_, slice).end_word.offset;
  }
  // The number of slices that processes use now: 1 if the body does not grow, or the live page was overwritten.
  [[nodiscard]] std::uint32_t num_slices() const noexcept {
    const std::uint64_t number = identity_.growth ? live_word().num_slices() : 1;
    return number >= 1 && number <= format::most_slices(identity_) ? static_cast<std::uint32_t>(number) : 1;
  }
  // True if this handle must write nothing, not even what it learns of the file's state.
  [[nodiscard]] bool no_write() const noexcept { return no_write_; }
  // True if damaged parts of a sealed file answer "maybe".
  [[nodiscard]] bool tolerates_damage() const noexcept { return tolerates_damage_; }
  // True if a page of the file could not be read and the mapping is guarded. Without a guard the process has ended.
  [[nodiscard]] bool faulted() const noexcept {
    return mapping_.faulted() || (files_live_page_ && files_live_page_->faulted());
  }
  // Marks the process that may write: a forked child has the handle, but must not add, sync or close the file.
  [[nodiscard]] const region::ForkMark& born() const noexcept { return file_.born(); }

  // Takes the lock of a byte of the file. Waits as long as the options say.
  [[nodiscard]] Result<region::ScopedLock> take(std::uint64_t byte) const;

  // --- Looking --------------------------------------------------------------------------------------------------

  // True if the file was clean when its header was read to open it.
  [[nodiscard]] bool was_clean() const noexcept { return was_clean_; }
  // Reads slots and live word without a lock (gather_evidence()).
  [[nodiscard]] Result<Evidence> look() const;
  // Reads slots and live word under the state lock, which the caller holds: they cannot change meanwhile.
  [[nodiscard]] Result<Evidence> evidence_under_lock() const;
  // Reads the header of the file as it is now. kLost if live word or end word are not the file's own.
  [[nodiscard]] Result<HeaderBytes> whole_header() const;
  // kLost if the file is no longer whole, kFault if a page of it could not be read.
  [[nodiscard]] Error check_file_is_whole() const;
  // kLost if the live word or the end word is no longer the file's own. Called before a store to the live page after a
  // wait: the store would be SIGBUS if the file was cut meanwhile. Needs no memory while both words are the file's own.
  [[nodiscard]] Error check_words() const;
  // True if another file replaced this one. A path may still lead here, by a hard link, or a mount of the single file.
  [[nodiscard]] bool replaced() const;
  // Asks whether the system failed to write a page since the last such question to this description. Returns 0 or an
  // errno.
  [[nodiscard]] int failed_writeback() const noexcept;
  // Returns the error for a file that is not opened in this state.
  [[nodiscard]] Error refuse(FileState state, const Evidence& evidence) const;

  // --- Writing --------------------------------------------------------------------------------------------------

  // Writes the next slot, durably.
  Error write_slot(const format::SlotPair& slots, format::Slot slot) const;
  // Writes both slots of a new file, durably. Only before it has a name.
  Error write_first_slots(format::Slot slot) const;
  // Marks the file dirty, durably. Called before anything is added.
  Error begin_dirty(const Evidence& evidence) const;
  // Gives the file blocks of its own. A store to a hole of a copy, or to a block that it shares with another file,
  // would be SIGBUS on a full disk.
  Error own_blocks() const;
  // Gives the live page blocks of its own, for a process that changes nothing but the live word.
  Error own_live_page() const { return store::own_live_page(file_); }
  Error write_end_word(const format::Identity& identity) const;
  // Gives a file without a name so many slices in all, which are empty.
  Error give_slices(std::uint32_t number) const;
  // Stores the end word through the mapping, if it is there: so the next sync writes its page. A store never makes a
  // file longer. kLost if the word is not the file's own.
  Error store_end_word_again() const;
  // Moves the sum of all counters to the first of them. Only before the file has a name, and while no thread adds.
  void gather_counters() const noexcept;
  // Gives the file this identity. Only before it has a name.
  Error become(format::Identity identity);
  // See File::take_rights_of() and File::publish().
  void take_rights_of(const region::File& other) noexcept { file_.take_rights_of(other); }
  Error take_name(bool replace, const std::function<Error()>& last_look) { return file_.publish(replace, last_look); }
  // Poisons the file for good, in every process: it may have lost keys on disk. Always returns an error.
  Error poison(const Error& cause) const;
  // Poisons this handle alone, if it cannot write to the file.
  void poison_for_this_handle() const noexcept;
  // Makes this handle alone answer as if the file said that another one replaced it.
  void supersede_for_this_handle() const noexcept;
  // Maps the page of live_word() once more, for a writer that takes the page from its lookups and still has to leave.
  Error map_live_page_again();
  // From now on lookups and adds of this handle see a page of its own that says *shut*. When this returns, every add
  // that did not see that page has set its bits in the file. Exclusive writers: see Filter::shut(). False if nothing
  // could be done.
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

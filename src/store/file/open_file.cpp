#include "store/file/open_file.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include "base/fail.hpp"
#include "base/shared_word.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::Slot;
using format::SlotPair;
using format::SlotState;
using region::File;
using region::ScopedLock;

Error lost(const File& file) {
  return fail(Code::kLost, file.path() + ": truncated, overwritten or zero-filled while it was in use. Rebuild it.");
}

// Not inlined: the evidence is large, and what comes after this needs the stack, which may be small.
[[gnu::noinline]] bool says_clean(const CheckedHeader& header) {
  const Evidence evidence = evidence_in(header.bytes, header.identity.file_id);
  return evidence.live_word.is_understood(header.identity.file_id) && judge(evidence) == FileState::kClean;
}

// Returns the number of slices whose end word is there. 0 if the file was cut or overwritten.
//
// After a power cut the live page may count slices that the disk does not have. A recovery takes the slot's number then
// (recovery.cpp), and every other process refuses the file. Not inlined: the evidence is large.
[[gnu::noinline]] Result<std::uint32_t> num_slices_there(const File& file, const CheckedHeader& header) {
  const format::Identity& identity = header.identity;
  const std::uint64_t counted = identity.growth ? num_slices_in(header.bytes) : 1;
  if (counted > format::most_slices(identity)) return 0U;
  const auto number = static_cast<std::uint32_t>(counted);
  const auto uncut = has_end_word(file, identity, number);
  if (!uncut.ok()) return uncut.error();
  if (*uncut || !identity.growth) return *uncut ? number : 0U;
  Evidence evidence = evidence_in(header.bytes, identity.file_id);
  const auto place = place_of(file);
  if (!place) return place.error();
  evidence.place = *place;
  if (!is_from_before(evidence) || evidence.slots.newest()->num_slices >= number) return 0U;
  const std::uint32_t durable = evidence.slots.newest()->num_slices;
  const auto durable_is_there = has_end_word(file, identity, durable);
  if (!durable_is_there.ok()) return durable_is_there.error();
  return *durable_is_there ? durable : 0U;
}

}  // namespace

OpenFile::OpenFile(File file, region::Mapping mapping, format::Identity identity, std::uint32_t lock_timeout_ms,
                   bool no_write, bool tolerates_damage)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      identity_(std::move(identity)),
      lock_timeout_ms_(lock_timeout_ms),
      no_write_(no_write),
      tolerates_damage_(tolerates_damage) {
  const auto sharing = file_.sharing();
  on_overlay_ = sharing && *sharing == region::Sharing::kOverlay;
}

Result<OpenFile> OpenFile::open(Result<File> file, File::Access access, const Opening& options, region::Pages pages) {
  if (!file) return file.error();
  if (const auto facts = file->facts(); !facts || !facts->regular)
    return facts ? fail(Code::kNotRegular, file->path() + ": not a regular file. Give the path of a filter file.")
                 : facts.error();
  if (!options.any_filesystem) {
    if (Error error = check_sharing(*file, access, options.writes_nothing()); !error.ok()) return error;
  }
  file->read_nothing_ahead();
  auto header = checked_header(*file, {access == File::Access::kReadWrite, options.without_secret, options.secret});
  if (!header) return header.error();
  const format::Identity& identity = header->identity;
  const auto num_slices = num_slices_there(*file, *header);
  if (!num_slices.ok()) return num_slices.error();
  if (*num_slices == 0) {
    return fail(
        Code::kLiveWord,
        file->path() + ": the word at its end is not the file's own: the file was cut or overwritten. Rebuild it.");
  }
  auto mapping = mapping_of(*file, access, identity, header->bytes, *num_slices, options.map, pages);
  if (!mapping) return mapping.error();
  OpenFile opened(std::move(*file), std::move(*mapping), identity, options.lock_timeout_ms, options.writes_nothing(),
                  options.tolerate_damage);
  opened.reads_ = access == File::Access::kRead;
  opened.was_clean_ = says_clean(*header);
  return opened;
}

Result<ScopedLock> OpenFile::take(std::uint64_t byte) const { return ScopedLock::take(file_, byte, lock_timeout_ms_); }

Result<Evidence> OpenFile::look() const { return gather_evidence(file_, identity_.file_id, lock_timeout_ms_); }

Result<Evidence> OpenFile::evidence_under_lock() const {
  const auto place = place_of(file_);
  if (!place) return place.error();
  const auto header = read_header(file_);
  if (!header) return header.error();
  Evidence evidence = evidence_in(*header, identity_.file_id);
  evidence.place = *place;
  return evidence;
}

Result<HeaderBytes> OpenFile::whole_header() const {
  const auto header = read_header(file_);
  if (!header) return header.error();
  const auto uncut = has_end_word(file_, identity_);
  if (!uncut.ok()) return uncut.error();
  if (*uncut && live_word_of(*header).is_own(identity_.file_id)) return *header;
  return lost(file_);
}

// A page that cannot be read still exists: that is no error here.
Error OpenFile::check_words() const {
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  const auto got = file_.read_at(word, format::kLivePageOffset);
  const auto there = has_end_word(file_, identity_);
  if (!got || !there.ok()) return {};
  const format::LiveWord live_word{base::load<std::uint64_t>(word.data())};
  return *there && live_word.is_own(identity_.file_id) ? Error{} : lost(file_);
}

// Called before the last write to the mapping: after the end of a truncated file the write would be SIGBUS. Bytes that
// a guard has put in the mapping's place are not the file's.
Error OpenFile::check_file_is_whole() const {
  if (faulted()) return unreadable(file_);
  if (Error error = file_.check_descriptor(); !error.ok()) return error;
  const auto header = whole_header();
  return header ? Error{} : header.error();
}

bool OpenFile::replaced() const {
  const format::LiveWord word = live_word().load();
  if (word.has(format::LiveWord::kReplaced)) return true;
  if (!word.has(format::LiveWord::kSuperseded)) return false;
  const auto facts = file_.facts();
  return !facts || facts->links == 0 || !file_.has_its_path();
}

// On an overlay the mapping is of another file than the descriptor, and the kernel reports failures for the mapped
// file. Through a description for reading msync(2) has nothing to write and reports nothing, so a sync asks there.
// The kernel reports a failure once. A handle that may not write it to the file does not ask, because the next process
// would not learn of it.
int OpenFile::failed_writeback() const noexcept {
  if (no_write_) return 0;
  if (!on_overlay_) return file_.failed_writeback();
  if (reads_ || mapping_.is_copy()) return file_.failed_sync();
  return mapping_.failed_writeback(format::sections_of(identity_).end_word.offset);
}

Error OpenFile::write_slot(const SlotPair& slots, Slot slot) const {
  if (slots.newest()->sequence == UINT64_MAX)  // the next number would count as older; only a made-up file has this one
    return fail(Code::kSlots, file_.path() + ": its state cannot be written any more. Rebuild it.");
  slot.sequence = slots.newest()->sequence + 1;
  const std::uint64_t offset = format::kSlotOffset + slots.next_index() * format::kPageBytes;
  if (Error error = file_.write_at(format::encode_slot(slot, identity_.file_id), offset); !error.ok()) return error;
  return file_.sync();
}

Error OpenFile::write_first_slots(Slot slot) const {
  std::vector<std::byte> pages;  // on the heap, like everything of a page's length
  for (slot.sequence = 1; slot.sequence <= 2; ++slot.sequence) {
    const format::SlotPage page = format::encode_slot(slot, identity_.file_id);
    pages.insert(pages.end(), page.begin(), page.end());
  }
  if (Error error = file_.write_at(pages, format::kSlotOffset); !error.ok()) return error;
  return file_.sync();
}

// A file that is clean may still carry the flag of the sync that made it so.
Error OpenFile::begin_dirty(const Evidence& evidence) const {
  live_word().end_sync();
  return write_slot(evidence.slots, dirty_now(evidence));
}

// Called before the file says that a process writes to it. A writer that joins others finds it done.
Error OpenFile::own_blocks() const { return file_.own_blocks(parts_of(identity_, num_slices())); }

Error OpenFile::refuse(FileState state, const Evidence& evidence) const {
  return refused(file_.path(), identity_.file_id, state, evidence);
}

Error OpenFile::become(format::Identity identity) {
  identity_ = std::move(identity);
  return file_.write_at(format::encode_identity(identity_), 0);
}

Error OpenFile::store_end_word_again() const {
  const std::uint32_t last = num_slices() - 1;
  const std::uint64_t own = format::end_word(identity_.file_id, last);
  const base::SharedWord word(mapping_.data() + format::slice_of(identity_, last).end_word.offset);
  return word.replace(own, own) ? Error{} : lost(file_);
}

Error OpenFile::write_end_word(const format::Identity& identity) const {
  std::array<std::byte, format::kEndWordBytes> word{};
  base::store(word.data(), format::end_word(identity.file_id));
  return file_.write_at(word, format::sections_of(identity).end_word.offset);
}

Error OpenFile::give_slices(std::uint32_t number) const {
  for (std::uint32_t slice = num_slices(); slice < number; ++slice) {
    const std::uint64_t end = format::slice_of(identity_, slice - 1).end_word.end();
    const std::uint64_t word = format::slice_of(identity_, slice).end_word.offset;
    if (Error error = file_.allocate(end, word + format::kEndWordBytes - end); !error.ok()) return error;
    base::SharedWord(mapping_.data() + word).store(format::end_word(identity_.file_id, slice));
  }
  live_word().store_num_slices(number);
  return {};
}

void OpenFile::gather_counters() const noexcept {
  const std::uint64_t left = format::keys_left_in({live_page(), format::kPageBytes});
  for (std::size_t i = 0; i < format::kNumStripes; ++i) {
    std::byte* const stripe = live_page() + format::kStripesField.offset + i * format::kStripeBytes;
    base::SharedWord(stripe + format::kKeysAddedInStripe).store(i == 0 ? left : 0);
    base::SharedWord(stripe + format::kKeysRemovedInStripe).store(0);
  }
}

// The flag may be lost with its page, if the system drops what it could not write. So the slot loses its place, too:
// without it no process adopts the file or believes that it was synced. If the slot cannot be written either, this
// handle at least keeps a page of its own that says *poisoned*.
//
// Not inlined: the evidence is large, and the callers have their own on a stack that may be small.
[[gnu::noinline]] Error OpenFile::poison(const Error& cause) const {
  live_word().set(format::LiveWord::kPoisoned);
  bool kept = false;
  if (const auto evidence = evidence_under_lock(); evidence && evidence->slots.newest() != nullptr) {
    Slot slot = *evidence->slots.newest();
    format::poison(slot);
    kept = write_slot(evidence->slots, slot).ok();
  }
  if (!kept) poison_for_this_handle();
  return {
      Code::kPoisoned, cause.os_errno,
      base::sentences(
          cause.message,
          "The file is poisoned: keys may be missing on disk. Close it, and recover it (bf recover) or rebuild it.")};
}

// Sets the flag in a private copy of the live page.
void OpenFile::poison_for_this_handle() const noexcept { set_for_this_handle(format::LiveWord::kPoisoned); }

void OpenFile::supersede_for_this_handle() const noexcept { set_for_this_handle(format::LiveWord::kSuperseded); }

void OpenFile::set_for_this_handle(std::uint64_t states) const noexcept {
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  base::store(word.data(), live_word().load().bits | states);
  mapping_.replace_page(format::kLivePageOffset, word);
}

Error OpenFile::map_live_page_again() {
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  auto page = region::Mapping::map(file_, File::Access::kReadWrite, format::kLivePageOffset, format::kPageBytes);
  if (!page) return page.error();
  if (mapping_.guarded()) {
    if (Error error = guard_with_live_word(*page, page->data(), File::Access::kReadWrite, identity_); !error.ok())
      return error;
  }
  files_live_page_ = std::move(*page);
  return {};
}

// Reads the page through the descriptor, so that a cut file causes no signal. If the page cannot be read, zeros do as
// well.
//
// An add cannot slip through: it sets its bits, and looks at the live word after that. Before the kernel releases a
// page that it takes out of a mapping, it makes every CPU forget where the page was (the TLB shootdown), and waits
// until all have. So an add that looked before has set its bits before this returns, and one that looks later finds the
// new page, and is refused. A reader that looks at a moment when there is no page waits in the kernel.
bool OpenFile::shut_off() const try {
  const auto header = read_header(file_);
  std::vector<std::byte> page(format::kPageBytes);
  if (header && file_.check_descriptor().ok())
    std::copy_n(header->begin() + format::kLivePageOffset, page.size(), page.begin());
  base::store(page.data(), base::load<std::uint64_t>(page.data()) & ~format::LiveWord::kAlways);
  return mapping_.replace_page(format::kLivePageOffset, page);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace bfstore::store

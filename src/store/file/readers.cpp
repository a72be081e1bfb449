#include "store/file/readers.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/file/adoption.hpp"
#include "store/file/moment.hpp"
#include "store/file/refusals.hpp"
#include "store/file/writeback.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;

// The slots say that a writer was let in, and its lock says that it lives. Neither says whether the system failed to
// write some of its pages, and may have dropped them since.
Error check_beside_writers(const OpenFile& opened, const Opening& options) {
  const int failed = opened.failed_writeback();
  return failed == 0 ? Error{} : write_down(opened, writeback_failed(opened.file(), failed), options);
}

// Decides by the file as it is now. False as in let_in().
Result<bool> read_on(const OpenFile& opened, const Opening& options) {
  const auto evidence = opened.look();
  if (!evidence) return evidence.error();
  const FileState state = judge(*evidence);
  if (!evidence->live_word.is_understood(opened.identity().file_id)) return opened.refuse(state, *evidence);
  if (state == FileState::kClean) return true;
  Error refused;
  switch (state) {
    case FileState::kInUse:
      refused = check_beside_writers(opened, options);
      break;
    case FileState::kSuperseded:
      if (!opened.file().has_its_path()) return false;
      if (evidence->live_word.has(format::LiveWord::kReplaced)) return opened.refuse(state, *evidence);
      if (evidence->changing) return opened.refuse(state, *evidence);
      refused = let_it_go_on(opened, options);
      if (refused.ok()) return false;
      break;
    case FileState::kAdoptable:
    case FileState::kUnclean:
      if (evidence->changing)
        return busy(opened.file(), {kStateLock}, "another process is making, opening or closing it");
      if (state == FileState::kAdoptable && !options.strict) return adopt_for_reading(opened, options);
      refused = opened.refuse(state, *evidence);
      break;
    default:
      refused = opened.refuse(state, *evidence);
  }
  if (!refused.ok()) return refused;
  return true;
}

// True if the file was in doubt at no moment since the header of the copy in memory was read.
bool is_of_one_life(const OpenFile& opened, const HeaderBytes& now) {
  const std::byte* const copy = opened.mapping().data();
  const auto slots_in = [&](const HeaderBytes& header) { return slots_of(header, opened.identity().file_id); };
  const format::SlotPair before = slots_in(HeaderBytes(copy, copy + format::kFileHeaderBytes));
  const format::SlotPair after = slots_in(now);
  return before.newest() != nullptr && after.newest() != nullptr &&
         nothing_between(before.newest()->recoveries, after.newest()->recoveries);
}

// Gives a copy in memory of a file whose keys expire the epoch that the file had after its last byte was copied. False
// if so many epochs ended meanwhile that the copy may lack keys that the file has.
bool take_epoch(const OpenFile& opened, const HeaderBytes& now) {
  const std::uint32_t epochs = layout::row_of(opened.identity().shape.layout).info.epochs;
  if (epochs == 0) return true;
  const format::FileId& file_id = opened.identity().file_id;
  std::byte* const copy = opened.mapping().data();
  const format::SlotPair before = slots_of(HeaderBytes(copy, copy + format::kFileHeaderBytes), file_id);
  const format::SlotPair after = slots_of(now, file_id);
  if (after.newest()->epoch - before.newest()->epoch >= epochs - 1) return false;
  format::Slot slot = *before.newest();
  slot.epoch = after.newest()->epoch;
  slot.turned_at = after.newest()->turned_at;
  slot.turned_after_boot = after.newest()->place.boot_id == slot.place.boot_id ? after.newest()->turned_after_boot : 0;
  const format::SlotPage page = format::encode_slot(slot, file_id);
  const std::size_t newest = 1 - before.next_index();
  std::copy(page.begin(), page.end(), copy + format::kSlotOffset + newest * format::kPageBytes);
  opened.live_word().store_epoch(epoch_in(now));
  return true;
}

}  // namespace

Result<bool> let_in(const OpenFile& opened, const Opening& options) {
  auto usable = opened.was_clean() ? Result<bool>(true) : read_on(opened, options);
  if (!usable.ok() || !*usable) return usable;
  if (Error error = opened.load(options.map); !error.ok()) return error;
  if (!options.map.copy) return true;
  // Checks that the file was still good when its last byte was copied.
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  if (const auto settled = state_after_syncs(opened); !settled.ok()) return settled.error();
  usable = read_on(opened, options);
  if (!usable.ok() || !*usable) return usable;
  const auto header = header_outside_turns(opened);
  if (!header) return header.error();
  return is_of_one_life(opened, *header) && take_epoch(opened, *header);
}

}  // namespace bfstore::store

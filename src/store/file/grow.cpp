#include "store/file/grow.hpp"

#include <atomic>

#include "base/fail.hpp"
#include "base/shared_word.hpp"
#include "format/locks.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using region::MappedLock;

// The kernel reads the words: where the file was cut, that is an error, and no signal. The end word of the last slice
// is asked for after the new one was stored. So a cut before that is seen now, and a later one takes the new word, too.
Error check_is_good(const OpenFile& opened) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  const format::LiveWord word = opened.live_word().load();
  if (word.has(format::LiveWord::kGone)) return superseded(opened.file());
  if (word.has(format::LiveWord::kPoisoned)) return earlier_sync(opened.file());
  if (word.is_understood(opened.identity().file_id)) return {};
  return fail(Code::kLater, opened.file().path() + ": a later bfstore has it in a state that this one does not know.");
}

}  // namespace

Error grow(const OpenFile& opened, std::uint32_t full) {
  const format::Identity& identity = opened.identity();
  if (full == 0 || full >= format::most_slices(identity) || opened.num_slices() != full) return {};
  const auto tried = MappedLock::try_byte(opened.file(), format::kGrowthLock);
  if (!tried) return tried.error();
  if (!*tried) return fail(Code::kBusy, opened.file().path() + ": another process is adding a slice.");
  const MappedLock& lock = **tried;
  if (lock.ends_with()) {
    return fail(Code::kUnsupported, opened.file().path() +
                                        ": on an overlay filesystem, where other code of this process can end the lock "
                                        "of a growth. Copy it to another filesystem.");
  }
  if (opened.num_slices() != full) return {};  // another process has done it
  const std::uint64_t end = format::slice_of(identity, full - 1).end_word.end();
  const format::Slice slice = format::slice_of(identity, full);
  if (Error error = check_is_good(opened); !error.ok()) return error;
  if (Error error = opened.file().extend(end, slice.end_word.end() - end); !error.ok()) return error;
  if (Error error = lock.check(opened.file()); !error.ok()) return error;
  base::SharedWord(opened.mapping().data() + slice.end_word.offset).store(format::end_word(identity.file_id, full));
  if (Error error = check_is_good(opened); !error.ok()) return error;
  if (Error error = lock.check(opened.file()); !error.ok()) return error;
  static_cast<void>(opened.live_word().add_slice(full));
  return {};
}

}  // namespace bfstore::store

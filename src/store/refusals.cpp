#include "store/refusals.hpp"

#include "base/fail.hpp"
#include "format/live_word.hpp"

namespace bfstore::store {
namespace {

using base::fail;

std::string marks_in_words(const format::Slot* slot) {
  std::string words;
  for (const OwnerMark& one : slot != nullptr ? format::marks_of(*slot) : std::vector<OwnerMark>()) {
    words += words.empty() ? "durable are the keys of " : ", ";
    words += "owner " + std::to_string(one.owner) + " up to mark " + std::to_string(one.mark);
    if (one.epoch != 0) words += " of epoch " + std::to_string(one.epoch);
  }
  return words.empty() ? "no marks were stored" : words;
}

}  // namespace

Error refused(const std::string& path, const format::FileId& file_id, FileState state, const Evidence& evidence) {
  if (!evidence.live_word.is_own(file_id)) {
    return fail(Code::kLiveWord,
                path + ": the live word is not the file's own: it was overwritten or zero-filled; build it again");
  }
  if (evidence.slots.newest() == nullptr) {
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged; build it again");
  }
  constexpr const char* kWays =
      "; recover it (bf recover, or open it to recover) by adding again what came after the marks, accept the loss, or "
      "build it again";
  const std::string marks = " (" + marks_in_words(evidence.slots.newest()) + ")";
  switch (state) {
    case FileState::kPoisoned:
      return fail(Code::kPoisoned,
                  path + ": a sync of this file failed, so keys may be missing on disk" + marks + kWays);
    case FileState::kRecovering:
      return fail(Code::kRecovering, path + ": a recovery was begun and is not finished" + marks + kWays);
    case FileState::kSuperseded:
      if (evidence.live_word.has(format::LiveWord::kReplaced)) {
        return fail(Code::kSuperseded,
                    path +
                        ": another file has replaced this one, of which this path is another name (a hard link, or a "
                        "bind mount of the single file); open the path that was replaced");
      }
      return fail(Code::kSuperseded, path + ": is being replaced by another file; open it again in a moment");
    default:
      return fail(
          Code::kUnclean,
          path + ": was not closed before the machine went down, or is a copy of a file in use" + marks + kWays);
  }
}

Error unreadable(const region::File& file) {
  return fail(Code::kFault, file.path() +
                                ": a page could not be read (an I/O error, or the file was truncated), and what was "
                                "added meanwhile is lost; close it, and recover it or build it again");
}

Error superseded(const region::File& file) {
  return fail(Code::kSuperseded,
              file.path() + ": was replaced by another file; open it again, and add again what is not in that one");
}

Error forked(const region::File& file) {
  return fail(Code::kForked, file.path() + ": was opened before a fork; open it again in the child");
}

Error writeback_failed(const region::File& file, int os_errno) {
  return base::fail_errno(os_errno, file.path(), "writing to disk in the background");
}

}  // namespace bfstore::store

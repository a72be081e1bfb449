#include "store/file/refusals.hpp"

#include "base/fail.hpp"
#include "format/live_word.hpp"

namespace bfstore::store {
namespace {

using base::fail;

// A poisoned file does not keep which of the two it was.
constexpr const char* kSyncDidNotEnd =
    ": a sync of this file did not end: a process was killed in it, or the disk refused a write";

std::string marks_in_words(const format::Slot* slot) {
  std::string words;
  for (const OwnerMark& one : slot != nullptr ? format::marks_of(*slot) : std::vector<OwnerMark>()) {
    words += words.empty() ? "The keys of " : ", ";
    words += "owner " + std::to_string(one.owner) + " up to mark " + std::to_string(one.mark);
    if (one.epoch != 0) words += " of epoch " + std::to_string(one.epoch);
  }
  return words.empty() ? "No mark was stored." : words + " are durable.";
}

}  // namespace

Error refused(const std::string& path, const format::FileId& file_id, FileState state, const Evidence& evidence) {
  if (!evidence.live_word.is_own(file_id)) {
    return fail(Code::kLiveWord,
                path + ": the live word is not the file's own: the file was overwritten or zero-filled. Rebuild it.");
  }
  if (evidence.live_word.has(format::LiveWord::kLaterStates)) return later_state(path);
  if (evidence.slots.newest() == nullptr) {
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged. Rebuild it.");
  }
  const std::string ways = marks_in_words(evidence.slots.newest()) +
                           " Recover it (bf recover) with the keys after the marks, accept the loss, or rebuild it.";
  switch (state) {
    case FileState::kPoisoned:
      return fail(Code::kPoisoned, base::sentences(path + kSyncDidNotEnd + ". Keys may be missing on disk", ways));
    case FileState::kRecovering:
      return fail(Code::kRecovering, base::sentences(path + ": a recovery was begun and is not finished", ways));
    case FileState::kSuperseded:
      if (evidence.live_word.has(format::LiveWord::kReplaced)) {
        return fail(Code::kSuperseded,
                    path +
                        ": another file replaced this one, and this path is another name of the old file (a hard link, "
                        "or a bind mount of the single file). Open the path of the new file.");
      }
      return fail(Code::kSuperseded, path + ": being replaced. Open it again in a moment.");
    default:
      return fail(Code::kUnclean,
                  base::sentences(path + ": not closed cleanly: the machine went down, a writer was killed in the "
                                         "middle of a sync, or this is a copy of a file in use",
                                  ways));
  }
}

Error later_state(const std::string& path) {
  return fail(Code::kLater,
              path + ": a later bfstore has it in a state that this one does not know. Use a later bfstore.");
}

Error still_filling(const std::string& path) {
  return fail(Code::kFilling, path + ": not every key was added yet. Finish the filling (bf finish-filling) first.");
}

Error not_a_file() {
  return fail(Code::kInvalid, "the filter is in a buffer, not in a file. Save the buffer instead.");
}

Error unreadable(const region::File& file) {
  return fail(Code::kFault, file.path() +
                                ": a page could not be read (an I/O error, or the file was truncated), and keys that "
                                "were added meanwhile are lost. Close it, and recover it (bf recover) or rebuild it.");
}

Error superseded(const region::File& file) {
  return fail(
      Code::kSuperseded,
      file.path() +
          ": another file replaced it. Open the path again, and add again the keys that are not in the new file.");
}

Error remote_filesystem(const region::File& file) {
  return fail(Code::kFilesystem, file.path() +
                                     ": on a network or FUSE filesystem, where a reader may miss another machine's "
                                     "writes. Copy it to a local disk, or allow any filesystem.");
}

Error forked(const std::string& path) {
  return fail(Code::kForked, path + ": opened before a fork. Open it again in the child.");
}

Error shut(const std::string& path) {
  return fail(Code::kShut, path + ": this handle of it was shut. Open the path again.");
}

Error writeback_failed(const region::File& file, int os_errno) {
  return base::fail_errno(os_errno, file.path(), "writing to disk in the background");
}

Error earlier_sync(const region::File& file) { return fail(Code::kPoisoned, file.path() + kSyncDidNotEnd); }

}  // namespace bfstore::store

#include "store/derive/at_rest.hpp"

#include <string>

#include "base/fail.hpp"
#include "store/file/moment.hpp"

namespace bfstore::store {

Result<AtRest> AtRest::look(const OpenFile& file, std::uint32_t recoveries, std::string_view advice) {
  const auto evidence = file.look();
  if (!evidence) return evidence.error();
  const FileState state = judge(*evidence);
  const bool at_rest = (state == FileState::kClean || state == FileState::kAdoptable) &&
                       nothing_between(recoveries, evidence->slots.newest()->recoveries);
  if (!at_rest) return base::fail(Code::kBusy, file.file().path() + ": open for writing. " + std::string(advice));
  return AtRest(file, *evidence);
}

Error AtRest::check_still(std::string_view while_doing) const {
  // One reading is enough: a writer stores a slot before it adds, and what it changes meanwhile differs, too. To look
  // for longer would be to wait for the replacer's own lock.
  const auto header = read_header(file_->file());
  if (!header) return header.error();
  const Evidence after = evidence_in(*header, file_->identity().file_id);
  if (Error error = file_->check_file_is_whole(); !error.ok()) return error;
  const std::uint64_t differing = after.live_word.bits ^ before_->live_word.bits;
  const bool unchanged = after.slots == before_->slots && after.syncing == before_->syncing &&
                         (differing & ~format::LiveWord::kSuperseded) == 0;
  if (unchanged && file_->file().has_its_path()) return {};
  return base::fail(Code::kBusy, file_->file().path() + ": written to or replaced while it was " +
                                     std::string(while_doing) + ". Try again.");
}

}  // namespace bfstore::store

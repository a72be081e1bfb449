#include "store/replaced.hpp"

#include <atomic>

#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "store/session.hpp"

namespace bfstore::store {
namespace {

using base::mutant;

std::atomic_ref<std::uint64_t> live_word_in(const region::Mapping& live_page) noexcept {
  return std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(live_page.data() + format::kLiveWordField.offset));
}

}  // namespace

Error replaced_again_and_again(const std::string& path) {
  return base::fail(Code::kBusy, path + ": is being replaced again and again; try later");
}

Result<std::unique_ptr<Replaced>> Replaced::begin(const region::File& successor) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto file = successor.open_again_as_owner();
    if (!file && file.error().code == Code::kNotFound) return std::unique_ptr<Replaced>();
    if (!file) return file.error();
    std::unique_ptr<Replaced> replaced(new Replaced(std::move(*file)));
    const auto superseded = replaced->supersede();
    if (!superseded) return superseded.error();
    if (*superseded) return replaced;
  }
  return replaced_again_and_again(successor.path());
}

// False if the path names another file by now.
Result<bool> Replaced::supersede() {
  const auto facts = file_.facts();
  if (!facts) return facts.error();
  if (!facts->regular) return base::fail(Code::kNotRegular, file_.path() + ": not a regular file; it is not replaced");
  if (Error error = file_.lock(mutant("supersedes_without_the_state_lock") ? base::kNobodysLock : kStateLock,
                               region::Lock::kExclusive);
      !error.ok())
    return error;
  if (!file_.has_its_path() && !mutant("supersedes_what_was_replaced_already")) return false;
  const auto header = read_header(file_);
  if (!header) return header.error();
  const std::span<const std::byte> there = header_there(*header, *facts);
  const auto checked = format::check_identity(there, format::Form::kFile, facts->bytes, true);
  if (!checked.problems.empty() || !live_word_is_own(live_word_of(*header), checked.identity->file_id)) return true;
  auto mapped =
      region::Mapping::map(file_, region::File::Access::kReadWrite, format::kLivePageOffset, format::kPageBytes);
  if (!mapped) return mapped.error();
  live_page_ = std::move(*mapped);
  if (!mutant("replaces_without_superseding") && !mutant("supersedes_after_the_renaming"))
    live_word_in(*live_page_).fetch_or(format::kLiveSuperseded);
  return true;
}

Replaced::~Replaced() {
  if (mutant("superseded_for_good") || !file_.born().here()) return;
  if (live_page_ && mutant("supersedes_after_the_renaming"))
    live_word_in(*live_page_).fetch_or(format::kLiveSuperseded);
  if (live_page_ && (file_.has_its_path() || mutant("replaced_file_goes_on")))
    live_word_in(*live_page_).fetch_and(~format::kLiveSuperseded);
}

}  // namespace bfstore::store

#include "store/file/replaced.hpp"

#include <atomic>

#include "base/fail.hpp"
#include "store/file/evidence.hpp"
#include "store/file/header.hpp"

namespace bfstore::store {
namespace {

format::SharedLiveWord live_word_in(const region::Mapping& live_page) noexcept {
  return format::SharedLiveWord(live_page.data());
}

// True if the file has a live word that handles compare. Handles read page 0 only when they open the file. It may have
// been damaged since, or be of a later version, so it proves nothing about them.
bool has_live_word(const HeaderBytes& header, const format::CheckedIdentity& page_0) noexcept {
  const bool is_ours = page_0.reported && !page_0.reported->embedded;
  return format::is_like_a_live_page(std::span(header).subspan(format::kLivePageOffset)) ||
         (is_ours && live_word_of(header).is_of_a_file());
}

// True for a later major version, which may have its live word elsewhere. Handles of a file with a damaged live word
// are in doubt already.
bool may_be_elsewhere(const format::CheckedIdentity& page_0) noexcept {
  return page_0.reported && page_0.reported->version_major > format::kVersionMajor;
}

Error refuse_if_in_use(const region::File& file) {
  const auto writer = region::locked_by_other(file, kWriterLocks);
  if (!writer.ok()) return writer.error();
  if (!*writer) return {};
  return busy(file, kWriterLocks, "of a later version of the format, and a writer has it open", "Close that writer.");
}

}  // namespace

Error replaced_again_and_again(const std::string& path) {
  return base::fail(Code::kBusy, path + ": replaced again and again by other processes. Try again later.");
}

Result<std::unique_ptr<Replaced>> Replaced::begin(const region::File& successor, const FileId& id,
                                                  std::uint32_t lock_timeout_ms) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto file = successor.open_again_as_owner();
    if (!file && file.error().code == Code::kNotFound) return std::unique_ptr<Replaced>();
    if (!file) return file.error();
    std::unique_ptr<Replaced> replaced(new Replaced(std::move(*file)));
    const auto superseded = replaced->supersede(id, lock_timeout_ms);
    if (!superseded.ok()) return superseded.error();
    if (*superseded) return replaced;
  }
  return replaced_again_and_again(successor.path());
}

// False if the path names another file now.
Result<bool> Replaced::supersede(const FileId& successor, std::uint32_t lock_timeout_ms) {
  const auto facts = file_.facts();
  if (!facts) return facts.error();
  if (!facts->regular)
    return base::fail(Code::kNotRegular,
                      file_.path() + ": not a regular file, so it is not replaced. Choose another name.");
  auto locked = region::MappedLock::take_byte(file_, format::kStateLock, lock_timeout_ms);
  if (!locked) return locked.error();
  state_lock_ = std::move(*locked);
  if (!file_.has_its_path()) return false;
  const auto header = read_header(file_);
  if (!header) return header.error();
  const auto page_0 = format::check_identity(header_there(*header, *facts), format::Form::kFile, facts->bytes, true);
  if (!has_live_word(*header, page_0)) {
    if (!may_be_elsewhere(page_0)) return true;
    Error in_use = refuse_if_in_use(file_);
    return in_use.ok() ? Result<bool>(true) : Result<bool>(std::move(in_use));
  }
  if (page_0.reported && page_0.reported->file_id == successor) {
    return base::fail(Code::kInvalid, file_.path() +
                                          ": has the file_id of the file that is to replace it. Make the new file with "
                                          "another file_id, or remove this one first.");
  }
  Error told = tell();
  return told.ok() ? Result<bool>(true) : Result<bool>(std::move(told));
}

Error Replaced::tell() {
  if (Error error = own_live_page(file_); !error.ok()) return error;
  auto mapped =
      region::Mapping::map(file_, region::File::Access::kReadWrite, format::kLivePageOffset, format::kPageBytes);
  if (!mapped) return mapped.error();
  live_page_ = std::move(*mapped);
  set(format::LiveWord::kSuperseded);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // the bits of an add that did not see it are seen: Ask::all_see
  return {};
}

Error Replaced::check() const {
  if (Error error = file_.check_descriptor(); !error.ok()) return error;
  if (Error error = file_.check_folder(); !error.ok()) return error;
  return state_lock_.check(file_);
}

// The file may have been cut since it was superseded: a store would be SIGBUS, and its handles are in doubt anyhow.
bool Replaced::has_live_page() const noexcept {
  if (!live_page_) return false;
  const auto facts = file_.facts();
  return !facts || facts->bytes >= format::kFileHeaderBytes;
}

void Replaced::set(std::uint64_t bits) const noexcept {
  if (has_live_page()) live_word_in(*live_page_).set(bits);
}

// A file with one name has none after the renaming, and that says that the file was replaced. A file with more names
// must say so before. Otherwise a process that is killed right after the renaming would leave a file that seems about
// to be replaced, and a power cut would leave a file that seems never to have been replaced.
void Replaced::about_to_go() const noexcept {
  const auto facts = file_.facts();
  const bool more_names = !facts || facts->links != 1;
  if (!more_names) return;
  set(format::LiveWord::kReplaced);
  if (!file_.sync().ok()) set(format::LiveWord::kPoisoned);
}

void Replaced::is_gone() const noexcept { set(format::LiveWord::kGone); }

// Takes back durably what was made durable. Otherwise a power cut would leave a file that is refused for good.
Replaced::~Replaced() {
  if (!file_.born().here()) return;
  if (!has_live_page() || !file_.has_its_path()) return;
  if (!check().ok()) return;  // the sign may be another's by now: one that nobody means is cleared by the next opener
  const format::LiveWord before = live_word_in(*live_page_).clear(format::LiveWord::kGone);
  if (before.has(format::LiveWord::kReplaced)) static_cast<void>(file_.sync());
}

}  // namespace bfstore::store

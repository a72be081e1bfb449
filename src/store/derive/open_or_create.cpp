// Opens a filter for writing, or makes it: any number of processes may do so at once.
#include <bfstore/filter.hpp>

#include "base/fail.hpp"
#include "region/folder.hpp"
#include "store/file/open_file.hpp"
#include "store/home/ask.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace {

using base::fail;

// How often the file may vanish between the call that finds it there and the one that opens it.
constexpr int kMostAttempts = 100;

Error mismatch(const std::string& path, const char* in_what) {
  return fail(Code::kMismatch, path + ": is there, and has another " + in_what +
                                   " than the one that was given. Leave it out, or give that of the file.");
}

// What was given has to be so in the file: a key would otherwise have its bits elsewhere, or digests another meaning.
// (A secret was compared when the file was opened.)
Error check_fits(const Filter& opened, const std::string& path, const Options& given) {
  const Shape shape = opened.shape();
  if (given.layout && *given.layout != shape.layout) return mismatch(path, "layout");
  if (given.hash && *given.hash != shape.hash) return mismatch(path, "hash");
  if (given.seed && *given.seed != shape.seed) return mismatch(path, "seed");
  if (!given.seeds.empty() && given.seeds != opened.seeds()) return mismatch(path, "list of seeds");
  if (given.part && !(*given.part == opened.part())) return mismatch(path, "part");
  const auto turning = opened.stats().turning;
  if (given.window_ms != 0 && !turning)
    return fail(
        Code::kMismatch,
        path + ": is there, and has no window: its keys do not expire. Leave the window out, or name another file.");
  if (given.window_ms != 0 && (!turning || turning->window_ms != given.window_ms)) return mismatch(path, "window");
  if (given.like.empty()) return {};
  const auto like = store::new_identity(given, format::Form::kFile);
  if (!like) return like.error();
  if (like->shape.layout != shape.layout) return mismatch(path, "layout");
  if (like->shape.hash != shape.hash) return mismatch(path, "hash");
  return like->shape.seed == shape.seed ? Error{} : mismatch(path, "seed");
}

}  // namespace

// The process that made the file may have been killed after the file got its name, and before that was durable. What
// this handle syncs would be lost with the name.
Error Filter::make_name_durable() const {
  const region::File& file = ask_->home->own_file()->file();
  const auto folder = region::Folder::of(file.path());
  if (!folder) return folder.error();
  const region::Folder::Syncer syncer(**folder);
  if (Error error = syncer.opened(); !error.ok()) return error;
  return syncer.sync(file.path(), file.descriptor());
}

Result<Filter> Filter::open_or_create(const std::string& path, OpenMode mode, const Options& making,
                                      const OpenOptions& opening, bool* created) {
  bool ignored = false;
  bool& is_new = created != nullptr ? *created : ignored;
  is_new = false;
  if (mode != OpenMode::kWrite && mode != OpenMode::kExclusive)
    return fail(Code::kInvalid,
                path + ": a file that is only read is not created. Open it for writing, or leave the creation out.");
  if (making.replace || making.unpublished)
    return fail(Code::kInvalid, path + ": a file that may be there is not replaced. Create another one instead.");
  store::OwnOptions making_so(making);
  making_so.exclusive = mode == OpenMode::kExclusive;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto opened = open(path, mode, opening);
    if (opened.ok()) {
      if (Error error = check_fits(*opened, path, making); !error.ok()) return error;
      if (Error error = opened->make_name_durable(); !error.ok()) return error;
      return opened;
    }
    if (opened.error().code != Code::kNotFound) return opened;
    auto made = create(path, making_so);
    is_new = made.ok();
    if (made.ok() || made.error().code != Code::kExists) return made;
  }
  return fail(Code::kBusy, path + ": appeared and vanished again and again. Try again later.");
}

}  // namespace bfstore

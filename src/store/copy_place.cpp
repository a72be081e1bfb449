#include "store/copy_place.hpp"

#include "base/fail.hpp"

namespace bfstore::store {

using base::fail;

Error check_place(const std::string& path, const SaveOptions& options) {
  if (path.empty()) return fail(Code::kInvalid, "the path is empty. Give one.");
  if ((options.mode & ~0777U) == 0) return {};
  return fail(Code::kInvalid, "the mode has bits outside 0777. Give one such as 0640.");
}

Making making_of(const SaveOptions& options) {
  return {.mode = options.mode,
          .replace = options.replace,
          .alone = true,
          .filling = options.filling,
          .any_filesystem = options.any_filesystem,
          .lock_timeout_ms = options.lock_timeout_ms,
          .map = {}};
}

Error check_is_another(const region::File& source, const std::string& path) {
  const auto there = region::File::open(path, region::File::Access::kRead);
  if (!there || !there->same_file(source)) return {};
  return fail(Code::kInvalid, path + ": is the file that would be copied. Give another name.");
}

}  // namespace bfstore::store

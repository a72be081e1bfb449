#include "store/file/copy_place.hpp"

#include "base/fail.hpp"

namespace bfstore::store {

using base::fail;

Result<Making> making_at(const std::string& path, const SaveOptions& options) {
  if (path.empty()) return fail(Code::kInvalid, "the path is empty. Give one.");
  if (Error error = check_mode(options.mode); !error.ok()) return error;
  return Making{.mode = options.mode,
                .name = look_at_name(path, options.replace),
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

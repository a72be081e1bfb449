#include <bfstore/seal.hpp>

#include "base/fail.hpp"
#include "store/derive.hpp"
#include "store/plan.hpp"
#include "store/sealed.hpp"

namespace bfstore {
namespace {

using store::Source;

Result<format::Identity> like_its_source(std::span<const Source> sources) {
  auto copy = store::as_new(sources.front().file().identity());
  if (copy) copy->body_offset = format::body_offset_in_file(copy->body_bytes);
  return copy;
}

Error seal_from_source(std::span<const Source> sources, store::OpenFile& made) {
  return store::seal_as(made, sources.front().file(), sources.front().marks());
}

}  // namespace

Error seal(const std::string& from, const std::string& to, const SealOptions& options) {
  if ((options.mode & ~0777U) != 0)
    return base::fail(Code::kInvalid, "the mode has bits outside 0777. Give one such as 0640.");
  const store::Making making{.mode = options.mode,
                             .replace = options.replace,
                             .alone = true,
                             .any_filesystem = options.any_filesystem,
                             .lock_timeout_ms = options.lock_timeout_ms,
                             .map = {}};
  return store::derive({&from, 1}, to, making, {"seal", "sealed", like_its_source, seal_from_source});
}

Result<Verification> verify(const std::string& path, bool no_follow) {
  store::Opening reading;
  reading.no_follow = no_follow;
  reading.any_filesystem = true;  // no process changes a sealed file
  reading.without_key = true;
  const auto session = store::Session::open_reader(path, reading);
  if (!session) return session.error();
  const store::OpenFile& opened = (*session)->file();
  if (!opened.identity().seal) return store::not_sealed(path);
  opened.file().forget_cached();
  return store::verify_sealed(opened);
}

}  // namespace bfstore

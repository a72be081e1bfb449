#include <bfstore/seal.hpp>

#include "base/fail.hpp"
#include "store/derive/derive.hpp"
#include "store/file/sealed.hpp"
#include "store/plan/plan.hpp"

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

// The rules of the format that are not the identity's. The state of a sealed file, which no process changes but for one
// that replaces it, is a matter of the bytes that were sealed.
Error check_words(const region::File& file, const store::CheckedHeader& header) {
  const FileId& file_id = header.identity.file_id;
  const auto uncut = store::has_end_word(file, header.identity);
  if (!uncut.ok()) return uncut.error();
  if (!*uncut || !store::live_word_of(header.bytes).is_own(file_id))
    return base::fail(Code::kLiveWord, file.path() +
                                           ": the live word or the word at its end is not the file's own: the "
                                           "file was cut or overwritten. Get it again, or rebuild it.");
  if (store::slots_of(header.bytes, file_id).newest() == nullptr)
    return base::fail(Code::kSlots, file.path() + ": no state slot is valid: the header was damaged. Rebuild it.");
  return {};
}

}  // namespace

Error seal(const std::string& from, const std::string& to, const SealOptions& options) {
  if (Error error = store::check_mode(options.mode); !error.ok()) return error;
  const store::Making making{.mode = options.mode,
                             .name = store::look_at_name(to, options.replace),
                             .alone = true,
                             .any_filesystem = options.any_filesystem,
                             .lock_timeout_ms = options.lock_timeout_ms,
                             .map = {}};
  return store::derive({&from, 1}, to, making, {"seal", "sealed", like_its_source, seal_from_source});
}

Result<Verification> verify(const std::string& path, bool no_follow) {
  const std::optional<SecretKey> no_key;
  const auto file = store::open_for_reading(path, {.no_follow = no_follow});
  if (!file) return file.error();
  file->read_nothing_ahead();
  const auto header = store::checked_header(*file, {.without_key = true, .key = no_key});
  if (!header) return header.error();
  if (!header->identity.seal) return store::not_sealed(path);
  if (Error error = check_words(*file, *header); !error.ok()) return error;
  file->forget_cached();
  return store::verify_sealed({*file, header->identity});
}

}  // namespace bfstore

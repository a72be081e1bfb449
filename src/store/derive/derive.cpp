#include "store/derive/derive.hpp"

#include <algorithm>
#include <optional>

#include "base/fail.hpp"
#include "store/file/session.hpp"

namespace bfstore::store {

// A process that has a source open may continue to add to it. These keys would be in no file that has the name.
Error Transform::check_target(const Sources& sources, const std::string& to) {
  for (const Source& source : sources) {
    if (Error error = source.ask->home->check_is_another(to); !error.ok()) return error;
  }
  return {};
}

Error Transform::check_read(const Sources& sources) {
  for (const Source& source : sources) {
    if (Error error = check_copied(*source.ask, source.content); !error.ok()) return error;
  }
  return {};
}

Error set_note(format::Identity& identity, const Sources& sources, const SaveOptions& options) {
  const auto& first = sources.front().content.identity.note;
  const bool same = std::all_of(sources.begin(), sources.end(),
                                [&](const Source& source) { return source.content.identity.note == first; });
  identity.note = same ? first : std::nullopt;
  if (!options.note) return {};
  if (options.note->size() > kMaxNoteBytes)
    return base::fail(Code::kInvalid, "a note of " + std::to_string(options.note->size()) +
                                          " bytes is too long. Give at most 1024 bytes.");
  identity.note = options.note->empty() ? std::nullopt : options.note;
  return {};
}

Error derive(std::span<const Ask* const> from, const std::string& to, const Making& how, Transform& transform) {
  Sources sources;
  for (const Ask* const ask : from) {
    Source& source = sources.emplace_back(*ask);
    auto content = content_of(*source.ask);
    if (!content) return content.error();
    source.content = std::move(*content);
  }
  const auto identity = transform.identity(sources);
  if (!identity) return identity.error();
  const bool replaces = how.name != NameBefore::kNothing;
  if (Error error = replaces ? transform.check_target(sources, to) : Error{}; !error.ok()) return error;
  const auto made = Session::make(to, *identity, how);
  if (!made) return made.error();
  OpenFile& file = (*made)->unpublished();
  const auto facts = transform.fill(sources, file);
  if (!facts) return facts.error();
  Error error = write_keys_added(file, facts->keys_added);
  if (error.ok()) error = write_marks(file, facts->lanes);
  // If a source was given the name meanwhile, this supersedes it, and check_read() sees that.
  if (error.ok()) error = (*made)->supersede_found();
  if (error.ok()) error = transform.check_read(sources);
  return error.ok() ? (*made)->publish() : error;
}

Error write_words(const OpenFile& made, std::uint64_t first, std::span<const std::uint64_t> words) {
  return made.file().write_at(std::as_bytes(words), made.identity().body_offset + first * sizeof(std::uint64_t));
}

}  // namespace bfstore::store

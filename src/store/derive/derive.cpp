#include "store/derive/derive.hpp"

#include <algorithm>
#include <atomic>
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

namespace {

constexpr int kMostFills = 8;

// Returns the epoch of a new file whose sources' last bytes were read, if its keys expire. Empty if it has to be filled
// again: an epoch that ends takes the oldest keys, and the new file must not lack others. Several sources are to be of
// one epoch, before and after.
Result<std::optional<Turned>> epoch_after(const Sources& sources, std::uint32_t epochs) {
  Turned turned;
  for (const Source& source : sources) {
    const auto moment = moment_of(*source.ask);
    if (!moment) return moment.error();
    turned = moment->turned;
    const std::uint64_t ended = turned.epoch.number() - source.content.turned.epoch.number();
    if (ended >= (sources.size() == 1 ? epochs - 1 : 1)) return std::optional<Turned>();
  }
  return std::optional(turned);
}

// A process may have ended an epoch of one source, and none of another one. Their words are of different epochs then.
Error check_one_epoch(const Sources& sources, const std::string& made) {
  const std::uint64_t first = sources.front().content.turned.epoch.number();
  const auto is_in_it = [first](const Source& source) { return source.content.turned.epoch.number() == first; };
  if (std::all_of(sources.begin(), sources.end(), is_in_it)) return {};
  return base::fail(Code::kMismatch, made +
                                         ": not made, for the epoch of a source ended while it was read, and that of "
                                         "another one did not. Turn the sources until they are in one epoch (bf "
                                         "turn).");
}

// Fills the new file with the bits of its sources, and returns its epoch as well.
Result<Facts> fill_in_time(Sources& sources, OpenFile& file, Transform& transform) {
  const std::uint32_t epochs = layout::row_of(file.identity().shape.layout).info.epochs;
  for (int fills = 0; fills < kMostFills; ++fills) {
    auto facts = transform.fill(sources, file);
    if (!facts || epochs == 0 || sources.empty()) return facts;
    auto turned = epoch_after(sources, epochs);
    if (!turned) return turned.error();
    facts->turned = *turned;
    if (facts->turned) return facts;
    for (Source& source : sources) {
      const auto moment = moment_of(*source.ask);
      if (!moment) return moment.error();
      source.content.turned = moment->turned;
    }
    if (Error error = check_one_epoch(sources, file.file().path()); !error.ok()) return error;
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  return base::fail(Code::kBusy, file.file().path() +
                                     ": not made, for its sources' epochs ended again and again while they were read. "
                                     "Try again.");
}

}  // namespace

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
  const auto facts = fill_in_time(sources, file, transform);
  if (!facts) return facts.error();
  Error error = write_keys_added(file, facts->keys_added);
  if (error.ok()) error = write_marks(file, facts->lanes, facts->turned);
  // If a source was given the name meanwhile, this supersedes it, and check_read() sees that.
  if (error.ok()) error = (*made)->supersede_found();
  if (error.ok()) error = transform.check_read(sources);
  return error.ok() ? (*made)->publish() : error;
}

Error write_words(const OpenFile& made, std::uint64_t first, std::span<const std::uint64_t> words) {
  for (std::uint32_t i = 0; i < made.num_slices() && !words.empty(); ++i) {
    const format::Section slice = format::slice_of(made.identity(), i).body;
    const std::uint64_t in_slice = slice.bytes / sizeof(std::uint64_t);
    if (first < in_slice) {
      const auto now = words.first(std::min<std::uint64_t>(words.size(), in_slice - first));
      if (Error error = made.file().write_at(std::as_bytes(now), slice.offset + first * sizeof(std::uint64_t));
          !error.ok())
        return error;
      words = words.subspan(now.size());
      first = in_slice;
    }
    first -= in_slice;
  }
  return {};
}

}  // namespace bfstore::store

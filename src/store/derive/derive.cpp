#include "store/derive/derive.hpp"

#include "base/fail.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;

// For a file that no writer has open, and that no process is making or opening. A process that opens it for writing
// from now on changes its slots first.
Result<std::unique_ptr<const Evidence>> at_rest(const OpenFile& source, const Recipe& recipe) {
  auto evidence = source.look();
  if (!evidence) return evidence.error();
  if (filling(*evidence)) return still_filling(source.file().path());
  const auto writer = region::locked_by_other(source.file(), kWriterLocks);
  if (!writer.ok()) return writer.error();
  const auto changing = region::locked_by_other(source.file(), {format::kStateLock});
  if (!changing.ok()) return changing.error();
  const FileState state = judge(*evidence);
  const bool free = !*writer && !*changing;
  if (free && (state == FileState::kClean || state == FileState::kAdoptable))
    return std::make_unique<const Evidence>(*evidence);
  return fail(Code::kBusy, source.file().path() + ": open for writing. Wait until its writers have closed it, and " +
                               recipe.verb + " it then.");
}

Result<Source> open_source(const std::string& path, const Making& how, const Recipe& recipe) {
  Opening reading;
  reading.map.random_access = true;  // read through the descriptor
  reading.any_filesystem = how.any_filesystem;
  reading.lock_timeout_ms = how.lock_timeout_ms;
  reading.without_key = true;
  auto session = Session::open_reader(path, reading);
  if (!session) return session.error();
  auto before = at_rest((*session)->file(), recipe);
  if (!before) return before.error();
  return Source{std::move(*session), std::move(*before)};
}

// A source that was superseded meanwhile was superseded by this process.
Error check_still_at_rest(const Source& source, const Recipe& recipe) {
  const OpenFile& opened = source.file();
  const auto after = opened.look();
  if (!after) return after.error();
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  const bool unchanged = after->slots == source.before->slots;
  const bool same_file = opened.file().has_its_path();
  const std::uint64_t differing = after->live_word.bits ^ source.before->live_word.bits;
  if (unchanged && same_file && (differing & ~format::LiveWord::kSuperseded) == 0) return {};
  return fail(Code::kBusy,
              opened.file().path() + ": written to or replaced while it was " + recipe.participle + ". Try again.");
}

}  // namespace

Error derive(std::span<const std::string> from, const std::string& to, const Making& how, const Recipe& recipe) {
  std::vector<Source> sources;
  for (const std::string& path : from) {
    auto source = open_source(path, how, recipe);
    if (!source) return source.error();
    sources.push_back(std::move(*source));
  }
  const auto identity = recipe.plan(sources);
  if (!identity) return identity.error();
  const auto made = Session::make(to, *identity, how);
  if (!made) return made.error();
  if (Error error = recipe.fill(sources, (*made)->unpublished()); !error.ok()) return error;
  // What is replaced may be one of the sources.
  if (Error error = (*made)->supersede_found(); !error.ok()) return error;
  for (const Source& source : sources) {
    if (Error error = check_still_at_rest(source, recipe); !error.ok()) return error;
  }
  return (*made)->publish();
}

}  // namespace bfstore::store

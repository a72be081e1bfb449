// Makes a copy with checksums, which never changes again (FORMAT.md, "Sealed files").
#include <bfstore/seal.hpp>

#include <optional>
#include <utility>

#include "base/fail.hpp"
#include "store/derive/at_rest.hpp"
#include "store/derive/derive.hpp"
#include "store/derive/fold.hpp"
#include "store/file/sealed.hpp"
#include "store/home/file.hpp"

namespace bfstore {
namespace {

using base::fail;
using store::OpenFile;
using store::Sources;

class SealedCopy : public store::Transform {
 public:
  SealedCopy(double fpr, const WatchWords& watch) noexcept : fpr_(fpr), watch_(watch) {}

  Result<format::Identity> identity(const Sources& sources) override {
    content_ = sources.front().content;
    if (Error error = store::check_has_epoch(*sources.front().ask); !error.ok()) return error;
    if (content_.identity.growth) {
      return base::fail(Code::kUnsupported,
                        sources.front().ask->home->name("the filter") +
                            ": grows, so it is not sealed. Copy it without a seal, or build one for "
                            "its number of keys and seal that.");
    }
    const auto times = store::fold(*sources.front().ask, content_, fpr_);
    if (!times) return times.error();
    times_ = *times;
    return store::as_new(content_.identity, format::Form::kFile, {});
  }

  Result<store::Facts> fill(const Sources& sources, OpenFile& made) override {
    store::Sealing sealing(made, content_.keys_added);
    if (Error error = sealing.make_room(); !error.ok()) return error;
    const auto put = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
      return sealing.put(first * sizeof(std::uint64_t), std::as_bytes(words));
    };
    if (Error error = store::each_folded_piece(*sources.front().ask, times_, put, watch_); !error.ok()) return error;
    if (Error error = sealing.finish(); !error.ok()) return error;
    return store::Facts{content_.keys_added, content_.lanes};
  }

 private:
  double fpr_;
  const WatchWords& watch_;
  store::Content content_;
  std::uint64_t times_ = 1;
};

// Of a whole file, which the copy may replace.
class SealedFile final : public SealedCopy {
 public:
  SealedFile(const OpenFile& source, double fpr, const WatchWords& watch) noexcept
      : SealedCopy(fpr, watch), source_(source) {}

  // The copy may replace its own source if no process writes to the source from now until none can open it for writing.
  // A process that opens it meanwhile changes its slots first.
  Error check_target(const Sources& sources, const std::string& to) override {
    if (store::check_is_another(source_.file(), to).ok()) return {};
    auto at_rest = store::AtRest::look(source_, sources.front().content.recoveries,
                                       "Wait until its writers have closed it, and seal it in its own place then, or "
                                       "seal it under another name.");
    if (!at_rest) return at_rest.error();
    replaced_ = std::move(*at_rest);
    return {};
  }

  Error check_read(const Sources& sources) override {
    return replaced_ ? replaced_->check_still("sealed") : Transform::check_read(sources);
  }

 private:
  const OpenFile& source_;
  std::optional<store::AtRest> replaced_;  // the source, if it is replaced
};

// Checks the rules of the format that are not the identity's. The state of a sealed file is among the sealed bytes:
// only a process that replaces the file changes it.
Error check_words(const region::File& file, const store::CheckedHeader& header) {
  const FileId& file_id = header.identity.file_id;
  const auto uncut = store::has_end_word(file, header.identity);
  if (!uncut.ok()) return uncut.error();
  if (!*uncut || !store::live_word_of(header.bytes).is_own(file_id))
    return base::fail(Code::kLiveWord, file.path() +
                                           ": the live word or the word at its end is not the file's own: the "
                                           "file was cut or overwritten. Get it again, or rebuild it.");
  if (!store::live_word_of(header.bytes).is_understood(file_id)) return store::later_state(file.path());
  if (store::slots_of(header.bytes, file_id).newest() == nullptr)
    return base::fail(Code::kSlots, file.path() + ": no state slot is valid: the header was damaged. Rebuild it.");
  return {};
}

}  // namespace

Error seal(const std::string& from, const std::string& to, const SealOptions& options) {
  const SaveOptions saving{.mode = options.mode,
                           .replace = options.replace,
                           .any_filesystem = options.any_filesystem,
                           .lock_timeout_ms = options.lock_timeout_ms};
  const auto making = store::making_at(to, saving);
  if (!making) return making.error();
  store::Opening reading;
  reading.map.random_access = true;  // the body is read through the descriptor
  reading.any_filesystem = options.any_filesystem;
  reading.lock_timeout_ms = options.lock_timeout_ms;
  reading.without_secret = true;
  auto session = store::Session::open_reader(from, reading);
  if (!session) return session.error();
  SealedFile copy((*session)->file(), options.fpr, options.watch);
  const auto source = store::ask_file(std::move(*session), store::Adding::kNever, {.secret = {}});
  if (!source) return source.error();
  return store::derive({{source->get()}}, to, *making, copy);
}

Error Filter::save_sealed(const std::string& path, const SaveOptions& options) const {
  if (options.same_file_id || options.filling)
    return fail(Code::kInvalid, path + ": a sealed copy takes no file_id of its source, and no filling. Copy twice.");
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  const store::Pinned pinned(*ask_);
  if (const OpenFile* const own = pinned->home->own_file(); own != nullptr) {
    SealedFile copy(*own, options.fpr, options.watch);
    return store::derive({{&*pinned}}, path, *making, copy);
  }
  SealedCopy copy(options.fpr, options.watch);
  return store::derive({{&*pinned}}, path, *making, copy);
}

Result<Verification> verify(const std::string& path, bool no_follow) {
  const std::optional<Secret> no_secret;
  const auto file = store::open_for_reading(path, {.no_follow = no_follow});
  if (!file) return file.error();
  file->read_nothing_ahead();
  const auto header = store::checked_header(*file, {.without_secret = true, .secret = no_secret});
  if (!header) return header.error();
  if (!header->identity.seal) return store::not_sealed(path);
  if (Error error = check_words(*file, *header); !error.ok()) return error;
  file->forget_cached();
  return store::verify_sealed({*file, header->identity});
}

}  // namespace bfstore

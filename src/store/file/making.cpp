#include "store/file/making.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/file/memory.hpp"
#include "store/file/turn.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::Slot;
using region::File;

constexpr std::uint32_t kDefaultMode = 0600;

// Not inlined, so that its slot and its page are not on the stack any more when the next slot is written.
[[gnu::noinline]] Error write_first_slot(const OpenFile& opened, bool filling, const Times& began) {
  Slot first;
  first.sequence = 1;
  first.filling = filling;
  first.turned_at = began.since_1970;
  return opened.file().write_at(format::encode_slot(first, opened.identity().file_id), format::kSlotOffset);
}

// Writes clean to the older slot and dirty to the newer one, because the process that makes the file writes to it.
Error initialize(const OpenFile& opened, bool filling) {
  opened.live_word().store(format::LiveWord::healthy(opened.identity().file_id));
  opened.live_word().store_num_slices(1);
  if (filling) opened.live_word().set(format::LiveWord::kFilling);
  if (Error error = opened.write_end_word(opened.identity()); !error.ok()) return error;
  const bool expires = layout::row_of(opened.identity().shape.layout).info.epochs != 0;
  const Times began = expires ? now() : Times{};
  if (Error error = write_first_slot(opened, filling, began); !error.ok()) return error;
  const auto evidence = opened.evidence_under_lock();
  if (!evidence) return evidence.error();
  Slot dirty = dirty_now(*evidence);
  dirty.turned_after_boot = began.after_boot;
  return opened.write_slot(evidence->slots, dirty);
}

}  // namespace

NameBefore look_at_name(const std::string& path, bool replace) {
  if (!replace) return NameBefore::kNothing;
  struct stat there {};
  const bool free = lstat(path.c_str(), &there) != 0 && errno == ENOENT;
  return free ? NameBefore::kWasFree : NameBefore::kMayBeTaken;
}

Error check_mode(const std::optional<std::uint32_t>& mode) {
  if (!mode || (*mode & ~0777U) == 0) return {};
  return fail(Code::kInvalid, "the mode has bits outside 0777. Give one such as 0640.");
}

// The handle of an unpublished file is also the only one with the writers' lock.
Result<Making> making_at(const std::string& path, const Options& options) {
  if (path.empty()) return fail(Code::kInvalid, "the path is empty. Give one.");
  return Making{.mode = options.mode,
                .name = look_at_name(path, options.replace),
                .alone = options.exclusive || options.unpublished,
                .filling = options.filling,
                .any_filesystem = options.any_filesystem,
                .lock_timeout_ms = options.lock_timeout_ms,
                .map = options.map};
}

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

Error check_name(const std::string& path, const Making& how) {
  struct stat there {};
  if (how.name != NameBefore::kNothing || lstat(path.c_str(), &there) != 0) return {};
  return fail(Code::kExists, path + ": exists already. Choose another name, or replace it.");
}

Result<OpenFile> make(const std::string& path, const format::Identity& identity, const Making& how) {
  if (Error error = check_name(path, how); !error.ok()) return error;
  auto file = File::create_unnamed(path, how.mode.value_or(kDefaultMode));
  if (!file) return file.error();
  if (!how.any_filesystem) {
    if (Error error = check_sharing(*file, File::Access::kReadWrite, false); !error.ok()) return error;
  }
  const format::Sections sections = format::sections_of(identity);
  for (const format::Section& part : {sections.header, sections.behind_header}) {
    if (Error error = file->allocate(part.offset, part.bytes); !error.ok()) return error;
  }
  if (Error error = file->write_at(format::encode_identity(identity), 0); !error.ok()) return error;
  auto mapping = mapping_of(*file, File::Access::kReadWrite, identity, {}, 1, how.map, pages_for(how.map, how.alone));
  if (!mapping) return mapping.error();
  if (Error error = load(*file, *mapping, identity, 1, how.map); !error.ok()) return error;
  OpenFile made(std::move(*file), std::move(*mapping), identity, how.lock_timeout_ms);
  if (Error error = initialize(made, how.filling); !error.ok()) return error;
  return made;
}

// Takes no lock: no other process can have a file without a name.
Error write_marks(const OpenFile& made, std::span<const LogPosition> lanes, const std::optional<Turned>& turned) {
  const auto evidence = made.evidence_under_lock();
  if (!evidence) return evidence.error();
  Slot slot = dirty_now(*evidence);
  std::copy(lanes.begin(), lanes.end(), slot.lanes.begin());
  if (turned) {
    slot.epoch = turned->epoch.number();
    slot.turned_at = turned->turned_at;
    slot.turned_after_boot = 0;
    made.live_word().store_epoch(turned->epoch);
  }
  return made.write_slot(evidence->slots, slot);
}

Error write_keys_added(const OpenFile& made, std::uint64_t keys) {
  constexpr std::uint64_t kFirstStripe = format::kLivePageOffset + format::kStripesField.offset;
  std::array<std::byte, 8> bytes{};
  base::store(bytes.data(), keys);
  return made.file().write_at(bytes, kFirstStripe);
}

}  // namespace bfstore::store

// Sealed files: made, verified, and opened where they are damaged. Everything is read through the descriptor: what can
// not be read is damaged, and no signal.
#include "format/seal.hpp"

#include <bfstore/seal.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/plan.hpp"
#include "store/session.hpp"

namespace bfstore {
namespace store {
namespace {

using base::fail;
using format::kChunkBytes;
using region::File;

constexpr std::size_t kMostNamed = 3;  // damaged ranges in a sentence

// Walks over the chunks of a file's body; of the file's copy in private memory, where there is one.
class Chunks {
 public:
  Chunks(const File& file, const format::Identity& identity, const std::byte* copy = nullptr)
      : file_(file), identity_(identity), copy_(copy), piece_(kChunkBytes) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return format::num_chunks_of(identity_.body_bytes); }
  [[nodiscard]] format::Section place(std::uint64_t number) const noexcept {
    return format::chunk_of(identity_, number);
  }
  // Until the next one is read.
  Result<std::span<const std::byte>> read(std::uint64_t number) {
    const format::Section chunk = place(number);
    if (copy_ != nullptr) return std::span(copy_ + chunk.offset, chunk.bytes);
    const std::span<std::byte> into = std::span(piece_).first(chunk.bytes);
    const auto got = file_.read_at(into, chunk.offset);
    if (!got) return got.error();
    if (*got != into.size()) return fail(Code::kLost, file_.path() + ": was truncated while it was read");
    return std::span<const std::byte>(into);
  }

 private:
  const File& file_;
  const format::Identity& identity_;
  const std::byte* copy_;
  std::vector<std::byte> piece_;
};

// Adds a range that begins behind the others, or goes on with the last one.
void append(std::vector<DamagedRange>& ranges, const format::Section& part) {
  if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == part.offset) {
    ranges.back().bytes += part.bytes;
  } else {
    ranges.push_back({part.offset, part.bytes});
  }
}

// The checksums of a sealed file, read piece by piece; what can not be read matches nothing.
class Checksums {
 public:
  Checksums(const File& file, const Seal& seal) : file_(file), seal_(seal), piece_(kChunkBytes) {}

  [[nodiscard]] bool match(std::uint64_t number, std::uint64_t checksum) {
    const std::uint64_t at = format::checksums_bytes_of(number);
    if (at % piece_.size() == 0) {
      const std::uint64_t left = format::checksums_bytes_of(seal_.num_chunks) - at;
      const auto got = file_.read_at(std::span(piece_).first(std::min<std::uint64_t>(piece_.size(), left)),
                                     seal_.checksums_offset + at);
      readable_ = got ? *got : 0;
    }
    const std::uint64_t in_piece = at % piece_.size();
    return in_piece + 8 <= readable_ && base::load<std::uint64_t>(piece_.data() + in_piece) == checksum;
  }

 private:
  const File& file_;
  const Seal& seal_;
  std::vector<std::byte> piece_;
  std::size_t readable_ = 0;
};

// Calls damaged(number) for each chunk that is not as it was sealed; returns their number.
template <class Damaged>
std::uint64_t each_damaged_chunk(const File& file, const format::Identity& identity, const std::byte* copy,
                                 Damaged damaged) {
  Chunks chunks(file, identity, copy);
  Checksums checksums(file, *identity.seal);
  std::uint64_t found = 0;
  for (std::uint64_t number = 0; number < chunks.count(); ++number) {
    const auto chunk = chunks.read(number);
    const std::uint64_t checksum = chunk ? format::chunk_checksum(*chunk, number, identity) : 0;
    if (checksums.match(number, checksum) && chunk.ok()) continue;
    damaged(chunks.place(number));
    ++found;
  }
  return found;
}

bool counters_as_sealed(const File& file, const Seal& seal) {
  const auto header = read_header(file);
  if (!header) return false;
  return format::keys_added_in(std::span<const std::byte>(*header).subspan(format::kLivePageOffset)) == seal.keys_added;
}

bool checksums_as_sealed(const File& file, const format::Identity& identity) {
  std::vector<std::byte> all(format::checksums_bytes_of(identity.seal->num_chunks));
  const auto got = file.read_at(all, identity.seal->checksums_offset);
  return got && *got == all.size() && format::checksum_of_checksums(all, identity) == identity.seal->checksum;
}

Verification verify_sealed(const File& file, const format::Identity& identity, const std::byte* copy) {
  Verification found;
  found.num_chunks = identity.seal->num_chunks;
  if (!counters_as_sealed(file, *identity.seal)) {
    append(found.damaged, {format::kLivePageOffset + format::kStripesField.offset, format::kStripesField.bytes});
  }
  found.num_damaged_chunks =
      each_damaged_chunk(file, identity, copy, [&](const format::Section& chunk) { append(found.damaged, chunk); });
  if (!checksums_as_sealed(file, identity)) {
    append(found.damaged, format::sections_of(identity).checksums);
  }
  return found;
}

std::string in_words(const std::vector<DamagedRange>& ranges) {
  std::string words;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMostNamed); ++i) {
    words += (words.empty() ? "bytes " : ", ") + std::to_string(ranges[i].offset) + " to " +
             std::to_string(ranges[i].offset + ranges[i].bytes - 1);
  }
  return ranges.size() > kMostNamed ? words + " and others" : words;
}

Error not_sealed(const std::string& path) {
  return fail(Code::kNotSealed,
              path + ": is not sealed, so that nothing tells what its bits were; seal a copy of it (bf seal)");
}

Error damaged(const File& file, const Verification& found) {
  return fail(Code::kDamaged, file.path() + ": is damaged (" + in_words(found.damaged) +
                                  "); use a copy, build it again, or open it tolerating the damage");
}

Error check_whole(const File& file, const format::Identity& identity, const std::byte* copy = nullptr) {
  const Verification found = verify_sealed(file, identity, copy);
  return found.damaged.empty() ? Error{} : damaged(file, found);
}

}  // namespace

Error Session::check_seal(const Opening& options) const {
  if (!options.verify && !options.tolerate_damage) return {};
  if (!identity_.seal) return not_sealed(file_.path());
  const std::byte* const copy = options.map.copy ? mapping_.data() : nullptr;
  if (!options.tolerate_damage) return check_whole(file_, identity_, copy);
  std::vector<DamagedRange> damaged;
  each_damaged_chunk(file_, identity_, copy, [&](const format::Section& chunk) { append(damaged, chunk); });
  const LayoutInfo& layout = layout::row_of(identity_.shape.layout).info;
  if (!damaged.empty() && !layout.can.ones_are_maybe) {
    return fail(Code::kUnsupported, file_.path() + ": is damaged, and no part of a " + layout.name +
                                        " filter can be made to answer maybe; use a copy, or build it again");
  }
  for (const DamagedRange& range : damaged) {
    if (Error error = mapping_.cover_with_ones(range.offset, range.bytes); !error.ok()) return error;
  }
  return {};
}

Error Session::seal(const Session& source, const format::Slot& marks) {
  const std::uint64_t num_chunks = format::num_chunks_of(identity_.body_bytes);
  identity_.seal = Seal{};
  const format::Sections sections = format::sections_of(identity_);
  std::vector<std::byte> checksums(format::checksums_bytes_of(num_chunks));
  const std::uint64_t behind_body = sections.end - sections.checksums.offset;
  if (Error error = file_.allocate(sections.checksums.offset, behind_body); !error.ok()) return error;
  Chunks chunks(source.file_, source.identity_);
  std::optional<Checksums> known;  // of a source that is sealed itself: what rotted is not sealed again
  if (source.identity_.seal) known.emplace(source.file_, *source.identity_.seal);
  for (std::uint64_t number = 0; number < num_chunks; ++number) {
    const auto chunk = chunks.read(number);
    if (!chunk) return chunk.error();
    if (known && !known->match(number, format::chunk_checksum(*chunk, number, source.identity_)))
      return damaged(source.file_, verify_sealed(source.file_, source.identity_, nullptr));
    if (Error error = file_.write_at(*chunk, format::chunk_of(identity_, number).offset); !error.ok()) return error;
    base::store(checksums.data() + format::checksums_bytes_of(number),
                format::chunk_checksum(*chunk, number, identity_));
  }
  const bool all_as_sealed = !known || (counters_as_sealed(source.file_, *source.identity_.seal) &&
                                        checksums_as_sealed(source.file_, source.identity_));
  if (!all_as_sealed) return damaged(source.file_, verify_sealed(source.file_, source.identity_, nullptr));
  // They lie where the end word was as long as the file was not sealed.
  if (Error error = file_.write_at(checksums, sections.checksums.offset); !error.ok()) return error;
  if (Error error = write_end_word(); !error.ok()) return error;
  std::array<std::byte, 8> keys_added{};
  const auto header = read_header(source.file_);
  if (!header) return header.error();
  const std::uint64_t keys =
      format::keys_added_in(std::span<const std::byte>(*header).subspan(format::kLivePageOffset));
  base::store(keys_added.data(), keys);
  if (Error error = file_.write_at(keys_added, format::kLivePageOffset + format::kStripesField.offset); !error.ok())
    return error;
  identity_.seal = Seal{kChunkBytes, num_chunks, sections.checksums.offset,
                        format::checksum_of_checksums(checksums, identity_), keys};
  if (Error error = file_.write_at(format::encode_identity(identity_), 0); !error.ok()) return error;
  const auto evidence = evidence_under_lock();  // nobody else can have a file without a name
  if (!evidence) return evidence.error();
  format::Slot slot = dirty_now(*evidence);
  slot.lanes = marks.lanes;
  return write_slot(evidence->slots, slot);
}

namespace {

// Of a file that no writer has open, and that nobody is making or opening: who opens it to write from now on changes
// its slots first.
Result<Evidence> at_rest(const Session& source) {
  auto evidence = source.look();
  if (!evidence) return evidence;
  const auto writer = region::locked_by_other(source.file(), kWriterLocks);
  if (!writer) return writer.error();
  const auto changing = region::locked_by_other(source.file(), {format::kStateLock});
  if (!changing) return changing.error();
  const FileState state = judge(*evidence);
  const bool free = !*writer && !*changing;
  if (free && (state == FileState::kClean || state == FileState::kAdoptable)) return evidence;
  return fail(Code::kBusy, source.file().path() + ": is open for writing; seal it when its writers have closed it");
}

}  // namespace
}  // namespace store

using store::Session;

Error seal(const std::string& from, const std::string& to, const SealOptions& options) {
  store::Opening reading;
  reading.map.random_access = true;  // read through the descriptor
  reading.any_filesystem = options.any_filesystem;
  reading.lock_timeout_ms = options.lock_timeout_ms;
  reading.without_key = true;
  const auto source = Session::open_reader(from, reading);
  if (!source) return source.error();
  const format::Identity& identity = (*source)->identity();
  const auto before = store::at_rest(**source);
  if (!before) return before.error();
  auto copy = store::as_new(identity);
  if (!copy) return copy.error();
  copy->body_offset = format::body_offset_in_file(copy->body_bytes);
  if ((options.mode & ~0777U) != 0) return base::fail(Code::kInvalid, "the mode has other bits than rwxrwxrwx");
  Options making;
  making.mode = options.mode;
  making.replace = options.replace;
  making.any_filesystem = options.any_filesystem;
  making.lock_timeout_ms = options.lock_timeout_ms;
  making.unpublished = true;
  const auto sealed = Session::create(to, *copy, making);
  if (!sealed) return sealed.error();
  if (Error error = (*sealed)->seal(**source, *before->slots.newest()); !error.ok()) return error;
  // From here on nobody is let in to write to the file that is replaced, which may be the one that was sealed.
  if (Error error = options.replace ? (*sealed)->supersede() : Error{}; !error.ok()) return error;
  const auto after = (*source)->look();
  if (!after) return after.error();
  if (Error error = (*source)->check_file_is_whole(); !error.ok()) return error;
  const bool unchanged = after->slots == before->slots;
  const bool same_file = (*source)->file().has_its_path();
  if (!unchanged || !same_file ||
      ((after->live_word.bits ^ before->live_word.bits) & ~format::LiveWord::kSuperseded) != 0)
    return base::fail(Code::kBusy, from + ": was written to or replaced while it was sealed; seal it again");
  return (*sealed)->publish();
}

Result<Verification> verify(const std::string& path) {
  store::Opening reading;
  reading.any_filesystem = true;  // nobody changes a sealed file
  reading.without_key = true;
  const auto session = Session::open_reader(path, reading);
  if (!session) return session.error();
  if (!(*session)->identity().seal) return store::not_sealed(path);
  (*session)->file().forget_cached();
  return store::verify_sealed((*session)->file(), (*session)->identity(), nullptr);
}

}  // namespace bfstore

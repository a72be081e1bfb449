#include "store/file/sealed.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/fail.hpp"
#include "format/checksums.hpp"
#include "layout/layout.hpp"
#include "store/file/making.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kChunkBytes;
using region::File;

constexpr std::size_t kMostNamed = 3;  // damaged ranges in a sentence

// Walks over the chunks of a body.
class Chunks {
 public:
  explicit Chunks(const SealedBytes& sealed)
      : file_(sealed.file), identity_(sealed.identity), copy_(sealed.copy), piece_(kChunkBytes) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return format::num_chunks_of(identity_.body_bytes); }
  [[nodiscard]] format::Section section(std::uint64_t number) const noexcept {
    return format::chunk_of(identity_, number);
  }
  // Valid until the next chunk is read.
  Result<std::span<const std::byte>> read(std::uint64_t number) {
    const format::Section chunk = section(number);
    if (copy_ != nullptr) return std::span(copy_ + chunk.offset, chunk.bytes);
    const std::span<std::byte> into = std::span(piece_).first(chunk.bytes);
    const auto got = file_.read_at(into, chunk.offset);
    if (!got) return got.error();
    if (*got != into.size()) return fail(Code::kLost, file_.path() + ": truncated while it was read. Try again.");
    return std::span<const std::byte>(into);
  }

 private:
  const File& file_;
  const format::Identity& identity_;
  const std::byte* copy_;
  std::vector<std::byte> piece_;
};

// Adds a range that begins after the others, or extends the last one.
void append(std::vector<DamagedRange>& ranges, const format::Section& part) {
  if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == part.offset) {
    ranges.back().bytes += part.bytes;
  } else {
    ranges.push_back({part.offset, part.bytes});
  }
}

// The checksums of a sealed file, read piece by piece. A checksum that cannot be read matches nothing.
class Checksums {
 public:
  explicit Checksums(const SealedBytes& sealed)
      : file_(sealed.file), seal_(*sealed.identity.seal), copy_(sealed.copy), piece_(kChunkBytes) {}

  [[nodiscard]] bool match(std::uint64_t number, std::uint64_t checksum) {
    const std::uint64_t at = format::checksums_bytes_of(number);
    if (copy_ != nullptr) return base::load<std::uint64_t>(copy_ + seal_.checksums_offset + at) == checksum;
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
  const std::byte* copy_;
  std::vector<std::byte> piece_;
  std::size_t readable_ = 0;
};

// Calls damaged(section) for each chunk that is not as it was sealed. Returns the number of these chunks.
template <class Damaged>
std::uint64_t each_damaged_chunk(const SealedBytes& sealed, Damaged damaged) {
  Chunks chunks(sealed);
  Checksums checksums(sealed);
  std::uint64_t found = 0;
  for (std::uint64_t number = 0; number < chunks.count(); ++number) {
    const auto chunk = chunks.read(number);
    const std::uint64_t checksum = chunk ? format::chunk_checksum(*chunk, number, sealed.identity) : 0;
    if (checksums.match(number, checksum) && chunk.ok()) continue;
    damaged(chunks.section(number));
    ++found;
  }
  return found;
}

// Returns the number of adds that changed a bit since the file was made.
std::uint64_t keys_added_in(const HeaderBytes& header) {
  return format::keys_added_in(std::span<const std::byte>(header).subspan(format::kLivePageOffset));
}

bool slots_as_sealed(const HeaderBytes& header, const format::Identity& identity) {
  const format::SlotPair slots = slots_of(header, identity.file_id);
  return slots.clean() && !slots.newest()->filling;
}

// *Gone* may be set by a process that replaces the file, and *syncing* may remain from the process that made it.
bool live_word_as_sealed(const HeaderBytes& header, const format::Identity& identity) {
  return (live_word_of(header).bits & ~format::LiveWord::kGone) == format::LiveWord::healthy(identity.file_id).bits;
}

// Without a valid slot all epochs are as good: that is damage of its own.
bool epoch_as_sealed(const HeaderBytes& header, const format::Identity& identity) {
  if (!identity.window_ms) return true;
  const format::SlotPair slots = slots_of(header, identity.file_id);
  return slots.newest() == nullptr || epoch_in(header).number() == slots.newest()->epoch;
}

// Returns the copied header if there is a copy: lookups believe that, and not what the file says now.
Result<HeaderBytes> header_of(const SealedBytes& sealed) {
  if (sealed.copy == nullptr) return read_header(sealed.file);
  return HeaderBytes(sealed.copy, sealed.copy + format::kFileHeaderBytes);
}

// Appends what differs in the header pages after the identity, which has a checksum of its own.
void append_header_damage(std::vector<DamagedRange>& ranges, const SealedBytes& sealed) {
  const auto header = header_of(sealed);
  if (!header || !slots_as_sealed(*header, sealed.identity))
    append(ranges, {format::kSlotOffset, 2 * format::kPageBytes});
  if (!header || !live_word_as_sealed(*header, sealed.identity))
    append(ranges, {format::kLivePageOffset + format::kLiveWordField.offset, format::kLiveWordField.bytes});
  if (!header || !epoch_as_sealed(*header, sealed.identity))
    append(ranges, {format::kLivePageOffset + format::kLiveEpochField.offset, format::kLiveEpochField.bytes});
  if (!header || keys_added_in(*header) != sealed.identity.seal->keys_added)
    append(ranges, {format::kLivePageOffset + format::kStripesField.offset, format::kStripesField.bytes});
}

bool checksums_as_sealed(const SealedBytes& sealed) {
  const Seal& seal = *sealed.identity.seal;
  const auto as_sealed = [&](std::span<const std::byte> all) {
    return format::checksum_of_checksums(all, sealed.identity) == seal.checksum;
  };
  const std::uint64_t bytes = format::checksums_bytes_of(seal.num_chunks);
  if (sealed.copy != nullptr) return as_sealed({sealed.copy + seal.checksums_offset, bytes});
  std::vector<std::byte> all(bytes);
  const auto got = sealed.file.read_at(all, seal.checksums_offset);
  return got && *got == all.size() && as_sealed(all);
}

void append_checksums_damage(std::vector<DamagedRange>& ranges, const SealedBytes& sealed) {
  if (!checksums_as_sealed(sealed)) append(ranges, format::sections_of(sealed.identity).checksums);
}

std::string in_words(const std::vector<DamagedRange>& ranges) {
  std::string words;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMostNamed); ++i) {
    words += (words.empty() ? "bytes " : ", ") + std::to_string(ranges[i].offset) + " to " +
             std::to_string(ranges[i].offset + ranges[i].bytes - 1);
  }
  return ranges.size() > kMostNamed ? words + " and others" : words;
}

Error damaged(const OpenFile& opened, const std::vector<DamagedRange>& found) {
  return fail(Code::kDamaged, opened.file().path() + ": damaged (" + in_words(found) + ")." + base::kRestoreSealed +
                                  ", or open it with the option tolerate damage.");
}

Error check_whole(const OpenFile& opened) {
  const Verification found = verify_sealed(sealed_bytes(opened));
  return found.damaged.empty() ? Error{} : damaged(opened, found.damaged);
}

}  // namespace

SealedBytes sealed_bytes(const OpenFile& opened) noexcept {
  return {opened.file(), opened.identity(), opened.mapping().is_copy() ? opened.mapping().data() : nullptr};
}

Verification verify_sealed(const SealedBytes& sealed) {
  Verification found;
  found.num_chunks = sealed.identity.seal->num_chunks;
  append_header_damage(found.damaged, sealed);
  found.num_damaged_chunks =
      each_damaged_chunk(sealed, [&](const format::Section& chunk) { append(found.damaged, chunk); });
  append_checksums_damage(found.damaged, sealed);
  return found;
}

Error not_sealed(const std::string& path) {
  return fail(Code::kNotSealed, path + ": not sealed, so it has no checksums. Make a sealed copy (bf seal).");
}

// The range of the file that must be ones so that keys of a damaged range of the body are "maybe".
DamagedRange range_of_ones(const layout::Row& row, const format::Identity& identity, const DamagedRange& damaged) {
  if (row.range_of_ones == nullptr) return damaged;
  const layout::Geometry geometry = row.geometry(identity.shape.num_bits, identity.shape.num_probes);
  const auto ones = row.range_of_ones(geometry, {damaged.offset - identity.body_offset, damaged.bytes});
  return {identity.body_offset + ones.offset, ones.bytes};
}

// True if a copy may have ones in the place of a damaged chunk: if they answer "maybe" there.
bool may_have_ones(const format::Identity& identity) noexcept {
  const layout::Row& row = layout::row_of(identity.shape.layout);
  return row.info.can.ones_are_maybe && row.range_of_ones == nullptr;
}

Error check_seal(const OpenFile& opened, const Opening& options) {
  if (!options.verify && !options.tolerate_damage) return {};
  if (!opened.identity().seal) return not_sealed(opened.file().path());
  if (!options.tolerate_damage) return check_whole(opened);
  std::vector<DamagedRange> damaged;
  each_damaged_chunk(sealed_bytes(opened), [&](const format::Section& chunk) { append(damaged, chunk); });
  const layout::Row& row = layout::row_of(opened.identity().shape.layout);
  if (!damaged.empty() && !row.info.can.ones_are_maybe) {
    return fail(Code::kUnsupported, opened.file().path() + ": damaged, and no part of a " + row.info.name +
                                        " filter can be made to answer maybe." + base::kRestoreSealed + ".");
  }
  for (const DamagedRange& range : damaged) {
    const DamagedRange ones = range_of_ones(row, opened.identity(), range);
    if (Error error = opened.mapping().cover_with_ones(ones.offset, ones.bytes); !error.ok()) return error;
  }
  return {};
}

struct SealedPieces::Walk {
  explicit Walk(const OpenFile& file)
      : opened(file),
        sealed(sealed_bytes(file)),
        tolerates(file.tolerates_damage() && may_have_ones(sealed.identity)),
        ones(kChunkBytes, std::byte{0xff}),
        chunks(sealed),
        checksums(sealed) {}

  // A copy takes over what the header says, so damage there is an error, too.
  [[nodiscard]] Result<std::span<const std::byte>> end() const {
    std::vector<DamagedRange> found;
    if (!tolerates) append_header_damage(found, sealed);
    if (!tolerates) append_checksums_damage(found, sealed);
    if (!found.empty()) return damaged(opened, found);
    return std::span<const std::byte>();
  }

  const OpenFile& opened;
  SealedBytes sealed;
  bool tolerates;
  std::vector<std::byte> ones;
  Chunks chunks;
  Checksums checksums;
  std::uint64_t number = 0;
};

SealedPieces::SealedPieces(const OpenFile& opened) : walk_(std::make_unique<Walk>(opened)) {}
SealedPieces::~SealedPieces() = default;
SealedPieces::SealedPieces(SealedPieces&&) noexcept = default;

Result<std::span<const std::byte>> SealedPieces::next() {
  if (walk_->number == walk_->chunks.count()) return walk_->end();
  const std::uint64_t number = walk_->number++;
  const format::Section section = walk_->chunks.section(number);
  const auto chunk = walk_->chunks.read(number);
  const std::uint64_t checksum = chunk ? format::chunk_checksum(*chunk, number, walk_->sealed.identity) : 0;
  const bool whole = walk_->checksums.match(number, checksum) && chunk.ok();
  if (!whole && !walk_->tolerates) return damaged(walk_->opened, {{section.offset, section.bytes}});
  return whole ? *chunk : std::span<const std::byte>(walk_->ones).first(section.bytes);
}

Sealing::Sealing(OpenFile& made, std::uint64_t keys_added) : made_(made), sealed_(made.identity()) {
  sealed_.seal = Seal{};
  const std::uint64_t num_chunks = format::num_chunks_of(sealed_.body_bytes);
  const std::uint64_t checksums_offset = format::sections_of(sealed_).checksums.offset;
  sealed_.seal = Seal{kChunkBytes, num_chunks, checksums_offset, 0, keys_added};
  checksums_.resize(format::checksums_bytes_of(num_chunks));
}

Error Sealing::make_room() {
  const format::Sections sections = format::sections_of(sealed_);
  return made_.file().allocate(sections.checksums.offset, sections.end - sections.checksums.offset);
}

Error Sealing::put(std::uint64_t offset_in_body, std::span<const std::byte> piece) {
  if (Error error = made_.file().write_at(piece, sealed_.body_offset + offset_in_body); !error.ok()) return error;
  std::uint64_t number = offset_in_body / kChunkBytes;
  for (; !piece.empty(); ++number) {
    const auto chunk = piece.first(std::min<std::uint64_t>(piece.size(), kChunkBytes));
    base::store(checksums_.data() + format::checksums_bytes_of(number), format::chunk_checksum(chunk, number, sealed_));
    piece = piece.subspan(chunk.size());
  }
  return {};
}

// The checksums begin where the end word was before the file was sealed.
Error Sealing::finish() {
  sealed_.seal->checksum = format::checksum_of_checksums(checksums_, sealed_);
  if (Error error = made_.file().write_at(checksums_, sealed_.seal->checksums_offset); !error.ok()) return error;
  if (Error error = made_.write_end_word(sealed_); !error.ok()) return error;
  return made_.become(sealed_);
}

}  // namespace bfstore::store

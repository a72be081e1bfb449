#include "sealed.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "format/records.hpp"
#include "format/state.hpp"
#include "hash/hash.hpp"

namespace fuzz {
namespace {

namespace format = bfstore::format;
using Span = std::span<const std::byte>;

constexpr std::uint64_t kChunk = 65536;
constexpr std::uint64_t kMostBodyBytes = std::uint64_t{3} << 20;

__extension__ using Wide = unsigned __int128;

std::uint64_t up(std::uint64_t number, std::uint64_t unit) { return (number + unit - 1) / unit * unit; }

std::uint64_t salt_of(Span header) {
  return bfstore::hash::xxh3(header.data() + format::kFileIdField.offset, format::kFileIdField.bytes, 0);
}

std::uint64_t counted(Span header) {
  constexpr std::size_t kStripes = 32;
  constexpr std::size_t kStripe = 64;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kStripes; ++i) {
    sum += bfstore::base::load<std::uint64_t>(header.data() + format::kLivePageOffset + kStripe * (i + 1));
  }
  return sum;
}

// Returns the value of the header's record of that type. Makes the record if it is missing.
std::span<std::byte> record(std::span<std::byte> header, std::uint16_t type, std::uint16_t flags, std::uint32_t bytes) {
  constexpr std::uint32_t kMostRecordsBytes = 1024;
  const auto there = format::get<std::uint32_t>(header, format::kRecordsBytesField);
  if (there > kMostRecordsBytes || there % 8 != 0) return {};
  const std::span<std::byte> records = header.subspan(format::kRecordsOffset);
  std::uint64_t at = 0;
  while (at < there && format::get<std::uint16_t>(records.subspan(at), format::kRecordTypeField) != type) {
    at += 8 + up(format::get<std::uint32_t>(records.subspan(at), format::kRecordValueBytesField), 8);
  }
  if (at >= there) {
    at = there;
    format::put(header, format::kRecordsBytesField, there + 8 + bytes);
  }
  format::put(records.subspan(at), format::kRecordTypeField, type);
  format::put(records.subspan(at), format::kRecordFlagsField, flags);
  format::put(records.subspan(at), format::kRecordValueBytesField, bytes);
  return records.subspan(at + 8, bytes);
}

// Returns the checksums of all chunks of a body that continues with zeros.
std::vector<std::byte> checksums_of(Input body, std::uint64_t body_bytes, std::uint64_t salt) {
  std::vector<std::byte> checksums(up(body_bytes, kChunk) / kChunk * 8);
  std::vector<std::byte> chunk(kChunk);
  for (std::uint64_t at = 0; at < body_bytes; at += kChunk) {
    const std::uint64_t bytes = std::min(kChunk, body_bytes - at);
    const std::uint64_t given = at < body.size() ? std::min<std::uint64_t>(bytes, body.size() - at) : 0;
    std::fill(chunk.begin(), chunk.end(), std::byte{0});
    if (given > 0) std::memcpy(chunk.data(), body.data() + at, given);
    bfstore::base::store(checksums.data() + at / kChunk * 8,
                         bfstore::hash::xxh3(chunk.data(), bytes, salt + at / kChunk));
  }
  return checksums;
}

unsigned epochs_of(std::uint32_t layout) noexcept {
  switch (layout) {
    case BFS_LAYOUT_WINDOW:
      return 8;
    case BFS_LAYOUT_WINDOW_4:
      return 4;
    case BFS_LAYOUT_WINDOW_2:
      return 2;
    default:
      return 0;
  }
}

}  // namespace

Checksums put_seal(std::span<std::byte> header, Input body) {
  const auto body_offset = format::get<std::uint64_t>(header, format::kBodyOffsetField);
  const auto body_bytes = format::get<std::uint64_t>(header, format::kBodyBytesField);
  if (body_offset > kMostBodyBytes || body_bytes > kMostBodyBytes) return {};
  const std::span<std::byte> seal = record(header, format::kRecordSeal, 0, format::kSealBytes);
  if (seal.empty()) return {};
  const std::uint64_t salt = salt_of(header);
  Checksums made{up(body_offset + body_bytes, format::kPageBytes), checksums_of(body, body_bytes, salt)};
  std::fill(seal.begin(), seal.end(), std::byte{0});
  format::put(seal, format::kSealChunkBytesField, static_cast<std::uint32_t>(kChunk));
  format::put(seal, format::kSealNumChunksField, std::uint64_t{made.bytes.size() / 8});
  format::put(seal, format::kSealOffsetField, made.offset);
  format::put(seal, format::kSealChecksumField, bfstore::hash::xxh3(made.bytes.data(), made.bytes.size(), salt));
  format::put(seal, format::kSealKeysAddedField, counted(header));
  const auto ro_compat = format::get<std::uint32_t>(header, format::kRoCompatField);
  format::put(header, format::kRoCompatField, ro_compat | format::kRoSealed);
  return made;
}

void put_secret_check(std::span<std::byte> header) {
  if (format::get<std::uint16_t>(header, format::kHashField) != BFS_HASH_SIPHASH) return;
  const std::span<std::byte> value =
      record(header, format::kRecordSecretCheck, format::kRecordCritical, format::kSecretCheckBytes);
  if (value.empty()) return;
  bfstore::Secret known{};
  std::memcpy(known.data(), secret(), known.size());
  const auto right = format::secret_check_of(known, bfstore::base::load<std::uint64_t>(value.data()));
  bfstore::base::store(value.data() + 8, right.tag);
}

std::optional<Sealed> Sealed::read(const char* path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> file(static_cast<std::size_t>(stream.tellg()));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(file.size()));
  check(stream.good(), "a file that can be read");
  const Span header = Span(file).first(std::min(file.size(), format::kFileHeaderBytes));
  auto checked = format::check_identity(header, format::Form::kFile, file.size(), false);
  if (!checked.problems.empty() || !checked.reported->seal) return std::nullopt;
  Sealed sealed(*checked.reported);
  sealed.file_ = std::move(file);
  sealed.compare();
  return sealed;
}

void Sealed::compare() {
  const auto& seal = *identity_.seal;
  const std::uint64_t salt = salt_of(file_);
  compare_state();
  if (counted(file_) != seal.keys_added) add_damage(format::kLivePageOffset + 64, 2048);
  const Span checksums = Span(file_).subspan(seal.checksums_offset, seal.num_chunks * 8);
  for (std::uint64_t at = 0; at < identity_.body_bytes; at += kChunk) {
    const Span chunk = Span(file_).subspan(identity_.body_offset + at, std::min(kChunk, identity_.body_bytes - at));
    const std::uint64_t number = at / kChunk;
    const bool whole = bfstore::hash::xxh3(chunk.data(), chunk.size(), salt + number) ==
                       bfstore::base::load<std::uint64_t>(checksums.data() + number * 8);
    chunk_is_damaged_.push_back(!whole);
    if (!whole) add_damage(identity_.body_offset + at, chunk.size());
  }
  if (bfstore::hash::xxh3(checksums.data(), checksums.size(), salt) != seal.checksum) {
    add_damage(seal.checksums_offset, checksums.size());
  }
}

// Checks that a sealed file is clean and has every key. Another process may have said that it replaces the file.
void Sealed::compare_state() {
  const auto file_id = identity_.file_id;
  const Span all(file_);
  const format::SlotPair slots = format::decode_slots(all.subspan(format::kSlotOffset, format::kPageBytes),
                                                      all.subspan(2 * format::kPageBytes, format::kPageBytes), file_id);
  if (!slots.clean() || slots.newest()->filling) add_damage(format::kSlotOffset, 2 * format::kPageBytes);
  constexpr std::uint64_t kAllowed = format::LiveWord::kGone;
  const auto word = format::get<std::uint64_t>(all.subspan(format::kLivePageOffset), format::kLiveWordField);
  if ((word & ~kAllowed) != format::LiveWord::healthy(file_id).bits) add_damage(format::kLivePageOffset, 8);
  const auto epoch = format::get<std::uint64_t>(all.subspan(format::kLivePageOffset), format::kLiveEpochField) / 2;
  const bool differs = epochs_of(identity_.layout) != 0 && slots.newest() != nullptr && epoch != slots.newest()->epoch;
  if (differs) add_damage(format::kLivePageOffset + format::kLiveEpochField.offset, 8);
}

bool Sealed::replaced() const noexcept {
  const Span live_page = Span(file_).subspan(format::kLivePageOffset);
  const auto word = format::get<std::uint64_t>(live_page, format::kLiveWordField);
  const bool ends = writing_code() != BFS_EFEATURE;  // an opening ends the state that a killed process left
  return (word & (ends ? format::LiveWord::kReplaced : format::LiveWord::kGone)) != 0;
}

void Sealed::add_damage(std::uint64_t offset, std::uint64_t bytes) {
  if (!damaged_.empty() && damaged_.back().offset + damaged_.back().bytes == offset) {
    damaged_.back().bytes += bytes;
  } else {
    damaged_.push_back({offset, bytes});
  }
}

bool Sealed::bit(std::uint64_t number, bool tolerated) const {
  const std::uint64_t byte = number / 8;
  if (tolerated && chunk_is_damaged_[byte / kChunk]) return true;
  return (std::to_integer<unsigned>(file_[identity_.body_offset + byte]) >> number % 8 & 1U) != 0;
}

// Returns whether a counter is not 0, which is all that a lookup needs. A counter has four bits, the lower half of a
// byte first.
bool Sealed::counter(std::uint64_t number, bool tolerated) const {
  constexpr std::uint64_t kBits = 4;
  bool any = false;
  for (std::uint64_t i = 0; i < kBits; ++i) any = any || bit(number * kBits + i, tolerated);
  return any;
}

bool Sealed::filling() const noexcept {
  const Span live_page = Span(file_).subspan(format::kLivePageOffset);
  return (format::get<std::uint64_t>(live_page, format::kLiveWordField) & format::LiveWord::kFilling) != 0;
}

// Each line has a word for each epoch, and any of them may have the key.
bool Sealed::any_epoch_has(std::uint64_t digest, unsigned epochs, bool tolerated) const {
  constexpr std::uint64_t kLine = 512;
  const auto line = static_cast<std::uint64_t>(Wide{digest} * (identity_.num_bits / kLine) >> 64);
  bool any = false;
  for (unsigned word = 0; word < epochs; ++word) {
    bool all = true;
    auto h = static_cast<std::uint32_t>(digest);
    for (unsigned i = 0; i < identity_.num_probes; ++i) {
      h *= 0x9e3779b9U;
      const std::uint64_t in_word = h * (kLine / epochs) >> 32;
      all = all && bit(kLine * line + kLine / epochs * word + in_word, tolerated);
    }
    any = any || all;
  }
  return any;
}

namespace {

// The places of a static filter (FORMAT.md, "4, static"), in bytes and slots. No layers: every answer is "maybe".
struct Ribbon {
  std::uint64_t shards = 1, bytes = 0, first_granule = 0, columns = 0;
  std::array<std::uint64_t, 3> slots{};

  Ribbon(std::uint64_t body_bytes, std::uint64_t k) : columns(k) {
    constexpr std::uint64_t kMostBytes = 2097152;
    while (body_bytes / shards > kMostBytes) shards *= 2;
    const std::uint64_t unit = shards == 1 ? 64 : 4096;
    bytes = body_bytes / shards / unit * unit;
    if (k > 32 || bytes < 208) return;
    const std::uint64_t all = 32 * ((bytes - 208) * 8) / (32 * k + 1) / 64 * 64;
    std::uint64_t root = 0;
    while ((root + 1) * (root + 1) <= all) ++root;
    const std::uint64_t second = up(all * 53 / 1024 + root, 64);
    const std::uint64_t third = up(all / 256 + root / 2 + 32, 64);
    if (second + third + 64 > all) return;
    slots = {all - second - third, second, third};
    first_granule = 64 + up((slots[0] + slots[1]) / 64 * 2, 128) / 8;
  }
};

std::uint64_t folded(std::uint64_t x) noexcept { return x ^ x >> 32; }

}  // namespace

bool Sealed::static_has(std::uint64_t digest, bool tolerated) const {
  const Ribbon ribbon(identity_.body_bytes, identity_.num_probes);
  if (ribbon.slots[0] == 0) return true;
  const auto number = static_cast<std::uint64_t>(Wide{digest} * ribbon.shards >> 64);
  const std::uint64_t begin = number * ribbon.bytes;
  for (std::uint64_t chunk = begin / kChunk; tolerated && chunk * kChunk < begin + ribbon.bytes; ++chunk) {
    if (chunk_is_damaged_[chunk]) return true;
  }
  const std::byte* const shard = file_.data() + identity_.body_offset + begin;
  const auto seed = bfstore::base::load<std::uint64_t>(shard);
  if (seed == UINT64_MAX) return true;
  const std::uint64_t a = folded(folded((digest ^ seed) * 0x9e3779b97f4a7c15U) * 0xd6e8feb86659fd93U);
  const std::uint64_t e = folded(a * 0xa0761d6478bd642fU);
  const std::array<std::uint64_t, 3> words{a >> 32, a & 0xffffffffU, a >> 16 & 0xffffffffU};
  constexpr std::array<std::uint64_t, 4> kThresholds{0, 12, 28, 64};
  std::uint64_t buckets_before = 0, slots_before = 0;
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const std::uint64_t start = words[layer] * (ribbon.slots[layer] - 31) >> 32;
    const std::uint64_t bucket = buckets_before + start / 64;
    const auto four = std::to_integer<unsigned>(shard[64 + bucket / 4]);
    if (layer < 2 && start % 64 < kThresholds[four >> bucket % 4 * 2 & 3U]) {
      buckets_before += ribbon.slots[layer] / 64;
      slots_before += ribbon.slots[layer];
      continue;
    }
    for (std::uint64_t column = 0; column < ribbon.columns; ++column) {
      unsigned sum = 0;
      for (std::uint64_t i = 0; i < 32; ++i) {
        if (((e >> 32 | 1) >> i & 1) == 0) continue;
        const std::uint64_t slot = slots_before + start + i;
        const std::uint64_t at = ribbon.first_granule + (slot / 16 * ribbon.columns + column) * 2 + slot % 16 / 8;
        sum ^= std::to_integer<unsigned>(shard[at]) >> slot % 8 & 1U;
      }
      if (sum != (e >> column & 1)) return false;
    }
    return true;
  }
  return true;
}

bool Sealed::may_have(std::uint64_t digest, bool tolerated) const {
  if (filling()) return true;
  if (identity_.layout == BFS_LAYOUT_STATIC) return static_has(digest, tolerated);
  if (const unsigned epochs = epochs_of(identity_.layout); epochs != 0) return any_epoch_has(digest, epochs, tolerated);
  const std::uint64_t m = identity_.num_bits;
  bool all = true;
  if (identity_.layout != BFS_LAYOUT_CLASSIC) {
    const bool counts = identity_.layout == BFS_LAYOUT_COUNTING;
    const std::uint64_t cells = counts ? 128 : 512;  // in a line
    const Wide product = Wide{digest} * (m / cells);
    const auto line = static_cast<std::uint64_t>(product >> 64);
    auto h = static_cast<std::uint32_t>(digest);
    for (unsigned i = 0; i < identity_.num_probes; ++i) {
      h *= 0x9e3779b9U;
      all = all && (counts ? counter(cells * line + (h >> 25), tolerated) : bit(cells * line + (h >> 23), tolerated));
    }
    return all;
  }
  std::uint64_t x = digest | 1;
  for (unsigned i = 0; i < identity_.num_probes; ++i, x *= 0xf1357aea2e62a9c5U) {
    all = all && bit(static_cast<std::uint64_t>(Wide{x} * m >> 64), tolerated);
  }
  return all;
}

}  // namespace fuzz

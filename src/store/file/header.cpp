#include "store/file/header.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "format/manifest.hpp"
#include "format/sections.hpp"
#include "layout/layout.hpp"
#include "store/file/secret.hpp"

namespace bfstore::store {

Result<region::File> open_for_reading(const std::string& path, const OpenOptions& options) {
  using region::File;
  if (options.descriptor) return File::of_descriptor(*options.descriptor, path);
  return File::open(path, File::Access::kRead, options.no_follow ? File::Links::kRefuse : File::Links::kFollow);
}

std::string name_of(int descriptor) { return "descriptor " + std::to_string(descriptor); }

Result<HeaderBytes> read_header(const region::File& file) {
  HeaderBytes header(format::kFileHeaderBytes);
  if (const auto got = file.read_at(header, 0); !got) return got.error();
  return header;
}

std::span<const std::byte> header_there(const HeaderBytes& header, const region::FileFacts& facts) noexcept {
  return std::span<const std::byte>(header).first(std::min<std::uint64_t>(facts.bytes, header.size()));
}

std::string set_words(const region::File& file, const region::FileFacts& facts, std::span<const std::byte> there) {
  const std::string_view text(reinterpret_cast<const char*>(there.data()), there.size());
  if (!format::begins_manifest(text)) return "";
  return format::one_file_words(text, there.size() == facts.bytes, file.path());
}

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept {
  const std::span<const std::byte> bytes(header);
  return format::decode_slots(bytes.subspan(format::kSlotOffset, format::kPageBytes),
                              bytes.subspan(format::kSlotOffset + format::kPageBytes, format::kPageBytes), file_id);
}

format::LiveWord live_word_of(const HeaderBytes& header) noexcept {
  return {base::load<std::uint64_t>(header.data() + format::kLivePageOffset)};
}

bool syncing_in(const HeaderBytes& header) noexcept {
  constexpr std::size_t kSyncing = format::kLivePageOffset + format::kSyncingField.offset;
  return base::load<std::uint64_t>(header.data() + kSyncing) != 0;
}

format::LiveEpoch epoch_in(const HeaderBytes& header) noexcept {
  return {base::load<std::uint64_t>(header.data() + format::kLivePageOffset + format::kLiveEpochField.offset)};
}

namespace {

const layout::Row* row_in(const HeaderBytes& header) noexcept {
  return layout::find(format::get<std::uint16_t>(header, format::kLayoutField));
}

}  // namespace

bool keys_expire(const HeaderBytes& header) noexcept {
  const layout::Row* const row = row_in(header);
  return row != nullptr && row->info.epochs != 0;
}

bool grows(const HeaderBytes& header) noexcept {
  const layout::Row* const row = row_in(header);
  return row != nullptr && row->info.can.grow;
}

std::uint64_t num_slices_in(const HeaderBytes& header) noexcept {
  return base::load<std::uint64_t>(header.data() + format::kLivePageOffset + format::kLiveNumSlicesField.offset);
}

Error own_live_page(const region::File& file) {
  return file.own_blocks({{format::kLivePageOffset, format::kPageBytes}});
}

Result<std::uint32_t> num_slices_of(const region::File& file, const format::Identity& identity) {
  if (!identity.growth) return 1U;
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  const auto got = file.read_at(word, format::kLivePageOffset + format::kLiveNumSlicesField.offset);
  if (!got) return got.error();
  const auto number = base::load<std::uint64_t>(word.data());
  return number <= format::most_slices(identity) ? static_cast<std::uint32_t>(number) : 0U;
}

Result<bool> has_end_word(const region::File& file, const format::Identity& identity, std::uint32_t num_slices) {
  if (num_slices == 0) return false;
  if (num_slices > 1) {  // lookups compare that of the first slice, too
    const auto first = has_end_word(file, identity, 1);
    if (!first.ok() || !*first) return first;
  }
  std::array<std::byte, format::kEndWordBytes> word{};
  const auto got = file.read_at(word, format::sections_of(identity, num_slices).end_word.offset);
  if (!got) return got.error();
  return base::load<std::uint64_t>(word.data()) == format::end_word(identity.file_id, num_slices - 1);
}

Result<bool> has_end_word(const region::File& file, const format::Identity& identity) {
  const auto num_slices = num_slices_of(file, identity);
  return num_slices.ok() ? has_end_word(file, identity, *num_slices) : Result<bool>(num_slices.error());
}

Result<CheckedHeader> checked_header(const region::File& file, const Reading& reading) {
  const auto facts = file.facts();
  if (!facts) return facts.error();
  if (!facts->regular)
    return base::fail(Code::kNotRegular, file.path() + ": not a regular file. Give the path of a filter file.");
  auto header = read_header(file);
  if (!header) return header.error();
  const std::span<const std::byte> there = header_there(*header, *facts);
  const std::string where = file.path() + ": ";
  auto identity =
      reading.without_secret
          ? sound_identity(there, format::Form::kFile, facts->bytes, reading.writing, where)
          : trusted_identity(there, format::Form::kFile, facts->bytes, reading.writing, reading.secret, where);
  if (!identity) {
    const std::string words = set_words(file, *facts, there);
    return words.empty() ? identity.error() : base::fail(identity.error().code, where + words);
  }
  return CheckedHeader{std::move(*header), std::move(*identity)};
}

}  // namespace bfstore::store

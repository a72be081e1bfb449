#include "image.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "hash/hash.hpp"
#include "region/file.hpp"
#include "store/file/session.hpp"

namespace fuzz {
namespace {

namespace format = bfstore::format;

// Room for a body that begins at 2 MiB.
constexpr std::uint64_t kMostFileBytes = format::kBigBodyBytes + (std::uint64_t{64} << 10);
constexpr std::size_t kSlotInputBytes = format::kLanesField.offset + 2 * format::kLaneBytes;

void put_bytes(std::span<std::byte> header, std::size_t offset, Input bytes) {
  if (!bytes.empty()) std::memcpy(header.data() + offset, bytes.data(), bytes.size());
}

format::FileId file_id_of(std::span<const std::byte> header) {
  format::FileId file_id{};
  std::memcpy(file_id.data(), header.data() + format::kFileIdField.offset, file_id.size());
  return file_id;
}

void make_slot_right(std::span<std::byte> header, std::size_t offset, bool checksum, bool is_here, const Here& here) {
  const std::span<std::byte> slot = header.subspan(offset, format::kPageBytes);
  if (is_here) {
    std::memcpy(slot.data() + format::kBootIdField.offset, here.boot_id.data(), here.boot_id.size());
    format::put(slot, format::kDeviceField, here.device);
    format::put(slot, format::kInodeField, here.inode);
    format::put(slot, format::kInodeMarkField, here.inode_mark);
    format::put(slot, format::kMountField, here.mount);
  }
  if (!checksum) return;
  format::put(slot, format::kSlotChecksumField,
              bfstore::hash::xxh3(slot.data(), format::kSlotChecksumField.offset, format::id_hash(file_id_of(header))));
}

Image whole_file(Input input) {
  Image image;
  image.length = input.size();
  const auto* bytes = reinterpret_cast<const std::byte*>(input.data());
  image.header.assign(bytes, bytes + std::min(input.size(), format::kFileHeaderBytes));
  image.body_offset = image.header.size();
  image.body = input.subspan(image.header.size());
  return image;
}

Damage damage_from(Bytes& bytes) {
  const std::uint64_t low = bytes.u16();
  const std::uint64_t offset = low | std::uint64_t{bytes.u8()} << 16;
  return {offset, static_cast<std::byte>(bytes.u8())};
}

// Puts the end word where it belongs. Lengthens a file that ends with its body or its checksums, so that the word fits.
void put_end_word(Image& image, std::span<const std::byte> header) {
  const auto body_bytes = format::get<std::uint64_t>(header, format::kBodyBytesField);
  if (image.body_offset > kMostFileBytes || body_bytes > kMostFileBytes) return;
  const std::uint64_t body_end = image.body_offset + body_bytes;
  image.end_at = image.checksums.bytes.empty() ? (body_end + format::kPageBytes - 1) & ~(format::kPageBytes - 1)
                                               : image.checksums.offset + image.checksums.bytes.size();
  if (body_end > image.length || image.end_at + format::kEndWordBytes > kMostFileBytes) return;
  image.length = std::max(image.length, image.end_at + format::kEndWordBytes);
  image.end_word = format::end_word(file_id_of(header));
}

// Puts a seal, and makes the file long enough for its checksums.
void put_seal_and_length(Image& image) {
  image.checksums = put_seal(image.header, image.body);
  const std::uint64_t end = image.checksums.offset + image.checksums.bytes.size();
  image.length = std::min(std::max(image.length, end), kMostFileBytes);
}

bool used_up(std::span<const std::byte> header) {
  constexpr std::uint64_t kSlotsOfARun = 100;
  for (const std::size_t offset : {format::kSlotOffset, format::kSlotOffset + format::kPageBytes}) {
    if (header.size() < offset + format::kPageBytes) continue;
    const auto sequence = format::get<std::uint64_t>(header.subspan(offset), format::kSequenceField);
    if (sequence >= UINT64_MAX - kSlotsOfARun) return true;
  }
  return false;
}

}  // namespace

void put_right_canary(std::span<std::byte> record) {
  const bfstore::hash::Row* row = bfstore::hash::find(format::get<std::uint16_t>(record, format::kHashField));
  if (row == nullptr) return;
  const bfstore::hash::ProbeNumbers numbers{format::get<std::uint64_t>(record, format::kNumBitsField),
                                            format::get<std::uint32_t>(record, format::kNumProbesField)};
  if (row->info.gives_positions) {
    const bool possible = numbers.num_bits >= 1 && numbers.num_probes >= 1 && numbers.num_probes <= bfstore::kMaxProbes;
    if (!possible || row->info.takes_seeds || !row->reaches(numbers.num_bits, numbers.num_probes)) return;
  }
  const auto seed = format::get<std::uint64_t>(record, format::kSeedField);
  format::put(record, format::kCanaryField, bfstore::hash::canary(row->info.hash, seed, numbers));
}

void make_right(std::span<std::byte> header, std::uint8_t what, const Here& here) {
  const auto wanted = [what](std::uint8_t bit) { return (what & bit) != 0; };
  if (wanted(kRightCanary)) put_right_canary(header);
  if (wanted(kRightIdentity)) {
    constexpr std::size_t kCovered = format::kPageBytes - format::kChecksumBytes;
    bfstore::base::store(header.data() + kCovered, bfstore::hash::xxh3(header.data(), kCovered, 0));
  }
  make_slot_right(header, format::kSlotOffset, wanted(kRightSlotA), wanted(kHereSlotA), here);
  make_slot_right(header, format::kSlotOffset + format::kPageBytes, wanted(kRightSlotB), wanted(kHereSlotB), here);
  if (!wanted(kRightLiveWord)) return;
  const std::span<std::byte> live = header.subspan(format::kLivePageOffset);
  const auto states = format::get<std::uint64_t>(live, format::kLiveWordField) & format::LiveWord::kStates;
  format::put(live, format::kLiveWordField, format::LiveWord::healthy(file_id_of(header)).bits | states);
  format::put(live, format::kSyncingField, format::get<std::uint64_t>(live, format::kSyncingField) & 1);
}

Image decode(Input input, const Here& here) {
  if (!input.empty() && (input[0] & kWholeFile) != 0) return whole_file(input);
  Bytes bytes(input);
  Image image;
  const std::uint8_t right = bytes.u8();
  image.calls = bytes.u16();
  const std::uint8_t more = bytes.u8();
  image.length = bytes.u32() % kMostFileBytes;
  image.header.resize(format::kFileHeaderBytes);
  const std::span<std::byte> header(image.header);
  put_bytes(header, 0, bytes.take(format::kRecordsOffset));
  for (std::size_t slot = 0; slot < 2; ++slot) {
    put_bytes(header, format::kSlotOffset + slot * format::kPageBytes, bytes.take(kSlotInputBytes));
  }
  put_bytes(header, format::kLivePageOffset, bytes.take(16));
  format::put(header.subspan(format::kLivePageOffset), format::kLiveNumSlicesField, std::uint64_t{1});
  put_bytes(header, format::kRecordsOffset, bytes.take(bytes.u8()));
  for (unsigned left = bytes.u8(); left > 0 && !bytes.empty(); --left) {
    const std::size_t offset = bytes.u16() % format::kFileHeaderBytes;
    header[offset] = static_cast<std::byte>(bytes.u8());
  }
  for (unsigned left = (more & kDamages) / 4; left > 0; --left) image.damage.push_back(damage_from(bytes));
  image.body = bytes.take(SIZE_MAX);
  if ((more & kRightSecretCheck) != 0) put_secret_check(header);
  if ((more & kSealed) != 0) put_seal_and_length(image);
  make_right(header, right, here);
  image.header.resize(std::min<std::uint64_t>(image.header.size(), image.length));
  image.body_offset = format::get<std::uint64_t>(header, format::kBodyOffsetField);
  if (image.body_offset >= image.length) image.body = {};
  image.body = image.body.first(std::min<std::uint64_t>(image.body.size(), image.length - image.body_offset));
  if (image.checksums.offset + image.checksums.bytes.size() > image.length) image.checksums = {};
  if ((right & kRightLiveWord) != 0) put_end_word(image, header);
  for (Damage& damage : image.damage) damage.offset += image.body_offset;
  return image;
}

ImageFile::ImageFile()
    : path_(scratch("image.bf")), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  check(descriptor_ >= 0, "a file of its own");
  const auto file = bfstore::region::File::open(path_, bfstore::region::File::Access::kRead);
  here_ = *bfstore::store::place_of(*file);
}

ImageFile::~ImageFile() { close(descriptor_); }

void ImageFile::write(const std::byte* bytes, std::uint64_t length, std::uint64_t offset) const {
  if (length == 0) return;
  const ssize_t written = pwrite(descriptor_, bytes, length, static_cast<off_t>(offset));
  check(written == static_cast<ssize_t>(length), "a file that can be written", written);
}

void ImageFile::damage(const Damage& damage) const {
  std::byte byte{};
  if (pread(descriptor_, &byte, 1, static_cast<off_t>(damage.offset)) != 1) return;  // after the file's end
  byte ^= damage.turned;
  write(&byte, 1, damage.offset);
}

Image ImageFile::put(Input input) {
  Image image = decode(input, here_);
  image.used_up = used_up(image.header);
  check(ftruncate(descriptor_, 0) == 0 && ftruncate(descriptor_, static_cast<off_t>(image.length)) == 0,
        "a file of that length");
  write(image.header.data(), image.header.size(), 0);
  write(reinterpret_cast<const std::byte*>(image.body.data()), image.body.size(), image.body_offset);
  write(image.checksums.bytes.data(), image.checksums.bytes.size(), image.checksums.offset);
  if (image.end_word) {
    std::array<std::byte, format::kEndWordBytes> word{};
    bfstore::base::store(word.data(), *image.end_word);
    write(word.data(), word.size(), image.end_at);
  }
  for (const Damage& one : image.damage) damage(one);
  return image;
}

}  // namespace fuzz

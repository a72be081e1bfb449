// libFuzzer's mutations of a filter in memory. Half of the time its canary, its checksum and its end word, or the bare
// form's check, are made right afterwards.
#include <algorithm>
#include <span>

#include "format/bare.hpp"
#include "format/identity.hpp"
#include "hash/hash.hpp"
#include "image.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

namespace format = bfstore::format;

void make_record_right(std::span<std::byte> bytes) {
  if (bytes.size() < format::kLeastEmbeddedHeader) return;
  const std::size_t length = format::get<std::uint32_t>(bytes, format::kHeaderBytesField);
  fuzz::put_right_canary(bytes);
  if (length < format::kLeastEmbeddedHeader || length > bytes.size()) return;
  const std::size_t covered = length - format::kChecksumBytes;
  bfstore::base::store(bytes.data() + covered, bfstore::hash::xxh3(bytes.data(), covered, 0));
  const auto body_offset = format::get<std::uint64_t>(bytes, format::kBodyOffsetField);
  const auto body_bytes = format::get<std::uint64_t>(bytes, format::kBodyBytesField);
  const std::uint64_t behind = bytes.size() - std::min<std::uint64_t>(bytes.size(), body_offset);
  if (behind < format::kEndWordBytes || body_bytes > behind - format::kEndWordBytes) return;
  format::FileId file_id{};
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()) + format::kFileIdField.offset, file_id.size(),
              file_id.begin());
  bfstore::base::store(bytes.data() + body_offset + body_bytes, format::end_word(file_id));
}

void make_trailer_right(std::span<std::byte> bytes) {
  if (bytes.size() < format::kTrailerBytes) return;
  const std::uint64_t body_bytes = bytes.size() - format::kTrailerBytes;
  const std::span<std::byte> trailer = bytes.subspan(body_bytes);
  const auto layout = format::get<std::uint8_t>(trailer, format::kTrailerLayoutField);
  const auto hash = format::get<std::uint8_t>(trailer, format::kTrailerHashField);
  bfstore::Shape shape;
  shape.layout = static_cast<bfstore::Layout>(layout);
  shape.hash = static_cast<bfstore::Hash>(hash == 1 ? 1 : 2);
  shape.num_probes = format::get<std::uint8_t>(trailer, format::kTrailerNumProbesField);
  const auto right = format::encode_trailer(shape, body_bytes);
  std::copy(right.begin(), right.end(), trailer.begin());
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned random) {
  constexpr unsigned kBare = 2;  // fuzz_open_memory.cpp
  const std::size_t mutated = LLVMFuzzerMutate(data, size, most);
  if (random % 2 == 0 || mutated < 2) return mutated;
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(data + 1), mutated - 1);
  if ((data[0] & kBare) != 0) {
    make_trailer_right(bytes);
  } else {
    make_record_right(bytes);
  }
  return mutated;
}

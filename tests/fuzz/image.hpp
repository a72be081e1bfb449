// A filter file as an input: the interesting parts of the four header pages, and the body, in a few hundred bytes, with
// zeros elsewhere. So the corpus stays small, and nearly every mutated byte matters. An input whose first byte has the
// highest bit, as the magic's has, is the file itself.
//
//   u8       what is made right (kRight...), after everything else was put in place
//   u16      which calls are made: the fuzzer's own
//   u8       what else is made of it (kSealed...)
//   u32      the file's length
//   128      the identity up to its parameter records
//   2 x 176  each slot up to its lanes, and the first two of these
//   16       the live page's first bytes
//   u8, ...  how many bytes of parameter records there are, and those
//   u8, ...  how many single bytes of the header are overwritten, and for each a u16 offset and the byte
//   u24, u8  for each byte that is damaged when all is right: its offset in the body, and the bits that are flipped
//   ...      the body
#pragma once

#include <optional>
#include <vector>

#include "format/state.hpp"
#include "sealed.hpp"
#include "support.hpp"

namespace fuzz {

inline constexpr std::uint8_t kRightIdentity = 1;  // its checksum
inline constexpr std::uint8_t kRightSlotA = 2;     // its checksum
inline constexpr std::uint8_t kRightSlotB = 4;
inline constexpr std::uint8_t kHereSlotA = 8;  // this boot, this file
inline constexpr std::uint8_t kHereSlotB = 16;
inline constexpr std::uint8_t kRightLiveWord = 32;  // the file's own, the state bits as they are; the end word, too
inline constexpr std::uint8_t kRightCanary = 64;
inline constexpr std::uint8_t kWholeFile = 128;
// The bits of the other byte. Its highest bits are not used.
inline constexpr std::uint8_t kSealed = 1;  // a seal, and the checksums of the body
inline constexpr std::uint8_t kRightSecretCheck =
    2;                                        // the secret check of a file with one is that of the fuzzers' secret
inline constexpr std::uint8_t kDamages = 12;  // how many bytes are damaged, in units of 4
inline constexpr std::uint8_t kRightChecksums = kRightIdentity | kRightSlotA | kRightSlotB;

struct Damage {
  std::uint64_t offset = 0;  // from the file's start
  std::byte turned{};        // its bits
};

struct Image {
  std::uint16_t calls = 0;
  bool used_up = false;  // hardly any state slot can be written after those that are there
  std::uint64_t length = 0;
  std::vector<std::byte> header;  // the file's first bytes
  std::uint64_t body_offset = 0;
  Input body;
  Checksums checksums;       // of a sealed one
  std::uint64_t end_at = 0;  // where the end word is made right
  std::optional<std::uint64_t> end_word;
  std::vector<Damage> damage;
};

// The place that a slot records for a file that became dirty here and now.
using Here = bfstore::format::Place;

// Makes right the canary of a record, unless its hash gives positions and no filter has its numbers, or its seeds are
// in a parameter.
void put_right_canary(std::span<std::byte> record);

// Corrects what `what` names in the four header pages.
void make_right(std::span<std::byte> header, std::uint8_t what, const Here& here);

Image decode(Input input, const Here& here);

// The one file that the fuzzers of files use, again and again.
class ImageFile {
 public:
  ImageFile();
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;
  ~ImageFile();
  // Makes the image the file's contents.
  Image put(Input input);
  [[nodiscard]] const char* path() const noexcept { return path_.c_str(); }

 private:
  void write(const std::byte* bytes, std::uint64_t length, std::uint64_t offset) const;
  void damage(const Damage& damage) const;
  std::string path_;
  int descriptor_;
  Here here_;
};

}  // namespace fuzz

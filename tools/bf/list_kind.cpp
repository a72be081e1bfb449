// See list_kind.hpp. The magic numbers are those of file(1) and of the formats' own descriptions (RFC 1952, RFC 8878,
// the .xz file format 1.2, the LZ4 frame format 1.6, tar(5)).
#include "list_kind.hpp"

#include "damaged.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bf {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kToUtf8 = "Convert it first: iconv -f UTF-16 -t UTF-8";
constexpr std::string_view kFromUtf32 = "Convert it first: iconv -f UTF-32 -t UTF-8";
constexpr std::string_view kFromGb18030 = "Convert it first: iconv -f GB18030 -t UTF-8";
constexpr std::string_view kLookAtIt = "Look at it: servers send such a page instead of a file that they do not have";
constexpr std::string_view kAFilterHasNone =
    "A filter does not give its keys back: give the list of which it was made. Filters are merged by bf merge";
constexpr std::string_view kGiveAnother = "Give the path of a list";
constexpr std::string_view kTakeOut = "Take the keys out of it first, one a line";

struct Magic {
  std::string_view bytes;
  ListKind kind;
};

// A longer magic comes before a shorter one that it begins with.
constexpr std::array kMagics{
    Magic{"\xEF\xBB\xBF"sv, {"text with a byte order mark", {}, {}, 3}},
    Magic{"\xFF\xFE\0\0"sv, {"text in UTF-32", {}, kFromUtf32}},
    Magic{"\0\0\xFE\xFF"sv, {"text in UTF-32", {}, kFromUtf32}},
    Magic{"\xFF\xFE"sv, {"text in UTF-16", {}, kToUtf8}},
    Magic{"\xFE\xFF"sv, {"text in UTF-16", {}, kToUtf8}},
    Magic{"\x84\x31\x95\x33"sv, {"text in GB18030", {}, kFromGb18030}},
    Magic{"\x1F\x8B"sv, {"compressed with gzip", "gzip", {}}},
    Magic{"\x1F\x9D"sv, {"compressed with compress", "gzip", {}}},
    Magic{"\xFD"
          "7zXZ\0"sv,
          {"compressed with xz", "xz", {}}},
    Magic{"\x28\xB5\x2F\xFD"sv, {"compressed with zstd", "zstd", {}}},
    Magic{"\x04\x22\x4D\x18"sv, {"compressed with lz4", "lz4", {}}},
    Magic{"LZIP\x01"sv, {"compressed with lzip", "lzip", {}, 0, "-dca"}},
    Magic{"\x89LZO\0\r\n\x1A\n"sv, {"compressed with lzop", "lzop", {}}},
    Magic{kFilterMagic, {"a bfstore filter", {}, kAFilterHasNone}},
    Magic{"\x89"
          "BFD\r\n\x1A\n"sv,
          {"a delta", {}, "bf apply makes the newer filter of it"}},
    Magic{"\x89PNG\r\n\x1A\n"sv, {"a PNG image", {}, kGiveAnother}},
    Magic{"\xFF\xD8\xFF"sv, {"a JPEG image", {}, kGiveAnother}},
    Magic{"\x7F"
          "ELF"sv,
          {"a program or a library (ELF)", {}, kGiveAnother}},
    Magic{"PK\x03\x04"sv, {"a zip archive", {}, kTakeOut}},
    Magic{"7z\xBC\xAF\x27\x1C"sv, {"a 7z archive", {}, kTakeOut}},
    Magic{"Rar!\x1A\x07"sv, {"a rar archive", {}, kTakeOut}},
    Magic{"SQLite format 3\0"sv, {"an SQLite database", {}, kTakeOut}},
    Magic{kSetBegin, {"a list of parts of a filter", {}, "Give the list of keys"}},
    Magic{"%PDF-"sv, {"a PDF document", {}, kTakeOut}},
    Magic{"PAR1\x15"sv, {"a Parquet file", {}, kTakeOut}},
    Magic{"Obj\x01"sv, {"an Avro file", {}, kTakeOut}},
    Magic{"ARROW1\0\0"sv, {"an Arrow file", {}, kTakeOut}},
    Magic{"\x93NUMPY"sv, {"a NumPy array", {}, kTakeOut}},
    Magic{"<!DOCTYPE html"sv, {"a page of HTML", {}, kLookAtIt}},
    Magic{"<!doctype html"sv, {"a page of HTML", {}, kLookAtIt}},
    Magic{"<html"sv, {"a page of HTML", {}, kLookAtIt}},
    Magic{"version https://git-lfs"sv, {"a pointer of Git LFS", {}, "Fetch the file itself first: git lfs pull"}},
    Magic{"-----BEGIN PGP MESSAGE"sv, {"encrypted with OpenPGP", {}, "Decrypt it first: gpg -d"}},
    Magic{"age-encryption.org/v1"sv, {"encrypted with age", {}, "Decrypt it first: age -d"}},
};

// bzip2 has a digit in its magic, and after it the first twelve digits of pi, or of the root of pi if the list is
// empty.
constexpr std::string_view kBzip2 = "BZh";
constexpr std::string_view kPi = "1AY&SY";
constexpr std::string_view kRoot = "\x17rE8P\x90";

bool is_level(char digit) { return digit >= '1' && digit <= '9'; }

bool is_bzip2(std::string_view head) {
  if (head.size() < kBzip2.size() + 1 + kPi.size() || !head.starts_with(kBzip2)) return false;
  const std::string_view after = head.substr(kBzip2.size() + 1);
  return is_level(head[kBzip2.size()]) && (after.starts_with(kPi) || after.starts_with(kRoot));
}

bool may_become_bzip2(std::string_view head) {
  if (head.size() <= kBzip2.size()) return kBzip2.starts_with(head);
  const std::string_view after = head.substr(kBzip2.size() + 1);
  return head.starts_with(kBzip2) && is_level(head[kBzip2.size()]) && after.size() < kPi.size() &&
         (kPi.starts_with(after) || kRoot.starts_with(after));
}

}  // namespace

std::optional<ListKind> kind_of(std::string_view head) {
  if (const char* const changed = tools::changed_filter(head); changed != nullptr)
    return ListKind{changed, {}, kAFilterHasNone};
  if (is_bzip2(head)) return ListKind{"compressed with bzip2", "bzip2", {}};
  if (tools::is_tar(head)) return ListKind{"a tar archive", {}, kTakeOut};
  const auto* const found =
      std::find_if(kMagics.begin(), kMagics.end(), [&](const Magic& magic) { return head.starts_with(magic.bytes); });
  return found == kMagics.end() ? std::nullopt : std::optional(found->kind);
}

// Of 65,536 files of digests one begins with two given bytes by chance, and of four billion one with four. The signs
// that are shorter are those of text, which looks otherwise too, and gzip's, whose next byte is that of its only
// method, and its flags have three bits that are 0 (RFC 1952).
std::optional<ListKind> sure_kind_of(std::string_view head) {
  constexpr std::size_t kSure = 4;
  constexpr std::string_view kGzip = "\x1F\x8B\x08"sv;
  constexpr unsigned kReserved = 0xE0;
  const auto kind = kind_of(head);
  if (!kind || is_bzip2(head) || tools::is_tar(head) || tools::changed_filter(head) != nullptr) return kind;
  if (head.size() > kGzip.size() && head.starts_with(kGzip))
    return (static_cast<unsigned char>(head[kGzip.size()]) & kReserved) == 0 ? kind : std::nullopt;
  const bool sure = std::any_of(kMagics.begin(), kMagics.end(), [&](const Magic& magic) {
    return magic.bytes.size() >= kSure && head.starts_with(magic.bytes);
  });
  return sure ? kind : std::nullopt;
}

bool looks_like_text(std::string_view head) {
  return !head.empty() && std::none_of(head.begin(), head.end(),
                                       [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t'; });
}

constexpr std::size_t kEnoughForChance = 256;

// Of random bytes a half is above 127, and an eighth are control characters, which no text has. Half the bytes of
// UTF-16 are zeros, and so are many of other binary formats.
bool look_like_digests(std::string_view head) {
  if (head.size() < kEnoughForChance) return false;
  std::size_t high = 0;
  std::size_t controls = 0;
  std::size_t nuls = 0;
  for (const char c : head) {
    if ((static_cast<unsigned char>(c) & 0x80U) != 0) ++high;
    if (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') ++controls;
    if (c == '\0') ++nuls;
  }
  const std::size_t all = head.size();
  return high > all * 3 / 8 && high < all * 5 / 8 && controls > all / 20 && controls < all / 5 && nuls < all / 32;
}

bool is_short_list_of_digests(std::string_view list) {
  return !list.empty() && list.size() < kEnoughForChance && list.size() % sizeof(std::uint64_t) == 0 &&
         list.back() != '\n' && !bfinspect::is_utf8(list);
}

std::string way_out_instead_of_filter(const ListKind& kind, const std::string& path, bool keys) {
  const bool is_text =
      kind.mark != 0 || kind.way_out == kToUtf8 || kind.way_out == kFromUtf32 || kind.way_out == kFromGb18030;
  const std::string as_list =
      keys ? "If it is a list of keys, the filter comes first, and then --from " + path + "." : "";
  if (!kind.program.empty())
    return as_list + (keys ? " " : "") + "If a filter is in it, give that: " + std::string(kind.program) + " " +
           std::string(kind.options) + " " + path + " > FILE.";
  if (is_text && keys) return as_list;
  if (is_text || kind.way_out == kGiveAnother) return "Give the path of a filter.";
  if (kind.way_out == kAFilterHasNone) return tools::kTransferAgain + std::string(".");
  if (kind.way_out == kTakeOut) return "If a filter is in it, take it out first.";
  return std::string(kind.way_out) + ".";
}

bool may_become_a_kind(std::string_view head) {
  if (may_become_bzip2(head)) return true;
  return std::any_of(kMagics.begin(), kMagics.end(), [&](const Magic& magic) {
    return head.size() < magic.bytes.size() && magic.bytes.starts_with(head);
  });
}

}  // namespace bf

// Recognizes, by its first bytes, a list of keys that is something other than lines of text.
#pragma once

#include "tar.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bf {

struct ListKind {
  std::string_view words;            // the kind: "compressed with gzip", "text in UTF-16"
  std::string_view program;          // writes its content to standard output; empty: no program does
  std::string_view way_out;          // a sentence, if no program does
  std::size_t mark = 0;              // text: bytes at the beginning that are not part of a key
  std::string_view options = "-dc";  // of the program
};

// The first bytes of the list of the parts of a set, and of every filter file (FORMAT.md).
inline constexpr std::string_view kSetBegin = "bfstore-set ";
inline constexpr std::string_view kFilterMagic =
    "\x89"
    "BFS\r\n\x1A\n";

// Enough bytes to recognize every kind: that of a tar archive is the last one.
inline constexpr std::size_t kHeadBytes = tools::kTarBytes;

// Returns nothing if it may be lines of text.
std::optional<ListKind> kind_of(std::string_view head);

// Returns the kind of bytes that should be digests and begin with a longer sign than random bytes may by chance.
std::optional<ListKind> sure_kind_of(std::string_view head);

// True if there are bytes, and none that no text has.
bool looks_like_text(std::string_view head);

// True for bytes that are as random as digests are (bf digest), and as nothing else is that a list of keys may be. A
// few bytes tell nothing.
bool look_like_digests(std::string_view head);
// The same for a whole list that is too short for that: a digest has 8 bytes, and the last line of a text ends.
bool is_short_list_of_digests(std::string_view list);

// What a user does who gave the path of such a file as that of a filter. `keys`: the command takes a list of keys, too.
std::string way_out_instead_of_filter(const ListKind& kind, const std::string& path, bool keys);

// True if more bytes may make `head` one of the kinds. Not asked of a tar archive: it may begin like a key that ends in
// NUL, and a slow program that writes such keys to a pipe would wait for an answer after each.
bool may_become_a_kind(std::string_view head);

}  // namespace bf

// What the first bytes of a list of keys say that it is, where it is something else than lines of text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace bf {

struct ListKind {
  std::string_view words;            // what it is: "compressed with gzip", "text in UTF-16"
  std::string_view program;          // that writes its content to standard output; empty: none does
  std::string_view way_out;          // a sentence, if no program does
  std::size_t mark = 0;              // of text: bytes at the beginning that are no part of a key
  std::string_view options = "-dc";  // of the program
};

// So many bytes are enough for every kind.
inline constexpr std::size_t kHeadBytes = 64;

// Nothing if it may be lines of text.
std::optional<ListKind> kind_of(std::string_view head);

// It begins as one of the kinds does, and more bytes are needed to say.
bool may_become_a_kind(std::string_view head);

}  // namespace bf

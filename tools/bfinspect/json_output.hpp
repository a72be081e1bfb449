// The facts as one JSON object, in ASCII alone, for programs.
//
// Every key is always there; null stands for what is unknown (and for what is no finite number). Text comes twice: as
// text, null where its bytes are not UTF-8, and as its exact bytes in hex (path and path_bytes, note and note_bytes,
// each opener's command and command_bytes). What is there for a person only, the text of problems, has such bytes as
// \xHH. Numbers that use all 64 bits, seed, owners, epochs and marks, are decimal strings. open_by lists those who are
// seen, null where nobody is but somebody may be there; open_by_complete says whether there can be others.
#pragma once

#include <string>

#include "facts.hpp"

namespace bfinspect {

// One line for each key, and a last LF.
std::string json_of(const Facts& facts);

// For a file that could not be read: the same keys, null, and what went wrong in `error`.
std::string json_of(const std::string& path, const bfstore::Error& error);

}  // namespace bfinspect

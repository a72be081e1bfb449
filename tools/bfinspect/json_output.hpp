// The facts as one JSON object, in ASCII only, for programs.
//
// Every key is always present. null means unknown (or a number that is not finite). Text comes twice: as text, null if
// its bytes are not UTF-8, and as its exact bytes in hex (path and path_bytes, note and note_bytes, each opener's
// command and command_bytes). The text of problems is for people only, and has such bytes as \xHH. Numbers that use all
// 64 bits, seed, owners, epochs and marks, are decimal strings. open_by lists the processes that were seen; it is null
// if none was seen but one may exist. open_by_complete says whether there can be others.
#pragma once

#include <string>

#include "facts.hpp"

namespace bfinspect {

// One line for each key, or all on one line, and a last LF. A fact that bf plan --json or a struct of the C ABI has,
// too, has the same name here.
std::string json_of(const Facts& facts, bool on_one_line = false);

// For a file that could not be read: the same keys with null, and the reason in `error`.
std::string json_of(const std::string& path, const bfstore::Error& error, bool on_one_line = false);

}  // namespace bfinspect

// The names of files with digests that bf digest has not added to their part yet. bf build refuses a part with such a
// file: it would lack keys.
#pragma once

#include <string>

namespace bf {

// A name is that of the part's file, this, and letters that a run of bf digest chooses.
inline constexpr const char* kUnfinished = ".unfinished-";

// Throws Failure if a run of bf digest has not added its digests to that file, and perhaps never will.
void refuse_unfinished(const std::string& part);

}  // namespace bf

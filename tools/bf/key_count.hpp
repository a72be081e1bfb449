// Counts the keys of a source.
#pragma once

#include "key_source.hpp"

#include <cstdint>

namespace bf {

// Returns the number of keys that a KeyReader would return: one for each separator, and a last one without. Reads the
// source to its end.
std::uint64_t count_keys(const KeySource& source);

}  // namespace bf

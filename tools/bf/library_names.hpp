// The library's messages in the words of bf's user.
#pragma once

#include <string>

namespace bf {

// Returns the message with options in the place of the library's names for what a caller gives: --bits for num_bits.
// The name of the file, with which it begins, stays as it is.
std::string with_names_of_options(const std::string& message, const std::string& file);

}  // namespace bf

// The style of the output, which depends on the terminal.
#pragma once

#include <cstddef>

namespace bfinspect {

struct Style {
  bool colour = false;
  bool utf8 = false;  // the locale's encoding is UTF-8: characters beyond ASCII can be shown
  std::size_t columns = 80;
  bool details = false;  // what only a person who looks for a bug reads
};

// True if the locale's encoding is UTF-8. Sets the locale for character types (LC_CTYPE) only.
bool locale_is_utf8();

// The style for standard output: color as tools::has_colour() says, and as wide as the terminal.
Style style_of_output();

}  // namespace bfinspect

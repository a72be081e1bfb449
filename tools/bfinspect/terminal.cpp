// See terminal.hpp.
#include "terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <string_view>

#include "colour.hpp"

namespace bfinspect {
bool locale_is_utf8() {
  return std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

Style style_of_output() {
  Style style;
  style.utf8 = locale_is_utf8();
  style.colour = tools::has_colour(STDOUT_FILENO);
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    constexpr std::size_t kLeast = 24;  // in narrower ones, the terminal breaks the lines
    constexpr std::size_t kMost = 100;  // longer lines are hard to read
    style.columns = std::clamp<std::size_t>(size.ws_col, kLeast, kMost);
  }
  return style;
}

}  // namespace bfinspect

// See terminal.hpp.
#include "terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string_view>

namespace bfinspect {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool locale_is_utf8() {
  return std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

Style style_of_output() {
  Style style;
  style.utf8 = locale_is_utf8();
  if (isatty(STDOUT_FILENO) == 0) return style;
  style.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb" && !environment("TERM").empty();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    constexpr std::size_t kLeast = 24;  // in narrower ones, the terminal breaks the lines
    constexpr std::size_t kMost = 100;  // longer lines are hard to read
    style.columns = std::clamp<std::size_t>(size.ws_col, kLeast, kMost);
  }
  return style;
}

}  // namespace bfinspect

// See colour.hpp.
#include "colour.hpp"

#include "failure.hpp"

#include <unistd.h>

#include <cstdlib>

namespace tools {
namespace {

enum class When { kAuto, kAlways, kNever };

When when = When::kAuto;  // set by the one thread that reads the arguments

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

std::string spelled(std::string word) {
  constexpr std::string_view kOther = "--colour";
  if (word == kOther || word.starts_with(std::string(kOther) + "=")) word.replace(0, kOther.size(), kColourOption);
  return word;
}

void take_colour(const std::string& option, const std::string& word) {
  if (word == "auto") {
    when = When::kAuto;
  } else if (word == "always") {
    when = When::kAlways;
  } else if (word == "never") {
    when = When::kNever;
  } else {
    throw Failure(option + ": '" + word + "' is not one of auto, always and never.");
  }
}

bool has_colour(int fd) {
  if (when != When::kAuto) return when == When::kAlways;
  const std::string_view terminal = environment("TERM");
  return environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb" && ::isatty(fd) == 1;
}

std::string inked(std::string_view text, Ink ink, bool colour) {
  if (!colour) return std::string(text);
  return "\x1b[" + std::to_string(static_cast<int>(ink)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace tools

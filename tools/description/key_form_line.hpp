// The line of a filter's note in which bf keeps the form of the filter's keys.
#pragma once

#include <optional>
#include <string_view>

namespace tools {

inline constexpr std::string_view kKeyFormLine = "key-form: ";

// What the last such line says; nothing if there is none.
constexpr std::optional<std::string_view> key_form_in(std::string_view note) {
  std::optional<std::string_view> found;
  while (!note.empty()) {
    const std::string_view line = note.substr(0, note.find('\n'));
    if (line.starts_with(kKeyFormLine)) found = line.substr(kKeyFormLine.size());
    note.remove_prefix(line.size() < note.size() ? line.size() + 1 : line.size());
  }
  return found;
}

}  // namespace tools

// See page.hpp.
#include "page.hpp"

#include <wchar.h>

#include <algorithm>
#include <cmath>

#include "text.hpp"

namespace bfinspect {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLabelColumns = 16;

const char* escape_sequence(Colour colour) {
  switch (colour) {
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kGood:
      return "\x1b[32m";
    case Colour::kWarning:
      return "\x1b[33m";
    case Colour::kBad:
      return "\x1b[1;31m";
    case Colour::kHeading:
      return "\x1b[1;36m";
    case Colour::kNone:
      break;
  }
  return "";
}

std::size_t columns_of(char32_t code_point) {
  const int columns = wcwidth(static_cast<wchar_t>(code_point));
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

// Returns the length of the beginning of `text` that fits, at least one code point.
std::size_t fitting_bytes(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const auto code_point = next_code_point(text, at);
    if (!code_point) ++at;
    used += code_point ? columns_of(*code_point) : 1;
    if (used > columns && from > 0) return from;
  }
  return text.size();
}

std::string repeated(std::string_view glyph, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += glyph;
  return out;
}

struct BarGlyphs {
  std::vector<std::string_view> parts;  // from slightly filled to full
  std::string_view empty;
  std::string_view tick;
};

BarGlyphs bar_glyphs(bool utf8) {
  if (utf8) return {{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}, "·", "│"};
  return {{"#"}, ".", "|"};
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto code_point = next_code_point(text, at);
    if (!code_point) ++at;
    columns += code_point ? columns_of(*code_point) : 1;
  }
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (columns_of(text) > columns) {
    const std::size_t most = fitting_bytes(text, columns);
    const std::size_t space = text.substr(0, most + 1).rfind(' ');  // a space right after the line counts
    const bool at_space = space != std::string_view::npos && space > 0;
    lines.emplace_back(text.substr(0, at_space ? space : most));
    text.remove_prefix(at_space ? space + 1 : most);
  }
  lines.emplace_back(text);
  return lines;
}

std::string Page::painted(std::string_view text, Colour colour) const {
  if (!style_.colour || colour == Colour::kNone || text.empty()) return std::string(text);
  return escape_sequence(colour) + std::string(text) + "\x1b[0m";
}

// `first_indent` comes before the first line. It is `indent` columns wide and has its colors already.
void Page::lines(std::string_view first_indent, std::size_t indent, std::string_view text, Colour colour) {
  const std::size_t columns = std::max<std::size_t>(style_.columns - std::min(indent, style_.columns), 8);
  bool first = true;
  for (const std::string& line : wrapped(text, columns)) {
    text_ += first ? std::string(first_indent) : std::string(indent, ' ');
    text_ += painted(line, colour) + '\n';
    first = false;
  }
}

void Page::title(std::string_view name, std::string_view state, Colour colour) {
  const std::string shown = (style_.utf8 ? "● " : "* ") + std::string(state);
  const std::size_t used = columns_of(name) + 2;
  if (used + columns_of(shown) <= style_.columns) {
    text_ += painted(name, Colour::kBold) + "  " + painted(shown, colour) + '\n';
    return;
  }
  lines("", 0, name, Colour::kBold);
  lines("  ", kIndent, shown, colour);
}

void Page::section(std::string_view name) {
  const std::string_view line = style_.utf8 ? "─" : "-";
  const std::size_t used = columns_of(name) + 2;
  const std::size_t rest = style_.columns > used ? style_.columns - used : 0;
  text_ += '\n' + painted(name, Colour::kHeading) + "  " + painted(repeated(line, rest), Colour::kDim) + '\n';
}

void Page::row(std::string_view label, std::string_view value, Colour colour) {
  constexpr std::size_t kLeastValueColumns = 20;
  const std::string before = std::string(kIndent, ' ') + painted(label, Colour::kDim);
  if (style_.columns < kIndent + kLabelColumns + kLeastValueColumns) {  // the value below its label
    text_ += before + '\n';
    lines(std::string(2 * kIndent, ' '), 2 * kIndent, value, colour);
    return;
  }
  const std::size_t gap = kLabelColumns - std::min(columns_of(label), kLabelColumns - 1);
  lines(before + std::string(gap, ' '), kIndent + kLabelColumns, value, colour);
}

void Page::paragraph(std::string_view text, Colour colour) { lines(std::string(kIndent, ' '), kIndent, text, colour); }

void Page::fill(double ratio, std::optional<double> at_capacity, bool overfull) {
  bar(ratio, at_capacity.value_or(-1), percent_text(ratio), overfull ? Colour::kBad : Colour::kGood);
  if (at_capacity)
    paragraph(std::string(style_.utf8 ? "│" : "|") + " " + percent_text(*at_capacity) + ": the fill at capacity",
              Colour::kDim);
}

void Page::bar(double ratio, double tick, std::string_view caption, Colour colour) {
  constexpr std::size_t kAround = kIndent + 3;  // brackets and a space
  const std::size_t used = kAround + columns_of(caption);
  const std::size_t cells = std::max<std::size_t>(style_.columns - std::min(used, style_.columns), 8);
  const BarGlyphs glyphs = bar_glyphs(style_.utf8);
  const std::size_t parts = glyphs.parts.size();
  const double width = static_cast<double>(cells * parts);
  const auto filled = static_cast<std::size_t>(std::llround(std::clamp(ratio, 0.0, 1.0) * width));
  const auto tick_cell = static_cast<std::size_t>(std::clamp(tick, 0.0, 1.0) * static_cast<double>(cells));
  text_ += std::string(kIndent, ' ') + '[';
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t there = std::min(filled - std::min(filled, cell * parts), parts);
    if (tick >= 0 && cell == std::min(tick_cell, cells - 1)) {
      text_ += painted(glyphs.tick, Colour::kWarning);
    } else {
      text_ += there == 0 ? painted(glyphs.empty, Colour::kDim) : painted(glyphs.parts[there - 1], colour);
    }
  }
  text_ += "] " + std::string(caption) + '\n';
}

}  // namespace bfinspect

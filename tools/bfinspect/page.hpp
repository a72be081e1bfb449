// Lays text out for a terminal: headings, rows of a label and a value, paragraphs, wrapped to the width. Its input must
// be safe to print (see escaped() in text.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sheet.hpp"
#include "terminal.hpp"

namespace bfinspect {

// The number of columns that a terminal needs for the text. In a UTF-8 locale wide and combining characters count
// correctly.
std::size_t columns_of(std::string_view text);

// Breaks the text into lines of at most `columns`, at spaces, or inside a word that is longer than a line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

class Page final : public Sheet {
 public:
  explicit Page(Style style) : style_(style) {}

  void title(std::string_view name, std::string_view state, Colour colour);
  void section(std::string_view name) override;
  void row(std::string_view label, std::string_view value, Colour colour = Colour::kNone) override;
  void paragraph(std::string_view text, Colour colour = Colour::kNone) override;
  void fill(double ratio, std::optional<double> at_capacity, bool overfull) override;
  [[nodiscard]] bool is_for_others() const override { return false; }
  [[nodiscard]] bool begins_with_advice() const override { return false; }
  [[nodiscard]] bool has_details() const override { return style_.details; }
  [[nodiscard]] bool ascii() const override { return !style_.utf8; }

  // A bar for a ratio from 0 to 1, with a tick at `tick` (none if it is negative), and `caption` after it.
  void bar(double ratio, double tick, std::string_view caption, Colour colour);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string painted(std::string_view text, Colour colour) const;
  void lines(std::string_view first_indent, std::size_t indent, std::string_view text, Colour colour);

  Style style_;
  std::string text_;
};

}  // namespace bfinspect

// Lays facts out for a browser, in HTML that needs no other file, no network and no script. All text is escaped here.
#pragma once

#include <string>
#include <string_view>

#include "sheet.hpp"

namespace bfinspect {

// Text as HTML shows it, also between quotes of an attribute.
std::string html_escaped(std::string_view text);

// "good", "warning" or "bad": a class of the page's style. Empty for other colors.
std::string_view html_class(Colour colour);

class HtmlPage final : public Sheet {
 public:
  void section(std::string_view name) override;
  void row(std::string_view label, std::string_view value, Colour colour = Colour::kNone) override;
  void paragraph(std::string_view text, Colour colour = Colour::kNone) override;
  void fill(double ratio, std::optional<double> at_capacity, bool overfull) override;
  [[nodiscard]] bool is_for_others() const override { return true; }
  [[nodiscard]] bool begins_with_advice() const override { return true; }
  [[nodiscard]] bool has_details() const override { return true; }
  [[nodiscard]] bool ascii() const override { return false; }

  // The sections so far, closed.
  std::string finished();

 private:
  void end_list();

  std::string text_;
  bool in_section_ = false;
  bool in_list_ = false;
};

}  // namespace bfinspect

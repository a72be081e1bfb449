// What shows facts to a person: a page for a terminal (page.hpp), or one for a browser (html_page.hpp). Its input must
// be safe to print (see escaped() in text.hpp).
#pragma once

#include <optional>
#include <string_view>

namespace bfinspect {

enum class Colour { kNone, kBold, kDim, kGood, kWarning, kBad, kHeading };

class Sheet {
 public:
  virtual void section(std::string_view name) = 0;
  virtual void row(std::string_view label, std::string_view value, Colour colour = Colour::kNone) = 0;
  virtual void paragraph(std::string_view text, Colour colour = Colour::kNone) = 0;

  // How full the filter is, and will be at its capacity, as ratios from 0 to 1.
  virtual void fill(double ratio, std::optional<double> at_capacity, bool overfull) = 0;

  // True if other people are expected to get it. It has nothing then that harms the filter in their hands.
  [[nodiscard]] virtual bool is_for_others() const = 0;

  // True if it says at its top what to do about the file.
  [[nodiscard]] virtual bool begins_with_advice() const = 0;

  // True if it shows what only a person who looks for a bug reads.
  [[nodiscard]] virtual bool has_details() const = 0;

  // True if it shows ASCII characters only.
  [[nodiscard]] virtual bool ascii() const = 0;

 protected:
  Sheet() = default;
  Sheet(const Sheet&) = default;
  Sheet& operator=(const Sheet&) = default;
  ~Sheet() = default;
};

}  // namespace bfinspect

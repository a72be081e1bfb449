// See html_page.hpp.
#include "html_page.hpp"

#include <algorithm>

#include "meanings.hpp"
#include "text.hpp"

namespace bfinspect {
namespace {

std::string class_attribute(Colour colour) {
  const std::string_view name = html_class(colour);
  return name.empty() ? std::string() : " class=\"" + std::string(name) + '"';
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string_view html_class(Colour colour) {
  switch (colour) {
    case Colour::kGood:
      return "good";
    case Colour::kWarning:
      return "warning";
    case Colour::kBad:
      return "bad";
    case Colour::kDim:
      return "dim";
    case Colour::kNone:
    case Colour::kBold:
    case Colour::kHeading:
      break;
  }
  return {};
}

void HtmlPage::end_list() {
  if (in_list_) text_ += "</dl>\n";
  in_list_ = false;
}

void HtmlPage::section(std::string_view name) {
  end_list();
  if (in_section_) text_ += "</section>\n";
  in_section_ = true;
  text_ += "<section>\n<h2>" + html_escaped(name) + "</h2>\n";
}

void HtmlPage::row(std::string_view label, std::string_view value, Colour colour) {
  if (!in_list_) text_ += "<dl>\n";
  in_list_ = true;
  text_ +=
      "<div><dt>" + html_escaped(label) + "</dt><dd" + class_attribute(colour) + ">" + html_escaped(value) + "</dd>";
  const std::string_view meaning = meaning_of(label);
  if (!meaning.empty()) text_ += "<dd class=\"meaning\">" + html_escaped(meaning) + "</dd>";
  text_ += "</div>\n";
}

void HtmlPage::paragraph(std::string_view text, Colour colour) {
  end_list();
  text_ += "<p" + class_attribute(colour) + ">" + html_escaped(text) + "</p>\n";
}

void HtmlPage::fill(double ratio, std::optional<double> at_capacity, bool overfull) {
  const auto width = [](double share) { return fixed_text(std::clamp(share, 0.0, 1.0) * 400, 1); };
  const std::string said = percent_text(ratio) + " set" +
                           (at_capacity ? ", and " + percent_text(*at_capacity) + " at capacity (the line)" : "");
  end_list();
  text_ += "<figure class=\"bar\"><svg viewBox=\"0 0 400 16\" preserveAspectRatio=\"none\" role=\"img\">\n<title>" +
           said + "</title>\n<rect class=\"frame\" width=\"400\" height=\"16\"/>\n<rect class=\"" +
           std::string(overfull ? "bad" : "bar") + "\" width=\"" + width(ratio) + "\" height=\"16\"/>\n";
  if (at_capacity) {
    for (const char* const kind : {"under", "limit"}) {  // "under", so that the line shows on a bar of any color
      text_ += std::string("<line class=\"") + kind + "\" x1=\"" + width(*at_capacity) + "\" x2=\"" +
               width(*at_capacity) + "\" y1=\"0\" y2=\"16\"/>\n";
    }
  }
  text_ += "</svg><figcaption>" + said + "</figcaption></figure>\n";
}

std::string HtmlPage::finished() {
  end_list();
  if (in_section_) text_ += "</section>\n";
  in_section_ = false;
  return text_;
}

}  // namespace bfinspect

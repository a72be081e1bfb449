// See html_charts.hpp.
#include "html_charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "html_page.hpp"
#include "rate_chart.hpp"
#include "stretches.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

// Small enough that its text can be read on a phone.
constexpr double kWidth = 420;
constexpr double kHeight = 240;
constexpr tools::Margins kMargins{.left = 58, .right = 12, .top = 24, .bottom = 44};
constexpr double kPlotBottom = kHeight - kMargins.bottom;
constexpr double kPlotRight = kWidth - kMargins.right;

std::string figure(const std::string& title, const std::string& said, const std::string& drawn, double height) {
  return "<figure>\n<svg viewBox=\"0 0 " + fixed_text(kWidth, 0) + " " + fixed_text(height, 0) +
         "\" role=\"img\">\n<title>" + html_escaped(title + ". " + said) + "</title>\n" + drawn +
         "</svg>\n<figcaption>" + html_escaped(said) + "</figcaption>\n</figure>\n";
}

std::string level(double y, const std::string& label) {
  return tools::svg_line(kMargins.left, y, kPlotRight, y, "class=\"grid\"") +
         tools::svg_text(kMargins.left - 6, y + 5, "end", label);
}

double height_of_share(double share) {
  return kMargins.top + (1 - std::clamp(share, 0.0, 1.0)) * (kPlotBottom - kMargins.top);
}

std::string rectangle(const char* kind, double x, double y, double width, double bottom = kPlotBottom) {
  return std::string("<rect class=\"") + kind + "\" x=\"" + tools::coordinate(x) + "\" y=\"" + tools::coordinate(y) +
         "\" width=\"" + tools::coordinate(width) + "\" height=\"" + tools::coordinate(bottom - y) + "\"/>\n";
}

// A sample of the color, and what it means, above the picture on the left.
std::string legend(const char* kind, double x, const std::string& meaning) {
  return rectangle(kind, x, kMargins.top - 18, 14, kMargins.top - 6) +
         tools::svg_text(x + 20, kMargins.top - 7, "start", meaning);
}

// Where a slice begins that is not the first one.
bool begins_slice(const Stretches& stretches, std::size_t i) {
  return i != 0 && stretches.all[i].slice != stretches.all[i - 1].slice;
}

// Behind a stretch that is much emptier than the others the picture has another color.
std::string bars(const Stretches& stretches) {
  const double step = (kPlotRight - kMargins.left) / static_cast<double>(stretches.all.size());
  std::string drawn;
  for (std::size_t i = 0; i < stretches.all.size(); ++i) {
    const double x = kMargins.left + step * static_cast<double>(i);
    if (std::binary_search(stretches.emptier.begin(), stretches.emptier.end(), i))
      drawn += rectangle("hole", x, kMargins.top, step);
    drawn += rectangle("bar", x, height_of_share(stretches.all[i].share()), std::max(step - 1, 0.5));
    if (begins_slice(stretches, i))
      drawn += tools::svg_line(x - 0.5, kMargins.top, x - 0.5, kPlotBottom, "class=\"grid\"");
  }
  return drawn;
}

const char* about_holes(const Facts& facts) {
  const Stretches& stretches = *facts.stretches;
  if (is_built_once(*facts.report.identity)) return ". The first and the last bytes of a shard have fewer ones.";
  if (!stretches.judged) return ". With the hash of this filter a stretch may be emptier than the others.";
  if (stretches.hole_would_show)
    return facts.report.growing
               ? ". Keys spread evenly in a slice, so a stretch of it that is much emptier than its others "
                 "may have lost its bits."
               : ". Keys spread evenly, so a stretch that is much emptier than the others may have lost its bits.";
  const bool some_are_empty =
      std::any_of(stretches.all.begin(), stretches.all.end(), [](const Stretch& stretch) { return stretch.set == 0; });
  if (some_are_empty) return ". So few bits are set that a stretch may be empty by chance.";
  return stretches.too_short ? ". The filter has so few bits that a hole in it would not stand out from chance."
                             : ". So few bits are set that a hole would not stand out from chance.";
}

std::string about_stretches(const Facts& facts) {
  const Stretches& stretches = *facts.stretches;
  const auto [emptiest, fullest] =
      std::minmax_element(stretches.all.begin(), stretches.all.end(),
                          [](const Stretch& one, const Stretch& other) { return one.share() < other.share(); });
  const double least = emptiest->share();
  const double most = fullest->share();
  const std::string range = least == most ? percent_text(least) + " is set everywhere"
                                          : "from " + percent_text(least) + " to " + percent_text(most) + " is set";
  const std::uint32_t slices = stretches.all.back().slice + 1;
  const std::string how =
      slices == 1 ? " equal stretches: "
                  : " stretches, with a line before each of its " + grouped(slices) + " slices but the first: ";
  return "The body in " + grouped(stretches.all.size()) + (stretches.all.size() == 1 ? " stretch: " : how) + range +
         (counts_keys_without_bits(facts.report) ? ". The bits of counted keys are not there." : about_holes(facts));
}

// The capacity that the picture is about. A filter without one is drawn around the keys that it has.
double capacity_shown(const Facts& facts) {
  const std::uint64_t capacity = body_of(facts.report).capacity;
  return capacity != 0 ? static_cast<double>(capacity) : std::max(facts.report.fill->estimated_keys, 1.0);
}

// The next number of two digits and zeros, which is a good end for an axis. Few keys are whole numbers.
double rounded_up(double keys) {
  const double unit = std::pow(10, std::max(std::floor(std::log10(keys)) - 1, 0.0));
  return std::ceil(keys / unit) * unit;
}

// Twice the capacity, or farther if the filter has more keys, or if each epoch with as many as the fullest one made
// more.
double most_keys_shown(const Facts& facts) {
  const bfstore::Report& report = facts.report;
  double keys = report.fill->estimated_keys;
  if (report.turning) {
    const auto first = report.fill->keys_of_epochs.begin();
    keys = *std::max_element(first, first + report.turning->epochs) * (report.turning->epochs - 1);
  }
  return rounded_up(std::max(capacity_shown(facts) * 2, std::isfinite(keys) ? keys * 1.2 : 0));
}

std::string power_label(int power) {
  if (power >= -4) return fixed_text(std::pow(10, power + 2), std::max(0, -power - 2)) + " %";
  std::string label = "10";  // and superscript digits
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  label += "⁻";
  for (const char digit : std::to_string(-power - 2)) label += kDigits[digit - '0'];
  return label + " %";
}

std::string grid(const tools::RateAxes& axes) {
  constexpr int kMostLevels = 6;
  const int step = (-axes.bottom + kMostLevels - 1) / kMostLevels;
  std::string drawn;
  for (int power = 0; power >= axes.bottom; power -= std::max(step, 1))
    drawn += level(axes.y(std::pow(10, power)), power_label(power));
  return drawn;
}

std::string key_labels(const tools::RateAxes& axes, double capacity) {
  const double y = kPlotBottom + 18;
  std::string drawn = tools::svg_text(kMargins.left, y, "middle", "0") +
                      tools::svg_text(kPlotRight, y, "end", about_text(axes.most_keys));
  // The last label is far away, since the capacity is in the left half. The first one may be near.
  constexpr double kHalfDigit = 4.5;
  constexpr double kApart = 12;
  const std::string label = about_text(capacity);
  const double middle = axes.x(capacity);
  const bool is_far = middle - kHalfDigit * static_cast<double>(label.size()) > kMargins.left + kApart;
  drawn += tools::svg_text(is_far ? middle : kMargins.left + kApart, y, is_far ? "middle" : "start", label);
  return drawn +
         tools::svg_text((kMargins.left + kPlotRight) / 2, kHeight - 6, "middle", "number of keys in the filter");
}

std::string promise(const tools::RateAxes& axes, const bfstore::Report& report) {
  const bfstore::ReportedIdentity& id = *report.identity;
  std::string drawn;
  if (id.capacity != 0) {
    const double x = axes.x(static_cast<double>(body_of(report).capacity));
    drawn += tools::svg_line(x, kMargins.top, x, kPlotBottom, "class=\"limit\"");
    drawn += tools::svg_text(x + 6, kPlotBottom - 8, "start", can_grow(report) ? "next slice" : "capacity",
                             "class=\"halo\"");
  }
  if (id.fpr > 0 && id.fpr < 1) {
    const double y = axes.y(id.fpr);
    drawn += tools::svg_line(kMargins.left, y, kPlotRight, y, "class=\"limit\"");
    drawn += tools::svg_text(kPlotRight - 4, y + 18, "end", "promised", "class=\"halo\"");
  }
  return drawn;
}

// The height of the curve at x, or that of its end.
double height_at(const tools::RateAxes& axes, const std::vector<tools::RatePoint>& curve, double x) {
  const auto next = std::find_if(curve.begin(), curve.end(), [&](const tools::RatePoint& point) {
    return axes.x(static_cast<double>(point.keys)) >= x;
  });
  return axes.y(next == curve.end() ? curve.back().fpr : next->fpr);
}

// The number of keys at which the curve has the rate of now. Keys that did not come evenly into the epochs of a window
// have a higher rate than the curve has for so many keys, and the point would not be on it.
double keys_on_curve(const std::vector<tools::RatePoint>& curve, const bfstore::Fill& fill) {
  const auto next = std::find_if(curve.begin(), curve.end(),
                                 [&](const tools::RatePoint& point) { return point.fpr >= fill.estimated_fpr; });
  if (next == curve.end()) return static_cast<double>(curve.back().keys);
  const auto keys = static_cast<double>(next->keys);
  if (next == curve.begin()) return std::min(keys, fill.estimated_keys);
  const auto before = std::prev(next);
  if (before->fpr <= 0) return keys;
  const double part = std::log(fill.estimated_fpr / before->fpr) / std::log(next->fpr / before->fpr);
  return static_cast<double>(before->keys) + part * (keys - static_cast<double>(before->keys));
}

constexpr double kLeastArrow = 24;

// For a rate that is below the picture.
std::string arrow(double x, double top) {
  constexpr double kHead = 4;
  const double tip = kPlotBottom - 1;
  return tools::svg_line(x, top, x, tip, "class=\"arrow\"") +
         tools::svg_line(x - kHead, tip - 2 * kHead, x, tip, "class=\"arrow\"") +
         tools::svg_line(x + kHead, tip - 2 * kHead, x, tip, "class=\"arrow\"");
}

std::string dot(double x, double y) {
  return "<circle class=\"here\" cx=\"" + tools::coordinate(x) + "\" cy=\"" + tools::coordinate(y) + "\" r=\"6\"/>\n";
}

bool is_below(const tools::RateAxes& axes, double rate) { return tools::height_of(rate, axes.bottom) < 0; }

// The label is on the upper left of the point, where the curve, which only rises, is not; with few keys it begins at
// the axis, above the curve. If the line of the promised rate would cross it, it is above that line.
std::string here(const tools::RateAxes& axes, const std::vector<tools::RatePoint>& curve, const bfstore::Fill& fill,
                 double keys, double promised) {
  const double x = axes.x(std::min(keys, axes.most_keys));
  const bool below = is_below(axes, fill.estimated_fpr);
  const double y = below ? kPlotBottom - kLeastArrow : axes.y(fill.estimated_fpr);
  constexpr double kLabelWidth = 100;
  constexpr double kLabelHeight = 14;
  constexpr double kBelowLabel = 5;  // the tail of a y
  const double left = std::max(kMargins.left + 4, x - 8 - kLabelWidth);
  const double right = left + kLabelWidth;
  const double lowest = (right > x ? std::min(y, height_at(axes, curve, right)) : y) - 10;
  const double line = axes.y(promised);
  const bool crosses = line > lowest - kLabelHeight && line < lowest + kBelowLabel;
  const double bottom = std::max(crosses ? line - kBelowLabel : lowest, 13.0);
  return (below ? arrow(x, bottom + kBelowLabel + 1) : dot(x, y)) +
         tools::svg_text(left, bottom, "start", "you are here", "class=\"halo strong\"");
}

std::string with_keys(const std::string& number) {
  return number + (number == "1" || number.ends_with(" 1") ? " key" : " keys");
}

std::string about_rate_now(const Facts& facts) {
  if (facts.lacks_bits())
    return "Bits may be missing, so the number of keys is unknown, and with it the place on the curve.";
  return "With " + with_keys(keys_now_text(facts.report)) + ", " + rate_text(facts.report.fill->estimated_fpr) +
         (answers_maybe_alone(facts.report)
              ? " of the absent keys will get \"maybe\" when not every answer is \"maybe\" any more."
              : " of the absent keys get \"maybe\".");
}

std::string about_promise(const bfstore::Report& report) {
  const bfstore::ReportedIdentity& id = *report.identity;
  if (id.capacity == 0) return {};
  const std::uint64_t keys = report.growing ? report.growing->at_most.capacity : id.capacity;
  return " The filter promises at most " + rate_text(id.fpr) + " with " +
         with_keys(about_text(static_cast<double>(keys))) +
         (can_grow(report) ? ", when it has all " + std::to_string(report.growing->most_slices) + " slices." : ".");
}

// "1 place has changed since the file was sealed: 64.0 KiB (65,536 bytes) in all. ..."
std::string about_damage(const std::vector<bfstore::DamagedRange>& damaged) {
  std::uint64_t bytes = 0;
  for (const bfstore::DamagedRange& range : damaged) bytes += range.bytes;
  return grouped(damaged.size()) + (damaged.size() == 1 ? " place has" : " places have") +
         " changed since the file was sealed: " + bytes_text(bytes) +
         " in all. A checksum covers 64 KiB, so the place of a changed byte is not known more exactly.";
}

bool can_be_drawn(const Facts& facts) {
  const bool one = !facts.foreign || !facts.foreign->has_several_filters();
  return one && facts.report.valid() && facts.report.identity && facts.report.fill;
}

}  // namespace

std::string damage_chart(const Facts& facts) {
  if (!facts.verification || facts.verification->damaged.empty()) return {};
  constexpr double kLeft = kMargins.right;
  constexpr double kBottom = kMargins.top + 40;
  constexpr double kLeastWidth = 2;  // that can be seen
  const double scale = (kPlotRight - kLeft) / static_cast<double>(std::max<std::uint64_t>(facts.report.file_bytes, 1));
  std::string drawn =
      legend("bad", kLeft, "changed") + rectangle("frame", kLeft, kMargins.top, kPlotRight - kLeft, kBottom);
  for (const bfstore::DamagedRange& range : facts.verification->damaged) {
    const double width = std::max(static_cast<double>(range.bytes) * scale, kLeastWidth);
    const double x = kLeft + static_cast<double>(range.offset) * scale;
    drawn += rectangle("bad", std::min(x, kPlotRight - width), kMargins.top, width, kBottom);
  }
  drawn += tools::svg_text(kLeft, kBottom + 18, "start", "start of the file");
  drawn += tools::svg_text(kPlotRight, kBottom + 18, "end", "end");
  return figure("Damage along the file", about_damage(facts.verification->damaged), drawn, kBottom + 26);
}

std::string fill_chart(const Facts& facts) {
  if (!facts.stretches || facts.stretches->all.empty()) return {};
  std::string drawn;
  if (!facts.stretches->emptier.empty()) drawn += legend("hole", kMargins.left, "bits may be missing");
  for (const double share : {0.0, 0.5, 1.0}) drawn += level(height_of_share(share), fixed_text(share * 100, 0) + " %");
  drawn += bars(*facts.stretches);
  if (const auto full = fill_at_capacity(facts.report)) {
    const double y = height_of_share(*full);
    drawn += tools::svg_line(kMargins.left, y, kPlotRight, y, "class=\"under\"");  // so that it shows on the bars
    drawn += tools::svg_line(kMargins.left, y, kPlotRight, y, "class=\"limit\"");
    // The name is above the bars, which may be higher than the line.
    const double above = kMargins.top - 12;
    drawn += tools::svg_line(kPlotRight - 124, above, kPlotRight - 92, above, "class=\"limit\"");
    drawn += tools::svg_text(kPlotRight, above + 5, "end", "at capacity");
  }
  drawn += tools::svg_text(kMargins.left, kPlotBottom + 18, "start", "start of the body");
  drawn += tools::svg_text(kPlotRight, kPlotBottom + 18, "end", "end");
  return figure("Fill along the file", about_stretches(facts), drawn, kPlotBottom + 26);
}

std::string rate_chart(const Facts& facts) {
  if (!can_be_drawn(facts)) return {};
  const bfstore::ReportedIdentity& id = *facts.report.identity;
  const bfstore::Fill& fill = *facts.report.fill;
  const double most = most_keys_shown(facts);
  const auto curve = tools::rate_curve(numbers_of(facts.report), most, facts.report.growing);
  const double least = id.fpr > 0 ? id.fpr : fill.estimated_fpr;
  const tools::RateAxes axes{kWidth, kHeight, kMargins, most, tools::bottom_of(std::min(least, 1.0))};
  // With few keys, as in many filters of other programs, all rates may be below the picture.
  const auto shown = std::count_if(curve.begin(), curve.end(),
                                   [&](const tools::RatePoint& point) { return !is_below(axes, point.fpr); });
  if (shown < 2) return {};
  const bool has_place = !facts.lacks_bits();
  const double keys = facts.report.turning ? keys_on_curve(curve, fill) : fill.estimated_keys;
  const std::string drawn = grid(axes) + promise(axes, facts.report) +
                            tools::svg_curve(axes, curve, "class=\"curve\"") + key_labels(axes, capacity_shown(facts)) +
                            (has_place ? here(axes, curve, fill, keys, id.fpr) : "");
  const bool below = has_place && is_below(axes, fill.estimated_fpr);
  return figure("False-positive rate as the filter fills",
                about_rate_now(facts) + about_promise(facts.report) +
                    (facts.report.turning ? " The curve is for keys that come evenly, just before a turn, and the "
                                            "point is where it has the rate of now."
                                          : "") +
                    (below ? " So low a rate is below the picture: the arrow points to it." : ""),
                drawn, kHeight);
}

}  // namespace bfinspect

// bf plan's picture: the rate of each layout as the filter fills.
#include "forecast.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bf {
namespace {

constexpr double kWidth = 820;
constexpr double kPlotHeight = 350;
constexpr double kLegendRow = 20;
constexpr double kNameLeft = 18;    // of the vertical axis
constexpr double kTitleBelow = 44;  // of the horizontal axis
constexpr double kBelowPlot = 70;   // the numbers of keys, and their title
// Colors that most people can tell apart (Okabe & Ito, 2008), on a white ground and on a dark one.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr std::array kDarkColours{"#56b4e9", "#e8702a", "#2fc18c", "#d995b8", "#e69f00", "#f0e442"};
static_assert(kColours.size() == kDarkColours.size());

// The legend is below the plot, where no curve is.
tools::RateAxes axes_of(const Forecasts& all) {
  const double below = kBelowPlot + kLegendRow * static_cast<double>(all.possible.size());
  const tools::Margins margins{.left = 100, .right = 24, .top = 40, .bottom = below};
  tools::RateAxes axes{kWidth, margins.top + kPlotHeight + below, margins, 1, bottom_of(all.possible)};
  for (const Forecast& one : all.possible)
    axes.most_keys = std::max(axes.most_keys, static_cast<double>(one.curve.back().keys));
  return axes;
}

// What the keys are of whose number the axis shows.
std::string axis_words(const Forecasts& all) {
  const bool expire = std::all_of(all.possible.begin(), all.possible.end(),
                                  [](const Forecast& one) { return one.plan.layout.can.expire; });
  return expire ? "keys of one window" : "keys";
}

// The distance of the ticks of an axis: 1, 2 or 5 times a power of 10, so that there are two to five of them.
double step_of(double most_keys) {
  const double least = std::max(1.0, most_keys / 5);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least) return times * power;
  }
  return 10 * power;
}

std::string grid(const tools::RateAxes& axes, const Forecasts& all) {
  const double right = axes.width - axes.margins.right;
  const double floor = axes.height - axes.margins.bottom;
  std::string text;
  for (int power = axes.bottom; power <= 0; ++power) {
    const double y = axes.y(std::pow(10, power));
    text += tools::svg_line(axes.margins.left, y, right, y, "class=\"grid\" stroke=\"#ddd\"");
    text += tools::svg_text(axes.margins.left - 8, y + 5, "end", power_words(power));
  }
  const double step = step_of(axes.most_keys);
  for (double keys = 0; keys <= axes.most_keys; keys += step) {
    text += tools::svg_line(axes.x(keys), floor, axes.x(keys), floor + 5, "class=\"tick\" stroke=\"#888\"");
    text += tools::svg_text(axes.x(keys), floor + 20, keys + step / 4 > axes.most_keys ? "end" : "middle",
                            axis_number(keys, axes.most_keys));
  }
  const double middle = (axes.margins.top + floor) / 2;
  const std::string upright =
      "transform=\"rotate(-90 " + tools::coordinate(kNameLeft) + " " + tools::coordinate(middle) + ")\"";
  return text + tools::svg_text((axes.margins.left + right) / 2, floor + kTitleBelow, "middle", axis_words(all)) +
         tools::svg_text(kNameLeft, middle, "middle", "false-positive rate", upright);
}

std::string summary(const bfstore::Plan& plan) {
  return std::string(plan.layout.name) + ": " + short_number(plan.fpr) + " at " + grouped(plan.capacity) +
         (plan.capacity == 1 ? " key, " : " keys, ") + short_number(plan.bits_per_key) + " bits per key, " +
         human_bytes(plan.file_bytes) + (plan.window_ms == 0 ? "" : ", epochs of " + rounded_time(plan.epoch_ms));
}

std::string colour_of(std::size_t number) { return kColours[number % kColours.size()]; }

std::string class_of(std::size_t number) { return "c" + std::to_string(number % kColours.size()); }

// The colors of a reader whose pages are dark. Rules of CSS come before the attributes of the elements.
std::string dark_form() {
  std::string text =
      "<style>@media (prefers-color-scheme: dark) { .back { background: #1b1f24; } .ground { fill: #1b1f24; } text { "
      "fill: #e6e6e6; } "
      ".grid { stroke: #3d444d; } .tick { stroke: #9aa4af; } .dash { stroke: #b6bec7; }";
  for (std::size_t number = 0; number < kDarkColours.size(); ++number)
    text += " ." + class_of(number) + " { stroke: " + kDarkColours[number] + "; }";
  return text + " }</style>\n";
}

// The name is in the color of all words, which is read more easily than those of the curves.
std::string legend_row(const tools::RateAxes& axes, const bfstore::Plan& plan, std::size_t number) {
  const double left = axes.margins.left;
  const double y = axes.height - axes.margins.bottom + kBelowPlot + kLegendRow * static_cast<double>(number);
  return tools::svg_line(left, y - 5, left + 24, y - 5,
                         "class=\"" + class_of(number) + "\" stroke-width=\"3\" stroke=\"" + colour_of(number) + "\"") +
         tools::svg_text(left + 32, y, "start", summary(plan));
}

std::string capacity_line(const tools::RateAxes& axes, std::uint64_t capacity, const std::string& colour,
                          const std::string& css) {
  const double full = axes.x(static_cast<double>(capacity));
  return tools::svg_line(full, axes.margins.top, full, axes.height - axes.margins.bottom,
                         "class=\"" + css + "\" stroke-dasharray=\"4 4\" stroke=\"" + colour + "\"");
}

// A line that all layouts have in common is no layout's color.
std::string capacity_lines(const tools::RateAxes& axes, const std::vector<Forecast>& all) {
  const std::uint64_t first = all.front().plan.capacity;
  if (std::all_of(all.begin(), all.end(), [first](const Forecast& one) { return one.plan.capacity == first; }))
    return capacity_line(axes, first, "#555", "dash");
  std::string text;
  for (std::size_t number = 0; number < all.size(); ++number)
    text += capacity_line(axes, all[number].plan.capacity, colour_of(number), class_of(number));
  return text;
}

// The rate that was asked for, which the curves cross where the filter is full.
std::string asked_line(const tools::RateAxes& axes, const Forecasts& all) {
  if (!all.asked_fpr || tools::height_of(*all.asked_fpr, axes.bottom) < 0) return "";
  const double y = axes.y(*all.asked_fpr);
  const double right = axes.width - axes.margins.right;
  return tools::svg_line(axes.margins.left, y, right, y, "class=\"dash\" stroke-dasharray=\"4 4\" stroke=\"#555\"") +
         tools::svg_text(right, y + 18, "end", "asked for: " + short_number(*all.asked_fpr));
}

// A filter that is built once has one rate with any number of keys that it has room for, and cannot be built of more.
std::vector<tools::RatePoint> with_steps(const std::vector<tools::RatePoint>& points) {
  std::vector<tools::RatePoint> stepped;
  for (const tools::RatePoint& point : points) {
    if (!stepped.empty() && stepped.back().fpr != point.fpr) stepped.push_back({stepped.back().keys, point.fpr});
    stepped.push_back(point);
  }
  return stepped;
}

std::string curve(const tools::RateAxes& axes, const Forecast& forecast, std::size_t number) {
  return tools::svg_curve(axes, forecast.plan.layout.can.build ? with_steps(forecast.curve) : forecast.curve,
                          "class=\"" + class_of(number) + "\" stroke=\"" + colour_of(number) + "\"") +
         legend_row(axes, forecast.plan, number);
}

constexpr const char* kTitle = "False-positive rate as a filter fills";

std::string described(const Forecasts& all) {
  std::string text;
  for (const Forecast& one : all.possible) text += summary(one.plan) + ". ";
  text.pop_back();
  return text;
}

// What no curve shows.
std::string left_out(const tools::RateAxes& axes, const Forecasts& all) {
  const bool some = std::any_of(all.possible.begin(), all.possible.end(), [&](const Forecast& one) {
    return tools::height_of(one.curve.front().fpr, axes.bottom) < 0;
  });
  if (!some) return "";
  return tools::svg_text(axes.width - axes.margins.right, axes.height - axes.margins.bottom + kTitleBelow, "end",
                         "rates below " + power_words(axes.bottom) + " are left out");
}

}  // namespace

int bottom_of(const std::vector<Forecast>& forecasts) {
  double least = 1;
  for (const Forecast& forecast : forecasts) least = std::min(least, forecast.plan.fpr);
  return tools::bottom_of(least);
}

std::string power_words(int power) {
  constexpr int kLongest = -6;
  if (power < kLongest) return short_number(std::pow(10, power));
  return power == 0 ? "1" : "0." + std::string(static_cast<std::size_t>(-power - 1), '0') + "1";
}

std::string axis_number(double number, double most) {
  constexpr double kLong = 1e9;  // from here on the numbers would touch each other
  if (most < kLong) return grouped(static_cast<std::uint64_t>(number));
  constexpr std::array kUnits{"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return short_number(number) + kUnits[unit];
}

std::string svg_text(const Forecasts& all) {
  const tools::RateAxes axes = axes_of(all);
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + tools::coordinate(axes.width) + " " +
                     tools::coordinate(axes.height) +
                     "\" class=\"back\" role=\"img\" font-family=\"sans-serif\" font-size=\"14\">\n<title>" + kTitle +
                     "</title>\n<desc>" + described(all) + "</desc>\n" + dark_form() +
                     "<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  text += tools::svg_text(
      axes.margins.left, 24, "start",
      std::string(kTitle) + (all.asked_fpr ? " (dashed: capacity, and the rate asked for)" : " (dashed: its capacity)"),
      "font-size=\"18\"");
  text += grid(axes, all) + left_out(axes, all) + capacity_lines(axes, all.possible) + asked_line(axes, all);
  for (std::size_t number = 0; number < all.possible.size(); ++number)
    text += curve(axes, all.possible[number], number);
  return text + "</svg>\n";
}

}  // namespace bf

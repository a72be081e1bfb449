// bf plan's picture: the rate of each layout as the filter fills.
#include "forecast.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bf {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 440;
// Colors that most people can tell apart (Okabe & Ito, 2008).
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

constexpr tools::Margins kMargins{.left = 70, .right = 20, .top = 40, .bottom = 50};

std::string grid(const tools::RateAxes& axes) {
  std::string text;
  for (int power = axes.bottom; power <= 0; ++power) {
    const double y = axes.y(std::pow(10, power));
    text += tools::svg_line(kMargins.left, y, kWidth - kMargins.right, y, "stroke=\"#ddd\"");
    text += tools::svg_text(kMargins.left - 8, y + 4, "end", short_number(std::pow(10, power)));
  }
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const double keys = axes.most_keys * quarter / 4;
    text += tools::svg_text(axes.x(keys), kHeight - kMargins.bottom + 20, quarter == 4 ? "end" : "middle",
                            grouped(static_cast<std::uint64_t>(keys)));
  }
  return text + tools::svg_text((kMargins.left + kWidth - kMargins.right) / 2, kHeight - 10, "middle", "keys");
}

std::string curve(const tools::RateAxes& axes, const Forecast& forecast, std::size_t number) {
  const std::string colour = kColours[number % kColours.size()];
  std::string text = tools::svg_curve(axes, forecast.curve, "stroke=\"" + colour + "\"");
  const bfstore::Plan& plan = forecast.plan;
  const double full = axes.x(static_cast<double>(plan.capacity));
  text += tools::svg_line(full, kMargins.top, full, kHeight - kMargins.bottom,
                          "stroke-dasharray=\"4 4\" stroke=\"" + colour + "\"");
  const double y = kHeight - kMargins.bottom - 14 - 18 * static_cast<double>(number);
  return text +
         tools::svg_text(kWidth - kMargins.right - 8, y, "end",
                         std::string(plan.layout.name) + ": " + short_number(plan.fpr) + " at " +
                             grouped(plan.capacity) + " keys, " + short_number(plan.bits_per_key) + " bits per key",
                         "fill=\"" + colour + "\"");
}

}  // namespace

int bottom_of(const std::vector<Forecast>& forecasts) {
  double least = 1;
  for (const Forecast& forecast : forecasts) least = std::min(least, forecast.plan.fpr);
  return tools::bottom_of(least);
}

std::string svg_text(const Forecasts& all) {
  tools::RateAxes axes{kWidth, kHeight, kMargins, 1, bottom_of(all.possible)};
  for (const Forecast& one : all.possible)
    axes.most_keys = std::max(axes.most_keys, static_cast<double>(one.curve.back().keys));
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + tools::coordinate(kWidth) + " " +
      tools::coordinate(kHeight) +
      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  text += tools::svg_text(kMargins.left, 24, "start", "False-positive rate as a filter fills", "font-size=\"16\"");
  text += grid(axes);
  for (std::size_t number = 0; number < all.possible.size(); ++number)
    text += curve(axes, all.possible[number], number);
  return text + "</svg>\n";
}

}  // namespace bf

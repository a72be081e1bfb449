// bf plan's picture: the rate of each layout as the filter fills.
#include "forecast.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace bf {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 440;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr double kTop = 40;
constexpr double kBottom = 50;
// Colors that most people can tell apart (Okabe & Ito, 2008).
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

std::string at(double coordinate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", coordinate);
  return text.data();
}

struct Axes {
  double most_keys;
  int bottom;

  [[nodiscard]] double x(double keys) const { return kLeft + keys / most_keys * (kWidth - kLeft - kRight); }
  [[nodiscard]] double y(double fpr) const {
    return kTop + (1 - std::clamp(height_of(fpr, bottom), 0.0, 1.0)) * (kHeight - kTop - kBottom);
  }
};

std::string line(double x1, double y1, double x2, double y2, const std::string& how) {
  return "<line x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) + "\" y2=\"" + at(y2) + "\" " + how +
         "/>\n";
}

std::string words(double x, double y, const char* anchor, const std::string& text, const std::string& how = "") {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\" " + how + ">" + text +
         "</text>\n";
}

std::string grid(const Axes& axes) {
  std::string text;
  for (int power = axes.bottom; power <= 0; ++power) {
    const double y = axes.y(std::pow(10, power));
    text += line(kLeft, y, kWidth - kRight, y, "stroke=\"#ddd\"");
    text += words(kLeft - 8, y + 4, "end", short_number(std::pow(10, power)));
  }
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const double keys = axes.most_keys * quarter / 4;
    text += words(axes.x(keys), kHeight - kBottom + 20, quarter == 4 ? "end" : "middle",
                  grouped(static_cast<std::uint64_t>(keys)));
  }
  return text + words((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", "keys");
}

std::string curve(const Axes& axes, const Forecast& forecast, std::size_t number) {
  const std::string colour = kColours[number % kColours.size()];
  std::string text = "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" points=\"";
  for (const Point& point : forecast.curve) {
    if (height_of(point.fpr, axes.bottom) < 0) continue;
    text += at(axes.x(static_cast<double>(point.keys))) + "," + at(axes.y(point.fpr)) + " ";
  }
  text += "\"/>\n";
  const bfstore::Plan& plan = forecast.plan;
  text += line(axes.x(static_cast<double>(plan.capacity)), kTop, axes.x(static_cast<double>(plan.capacity)),
               kHeight - kBottom, "stroke-dasharray=\"4 4\" stroke=\"" + colour + "\"");
  const double y = kHeight - kBottom - 14 - 18 * static_cast<double>(number);
  return text + words(kWidth - kRight - 8, y, "end",
                      std::string(plan.layout.name) + ": " + short_number(plan.fpr) + " at " + grouped(plan.capacity) +
                          " keys, " + short_number(plan.bits_per_key) + " bits per key",
                      "fill=\"" + colour + "\"");
}

}  // namespace

std::string svg_text(const Forecasts& all) {
  Axes axes{1, bottom_of(all.possible)};
  for (const Forecast& one : all.possible)
    axes.most_keys = std::max(axes.most_keys, static_cast<double>(one.curve.back().keys));
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + at(kWidth) + " " + at(kHeight) +
      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  text += words(kLeft, 24, "start", "False-positive rate as a filter fills", "font-size=\"16\"");
  text += grid(axes);
  for (std::size_t number = 0; number < all.possible.size(); ++number)
    text += curve(axes, all.possible[number], number);
  return text + "</svg>\n";
}

}  // namespace bf

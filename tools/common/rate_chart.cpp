// See rate_chart.hpp.
#include "rate_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tools {

// Each slice answers as a filter of the blocked layout does (FORMAT.md, "Growing"). The last one takes what the others
// have no room for.
static std::optional<double> rate_of_slices(const bfstore::PlanRequest& filter, const bfstore::Growing& growing) {
  bfstore::PlanRequest slice = filter;
  slice.layout = bfstore::Layout::kBlocked;
  slice.num_bits = growing.first.num_bits;
  std::uint64_t room = growing.first.capacity;
  std::uint64_t left = filter.capacity;
  double of_none = 1;
  for (std::uint32_t i = 1; left != 0; ++i) {
    slice.capacity = i == growing.most_slices ? left : std::min(left, room);
    const auto plan = bfstore::plan(slice);
    if (!plan) return std::nullopt;
    of_none *= 1 - std::min(plan->fpr, 1.0);
    left -= slice.capacity;
    slice.num_bits *= growing.growth;
    room *= growing.growth;
  }
  return 1 - of_none;
}

static std::optional<double> rate_of(const bfstore::PlanRequest& filter,
                                     const std::optional<bfstore::Growing>& growing) {
  if (growing) return rate_of_slices(filter, *growing);
  const auto plan = bfstore::plan(filter);
  return plan.ok() ? std::optional(plan->fpr) : std::nullopt;
}

std::vector<RatePoint> rate_curve(const bfstore::PlanRequest& filter, double most_keys,
                                  const std::optional<bfstore::Growing>& growing) {
  std::vector<RatePoint> curve;
  for (std::size_t i = 1; i <= kCurvePoints; ++i) {
    const double keys = most_keys * static_cast<double>(i) / kCurvePoints;
    if (keys >= 0x1p63) break;
    bfstore::PlanRequest filled = filter;
    filled.capacity = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(keys));
    if (!curve.empty() && curve.back().keys == filled.capacity) continue;  // few keys
    if (const auto then = rate_of(filled, growing)) curve.push_back({filled.capacity, *then});
  }
  return curve;
}

int bottom_of(double least) {
  constexpr double kMost = 1e-12;  // below, an axis has too many powers
  return static_cast<int>(std::floor(std::log10(std::max(least, kMost)) + 0.01)) - 2;  // 0.00999 is drawn as 0.01 is
}

double height_of(double fpr, int bottom) {
  return fpr > 0 ? 1 - std::log10(fpr) / bottom : -std::numeric_limits<double>::infinity();
}

double RateAxes::x(double keys) const {
  return margins.left + keys / most_keys * (width - margins.left - margins.right);
}

double RateAxes::y(double fpr) const {
  return margins.top + (1 - std::clamp(height_of(fpr, bottom), 0.0, 1.0)) * (height - margins.top - margins.bottom);
}

std::string coordinate(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& how) {
  return "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" + coordinate(x2) + "\" y2=\"" +
         coordinate(y2) + "\" " + how + "/>\n";
}

std::string svg_text(double x, double y, const char* anchor, const std::string& text, const std::string& how) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor + "\" " + how + ">" +
         text + "</text>\n";
}

std::string svg_curve(const RateAxes& axes, const std::vector<RatePoint>& points, const std::string& how) {
  std::string text = "<polyline fill=\"none\" stroke-width=\"2\" " + how + " points=\"";
  for (const RatePoint& point : points) {
    if (height_of(point.fpr, axes.bottom) < 0) continue;
    text += coordinate(axes.x(static_cast<double>(point.keys))) + "," + coordinate(axes.y(point.fpr)) + " ";
  }
  return text + "\"/>\n";
}

}  // namespace tools

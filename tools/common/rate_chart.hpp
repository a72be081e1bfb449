// The picture of a false-positive rate as a filter fills: its numbers, and the pieces of an SVG picture of them.
#pragma once

#include <bfstore/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tools {

// The rate with that many keys in the filter.
struct RatePoint {
  std::uint64_t keys;
  double fpr;
};

inline constexpr std::size_t kCurvePoints = 128;

// The rates of a filter with the layout, m and k of `filter` and at most `most_keys` keys, from few keys to many. Fewer
// than 2^63 keys can be drawn. `growing`: of a filter that grows, whose slices are filled one after the other.
std::vector<RatePoint> rate_curve(const bfstore::PlanRequest& filter, double most_keys,
                                  const std::optional<bfstore::Growing>& growing = {});

// The range of a logarithmic axis of rates, as powers of ten: from this one to 0. `least`: the least rate that matters.
int bottom_of(double least);

// The position of a rate on that axis: 0 at the bottom, and 1 at a rate of 1. Below 0 if the rate is below the bottom.
double height_of(double fpr, int bottom);

struct Margins {
  double left;
  double right;
  double top;
  double bottom;
};

// Where a number of keys and a rate are in a picture.
struct RateAxes {
  double width;
  double height;
  Margins margins;
  double most_keys;
  int bottom;

  [[nodiscard]] double x(double keys) const;
  [[nodiscard]] double y(double fpr) const;
};

// A coordinate as SVG has it.
std::string coordinate(double number);

// Elements of SVG. `how` has attributes. `text` must be safe in XML.
std::string svg_line(double x1, double y1, double x2, double y2, const std::string& how);
std::string svg_text(double x, double y, const char* anchor, const std::string& text, const std::string& how = "");
std::string svg_curve(const RateAxes& axes, const std::vector<RatePoint>& points, const std::string& how);

}  // namespace tools

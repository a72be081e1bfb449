// The results of `bf plan`, and their three forms: a table with curves, JSON, and a picture.
#pragma once

#include <bfstore/bfstore.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bf {

// The rate with that many keys in the filter.
struct Point {
  std::uint64_t keys;
  double fpr;
};

struct Forecast {
  bfstore::Plan plan;
  std::vector<Point> curve;  // up to twice the capacity
  std::uint64_t hash_set_bytes = 0;
};

struct Refusal {
  bfstore::LayoutInfo layout;
  std::string why;
};

// Each layout is in one of the two lists, in the order of their numbers.
struct Forecasts {
  bfstore::PlanRequest given;
  std::uint64_t key_bytes = 0;  // average length of a hash set's keys
  std::vector<Forecast> possible;
  std::vector<Refusal> impossible;
};

inline constexpr std::size_t kCurvePoints = 128;

// The range of a logarithmic axis of rates, as powers of ten: from `bottom` to 0.
int bottom_of(const std::vector<Forecast>& forecasts);

// The position of a rate on that axis: 0 at the bottom, and 1 at a rate of 1. Below 0 if the rate is below the bottom.
double height_of(double fpr, int bottom);

std::string table_text(const Forecasts& forecasts, bool utf8);
std::string json_text(const Forecasts& forecasts);
std::string svg_text(const Forecasts& forecasts);

}  // namespace bf

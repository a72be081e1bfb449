// The results of `bf plan`, and their three forms: a table with curves, JSON, and a picture.
#pragma once

#include <bfstore/bfstore.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rate_chart.hpp"

namespace bf {

struct Forecast {
  bfstore::Plan plan;
  std::vector<tools::RatePoint> curve;  // up to twice the capacity
  std::uint64_t hash_set_bytes = 0;
  std::string command;  // that makes such a filter; empty if it takes more than these numbers
};

struct Refusal {
  bfstore::LayoutInfo layout;
  std::string why;
};

// Each layout that was asked for is in one of the two lists, in the order of their numbers.
struct Forecasts {
  bfstore::PlanRequest given;
  std::optional<double> asked_fpr;  // if m follows from it
  std::uint64_t key_bytes = 0;      // average length of a hash set's keys
  bool has_curves = false;          // JSON has them
  bool has_formulas = false;        // the table has Bloom's formulas
  std::vector<Forecast> possible;
  std::vector<Refusal> impossible;
  std::optional<bfstore::Plan> built_once;  // the layout that is built from all keys, if it was not asked for
};

// The range of an axis of these rates: see tools::bottom_of().
int bottom_of(const std::vector<Forecast>& forecasts);

// A power of ten up to 1, for an axis: 0.00001, and 1e-07.
std::string power_words(int power);

// A number of keys on an axis that ends at `most`: 200,000,000; on a long axis 1.5T, as the options read it.
std::string axis_number(double number, double most);

// What one size holds: a row for each rate. The first rate has a forecast.
std::string holdings_text(const std::vector<Forecasts>& at_rates);

// The ways to a filter that begins with the capacity that was given, and may come to have `grow_to` keys.
std::string growth_text(const bfstore::PlanRequest& given, std::uint64_t grow_to);

std::string table_text(const Forecasts& forecasts, bool utf8);
std::string json_text(const Forecasts& forecasts);
std::string svg_text(const Forecasts& forecasts);

}  // namespace bf

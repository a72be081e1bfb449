// bf plan: what filters of each layout will be like, side by side, before one is made.
#include "commands.hpp"
#include "failure.hpp"
#include "forecast.hpp"
#include "hash_set.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "whole_file.hpp"

#include <langinfo.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <limits>

namespace bf {
namespace {

// Whether characters beyond ASCII can be shown.
bool locale_is_utf8() {
  return std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

std::vector<Point> curve_of(const bfstore::Plan& plan) {
  std::vector<Point> curve;
  for (std::size_t i = 1; i <= kCurvePoints; ++i) {
    const double keys = static_cast<double>(plan.capacity) * 2 * static_cast<double>(i) / kCurvePoints;
    if (keys >= 0x1p63) break;
    bfstore::PlanRequest filled;
    filled.layout = plan.layout.layout;
    filled.capacity = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(keys));
    filled.num_bits = plan.num_bits;
    filled.num_probes = plan.num_probes;
    if (!curve.empty() && curve.back().keys == filled.capacity) continue;  // few keys
    if (const auto then = bfstore::plan(filled)) curve.push_back({filled.capacity, then->fpr});
  }
  return curve;
}

Forecasts forecasts_of(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  Forecasts all;
  all.given = {bfstore::Layout::kBlocked, options.capacity, options.fpr,       options.bits_per_key,
               options.max_bytes,         options.num_bits, options.num_probes};
  all.key_bytes = arguments.key_bytes;
  for (const bfstore::LayoutInfo& layout : bfstore::layouts()) {
    if (options.layout && layout.layout != *options.layout) continue;
    bfstore::PlanRequest request = all.given;
    request.layout = layout.layout;
    const auto plan = bfstore::plan(request);
    if (plan) {
      all.possible.push_back({*plan, curve_of(*plan), hash_set_bytes(plan->capacity, arguments.key_bytes)});
    } else {
      all.impossible.push_back({layout, plan.error().message});
    }
  }
  return all;
}

// Why no layout can be like that: each reason once.
std::string reasons_of(const std::vector<Refusal>& refusals) {
  const std::string& first = refusals.front().why;
  if (std::all_of(refusals.begin(), refusals.end(), [&](const Refusal& one) { return one.why == first; })) return first;
  std::string reasons;
  for (const Refusal& one : refusals) {
    reasons += reasons.empty() ? "" : " ";
    reasons.append(one.layout.name).append(": ").append(one.why);
  }
  return reasons;
}

}  // namespace

int bottom_of(const std::vector<Forecast>& forecasts) {
  double least = 1;
  for (const Forecast& forecast : forecasts) least = std::min(least, forecast.plan.fpr);
  constexpr double kMost = 1e-12;  // below, an axis has too many powers
  return static_cast<int>(std::floor(std::log10(std::max(least, kMost)) + 0.01)) - 2;  // 0.00999 is drawn as 0.01 is
}

double height_of(double fpr, int bottom) {
  return fpr > 0 ? 1 - std::log10(fpr) / bottom : -std::numeric_limits<double>::infinity();
}

int plan(const Arguments& arguments) {
  const Forecasts all = forecasts_of(arguments);
  if (all.possible.empty()) throw Failure(reasons_of(all.impossible));
  if (!arguments.target.empty()) {
    interrupt::defer();
    write_whole(arguments.target, svg_text(all), arguments.options.replace, 0666);
  }
  Output output;
  output.append(arguments.json ? json_text(all) : table_text(all, locale_is_utf8()));
  output.flush();
  return 0;
}

}  // namespace bf

// bf plan --grow-to: the three ways to a filter for a number of keys that nobody knows, beside each other.
#include "failures.hpp"
#include "forecast.hpp"
#include "library_names.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>

namespace bf {
namespace {

bfstore::Plan planned(const bfstore::PlanRequest& request) {
  auto plan = bfstore::plan(request);
  if (!plan) throw Failure(with_names_of_options(plan.error().message, ""));
  return *plan;
}

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size() + 2, columns), ' ');
  return text;
}

std::string row(const std::string& name, const std::string& large, const std::string& growing,
                const std::string& rebuilt) {
  std::string line = padded(name, 28) + padded(large, 21) + padded(growing, 12) + rebuilt;
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

std::string underscored(std::uint64_t number) {
  std::string digits = grouped(number);
  std::replace(digits.begin(), digits.end(), ',', '_');
  return digits;
}

}  // namespace

std::string growth_text(const bfstore::PlanRequest& given, std::uint64_t grow_to) {
  const double fpr = given.fpr == 0 ? kUsualFpr : given.fpr;
  const auto blocked_for = [fpr](std::uint64_t keys) { return planned({.capacity = keys, .fpr = fpr}); };
  const bfstore::Plan growing = planned(
      {.layout = bfstore::Layout::kGrowing, .capacity = given.capacity, .fpr = fpr, .capacity_at_most = grow_to});
  const bfstore::Plan large = blocked_for(grow_to);
  std::string text = "From " + grouped(given.capacity) + " to " + grouped(grow_to) +
                     " keys, nobody knows how many, at " + short_number(100 * fpr) + " %\n\n";
  text += row("", "large, then folded", "growing", "rebuilt, superseded");
  std::uint64_t slices = 0;
  for (const bfstore::GrownPlan& grown : growing.grown) {
    ++slices;
    const std::uint64_t keys = std::min(grown.capacity, grow_to);
    text += row("file for " + axis_number(static_cast<double>(keys), static_cast<double>(keys)) + " keys",
                human_bytes(blocked_for(keys).file_bytes) + " folded", human_bytes(grown.file_bytes),
                human_bytes(blocked_for(keys).file_bytes));
    if (grown.capacity >= grow_to) break;
  }
  text += row("while it is filled", human_bytes(large.file_bytes), "as above", "old and new: twice");
  text += row("bits per key, if full", short_number(large.bits_per_key), short_number(growing.bits_per_key),
              short_number(large.bits_per_key));
  text += row("cache lines per lookup", "1", "1 to " + std::to_string(slices), "1");
  text += row("needs all keys again", "no", "no", "each time");
  const std::string rate = " -p " + short_number(fpr);
  text +=
      "\nLarge, then folded, is the smallest and fastest, if the disk has room for the large file while it is\n"
      "filled (bf help fold). Growing is for a file that nobody closes, and of whose keys there is no log.\n"
      "\nTo make one of them:\n"
      "  bf create filter.bf --capacity-at-most " +
      underscored(grow_to) + rate +
      "   # then bf fold\n"
      "  bf create filter.bf --layout growing -n " +
      underscored(given.capacity) + " --capacity-at-most " + underscored(grow_to) + rate +
      "\n"
      "  bf build filter.bf --from keys.txt" +
      rate + " --force   # each time that it is full\n";
  return text;
}

}  // namespace bf

// bf plan's table, and the curve of the first layout.
#include "filter_use.hpp"
#include "forecast.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace bf {
namespace {

constexpr std::size_t kNameColumns = 30;
constexpr std::size_t kColumns = 16;                            // at least
constexpr std::size_t kBetween = 2;                             // columns, at least
constexpr std::size_t kChartColumns = tools::kCurvePoints / 2;  // a cell of braille is two dots wide
constexpr std::size_t kLabelColumns = 8;
constexpr std::uint64_t kHole = std::uint64_t{1} << 20;  // bytes: more than any file has before its bits else
constexpr std::size_t kManyPowers = 6;                   // of ten: so many that each has one row alone

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

// A table with a name in each row, and a value for each layout.
class Table {
 public:
  explicit Table(const Forecasts& all) : all_(all) {}

  void add(const std::string& name, const std::function<std::string(const Forecast&)>& cell) {
    Row row{name, {}};
    for (const Forecast& forecast : all_.possible) {
      row.cells.push_back(cell(forecast));
      columns_ = std::max(columns_, row.cells.back().size() + kBetween);
    }
    rows_.push_back(row);
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Row& row : rows_) {
      std::string line = padded(row.name, kNameColumns);
      for (const std::string& cell : row.cells) line += padded(cell, columns_);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  struct Row {
    std::string name;
    std::vector<std::string> cells;
  };
  const Forecasts& all_;
  std::vector<Row> rows_;
  std::size_t columns_ = kColumns;
};

// The textbook's m and k, for comparison: m is that of the rate that was asked for. Digests of 64 bits keep every rate
// above 0, and so m below 2^63.
std::string bloom_bits(const bfstore::Plan& plan, double fpr) {
  const double bits = -static_cast<double>(plan.capacity) * std::log(fpr) / (std::log(2.0) * std::log(2.0));
  return grouped(static_cast<std::uint64_t>(std::max(std::round(bits), 0.0)));
}

double bloom_probes(const bfstore::Plan& plan) {
  return static_cast<double>(plan.num_bits) / static_cast<double>(plan.capacity) * std::log(2.0);
}

struct Ability {
  const char* name;
  bool bfstore::Capabilities::*can;
};

constexpr Ability kAbilities[] = {
    {"adds keys", &bfstore::Capabilities::add}, {"removes keys", &bfstore::Capabilities::remove},
    {"grows", &bfstore::Capabilities::grow},    {"expires keys", &bfstore::Capabilities::expire},
    {"merges", &bfstore::Capabilities::merge},  {"intersects", &bfstore::Capabilities::intersect},
    {"folds", &bfstore::Capabilities::fold},
};

bool can(const Forecast& forecast, const Ability& ability) { return forecast.plan.layout.can.*ability.can; }

bool all_can(const Forecasts& all, const Ability& ability, bool wanted) {
  return std::all_of(all.possible.begin(), all.possible.end(),
                     [&](const Forecast& one) { return can(one, ability) == wanted; });
}

// Bloom's formulas are for the keys of one filter. A layout whose keys expire has a filter for each epoch.
bool shows_formulas(const Forecasts& all) {
  return all.has_formulas && !std::all_of(all.possible.begin(), all.possible.end(),
                                          [](const Forecast& one) { return one.plan.layout.can.expire; });
}

bool has_window(const Forecast& forecast) { return forecast.plan.window_ms != 0; }

// Nothing is in the column of a layout whose keys do not expire.
void add_windows(Table& table, const Forecasts& all) {
  if (std::none_of(all.possible.begin(), all.possible.end(), has_window)) return;
  const auto row = [&table](const char* name, auto cell) {
    table.add(name, [&](const Forecast& one) { return has_window(one) ? cell(one.plan) : std::string("-"); });
  };
  row("an epoch ends after", [](const bfstore::Plan& plan) { return rounded_time(plan.epoch_ms); });
  row("its turn writes", [](const bfstore::Plan& plan) { return human_bytes(plan.turn_bytes); });
  row("a key is found for at least", [](const bfstore::Plan& plan) { return rounded_time(plan.window_ms); });
  row("a key is found for at most", [](const bfstore::Plan& plan) { return rounded_time(plan.longest_found_ms); });
}

std::string facts(const Forecasts& all) {
  Table table(all);
  table.add("", [](const Forecast& one) { return std::string(one.plan.layout.name); });
  table.add("keys (n)", [](const Forecast& one) { return grouped(one.plan.capacity); });
  table.add("false-positive rate (p)", [](const Forecast& one) { return short_number(one.plan.fpr); });
  const auto add_formula = [&](const char* name, const std::function<std::string(const Forecast&)>& cell) {
    if (shows_formulas(all)) table.add(name, cell);
  };
  add_formula("  (1 - e^(-kn/m))^k", [](const Forecast& one) { return short_number(one.plan.bloom_fpr); });
  table.add("bits per key", [](const Forecast& one) { return short_number(one.plan.bits_per_key); });
  table.add("m", [](const Forecast& one) { return grouped(one.plan.num_bits); });
  add_formula("  -n ln p / (ln 2)^2",
              [&](const Forecast& one) { return bloom_bits(one.plan, all.asked_fpr.value_or(one.plan.fpr)); });
  table.add("probes per key (k)", [](const Forecast& one) { return std::to_string(one.plan.num_probes); });
  add_formula("  (m/n) ln 2", [](const Forecast& one) { return short_number(bloom_probes(one.plan)); });
  table.add("file", [](const Forecast& one) { return human_bytes(one.plan.file_bytes); });
  table.add("a hash set of the keys", [](const Forecast& one) { return human_bytes(one.hash_set_bytes); });
  table.add("share of m that is set", [](const Forecast& one) { return short_number(one.plan.fill_ratio); });
  table.add("cache lines per lookup", [](const Forecast& one) { return short_number(one.plan.cache_lines); });
  table.add("page faults per cold lookup", [](const Forecast& one) { return short_number(one.plan.page_faults); });
  add_windows(table, all);
  for (const Ability& ability : kAbilities) {
    if (!all_can(all, ability, true) && !all_can(all, ability, false))
      table.add(ability.name, [&](const Forecast& one) { return can(one, ability) ? "yes" : "no"; });
  }
  return table.text();
}

// A grid of dots, several of which share a character.
class Canvas {
 public:
  Canvas(std::size_t rows, bool utf8) : across_(utf8 ? 2 : 1), down_(utf8 ? 4 : 1), cells_(kChartColumns * rows) {}

  [[nodiscard]] std::size_t columns() const { return kChartColumns * across_; }
  [[nodiscard]] std::size_t rows() const { return cells_.size() / kChartColumns * down_; }

  void set(std::size_t column, std::size_t row) {
    constexpr std::array<std::array<unsigned char, 4>, 2> kDots{{{1, 2, 4, 64}, {8, 16, 32, 128}}};
    cells_.at(row / down_ * kChartColumns + column / across_) |= kDots.at(column % across_).at(row % down_);
  }

  [[nodiscard]] std::string row(std::size_t number) const {
    std::string text;
    for (std::size_t column = 0; column < kChartColumns; ++column) {
      const unsigned dots = cells_[number * kChartColumns + column];
      if (dots == 0) {
        text += ' ';
      } else if (down_ == 1) {
        text += '*';
      } else {  // U+2800 + dots
        text += {'\xE2', static_cast<char>(0xA0U | dots >> 6U), static_cast<char>(0x80U | (dots & 63U))};
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  std::size_t across_;
  std::size_t down_;
  std::vector<unsigned char> cells_;
};

// The rate at a column, whose keys are between those of two points.
double rate_at(const std::vector<tools::RatePoint>& curve, double keys) {
  const auto next = std::find_if(curve.begin(), curve.end(), [keys](const tools::RatePoint& point) {
    return static_cast<double>(point.keys) >= keys;
  });
  return next == curve.end() ? curve.back().fpr : next->fpr;
}

void draw(Canvas& canvas, const Forecast& forecast, int bottom) {
  const auto last_row = static_cast<double>(canvas.rows() - 1);
  std::size_t before = canvas.rows();  // no column yet
  for (std::size_t column = 0; column < canvas.columns(); ++column) {
    const double share = 2 * static_cast<double>(column + 1) / static_cast<double>(canvas.columns());
    const double height =
        tools::height_of(rate_at(forecast.curve, share * static_cast<double>(forecast.plan.capacity)), bottom);
    if (height < 0) continue;
    const auto row = static_cast<std::size_t>(std::round((1 - height) * last_row));
    const std::size_t from = before == canvas.rows() ? row : std::max(row, before - (before > row ? 1 : 0));
    for (std::size_t dot = row; dot <= from; ++dot) canvas.set(column, dot);
    before = row;
  }
}

// The axis of keys, with a tick at the capacity and one at twice as many.
std::string axis_line(bool utf8) {
  const auto half = [utf8](const char* tick) {
    std::string text;
    for (std::size_t i = 1; i < kChartColumns / 2; ++i) text += utf8 ? "─" : "-";
    return text + (utf8 ? tick : "+");
  };
  return (utf8 ? "└" : "+") + half("┬") + half("┐");
}

std::string chart(const Forecast& forecast, bool utf8) {
  const int bottom = bottom_of({forecast});
  const auto powers = static_cast<std::size_t>(-bottom);
  const std::size_t each = powers > kManyPowers ? 1 : 2;  // rows
  Canvas canvas(powers * each + 1, utf8);
  draw(canvas, forecast, bottom);
  std::string text = std::string("\nFalse-positive rate of ") + forecast.plan.layout.name + " as it fills\n";
  for (std::size_t row = 0; row <= powers * each; ++row) {
    const std::string label = row % each != 0 ? "" : power_words(-static_cast<int>(row / each));
    text += padded(label, kLabelColumns) + (utf8 ? "│" : "|") + canvas.row(row) + "\n";
  }
  text += padded("", kLabelColumns) + axis_line(utf8) + "\n";
  const double capacity = static_cast<double>(forecast.plan.capacity);
  const std::string axis = padded("0", kChartColumns / 2) + axis_number(capacity, 2 * capacity);
  const std::string end = axis_number(2 * capacity, 2 * capacity) + " keys";
  return text + padded("", kLabelColumns) + padded(axis, kChartColumns - end.size()) + end + "\n";
}

// "adds keys, merges and folds"
std::string listed(const std::vector<std::string>& names, const std::string& joined_by) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool last = i != 0 && i + 1 == names.size();
    text += (i == 0 ? "" : last ? " " + joined_by + " " : ", ") + names[i];
  }
  return text;
}

// "Each layout adds keys, merges and folds.", or nothing.
// `more` is said, too, if keys do not expire.
std::string abilities(const Forecasts& all, const std::string& who, bool wanted, const std::string& more = "") {
  std::vector<std::string> names;
  for (const Ability& ability : kAbilities) {
    if (all_can(all, ability, wanted)) names.emplace_back(ability.name);
  }
  const bool expire = std::any_of(all.possible.begin(), all.possible.end(),
                                  [](const Forecast& one) { return one.plan.layout.can.expire; });
  return names.empty() ? "" : who + " " + listed(names, wanted ? "and" : "or") + (expire ? "" : more) + ".\n";
}

// "Smallest file: classic.", or nothing if the table shows the same number for all layouts.
template <class Number, class Shown>
std::string least_of(const Forecasts& all, const char* what, Number bfstore::Plan::*number, Shown shown,
                     const std::string& more = "") {
  Number least = all.possible.front().plan.*number;
  for (const Forecast& one : all.possible) least = std::min(least, one.plan.*number);
  std::vector<std::string> names;
  bool differ = false;
  for (const Forecast& one : all.possible) {
    if (shown(one.plan.*number) == shown(least)) {
      names.push_back(one.plan.layout.name);
    } else {
      differ = true;
    }
  }
  return differ ? std::string(what) + ": " + listed(names, "and") + more + ".\n" : "";
}

// The length of a file is more than its bits take on the disk, and all short files have the same length.
std::string about_space(const Forecasts& all) {
  const auto has_hole = [](const Forecast& one) { return one.plan.file_bytes - one.plan.body_bytes > kHole; };
  if (std::any_of(all.possible.begin(), all.possible.end(), has_hole)) {
    const bool each_has = std::all_of(all.possible.begin(), all.possible.end(), has_hole);
    return each_has ? "The first 2 MiB of a file are nearly all a hole, taking no space on the disk.\n"
                    : "Files of 2 MiB of bits or more begin with a hole of nearly 2 MiB: no disk space.\n";
  }
  const auto is_short = [](const Forecast& one) { return one.plan.file_bytes > 2 * one.plan.body_bytes; };
  if (!std::any_of(all.possible.begin(), all.possible.end(), is_short)) return "";
  return "A short file has 16 KiB before its bits, and ends with a whole page.\n";
}

std::string about_building(const Forecasts& all) {
  for (const Forecast& one : all.possible) {
    if (one.plan.layout.can.build)
      return std::string(one.plan.layout.name) + " is built once, of all keys (bf build), and takes none later.\n";
  }
  if (!all.built_once) return "";
  const std::string name = all.built_once->layout.name;
  return "If all keys are known, and none comes later: --layout " + name + ", " +
         human_bytes(all.built_once->file_bytes) + ".\n";
}

// The table has the numbers of the first slice.
std::string about_slices(const Forecasts& all) {
  for (const Forecast& one : all.possible) {
    if (one.plan.grown.empty()) continue;
    const bfstore::GrownPlan& last = one.plan.grown.back();
    return std::string(one.plan.layout.name) + " begins like this, and grows to " + grouped(last.capacity) +
           " keys in " + human_bytes(last.file_bytes) + ": up to " + std::to_string(one.plan.grown.size()) +
           " slices, each " + std::to_string(one.plan.growth) +
           " times as large as the one before (--capacity-at-most). p is the rate when all of them are full. bf plan "
           "--grow-to compares other ways.\n";
  }
  return "";
}

std::string about_turns(const Forecasts& all) {
  if (std::none_of(all.possible.begin(), all.possible.end(), has_window)) return "";
  return "n is the number of different keys of one window, if they come evenly. Turns are yours: run bf turn several "
         "times in each epoch. A late turn keeps keys longer.\n";
}

std::string about_numbers(const Forecasts& all) {
  const std::string formulas = shows_formulas(all) ? "Each filter will have the first rate of its column. Indented: "
                                                     "Bloom's formulas, to compare. "
                                                   : "";
  return formulas + "Hash set: keys of " + grouped(all.key_bytes) + " bytes. See bf help plan.\n";
}

// Each line of the text as a paragraph.
std::string wrapped(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += tools::in_lines(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// For a user who does not know n.
std::string about_folding(const Forecasts& all) {
  const auto folds = [](const Forecast& one) { return one.plan.layout.can.fold; };
  if (std::none_of(all.possible.begin(), all.possible.end(), folds)) return "";
  return "If nobody knows how many keys will come: bf plan --grow-to (and bf help fold).\n";
}

std::string notes(const Forecasts& all) {
  std::string text = "\n";
  const bool several = all.possible.size() > 1;
  text += least_of(all, "Smallest file", &bfstore::Plan::file_bytes, human_bytes);
  const std::string usual = bfstore::layout_of(bfstore::PlanRequest().layout)->name;
  text += least_of(
      all, "Fewest cache lines", &bfstore::Plan::cache_lines, [](double lines) { return short_number(lines); },
      " (bf create makes " + usual + " by default)");
  text += abilities(all, several ? "Each layout" : all.possible.front().plan.layout.name, true);
  text += abilities(all, several ? "None of these" : "It never", false, several ? "; --window 24h expires them" : "");
  text += about_folding(all);
  text += about_building(all);
  text += about_turns(all);
  text += about_slices(all);
  text += about_space(all);
  text += about_numbers(all);
  for (const Refusal& one : all.impossible) text += std::string("\n") + one.layout.name + ": " + one.why + "\n";
  return text;
}

std::string commands(const Forecasts& all) {
  std::string text;
  for (const Forecast& forecast : all.possible) {
    if (!forecast.command.empty()) text += "  " + forecast.command + "\n";
  }
  return text.empty() ? "" : "\nTo make one of them:\n" + text;
}

// Nothing if the layout cannot have the rate.
const Forecast* forecast_of(const Forecasts& all, bfstore::Layout layout) {
  for (const Forecast& one : all.possible) {
    if (one.plan.layout.layout == layout) return &one;
  }
  return nullptr;
}

std::string underscored(std::uint64_t number) {
  std::string digits = grouped(number);
  std::replace(digits.begin(), digits.end(), ',', '_');
  return digits;
}

std::string ways_on(const bfstore::PlanRequest& given) {
  const std::string size =
      (given.num_bits != 0 ? "-m " + underscored(given.num_bits) : "--max-bytes " + underscored(given.max_bytes)) +
      (given.window_ms != 0 ? " --window " + time_option(given.window_ms) : "");
  return wrapped("To see all facts, and the commands that make such filters, give a rate:") + "  bf plan " + size +
         " -p 1%\n";
}

}  // namespace

// "1 %". A rate of less than 0.01 % is easier to read as a number.
static std::string rate_words(double fpr) {
  constexpr double kSmall = 0.0001;
  return fpr < kSmall ? "a rate of " + short_number(fpr) : short_number(100 * fpr) + " %";
}

// "100,000,000 keys at 1 %: 118.3 MiB, blocked"
static std::string answer(const bfstore::Plan& plan) {
  return key_words(plan.capacity) + (plan.layout.can.grow ? " at first, at " : " at ") + rate_words(plan.fpr) + ": " +
         human_bytes(plan.file_bytes) + ", " + plan.layout.name + "\n";
}

// Says why the rate is lower than the one that was asked for, or nothing if it is nearly that.
static std::string about_rate(const Forecasts& all) {
  constexpr double kNear = 0.95;
  const bfstore::Plan& plan = all.possible.front().plan;
  if (!all.asked_fpr || plan.fpr >= kNear * *all.asked_fpr) return "";
  return wrapped("This is less than " + rate_words(*all.asked_fpr) + ", which was asked for: " +
                 (plan.layout.can.build
                      ? std::string(plan.layout.name) + " has whole columns, and each halves the rate."
                      : "so few keys get whole cache lines, and need less."));
}

std::string holdings_text(const std::vector<Forecasts>& at_rates) {
  const Forecasts& first = at_rates.front();
  Table table(first);
  table.add("", [](const Forecast& one) { return std::string(one.plan.layout.name); });
  table.add("m", [](const Forecast& one) { return grouped(one.plan.num_bits); });
  table.add("file", [](const Forecast& one) { return human_bytes(one.plan.file_bytes); });
  for (const Forecasts& all : at_rates) {
    table.add("keys at a rate of " + short_number(all.given.fpr), [&all](const Forecast& column) {
      const Forecast* const one = forecast_of(all, column.plan.layout.layout);
      return one == nullptr ? std::string("none") : grouped(one->plan.capacity);
    });
  }
  const Forecasts& usual = *std::find_if(at_rates.begin(), at_rates.end(), [&](const Forecasts& one) {
    return one.given.fpr == kUsualFpr || &one == &at_rates.back();
  });
  const std::string first_line = usual.possible.empty() ? "" : answer(usual.possible.front().plan) + "\n";
  return first_line + table.text() + "\n" +
         wrapped("The rate is that of false positives, with the best number of probes (k).\n") + ways_on(first.given);
}

std::string table_text(const Forecasts& all, bool utf8) {
  std::string text = answer(all.possible.front().plan) + about_rate(all) + "\n" + facts(all);
  text += wrapped(notes(all));
  return text + chart(all.possible.front(), utf8) + commands(all);
}

}  // namespace bf

// The demo's output.
#include "report.hpp"

#include <array>
#include <cstdio>
#include <string_view>

namespace demo {
namespace {

struct Column {
  std::string_view first_line;
  std::string_view second_line;
  int width;  // negative: aligned at the left
};

constexpr std::array<Column, 9> kColumns = {{{"", "filter", -8},
                                             {"", "lookups", 10},
                                             {"SQLite", "queries", 10},
                                             {"pages", "fetched", 11},
                                             {"wall", "ms", 8},
                                             {"CPU", "ms", 8},
                                             {"rows", "found", 10},
                                             {"wrong", "noes", 7},
                                             {"false positives", "", 17}}};

std::string format(const char* pattern, double number) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, number);
  return text;
}

template <class GetText>
std::string table_line(GetText&& text_of) {
  std::string line;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const std::string text(text_of(i));
    const auto width = static_cast<std::size_t>(std::abs(kColumns[i].width));
    const std::string padding(width > text.size() ? width - text.size() : 0, ' ');
    line += kColumns[i].width < 0 ? text + padding : padding + text;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string milliseconds(double seconds) { return with_separators(static_cast<std::uint64_t>(1000 * seconds + 0.5)); }

std::array<std::string, 9> shared_cells(const std::string& filter, const Measurement& measured) {
  const Tally& tally = measured.tally;
  return {filter,
          with_separators(tally.lookups),
          with_separators(tally.queries),
          with_separators(tally.page_fetches),
          milliseconds(measured.wall_seconds),
          milliseconds(static_cast<double>(tally.cpu_nanoseconds) / 1e9),
          with_separators(tally.found),
          "",
          ""};
}

// "3,513 = 1.00 %", of the words that are absent.
std::string false_positives(std::uint64_t number, std::uint64_t absent) {
  if (absent == 0) return with_separators(number);
  const double rate = 100 * static_cast<double>(number) / static_cast<double>(absent);
  return with_separators(number) + format(" = %.2f %%", rate);
}

}  // namespace

std::string with_separators(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return digits;
}

std::string mebibytes(std::uint64_t bytes) { return format("%.1f MiB", static_cast<double>(bytes) / 1048576); }

std::string table_head(double promised_rate) {
  const std::string promise = format("(promised: %.3g %%)", 100 * promised_rate);
  const std::string first = table_line([](std::size_t i) { return kColumns[i].first_line; });
  const std::string second = table_line(
      [&](std::size_t i) { return i + 1 == kColumns.size() ? std::string_view(promise) : kColumns[i].second_line; });
  return first + second + std::string(second.size() - 1, '-') + '\n';
}

std::string table_rows(const Comparison& comparison) {
  auto without = shared_cells("without", comparison.without);
  auto with = shared_cells("with", comparison.with);
  with[7] = with_separators(comparison.with.tally.wrong_noes);
  with[8] = false_positives(comparison.with.tally.false_positives, comparison.absent);
  return comparison.workload + '\n' + table_line([&](std::size_t i) { return without[i]; }) +
         table_line([&](std::size_t i) { return with[i]; });
}

std::string closing_sentence(const Comparison& absent, const Comparison& present) {
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
  const double kept_away = 100 - 100 * ratio(static_cast<double>(absent.with.tally.queries),
                                             static_cast<double>(absent.without.tally.queries));
  const double faster = ratio(absent.without.wall_seconds, absent.with.wall_seconds);
  const double cost = 100 * (ratio(static_cast<double>(present.with.tally.cpu_nanoseconds),
                                   static_cast<double>(present.without.tally.cpu_nanoseconds)) -
                             1);
  const std::string more = cost > 0 ? format("%.1f %% more", cost) : "no more";
  return "What it means: of words that are mostly absent, the filter kept " + format("%.1f %%", kept_away) +
         "\naway from SQLite and made the lookups " + format("%.1f", faster) +
         " times as fast; where every word is present it can save\nnothing, and the lookups took " + more +
         " CPU time. (The time in ms also has what the\nfour processes wait for a core, and differs by some percent "
         "between runs.) No \"no\" was\nwrong. Here every page came from the system's memory; where pages come from a "
         "disk, each\none that is not fetched saves more.\n";
}

}  // namespace demo

// One process that uses a file, for byte_order_test.py, which runs it on machines of either byte order:
//   byte_order make|add|ask|replace PATH FIRST END [LAYOUT]
// It makes a file with the keys FIRST to END - 1, adds them, asks for them, or replaces PATH by a new file with them.
// If a line of standard input follows, it then asks for all keys up to that number. It prints what it sees.
#include <bfstore/bfstore.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

using namespace bfstore;

namespace {

std::uint64_t maybes(const Filter& filter, const std::string& kind, std::uint64_t first, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = first; i < end; ++i) sum += filter.contains(kind + std::to_string(i)) ? 1U : 0U;
  return sum;
}

void print(const Filter& filter, std::uint64_t first, std::uint64_t end) {
  const Stats stats = filter.stats({.fill = true});
  std::printf("maybe %d strangers %d added %d bits %d slices %d mark %d health %d\n",
              static_cast<int>(maybes(filter, "key ", first, end)), static_cast<int>(maybes(filter, "no ", 0, 100)),
              static_cast<int>(stats.keys_added), static_cast<int>(stats.fill->set_bits),
              stats.growing ? static_cast<int>(stats.growing->num_slices) : 1, static_cast<int>(filter.get_mark(1)),
              static_cast<int>(filter.health()));
  std::fflush(stdout);
}

Result<Filter> filter_for(const std::string& what, const std::string& path, const char* layout) {
  if (what == "add") return Filter::open(path, OpenMode::kWrite);
  if (what == "ask") return Filter::open(path, OpenMode::kRead);
  Options options;
  options.capacity = 10'000;
  options.fpr = 1e-4;
  options.seed = 7;
  options.layout = layout_named(layout).value().layout;
  options.replace = what == "replace";
  if (std::string_view(layout).substr(0, 6) == "window") options.window_ms = 86'400'000;
  if (options.layout == Layout::kGrowing) {  // it grows in each use
    options.capacity = 100;
    options.capacity_at_most = 3100;
  }
  return Filter::create(path, options);
}

}  // namespace

int main(int count, char** values) {
  if (count < 5) return 2;
  const std::string what = values[1];
  const std::uint64_t first = std::strtoull(values[3], nullptr, 10);
  const std::uint64_t end = std::strtoull(values[4], nullptr, 10);
  auto filter = filter_for(what, values[2], count > 5 ? values[5] : "blocked");
  if (!filter) return std::puts(filter.error().message.c_str()) < 0 ? 3 : 1;
  const auto turning = filter->stats().turning;  // the keys of what is added are then in another word
  if (what == "add" && turning && !filter->turn(turning->epoch).ok()) return 7;
  for (std::uint64_t i = first; what != "ask" && i < end; ++i) {
    if (!filter->add("key " + std::to_string(i)).ok()) return 4;
  }
  if (what != "ask" && !filter->sync({.owner = 1, .mark = end}).ok()) return 5;
  print(*filter, first, end);
  std::uint64_t all = 0;
  if (std::cin >> all) print(*filter, 0, all);
  return filter->close().ok() ? 0 : 6;
}

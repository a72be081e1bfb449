// Measures one lookup in a file that is not in memory: page faults, pages brought in, and time. Compares it with
// reading one byte of the file.
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "filters.hpp"
#include "kernel.hpp"
#include "row.hpp"
#include "statistics.hpp"

namespace bench::system {
namespace {

constexpr double kMicro = 1e6;
constexpr std::uint64_t kSeed = 7;

// The costs of each of many lookups.
struct Costs {
  std::vector<double> seconds, major, minor, pages;

  [[nodiscard]] Measured summary() const {
    std::vector<double> both;
    for (std::size_t i = 0; i < major.size(); ++i) both.push_back(major[i] + minor[i]);
    return {median(seconds),
            {{"us_median", kMicro * median(seconds)},
             {"us_p90", kMicro * percentile(seconds, 0.9)},
             {"faults_median", median(both)},
             {"faults_most", percentile(both, 1)},
             {"major_median", median(major)},
             {"pages_median", median(pages)},
             {"pages_most", percentile(pages, 1)}}};
  }
};

void measure_one(Costs& costs, const Watched& watched, auto&& look) {
  const auto pages = static_cast<double>(watched.pages_in_memory());
  const Faults before = faults();
  const auto begin = std::chrono::steady_clock::now();
  look();
  costs.seconds.push_back(seconds_since(begin));
  const Faults after = faults();
  costs.major.push_back(static_cast<double>(after.major - before.major));
  costs.minor.push_back(static_cast<double>(after.minor - before.minor));
  costs.pages.push_back(static_cast<double>(watched.pages_in_memory()) - pages);
}

// Opens the file again each time, so that it can be dropped from memory. Asks for keys that are in it, because these
// take all probes.
Measured look_up(const std::string& path, const MapOption& option, const std::vector<std::uint64_t>& present) {
  const Watched watched(path);
  Costs costs;
  std::vector<double> opening, opening_pages;
  // The first lookup of a process brings the code into memory, too.
  if (!value_of(option.open(path, bfstore::OpenMode::kRead)).contains_digest(present.front()))
    fail(path + ": a wrong no");
  for (const std::uint64_t digest : present) {
    drop_from_memory(path);
    const auto begin = std::chrono::steady_clock::now();
    const bfstore::Filter filter = value_of(option.open(path, bfstore::OpenMode::kRead));
    opening.push_back(seconds_since(begin));
    opening_pages.push_back(static_cast<double>(watched.pages_in_memory()));
    bool found = false;
    measure_one(costs, watched, [&] { found = filter.contains_digest(digest); });
    if (!found) fail(path + ": a wrong no in a cold file");
  }
  Measured measured = costs.summary();
  measured.facts["open_us"] = kMicro * median(opening);
  measured.facts["open_pages"] = median(opening_pages);
  return measured;
}

// Measures the least that a lookup can cost: reading one byte of a mapping, anywhere in the file. `advice`: for
// madvise().
Measured read_a_byte(const std::string& path, std::uint64_t times, int advice) {
  const Watched watched(path);
  std::mt19937_64 random(kSeed);
  Costs costs;
  for (std::uint64_t i = 0; i < times; ++i) {
    drop_from_memory(path);
    const Watched mapping(path);
    if (madvise(const_cast<std::byte*>(mapping.data()), mapping.bytes(), advice) != 0) fail_errno("madvise");
    const volatile std::byte* const byte = mapping.data() + random() % mapping.bytes();
    measure_one(costs, watched, [&] { static_cast<void>(*byte); });
  }
  return costs.summary();
}

// Makes the file if it does not exist. It is closed and clean.
std::string make_filled(const std::string& path, const Scale& scale, bfstore::Layout layout) {
  if (std::filesystem::exists(path)) return path;
  bfstore::Filter filter = make_file(path, scale.capacity, kBitsPerKey, layout);
  add_all(filter, digests_of(kSeed, scale.filled_keys));
  check(filter.close());
  return path;
}

}  // namespace

Rows cold_rows(const Scale& scale, const Places& places) {
  Rows rows;
  for (const auto layout : {bfstore::Layout::kBlocked, bfstore::Layout::kClassic}) {
    const std::string name = layout == bfstore::Layout::kBlocked ? "blocked" : "classic";
    const std::string path = places.folder + "/cold-" + name + ".bf";
    for (const MapOption& option : kMapOptions) {
      rows.push_back({"cold/" + name + '/' + option.name, [=] {
                        make_filled(path, scale, layout);
                        return look_up(path, option, digests_of(kSeed, scale.cold_lookups));
                      }});
    }
    if (layout != bfstore::Layout::kBlocked) continue;
    for (const auto& [advice, number] : {std::pair("default", MADV_NORMAL), std::pair("MADV_RANDOM", MADV_RANDOM)}) {
      rows.push_back({std::string("cold/one byte/") + advice, [path, scale, layout, number = number] {
                        make_filled(path, scale, layout);
                        return read_a_byte(path, scale.cold_lookups, number);
                      }});
    }
  }
  return rows;
}

}  // namespace bench::system

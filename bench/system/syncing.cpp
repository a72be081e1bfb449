// Measures how many bytes a sync writes after a hundred keys were added to a file that is in memory.
#include <chrono>
#include <filesystem>

#include "filters.hpp"
#include "kernel.hpp"
#include "row.hpp"
#include "statistics.hpp"

namespace bench::system {
namespace {

constexpr std::uint64_t kKeys = 100;
constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kAddedSeed = 1000;

// The size of pages depends on the way by which they came into memory, and a sync writes whole pages. They were written
// by the program that built the filter, or brought in by reading the file.
enum class Pages { kWritten, kRead };

bfstore::Filter open_resident(const std::string& path, const Scale& scale, const MapOption& option, Pages pages) {
  const auto filled = digests_of(kSeed, scale.filled_keys);
  bfstore::Filter made = make_file(path, scale.capacity, kBitsPerKey);
  add_all(made, filled);
  check(made.close());
  if (pages == Pages::kRead) drop_from_memory(path);
  bfstore::Filter filter = value_of(option.open(path, bfstore::OpenMode::kWrite));
  check_present(filter, filled);
  return filter;
}

// Removes the file at the end in every case, also if it cannot be dropped from memory (on a filesystem in memory).
struct Temporary {
  const std::string& path;
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

Measured measure_syncs(const std::string& path, const Scale& scale, const MapOption& option, Pages pages) {
  const Temporary file{path};
  bfstore::Filter filter = open_resident(path, scale, option, pages);
  const Watched watched(path);
  const std::uint64_t resident = watched.pages_in_memory();
  const auto huge = static_cast<double>(filter.stats({.memory = true}).memory->huge_page_bytes);
  std::vector<double> seconds, dirtied, written;
  for (std::uint64_t i = 0; i < scale.syncs; ++i) {
    const auto digests = digests_of(kAddedSeed + i, kKeys);
    const std::uint64_t dirtied_before = io_bytes("write_bytes");
    const auto written_before = device_bytes_written(path);
    const auto begin = std::chrono::steady_clock::now();
    add_all(filter, digests);
    check(filter.sync());
    seconds.push_back(seconds_since(begin));
    dirtied.push_back(static_cast<double>(io_bytes("write_bytes") - dirtied_before));
    if (written_before) written.push_back(static_cast<double>(*device_bytes_written(path) - *written_before));
    check_present(filter, digests);
  }
  check(filter.close());
  Measured measured{median(seconds),
                    {{"num_keys", static_cast<double>(kKeys)},
                     {"file_bytes", static_cast<double>(watched.bytes())},
                     {"resident_pages", static_cast<double>(resident)},
                     {"huge_bytes", huge},
                     {"dirtied_bytes", median(dirtied)}}};
  if (!written.empty()) measured.facts["device_bytes"] = median(written);
  return measured;
}

}  // namespace

Rows sync_rows(const Scale& scale, const Places& places) {
  Rows rows;
  const std::string path = places.folder + "/synced.bf";
  for (const MapOption& option : kMapOptions) {
    rows.push_back({std::string("sync/written/") + option.name,
                    [=] { return measure_syncs(path, scale, option, Pages::kWritten); }});
    rows.push_back(
        {std::string("sync/read/") + option.name, [=] { return measure_syncs(path, scale, option, Pages::kRead); }});
  }
  return rows;
}

}  // namespace bench::system

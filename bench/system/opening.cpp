// Measures how long it takes to open a large filter for reading, and how much of the file that brings into memory.
#include <chrono>
#include <filesystem>
#include <memory>

#include "filters.hpp"
#include "kernel.hpp"
#include "row.hpp"
#include "statistics.hpp"

namespace bench::system {
namespace {

constexpr double kMicro = 1e6;

// A file that is made when it is first needed. Its blocks are allocated and never written, so that takes no time. It is
// removed with its folder.
class LargeFile {
 public:
  LargeFile(std::string path, std::uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  const std::string& path() {
    if (std::filesystem::exists(path_)) return path_;
    const auto space = std::filesystem::space(std::filesystem::path(path_).parent_path());
    if (space.available < bytes_ + bytes_ / 16)
      throw Unmeasurable("no room for a file of " + std::to_string(bytes_ >> 20) + " MiB");
    bfstore::Options options;
    options.num_bits = bytes_ * 8;
    options.num_probes = 6;
    check(value_of(bfstore::Filter::create(path_, options)).close());
    return path_;
  }

 private:
  std::string path_;
  std::uint64_t bytes_;
};

double open_once(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  const bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kRead));
  const double seconds = seconds_since(begin);
  if (filter.shape().num_probes != 6 || filter.health() != bfstore::Code::kOk)
    fail(path + ": opened as another filter");
  return seconds;
}

Measured summary(const std::vector<double>& seconds) {
  return {median(seconds), {{"us_median", kMicro * median(seconds)}, {"us_p90", kMicro * percentile(seconds, 0.9)}}};
}

Measured open_in_memory(LargeFile& file, std::uint64_t opens) {
  std::vector<double> seconds;
  open_once(file.path());
  for (std::uint64_t i = 0; i < opens; ++i) seconds.push_back(open_once(file.path()));
  return summary(seconds);
}

// More is in memory afterwards than was read for the header, because the kernel reads ahead.
Measured open_cold(LargeFile& file, std::uint64_t opens) {
  const Watched watched(file.path());
  std::vector<double> seconds;
  std::vector<double> pages;
  std::vector<double> read;
  for (std::uint64_t i = 0; i < opens; ++i) {
    drop_from_memory(file.path());
    const std::uint64_t read_before = io_bytes("read_bytes");
    seconds.push_back(open_once(file.path()));
    read.push_back(static_cast<double>(io_bytes("read_bytes") - read_before));
    pages.push_back(static_cast<double>(watched.pages_in_memory()));
  }
  Measured measured = summary(seconds);
  measured.facts["pages"] = median(pages);
  measured.facts["pages_most"] = percentile(pages, 1);
  measured.facts["device_bytes"] = median(read);
  return measured;
}

}  // namespace

Rows opening_rows(const Scale& scale, const Places& places) {
  // Finding the pages of a large file in memory takes longer than opening it.
  const std::uint64_t cold_opens = std::max<std::uint64_t>(5, scale.opens / 100);
  auto file = std::make_shared<LargeFile>(places.folder + "/large.bf", scale.large_bytes);
  const std::string name = "opening/" + std::to_string(scale.large_bytes) + '/';
  return {{name + "in memory", [=] { return open_in_memory(*file, scale.opens); }},
          {name + "cold", [=] { return open_cold(*file, cold_opens); }}};
}

}  // namespace bench::system

// Measures one call that adds many digests to a file by one thread, and by one for each core.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "filters.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::uint64_t kSeed = 21;

Measured add_at_once(const std::string& path, std::uint64_t count, unsigned threads) {
  const std::vector<std::uint64_t> digests = digests_of(kSeed, count);
  check(make_file(path, count, kBitsPerKey).close());
  double seconds = 0;
  {
    bfstore::Filter filter = value_of(bfstore::Filter::open(path, bfstore::OpenMode::kExclusive));
    check(filter.use_threads(threads));
    const auto begin = std::chrono::steady_clock::now();
    add_all(filter, digests);
    seconds = seconds_since(begin);
    check(filter.close());
  }
  check_present(value_of(bfstore::Filter::open(path, bfstore::OpenMode::kRead)), digests);
  std::filesystem::remove(path);
  return {seconds, {{"num_keys", static_cast<double>(count)}}};
}

}  // namespace

Rows thread_rows(const Scale& scale, const Places& places) {
  Rows rows;
  const unsigned cores = std::max(2U, std::thread::hardware_concurrency());
  for (const unsigned threads : {1U, cores}) {
    rows.push_back(
        {"threads/add/" + std::to_string(threads), [=, keys = scale.set_keys, path = places.folder + "/threads.bf"] {
           return add_at_once(path, keys, threads);
         }});
  }
  return rows;
}

}  // namespace bench::system

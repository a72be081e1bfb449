// Filters made of filters: copied, folded and merged, compared with cat, which reads and writes the same bytes. All of
// them end when the bytes are on the disk.
#include <chrono>
#include <filesystem>
#include <memory>

#include "children.hpp"
#include "filters.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::uint64_t kSeed = 21;
constexpr std::uint64_t kTimesFolded = 8;
constexpr double kFoldedRate = 0.02;  // more than the rate of kBitsPerKey

// Two filters of one shape, with different keys, and a larger filter with the keys of the first one.
class Sets {
 public:
  Sets(std::uint64_t keys, const Places& places) : keys_(keys), folder_(places.folder) {}

  Measured cat(int files) {
    std::string command = "cat";
    for (int file = 0; file < files; ++file) command += " '" + made(file) + "'";
    const Result result(path("new"));
    const Run run =
        run_program({"sh", "-c", command + " >'" + result.path + "' && sync '" + result.path + "'"}, path("output"));
    return measured(run.seconds, static_cast<std::uint64_t>(files) * size(0));
  }

  Measured copy() {
    const bfstore::Filter source = opened(made(0));
    return timed(size(0), {0}, [&](const std::string& to) { check(source.save(to)); });
  }

  Measured fold() {
    const bfstore::Filter source = opened(large());
    const std::uint64_t bytes = std::filesystem::file_size(large());
    return timed(bytes, {0}, [&](const std::string& to) { check(source.save(to, {.fpr = kFoldedRate})); });
  }

  Measured merge() {
    const bfstore::Filter one = opened(made(0));
    const bfstore::Filter other = opened(made(1));
    return timed(2 * size(0), {0, 1}, [&](const std::string& to) {
      bfstore::Options options;
      options.like = made(0);
      options.unpublished = true;
      bfstore::Filter merged = value_of(bfstore::Filter::create(to, options));
      check(merged.merge(one));
      check(merged.merge(other));
      check(merged.publish());
    });
  }

  Measured merge_into() {
    const bfstore::Filter other = opened(made(1));
    const Result result(path("new"));
    check(opened(made(0)).save(result.path));
    bfstore::Filter into = value_of(bfstore::Filter::open(result.path, bfstore::OpenMode::kWrite));
    const auto begin = std::chrono::steady_clock::now();
    check(into.merge(other));
    check(into.sync());
    const double seconds = seconds_since(begin);
    for (const int set : {0, 1}) check_present(into, sample(set));
    return measured(seconds, size(0));
  }

 private:
  struct Result {
    explicit Result(std::string file) : path(std::move(file)) { std::filesystem::remove(path); }
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;
    ~Result() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
    std::string path;
  };

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/sets-" + name; }
  [[nodiscard]] static bfstore::Filter opened(const std::string& file) {
    return value_of(bfstore::Filter::open(file, bfstore::OpenMode::kRead));
  }
  [[nodiscard]] std::uint64_t size(int set) { return std::filesystem::file_size(made(set)); }
  [[nodiscard]] static Measured measured(double seconds, std::uint64_t bytes) {
    return {seconds, {{"bytes", static_cast<double>(bytes)}}};
  }

  // The first keys of a set.
  [[nodiscard]] std::vector<std::uint64_t> sample(int set) const {
    return digests_of(kSeed + static_cast<std::uint64_t>(set), std::min<std::uint64_t>(keys_, 100'000));
  }

  std::string made(int set) {
    const std::string file = path(std::to_string(set));
    if (std::filesystem::exists(file)) return file;
    bfstore::Options options;
    options.capacity = keys_;
    options.bits_per_key = kBitsPerKey;
    options.seed = 0;
    bfstore::Filter filter = value_of(bfstore::Filter::create(file, options));
    add_all(filter, digests_of(kSeed + static_cast<std::uint64_t>(set), keys_));
    check(filter.close());
    return file;
  }

  std::string large() {
    const std::string file = path("large");
    if (std::filesystem::exists(file)) return file;
    bfstore::Options options;
    options.num_probes = 7;
    options.num_bits = (keys_ * static_cast<std::uint64_t>(kBitsPerKey) / 512 + 1) * 512 * kTimesFolded;
    bfstore::Filter filter = value_of(bfstore::Filter::create(file, options));
    add_all(filter, digests_of(kSeed, keys_));
    check(filter.close());
    return file;
  }

  template <class Make>
  Measured timed(std::uint64_t bytes, std::initializer_list<int> sets, Make make) {
    const Result result(path("new"));
    const auto begin = std::chrono::steady_clock::now();
    make(result.path);
    const double seconds = seconds_since(begin);
    for (const int set : sets) check_present(opened(result.path), sample(set));
    return measured(seconds, bytes);
  }

  std::uint64_t keys_;
  std::string folder_;
};

}  // namespace

Rows set_rows(const Scale& scale, const Places& places) {
  auto sets = std::make_shared<Sets>(scale.set_keys, places);
  return {
      {"sets/cat of 1 file", [=] { return sets->cat(1); }}, {"sets/cat of 2 files", [=] { return sets->cat(2); }},
      {"sets/copy", [=] { return sets->copy(); }},          {"sets/fold", [=] { return sets->fold(); }},
      {"sets/merge of 2", [=] { return sets->merge(); }},   {"sets/merge into", [=] { return sets->merge_into(); }}};
}

}  // namespace bench::system

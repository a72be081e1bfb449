// bfstatic: measures the static layout beside its rivals, each built once from all digests, and a blocked filter:
//   static-7, -10     with so many columns
//   fuse8, fuse16     binary fuse filters of xor_singleheader (Graf, Lemire, 2022), asked many at once by our own loop
//   rocksdb-ribbon    RocksDB's, as its tables use it
//
// First every filter is built, and its answers and its rate are checked (exit code 1 if they are wrong). Only then is
// anything timed. Times are per key, of the thread's CPU time; building, on one processor, is timed once.
// bench/report/static_table.py makes a table of the JSON:
//   bfstatic --keys 100000000 --json static.json && bench/report/static_table.py static.json
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "fail.hpp"
#include "harness.hpp"
#include "keys.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "rivals_found.hpp"  // made by meson: BFBENCH_WITH_...
#include "static_subject.hpp"

namespace bench {
namespace {

constexpr std::uint64_t kFirstAbsent = std::uint64_t{1} << 40;
constexpr std::size_t kQuestions = 1'000'000;
constexpr std::size_t kColdQuestions = 3000;

std::uint64_t digest_of(std::uint64_t number) noexcept { return mix((number + 1) * 0x9e3779b97f4a7c15); }

struct Work {
  explicit Work(std::size_t num_keys) {
    keys.reserve(num_keys);
    for (std::size_t i = 0; i < num_keys; ++i) keys.push_back(digest_of(i));
    for (std::size_t i = 0; i < kQuestions; ++i) absent.push_back(digest_of(kFirstAbsent + i));
  }
  std::vector<std::uint64_t> keys, absent;
};

template <class T>
T take(bfstore::Result<T> result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}

void check(const bfstore::Error& error) {
  if (!error.ok()) fail(error.message);
}

// Pages that were read, not counting those that were in memory.
long num_faults() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_majflt;
}

void drop_from_memory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fdatasync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
    fail(path + ": cannot be dropped from memory");
  close(fd);
}

// A filter in a file, whose copy in huge pages is asked.
class Ours : public StaticSubject {
 public:
  Ours(std::string path, const bfstore::Options& options) : path_(std::move(path)), options_(options) {}

  void build(std::span<const std::uint64_t> digests) override {
    const bfstore::Filter built = take(bfstore::Filter::build(path_, options_, bfstore::Keys::digests(digests)));
    body_bytes_ = built.stats().body_bytes;
    buffer_ = std::make_unique<HeapBuffer>(take(built.dumped_bytes()));
    check(built.dump(buffer_->bytes()));
    filter_.emplace(take(bfstore::Filter::wrap_to_read(buffer_->bytes())));
  }
  std::uint64_t ask_each(std::span<const std::uint64_t> digests) const override {
    std::uint64_t maybes = 0;
    for (const std::uint64_t digest : digests) maybes += filter_->contains_digest(digest) ? 1U : 0U;
    return maybes;
  }
  std::uint64_t ask_many(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const override {
    return filter_->contains_keys(bfstore::Keys::digests(digests), answers).keys();
  }
  [[nodiscard]] std::size_t num_bytes() const override { return body_bytes_; }
  // Measured. 0 in a file system that has no disk.
  [[nodiscard]] double num_pages(std::span<const std::uint64_t> digests) const override {
    drop_from_memory(path_);
    bfstore::OpenOptions cold;
    cold.map.random_access = true;
    const bfstore::Filter filter = take(bfstore::Filter::open(path_, bfstore::OpenMode::kRead, cold));
    const long before = num_faults();
    for (const std::uint64_t digest : digests) benchmark::DoNotOptimize(filter.contains_digest(digest));
    return static_cast<double>(num_faults() - before) / static_cast<double>(digests.size());
  }

 private:
  std::string path_;
  bfstore::Options options_;
  std::uint64_t body_bytes_ = 0;
  std::unique_ptr<HeapBuffer> buffer_;
  std::optional<bfstore::Filter> filter_;
};

std::unique_ptr<StaticSubject> blocked(const std::string& folder) {
  bfstore::Options options;
  options.hash = bfstore::Hash::kExternal;
  options.bits_per_key = 10;
  return std::make_unique<Ours>(folder + "/blocked.bf", options);
}

std::unique_ptr<StaticSubject> of_columns(const std::string& folder, int columns) {
  bfstore::Options options;
  options.layout = bfstore::Layout::kStatic;
  options.hash = bfstore::Hash::kExternal;
  options.fpr = std::exp2(-columns);
  return std::make_unique<Ours>(folder + "/static-" + std::to_string(columns) + ".bf", options);
}

struct Facts {
  double build_ns, bits, rate, pages;
};

double rate_of(const NamedSubject& named, const Work& work) {
  const StaticSubject& subject = *named.subject;
  std::vector<std::uint8_t> answers(std::max(work.keys.size(), kQuestions));
  const std::span<const std::uint64_t> some = std::span(work.keys).first(std::min(work.keys.size(), kQuestions));
  if (subject.ask_many(work.keys, answers) != work.keys.size() || subject.ask_each(some) != some.size())
    fail(named.name + ": a wrong no");
  const std::uint64_t maybes = subject.ask_many(work.absent, answers);
  if (subject.ask_each(work.absent) != maybes) fail(named.name + ": answers alone and among many differ");
  const double rate = static_cast<double>(maybes) / kQuestions;
  const double most = named.most_false;
  if (rate <= most * 1.02 + 3 * std::sqrt(most / kQuestions)) return rate;
  fail(named.name + ": the false-positive rate is " + std::to_string(rate) + ", above " + std::to_string(most));
}

Facts build_and_check(const NamedSubject& named, const Work& work) {
  const auto n = static_cast<double>(work.keys.size());
  const auto begin = std::chrono::steady_clock::now();
  named.subject->build(work.keys);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const double rate = rate_of(named, work);
  const double pages = named.subject->num_pages(std::span(work.absent).first(kColdQuestions));
  return {took.count() / n, static_cast<double>(named.subject->num_bytes()) * 8 / n, rate, pages};
}

template <class Pass>
void add_row(const std::string& name, const Facts& facts, Pass pass) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(pass());
    using benchmark::Counter;
    state.counters["s/key"] = Counter(kQuestions, Counter::kIsIterationInvariantRate | Counter::kInvert);
    state.counters["build"] = facts.build_ns;
    state.counters["bits"] = facts.bits;
    state.counters["fpr"] = facts.rate;
    state.counters["pages"] = facts.pages;
  });
}

void add_rows(NamedSubject named, const Work& work) {
  const Facts facts = build_and_check(named, work);
  const std::shared_ptr<const StaticSubject> subject = std::move(named.subject);
  add_row(named.name + "/single", facts, [=, &work] { return subject->ask_each(work.absent); });
  const auto answers = std::make_shared<std::vector<std::uint8_t>>(kQuestions);
  add_row(named.name + "/many", facts, [=, &work] { return subject->ask_many(work.absent, *answers); });
}

void add_all(const Work& work, const std::string& folder) {
  std::vector<NamedSubject> all;
  all.push_back({"blocked", 0.01, blocked(folder)});
  all.push_back({"static-7", 1.0 / 128, of_columns(folder, 7)});
  all.push_back({"static-10", 1.0 / 1024, of_columns(folder, 10)});
#if BFBENCH_WITH_FUSE
  std::ranges::move(make_fuse(), std::back_inserter(all));
#endif
#if BFBENCH_WITH_ROCKSDB
  std::ranges::move(make_rocksdb_ribbon(), std::back_inserter(all));
#endif
  for (NamedSubject& named : all) add_rows(std::move(named), work);
}

struct Settings {
  std::size_t num_keys = 10'000'000;
  int repetitions = 9;
  std::string json = "bfstatic.json";
  std::vector<std::string> rest;  // for Google Benchmark
};

std::optional<Settings> read_arguments(int argc, char** argv, int& code) {
  Settings settings;
  CLI::App app(
      "Measures the static layout and its rivals.\n\n"
      "  bfstatic --json static.json && bench/report/static_table.py static.json\n\n"
      "Arguments that begin with --benchmark_ are Google Benchmark's: --benchmark_filter=REGEX and others.");
  app.set_version_flag("--version", bfstore::version());
  app.add_option("--keys", settings.num_keys, "in each filter")
      ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--repetitions", settings.repetitions, "of each measurement")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", settings.json, "where the results go")->capture_default_str();
  if (!parse(app, argc, argv, settings.rest, code)) return std::nullopt;
  return settings;
}

int run(const Settings& settings) {
  std::vector<std::string> arguments{"bfstatic", "--benchmark_repetitions=" + std::to_string(settings.repetitions),
                                     "--benchmark_enable_random_interleaving=true", "--benchmark_out=" + settings.json,
                                     "--benchmark_out_format=json"};
  arguments.insert(arguments.end(), settings.rest.begin(), settings.rest.end());
  initialize(std::move(arguments), settings.json);
  const Work work(settings.num_keys);
  benchmark::AddCustomContext("keys", std::to_string(settings.num_keys));
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  add_all(work, folder.path());
  add_machine(std::filesystem::temp_directory_path().string());
  QuietReporter reporter("bfstatic");
  const std::size_t measured = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return reporter.failed() || measured == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    int code = 0;
    const auto settings = bench::read_arguments(argc, argv, code);
    return settings ? bench::run(*settings) : code;
  } catch (const std::exception& error) {
    std::cerr << "bfstatic: " << error.what() << '\n';
    return 1;
  }
}

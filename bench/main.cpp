// bfbench: measures in one run how fast bfstore answers and adds, next to the limit that memory sets and to other
// filters.
//
// First every filter is filled, and its answers and false-positive rate are checked (exit code 1 if they are wrong).
// Only then is anything timed, by Google Benchmark, with repetitions in random order. The results are JSON, from which
// bench/report/table.py makes a table:
//   bfbench --quick --json quick.json && bench/report/table.py quick.json
#include <benchmark/benchmark.h>
#include <unistd.h>
#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>

#include "harness.hpp"
#include "inline_subject.hpp"
#include "measure.hpp"
#include "site.hpp"

namespace bench {
namespace {

struct Settings {
  std::vector<std::uint64_t> num_keys{100'000, 1'000'000, 10'000'000};
  std::vector<double> bits_per_key{10};
  int repetitions = 9;
  double min_seconds = 0.1;  // per repetition
  bool quick = false;
  std::string folder = std::filesystem::temp_directory_path().string();
  std::string json = "bfbench.json";
  std::string library = BFBENCH_SHARED_LIBRARY;
  std::vector<std::string> rest;  // for Google Benchmark
};

constexpr std::uint64_t kLarge = 100'000'000;
constexpr std::uint64_t kLongPass = 4'000'000;     // keys; such a pass is done at most three times, and once by --quick
constexpr std::uint64_t kMinutePass = 50'000'000;  // keys; done once: takes half a minute, and is a mean by itself
// With fewer keys the filter has too few blocks, and its rate may differ from the mean over all filters.
constexpr std::uint64_t kFewestKeys = 100'000;
constexpr std::uint64_t kMostKeys = 4'000'000'000;

// Modes that stand for several settings. An explicit setting wins.
struct Modes {
  bool smoke = false;
  bool large = false;
};

void describe_arguments(CLI::App& app, Settings& settings, Modes& modes) {
  app.set_version_flag("--version", bfstore::version());
  auto* keys = app.add_option("--keys", settings.num_keys,
                              "numbers of keys to size filters for (default 100000 1000000 10000000)");
  keys->check(CLI::Range(kFewestKeys, kMostKeys));
  auto* large = app.add_flag("--large", modes.large, "100 million keys too: takes 15 GB of memory and many minutes");
  app.add_option("--bits-per-key", settings.bits_per_key, "sizes of the filters (default 10)")
      ->check(CLI::Range(2.0, 64.0));
  app.add_option("--repetitions", settings.repetitions, "of each measurement (default 9, with --quick 3)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", settings.min_seconds, "the least time of a repetition (default 0.1, with --quick 0.01)")
      ->check(CLI::Range(0.0001, 10.0));
  app.add_flag("--quick", settings.quick,
               "3 short repetitions, of long passes one: about a minute, and rougher numbers");
  app.add_flag("--smoke", modes.smoke, "one repetition of 100,000 keys: checks the answers, measures next to nothing")
      ->excludes(keys)
      ->excludes(large);
  app.add_option("--folder", settings.folder, "where the filters' files are made; their file system matters")
      ->capture_default_str();
  app.add_option("--json", settings.json, "where the results go")->capture_default_str();
  app.add_option("--library", settings.library, "libbfstore.so, for the C ABI")->capture_default_str();
}

void apply(const CLI::App& app, const Modes& modes, Settings& settings) {
  if (settings.quick && app.count("--repetitions") == 0) settings.repetitions = 3;
  if (settings.quick && app.count("--seconds") == 0) settings.min_seconds = 0.01;
  if (modes.smoke) settings.repetitions = 1;
  if (modes.smoke) settings.min_seconds = 0.0001;
  if (modes.smoke) settings.num_keys = {kFewestKeys};
  if (modes.large) settings.num_keys.push_back(kLarge);
}

std::optional<Settings> read_arguments(int argc, char** argv, int& code) {
  Settings settings;
  Modes modes;
  CLI::App app(
      "Measures bfstore, and the limit that the memory sets.\n\n"
      "  bfbench --quick --json quick.json && bench/report/table.py quick.json\n\n"
      "Arguments that begin with --benchmark_ are Google Benchmark's: --benchmark_filter=REGEX and others.");
  describe_arguments(app, settings, modes);
  if (!parse(app, argc, argv, settings.rest, code)) return std::nullopt;
  apply(app, modes, settings);
  return settings;
}

// Shows the progress on a terminal: results come only at the end, because repetitions are in random order.
class Progress {
 public:
  void expect(std::size_t runs) noexcept { expected_ += runs; }
  void step() {
    ++done_;
    if (terminal_) std::fprintf(stderr, "\rmeasured %zu of %zu ", std::min(done_, expected_), expected_);
  }
  void end() const {
    if (terminal_ && done_ != 0) std::fputs("\r\033[K", stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::size_t expected_ = 0;
  std::size_t done_ = 0;
};

void register_row(Row row, const Settings& settings, Progress& progress) {
  int repetitions = settings.repetitions;
  if (row.num_keys > kLongPass) repetitions = std::min(repetitions, settings.quick ? 1 : 3);
  if (row.num_keys > kMinutePass) repetitions = 1;
  const std::string name = row.name();
  auto* registered =
      benchmark::RegisterBenchmark(name.c_str(), [&progress, row = std::move(row)](benchmark::State& state) {
        measure(state, row);
        progress.step();
      });
  registered->UseManualTime();
  if (repetitions != settings.repetitions) registered->Repetitions(repetitions);
  progress.expect(static_cast<std::size_t>(repetitions));
}

int run(const Settings& settings) {
  std::vector<std::string> arguments{"bfbench",
                                     "--benchmark_repetitions=" + std::to_string(settings.repetitions),
                                     "--benchmark_min_time=" + std::to_string(settings.min_seconds),
                                     "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_out=" + settings.json,
                                     "--benchmark_out_format=json"};
  arguments.insert(arguments.end(), settings.rest.begin(), settings.rest.end());
  initialize(std::move(arguments), settings.json);
  const Hasher hasher;
  const SharedLibrary library(settings.library);
  const PltCalls calls(library);
  const TemporaryFolder folder(settings.folder);
  const Site::Surroundings around{hasher, library, calls, folder.path()};
  std::list<Population> populations;
  std::list<Site> sites;
  Progress progress;
  for (const std::uint64_t num_keys : settings.num_keys) {
    const Population& population = populations.emplace_back(hasher, num_keys);
    for (const double bits_per_key : settings.bits_per_key) {
      std::cerr << "filling filters with " << num_keys << " keys at " << bits_per_key
                << " bits each and checking their answers\n";
      Site& site = sites.emplace_back(around, population, bits_per_key, bits_per_key == settings.bits_per_key.front());
      for (Row& row : site.take_rows()) register_row(std::move(row), settings, progress);
      // The table lists what was not measured, and why.
      for (const auto& [what, why] : site.not_measured()) benchmark::AddCustomContext("not_measured/" + what, why);
    }
  }
  std::cerr << "answers and false-positive rates are right; measuring\n";
  add_machine(settings.folder);
  benchmark::AddCustomContext("inlined_for", inlined_for());
  QuietReporter reporter("bfbench");
  const std::size_t measured = benchmark::RunSpecifiedBenchmarks(&reporter);
  progress.end();
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
    std::cerr << "bfbench: " << error.what() << '\n';
    return 1;
  }
}

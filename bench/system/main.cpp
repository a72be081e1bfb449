// bfsystem: measures what takes several processes, the disk, or other programs, which bfbench does not: processes that
// share a file, opening, files that are not in memory, the bytes of a sync, filters built from text, and filters made
// of filters.
//
// Every measurement checks its answers; a wrong one ends the program with exit code 1. Google Benchmark repeats them in
// random order and writes the JSON, from which bench/report/system_table.py makes tables:
//   bfsystem --quick --json system.json && bench/report/system_table.py system.json
#include <benchmark/benchmark.h>
#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <optional>

#include "fail.hpp"
#include "harness.hpp"
#include "memory.hpp"
#include "processes.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

struct Settings {
  Scale scale;
  int repetitions = 3;
  std::string folder = std::filesystem::temp_directory_path().string();
  std::string json = "bfsystem.json";
  std::string bf = BFSYSTEM_BF;
  std::vector<std::string> rest;  // for Google Benchmark
};

Scale quick_scale() {
  Scale scale;
  scale.shared_keys = 2'000'000;
  scale.cold_lookups = 50;
  scale.lines = 1'000'000;
  scale.set_keys = 10'000'000;
  scale.limited_bytes = 0;
  return scale;
}

Scale smoke_scale() {
  Scale scale;
  scale.shared_keys = 20'000;
  scale.large_bytes = std::uint64_t{64} << 20;
  scale.capacity = 1'000'000;
  scale.filled_keys = 100'000;
  scale.opens = 20;
  scale.cold_lookups = 10;
  scale.syncs = 2;
  scale.lines = 20'000;
  scale.set_keys = 20'000;
  scale.limited_bytes = 96'000'000;
  scale.limit_bytes = 64'000'000;
  scale.limited_keys = 1'000;
  scale.sparse_keys = 200;
  return scale;
}

std::optional<Settings> read_arguments(int argc, char** argv, int& code) {
  Settings settings;
  bool quick = false;
  bool smoke = false;
  CLI::App app(
      "Measures what bfstore does with processes, disks and text.\n\n"
      "  bfsystem --quick --json system.json && bench/report/system_table.py system.json\n\n"
      "Arguments that begin with --benchmark_ are Google Benchmark's: --benchmark_filter=REGEX and others.");
  app.set_version_flag("--version", bfstore::version());
  auto* quick_flag = app.add_flag("--quick", quick, "once, and smaller: at most half a minute, and rougher numbers");
  app.add_flag("--smoke", smoke, "once, and tiny: checks the answers, measures next to nothing")->excludes(quick_flag);
  app.add_option("--folder", settings.folder, "where files are made, 18 GB of them; their file system matters")
      ->capture_default_str();
  app.add_option("--json", settings.json, "where the results go")->capture_default_str();
  app.add_option("--bf", settings.bf, "bf, which builds filters from text")->capture_default_str();
  if (!parse(app, argc, argv, settings.rest, code)) return std::nullopt;
  if (quick) settings.scale = quick_scale();
  if (smoke) settings.scale = smoke_scale();
  if (quick || smoke) settings.repetitions = 1;
  return settings;
}

// Prints nothing, because the tables are made from the JSON.
class QuietReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// One repetition. Keeps a wrong answer in `failure`: an exception would have to pass through Google Benchmark.
void measure(benchmark::State& state, const Row& row, std::string& failure) {
  std::cerr << row.name << '\n';
  for ([[maybe_unused]] auto iteration : state) {
    try {
      const Measured measured = row.measure();
      state.SetIterationTime(measured.seconds);
      for (const auto& [name, value] : measured.facts) state.counters[name] = value;
    } catch (const std::exception& error) {
      if (dynamic_cast<const Unmeasurable*>(&error) == nullptr) failure = row.name + ": " + error.what();
      state.SkipWithError(error.what());
      break;
    }
  }
}

int run(const Settings& settings) {
  std::vector<std::string> arguments{"bfsystem", "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_out=" + settings.json, "--benchmark_out_format=json"};
  arguments.insert(arguments.end(), settings.rest.begin(), settings.rest.end());
  initialize(std::move(arguments), settings.json);
  const TemporaryFolder folder(settings.folder);
  const Places places{folder.path(), settings.bf};
  std::string failure;
  for (const auto rows_of : {process_rows, thread_rows, opening_rows, cold_rows, sync_rows, text_rows, set_rows,
                             window_rows, limited_rows}) {
    for (Row& row : rows_of(settings.scale, places)) {
      const std::string name = row.name;
      auto* registered = benchmark::RegisterBenchmark(
          name.c_str(), [&failure, row = std::move(row)](benchmark::State& state) { measure(state, row, failure); });
      registered->UseManualTime()->Iterations(1)->Repetitions(settings.repetitions);
    }
  }
  add_machine(folder.path());
  QuietReporter reporter;
  const std::size_t measured = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  if (!failure.empty()) fail(failure);
  return measured == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench::system

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "--child") return bench::system::run_child({argv + 2, argv + argc});
    int code = 0;
    const auto settings = bench::system::read_arguments(argc, argv, code);
    return settings ? bench::system::run(*settings) : code;
  } catch (const std::exception& error) {
    std::cerr << "bfsystem: " << error.what() << '\n';
    return 1;
  }
}

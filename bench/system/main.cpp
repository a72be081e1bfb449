// bfsystem: what bfbench does not measure, because it takes several processes, the disk, or other programs: processes
// that share a file, opening, files that are not in memory, what a sync writes, and building from text.
//
// Every measurement checks its answers; one that is wrong ends the program with exit code 1. Google Benchmark repeats
// them in random order and writes the JSON, from which bench/system_table.py makes tables:
//   bfsystem --quick --json system.json && bench/system_table.py system.json
#include <benchmark/benchmark.h>
#include <sys/utsname.h>
#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "fail.hpp"
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
  return scale;
}

std::optional<Settings> read_arguments(int argc, char** argv, int& code) {
  Settings settings;
  bool quick = false;
  bool smoke = false;
  CLI::App app(
      "Measures what bfstore does with processes, disks and text.\n\n"
      "  bfsystem --quick --json system.json && bench/system_table.py system.json\n\n"
      "Arguments that begin with --benchmark_ are Google Benchmark's: --benchmark_filter=REGEX and others.");
  app.set_version_flag("--version", bfstore::version());
  auto* quick_flag = app.add_flag("--quick", quick, "once, and smaller: at most half a minute, and rougher numbers");
  app.add_flag("--smoke", smoke, "once, and tiny: checks the answers, measures next to nothing")->excludes(quick_flag);
  app.add_option("--folder", settings.folder, "where files are made, 18 GB of them; their file system matters")
      ->capture_default_str();
  app.add_option("--json", settings.json, "where the results go")->capture_default_str();
  app.add_option("--bf", settings.bf, "bf, which builds filters from text")->capture_default_str();
  app.allow_extras();
  try {
    app.parse(argc, argv);
    settings.rest = app.remaining();
    for (const std::string& argument : settings.rest) {
      if (!argument.starts_with("--benchmark_")) throw CLI::ExtrasError(std::vector<std::string>{argument});
    }
  } catch (const CLI::ParseError& error) {
    code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  if (quick) settings.scale = quick_scale();
  if (smoke) settings.scale = smoke_scale();
  if (quick || smoke) settings.repetitions = 1;
  return settings;
}

// Prints nothing: the tables are made from the JSON.
class QuietReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// One repetition. A wrong answer is kept in `failure`: an exception would have to pass through Google Benchmark.
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

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "unknown";
}

void add_context(const std::string& folder) {
  utsname system{};
  static_cast<void>(uname(&system));
  benchmark::AddCustomContext("bfstore", bfstore::version());
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("machine", system.machine);
  benchmark::AddCustomContext("kernel", std::string(system.sysname) + ' ' + system.release);
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("filesystem", filesystem_of(folder));
}

// Static: the program's name is kept by address.
void initialize_benchmark(const Settings& settings) {
  static std::vector<std::string> arguments{"bfsystem", "--benchmark_enable_random_interleaving=true",
                                            "--benchmark_out=" + settings.json, "--benchmark_out_format=json"};
  arguments.insert(arguments.end(), settings.rest.begin(), settings.rest.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data()))
    fail("Google Benchmark does not know an argument");
}

int run(const Settings& settings) {
  initialize_benchmark(settings);
  if (!std::ofstream(settings.json, std::ios::app)) fail("--json " + settings.json + " can not be written");
  const TemporaryFolder folder(settings.folder);
  const Places places{folder.path(), settings.bf};
  std::string failure;
  for (const auto rows_of : {process_rows, opening_rows, cold_rows, sync_rows, text_rows}) {
    for (Row& row : rows_of(settings.scale, places)) {
      const std::string name = row.name;
      auto* registered = benchmark::RegisterBenchmark(
          name.c_str(), [&failure, row = std::move(row)](benchmark::State& state) { measure(state, row, failure); });
      registered->UseManualTime()->Iterations(1)->Repetitions(settings.repetitions);
    }
  }
  add_context(folder.path());
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

#include "measure.hpp"

#include <ctime>
#include <iostream>

namespace bench {
namespace {

double cpu_seconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void measure(benchmark::State& state, const Row& row) {
  if (!row.prepare) benchmark::DoNotOptimize(row.pass());
  for ([[maybe_unused]] auto iteration : state) {
    if (row.prepare) row.prepare();
    const double begin = cpu_seconds();
    std::uint64_t outcome = row.pass();
    const double took = cpu_seconds() - begin;
    benchmark::DoNotOptimize(outcome);
    if (row.expected && outcome != *row.expected) {
      const std::string message =
          "a pass returned " + std::to_string(outcome) + " and not " + std::to_string(*row.expected);
      state.SkipWithError(message.c_str());
      return;
    }
    state.SetIterationTime(took);
  }
  state.counters["num_keys"] = static_cast<double>(row.num_keys);
  for (const auto& [name, value] : row.facts) state.counters[name] = value;
}

void QuietReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (!run.error_occurred) continue;
    failed_ = true;
    std::cerr << program_ << ": " << run.benchmark_name() << ": " << run.error_message << '\n';
  }
}

}  // namespace bench

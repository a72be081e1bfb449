// Measures a row: code that bfbench and bfbulk share.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "row.hpp"

namespace bench {

// One repetition. The first pass is not timed, because it fills the cache. Times are CPU times of this thread: on a
// shared machine the time of other programs does not count.
void measure(benchmark::State& state, const Row& row);

// Prints nothing, because the tables are made from the JSON. Notices errors.
class QuietReporter : public benchmark::BenchmarkReporter {
 public:
  explicit QuietReporter(std::string program) : program_(std::move(program)) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  std::string program_;
  bool failed_ = false;
};

}  // namespace bench

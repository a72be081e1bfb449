// The four worker processes, seen from the program that starts them.
#include "crew.hpp"

#include "fail.hpp"

#include <chrono>
#include <sstream>

namespace demo {
namespace {

void expect(Child& worker, const std::string& due) {
  const std::string heard = worker.hear();
  if (heard != due) fail("a worker said '" + heard + "' where '" + due + "' was due");
}

Tally hear_tally(Child& worker) {
  std::istringstream words(worker.hear());
  std::string done;
  Tally tally;
  if (!(words >> done >> tally) || done != "done") fail("a worker did not report what it counted: " + words.str());
  return tally;
}

}  // namespace

Crew::Crew(const std::string& database, const std::string& filter) {
  for (auto& worker : workers_) {
    worker = std::make_unique<Child>(std::vector<std::string>{this_program(), "worker", database, filter});
  }
}

Measurement Crew::run(const std::array<std::string, kWorkers>& parts, bool with_filter) {
  const std::string order = with_filter ? "run with " : "run without ";
  for (std::size_t i = 0; i < kWorkers; ++i) workers_[i]->tell(order + parts[i]);
  for (auto& worker : workers_) expect(*worker, "ready");

  Measurement measurement;
  const auto begin = std::chrono::steady_clock::now();
  for (auto& worker : workers_) worker->tell("go");
  for (auto& worker : workers_) measurement.tally += hear_tally(*worker);
  measurement.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return measurement;
}

std::array<pid_t, kWorkers> Crew::processes() const {
  std::array<pid_t, kWorkers> processes{};
  for (std::size_t i = 0; i < kWorkers; ++i) processes[i] = workers_[i]->process();
  return processes;
}

}  // namespace demo

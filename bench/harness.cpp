#include "harness.hpp"

#include <benchmark/benchmark.h>
#include <sys/utsname.h>
#include <bfstore/bfstore.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fail.hpp"
#include "memory.hpp"

namespace bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "unknown";
}

}  // namespace

bool parse(CLI::App& app, int argc, char** argv, std::vector<std::string>& rest, int& code) {
  app.allow_extras();
  try {
    app.parse(argc, argv);
    rest = app.remaining();
    for (const std::string& argument : rest) {
      if (!argument.starts_with("--benchmark_")) throw CLI::ExtrasError(std::vector<std::string>{argument});
    }
  } catch (const CLI::ParseError& error) {
    code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  return true;
}

void initialize(std::vector<std::string> arguments, const std::string& json) {
  static std::vector<std::string> kept;  // the program's name is kept by address, and printed later
  kept = std::move(arguments);
  std::vector<char*> pointers;
  for (std::string& argument : kept) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data()))
    fail("Google Benchmark does not know an argument");
  if (!std::ofstream(json, std::ios::app)) fail("--json " + json + " can not be written");
}

void add_machine(const std::string& folder) {
  utsname system{};
  static_cast<void>(uname(&system));
  benchmark::AddCustomContext("bfstore", bfstore::version());
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("machine", system.machine);
  benchmark::AddCustomContext("kernel", std::string(system.sysname) + ' ' + system.release);
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("filesystem", filesystem_of(std::filesystem::canonical(folder).string()));
}

}  // namespace bench

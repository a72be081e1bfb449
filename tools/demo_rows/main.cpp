// demo_rows: the compiled part of tools/demo. It makes a SQLite table of all English words and a bfstore filter of
// them, lets four processes look words up with and without the filter, and prints a table of the costs. Exit code 1 if
// anything went wrong, one wrong answer included.
#include "compare.hpp"
#include "crew.hpp"
#include "database.hpp"
#include "fail.hpp"
#include "memory.hpp"
#include "process.hpp"
#include "report.hpp"
#include "words.hpp"
#include "worker.hpp"

#include <bfstore/bfstore.hpp>

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <string_view>

namespace demo {
namespace {

constexpr const char* kWords = "/usr/share/dict/american-english-insane";
constexpr const char* kGermanWords = "/usr/share/dict/ngerman";
constexpr double kPromisedRate = 0.01;
constexpr const char* kFilterName = "/words.bf";
constexpr double kSecondsEach = 3;  // for a workload

std::uint64_t allocated_bytes(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) fail_errno(path);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// Calls `job` and returns the seconds that it took, for a person: "1.23 s".
template <class Job>
std::string timed(Job&& job) {
  const auto begin = std::chrono::steady_clock::now();
  job();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", took.count());
  return text;
}

// The file appears under its name when it is complete. This process unmaps it here: only the workers' mappings count.
void build_filter(const std::string& path, const std::vector<std::string>& words) {
  bfstore::Options options;
  options.capacity = words.size();
  options.fpr = kPromisedRate;
  options.note = "the words of american-english-insane";
  options.unpublished = true;
  auto filter = bfstore::Filter::create(path, options);
  if (!filter.ok()) fail(filter.error().message);
  const std::vector<std::string_view> keys(words.begin(), words.end());
  const bfstore::Count added = filter->add_keys(bfstore::Keys::views(keys));
  if (!added.ok()) fail(std::string("adding the words: ") + bfstore::code_text(added.code()));
  if (const bfstore::Error error = filter->publish(); !error.ok()) fail(error.message);
}

void build_both(const std::string& directory, const std::vector<std::string>& words) {
  const std::string database = directory + "/words.db";
  const std::string filter = directory + kFilterName;
  const std::string database_time = timed([&] { build_database(database, words); });
  std::cout << with_separators(words.size())
            << " English words as rows in SQLite: " << mebibytes(allocated_bytes(database)) << ", " << database_time
            << '\n';
  const std::string filter_time = timed([&] { build_filter(filter, words); });
  std::cout << "a filter of the same words in a file: " << mebibytes(allocated_bytes(filter)) << ", " << filter_time
            << std::endl;
}

void print_memory(const Crew& crew, const std::string& filter_end) {
  MappedBytes filter;
  for (const pid_t process : crew.processes()) {
    const MappedBytes one = mapped_bytes(process, filter_end);
    filter.resident += one.resident;
    filter.proportional += one.proportional;
  }
  Child child({this_program(), "hashset", kWords});
  const std::uint64_t hash_set = std::stoull(child.hear());
  std::cout << "\nmemory with " << kWorkers << " workers alive\n";
  if (filter.proportional == 0) {
    std::cout << "  the filter                       unknown: /proc/PID/smaps does not show it here\n";
  } else {
    std::cout << "  the filter, shared by all        " << mebibytes(filter.proportional)
              << " (sum of its Pss; each maps " << mebibytes(filter.resident / kWorkers) << ", Rss)\n";
  }
  std::cout << "  std::unordered_set<std::string>  " << mebibytes(hash_set * kWorkers) << " (" << mebibytes(hash_set)
            << " in each)\n";
}

// Prints the table line by line, as it is measured. Returns whether every answer was right.
bool print_table(Crew& crew, const std::array<Workload, 3>& workloads, const std::string& directory) {
  // This run is not printed, so that no workload pays for what is done once (the first touch of every page).
  bool right = answers_are_right(compare(crew, workloads[0], directory, 0));
  std::cout << "\nlookups by " << kWorkers
            << " processes that share one filter file\ntimes are means of all runs in 3 seconds or more\n\n"
            << table_head(kPromisedRate) << std::flush;
  std::array<Comparison, 3> comparisons;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    comparisons[i] = compare(crew, workloads[i], directory, kSecondsEach);
    std::cout << table_rows(comparisons[i]) << std::flush;
    right &= answers_are_right(comparisons[i]);
  }
  if (right) std::cout << '\n' << closing_sentence(comparisons[0], comparisons[2]);
  return right;
}

int run(const std::string& directory, const std::string& bfinspect) {
  const std::vector<std::string> words = read_words(kWords, "wamerican-insane");
  const WordSet truth(words.begin(), words.end());
  const auto workloads = make_workloads(words, truth, read_words(kGermanWords, "wngerman"));
  build_both(directory, words);

  const std::string filter = directory + kFilterName;
  Crew crew(directory + "/words.db", filter);
  const bool right = print_table(crew, workloads, directory);
  print_memory(crew, std::filesystem::path(directory).filename().string() + kFilterName);
  std::cout << "\n$ bfinspect words.bf\n" << std::flush;
  std::filesystem::current_path(directory);
  const int inspected = run_program({bfinspect, kFilterName + 1});  // its name without the slash
  if (inspected != 0) fail("bfinspect found fault with the filter: exit code " + std::to_string(inspected));
  return right && std::cout.flush() ? 0 : 1;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "worker") {
    work(arguments[1], arguments[2]);
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "hashset") {
    std::cout << measure_hash_set(arguments[1]) << std::endl;
    return 0;
  }
  if (arguments.size() == 2) return run(arguments[0], arguments[1]);
  fail("usage: demo_rows DIRECTORY BFINSPECT (tools/demo calls it)");
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  // A dead worker is noticed, and named, when the crew sends it a line.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return demo::dispatch({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}

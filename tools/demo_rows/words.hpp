// The word lists, and the workloads made of them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace demo {

inline constexpr std::size_t kWorkers = 4;

using WordSet = std::unordered_set<std::string_view>;

// A word to look up, and whether the database really has it.
struct Lookup {
  std::string word;
  bool present = false;
};

struct Workload {
  std::string name;
  std::vector<Lookup> lookups;
};

// One word per line. Fails, and names the Debian package, if the list does not exist.
std::vector<std::string> read_words(const std::string& path, const std::string& package);

// The three workloads, each shuffled in the same way in every run. `truth` has exactly `words`.
std::array<Workload, 3> make_workloads(const std::vector<std::string>& words, const WordSet& truth,
                                       const std::vector<std::string>& foreign_words);

// Divides a workload among the workers, one file each, and returns the files' paths.
std::array<std::string, kWorkers> deal(const Workload& workload, const std::string& directory);

// Reads what deal() wrote.
std::vector<Lookup> read_lookups(const std::string& path);

}  // namespace demo

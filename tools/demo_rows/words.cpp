// The word lists, and the workloads made of them.
#include "words.hpp"

#include "fail.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <utility>

namespace demo {
namespace {

constexpr std::uint32_t kShuffleSeed = 663473;
constexpr std::size_t kMixPresent = 40000;
constexpr std::size_t kMixAbsent = 9 * kMixPresent;

// std::shuffle and std::uniform_int_distribution differ between standard libraries; a remainder does not, and its
// slight bias does not matter here.
std::size_t below(std::size_t limit, std::mt19937& random) { return random() % limit; }

template <class T>
void shuffle(std::vector<T>& values, std::mt19937& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i, random)]);
}

Workload all_of(std::string name, const std::vector<std::string>& words, const WordSet& truth) {
  Workload workload{std::move(name), {}};
  workload.lookups.reserve(words.size());
  for (const std::string& word : words) workload.lookups.push_back({word, truth.contains(word)});
  return workload;
}

bool is_ascii(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A typing error: two neighboring letters change places.
std::string misspell(std::string word, std::mt19937& random) {
  if (word.size() < 2 || !is_ascii(word)) return word;
  const std::size_t i = below(word.size() - 1, random);
  std::swap(word[i], word[i + 1]);
  return word;
}

// Distinct misspelled words, none of which is in the word list.
std::vector<Lookup> misspelled(std::size_t number, const std::vector<std::string>& words, const WordSet& truth,
                               std::mt19937& random) {
  std::vector<Lookup> lookups;
  std::unordered_set<std::string> taken;
  for (std::size_t tries = 0; lookups.size() < number; ++tries) {
    if (tries > 100 * number) fail("too few words to misspell");
    std::string word = misspell(words[below(words.size(), random)], random);
    if (!truth.contains(word) && taken.insert(word).second) lookups.push_back({std::move(word), false});
  }
  return lookups;
}

Workload mix(const std::vector<std::string>& words, const WordSet& truth, std::mt19937& random) {
  Workload workload{"1 present to 9 misspelled", misspelled(kMixAbsent, words, truth, random)};
  std::vector<std::string> present = words;
  shuffle(present, random);
  present.resize(std::min(kMixPresent, present.size()));
  for (std::string& word : present) workload.lookups.push_back({std::move(word), true});
  return workload;
}

}  // namespace

std::vector<std::string> read_words(const std::string& path, const std::string& package) {
  std::ifstream file(path);
  if (!file) fail(path + " cannot be read. Install the Debian package " + package);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word);) words.push_back(word);
  if (words.empty()) fail(path + " is empty. Install the Debian package " + package + " again");
  return words;
}

std::array<Workload, 3> make_workloads(const std::vector<std::string>& words, const WordSet& truth,
                                       const std::vector<std::string>& foreign_words) {
  std::mt19937 random(kShuffleSeed);
  std::array<Workload, 3> workloads = {all_of("German words", foreign_words, truth), mix(words, truth, random),
                                       all_of("all present (worst case)", words, truth)};
  for (Workload& workload : workloads) shuffle(workload.lookups, random);
  return workloads;
}

std::array<std::string, kWorkers> deal(const Workload& workload, const std::string& directory) {
  std::array<std::string, kWorkers> paths;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    paths[worker] = directory + "/lookups." + std::to_string(worker);
    std::ofstream file(paths[worker], std::ios::trunc);
    for (std::size_t i = worker; i < workload.lookups.size(); i += kWorkers) {
      const Lookup& lookup = workload.lookups[i];
      file << (lookup.present ? '+' : '-') << lookup.word << '\n';
    }
    if (!file.flush()) fail("writing " + paths[worker] + " failed");
  }
  return paths;
}

std::vector<Lookup> read_lookups(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(path + " cannot be read");
  std::vector<Lookup> lookups;
  for (std::string line; std::getline(file, line);) lookups.push_back({line.substr(1), line[0] == '+'});
  return lookups;
}

}  // namespace demo
